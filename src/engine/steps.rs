//! What enters the record: a round, the report, the ruling, the ending.
//!
//! Each is decided on the transcript and written in one transaction, through the same
//! rules as everybody's.

use super::deliberation::Deliberation;
use super::journal::Written;
use crate::domain::change::{Change, EntryKind};
use crate::domain::conclusion::Ending;
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::dialogue::{DialogueStatus, TerminalState};
use crate::domain::gate::Ruling;
use crate::domain::transcript::{Stop, Transcript};
use crate::error::Error;
use crate::operations;
use crate::protocols::conclusion::participants;
use crate::protocols::gate::Outcome;
use crate::protocols::{council, gate};

impl Deliberation {
    /// What a round found enters the record.
    pub(super) async fn hold(&self, round: u8) -> Result<(), Error> {
        let batch = {
            let transcript = self.transcript();
            match transcript.gate() {
                Some(_) => gate::round_batch(&transcript, round),
                None => council::round_batch(&transcript, round),
            }
        };
        let batch = operations::batch(&batch)?;
        let id = self.id.clone();
        self.decide(move |unit, at, mut changes| {
            changes.extend(operations::registering(unit, &batch)?);
            let seq = unit.apply(&id, EntryKind::RoundRegistered, at, &changes)?;
            Ok(Written::one(seq, changes))
        })
        .await?;
        Ok(())
    }

    /// The report, its round and its verdict, all at once: the end of the rounds.
    pub(super) async fn deliver(&self, report: Box<CouncilFinalReport>) -> Result<(), Error> {
        let (batch, verdict, is_the_end) = {
            let transcript = self.transcript();
            let verdict = council::verdict_arguments(&transcript, &report);
            (council::round_batch(&transcript, 3), verdict, transcript.plan.conclusion.is_none())
        };
        let batch = operations::batch(&batch)?;
        let id = self.id.clone();
        self.decide(move |unit, at, mut changes| {
            // Both are decided before either is written: a refusal leaves nothing half done.
            let registered = operations::registering(unit, &batch)?;
            let mut ending = operations::judging(unit, &verdict)?;
            changes.extend(registered);
            unit.apply(&id, EntryKind::RoundRegistered, at, &changes)?;
            ending.push(Change::ReportGiven(report));
            if is_the_end {
                ending.push(Change::RunStopped(Stop::Done));
            } else {
                // Whether it converged is for the ending to say.
                ending.retain(|change| !matches!(change, Change::StatusSet { .. }));
            }
            let last = unit.apply(&id, EntryKind::VerdictRegistered, at, &ending)?;
            changes.extend(ending);
            Ok(Written { entries: 2, last, changes })
        })
        .await?;
        Ok(())
    }

    /// What the gate decided, its verdict and its line of the log: the end of a review.
    pub(super) async fn rule(&self, ruling: Box<Ruling>) -> Result<(), Error> {
        let (verdict, row) = {
            let transcript = self.transcript();
            let row = self.logged(&transcript, Outcome::Ruled(&ruling));
            (gate::verdict_arguments(&transcript, &ruling), row)
        };
        let id = self.id.clone();
        self.decide(move |unit, at, mut changes| {
            changes.extend(operations::judging(unit, &verdict)?);
            changes.push(Change::Ruled(ruling));
            changes.extend(row);
            changes.push(Change::RunStopped(Stop::Done));
            let seq = unit.apply(&id, EntryKind::VerdictRegistered, at, &changes)?;
            Ok(Written::one(seq, changes))
        })
        .await?;
        Ok(())
    }

    /// What is written when a run stops. A review that stops undecided is logged as that,
    /// unless somebody only interrupted it.
    pub(super) fn stopping(&self, stop: &Stop) -> Vec<Change> {
        let transcript = self.transcript();
        let is_end = match stop {
            Stop::Done | Stop::Interrupted => false,
            Stop::Quorum { .. }
            | Stop::Families { .. }
            | Stop::Partial { .. }
            | Stop::Budget { .. }
            | Stop::Unconcluded { .. }
            | Stop::Unadjudicated { .. }
            | Stop::Deadline => transcript.ruling.is_none(),
        };
        let row = is_end.then(|| self.logged(&transcript, Outcome::Undecided(stop))).flatten();
        row.into_iter().chain([Change::RunStopped(stop.clone())]).collect()
    }

    /// A review's line of the verdict log, without what must not be in it; nothing of a council.
    fn logged(&self, transcript: &Transcript, outcome: Outcome<'_>) -> Option<Change> {
        let row = gate::row(transcript, outcome, self.ambient.now())?;
        Some(Change::VerdictLogged(Box::new(self.redaction.apply(&row))))
    }

    /// The rounds are over: who took part is settled, and the ending begins.
    pub(super) async fn conclude(&self) -> Result<(), Error> {
        let participants = participants(&self.transcript(), &self.record()?);
        let begun = Change::ConclusionBegun { participants };
        self.write(EntryKind::ConclusionBegun, vec![begun]).await?;
        Ok(())
    }

    /// The terminal state: the end of the run.
    pub(super) async fn end(&self, ending: Box<Ending>) -> Result<(), Error> {
        let (id, converges) = (self.id.clone(), converges(&self.transcript(), &ending));
        self.decide(move |unit, at, mut changes| {
            let dialogue = unit.dialogue(&id)?;
            let is_closed = dialogue.is_some_and(|dialogue| dialogue.status.is_closed());
            changes.push(Change::Concluded(ending));
            if converges && !is_closed {
                let status = DialogueStatus::Converged;
                changes.push(Change::StatusSet { status, reason: None });
            }
            changes.push(Change::RunStopped(Stop::Done));
            let seq = unit.apply(&id, EntryKind::Concluded, at, &changes)?;
            Ok(Written::one(seq, changes))
        })
        .await?;
        Ok(())
    }
}

/// Whether the dialogue converged: what nobody audited did if its report was a verdict.
fn converges(transcript: &Transcript, ending: &Ending) -> bool {
    match ending.terminal_state {
        Some(TerminalState::Clean | TerminalState::Revised) => true,
        Some(TerminalState::Unconverged) => false,
        None => transcript.report.as_ref().is_some_and(|report| !report.fallback),
    }
}
