//! Loads [`Settings`]: reads `council.yaml`, checks it across sections, and settles flags over
//! environment over file over defaults. Called at the start of commands that call providers.

use std::path::Path;

use serde_json::json;

use super::budget::{self, Overrides, Shown};
use super::check;
use super::discover;
use super::environment::Environment;
use super::error::ConfigError;
use super::file::{
    AlignmentSection, ConclusionSection, CouncilFile, CouncilSection, ProviderEntry, TierRule,
    TransportChoice,
};
use super::gate;
use super::ledger::{Ledger, Source};
use super::locate::{Anchor, Flags, Located, anchor, working_folder};
use super::ollama;
use super::reach::{self, Candidate, ResolveContext};
use super::seats::chairs;
use super::secrets_in_use::secrets_in_use;
use super::section::{At, Problems};
use super::settings::{Alignment, Conclusion, Council, Origin, Retention, Settings};
use super::trust::SettingUse;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Quorum, ShortCircuit, Timeouts};
use crate::providers::Provider;

/// Default round limit of a dialogue, from the specification.
const MAX_ROUNDS_DEFAULT: u8 = 10;

/// By default all experts must agree.
const CONVERGENCE_PERCENT_DEFAULT: u8 = 100;

/// Finds, reads and checks everything; reports all problems at once.
///
/// `installed` returns the models of the Ollama server at a URL. It is called only if the file
/// names no provider and too few were discovered.
pub fn load(
    flags: &Flags,
    overrides: &Overrides,
    environment: &Environment,
    installed: impl Fn(&str) -> Vec<String>,
) -> Result<Settings, ConfigError> {
    load_in(&working_folder()?, flags, overrides, environment, installed)
}

/// Like [`load_settings`], from any folder.
pub(super) fn load_in(
    working: &Path,
    flags: &Flags,
    overrides: &Overrides,
    environment: &Environment,
    installed: impl Fn(&str) -> Vec<String>,
) -> Result<Settings, ConfigError> {
    let anchor = anchor(working, flags, environment)?;
    anchor.require_trust(SettingUse::Providers, environment)?;
    let settled = read(&anchor, flags, overrides, environment, installed)?;
    anchor.settle(settled.problems)?;
    Ok(settled.settings)
}

/// Returns the settings and all named or discovered providers, including unusable ones. Fails only
/// if the file is invalid, or not trusted for the `needed` use.
pub fn survey(
    needed: SettingUse,
    flags: &Flags,
    overrides: &Overrides,
    environment: &Environment,
    installed: impl Fn(&str) -> Vec<String>,
) -> Result<(Settings, Vec<Candidate>), ConfigError> {
    let anchor = anchor(&working_folder()?, flags, environment)?;
    anchor.require_trust(needed, environment)?;
    let settled = read(&anchor, flags, overrides, environment, installed)?;
    if settled.problems.0.iter().any(|problem| !problem.is_elsewhere) {
        anchor.settle(settled.problems)?;
    }
    Ok((settled.settings, settled.candidates))
}

/// Settings with the problems found while settling them.
struct Settled {
    settings: Settings,
    candidates: Vec<Candidate>,
    problems: Problems,
}

fn read(
    anchor: &Anchor,
    flags: &Flags,
    overrides: &Overrides,
    environment: &Environment,
    installed: impl Fn(&str) -> Vec<String>,
) -> Result<Settled, ConfigError> {
    let mut problems = Problems::default();
    let mut file = match &anchor.file {
        Some((_, tree)) => CouncilFile::read(tree, &mut problems),
        None => CouncilFile::default(),
    };
    let percent = file.alignment.convergence_percent.as_ref().map(|at| at.value);
    let located = anchor.located(flags, environment, file.storage.take(), percent)?;
    let found = match &file.council.providers {
        Some(_) => Vec::new(),
        None => discovered(environment, installed),
    };
    let found_names: Vec<ExpertSlug> = found.iter().map(|entry| entry.name.clone()).collect();
    check::file(&file, &found_names, &mut problems);
    settle(file, found, anchor, located, overrides, environment, problems)
}

/// Discovers providers that no file names.
fn discovered(
    environment: &Environment,
    installed: impl Fn(&str) -> Vec<String>,
) -> Vec<ProviderEntry> {
    let mut found = discover::with_keys_and_programs(environment);
    if let (true, Some(server)) = (discover::wants_more(&found), ollama::server(environment)) {
        found.extend(discover::with_models(&installed(&server), &server));
    }
    found
}

fn settle(
    mut file: CouncilFile,
    found: Vec<ProviderEntry>,
    anchor: &Anchor,
    located: Located,
    overrides: &Overrides,
    environment: &Environment,
    mut problems: Problems,
) -> Result<Settled, ConfigError> {
    let mut ledger = Ledger::default();
    ledger.note("config", json!(located.file), anchor.file_source.clone());
    ledger.note(
        "storage.url",
        json!(format!("sqlite:{}", located.store.display())),
        located.store_source.clone(),
    );
    let (council, candidates) =
        settle_council(file.council, found, &located, environment, &mut ledger, &mut problems);
    let server_usd = file.budget.server_usd_max.take();
    let budget = budget::settle(file.budget, overrides, environment, &mut ledger)?;
    let server_usd_micros = budget::settle_server(server_usd, &mut ledger);
    let conclusion = settle_conclusion(file.conclusion, &council.providers, &mut ledger);
    let review = gate::settle(file.review, &located, &mut ledger, &mut problems);
    let tier_rules = settle_tiers(file.tier_rules, &mut ledger);
    let alignment = settle_alignment(file.alignment, &mut ledger);
    let keep_prompts = ledger.file_or("retention.keep_prompts", file.keep_prompts, true);
    let settings = Settings {
        located,
        council,
        budget,
        server_usd_micros,
        conclusion,
        review,
        tier_rules,
        alignment,
        retention: Retention { keep_prompts },
        secrets_in_use: secrets_in_use(&candidates, environment),
        origins: ledger.0,
    };
    Ok(Settled { settings, candidates, problems })
}

fn settle_council(
    file: CouncilSection,
    found: Vec<ProviderEntry>,
    located: &Located,
    environment: &Environment,
    ledger: &mut Ledger,
    problems: &mut Problems,
) -> (Council, Vec<Candidate>) {
    let transport = ledger.file_or("council.transport", file.transport, TransportChoice::Auto);
    let around = ResolveContext { environment, folder: &located.folder, transport };
    let (entries, origin) = match file.providers {
        Some(At { value, .. }) => (value, Origin::Configured),
        None if found.is_empty() => (found, Origin::Nobody),
        None => (found, Origin::Found),
    };
    let considered = entries.iter();
    let candidates: Vec<Candidate> =
        considered.filter_map(|entry| reach::candidate(entry, &around, ledger, problems)).collect();
    let usable = candidates.iter().filter(|candidate| candidate.is_usable());
    let providers: Vec<Provider> = usable.map(|candidate| candidate.provider.clone()).collect();
    let (timeouts, quorum, circuit) = (file.timeouts, file.quorum, file.short_circuit);
    let mut wait = |key: &str, file: Option<At<u64>>, default: u64| {
        let key = format!("council.timeouts.{key}");
        ledger.file_or(&key, file.map(|at| at.map(Shown)), Shown(default)).0
    };
    let default = Timeouts::default();
    let timeouts = Timeouts {
        r1_per_provider: wait("r1_per_provider", timeouts.r1_per_provider, default.r1_per_provider),
        r2_per_provider: wait("r2_per_provider", timeouts.r2_per_provider, default.r2_per_provider),
        r3_chair: wait("r3_chair", timeouts.r3_chair, default.r3_chair),
    };
    let key = |name: &str| format!("council.quorum.{name}");
    let default = Quorum::default();
    let quorum = Quorum {
        r1_min: ledger.file_or(&key("r1_min"), quorum.r1_min, default.r1_min),
        r2_min: ledger.file_or(&key("r2_min"), quorum.r2_min, default.r2_min),
        r3_required: ledger.file_or(&key("r3_required"), quorum.r3_required, default.r3_required),
        allow_partial: ledger.file_or(
            &key("allow_partial"),
            quorum.allow_partial,
            default.allow_partial,
        ),
        families_min: ledger.file_or(
            &key("families_min"),
            quorum.families_min,
            default.families_min,
        ),
    };
    let key = |name: &str| format!("council.short_circuit.{name}");
    let default = ShortCircuit::default();
    let short_circuit = ShortCircuit {
        enabled: ledger.file_or(&key("enabled"), circuit.enabled, default.enabled),
        shadow: ledger.file_or(&key("shadow"), circuit.shadow, default.shadow),
        skip_r2_if: ledger.file_or(&key("skip_r2_if"), circuit.skip_r2_if, default.skip_r2_if),
        skip_r3_if: ledger.file_or(&key("skip_r3_if"), circuit.skip_r3_if, default.skip_r3_if),
    };
    let anonymous_review = ledger.file_or("council.anonymous_review", file.anonymous_review, true);
    let council = Council { providers, origin, timeouts, quorum, short_circuit, anonymous_review };
    (council, candidates)
}

fn settle_conclusion(
    file: ConclusionSection,
    providers: &[Provider],
    ledger: &mut Ledger,
) -> Conclusion {
    let source = |at: &Option<At<ExpertSlug>>| {
        at.as_ref().map_or(Source::Default, |at| Source::File { line: at.line })
    };
    let sources = [source(&file.synthesizer), source(&file.critic), source(&file.reviser)];
    let conclusion = Conclusion {
        synthesizer: file.synthesizer.map(|at| at.value),
        critic: file.critic.map(|at| at.value),
        reviser: file.reviser.map(|at| at.value),
    };
    if let Some(roles) = conclusion.roles(chairs(providers).first(), providers, providers) {
        let named = [
            ("synthesizer", roles.synthesizer),
            ("critic", roles.critic),
            ("reviser", roles.reviser),
        ];
        for ((role, name), source) in named.into_iter().zip(sources) {
            ledger.note(&format!("conclusion.{role}"), json!(name), source);
        }
    }
    conclusion
}

fn settle_tiers(file: Option<At<Vec<TierRule>>>, ledger: &mut Ledger) -> Option<Vec<TierRule>> {
    let At { value: rules, line } = file?;
    for rule in &rules {
        let key = format!("tier_rules.{}.{}", rule.tier.key(), rule.artifact_type);
        ledger.note(&key, json!(rule.globs), Source::File { line });
    }
    Some(rules)
}

fn settle_alignment(file: AlignmentSection, ledger: &mut Ledger) -> Alignment {
    Alignment {
        max_rounds: ledger.file_or("alignment.max_rounds", file.max_rounds, MAX_ROUNDS_DEFAULT),
        convergence_percent: ledger.file_or(
            "alignment.convergence_percent",
            file.convergence_percent,
            CONVERGENCE_PERCENT_DEFAULT,
        ),
    }
}
