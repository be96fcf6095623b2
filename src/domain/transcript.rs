//! State of a run, folded from its journal: the plan, every ask, every call and its result.
//!
//! A protocol decides from this state alone. The engine applies journal events one by one, in the
//! same way during a run and when it resumes one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ask::{Ask, Messages, Sending};
pub use super::asked::{Asked, Call, CallOutcome};
use super::change::{Change, Entry};
use super::conclusion::{Audit, Conclusion, Ending, Participant};
use super::council::opinion::Opinion;
use super::council::report::{CouncilFinalReport, Report};
use super::council::review::Review;
use super::dialogue::{DialogueStatus, Opening, Protocol, Stage};
use super::gate::{Adjudication, GatePlan, Judgement, Override, Ruling};
use super::ids::{EntityId, ExpertSlug};
use super::intervention::{Intervention, Noted};
use super::plan::Plan;
use super::time::Moment;
use super::words::words;

#[derive(Debug, Clone)]
pub struct Transcript {
    pub opening: Opening,
    pub opened_at: Moment,
    pub plan: Plan,
    pub asks: Vec<Asked>,
    /// Rounds whose findings are in the record, with the time of recording.
    pub rounds_held: Vec<(u8, Moment)>,
    pub shortcuts: Vec<Shortcut>,
    pub report: Option<CouncilFinalReport>,
    /// Entities recorded so far, with their contributors.
    pub entities: BTreeMap<EntityId, Vec<ExpertSlug>>,
    pub interventions: Vec<Noted>,
    /// The participants, once the rounds are over and the conclusion has begun.
    pub participants: Option<Vec<Participant>>,
    pub stage: Option<Stage>,
    pub ending: Option<Ending>,
    /// The outcome of a review.
    pub ruling: Option<Ruling>,
    /// Number of lines that the run added to the verdict log.
    pub rows_logged: usize,
    /// Decisions of people that override the review verdict.
    pub overrides: Vec<(Moment, Override)>,
    /// Processes that worked on the run, one for each start or resume.
    pub owners: Vec<String>,
    /// Why the run last stopped; `None` while it is running.
    pub stopped: Option<Stop>,
    /// The dialogue was abandoned: no seat is asked any more.
    pub is_abandoned: bool,
    /// The Principal stopped the rounds: no seat is asked in rounds any more.
    pub is_cut_short: bool,
    pub last_entry_at: Moment,
}

/// Result of parsing a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reading", rename_all = "snake_case")]
pub enum Reading {
    #[serde(rename = "read")]
    Read {
        document: Document,
        /// The parser had to repair the JSON.
        repaired: bool,
        /// The reply was cut off, so the end of the document may be missing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        truncated: bool,
    },
    Unreadable {
        reason: String,
        /// The model refused to answer, rather than failing to write JSON.
        refusal: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "document", content = "content", rename_all = "snake_case")]
pub enum Document {
    Opinion(Box<Opinion>),
    #[serde(rename = "review")]
    Review(Box<Review>),
    Report(Box<Report>),
    Conclusion(Box<Conclusion>),
    Audit(Audit),
    /// The conclusion with new text in the fields that the critic objected to.
    Revision(Box<Conclusion>),
    /// A deliberator's judgement, in either round.
    Judgement(Box<Judgement>),
    Adjudication(Box<Adjudication>),
    /// A document of a protocol that is not built in.
    Other(Value),
}

words! {
    /// The budget that ran out.
    pub enum Shortage {
        Money = "usd_max",
        Tokens = "tokens_max",
        Calls = "calls_max",
        /// Daily limit of a server, over all runs of its store.
        ServerMoney = "server_usd_max",
        /// Limit that all councils of a batch share.
        Batch = "batch_budget",
    }
}

impl Shortage {
    /// Name of the budget as users set it.
    pub fn described(self) -> String {
        match self {
            Self::Batch => "the batch's budget (`--budget-usd`)".to_owned(),
            Self::ServerMoney => format!("`budget.{self}`"),
            Self::Money | Self::Tokens | Self::Calls => format!("`{self}`"),
        }
    }
}

/// Why a run stopped; `Done` if it reached its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stop", rename_all = "snake_case")]
pub enum Stop {
    Done,
    Quorum {
        round: u8,
        heard: usize,
        needed: usize,
    },
    Families {
        heard: usize,
        needed: usize,
    },
    /// `allow_partial: false`, and this seat failed.
    Partial {
        round: u8,
        seat: ExpertSlug,
    },
    Budget {
        shortage: Shortage,
    },
    /// No seat could write, audit or revise the conclusion.
    Unconcluded {
        stage: Stage,
        seat: ExpertSlug,
        reason: String,
    },
    /// The adjudicator of a review gave no usable answer.
    Unadjudicated {
        seat: ExpertSlug,
        reason: String,
    },
    Deadline,
    Interrupted,
}

impl Stop {
    /// Returns true if the run stopped because answers were missing.
    fn is_for_want_of_voices(&self) -> bool {
        match self {
            Self::Quorum { .. }
            | Self::Families { .. }
            | Self::Partial { .. }
            | Self::Unadjudicated { .. }
            | Self::Unconcluded { .. } => true,
            Self::Done | Self::Budget { .. } | Self::Deadline | Self::Interrupted => false,
        }
    }
}

/// A round that was skipped, or would have been skipped in shadow mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortcut {
    pub round: u8,
    pub triggered: bool,
    pub reason: String,
    pub rounds_skipped: Vec<String>,
    pub confidence_adjustment: i8,
    /// The rule was evaluated but the round ran anyway.
    pub shadow: bool,
    /// In shadow mode: whether the round changed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_have_been_right: Option<bool>,
}

impl Shortcut {
    /// The rule applied and the round was skipped.
    pub fn is_taken(&self) -> bool {
        self.triggered && !self.shadow
    }
}

impl Transcript {
    /// Builds the state of a run from its first entry, which contains an opening and a plan.
    pub fn begin(at: Moment, changes: &[Change]) -> Option<Self> {
        let mut transcript = Self::empty(at, opening(changes)?, plan(changes)?);
        transcript.add(at, changes);
        Some(transcript)
    }

    /// Builds the state from all entries of a dialogue; `None` if it has no run.
    pub fn of(entries: &[Entry]) -> Option<Self> {
        Self::planned(entries, entries.iter().find_map(|entry| plan(&entry.changes))?)
    }

    /// Builds the state of a dialogue for which a run is being planned.
    pub fn planned(entries: &[Entry], plan: Plan) -> Option<Self> {
        let first = entries.first()?;
        let mut transcript = Self::empty(first.at, opening(&first.changes)?, plan);
        entries.iter().for_each(|entry| transcript.add(entry.at, &entry.changes));
        Some(transcript)
    }

    fn empty(at: Moment, opening: Opening, plan: Plan) -> Self {
        Self {
            opening,
            opened_at: at,
            plan,
            asks: Vec::new(),
            rounds_held: Vec::new(),
            shortcuts: Vec::new(),
            report: None,
            entities: BTreeMap::new(),
            interventions: Vec::new(),
            participants: None,
            stage: None,
            ending: None,
            ruling: None,
            rows_logged: 0,
            overrides: Vec::new(),
            owners: Vec::new(),
            stopped: None,
            is_cut_short: false,
            is_abandoned: false,
            last_entry_at: at,
        }
    }

    /// Applies the events of one entry.
    pub fn add(&mut self, at: Moment, changes: &[Change]) {
        // Events that people add after the run do not count towards its duration.
        if !changes.iter().any(Change::is_hindsight) {
            self.last_entry_at = at;
        }
        for change in changes {
            self.add_one(at, change);
        }
    }

    fn add_one(&mut self, at: Moment, change: &Change) {
        match change {
            Change::RunStarted { owner } => self.start(owner),
            Change::CapsSet { caps } => self.plan.caps = *caps,
            Change::AskPrepared { ask, messages, condensed, .. } => {
                self.prepare(at, ask, messages.clone(), condensed);
            }
            Change::AskNotSent { ask, shortage } => {
                if let Some(asked) = self.asked_mut(*ask) {
                    asked.not_sent = Some(*shortage);
                }
            }
            Change::CallSent(sending) => self.send(at, sending),
            Change::ReplyKept { call, reply } => {
                if let Some(asked) = self.settle(*call, CallOutcome::Replied(reply.clone(), at)) {
                    asked.messages = None;
                }
            }
            Change::CallFailed { call, failure, gave_up } => {
                if let Some(asked) = self.settle(*call, CallOutcome::Failed(failure.clone(), at)) {
                    asked.gave_up = *gave_up;
                }
            }
            Change::ReplyRead { ask, reading } => {
                if let Some(asked) = self.asked_mut(*ask) {
                    asked.reading = Some(reading.clone());
                }
            }
            Change::ShortcutWeighed(shortcut) => self.weigh(shortcut),
            Change::ReportGiven(report) => self.report = Some(report.as_ref().clone()),
            Change::RoundHeld { round, .. } => self.rounds_held.push((*round, at)),
            // A signal may arrive while the last entry is being written; the run is finished
            // anyway.
            Change::RunStopped(_) if self.is_finished() => self.stopped = Some(Stop::Done),
            Change::RunStopped(stop) => self.stop(stop),
            Change::EntityAdded(entity) => {
                self.entities.insert(entity.id, entity.contributors.clone());
            }
            Change::Intervened { round, intervention } => self.intervene(at, *round, intervention),
            Change::ConclusionPlanned { conclusion, seats } => {
                self.plan.conclusion = Some(conclusion.clone());
                self.plan.seats.extend_from_slice(seats);
            }
            Change::ConclusionBegun { participants } => {
                self.participants = Some(participants.clone());
                self.stage = Some(Stage::Concluding);
            }
            Change::StatusSet { status, .. } => {
                self.is_abandoned = *status == DialogueStatus::Abandoned;
            }
            Change::StageReached { stage } => self.stage = Some(*stage),
            Change::Concluded(ending) => self.ending = Some(ending.as_ref().clone()),
            Change::Ruled(ruling) => self.ruling = Some(ruling.as_ref().clone()),
            Change::VerdictLogged(_) => self.rows_logged += 1,
            Change::Overridden(decision) => self.overrides.push((at, decision.clone())),
            Change::DialogueOpened(_)
            | Change::RunPlanned(_)
            | Change::PoolGiven { .. }
            | Change::ExpertAdded(_)
            | Change::ExpertJoined { .. }
            | Change::PanelSet { .. }
            | Change::ScoreGiven { .. }
            | Change::RawReplyKept { .. }
            | Change::ReferenceAdded(_)
            | Change::EventAdded(_)
            | Change::MoveMade(_)
            | Change::BatchAnswered { .. }
            | Change::VerdictGiven(_)
            | Change::OutcomeRecorded(_) => {}
        }
    }

    fn prepare(
        &mut self,
        at: Moment,
        ask: &Ask,
        messages: Option<Arc<Messages>>,
        condensed: &[String],
    ) {
        self.asks.push(Asked {
            ask: ask.clone(),
            prepared_at: at,
            interventions: self.interventions.len(),
            condensed: condensed.to_vec(),
            messages,
            calls: Vec::new(),
            reading: None,
            gave_up: false,
            not_sent: None,
            retired: false,
        });
    }

    fn send(&mut self, at: Moment, sending: &Sending) {
        let call = Call { sending: sending.clone(), sent_at: at, outcome: CallOutcome::InFlight };
        if let Some(asked) = self.asked_mut(sending.ask) {
            asked.calls.push(call);
        }
    }

    /// Marks calls in flight as lost. Asks that the last run could not afford may be sent again,
    /// and so may asks whose missing answer stopped it.
    fn start(&mut self, owner: &str) {
        let was_short = self.stopped.take().is_some_and(|stop| stop.is_for_want_of_voices());
        self.owners.push(owner.to_owned());
        let held: Vec<u8> = self.rounds_held.iter().map(|(round, _)| *round).collect();
        for asked in &mut self.asks {
            asked.not_sent = None;
            asked.retired |=
                was_short && asked.document().is_none() && !held.contains(&asked.ask.round);
        }
        self.lose_what_is_in_flight();
    }

    fn stop(&mut self, stop: &Stop) {
        // A run that stopped for missing answers resumes its rounds.
        self.is_cut_short &= !stop.is_for_want_of_voices() || self.participants.is_some();
        self.stopped = Some(stop.clone());
    }

    fn lose_what_is_in_flight(&mut self) {
        for call in self.asks.iter_mut().flat_map(|asked| &mut asked.calls) {
            if call.outcome == CallOutcome::InFlight {
                call.outcome = CallOutcome::Lost;
            }
        }
    }

    fn intervene(&mut self, at: Moment, round: u8, intervention: &Intervention) {
        if *intervention == Intervention::Stop {
            self.is_cut_short = true;
            self.lose_what_is_in_flight();
        }
        self.interventions.push(Noted { at, round, intervention: intervention.clone() });
    }

    /// The result of a shadow round replaces the earlier decision.
    fn weigh(&mut self, shortcut: &Shortcut) {
        match self.shortcuts.iter_mut().find(|known| known.round == shortcut.round) {
            Some(known) => known.clone_from(shortcut),
            None => self.shortcuts.push(shortcut.clone()),
        }
    }

    fn settle(&mut self, call: u32, outcome: CallOutcome) -> Option<&mut Asked> {
        let is_it = |found: &Call| found.sending.call == call;
        let asked = self.asks.iter_mut().rev().find(|asked| asked.calls.iter().any(is_it))?;
        asked.calls.iter_mut().find(|found| is_it(found))?.outcome = outcome;
        Some(asked)
    }

    pub fn asked(&self, id: u32) -> Option<&Asked> {
        // Asks are numbered from 1 in the order of the list.
        self.asks.get((id as usize).checked_sub(1)?)
    }

    fn asked_mut(&mut self, id: u32) -> Option<&mut Asked> {
        self.asks.get_mut((id as usize).checked_sub(1)?)
    }

    /// The question, or the title of a dialogue without a question.
    pub fn question(&self) -> &str {
        self.opening.question.as_deref().unwrap_or(&self.opening.title)
    }

    /// The artifact under review and its deliberators; `None` if the run is not a review.
    pub fn gate(&self) -> Option<&GatePlan> {
        self.plan.gate.as_deref()
    }

    pub fn next_ask_id(&self) -> u32 {
        u32::try_from(self.asks.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.asks.iter().flat_map(|asked| &asked.calls)
    }

    pub fn next_call_id(&self) -> u32 {
        self.calls().map(|call| call.sending.call).max().unwrap_or(0).saturating_add(1)
    }

    /// The last round in which a seat was asked; 0 before the first.
    pub fn round_under_way(&self) -> u8 {
        self.asks.iter().map(|asked| asked.ask.round).max().unwrap_or(0)
    }

    /// Returns true if no seat will be asked in rounds any more.
    pub fn asks_no_more_in_rounds(&self) -> bool {
        self.report.is_some() || self.participants.is_some() || self.is_cut_short
    }

    /// Returns true if the run has done everything it planned.
    pub fn is_finished(&self) -> bool {
        match (self.gate(), &self.plan.conclusion) {
            (Some(_), _) => self.ruling.is_some(),
            (None, Some(_)) => self.ending.is_some(),
            (None, None) => self.report.is_some() || self.is_other_done(),
        }
    }

    /// Whether a run of a protocol that is not built in recorded its own end.
    fn is_other_done(&self) -> bool {
        matches!(self.opening.protocol, Protocol::Other(_)) && self.stopped == Some(Stop::Done)
    }

    /// Returns true if a rule skipped the round.
    pub fn skips(&self, round: u8) -> bool {
        self.shortcuts.iter().any(|known| known.round == round && known.is_taken())
    }

    pub fn is_held(&self, round: u8) -> bool {
        self.rounds_held.iter().any(|(held, _)| *held == round)
    }

    /// The asks of a round, in the order they were made.
    pub fn asks_of(&self, round: u8) -> impl Iterator<Item = &Asked> {
        self.asks.iter().filter(move |asked| asked.ask.round == round)
    }

    /// The newest ask of a seat in a round; a stricter retry replaces the first.
    pub fn last_ask(&self, round: u8, seat: &ExpertSlug) -> Option<&Asked> {
        self.asks
            .iter()
            .rev()
            .find(|asked| asked.ask.round == round && asked.ask.seat == *seat && !asked.retired)
    }

    /// Seats with a parsed answer in a round.
    pub fn heard_in(&self, round: u8) -> BTreeSet<&ExpertSlug> {
        self.asks_of(round)
            .filter(|asked| matches!(asked.reading, Some(Reading::Read { .. })))
            .map(|asked| &asked.ask.seat)
            .collect()
    }
}

fn opening(changes: &[Change]) -> Option<Opening> {
    changes.iter().find_map(|change| {
        let Change::DialogueOpened(opened) = change else { return None };
        Some(opened.clone())
    })
}

fn plan(changes: &[Change]) -> Option<Plan> {
    changes.iter().find_map(|change| {
        let Change::RunPlanned(planned) = change else { return None };
        Some(planned.as_ref().clone())
    })
}
