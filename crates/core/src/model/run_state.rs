//! State of a run, folded from its journal: the plan, every ask, every call and its result.
//!
//! A protocol decides from this state alone. The engine applies journal events one by one, in the
//! same way during a run and when it resumes one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ethos::rule_set::EthosId;
pub use crate::model::ask::AskState;
pub use crate::model::ask::CallOutcome;
pub use crate::model::ask::CallState;
use crate::model::ask::{AskPurpose, SharedBlock};
use crate::model::dialogue::{ConclusionStage, DialogueOpening, ProtocolKind};
use crate::model::ids::{EntityId, ExpertSlug, VerdictId};
use crate::model::intervention::{Intervention, InterventionEntry};
use crate::model::journal::{JournalEntry, JournalEvent};
use crate::model::plan::Plan;
use crate::model::string_enum::words;
use crate::model::time::Moment;
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::types::{
    ContributionFacts, DesignReply, PanelReply, ReconcileReply, VerdictsReply,
};
use crate::protocols::conclusion::types::{
    AuditReply, Conclusion, ConclusionParticipant, ConclusionResult,
};
use crate::protocols::council::report_types::{ChairReport, CouncilFinalReport};
use crate::protocols::council::types::{OpinionReply, PeerReview};
use crate::protocols::review::policy::{AdjudicatorReply, ReviewOutcome, VerdictOverride};
use crate::protocols::review::types::{DeliberatorJudgement, ReviewPlan};

#[derive(Debug, Clone)]
pub struct RunState {
    pub opening: DialogueOpening,
    pub opened_at: Moment,
    /// When the run first started; a dialogue may be older than its run.
    pub started_at: Option<Moment>,
    pub plan: Plan,
    /// What the messages of the run begin with, and the records that they show, if the journal
    /// keeps prompts. Each later block of an alignment dialogue begins with an earlier one.
    pub shared_blocks: Vec<Arc<SharedBlock>>,
    /// The record as the built-in Judge needs it; `None` for every other run.
    pub alignment: Option<Box<AlignmentState>>,
    pub asks: Vec<AskState>,
    /// Rounds whose findings are in the record, with the time of recording.
    pub recorded_rounds: Vec<(u8, Moment)>,
    pub shortcuts: Vec<RoundShortcut>,
    pub report: Option<CouncilFinalReport>,
    /// Entities recorded so far, with their contributors.
    pub entities: BTreeMap<EntityId, Vec<ExpertSlug>>,
    /// Verdicts given so far, with their authors and supporters.
    pub verdicts: BTreeMap<VerdictId, Vec<ExpertSlug>>,
    pub interventions: Vec<InterventionEntry>,
    /// The participants, once the rounds are over and the conclusion has begun.
    pub participants: Option<Vec<ConclusionParticipant>>,
    pub stage: Option<ConclusionStage>,
    pub conclusion_result: Option<ConclusionResult>,
    /// The outcome of a review.
    pub review_outcome: Option<ReviewOutcome>,
    /// Number of lines that the run added to the verdict log.
    pub rows_logged: usize,
    /// Decisions of people that override the review verdict.
    pub overrides: Vec<(Moment, VerdictOverride)>,
    /// Processes that worked on the run, one for each start or resume.
    pub owners: Vec<String>,
    /// Why the run last stopped; `None` while it is running.
    pub stopped: Option<RunStopReason>,
    /// A process works on the run, as a page's reader found: its lock says so, not the journal.
    pub is_running: bool,
    /// The dialogue was abandoned: no seat is asked any more.
    pub is_abandoned: bool,
    /// The Principal stopped the rounds: no seat is asked in rounds any more.
    pub is_cut_short: bool,
    pub last_entry_at: Moment,
    /// Time between a stop and the next resume, summed; no process worked then.
    pub paused_ms: u64,
}

/// Result of parsing a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reading", rename_all = "snake_case")]
pub enum ParseOutcome {
    #[serde(rename = "read")]
    Parsed {
        document: ReplyDocument,
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
pub enum ReplyDocument {
    Opinion(Box<OpinionReply>),
    #[serde(rename = "review")]
    PeerReview(Box<PeerReview>),
    Report(Box<ChairReport>),
    Conclusion(Box<Conclusion>),
    Audit(AuditReply),
    /// The conclusion with new text in the fields that the critic objected to.
    Revision(Box<Conclusion>),
    /// A deliberator's judgement, in either round.
    Judgement(Box<DeliberatorJudgement>),
    Adjudication(Box<AdjudicatorReply>),
    Design(Box<DesignReply>),
    Panel(Box<PanelReply>),
    /// What an expert's reply contains; its text is that of the call.
    Contribution(ContributionFacts),
    Reconciliation(Box<ReconcileReply>),
    Verdicts(Box<VerdictsReply>),
    /// A document of another purpose, such as one of a protocol that is not built in.
    Other(Value),
}

words! {
    /// The budget that ran out.
    pub enum BudgetShortage {
        Money = "usd_max",
        Tokens = "tokens_max",
        Calls = "calls_max",
        /// Daily limit of a server, over all runs of its store.
        ServerMoney = "server_usd_max",
        /// Limit that all councils of a batch share.
        Batch = "batch_budget",
    }
}

impl BudgetShortage {
    /// Name of the budget as users set it.
    pub fn describe_budget(self) -> String {
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
pub enum RunStopReason {
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
        shortage: BudgetShortage,
    },
    /// No seat could write, audit or revise the conclusion.
    Unconcluded {
        stage: ConclusionStage,
        seat: ExpertSlug,
        reason: String,
    },
    /// The adjudicator of a review gave no usable answer.
    Unadjudicated {
        seat: ExpertSlug,
        reason: String,
    },
    /// The Judge of an alignment dialogue gave no usable answer.
    Unjudged {
        seat: ExpertSlug,
        reason: String,
    },
    /// The Principal stopped an alignment dialogue before its first round was registered.
    Stopped,
    /// A person must resolve this many conflicts of the dialogue's ethos.
    Uncalibrated {
        ethos: EthosId,
        conflicts: usize,
    },
    Deadline,
    Interrupted,
}

impl RunStopReason {
    /// Returns true if the run ended early and not because a person interrupted it.
    pub fn is_incomplete(&self) -> bool {
        match self {
            Self::Done | Self::Interrupted => false,
            Self::Quorum { .. }
            | Self::Families { .. }
            | Self::Partial { .. }
            | Self::Budget { .. }
            | Self::Unconcluded { .. }
            | Self::Unadjudicated { .. }
            | Self::Unjudged { .. }
            | Self::Stopped
            | Self::Uncalibrated { .. }
            | Self::Deadline => true,
        }
    }

    /// Returns true if the run stopped because answers were missing.
    pub(crate) fn is_missing_answers(&self) -> bool {
        match self {
            Self::Quorum { .. }
            | Self::Families { .. }
            | Self::Partial { .. }
            | Self::Unadjudicated { .. }
            | Self::Unjudged { .. }
            | Self::Stopped
            | Self::Unconcluded { .. } => true,
            Self::Done
            | Self::Budget { .. }
            | Self::Uncalibrated { .. }
            | Self::Deadline
            | Self::Interrupted => false,
        }
    }
}

/// A round that was skipped, or would have been skipped in shadow mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundShortcut {
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

impl RoundShortcut {
    /// The rule applied and the round was skipped.
    pub fn is_taken(&self) -> bool {
        self.triggered && !self.shadow
    }
}

impl RunState {
    /// Builds the state of a run from its first entry, which contains an opening and a plan.
    pub fn from_first_entry(at: Moment, changes: &[JournalEvent]) -> Option<Self> {
        let mut state = Self::new_empty(at, find_opening(changes)?, find_plan(changes)?);
        state.apply_events(at, changes);
        Some(state)
    }

    /// Builds the state from all entries of a dialogue; `None` if it has no run.
    pub fn from_entries(entries: &[JournalEntry]) -> Option<Self> {
        Self::from_plan(entries, entries.iter().find_map(|entry| find_plan(&entry.events))?)
    }

    /// The same, also for a dialogue without a run: a model may have been asked about its rules.
    pub fn from_journal(entries: &[JournalEntry]) -> Option<Self> {
        let plan = entries.iter().find_map(|entry| find_plan(&entry.events));
        Self::from_plan(entries, plan.unwrap_or_default())
    }

    /// Builds the state of a dialogue for which a run is being planned.
    pub fn from_plan(entries: &[JournalEntry], plan: Plan) -> Option<Self> {
        let first = entries.first()?;
        let mut state = Self::new_empty(first.at, find_opening(&first.events)?, plan);
        entries.iter().for_each(|entry| state.apply_events(entry.at, &entry.events));
        Some(state)
    }

    fn new_empty(at: Moment, opening: DialogueOpening, plan: Plan) -> Self {
        Self {
            opening,
            opened_at: at,
            started_at: None,
            alignment: plan.alignment.as_ref().map(|judged| {
                let convergence_percent = judged.convergence_percent;
                Box::new(AlignmentState { convergence_percent, ..AlignmentState::default() })
            }),
            plan,
            shared_blocks: Vec::new(),
            asks: Vec::new(),
            recorded_rounds: Vec::new(),
            shortcuts: Vec::new(),
            report: None,
            entities: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            interventions: Vec::new(),
            participants: None,
            stage: None,
            conclusion_result: None,
            review_outcome: None,
            rows_logged: 0,
            overrides: Vec::new(),
            owners: Vec::new(),
            paused_ms: 0,
            stopped: None,
            is_running: false,
            is_cut_short: false,
            is_abandoned: false,
            last_entry_at: at,
        }
    }

    pub fn find_ask(&self, id: u32) -> Option<&AskState> {
        // Asks are numbered from 1 in the order of the list.
        self.asks.get((id as usize).checked_sub(1)?)
    }

    pub(crate) fn find_ask_mut(&mut self, id: u32) -> Option<&mut AskState> {
        self.asks.get_mut((id as usize).checked_sub(1)?)
    }

    /// The block that the messages of the run begin with, if one was kept.
    pub fn first_block(&self) -> Option<&Arc<SharedBlock>> {
        self.shared_blocks.iter().find(|block| !block.section)
    }

    /// The question, or the title of a dialogue without a question.
    pub fn question(&self) -> &str {
        self.opening.question.as_deref().unwrap_or(&self.opening.title)
    }

    /// The artifact under review and its deliberators; `None` if the run is not a review.
    pub fn review_plan(&self) -> Option<&ReviewPlan> {
        self.plan.review.as_deref()
    }

    pub fn next_ask_id(&self) -> u32 {
        u32::try_from(self.asks.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    pub fn all_calls(&self) -> impl Iterator<Item = &CallState> {
        self.asks.iter().flat_map(|asked| &asked.calls)
    }

    pub fn next_call_id(&self) -> u32 {
        self.all_calls().map(|call| call.dispatch.call).max().unwrap_or(0).saturating_add(1)
    }

    /// The last round in which a seat was asked; 0 before the first.
    pub fn current_round(&self) -> u8 {
        self.asks.iter().map(|asked| asked.ask.round).max().unwrap_or(0)
    }

    /// The last round of the panel: the conclusion's asks and the Judge's preparations have round
    /// numbers of their own.
    pub fn last_panel_round(&self) -> u8 {
        let panel = self.asks.iter().filter(|asked| asked.ask.purpose.is_of_panel());
        panel.map(|asked| asked.ask.round).max().unwrap_or(0)
    }

    /// Returns true if no seat will be asked in rounds any more.
    pub fn rounds_are_over(&self) -> bool {
        // A stopped alignment dialogue still needs its Judge.
        let is_cut_short = self.is_cut_short && self.alignment.is_none();
        self.report.is_some() || self.participants.is_some() || is_cut_short
    }

    /// Returns true if the run has done everything it planned.
    pub fn is_finished(&self) -> bool {
        match (self.review_plan(), &self.plan.conclusion) {
            (Some(_), _) => self.review_outcome.is_some(),
            (None, Some(_)) => self.conclusion_result.is_some(),
            (None, None) => {
                let judged = self.alignment.as_ref();
                let has_verdict = judged.is_some_and(|judged| judged.final_verdict().is_some());
                has_verdict || self.report.is_some() || self.is_other_done()
            }
        }
    }

    /// Whether a run of a protocol that is not built in recorded its own end.
    fn is_other_done(&self) -> bool {
        matches!(self.opening.protocol, ProtocolKind::Other(_))
            && self.stopped == Some(RunStopReason::Done)
    }

    /// Returns true if a rule skipped the round.
    pub fn skips_round(&self, round: u8) -> bool {
        self.shortcuts.iter().any(|known| known.round == round && known.is_taken())
    }

    pub fn is_round_recorded(&self, round: u8) -> bool {
        self.recorded_rounds.iter().any(|(held, _)| *held == round)
    }

    /// The asks of a round, in the order they were made.
    pub fn asks_in_round(&self, round: u8) -> impl Iterator<Item = &AskState> {
        self.asks.iter().filter(move |asked| asked.ask.round == round)
    }

    /// The newest ask of a seat in a round; a stricter retry replaces the first.
    pub fn last_ask(&self, round: u8, seat: &ExpertSlug) -> Option<&AskState> {
        self.asks
            .iter()
            .rev()
            .find(|asked| asked.ask.round == round && asked.ask.seat == *seat && !asked.retired)
    }

    /// The newest ask of a seat for one purpose. The Judge has several purposes in a round.
    pub fn last_ask_for(
        &self,
        round: u8,
        seat: &ExpertSlug,
        purpose: AskPurpose,
    ) -> Option<&AskState> {
        let is_it = |asked: &&AskState| {
            let ask = &asked.ask;
            ask.round == round && ask.purpose == purpose && ask.seat == *seat && !asked.retired
        };
        self.asks.iter().rev().find(is_it)
    }

    /// Returns true if a stop, the deadline or an interrupt cancelled the ask: it has no reply, and
    /// its seat did not fail.
    pub fn is_cancelled(&self, asked: &AskState) -> bool {
        let is_open = asked.last_reply().is_none() && !asked.gave_up && asked.not_sent.is_none();
        let is_ended =
            matches!(self.stopped, Some(RunStopReason::Deadline | RunStopReason::Interrupted));
        // A stop cancels the asks that were prepared before it.
        let mut later = self.interventions.iter().skip(asked.interventions);
        let is_stopped =
            self.is_cut_short && later.any(|one| one.intervention == Intervention::Stop);
        is_open && !asked.retired && (is_ended || is_stopped)
    }

    /// Seats with a parsed answer in a round.
    pub fn seats_answered_in(&self, round: u8) -> BTreeSet<&ExpertSlug> {
        self.asks_in_round(round)
            .filter(|asked| matches!(asked.parse_outcome, Some(ParseOutcome::Parsed { .. })))
            .map(|asked| &asked.ask.seat)
            .collect()
    }
}

fn find_opening(changes: &[JournalEvent]) -> Option<DialogueOpening> {
    changes.iter().find_map(|change| {
        let JournalEvent::DialogueOpened(opened) = change else { return None };
        Some(opened.clone())
    })
}

fn find_plan(changes: &[JournalEvent]) -> Option<Plan> {
    changes.iter().find_map(|change| {
        let JournalEvent::RunPlanned(planned) = change else { return None };
        Some(planned.as_ref().clone())
    })
}
