//! Loads [`Settings`]: reads `council.yaml`, checks it across sections, and settles flags over
//! environment over file over defaults. Called at the start of commands that call providers.

use std::path::Path;

use serde_json::json;

use super::budget::{self, BudgetOverrides, DurationText};
use super::check;
use super::discover;
use super::environment::EnvVariables;
use super::error::ConfigError;
use super::file::{
    AlignmentSection, ConclusionSection, CouncilFile, CouncilSection, ProviderEntry, TierRule,
    TransportChoice,
};
use super::gate;
use super::ledger::{SettingLog, SettingSource};
use super::locate::{ConfigFlags, ConfigRoot, ProjectPaths, find_config, working_folder};
use super::ollama;
use super::reach::{self, ProviderCandidate, ResolveContext};
use super::seats::list_chairs;
use super::secrets_in_use::collect_secrets;
use super::section::{ProblemList, WithLine};
use super::settings::{
    AlignmentSettings, ConclusionSettings, CouncilSettings, ProviderOrigin, RetentionSettings,
    Settings,
};
use super::trust::SettingUse;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{QuorumRules, RoundTimeouts, ShortCircuitRules};
use crate::providers::Provider;

/// Default round limit of a dialogue, from the specification.
const MAX_ROUNDS_DEFAULT: u8 = 10;

/// By default all experts must agree.
const CONVERGENCE_PERCENT_DEFAULT: u8 = 100;

/// Finds, reads and checks everything; reports all problems at once.
///
/// `installed` returns the models of the Ollama server at a URL. It is called only if the file
/// names no provider and too few were discovered.
pub fn load_settings(
    flags: &ConfigFlags,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    installed: impl Fn(&str) -> Vec<String>,
) -> Result<Settings, ConfigError> {
    load_settings_in(&working_folder()?, flags, overrides, environment, installed)
}

/// Like [`load_settings`], from any folder.
pub(super) fn load_settings_in(
    working: &Path,
    flags: &ConfigFlags,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    installed: impl Fn(&str) -> Vec<String>,
) -> Result<Settings, ConfigError> {
    let anchor = find_config(working, flags, environment)?;
    anchor.require_trust(SettingUse::Providers, environment)?;
    let settled = read_settings(&anchor, flags, overrides, environment, installed)?;
    anchor.reject_problems(settled.problems)?;
    Ok(settled.settings)
}

/// Returns the settings and all named or discovered providers, including unusable ones. Fails only
/// if the file is invalid, or not trusted for the `needed` use.
pub fn survey_providers(
    needed: SettingUse,
    flags: &ConfigFlags,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    installed: impl Fn(&str) -> Vec<String>,
) -> Result<(Settings, Vec<ProviderCandidate>), ConfigError> {
    let anchor = find_config(&working_folder()?, flags, environment)?;
    anchor.require_trust(needed, environment)?;
    let settled = read_settings(&anchor, flags, overrides, environment, installed)?;
    if settled.problems.0.iter().any(|problem| !problem.is_external) {
        anchor.reject_problems(settled.problems)?;
    }
    Ok((settled.settings, settled.candidates))
}

/// Settings with the problems found while settling them.
struct LoadOutcome {
    settings: Settings,
    candidates: Vec<ProviderCandidate>,
    problems: ProblemList,
}

fn read_settings(
    anchor: &ConfigRoot,
    flags: &ConfigFlags,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    installed: impl Fn(&str) -> Vec<String>,
) -> Result<LoadOutcome, ConfigError> {
    let mut problems = ProblemList::default();
    let mut file = match &anchor.file {
        Some((_, tree)) => CouncilFile::from_tree(tree, &mut problems),
        None => CouncilFile::default(),
    };
    let percent = file.alignment.convergence_percent.as_ref().map(|at| at.value);
    let located = anchor.resolve_paths(flags, environment, file.storage.take(), percent)?;
    let found = match &file.council.providers {
        Some(_) => Vec::new(),
        None => discover_providers(environment, installed),
    };
    let found_names: Vec<ExpertSlug> = found.iter().map(|entry| entry.name.clone()).collect();
    check::check_file(&file, &found_names, &mut problems);
    settle_settings(file, found, anchor, located, overrides, environment, problems)
}

/// Discovers providers that no file names.
fn discover_providers(
    environment: &EnvVariables,
    installed: impl Fn(&str) -> Vec<String>,
) -> Vec<ProviderEntry> {
    let mut found = discover::find_keys_and_programs(environment);
    if let (true, Some(server)) = (discover::needs_more(&found), ollama::server_url(environment)) {
        found.extend(discover::entries_for_models(&installed(&server), &server));
    }
    found
}

fn settle_settings(
    mut file: CouncilFile,
    found: Vec<ProviderEntry>,
    anchor: &ConfigRoot,
    located: ProjectPaths,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    mut problems: ProblemList,
) -> Result<LoadOutcome, ConfigError> {
    let mut ledger = SettingLog::default();
    ledger.record_value("config", json!(located.file), anchor.file_source.clone());
    ledger.record_value(
        "storage.url",
        json!(format!("sqlite:{}", located.store.display())),
        located.store_source.clone(),
    );
    let (council, candidates) =
        settle_council(file.council, found, &located, environment, &mut ledger, &mut problems);
    let server_usd = file.budget.server_usd_max.take();
    let budget = budget::settle_budget(file.budget, overrides, environment, &mut ledger)?;
    let server_usd_micros = budget::settle_server_budget(server_usd, &mut ledger);
    let conclusion = settle_conclusion(file.conclusion, &council.providers, &mut ledger);
    let review = gate::settle_review(file.review, &located, &mut ledger, &mut problems);
    let tier_rules = settle_tiers(file.tier_rules, &mut ledger);
    let alignment = settle_alignment(file.alignment, &mut ledger);
    let keep_prompts = ledger.record_file_or("retention.keep_prompts", file.keep_prompts, true);
    let settings = Settings {
        paths: located,
        council,
        budget,
        server_usd_micros,
        conclusion,
        review,
        tier_rules,
        alignment,
        retention: RetentionSettings { keep_prompts },
        secrets_in_use: collect_secrets(&candidates, environment),
        origins: ledger.0,
    };
    Ok(LoadOutcome { settings, candidates, problems })
}

fn settle_council(
    file: CouncilSection,
    found: Vec<ProviderEntry>,
    located: &ProjectPaths,
    environment: &EnvVariables,
    ledger: &mut SettingLog,
    problems: &mut ProblemList,
) -> (CouncilSettings, Vec<ProviderCandidate>) {
    let transport =
        ledger.record_file_or("council.transport", file.transport, TransportChoice::Auto);
    let around = ResolveContext { environment, folder: &located.folder, transport };
    let (entries, origin) = match file.providers {
        Some(WithLine { value, .. }) => (value, ProviderOrigin::Configured),
        None if found.is_empty() => (found, ProviderOrigin::Missing),
        None => (found, ProviderOrigin::Found),
    };
    let considered = entries.iter();
    let candidates: Vec<ProviderCandidate> = considered
        .filter_map(|entry| reach::resolve_provider(entry, &around, ledger, problems))
        .collect();
    let usable = candidates.iter().filter(|candidate| candidate.is_usable());
    let providers: Vec<Provider> = usable.map(|candidate| candidate.provider.clone()).collect();
    let (timeouts, quorum, circuit) = (file.timeouts, file.quorum, file.short_circuit);
    let mut wait = |key: &str, file: Option<WithLine<u64>>, default: u64| {
        let key = format!("council.timeouts.{key}");
        ledger.record_file_or(&key, file.map(|at| at.map(DurationText)), DurationText(default)).0
    };
    let default = RoundTimeouts::default();
    let timeouts = RoundTimeouts {
        r1_per_provider: wait("r1_per_provider", timeouts.r1_per_provider, default.r1_per_provider),
        r2_per_provider: wait("r2_per_provider", timeouts.r2_per_provider, default.r2_per_provider),
        r3_chair: wait("r3_chair", timeouts.r3_chair, default.r3_chair),
    };
    let key = |name: &str| format!("council.quorum.{name}");
    let default = QuorumRules::default();
    let quorum = QuorumRules {
        r1_min: ledger.record_file_or(&key("r1_min"), quorum.r1_min, default.r1_min),
        r2_min: ledger.record_file_or(&key("r2_min"), quorum.r2_min, default.r2_min),
        r3_required: ledger.record_file_or(
            &key("r3_required"),
            quorum.r3_required,
            default.r3_required,
        ),
        allow_partial: ledger.record_file_or(
            &key("allow_partial"),
            quorum.allow_partial,
            default.allow_partial,
        ),
        families_min: ledger.record_file_or(
            &key("families_min"),
            quorum.families_min,
            default.families_min,
        ),
    };
    let key = |name: &str| format!("council.short_circuit.{name}");
    let default = ShortCircuitRules::default();
    let short_circuit = ShortCircuitRules {
        enabled: ledger.record_file_or(&key("enabled"), circuit.enabled, default.enabled),
        shadow: ledger.record_file_or(&key("shadow"), circuit.shadow, default.shadow),
        skip_r2_if: ledger.record_file_or(
            &key("skip_r2_if"),
            circuit.skip_r2_if,
            default.skip_r2_if,
        ),
        skip_r3_if: ledger.record_file_or(
            &key("skip_r3_if"),
            circuit.skip_r3_if,
            default.skip_r3_if,
        ),
    };
    let anonymous_review =
        ledger.record_file_or("council.anonymous_review", file.anonymous_review, true);
    let council =
        CouncilSettings { providers, origin, timeouts, quorum, short_circuit, anonymous_review };
    (council, candidates)
}

fn settle_conclusion(
    file: ConclusionSection,
    providers: &[Provider],
    ledger: &mut SettingLog,
) -> ConclusionSettings {
    let source = |at: &Option<WithLine<ExpertSlug>>| {
        at.as_ref().map_or(SettingSource::Default, |at| SettingSource::File { line: at.line })
    };
    let sources = [source(&file.synthesizer), source(&file.critic), source(&file.reviser)];
    let conclusion = ConclusionSettings {
        synthesizer: file.synthesizer.map(|at| at.value),
        critic: file.critic.map(|at| at.value),
        reviser: file.reviser.map(|at| at.value),
    };
    if let Some(roles) =
        conclusion.assign_roles(list_chairs(providers).first(), providers, providers)
    {
        let named = [
            ("synthesizer", roles.synthesizer),
            ("critic", roles.critic),
            ("reviser", roles.reviser),
        ];
        for ((role, name), source) in named.into_iter().zip(sources) {
            ledger.record_value(&format!("conclusion.{role}"), json!(name), source);
        }
    }
    conclusion
}

fn settle_tiers(
    file: Option<WithLine<Vec<TierRule>>>,
    ledger: &mut SettingLog,
) -> Option<Vec<TierRule>> {
    let WithLine { value: rules, line } = file?;
    for rule in &rules {
        let key = format!("tier_rules.{}.{}", rule.tier.config_key(), rule.artifact_type);
        ledger.record_value(&key, json!(rule.globs), SettingSource::File { line });
    }
    Some(rules)
}

fn settle_alignment(file: AlignmentSection, ledger: &mut SettingLog) -> AlignmentSettings {
    AlignmentSettings {
        max_rounds: ledger.record_file_or(
            "alignment.max_rounds",
            file.max_rounds,
            MAX_ROUNDS_DEFAULT,
        ),
        convergence_percent: ledger.record_file_or(
            "alignment.convergence_percent",
            file.convergence_percent,
            CONVERGENCE_PERCENT_DEFAULT,
        ),
    }
}
