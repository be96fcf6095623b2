//! [`Settings`]: the configuration in its final form, built once by `load_settings`, then
//! immutable. Also builds seats from providers, and collects secrets that must not leave with a
//! context file.

use std::path::PathBuf;

use secrecy::SecretString;

use super::error::ConfigError;
use super::file::TierRule;
use super::ledger::EffectiveSetting;
use super::locate::ProjectPaths;
use crate::domain::ask::TransportKind;
use crate::domain::gate::{LogRedaction, PolicyName};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{BudgetCaps, QuorumRules, RoundTimeouts, ShortCircuitRules};
use crate::providers::{Provider, is_loopback, origin_of};

#[derive(Debug, Clone)]
pub struct Settings {
    pub paths: ProjectPaths,
    pub council: CouncilSettings,
    pub budget: BudgetCaps,
    /// Daily spending limit over all runs of a server's store; `None` means no limit.
    pub server_usd_micros: Option<u64>,
    pub conclusion: ConclusionSettings,
    pub review: ReviewSettings,
    /// In the order in which they are tried; `None` if the file has no rules.
    pub tier_rules: Option<Vec<TierRule>>,
    pub alignment: AlignmentSettings,
    pub retention: RetentionSettings,
    /// Values that must not be sent with a context file.
    pub secrets_in_use: Vec<SecretString>,
    /// Every effective value with its source.
    pub origins: Vec<EffectiveSetting>,
}

impl Settings {
    /// Fails if no provider is available.
    pub fn require_providers(&self) -> Result<(), ConfigError> {
        if self.council.providers.is_empty() { Err(ConfigError::NoProvider) } else { Ok(()) }
    }

    /// Returns warnings to print before providers are called, one sentence each.
    pub fn list_warnings(&self) -> Vec<String> {
        self.council.providers.iter().filter_map(exposed_key_warning).collect()
    }
}

/// Warns if a provider's key crosses the network unencrypted. Calls to this machine are exempt.
fn exposed_key_warning(provider: &Provider) -> Option<String> {
    let url = provider.base_url.as_deref()?;
    let is_exposed = provider.key.is_some()
        && provider.transports.contains(&TransportKind::Http)
        && !is_loopback(url);
    let origin = origin_of(url).filter(|origin| is_exposed && origin.starts_with("http://"))?;
    let name = &provider.name;
    Some(format!(
        "the key of `{name}` goes to {origin} unencrypted; use https:// in its `base_url`"
    ))
}

#[derive(Debug, Clone)]
pub struct CouncilSettings {
    /// In the order of the file or of discovery; may be empty.
    pub providers: Vec<Provider>,
    pub origin: ProviderOrigin,
    pub timeouts: RoundTimeouts,
    pub quorum: QuorumRules,
    pub short_circuit: ShortCircuitRules,
    pub anonymous_review: bool,
}

/// Where the providers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderOrigin {
    /// Named in the file; only these are used.
    Configured,
    /// Discovered on this machine; seats may repeat them.
    Found,
    /// Neither named nor discovered.
    Missing,
}

/// Synthesizer, critic and reviser, as far as the file names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConclusionSettings {
    pub synthesizer: Option<ExpertSlug>,
    pub critic: Option<ExpertSlug>,
    pub reviser: Option<ExpertSlug>,
}

/// Providers of the three conclusion roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConclusionRoles {
    pub synthesizer: ExpertSlug,
    pub critic: ExpertSlug,
    pub reviser: ExpertSlug,
}

impl ConclusionSettings {
    /// Fills roles the file leaves open. The chair becomes synthesizer and reviser; a provider of
    /// another family becomes critic if there is one. `present` are the providers of the panel;
    /// providers the file names, and a critic of another family, may come from `configured`.
    /// Returns `None` if there is no provider.
    pub fn assign_roles(
        &self,
        chair: Option<&ExpertSlug>,
        present: &[Provider],
        configured: &[Provider],
    ) -> Option<ConclusionRoles> {
        let chair = present.iter().find(|provider| Some(&provider.name) == chair);
        let named = self.synthesizer.as_ref();
        let named = named.and_then(|name| configured.iter().find(|one| one.name == *name));
        let synthesizer = named.or(chair).or(present.first())?;
        let all = || present.iter().chain(configured);
        let stranger = all().find(|one| one.family != synthesizer.family);
        let other = present.iter().find(|one| one.name != synthesizer.name);
        let critic = stranger.or(other).unwrap_or(synthesizer);
        let name = synthesizer.name.clone();
        Some(ConclusionRoles {
            critic: self.critic.clone().unwrap_or_else(|| critic.name.clone()),
            reviser: self.reviser.clone().unwrap_or_else(|| name.clone()),
            synthesizer: name,
        })
    }
}

/// Settings of the review protocol.
#[derive(Debug, Clone)]
pub struct ReviewSettings {
    pub deliberators: Vec<DeliberatorSettings>,
    /// `None` means the chair.
    pub adjudicator: Option<ExpertSlug>,
    pub policy: PolicyName,
    pub min_deliberators: usize,
    pub prior_verdicts: usize,
    pub log_path: PathBuf,
    /// Patterns that are removed from the log.
    pub redact: LogRedaction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliberatorSettings {
    pub name: ExpertSlug,
    /// `None` means that seats are distributed over the participants in order.
    pub provider: Option<ExpertSlug>,
    /// The operator's prompt, instead of the built-in one.
    pub prompt: Option<PathBuf>,
    pub context_refs: Vec<PathBuf>,
    pub version: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlignmentSettings {
    pub max_rounds: u8,
    pub convergence_percent: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionSettings {
    pub keep_prompts: bool,
}
