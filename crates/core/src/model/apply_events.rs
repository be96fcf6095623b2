//! Applies journal events to a run state.

use crate::model::ask::{
    Ask, AskMessages, AskPurpose, CallDispatch, CallFailure, ModelReply, SharedBlock,
};
use crate::model::dialogue::{ConclusionStage, DialogueStatus};
use crate::model::intervention::{Intervention, InterventionEntry};
use crate::model::journal::JournalEvent;
use crate::model::plan::Seat;
use crate::model::run_state::{
    AskState, BudgetShortage, CallOutcome, CallState, ParseOutcome, RoundShortcut, RunState,
    RunStopReason,
};
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::protocols::conclusion::types::ConclusionParticipant;
use std::sync::Arc;

impl RunState {
    /// Applies the events of one entry.
    pub fn apply_events(&mut self, at: Moment, changes: &[JournalEvent]) {
        let is_start = |change: &JournalEvent| matches!(change, JournalEvent::RunStarted { .. });
        if !self.owners.is_empty() && changes.iter().any(is_start) {
            let paused = at.millis_since(self.last_entry_at);
            self.paused_ms = self.paused_ms.saturating_add(paused);
        }
        // Events that people add after the run do not count towards its duration.
        if !changes.iter().any(JournalEvent::is_follow_up) {
            self.last_entry_at = at;
        }
        for change in changes {
            self.apply_event(at, change);
        }
    }

    fn apply_event(&mut self, at: Moment, change: &JournalEvent) {
        if let Some(judged) = &mut self.alignment {
            judged.apply_event(at, change);
        }
        match change {
            JournalEvent::RunStarted { owner } => self.mark_started(at, owner),
            JournalEvent::CapsSet { caps } => self.plan.caps = *caps,
            JournalEvent::SeatChanged { seat, .. } => self.change_seat(seat),
            JournalEvent::SharedBlockPrepared(block) => self.add_shared_block(block),
            JournalEvent::AskPrepared { ask, messages, condensed, .. } => {
                self.add_ask(at, ask, messages.as_deref(), condensed);
            }
            JournalEvent::AskNotSent { ask, shortage } => self.mark_not_sent(*ask, *shortage),
            JournalEvent::CallSent(sending) => self.add_call(at, sending),
            JournalEvent::ReplyKept { call, reply } => self.keep_reply(at, *call, reply),
            JournalEvent::CallFailed { call, failure, gave_up } => {
                self.fail_call(at, *call, failure, *gave_up);
            }
            JournalEvent::ReplyParsed { ask, reading } => self.set_parse_outcome(*ask, reading),
            JournalEvent::ShortcutRecorded(shortcut) => self.set_shortcut(shortcut),
            JournalEvent::ReportGiven(report) => self.report = Some(report.as_ref().clone()),
            JournalEvent::RoundRecorded { round, .. } => self.recorded_rounds.push((*round, at)),
            JournalEvent::RunStopped(stop) => self.mark_stopped(stop),
            JournalEvent::EntityAdded(entity) => {
                self.entities.insert(entity.id, entity.contributors.clone());
            }
            JournalEvent::VerdictGiven(verdict) => self.add_verdict(verdict),
            JournalEvent::Intervened { round, intervention } => {
                self.add_intervention(at, *round, intervention)
            }
            JournalEvent::ConclusionPlanned { conclusion, seats } => {
                self.plan.conclusion = Some(conclusion.clone());
                self.plan.seats.extend_from_slice(seats);
            }
            JournalEvent::SeatsAdded { seats } => self.plan.seats.extend_from_slice(seats),
            JournalEvent::ConclusionBegun { participants } => self.begin_conclusion(participants),
            JournalEvent::StatusSet { status, .. } => {
                self.is_abandoned = *status == DialogueStatus::Abandoned;
            }
            JournalEvent::StageReached { stage } => self.stage = Some(*stage),
            JournalEvent::Concluded(ended) => self.conclusion_result = Some(ended.as_ref().clone()),
            JournalEvent::ReviewDecided(ruling) => {
                self.review_outcome = Some(ruling.as_ref().clone())
            }
            JournalEvent::VerdictLogged(_) => self.rows_logged += 1,
            JournalEvent::VerdictOverridden(decision) => {
                self.overrides.push((decision.moment(at), decision.clone()))
            }
            // How a dialogue was opened.
            JournalEvent::DialogueOpened(_)
            | JournalEvent::PoolGiven { .. }
            | JournalEvent::BackgroundGiven { .. }
            | JournalEvent::RunPlanned(_)
            | JournalEvent::LibraryChanged(_)
            | JournalEvent::ConstraintAdded(_)
            | JournalEvent::EthosSaved(_)
            | JournalEvent::RuleChallenged(_) => {}
            // What a round registered: the store has it, and the state of an alignment dialogue.
            JournalEvent::ExpertAdded(_)
            | JournalEvent::ExpertJoined { .. }
            | JournalEvent::PanelSet { .. }
            | JournalEvent::ScoreGiven { .. }
            | JournalEvent::RawReplyKept { .. }
            | JournalEvent::ReferenceAdded(_)
            | JournalEvent::EventAdded(_)
            | JournalEvent::MoveMade(_)
            | JournalEvent::BatchAnswered { .. }
            | JournalEvent::BatchRefused { .. }
            | JournalEvent::OutcomeRecorded(_) => {}
        }
    }

    fn mark_not_sent(&mut self, ask: u32, shortage: BudgetShortage) {
        if let Some(asked) = self.find_ask_mut(ask) {
            asked.not_sent = Some(shortage);
        }
    }

    fn set_parse_outcome(&mut self, ask: u32, reading: &ParseOutcome) {
        if let Some(asked) = self.find_ask_mut(ask) {
            asked.parse_outcome = Some(reading.clone());
        }
    }

    fn add_verdict(&mut self, verdict: &Verdict) {
        let authors = verdict.all_authors().cloned().collect();
        self.verdicts.insert(verdict.verdict_id.clone(), authors);
    }

    fn begin_conclusion(&mut self, participants: &[ConclusionParticipant]) {
        self.participants = Some(participants.to_vec());
        self.stage = Some(ConclusionStage::Concluding);
    }

    fn add_shared_block(&mut self, block: &SharedBlock) {
        let whole = block.with_files(&self.plan.context).to_whole(&self.shared_blocks);
        self.shared_blocks.push(Arc::new(whole));
    }

    /// The messages are dropped: no later call of this ask sends them again.
    fn keep_reply(&mut self, at: Moment, call: u32, reply: &ModelReply) {
        if let Some(asked) = self.set_outcome(call, CallOutcome::Replied(reply.clone(), at)) {
            asked.messages = None;
        }
    }

    fn fail_call(&mut self, at: Moment, call: u32, failure: &CallFailure, gave_up: bool) {
        if let Some(asked) = self.set_outcome(call, CallOutcome::Failed(failure.clone(), at)) {
            asked.gave_up = gave_up;
        }
    }

    fn add_ask(
        &mut self,
        at: Moment,
        ask: &Ask,
        stored: Option<&AskMessages>,
        condensed: &[String],
    ) {
        // Without what they refer to, the engine renders the messages again.
        let messages = stored.and_then(|stored| {
            let earlier = stored.common.and_then(|common| self.find_ask(common.ask));
            let earlier = earlier.and_then(|asked| asked.messages.as_deref());
            stored.to_whole(&self.shared_blocks, earlier).map(Arc::new)
        });
        self.asks.push(AskState {
            ask: ask.clone(),
            prepared_at: at,
            interventions: self.interventions.len(),
            condensed: condensed.to_vec(),
            messages,
            calls: Vec::new(),
            parse_outcome: None,
            gave_up: false,
            not_sent: None,
            retired: false,
        });
    }

    fn change_seat(&mut self, changed: &Seat) {
        let seats = self.plan.seats.iter_mut();
        seats.filter(|seat| seat.name == changed.name).for_each(|seat| seat.clone_from(changed));
    }

    fn add_call(&mut self, at: Moment, sending: &CallDispatch) {
        let asked = self.find_ask(sending.ask).map(|asked| &asked.ask.seat);
        let seat = asked.and_then(|name| self.plan.find_seat(name));
        let call = CallState {
            model: seat.map(|seat| seat.model.clone()).unwrap_or_default(),
            dispatch: sending.clone(),
            sent_at: at,
            outcome: CallOutcome::InFlight,
        };
        if let Some(asked) = self.find_ask_mut(sending.ask) {
            asked.calls.push(call);
        }
    }

    /// Marks calls in flight as lost. Asks that the last run could not afford may be sent again,
    /// and so may asks whose missing answer stopped it.
    fn mark_started(&mut self, at: Moment, owner: &str) {
        self.started_at.get_or_insert(at);
        let was_short = self.stopped.take().is_some_and(|stop| stop.is_missing_answers());
        self.owners.push(owner.to_owned());
        let held: Vec<u8> = self.recorded_rounds.iter().map(|(round, _)| *round).collect();
        for asked in &mut self.asks {
            asked.not_sent = None;
            let is_open = !held.contains(&asked.ask.round) && !asked.is_heard();
            // The Judge gives the verdicts on a round that is recorded.
            let is_verdict = asked.ask.purpose == AskPurpose::Verdicts;
            asked.retired |= was_short && (is_open || is_verdict);
        }
        self.mark_calls_lost();
    }

    fn mark_stopped(&mut self, stop: &RunStopReason) {
        // A signal may arrive while the last entry is being written; the run is finished anyway.
        if self.is_finished() {
            self.stopped = Some(RunStopReason::Done);
            return;
        }
        // A run that stopped for missing answers resumes its rounds.
        self.is_cut_short &= !stop.is_missing_answers() || self.participants.is_some();
        self.stopped = Some(stop.clone());
    }

    fn mark_calls_lost(&mut self) {
        for call in self.asks.iter_mut().flat_map(|asked| &mut asked.calls) {
            if call.outcome == CallOutcome::InFlight {
                call.outcome = CallOutcome::Lost;
            }
        }
    }

    fn add_intervention(&mut self, at: Moment, round: u8, intervention: &Intervention) {
        if *intervention == Intervention::Stop {
            self.is_cut_short = true;
            self.mark_calls_lost();
        }
        self.interventions.push(InterventionEntry {
            at,
            round,
            intervention: intervention.clone(),
        });
    }

    /// The result of a shadow round replaces the earlier decision.
    fn set_shortcut(&mut self, shortcut: &RoundShortcut) {
        match self.shortcuts.iter_mut().find(|known| known.round == shortcut.round) {
            Some(known) => known.clone_from(shortcut),
            None => self.shortcuts.push(shortcut.clone()),
        }
    }

    fn set_outcome(&mut self, call: u32, outcome: CallOutcome) -> Option<&mut AskState> {
        let is_it = |found: &CallState| found.dispatch.call == call;
        let asked = self.asks.iter_mut().rev().find(|asked| asked.calls.iter().any(is_it))?;
        asked.calls.iter_mut().find(|found| is_it(found))?.outcome = outcome;
        Some(asked)
    }
}
