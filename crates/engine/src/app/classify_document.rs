//! [`DocumentClassifier`]: asks a model for the tier of a document, once for each content.
//!
//! Each answer is a dialogue of its own, so prompt, reply and cost are on record. The id of the
//! dialogue begins with a digest of content, model and instructions: the same content is found
//! again, and no model is asked. Rehearsals are played each time.

use std::sync::Arc;

use plenary_core::model::hash::sha256_hex;
use plenary_core::model::ids::DialogueAlias;
use plenary_core::model::plan::{ContextFile, ContextPack, Plan, Seat, SeatRole};
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::text::slugify_title;
use plenary_core::protocols::classification::finding::ClassifierFinding;
use plenary_core::protocols::classification::protocol::{
    CLASSIFICATION, CLASSIFIER_SEAT, classified_file, classifier_answer, classifier_digest,
};
use plenary_core::protocols::review::types::ReviewArtifact;
use tokio::sync::watch;

use crate::app::planning::panel_setup::{
    PlanningError, RehearsalChoice, TransportFactory, base_plan, connect_seats, new_nonce,
};
use crate::app::planning::review_panel::{SeatProviders, review_seat};
use crate::app::project::Project;
use crate::app::review_input::{ReviewInput, UnclassifiedFile};
use crate::app::run_engine::RunEngine;
use crate::app::start_run::{PreparedRun, RunStart, start_run};
use crate::config::settings::Settings;
use crate::engine::run::NoopObserver;
use crate::engine::run_start::{RunQuestion, SeatTransports, load_run_state};
use crate::error::Error;

/// Hex digits of the digest in the id; the content itself is compared, too.
const DIGEST_DIGITS: usize = 16;

/// Classifications of one content that are looked at, the newest first. Only failed ones precede a
/// good one.
const CANDIDATES_MAX: usize = 12;

#[derive(Debug)]
pub struct DocumentClassifier {
    is_rehearsal: bool,
    connections: SeatTransports,
    plan_template: Plan,
    seat: Seat,
}

impl DocumentClassifier {
    pub fn new(
        settings: &Settings,
        rehearsal: &RehearsalChoice,
        factory: &TransportFactory,
    ) -> Result<Self, PlanningError> {
        let is_rehearsal = rehearsal.is_asked_for();
        let company = SeatProviders::from_settings(settings, is_rehearsal);
        let named = settings.tier_classifier.provider.as_ref();
        let provider =
            company.adjudicator_provider(named.or(settings.review.adjudicator.as_ref()))?;
        let name = CLASSIFIER_SEAT.parse().map_err(|_| PlanningError::NoReviewProvider)?;
        let seat = review_seat(&name, provider, SeatRole::Participant, &classifier_digest());
        let (seats, script) = (vec![seat.clone()], rehearsal.script());
        Ok(Self {
            is_rehearsal,
            connections: connect_seats(&seats, &company.providers, script.clone(), factory),
            plan_template: Plan {
                rehearsal_script: script.and_then(|script| serde_json::to_value(script).ok()),
                ..base_plan(settings, seats)
            },
            seat,
        })
    }

    /// The recorded answer on the same content by the same model and instructions.
    pub fn find_recorded(
        &self,
        project: &Project,
        artifact: &ReviewArtifact,
    ) -> Result<Option<ClassifierFinding>, Error> {
        let beginning = slugify_title(&self.title_digest(artifact));
        let Some(alias) = DialogueAlias::parse(&beginning) else { return Ok(None) };
        let store = project.store.as_ref();
        for named in store.find_named(&alias, CANDIDATES_MAX)? {
            let Ok(state) = load_run_state(&project.protocols, store, &named.dialogue_id) else {
                continue;
            };
            let file = classified_file(&state.plan);
            let is_same = file.is_some_and(|file| file.sha256 == artifact.sha256)
                && state.opening.protocol == CLASSIFICATION
                && state.opening.rehearsal == self.is_rehearsal;
            let finding = self.read_finding(&state, artifact);
            if is_same && finding.tier.is_some() {
                return Ok(Some(ClassifierFinding { recorded_before: true, ..finding }));
            }
        }
        Ok(None)
    }

    /// Finds the tier of a document: by the recorded answer, else by a call. `None` if the run was
    /// interrupted.
    pub async fn classify(
        &self,
        engine: &RunEngine,
        file: UnclassifiedFile,
        interrupted: watch::Receiver<bool>,
    ) -> Result<Option<ReviewInput>, Error> {
        let project = &engine.project;
        if !self.is_rehearsal
            && let Some(recorded) = self.find_recorded(project, &file.artifact)?
        {
            return Ok(Some(file.settle(recorded)));
        }
        let start = RunStart::New(Box::new(self.prepare_run(project, &file.artifact)?));
        let context = engine.run_context(Arc::new(NoopObserver), None);
        let started = start_run(context, start).await?;
        let (stop, state) = engine.finish_run(started, interrupted).await?;
        if stop == RunStopReason::Interrupted {
            return Ok(None);
        }
        let finding = self.read_finding(&state, &file.artifact);
        Ok(Some(file.settle(finding)))
    }

    fn prepare_run(
        &self,
        project: &Project,
        artifact: &ReviewArtifact,
    ) -> Result<PreparedRun, Error> {
        let ReviewArtifact { path, sha256, text, .. } = artifact.clone();
        let title = format!("{}: {path}", self.title_digest(artifact));
        let context = ContextPack {
            files: vec![ContextFile { path, sha256, text }],
            ..ContextPack::default()
        };
        let question = RunQuestion {
            text: title,
            protocol: project.protocols.find_protocol(CLASSIFICATION)?,
            rehearsal: self.is_rehearsal,
            plan: Plan {
                context: Arc::new(context),
                secret: new_nonce(project.ambient.as_ref()),
                ..self.plan_template.clone()
            },
            background: None,
        };
        Ok(PreparedRun::new(question, self.connections.clone()))
    }

    fn title_digest(&self, artifact: &ReviewArtifact) -> String {
        let Seat { model, .. } = &self.seat;
        let instructions = classifier_digest();
        let parts = [artifact.sha256.as_str(), model, &instructions].map(str::as_bytes);
        let digest: String = sha256_hex(parts).chars().take(DIGEST_DIGITS).collect();
        format!("Tier of {digest}")
    }

    fn read_finding(&self, state: &RunState, artifact: &ReviewArtifact) -> ClassifierFinding {
        let id = state.opening.dialogue_id.clone();
        ClassifierFinding::new(classifier_answer(state), artifact.tier, &self.seat.model, id)
    }
}
