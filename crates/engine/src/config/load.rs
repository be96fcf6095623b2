//! Loads [`Settings`]: reads `council.yaml`, checks it across sections, and settles flags over
//! environment over file over defaults. Called at the start of commands that call providers.

use std::collections::BTreeSet;
use std::path::Path;

use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{
    PARTICIPANTS_MAX, QuorumRules, RoundTimeouts, SeatRole, ShortCircuitRules,
};
use serde_json::json;

use crate::config::council_file::provider_entry::ProviderEntry;
use crate::config::council_file::sections::{
    AlignmentSection, ConclusionSection, CouncilFile, CouncilSection, TransportChoice,
};
use crate::config::discover::{entries_for_models, find_keys_and_programs, needs_more, server_url};
use crate::config::effective_settings::{SettingLog, SettingSource};
use crate::config::environment::EnvVariables;
use crate::config::error::{ConfigError, ConfigProblem, find_nearest};
use crate::config::locate::{ConfigFlags, ConfigRoot, ProjectPaths, find_config, working_folder};
use crate::config::resolve_provider::{ProviderCandidate, ResolveContext, resolve_provider};
use crate::config::section::{ProblemList, WithLine};
use crate::config::settings::{
    AlignmentSettings, ConclusionSettings, CouncilSettings, ProviderOrigin, RetentionSettings,
    Settings, collect_secrets, list_chairs,
};
use crate::config::settle_sections::{
    BudgetOverrides, DurationText, settle_budget, settle_review, settle_server_budget,
};
use crate::config::tier_rules::TierRule;
use crate::config::trust::risks::SettingUse;
use crate::providers::catalogue::{find_row, model_family};
use crate::providers::transport::Provider;

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
pub(crate) fn load_settings_in(
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
    check_file(&file, &found_names, &mut problems);
    settle_settings(file, found, anchor, located, overrides, environment, problems)
}

/// Discovers providers that no file names.
fn discover_providers(
    environment: &EnvVariables,
    installed: impl Fn(&str) -> Vec<String>,
) -> Vec<ProviderEntry> {
    let mut found = find_keys_and_programs(environment);
    if let (true, Some(server)) = (needs_more(&found), server_url(environment)) {
        found.extend(entries_for_models(&installed(&server), &server));
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
    let budget = settle_budget(file.budget, overrides, environment, &mut ledger)?;
    let server_usd_micros = settle_server_budget(server_usd, &mut ledger);
    let conclusion = settle_conclusion(file.conclusion, &council.providers, &mut ledger);
    let review = settle_review(file.review, &located, &mut ledger, &mut problems);
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
    let candidates: Vec<ProviderCandidate> =
        considered.filter_map(|entry| resolve_provider(entry, &around, ledger, problems)).collect();
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

/// Checks the file for consistency. `found` are the names of discovered providers.
pub(crate) fn check_file(file: &CouncilFile, found: &[ExpertSlug], problems: &mut ProblemList) {
    check_participants(file, problems);
    check_quorum(file, problems);
    check_references(file, found, problems);
}

fn check_participants(file: &CouncilFile, problems: &mut ProblemList) {
    let Some(providers) = &file.council.providers else { return };
    let path = "council.providers";
    let count = count_participants(file);
    if providers.value.is_empty() {
        problems.add_problem(
            path,
            providers.line,
            "must name a provider; leave it out to use what is found",
        );
    } else if count == 0 {
        problems.add_problem(path, providers.line, "must have a participant");
    } else if count > PARTICIPANTS_MAX {
        let fault = format!("has {count} participants, over {PARTICIPANTS_MAX}");
        problems.add_problem(path, providers.line, &fault);
    }
}

fn count_participants(file: &CouncilFile) -> usize {
    let entries = file.council.providers.as_ref().map_or(&[][..], |at| &at.value);
    let speaks = |roles: &Option<WithLine<Vec<SeatRole>>>| {
        roles.as_ref().is_none_or(|roles| roles.value.contains(&SeatRole::Participant))
    };
    entries.iter().filter(|entry| speaks(&entry.roles)).count()
}

/// A configured quorum must be reachable.
fn check_quorum(file: &CouncilFile, problems: &mut ProblemList) {
    let count = count_participants(file);
    if file.council.providers.is_none() || count == 0 {
        return;
    }
    let quorum = &file.council.quorum;
    let asked = [
        ("r1_min", &quorum.r1_min, count, "participant"),
        ("r2_min", &quorum.r2_min, count, "participant"),
        ("families_min", &quorum.families_min, count_families(file), "family"),
    ];
    for (key, asked, there, what) in asked {
        let Some(asked) = asked.as_ref().filter(|asked| asked.value > there) else { continue };
        let there =
            if there == 1 { format!("is 1 {what}") } else { format!("are {there} of them") };
        let fault = format!("is {}, but there {there}", asked.value);
        problems.add_problem(&format!("council.quorum.{key}"), asked.line, &fault);
    }
}

fn count_families(file: &CouncilFile) -> usize {
    let entries = file.council.providers.as_ref().map_or(&[][..], |at| &at.value);
    let families = entries.iter().map(|entry| {
        let row = find_row(entry.name.as_str());
        let model = entry.model.as_ref().map(|at| at.value.as_str());
        let model = model.or_else(|| row?.model).unwrap_or_default();
        let own = entry.family.as_ref().map(|at| at.value.clone());
        own.unwrap_or_else(|| model_family(row, model))
    });
    families.collect::<BTreeSet<String>>().len()
}

/// Every name in another section must be one of the providers.
fn check_references(file: &CouncilFile, found: &[ExpertSlug], problems: &mut ProblemList) {
    let written = file.council.providers.as_ref().map(|at| &at.value);
    let names: Vec<&str> = match written {
        Some(entries) => entries.iter().map(|entry| entry.name.as_str()).collect(),
        None => found.iter().map(ExpertSlug::as_str).collect(),
    };
    let conclusion = &file.conclusion;
    let mut named = vec![
        ("conclusion.synthesizer".to_owned(), &conclusion.synthesizer),
        ("conclusion.critic".to_owned(), &conclusion.critic),
        ("conclusion.reviser".to_owned(), &conclusion.reviser),
        ("review.adjudicator.provider".to_owned(), &file.review.adjudicator),
    ];
    let seats = file.review.deliberators.as_ref().map_or(&[][..], |at| &at.value);
    for (place, seat) in seats.iter().enumerate() {
        named.push((format!("review.deliberators[{place}].provider"), &seat.provider));
    }
    for (path, reference) in named {
        let Some(WithLine { value, line }) = reference else { continue };
        if !names.contains(&value.as_str()) {
            problems.0.push(unknown_provider(&path, *line, value.as_str(), &names));
        }
    }
}

fn unknown_provider(path: &str, line: u64, name: &str, names: &[&str]) -> ConfigProblem {
    let advice = match find_nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "there is none".to_owned(),
        None => format!("there are {}", names.join(", ")),
    };
    ConfigProblem::in_value(path, Some(line), &format!("names no provider `{name}`; {advice}"))
}
