//! Loads [`Settings`]: reads `council.yaml`, checks it across sections, and settles flags over
//! environment over file over defaults. Called at the start of commands that call providers.

use std::path::Path;

use plenary_core::model::ids::ExpertSlug;
use plenary_core::protocols::review::concern_codes::ConcernCode;
use plenary_core::report::phrases::count_noun;
use serde_json::{Value, json};

use crate::config::council_file::{CouncilFile, DeliberatorEntry, ProviderEntry, check_file};
use crate::config::discover::{entries_for_models, find_keys_and_programs, needs_more, server_url};
use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::locate::{
    ConfigFlags, ConfigRoot, ProjectPaths, find_config, find_first_link, working_folder,
};
use crate::config::model_directory::ModelDirectory;
use crate::config::resolve_provider::{ProviderCandidate, ResolveContext, resolve_provider};
use crate::config::section::ProblemList;
use crate::config::setting_table::TransportChoice;
use crate::config::settings::{
    ConclusionSettings, CouncilSettings, DeliberatorSettings, ProviderOrigin, ReviewSettings,
    Settings, collect_secrets, list_chairs,
};
use crate::config::settle_sections::{
    BudgetOverrides, CouncilValues, EffectiveSetting, ModelChoice, ReviewValues, SettingSource,
    settle_values,
};
use crate::config::trust::risks::SettingUse;
use crate::files::reserved_names::list_store_files;
use crate::providers::transport::Provider;

/// Finds, reads and checks everything; reports all problems at once.
///
/// `models` is asked for the models of an Ollama server if the file names no provider and too few
/// were discovered, and for the lists of providers whose model is the latest one.
pub fn load_settings(
    flags: &ConfigFlags,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    models: &impl ModelDirectory,
) -> Result<Settings, ConfigError> {
    load_settings_in(&working_folder()?, flags, overrides, environment, models)
}

/// Like [`load_settings`], from any folder.
pub(crate) fn load_settings_in(
    working: &Path,
    flags: &ConfigFlags,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    models: &impl ModelDirectory,
) -> Result<Settings, ConfigError> {
    let root = find_config(working, flags, environment)?;
    root.require_trust(SettingUse::Providers, environment)?;
    let (settings, _, problems) = read_settings(&root, flags, overrides, environment, models)?;
    root.reject_problems(problems)?;
    Ok(settings)
}

/// Returns the settings and all named or discovered providers, including unusable ones. Fails only
/// if the file is invalid, or not trusted for the `needed` use.
pub fn survey_providers(
    needed: SettingUse,
    flags: &ConfigFlags,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    models: &impl ModelDirectory,
) -> Result<(Settings, Vec<ProviderCandidate>), ConfigError> {
    let root = find_config(&working_folder()?, flags, environment)?;
    root.require_trust(needed, environment)?;
    let (settings, candidates, problems) =
        read_settings(&root, flags, overrides, environment, models)?;
    if problems.0.iter().any(|problem| !problem.is_external) {
        root.reject_problems(problems)?;
    }
    Ok((settings, candidates))
}

/// Returns the settings, all providers, and the problems found while settling them.
fn read_settings(
    root: &ConfigRoot,
    flags: &ConfigFlags,
    overrides: &BudgetOverrides,
    environment: &EnvVariables,
    models: &impl ModelDirectory,
) -> Result<(Settings, Vec<ProviderCandidate>, ProblemList), ConfigError> {
    let (mut file, mut problems) = root.read_file();
    let paths = root.resolve_paths(&file, flags, environment)?;
    let mut found = match &file.providers {
        Some(_) => Vec::new(),
        None => discover_providers(environment, models),
    };
    let entries = file.providers.as_mut().unwrap_or(&mut found);
    override_models(entries, &overrides.models)?;
    let found_names: Vec<ExpertSlug> = found.iter().map(|entry| entry.name.clone()).collect();
    check_file(&file, &found_names, &mut problems);
    let (values, mut origins) = settle_values(&file.values, overrides, environment)?;
    let entries = match &file.providers {
        Some(entries) => (entries.as_slice(), ProviderOrigin::Configured),
        None if found.is_empty() => (found.as_slice(), ProviderOrigin::Missing),
        None => (found.as_slice(), ProviderOrigin::Found),
    };
    let (council, candidates) = settle_council(
        entries,
        values.council,
        &paths,
        environment,
        models,
        &mut origins,
        &mut problems,
    );
    show_conclusion(&values.conclusion, &council.providers, &mut origins);
    let review = settle_review(&file, values.review, &paths, &mut origins, &mut problems);
    let store = json!(format!("sqlite:{}", paths.store.display()));
    let store = EffectiveSetting::new("storage.url", store, paths.store_source.clone());
    replace_setting(&mut origins, "storage.url", vec![store]);
    let tier_rules = file.tier_rules.clone();
    let line = SettingSource::File { line: file.values.line_of("tier_rules").unwrap_or_default() };
    let rules = tier_rules.iter().flatten().map(|rule| {
        let key = format!("tier_rules.{}.{}", rule.tier.config_key(), rule.artifact_type);
        EffectiveSetting::new(key, json!(rule.globs), line.clone())
    });
    replace_setting(&mut origins, "tier_rules", rules.collect());
    origins.insert(0, EffectiveSetting::new("config", json!(paths.file), root.file_source.clone()));
    let settings = Settings {
        paths,
        council,
        budget: values.budget.to_caps(),
        server_usd_micros: values.budget.server_usd_micros(),
        conclusion: values.conclusion,
        review,
        tier_rules,
        tier_classifier: values.tier_classifier,
        alignment: values.alignment,
        retention: values.retention,
        secrets_in_use: collect_secrets(&candidates, environment),
        origins,
    };
    Ok((settings, candidates, problems))
}

/// Replaces the row of a setting by the rows of its parts.
fn replace_setting(origins: &mut Vec<EffectiveSetting>, key: &str, parts: Vec<EffectiveSetting>) {
    if let Some(place) = origins.iter().position(|setting| setting.key == key) {
        origins.splice(place..=place, parts);
    }
}

fn show_value(origins: &mut [EffectiveSetting], key: &str, value: Value) {
    if let Some(setting) = origins.iter_mut().find(|setting| setting.key == key) {
        setting.value = value;
    }
}

/// The providers of a run without a file, before servers are asked for their models.
pub(crate) fn discover_candidates(
    environment: &EnvVariables,
    models: &impl ModelDirectory,
) -> Vec<ProviderCandidate> {
    let transport = TransportChoice::Auto;
    let context = ResolveContext { environment, folder: Path::new("."), transport };
    let mut problems = ProblemList::default();
    let found = discover_providers(environment, models);
    found.iter().filter_map(|entry| resolve_provider(entry, &context, &mut problems)).collect()
}

/// Discovers providers that no file names.
fn discover_providers(
    environment: &EnvVariables,
    models: &impl ModelDirectory,
) -> Vec<ProviderEntry> {
    let mut found = find_keys_and_programs(environment);
    if let (true, Some(server)) = (needs_more(&found), server_url(environment)) {
        found.extend(entries_for_models(&models.installed(&server), &server));
    }
    found
}

fn settle_council(
    (entries, origin): (&[ProviderEntry], ProviderOrigin),
    values: CouncilValues,
    paths: &ProjectPaths,
    environment: &EnvVariables,
    models: &impl ModelDirectory,
    origins: &mut Vec<EffectiveSetting>,
    problems: &mut ProblemList,
) -> (CouncilSettings, Vec<ProviderCandidate>) {
    let context =
        ResolveContext { environment, folder: &paths.folder, transport: values.transport };
    let mut resolved: Vec<(&ProviderEntry, ProviderCandidate)> = entries
        .iter()
        .filter_map(|entry| Some((entry, resolve_provider(entry, &context, problems)?)))
        .collect();
    apply_offers(&mut resolved, models, &paths.store);
    let shown = resolved.iter().flat_map(|(entry, candidate)| candidate.list_settings(entry));
    let shown = shown.collect();
    let candidates: Vec<ProviderCandidate> =
        resolved.into_iter().map(|(_, candidate)| candidate).collect();
    replace_setting(origins, "council.providers", shown);
    let usable = candidates.iter().filter(|candidate| candidate.is_usable());
    let providers: Vec<Provider> = usable.map(|candidate| candidate.provider.clone()).collect();
    let CouncilValues { timeouts, quorum, short_circuit, anonymous_review, .. } = values;
    let council =
        CouncilSettings { providers, origin, timeouts, quorum, short_circuit, anonymous_review };
    (council, candidates)
}

/// Asks providers for their models where the model or its price depends on it.
fn apply_offers(
    resolved: &mut [(&ProviderEntry, ProviderCandidate)],
    models: &impl ModelDirectory,
    store: &Path,
) {
    let wanting = resolved.iter().filter(|(entry, candidate)| candidate.wants_offer(entry));
    let asked: Vec<Provider> = wanting.map(|(_, candidate)| candidate.provider.clone()).collect();
    let offers = models.offered(&asked.iter().collect::<Vec<_>>(), store);
    for (asked, offer) in asked.iter().zip(offers) {
        let own = resolved.iter_mut().find(|(entry, _)| entry.name == asked.name);
        if let (Some((entry, candidate)), Some(offer)) = (own, offer) {
            candidate.apply_offer(entry, &offer);
        }
    }
}

/// Replaces models by those that `--model` names.
fn override_models(
    entries: &mut [ProviderEntry],
    chosen: &[ModelChoice],
) -> Result<(), ConfigError> {
    for ModelChoice { provider, model } in chosen {
        let Some(entry) = entries.iter_mut().find(|entry| entry.name.as_str() == provider) else {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
            let known = if names.is_empty() { "none" } else { &names.join(", ") };
            let expected = format!(
                "`NAME=MODEL`; there is no provider `{provider}`, and this project has {known}"
            );
            return Err(ConfigError::Flag { flag: "--model", expected });
        };
        entry.model = Some(model.clone());
        entry.is_model_flagged = true;
    }
    Ok(())
}

/// Shows the providers that have the three roles, also where the file leaves the choice open.
fn show_conclusion(
    conclusion: &ConclusionSettings,
    providers: &[Provider],
    origins: &mut Vec<EffectiveSetting>,
) {
    match conclusion.assign_roles(list_chairs(providers).first(), providers, providers) {
        Some(roles) => {
            show_value(origins, "conclusion.synthesizer", json!(roles.synthesizer));
            show_value(origins, "conclusion.critic", json!(roles.critic));
            show_value(origins, "conclusion.reviser", json!(roles.reviser));
        }
        None => origins.retain(|setting| !setting.key.starts_with("conclusion.")),
    }
}

fn settle_review(
    file: &CouncilFile,
    values: ReviewValues,
    paths: &ProjectPaths,
    origins: &mut [EffectiveSetting],
    problems: &mut ProblemList,
) -> ReviewSettings {
    let built_in = DeliberatorEntry::built_in();
    let seats = file.deliberators.as_ref().unwrap_or(&built_in);
    let names: Vec<&str> = seats.iter().map(|seat| seat.name.as_str()).collect();
    show_value(origins, "review.deliberators", json!(names));
    // A pattern may contain the secret that it hides.
    show_value(origins, "review.redact", json!(format!("{} patterns", file.redact.len())));
    let policy = values.policy;
    let key = "review.policy.min_deliberators";
    let line = file.values.line_of(key).or(file.values.line_of("review.deliberators"));
    // A review that needs more deliberators than it has never passes.
    if file.deliberators.is_some() && policy.min_deliberators > seats.len() {
        let seats = count_noun(seats.len(), "deliberator");
        let fault = format!("is {}, but the review has {seats}", policy.min_deliberators);
        problems.add_problem(key, line.unwrap_or_default(), &fault);
    }
    let log_path = paths.folder.join(values.log_path);
    if let Some(fault) = log_path_fault(&log_path, paths) {
        let line = file.values.line_of("review.log_path").unwrap_or_default();
        problems.add_problem("review.log_path", line, &fault);
    }
    ReviewSettings {
        deliberators: seats.iter().map(|seat| settle_deliberator(seat, &paths.folder)).collect(),
        adjudicator: values.adjudicator.provider,
        policy: policy.name,
        min_deliberators: policy.min_deliberators,
        prior_verdicts: policy.prior_verdicts,
        log_path,
        redact: file.redact.clone(),
    }
}

/// The log must be neither the store nor `council.yaml`, and no link may lead to it.
fn log_path_fault(log_path: &Path, paths: &ProjectPaths) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let log = real(log_path);
    let is_store = list_store_files(&real(&paths.store)).iter().any(|own| log.starts_with(own));
    if is_store || paths.file.as_deref().map(real) == Some(log) {
        return Some("must be a file of its own, neither the store nor `council.yaml`".to_owned());
    }
    let link = find_first_link(&paths.folder, log_path.parent().unwrap_or(&paths.folder))?;
    Some(format!("must not lead through a link: `{}` is one", link.display()))
}

fn settle_deliberator(seat: &DeliberatorEntry, folder: &Path) -> DeliberatorSettings {
    DeliberatorSettings {
        name: seat.name.clone(),
        provider: seat.provider.clone(),
        prompt: seat.prompt.as_ref().map(|path| folder.join(path)),
        context_refs: seat.context_refs.iter().map(|path| folder.join(path)).collect(),
        codes: seat.codes.iter().map(to_code).collect(),
        version: seat.version.clone(),
    }
}

fn to_code((code, meaning): (&String, &String)) -> ConcernCode {
    ConcernCode { code: code.clone(), meaning: meaning.clone() }
}
