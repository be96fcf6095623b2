//! [`ReviewPanel`]: deliberators, adjudicator and policy of a review, before a document is read.

use std::path::Path;
use std::sync::Arc;

use super::panel_setup::{PlanningError, RehearsalChoice, base_plan, secret};
use super::transports::{TransportFactory, connections};
use crate::ambient::Ambient;
use crate::config::{self, Settings, chairs, seat, single_family, version_of};
use crate::domain::gate::{
    ADJUDICATOR, Artifact, ContextRef, Deliberator, GatePlan, Policy, PriorVerdict,
};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Plan, Role, Seat};
use crate::engine::SeatTransports;
use crate::material::{self, SecretGuard, SecretValues};
use crate::prompting::{adjudicator_digest, gate_digest, is_shown_whole};
use crate::providers::Provider;
use crate::providers::rehearsal::panel;

/// Ten times the built-in text; longer texts belong into `context_refs`.
const INSTRUCTIONS_BYTES_MAX: usize = 60_000;

#[derive(Debug)]
pub struct ReviewPanel {
    pub is_rehearsal: bool,
    pub connections: SeatTransports,
    /// Number of earlier verdicts in the adjudicator's prompt.
    pub prior_verdicts: usize,
    deliberators: Vec<Deliberator>,
    adjudicator: ExpertSlug,
    policy: Policy,
    plan_template: Plan,
}

impl ReviewPanel {
    /// Never rehearses by itself, unlike a council: it would pass everything.
    pub fn new(
        settings: &Settings,
        rehearsal: &RehearsalChoice,
        factory: &TransportFactory,
    ) -> Result<Self, PlanningError> {
        let is_rehearsal = rehearsal.is_asked_for();
        let script = rehearsal.script();
        let company = SeatProviders::at(settings, is_rehearsal);
        let review = &settings.review;
        let (mut seats, deliberators) = company.deliberators(settings)?;
        let adjudicator: ExpertSlug =
            ADJUDICATOR.parse().map_err(|_| PlanningError::NobodyAtTheGate)?;
        let provider = company.adjudicator(review.adjudicator.as_ref())?;
        seats.push(place_of(&adjudicator, provider, Role::Chair, &adjudicator_digest()));
        Ok(Self {
            is_rehearsal,
            prior_verdicts: review.prior_verdicts,
            connections: connections(&seats, &company.providers, script.clone(), factory),
            policy: Policy { name: review.policy, min_deliberators: review.min_deliberators },
            plan_template: Plan {
                chairs: vec![adjudicator.clone()],
                rehearsal_script: script.and_then(|script| serde_json::to_value(script).ok()),
                notes: notes(&seats, is_rehearsal),
                ..base_plan(settings, seats)
            },
            deliberators,
            adjudicator,
        })
    }

    /// The plan of the review of one artifact.
    pub fn plan(
        &self,
        artifact: Artifact,
        priors: Vec<PriorVerdict>,
        ambient: &dyn Ambient,
    ) -> Plan {
        let gate = GatePlan {
            artifact,
            deliberators: self.deliberators.clone(),
            adjudicator: self.adjudicator.clone(),
            policy: self.policy,
            priors,
        };
        Plan { gate: Some(Arc::new(gate)), secret: secret(ambient), ..self.plan_template.clone() }
    }
}

/// Whether a document fits into the prompts whole: text that no seat was shown must not pass.
pub fn is_judged_whole(text: &str) -> bool {
    is_shown_whole(text)
}

/// Providers of the panel; in a rehearsal the scripted ones, not those of the file.
struct SeatProviders {
    providers: Vec<Provider>,
    is_rehearsal: bool,
}

impl SeatProviders {
    fn at(settings: &Settings, is_rehearsal: bool) -> Self {
        let providers = if is_rehearsal { panel() } else { settings.council.providers.clone() };
        Self { providers, is_rehearsal }
    }

    /// The configured deliberators, each with its seat.
    fn deliberators(
        &self,
        settings: &Settings,
    ) -> Result<(Vec<Seat>, Vec<Deliberator>), PlanningError> {
        let guard = secret_guard(settings);
        let wanted = settings.review.deliberators.iter().enumerate();
        let seated = wanted.map(|(place, wanted)| {
            let provider = self.speaker(place, wanted.provider.as_ref())?;
            let instructions = wanted.prompt.as_deref().map(instructions).transpose()?;
            let digest = gate_digest(wanted.name.as_str(), instructions.as_deref());
            let version = wanted.version.clone();
            let seat = Seat {
                version: version.unwrap_or_else(|| version_of(&digest, &provider.model)),
                ..place_of(&wanted.name, provider, Role::Participant, &digest)
            };
            let context = context(wanted, &settings.located.folder, &guard);
            Ok((seat, Deliberator { seat: wanted.name.clone(), instructions, context }))
        });
        seated.collect()
    }

    /// The provider named for a deliberator, else the participants in turn.
    fn speaker(
        &self,
        place: usize,
        named: Option<&ExpertSlug>,
    ) -> Result<&Provider, PlanningError> {
        if let Some(name) = named.filter(|_| !self.is_rehearsal) {
            return self.named(name);
        }
        let is_speaker = |one: &&Provider| one.roles.contains(&Role::Participant);
        let speakers: Vec<&Provider> = self.providers.iter().filter(is_speaker).collect();
        let turn = speakers.get(place % speakers.len().max(1));
        turn.copied().ok_or(PlanningError::NobodyAtTheGate)
    }

    /// The provider named for the adjudicator, else the first chair.
    fn adjudicator(&self, named: Option<&ExpertSlug>) -> Result<&Provider, PlanningError> {
        match named.filter(|_| !self.is_rehearsal) {
            Some(name) => self.named(name),
            None => {
                let chairs = chairs(&self.providers);
                self.named(chairs.first().ok_or(PlanningError::NobodyAtTheGate)?)
            }
        }
    }

    fn named(&self, name: &ExpertSlug) -> Result<&Provider, PlanningError> {
        let found = self.providers.iter().find(|one| one.name == *name);
        found.ok_or(PlanningError::NobodyAtTheGate)
    }
}

/// A seat of the review with this provider.
fn place_of(name: &ExpertSlug, provider: &Provider, role: Role, digest: &str) -> Seat {
    Seat { name: name.clone(), roles: vec![role], ..seat(provider, digest) }
}

/// Reads the operator's prompt of a deliberator; a missing one is an error.
fn instructions(path: &Path) -> Result<String, PlanningError> {
    let path = path.to_owned();
    match material::plain_text(&path) {
        Err(reason) => Err(PlanningError::NoInstructions { path, reason }),
        Ok(text) if text.trim().is_empty() => Err(PlanningError::EmptyInstructions { path }),
        Ok(text) if text.len() > INSTRUCTIONS_BYTES_MAX => {
            Err(PlanningError::LongInstructions { path, max: INSTRUCTIONS_BYTES_MAX })
        }
        Ok(text) => Ok(text),
    }
}

/// Reads the context files of a deliberator; a missing one is shown to it as missing.
fn context(
    deliberator: &config::Deliberator,
    folder: &Path,
    guard: &SecretGuard,
) -> Vec<ContextRef> {
    let read = |path: &std::path::PathBuf| {
        let shown = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        match material::text_to_send(path, guard) {
            Ok(text) => ContextRef { path: shown, text: Some(text), missing: None },
            Err(reason) => ContextRef { path: shown, text: None, missing: Some(reason) },
        }
    };
    deliberator.context_refs.iter().map(read).collect()
}

/// Notes on the panel for readers of the result. Missing context files are part of each
/// deliberator's plan.
fn notes(seats: &[Seat], is_rehearsal: bool) -> Vec<String> {
    let speakers = seats.iter().filter(|seat| seat.roles.contains(&Role::Participant));
    let speakers: Vec<Seat> = speakers.cloned().collect();
    single_family(&speakers).filter(|_| !is_rehearsal).into_iter().collect()
}

/// The guard that checks every file and artifact before it is sent to a model.
pub fn secret_guard(settings: &Settings) -> SecretGuard {
    let own_files = settings.located.file.iter().chain([&settings.located.store]);
    SecretGuard::new(SecretValues::new(&settings.secrets_in_use), own_files.cloned())
}
