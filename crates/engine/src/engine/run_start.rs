//! Starts a run: opens a new one or resumes a loaded one, and claims it for this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::ask::CallOutcome;
use plenary_core::model::dialogue::{DialogueOpening, ExpertProfile, ExpertSource, ExpertTier};
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::ids::{DialogueId, ExpertSlug};
use plenary_core::model::journal::{JournalEntry, JournalEntryKind, JournalEvent};
use plenary_core::model::plan::{Plan, Seat, SeatRole};
use plenary_core::model::run_state::RunState;
use plenary_core::model::text::trim_and_truncate;
use plenary_core::model::time::Moment;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::alignment::types::PlannedCalibration;
use plenary_core::protocols::protocol::{Protocol, Protocols, RoleTitles};
use serde_json::Value;

use crate::engine::journal::WrittenEntries;
use crate::engine::parse_replies::parse_pending_replies;
use crate::engine::record_changes::hexed_id;
use crate::engine::run::{Run, RunContext};
use crate::error::Error;
use crate::providers::transport::Transport;
use crate::store::error::StoreError;
use crate::store::traits::{Store, StoreTransaction};

/// Lists show the title; the question itself may be pages long.
const TITLE_CHARS_MAX: usize = 100;

/// Question and plan of a new run.
#[derive(Debug, Clone)]
pub struct RunQuestion {
    /// The question; for a review, the path of the document.
    pub text: String,
    /// The protocol that the run follows.
    pub protocol: &'static dyn Protocol,
    pub rehearsal: bool,
    pub plan: Plan,
    /// Facts about the dialogue, such as the one that it follows up.
    pub background: Option<Value>,
}

/// Creates the dialogue of a new run and journals its plan. From then on the run can be resumed.
pub async fn open_run(
    question: RunQuestion,
    connections: SeatTransports,
    context: RunContext,
) -> Result<Run, Error> {
    let seats = question.plan.seats.iter().map(|seat| &seat.name);
    if let Some(seat) = connections.find_missing(seats) {
        return Err(unreachable_seat(seat).into());
    }
    let RunContext { journal, ambient, observer, process_lock, .. } = &context;
    let (at, folders, token) = (ambient.now(), context.folders.clone(), process_lock.token.clone());
    let mut dice = SeededRandom::new(ambient.random_u64());
    // The id of a review appears in the verdict log, so it is redacted too.
    let named_by = context.redaction.redact_text(&question_title(&question.text));
    let opened = journal.run_work(move |unit| {
        let id = hexed_id(unit, &named_by, &mut dice)?;
        let changes =
            opening_changes(&id, question, folders.default_output_dir(id.as_str()), token);
        let seq = unit.append_entry(&id, JournalEntryKind::DialogueCreated, at, &changes)?;
        Ok(WrittenEntries::one_entry(seq, changes))
    });
    let WrittenEntries { last, changes, .. } = opened.await?;
    let state = RunState::from_first_entry(at, &changes).ok_or(StoreError::NotRun)?;
    let id = &state.opening.dialogue_id;
    // The dialogue is new, so no other run can have claimed it.
    let claim = process_lock.claim_run(id).ok_or(StoreError::NotRun)?;
    observer.on_entry(id, at, &changes);
    Ok(Run::new(state, last, claim, connections, context))
}

fn opening_changes(
    id: &DialogueId,
    question: RunQuestion,
    output_dir: String,
    owner: String,
) -> Vec<JournalEvent> {
    let RunQuestion { text, protocol, rehearsal, plan, background } = question;
    let judged = plan.alignment.as_deref();
    let (percent, seed) = match judged {
        Some(judged) => (judged.convergence_percent, Some(format!("{:016x}", judged.panel_seed))),
        None => (100, None),
    };
    let calibration = judged.and_then(|judged| judged.calibration.as_ref());
    let title = if protocol.has_question() { question_title(&text) } else { text.clone() };
    let mut changes = vec![JournalEvent::DialogueOpened(DialogueOpening {
        dialogue_id: id.clone(),
        title,
        question: protocol.has_question().then_some(text),
        background,
        protocol: protocol.name(),
        rehearsal,
        convergence_percent: percent,
        panel_seed: seed,
        output_dir,
        calibrated: calibration.is_some(),
        domain_id: calibration.and_then(PlannedCalibration::domain_id),
    })];
    let names = protocol.role_titles();
    let seats = plan.seats.iter().filter(|_| protocol.seats_are_experts());
    changes.extend(seats.map(|seat| JournalEvent::ExpertAdded(seat_profile(seat, names))));
    changes.push(JournalEvent::RunPlanned(Box::new(plan)));
    changes.push(JournalEvent::RunStarted { owner });
    changes
}

/// First non-empty line of the question, truncated for lists.
fn question_title(question: &str) -> String {
    let line = question.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Question");
    trim_and_truncate(line, TITLE_CHARS_MAX)
}

/// A seat as an expert of the record. The protocol decides the role names of participants and
/// chair.
fn seat_profile(seat: &Seat, titles: RoleTitles) -> ExpertProfile {
    let roles = [(SeatRole::Participant, titles.participant), (SeatRole::Chair, titles.chair)];
    let role = roles.iter().find(|(role, _)| seat.roles.contains(role));
    // A seat without a role in the rounds takes part in the conclusion only.
    let role = role.map_or("Auditor", |(_, name)| name);
    let mut profile =
        ExpertProfile::new(seat.name.clone(), role, ExpertTier::Core, ExpertSource::Pool);
    profile.description = Some(format!("{} ({})", seat.model, seat.family));
    profile
}

/// A run loaded from its journal.
#[derive(Debug)]
pub struct LoadedRun {
    pub state: RunState,
    /// Sequence number of the last journal entry that was read.
    pub(crate) entries: u64,
}

impl LoadedRun {
    /// Reads a run from its journal; `None` if nothing was run on the dialogue.
    pub fn from_entries(entries: &[JournalEntry]) -> Option<Self> {
        Some(Self { state: RunState::from_entries(entries)?, entries: entries.last()?.seq })
    }

    /// Reads the journal of a dialogue without a run, and adds the plan of the run to start on it.
    pub fn with_plan(entries: &[JournalEntry], plan: Plan) -> Option<Self> {
        let state = RunState::from_plan(entries, plan)?;
        Some(Self { state, entries: entries.last()?.seq })
    }
}

/// Loads a run from the store.
pub fn load_run(store: &dyn Store, id: &DialogueId) -> Result<LoadedRun, Error> {
    let entries = load_journal(store, id)?;
    Ok(LoadedRun::from_entries(&entries).ok_or_else(|| not_a_run(id, &entries))?)
}

/// Loads the run of a dialogue; `None` if it has none, because an agent or a person leads it.
pub(crate) fn find_run(store: &dyn Store, id: &DialogueId) -> Result<Option<LoadedRun>, Error> {
    Ok(LoadedRun::from_entries(&load_journal(store, id)?))
}

fn load_journal(store: &dyn Store, id: &DialogueId) -> Result<Vec<JournalEntry>, Error> {
    let entries = store.load_entries(id, 0)?;
    if entries.is_empty() {
        return Err(dialogue_not_found(id.as_str()).into());
    }
    Ok(entries)
}

/// Loads the state of a run for display.
pub fn load_run_state(
    protocols: &Protocols,
    store: &dyn Store,
    id: &DialogueId,
) -> Result<RunState, Error> {
    parsed_state(protocols, load_run(store, id)?)
}

/// The state of a run for display. Replies that no process has parsed yet are parsed here.
pub(crate) fn parsed_state(protocols: &Protocols, run: LoadedRun) -> Result<RunState, Error> {
    let LoadedRun { mut state, .. } = run;
    protocols.of_run(&state)?;
    let due = parse_pending_replies(protocols, &state);
    state.apply_events(state.last_entry_at, &due);
    Ok(state)
}

/// Resumes a loaded run in this process and journals `changed_plan`, the changes to its plan. Fails
/// while another process works on the run.
pub async fn resume_run(
    loaded: LoadedRun,
    changed_plan: Vec<JournalEvent>,
    connections: SeatTransports,
    context: RunContext,
) -> Result<Run, Error> {
    let LoadedRun { mut state, mut entries } = loaded;
    let id = state.opening.dialogue_id.clone();
    context.protocols.of_run(&state)?;
    let process_lock = Arc::clone(&context.process_lock);
    let mut changes = vec![JournalEvent::RunStarted { owner: process_lock.token.clone() }];
    changes.extend(changed_plan);
    let run_claim = process_lock.claim_run(&id).ok_or_else(|| running_elsewhere(&id))?;
    loop {
        if state.is_abandoned {
            return Err(abandoned_error(&id).into());
        }
        if process_lock.is_running_elsewhere(&state) {
            return Err(running_elsewhere(&id).into());
        }
        let at = context.ambient.now();
        let mut resumed = state.clone();
        resumed.apply_events(at, &changes);
        if let Some(seat) = connections.find_missing(needed_seats(&resumed)) {
            return Err(unreachable_seat(seat).into());
        }
        connections.restore_refused(&state, &resumed.plan);
        let written = context.journal.run_work(claim_entry(&id, entries, at, &changes)).await?;
        if written.entries > 0 {
            context.observer.on_entry(&id, at, &changes);
            let last = written.last;
            return Ok(Run::new(resumed, last, run_claim, connections, context));
        }
        for entry in context.store.load_entries(&id, entries)? {
            // Two processes tried at once; the first one to write has the run.
            if entry.kind != JournalEntryKind::Intervened {
                return Err(running_elsewhere(&id).into());
            }
            state.apply_events(entry.at, &entry.events);
            context.observer.on_entry(&id, entry.at, &entry.events);
            entries = entry.seq;
        }
    }
}

/// Journals the claim, unless the journal has grown since the run was loaded.
fn claim_entry(
    id: &DialogueId,
    entries: u64,
    at: Moment,
    changes: &[JournalEvent],
) -> impl FnOnce(&mut dyn StoreTransaction) -> Result<WrittenEntries, Error> + Send + 'static {
    let (id, changes) = (id.clone(), changes.to_vec());
    move |unit| {
        if unit.count_entries(&id)? != entries {
            return Ok(WrittenEntries::default());
        }
        let seq = unit.append_entry(&id, JournalEntryKind::RunStarted, at, &changes)?;
        Ok(WrittenEntries::one_entry(seq, changes))
    }
}

/// Seats that may still be asked: after the rounds only those of the conclusion.
fn needed_seats(state: &RunState) -> impl Iterator<Item = &ExpertSlug> {
    let plan = &state.plan;
    let ending = plan.conclusion.as_ref().filter(|_| state.rounds_are_over());
    plan.seats.iter().map(|seat| &seat.name).filter(move |name| {
        ending.is_none_or(|ending| {
            [&ending.synthesizer, &ending.critic, &ending.reviser].contains(name)
        })
    })
}

fn not_a_run(id: &DialogueId, entries: &[JournalEntry]) -> ValidationError {
    let is_imported = entries.iter().any(|entry| entry.kind == JournalEntryKind::VerdictLogged);
    let advice = match is_imported {
        true => format!("it was imported from another log; `plenary show {id}` shows its verdicts"),
        false => "an agent leads this dialogue: it registers rounds with `plenary dialogue \
                  register`, over MCP with `blue_dialogue_round_register`"
            .to_owned(),
    };
    let message = format!("'{id}' has no run to follow or to resume");
    ValidationError::new(ErrorCode::NotSupported, message).with_suggestion(advice)
}

/// Error for a run that was abandoned.
pub(crate) fn abandoned_error(id: &DialogueId) -> ValidationError {
    ValidationError::new(ErrorCode::DialogueClosed, format!("'{id}' was abandoned"))
        .with_suggestion(format!("`plenary show {id}` shows its record"))
}

fn running_elsewhere(id: &DialogueId) -> ValidationError {
    let message = format!("another process is working on '{id}'");
    ValidationError::new(ErrorCode::NotSupported, message).with_suggestion(format!(
        "`plenary watch {id}` follows it; end that process to resume the run here"
    ))
}

/// Error for a seat without a transport.
pub(crate) fn unreachable_seat(seat: &ExpertSlug) -> ValidationError {
    let message = format!("the provider of seat '{seat}' is not configured here");
    ValidationError::new(ErrorCode::NotSupported, message)
        .with_suggestion("run the command in the folder and with the keys of the first start")
}

/// Runs for each call that a provider takes at once, so that one is always ready to call it.
const RUNS_PER_CALL: usize = 8;

/// Transports of every seat, in the order in which they are tried. Seats of one provider share
/// them.
#[derive(Debug, Clone, Default)]
pub struct SeatTransports(BTreeMap<ExpertSlug, Arc<[Transport]>>);

impl SeatTransports {
    pub fn add(&mut self, seat: ExpertSlug, transports: Arc<[Transport]>) {
        self.0.insert(seat, transports);
    }

    /// Runs that these connections keep busy at once. More would only wait, with their deadlines
    /// running, because each provider takes a limited number of calls.
    pub fn busy_runs_max(&self) -> usize {
        let paces = self.0.values().filter_map(|transports| transports.first()?.pace());
        let calls_max = paces.map(|pace| pace.in_flight_max()).min().unwrap_or(usize::MAX);
        calls_max.saturating_mul(RUNS_PER_CALL)
    }

    pub(crate) fn for_seat(&self, seat: &ExpertSlug) -> &[Transport] {
        self.0.get(seat).map_or(&[], AsRef::as_ref)
    }

    /// Leaves out what servers refused earlier in the run, unless the seat was changed since.
    fn restore_refused(&self, state: &RunState, plan: &Plan) {
        for asked in &state.asks {
            let name = &asked.ask.seat;
            let is_same = plan.find_seat(name) == state.plan.find_seat(name);
            let transports = self.for_planned_seat(plan, name);
            for call in asked.calls.iter().filter(|_| is_same) {
                let mut refused = call.dispatch.without.clone();
                if let CallOutcome::Failed(failure, _) = &call.outcome {
                    refused.extend(failure.refused);
                }
                let is_its = |known: &&Transport| known.kind() == call.dispatch.transport;
                if let Some(transport) = transports.iter().find(is_its) {
                    transport.restore_refused(&refused);
                }
            }
        }
    }

    /// The transports of a seat of a plan. A seat that a run added has those of its provider.
    pub(crate) fn for_planned_seat(&self, plan: &Plan, name: &ExpertSlug) -> &[Transport] {
        let own = self.for_seat(name);
        let Some(seat) = plan.find_seat(name).filter(|_| own.is_empty()) else { return own };
        let same = plan.seats.iter().filter(|other| other.provider == seat.provider);
        let mut same = same.map(|other| self.for_seat(&other.name));
        same.find(|transports| !transports.is_empty()).unwrap_or_default()
    }

    /// First of these seats that has no transport.
    pub(crate) fn find_missing<'a>(
        &self,
        mut seats: impl Iterator<Item = &'a ExpertSlug>,
    ) -> Option<&'a ExpertSlug> {
        seats.find(|seat| self.for_seat(seat).is_empty())
    }
}
