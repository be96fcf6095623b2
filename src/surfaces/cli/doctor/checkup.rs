//! [`DoctorReport`]: the state of configuration, store and each provider. Pure.

use std::path::PathBuf;

use serde::Serialize;

use super::probe::ProbeResult;
use crate::config::{ProviderCandidate, TransportStatus, nearest_first};
use crate::domain::ask::{CallErrorType, TransportKind};
use crate::domain::plan::TokenPrice;
use crate::export::wording;
use crate::providers::CallError;

/// Some servers offer hundreds of models; list only the most similar names.
const OFFERED_MAX: usize = 8;

#[derive(Debug, Serialize)]
pub(crate) struct DoctorReport {
    pub status: DoctorStatus,
    pub config: ConfigCheck,
    pub store: StoreCheck,
    pub providers: Vec<ProviderCheck>,
    /// Next steps, one sentence each.
    pub advice: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DoctorStatus {
    Success,
    Findings,
}

#[derive(Debug, Serialize)]
pub(crate) struct ConfigCheck {
    pub file: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
pub(crate) struct StoreCheck {
    pub path: PathBuf,
    /// `None` if there is no store yet.
    pub opens: Option<bool>,
    pub detail: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct ProviderCheck {
    pub name: String,
    pub model: String,
    pub found_by: String,
    pub usable: bool,
    pub transports: Vec<TransportCheck>,
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
pub(crate) struct TransportCheck {
    pub kind: TransportKind,
    pub usable: bool,
    pub detail: String,
}

/// The variable of the key, never its value.
#[derive(Debug, Serialize)]
pub(crate) struct KeyCheck {
    pub variable: String,
    pub present: bool,
}

/// The state of one line of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckState {
    Good,
    Bad,
    /// Unknown, or not needed.
    Open,
}

impl ProviderCheck {
    pub(super) fn new(candidate: &ProviderCandidate, probed: ProbeResult) -> Self {
        let provider = &candidate.provider;
        let offered = probed.models.as_ref().and_then(|models| models.as_ref().ok());
        let model_exists = offered.and_then(|offered| has_model(offered, &provider.model));
        let transports: Vec<TransportCheck> = candidate
            .transport_statuses
            .iter()
            .map(|way| check_transport(way, &probed, model_exists))
            .collect();
        let reachable = probed.models.as_ref().map(|models| match models {
            Ok(_) => true,
            Err(error) => is_answer(error),
        });
        let offered = match (probed.models, model_exists) {
            (Some(Ok(offered)), Some(false)) => nearest_first(&provider.model, offered),
            _ => Vec::new(),
        };
        Self {
            name: provider.name.to_string(),
            model: provider.model.clone(),
            found_by: candidate.found_by.to_string(),
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
    pub(crate) fn describe_model(&self) -> (CheckState, String) {
        match self.model_exists {
            Some(true) => (CheckState::Good, "offered".to_owned()),
            Some(false) if self.offered.is_empty() => (CheckState::Bad, "not offered".to_owned()),
            Some(false) => {
                (CheckState::Bad, format!("not offered; there is {}", self.offered.join(", ")))
            }
            None => (CheckState::Open, "not looked up".to_owned()),
        }
    }

    /// Describes the price and its source.
    pub(crate) fn describe_price(&self) -> (CheckState, String) {
        let Some(price) = &self.price else { return (CheckState::Open, "unknown".to_owned()) };
        let TokenPrice { input_per_mtok, output_per_mtok, source } = price;
        let source = match source.as_str() {
            "configuration" => "council.yaml".to_owned(),
            "loopback" => return (CheckState::Good, "none: it runs on this machine".to_owned()),
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

/// Whether the server answered, even with an error.
fn is_answer(error: &CallError) -> bool {
    !matches!(error.error_type, CallErrorType::Network | CallErrorType::Timeout)
}

fn check_transport(
    way: &TransportStatus,
    probed: &ProbeResult,
    model_exists: Option<bool>,
) -> TransportCheck {
    let (usable, detail) = match (way.kind, &way.closed) {
        (_, Some(reason)) => (false, reason.clone()),
        (TransportKind::Http, None) => check_server(probed, model_exists),
        (TransportKind::Cli, None) => check_program(probed),
        (TransportKind::Mcp, None) => (true, "its program is there; it was not started".to_owned()),
        (TransportKind::Rehearsal, None) => (true, "built in".to_owned()),
    };
    TransportCheck { kind: way.kind, usable, detail }
}

fn check_server(probed: &ProbeResult, model_exists: Option<bool>) -> (bool, String) {
    match &probed.models {
        Some(Ok(models)) => {
            let offered =
                format!("answers; {} offered", wording::count_noun(models.len(), "model"));
            (model_exists != Some(false), offered)
        }
        Some(Err(error)) if error.error_type == CallErrorType::Auth => {
            (false, error.message.clone())
        }
        Some(Err(error)) if is_answer(error) => {
            (true, format!("answers, but does not list its models: {}", error.message))
        }
        Some(Err(error)) => (false, error.message.clone()),
        None => (false, "was not asked".to_owned()),
    }
}

fn check_program(probed: &ProbeResult) -> (bool, String) {
    match &probed.version {
        Some(Ok(Some(version))) => (true, format!("its program is there: {version}")),
        Some(Ok(None)) | None => (true, "its program is there".to_owned()),
        Some(Err(error)) => (false, error.message.clone()),
    }
}
