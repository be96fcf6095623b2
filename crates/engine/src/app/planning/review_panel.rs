//! [`ReviewPanelSetup`]: deliberators, adjudicator and policy of a review, before a document is read.

use std::path::Path;
use std::sync::Arc;

use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{Plan, Seat, SeatRole};
use plenary_core::protocols::classification::finding::ClassifierFinding;
use plenary_core::protocols::review::concern_codes::CodeCount;
use plenary_core::protocols::review::messages::{adjudicator_digest, deliberator_digest};
use plenary_core::protocols::review::messages_sections::fits_whole;
use plenary_core::protocols::review::policy::ReviewPolicy;
use plenary_core::protocols::review::types::{
    ADJUDICATOR_SEAT, DeliberatorContext, DeliberatorPlan, PriorVerdict, ReviewArtifact, ReviewPlan,
};

use crate::app::planning::panel_setup::{
    PlanningError, RehearsalChoice, TransportFactory, base_plan, connect_seats, new_nonce,
};
use crate::clock::System;
use crate::config::settings::{
    DeliberatorSettings, Settings, build_seat, list_chairs, short_version, single_family_note,
};
use crate::context_files::read::{SecretGuard, read_plain_text, read_sendable_text};
use crate::context_files::secrets::scan::SecretValues;
use crate::engine::run_start::SeatTransports;
use crate::providers::rehearsal::transport::rehearsal_panel;
use crate::providers::transport::Provider;

/// Ten times the built-in text; longer texts belong into `context_refs`.
const INSTRUCTIONS_BYTES_MAX: usize = 60_000;

#[derive(Debug)]
pub struct ReviewPanelSetup {
    pub is_rehearsal: bool,
    pub connections: SeatTransports,
    /// Number of earlier verdicts in the adjudicator's prompt.
    pub prior_verdicts: usize,
    deliberators: Vec<DeliberatorPlan>,
    adjudicator: ExpertSlug,
    policy: ReviewPolicy,
    plan_template: Plan,
}

impl ReviewPanelSetup {
    /// Never rehearses by itself, unlike a council: it would pass everything.
    pub fn new(
        settings: &Settings,
        rehearsal: &RehearsalChoice,
        factory: &TransportFactory,
    ) -> Result<Self, PlanningError> {
        let is_rehearsal = rehearsal.is_asked_for();
        let script = rehearsal.script();
        let company = SeatProviders::from_settings(settings, is_rehearsal);
        let review = &settings.review;
        let (mut seats, deliberators) = company.seat_deliberators(settings)?;
        let adjudicator: ExpertSlug =
            ADJUDICATOR_SEAT.parse().map_err(|_| PlanningError::NoReviewProvider)?;
        let provider = company.adjudicator_provider(review.adjudicator.as_ref())?;
        seats.push(review_seat(&adjudicator, provider, SeatRole::Chair, &adjudicator_digest()));
        Ok(Self {
            is_rehearsal,
            prior_verdicts: review.prior_verdicts,
            connections: connect_seats(&seats, &company.providers, script.clone(), factory),
            policy: ReviewPolicy { name: review.policy, min_deliberators: review.min_deliberators },
            plan_template: Plan {
                chairs: vec![adjudicator.clone()],
                rehearsal_script: script.and_then(|script| serde_json::to_value(script).ok()),
                notes: panel_notes(&seats, is_rehearsal),
                ..base_plan(settings, seats)
            },
            deliberators,
            adjudicator,
        })
    }

    /// The plan of the review of one artifact.
    pub fn build_plan(
        &self,
        artifact: ReviewArtifact,
        earlier: EarlierReviews,
        ambient: &dyn System,
    ) -> Plan {
        let gate = ReviewPlan {
            artifact,
            deliberators: self.deliberators.clone(),
            adjudicator: self.adjudicator.clone(),
            policy: self.policy,
            priors: earlier.priors,
            code_counts: earlier.code_counts,
        };
        let mut plan = self.plan_template.clone();
        plan.notes.extend(gate.artifact.classified.as_ref().map(ClassifierFinding::sentence));
        Plan { review: Some(Arc::new(gate)), secret: new_nonce(ambient), ..plan }
    }
}

/// What the adjudicator learns of earlier reviews of the same type.
#[derive(Debug, Clone, Default)]
pub struct EarlierReviews {
    pub priors: Vec<PriorVerdict>,
    pub code_counts: Vec<CodeCount>,
}

/// Whether a document fits into the prompts whole: text that no seat was shown must not pass.
pub fn is_judged_whole(text: &str) -> bool {
    fits_whole(text)
}

/// Providers of the panel; in a rehearsal the scripted ones, not those of the file.
pub(crate) struct SeatProviders {
    pub(crate) providers: Vec<Provider>,
    is_rehearsal: bool,
}

impl SeatProviders {
    pub(crate) fn from_settings(settings: &Settings, is_rehearsal: bool) -> Self {
        let providers =
            if is_rehearsal { rehearsal_panel() } else { settings.council.providers.clone() };
        Self { providers, is_rehearsal }
    }

    /// The configured deliberators, each with its seat.
    fn seat_deliberators(
        &self,
        settings: &Settings,
    ) -> Result<(Vec<Seat>, Vec<DeliberatorPlan>), PlanningError> {
        let guard = secret_guard(settings);
        let wanted = settings.review.deliberators.iter().enumerate();
        let seated = wanted.map(|(place, wanted)| {
            let provider = self.deliberator_provider(place, wanted.provider.as_ref())?;
            let instructions = wanted.prompt.as_deref().map(read_instructions).transpose()?;
            let codes = wanted.codes.clone();
            let digest = deliberator_digest(wanted.name.as_str(), instructions.as_deref(), &codes);
            let version = wanted.version.clone();
            let seat = Seat {
                version: version.unwrap_or_else(|| short_version(&digest, &provider.model)),
                ..review_seat(&wanted.name, provider, SeatRole::Participant, &digest)
            };
            let context = read_context_refs(wanted, &settings.paths.folder, &guard);
            Ok((seat, DeliberatorPlan { seat: wanted.name.clone(), instructions, context, codes }))
        });
        seated.collect()
    }

    /// The provider named for a deliberator, else the participants in turn.
    fn deliberator_provider(
        &self,
        place: usize,
        named: Option<&ExpertSlug>,
    ) -> Result<&Provider, PlanningError> {
        if let Some(name) = named.filter(|_| !self.is_rehearsal) {
            return self.find_provider(name);
        }
        let is_speaker = |one: &&Provider| one.roles.contains(&SeatRole::Participant);
        let speakers: Vec<&Provider> = self.providers.iter().filter(is_speaker).collect();
        let turn = speakers.get(place % speakers.len().max(1));
        turn.copied().ok_or(PlanningError::NoReviewProvider)
    }

    /// The provider named for the adjudicator, else the first chair.
    pub(crate) fn adjudicator_provider(
        &self,
        named: Option<&ExpertSlug>,
    ) -> Result<&Provider, PlanningError> {
        match named.filter(|_| !self.is_rehearsal) {
            Some(name) => self.find_provider(name),
            None => {
                let chairs = list_chairs(&self.providers);
                self.find_provider(chairs.first().ok_or(PlanningError::NoReviewProvider)?)
            }
        }
    }

    fn find_provider(&self, name: &ExpertSlug) -> Result<&Provider, PlanningError> {
        let found = self.providers.iter().find(|one| one.name == *name);
        found.ok_or(PlanningError::NoReviewProvider)
    }
}

/// A seat of the review with this provider.
pub(crate) fn review_seat(
    name: &ExpertSlug,
    provider: &Provider,
    role: SeatRole,
    digest: &str,
) -> Seat {
    Seat { name: name.clone(), roles: vec![role], ..build_seat(provider, digest) }
}

/// Reads the operator's prompt of a deliberator; a missing one is an error.
fn read_instructions(path: &Path) -> Result<String, PlanningError> {
    let read = read_plain_text(path).and_then(|text| match text.len() {
        _ if text.trim().is_empty() => Err("it is empty".to_owned()),
        bytes if bytes > INSTRUCTIONS_BYTES_MAX => {
            Err(format!("it has {bytes} bytes, over the limit of {INSTRUCTIONS_BYTES_MAX}"))
        }
        _ => Ok(text),
    });
    read.map_err(|reason| PlanningError::Instructions { path: path.to_owned(), reason })
}

/// Reads the context files of a deliberator; a missing one is shown to it as missing.
fn read_context_refs(
    deliberator: &DeliberatorSettings,
    folder: &Path,
    guard: &SecretGuard,
) -> Vec<DeliberatorContext> {
    let read = |path: &std::path::PathBuf| {
        let shown = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        match read_sendable_text(path, guard) {
            Ok(text) => DeliberatorContext { path: shown, text: Some(text), missing: None },
            Err(reason) => DeliberatorContext { path: shown, text: None, missing: Some(reason) },
        }
    };
    deliberator.context_refs.iter().map(read).collect()
}

/// Notes on the panel for readers of the result. Missing context files are part of each
/// deliberator's plan.
fn panel_notes(seats: &[Seat], is_rehearsal: bool) -> Vec<String> {
    let speakers = seats.iter().filter(|seat| seat.roles.contains(&SeatRole::Participant));
    let speakers: Vec<Seat> = speakers.cloned().collect();
    single_family_note(&speakers).filter(|_| !is_rehearsal).into_iter().collect()
}

/// The guard that checks every file and artifact before it is sent to a model.
pub fn secret_guard(settings: &Settings) -> SecretGuard {
    let own_files = settings.paths.file.iter().chain([&settings.paths.store]);
    SecretGuard::new(SecretValues::new(&settings.secrets_in_use), own_files.cloned())
}
