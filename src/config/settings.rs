//! What the program works by: settled once, then never changed.

use std::path::PathBuf;

use secrecy::SecretString;

use super::error::ConfigError;
use super::file::TierRule;
use super::ledger::Setting;
use super::locate::Located;
use crate::domain::ask::TransportKind;
use crate::domain::gate::{PolicyName, Redaction};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Caps, Quorum, ShortCircuit, Timeouts};
use crate::providers::{Provider, is_loopback, origin_of};

#[derive(Debug, Clone)]
pub struct Settings {
    pub located: Located,
    pub council: Council,
    pub budget: Caps,
    /// What servers may spend in a day over all runs of the store; nothing: no limit.
    pub server_usd_micros: Option<u64>,
    pub conclusion: Conclusion,
    pub review: Review,
    /// In the order in which they are tried; nothing where the file has no rules at all.
    pub tier_rules: Option<Vec<TierRule>>,
    pub alignment: Alignment,
    pub retention: Retention,
    /// Values that must not leave this machine with a file.
    pub secrets_in_use: Vec<SecretString>,
    /// Every effective value and who set it.
    pub origins: Vec<Setting>,
}

impl Settings {
    /// An error when there is nobody to ask.
    pub fn require_providers(&self) -> Result<(), ConfigError> {
        if self.council.providers.is_empty() { Err(ConfigError::NoProvider) } else { Ok(()) }
    }

    /// What the user should know before providers are called, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        self.council.providers.iter().filter_map(exposed_key).collect()
    }
}

/// That a provider's key crosses the network unencrypted. Traffic on this machine stays here.
fn exposed_key(provider: &Provider) -> Option<String> {
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
pub struct Council {
    /// In the order in which they were written or found; empty when there is nobody.
    pub providers: Vec<Provider>,
    pub origin: Origin,
    pub timeouts: Timeouts,
    pub quorum: Quorum,
    pub short_circuit: ShortCircuit,
    pub anonymous_review: bool,
}

/// Where the providers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Named in the file: these and no others.
    Configured,
    /// Found on this machine: seats may repeat them.
    Found,
    /// Nothing was named and nothing was found.
    Nobody,
}

/// Who writes, audits and mends the conclusion, as far as the file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conclusion {
    pub synthesizer: Option<ExpertSlug>,
    pub critic: Option<ExpertSlug>,
    pub reviser: Option<ExpertSlug>,
}

/// The providers behind the three roles of a conclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConclusionRoles {
    pub synthesizer: ExpertSlug,
    pub critic: ExpertSlug,
    pub reviser: ExpertSlug,
}

impl Conclusion {
    /// Fills what the file leaves open from those who are present: who chairs also writes and
    /// mends, and somebody of another family audits, where there is one. Whom the file names,
    /// and that other family, need not be present. Nothing when there is nobody.
    pub fn roles(
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

/// The artifact gate.
#[derive(Debug, Clone)]
pub struct Review {
    pub deliberators: Vec<Deliberator>,
    /// Nothing: whoever chairs.
    pub adjudicator: Option<ExpertSlug>,
    pub policy: PolicyName,
    pub min_deliberators: usize,
    pub prior_verdicts: usize,
    pub log_path: PathBuf,
    /// What is not written to the log.
    pub redact: Redaction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deliberator {
    pub name: ExpertSlug,
    /// Nothing: seats are spread over the participants in order.
    pub provider: Option<ExpertSlug>,
    /// The operator's own prompt, in place of the built-in one.
    pub prompt: Option<PathBuf>,
    pub context_refs: Vec<PathBuf>,
    pub version: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    pub max_rounds: u8,
    pub convergence_percent: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub keep_prompts: bool,
}
