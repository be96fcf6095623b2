//! The table of the artifact gate: who deliberates, who adjudicates, by which policy.

use std::path::Path;
use std::sync::Arc;

use super::connect::Outlets;
use super::error::ConveneError;
use super::guard::secret_guard;
use super::plan::bare;
use super::table::{Rehearsal, connections, secret};
use crate::ambient::Ambient;
use crate::config::{self, Settings, chairs, seat, single_family, version_of};
use crate::domain::gate::{
    ADJUDICATOR, Artifact, ContextRef, Deliberator, GatePlan, Policy, PriorVerdict,
};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Plan, Role, Seat};
use crate::engine::Connections;
use crate::material::{self, SecretGuard};
use crate::prompting::{adjudicator_digest, gate_digest, is_shown_whole};
use crate::providers::Provider;
use crate::providers::rehearsal::panel;

/// Ten times ours; whatever is longer is material, and belongs into `context_refs`.
const INSTRUCTIONS_BYTES_MAX: usize = 60_000;

/// Who sits at the gate, and how each is reached.
#[derive(Debug)]
pub struct GateTable {
    pub is_rehearsal: bool,
    pub connections: Connections,
    /// How many earlier verdicts its adjudicator is shown.
    pub prior_verdicts: usize,
    deliberators: Vec<Deliberator>,
    adjudicator: ExpertSlug,
    policy: Policy,
    pattern: Plan,
}

impl GateTable {
    /// Unlike a council, a gate never rehearses by itself: it would let everything through.
    pub fn set(
        settings: &Settings,
        rehearsal: &Rehearsal,
        outlets: &Outlets,
    ) -> Result<Self, ConveneError> {
        let is_rehearsal = rehearsal.is_asked_for();
        let script = rehearsal.script();
        let company = Company::at(settings, is_rehearsal);
        let review = &settings.review;
        let (mut seats, deliberators) = company.deliberators(settings)?;
        let adjudicator: ExpertSlug =
            ADJUDICATOR.parse().map_err(|_| ConveneError::NobodyAtTheGate)?;
        let provider = company.adjudicator(review.adjudicator.as_ref())?;
        seats.push(place_of(&adjudicator, provider, Role::Chair, &adjudicator_digest()));
        Ok(Self {
            is_rehearsal,
            prior_verdicts: review.prior_verdicts,
            connections: connections(&seats, &company.providers, script.clone(), outlets),
            policy: Policy { name: review.policy, min_deliberators: review.min_deliberators },
            pattern: Plan {
                chairs: vec![adjudicator.clone()],
                rehearsal_script: script.and_then(|script| serde_json::to_value(script).ok()),
                notes: notes(&seats, is_rehearsal),
                ..bare(settings, seats)
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
        Plan { gate: Some(Arc::new(gate)), secret: secret(ambient), ..self.pattern.clone() }
    }
}

/// Whether a document can be judged whole: what nobody was shown, nobody let pass.
pub fn is_judged_whole(text: &str) -> bool {
    is_shown_whole(text)
}

/// Who is there to be seated: in a rehearsal its players, whomever the file names.
struct Company {
    providers: Vec<Provider>,
    is_rehearsal: bool,
}

impl Company {
    fn at(settings: &Settings, is_rehearsal: bool) -> Self {
        let providers = if is_rehearsal { panel() } else { settings.council.providers.clone() };
        Self { providers, is_rehearsal }
    }

    /// The deliberators of the file, each with its seat.
    fn deliberators(
        &self,
        settings: &Settings,
    ) -> Result<(Vec<Seat>, Vec<Deliberator>), ConveneError> {
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

    /// Who was named for a deliberator; else those who speak, in turn.
    fn speaker(&self, place: usize, named: Option<&ExpertSlug>) -> Result<&Provider, ConveneError> {
        if let Some(name) = named.filter(|_| !self.is_rehearsal) {
            return self.named(name);
        }
        let is_speaker = |one: &&Provider| one.roles.contains(&Role::Participant);
        let speakers: Vec<&Provider> = self.providers.iter().filter(is_speaker).collect();
        let turn = speakers.get(place % speakers.len().max(1));
        turn.copied().ok_or(ConveneError::NobodyAtTheGate)
    }

    /// Who was named to adjudicate; else the first who chairs.
    fn adjudicator(&self, named: Option<&ExpertSlug>) -> Result<&Provider, ConveneError> {
        match named.filter(|_| !self.is_rehearsal) {
            Some(name) => self.named(name),
            None => {
                let chairs = chairs(&self.providers);
                self.named(chairs.first().ok_or(ConveneError::NobodyAtTheGate)?)
            }
        }
    }

    fn named(&self, name: &ExpertSlug) -> Result<&Provider, ConveneError> {
        let found = self.providers.iter().find(|one| one.name == *name);
        found.ok_or(ConveneError::NobodyAtTheGate)
    }
}

/// A place at the gate, with this provider behind it.
fn place_of(name: &ExpertSlug, provider: &Provider, role: Role, digest: &str) -> Seat {
    Seat { name: name.clone(), roles: vec![role], ..seat(provider, digest) }
}

/// What the operator wrote for a deliberator. Without it there is no such deliberator.
fn instructions(path: &Path) -> Result<String, ConveneError> {
    let path = path.to_owned();
    match material::plain_text(&path) {
        Err(reason) => Err(ConveneError::NoInstructions { path, reason }),
        Ok(text) if text.trim().is_empty() => Err(ConveneError::EmptyInstructions { path }),
        Ok(text) if text.len() > INSTRUCTIONS_BYTES_MAX => {
            Err(ConveneError::LongInstructions { path, max: INSTRUCTIONS_BYTES_MAX })
        }
        Ok(text) => Ok(text),
    }
}

/// The files a deliberator judges by; one that is missing is shown to it as missing.
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

/// What a reader of the result should know of how the gate was set up. Which context was
/// missing, the plan of each deliberator says.
fn notes(seats: &[Seat], is_rehearsal: bool) -> Vec<String> {
    let speakers = seats.iter().filter(|seat| seat.roles.contains(&Role::Participant));
    let speakers: Vec<Seat> = speakers.cloned().collect();
    single_family(&speakers).filter(|_| !is_rehearsal).into_iter().collect()
}
