//! [`DoctorReport`]: the state of configuration, store and each provider.

use std::path::{Path, PathBuf};

use plenary_core::model::ask::{CallErrorType, TransportKind};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::TokenPrice;
use plenary_core::model::text::nearest_first;
use plenary_core::report::phrases::count_noun;
use serde::Serialize;
use tokio::runtime::Builder;

use crate::app::planning::panel_setup::{AskOptions, PanelSetup, TransportFactory};
use crate::app::project::SettingsLoader;
use crate::app::provider_probe::{ProbeResult, is_answer, probe_all};
use crate::clock::{RealSystem, System};
use crate::config::resolve_provider::{ProviderCandidate, TransportStatus};
use crate::config::settings::{ProviderOrigin, Settings};
use crate::config::settle_sections::BudgetOverrides;
use crate::error::Error;
use crate::providers::catalogue::find_row;
use crate::providers::http_clients::is_loopback;
use crate::providers::http_errors::host_of;
use crate::providers::transport::CallError;
use crate::store::sqlite::store::SqliteStore;

/// Some servers offer hundreds of models; list only the most similar names.
const OFFERED_MAX: usize = 8;

#[derive(Debug, Serialize)]
pub struct DoctorReport {
    pub status: DoctorStatus,
    pub config: ConfigCheck,
    pub store: StoreCheck,
    pub providers: Vec<ProviderCheck>,
    /// Next steps, one sentence each.
    pub advice: Vec<String>,
    #[serde(skip)]
    pub reach: CheckReach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DoctorStatus {
    Success,
    Findings,
}

#[derive(Debug, Serialize)]
pub struct ConfigCheck {
    pub file: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
pub struct StoreCheck {
    pub path: PathBuf,
    /// `None` if there is no store yet.
    pub opens: Option<bool>,
    pub detail: String,
}

#[derive(Debug, Serialize)]
pub struct ProviderCheck {
    pub name: String,
    pub model: String,
    pub found_by: String,
    /// The host of its server.
    pub host: Option<String>,
    pub usable: bool,
    pub transports: Vec<TransportCheck>,
    /// Its program, if that is not logged in.
    #[serde(skip)]
    pub logged_out: Option<String>,
    pub key: Option<KeyCheck>,
    /// Whether its server answered; `None` if it was not asked.
    pub reachable: Option<bool>,
    /// `None` if the server does not list its models.
    pub model_exists: Option<bool>,
    /// Similar models, if the server does not offer the configured one.
    pub offered: Vec<String>,
    pub price: Option<TokenPrice>,
}

#[derive(Debug, Serialize)]
pub struct TransportCheck {
    pub kind: TransportKind,
    pub usable: bool,
    pub detail: String,
    /// How the test call failed.
    #[serde(skip)]
    pub error_type: Option<CallErrorType>,
}

/// The variable of the key, never its value.
#[derive(Debug, Serialize)]
pub struct KeyCheck {
    pub variable: String,
    pub present: bool,
}

/// The state of one line of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    Good,
    Bad,
    /// Unknown, or not needed.
    Open,
}

/// Whether the check may use the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckReach {
    Online,
    /// Looks only at keys, programs and the file.
    Offline,
}

/// Checks the settings and the store. Online it asks every server for its models, and over each
/// transport for one word, which proves that a seat would get a reply.
pub fn check_project(loader: &SettingsLoader, reach: CheckReach) -> Result<DoctorReport, Error> {
    let (settings, candidates) = loader.survey_providers(&BudgetOverrides::default())?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
    let probed = match reach {
        CheckReach::Online => runtime.block_on(probe_all(&candidates)),
        CheckReach::Offline => candidates.iter().map(|_| ProbeResult::default()).collect(),
    };
    // Do not wait for programs that are still being killed.
    runtime.shutdown_background();
    let checks = candidates.iter().zip(probed);
    let providers = checks.map(|(candidate, probed)| ProviderCheck::new(candidate, probed));
    // A provider of the file without a key or a program is an error of configuration for every run.
    let is_complete = candidates.iter().all(ProviderCandidate::is_usable);
    Ok(build_report(&settings, providers.collect(), is_complete, reach))
}

fn build_report(
    settings: &Settings,
    providers: Vec<ProviderCheck>,
    is_complete: bool,
    reach: CheckReach,
) -> DoctorReport {
    let store = check_store(&settings.paths.store);
    let shortage = find_shortage(settings, &providers);
    let is_well =
        !providers.is_empty() && is_complete && shortage.is_none() && store.opens != Some(false);
    let mut advice = list_advice(&providers, settings);
    let shortage = shortage.filter(|_| !providers.is_empty());
    advice.extend(shortage.map(|reason| format!("`plenary ask` would not finish: {reason}")));
    advice.extend(settings.list_warnings(RealSystem.now().utc_day()));
    DoctorReport {
        status: if is_well { DoctorStatus::Success } else { DoctorStatus::Findings },
        config: ConfigCheck { file: settings.paths.file.clone() },
        store,
        providers,
        advice,
        reach,
    }
}

/// Why a council with the usual options would not start, or not finish with the providers that
/// answer.
fn find_shortage(settings: &Settings, providers: &[ProviderCheck]) -> Option<String> {
    let panel = PanelSetup::new(settings, &AskOptions::default(), &TransportFactory::default());
    let answers = |name: &ExpertSlug| {
        providers.iter().any(|provider| provider.usable && provider.name == name.as_str())
    };
    match panel {
        Ok(panel) => panel.find_shortage(answers),
        Err(error) => Some(format!("{error}; {}", error.hint())),
    }
}

/// Checks the store without creating it.
fn check_store(path: &Path) -> StoreCheck {
    // A store that cannot be read is not missing.
    let (opens, detail) = match path.try_exists().unwrap_or(true) {
        false => (None, "does not exist yet; the first run creates it".to_owned()),
        true => match SqliteStore::open(path) {
            Ok(_) => (Some(true), "opens".to_owned()),
            Err(error) => (Some(false), Error::from(error).full_message()),
        },
    };
    StoreCheck { path: path.to_owned(), opens, detail }
}

impl ProviderCheck {
    fn new(candidate: &ProviderCandidate, probed: ProbeResult) -> Self {
        let provider = &candidate.provider;
        let offered = probed.models.as_ref().and_then(|models| models.as_ref().ok());
        let model_exists = offered.and_then(|offered| has_model(offered, &provider.model));
        let transports: Vec<TransportCheck> =
            candidate.transport_statuses.iter().map(|way| check_transport(way, &probed)).collect();
        let reachable = probed.models.as_ref().map(|models| match models {
            Ok(_) => true,
            Err(error) => is_answer(error),
        });
        let offered = match (probed.models, model_exists) {
            (Some(Ok(offered)), Some(false)) => nearest_first(&provider.model, offered),
            _ => Vec::new(),
        };
        let is_refused =
            |kind: TransportKind| transports.iter().any(|one| one.kind == kind && one.is_refused());
        let program = provider.command.first().filter(|_| is_refused(TransportKind::Cli));
        Self {
            name: provider.name.to_string(),
            logged_out: program.cloned(),
            model: provider.model.clone(),
            found_by: candidate.found_by.to_string(),
            host: provider.base_url.as_deref().and_then(host_of),
            usable: candidate.is_usable() && transports.iter().any(|transport| transport.usable),
            transports,
            key: provider
                .key_variable
                .clone()
                .map(|variable| KeyCheck { variable, present: provider.key.is_some() }),
            reachable,
            model_exists,
            offered: offered.into_iter().take(OFFERED_MAX).collect(),
            price: provider.price.clone(),
        }
    }

    /// Describes whether the server offers the model.
    pub fn describe_model(&self) -> (CheckState, String) {
        match self.model_exists {
            Some(true) => (CheckState::Good, "offered".to_owned()),
            Some(false) if self.usable => {
                (CheckState::Open, "not listed, but it replies".to_owned())
            }
            Some(false) if self.offered.is_empty() => (CheckState::Bad, "not offered".to_owned()),
            Some(false) => (
                CheckState::Bad,
                format!("not offered; similar models: {}", self.offered.join(", ")),
            ),
            None => (CheckState::Open, "not checked".to_owned()),
        }
    }

    /// Describes the price and its source.
    pub fn describe_price(&self) -> (CheckState, String) {
        let Some(price) = &self.price else { return (CheckState::Open, "unknown".to_owned()) };
        let TokenPrice { input_per_mtok, output_per_mtok, source, .. } = price;
        let source = match source.as_str() {
            "configuration" => "council.yaml".to_owned(),
            "loopback" => return (CheckState::Good, "free: it runs on this machine".to_owned()),
            "provider" => "the provider's list".to_owned(),
            day => format!("price table of {day}"),
        };
        let dollars = format!("${input_per_mtok} in, ${output_per_mtok} out per million tokens");
        (CheckState::Good, format!("{dollars} ({source})"))
    }
}

/// Ollama lists a model without a tag as `:latest`.
fn has_model(offered: &[String], model: &str) -> Option<bool> {
    let is_it = |name: &String| name == model || name.strip_suffix(":latest") == Some(model);
    (!offered.is_empty()).then(|| offered.iter().any(is_it))
}

fn check_transport(way: &TransportStatus, probed: &ProbeResult) -> TransportCheck {
    let found = match (way.kind, &way.closed) {
        (_, Some(reason)) => Err(reason.clone()),
        (TransportKind::Http, None) => check_server(probed),
        (TransportKind::Cli, None) => check_program(probed),
        (TransportKind::Mcp, None) => Ok("program found".to_owned()),
        (TransportKind::Rehearsal, None) => Ok("built in".to_owned()),
    };
    let called = probed.replies.iter().find(|(kind, _)| *kind == way.kind);
    let (usable, detail) = match (found, called) {
        (Err(reason), _) => (false, reason),
        (Ok(found), None) => (true, found),
        (Ok(found), Some((_, Ok(_)))) => (true, format!("{found}; a test call got a reply")),
        // The same failure twice says nothing more.
        (Ok(_), Some((_, Err(error)))) if is_same_failure(way.kind, probed, error) => {
            (false, error.message.clone())
        }
        (Ok(found), Some((_, Err(error)))) => {
            (false, format!("{found}; a test call failed: {}", error.message))
        }
    };
    let error_type = called.and_then(|(_, reply)| Some(reply.as_ref().err()?.error_type));
    TransportCheck { kind: way.kind, usable, detail, error_type }
}

impl TransportCheck {
    /// Whether the call was refused for its key or login.
    fn is_refused(&self) -> bool {
        self.error_type == Some(CallErrorType::Auth)
    }
}

/// Whether the list of models failed for the reason for which the test call failed.
fn is_same_failure(kind: TransportKind, probed: &ProbeResult, error: &CallError) -> bool {
    let listing = probed.models.as_ref().and_then(|models| models.as_ref().err());
    kind == TransportKind::Http && listing.is_some_and(|listing| listing.message == error.message)
}

/// A model that a server does not list may still answer, so the call decides.
fn check_server(probed: &ProbeResult) -> Result<String, String> {
    match &probed.models {
        Some(Ok(models)) => Ok(format!("answers; {} offered", count_noun(models.len(), "model"))),
        Some(Err(error)) if is_answer(error) => {
            Ok(format!("the list of models failed: {}", error.message))
        }
        Some(Err(error)) => Err(error.message.clone()),
        None => Ok("not called (--offline)".to_owned()),
    }
}

fn check_program(probed: &ProbeResult) -> Result<String, String> {
    match &probed.version {
        Some(Ok(Some(version))) => Ok(format!("program found: {version}")),
        Some(Ok(None)) | None => Ok("program found".to_owned()),
        Some(Err(error)) => Err(error.message.clone()),
    }
}

/// Three seats allow a majority.
const PANEL_SIZE_MIN: usize = 3;

fn list_advice(providers: &[ProviderCheck], settings: &Settings) -> Vec<String> {
    if providers.is_empty() {
        return no_provider_advice(settings.paths.file.is_some());
    }
    let origin = settings.council.origin;
    let mut advice: Vec<String> =
        providers.iter().flat_map(|one| provider_advice(one, origin)).collect();
    if origin == ProviderOrigin::Found && providers.len() < PANEL_SIZE_MIN {
        advice.push(format!(
            "fewer than {PANEL_SIZE_MIN} providers were found, so some fill several seats; name others \
             in council.yaml, which `plenary init` writes"
        ));
    }
    advice
}

/// How to log in, or which key to set.
fn key_advice(provider: &ProviderCheck, origin: ProviderOrigin) -> Option<String> {
    let name = &provider.name;
    let remove = match origin {
        ProviderOrigin::Configured => ", or remove the provider from council.yaml",
        ProviderOrigin::Found | ProviderOrigin::Missing => "",
    };
    let is_http = |one: &TransportCheck| one.kind == TransportKind::Http && one.is_refused();
    let is_refused = provider.transports.iter().any(is_http);
    let key = provider.key.as_ref().map(|key| (key.variable.as_str(), key.present));
    Some(match (&provider.logged_out, key) {
        (_, Some((variable, true))) if is_refused => {
            format!("the server of `{name}` refuses the key in {variable}; set a valid one{remove}")
        }
        (_, None) if is_refused => format!(
            "the server of `{name}` wants a key; name its variable with `api_key_env`{remove}"
        ),
        _ if provider.usable => return None,
        (Some(program), Some((variable, _))) => {
            format!("start `{program}` and log in, or set {variable} for `{name}`{remove}")
        }
        (Some(program), None) => format!("start `{program}` and log in{remove}"),
        (None, Some((variable, false))) => format!("set {variable} for `{name}`{remove}"),
        (None, _) => return None,
    })
}

/// With a file, a question is meant for real models.
fn no_provider_advice(has_file: bool) -> Vec<String> {
    let effect = match has_file {
        true => {
            "until then `plenary ask` ends with exit code 5; `plenary ask --rehearse` shows the steps \
             with an offline panel"
        }
        false => {
            "until then `plenary ask` rehearses with an offline panel, calls no model and ends with \
             exit code 0; with a council.yaml it would end with exit code 5"
        }
    };
    [
        "no provider was found: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or \
         OPENROUTER_API_KEY; or install claude, codex or gemini; or start Ollama",
        "name any other server in council.yaml, which `plenary init` writes",
        effect,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn provider_advice(provider: &ProviderCheck, origin: ProviderOrigin) -> Vec<String> {
    let name = &provider.name;
    let mut advice: Vec<String> = key_advice(provider, origin).into_iter().collect();
    if provider.reachable == Some(false) {
        let host = provider.host.as_deref().unwrap_or("its server");
        // The servers of the catalogue run; one on this machine may not.
        let is_known = find_row(name).is_some_and(|row| {
            !is_loopback(row.base_url) && host_of(row.base_url).as_deref() == Some(host)
        });
        let check = match is_known {
            true => "your network and proxy",
            false => "that the server runs, and its `base_url`",
        };
        advice.push(format!("`{name}` does not answer at {host}; check {check}"));
    }
    if let (Some(false), Some(nearest), false) =
        (provider.model_exists, provider.offered.first(), provider.usable)
    {
        advice.push(format!(
            "`{name}` does not offer `{}`; set its `model` to one that it offers, such as `{nearest}`",
            provider.model
        ));
    }
    if provider.price.is_none() {
        advice.push(format!(
            "the price of `{name}` is unknown, so `budget.usd_max` cannot limit it; set its `price` \
             in council.yaml"
        ));
    }
    advice
}
