//! `show`, also as `dialogue show`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::show::{Canvas, Detail, draw, draw_council};
use super::command::Data;
use crate::domain::dialogue::Protocol;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::engine;
use crate::error::Error;
use crate::export;
use crate::operations::{self, Workspace};

/// Draw a dialogue: verdicts, experts, the board of tensions, rounds, references
///
/// What it was concluded with comes first; of a council, then its report and how the panel
/// stood. With `--json` it prints the same document as `export`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Show contents whole instead of their first lines.
    #[arg(long)]
    full: bool,
    /// Only this round.
    #[arg(long, value_name = "N")]
    round: Option<u8>,
    /// Columns to draw in [default: the terminal's]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..=400))]
    width: Option<u16>,
    #[command(flatten)]
    data: Data,
}

impl Show {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self.data.arguments()?.with("dialogue_id", self.id);
        let workspace = session.for_existing()?;
        let record = operations::record(&workspace, arguments.value())?;
        if let Some(round) = self.round
            && record.rounds.iter().all(|held| held.round != round)
        {
            let message = format!("round {round} has not been held");
            return Err(Fault::new(Code::InvalidRound, message).field("round").value(round).into());
        }
        let canvas = Canvas {
            width: self.width.map_or_else(|| session.ui.width(), usize::from),
            detail: if self.full { Detail::Full } else { Detail::Brief },
            round: self.round,
        };
        let transcript = transcript(&workspace, &record)?;
        session.ui.answer(&export::document(&record), |_| {
            match (record.dialogue.opening.protocol, &transcript) {
                (Protocol::Council, Some(transcript)) => draw_council(&record, transcript, canvas),
                (_, run) => draw(&record, run.as_ref(), canvas),
            }
        })?;
        Ok(Done::Well)
    }
}

/// The run behind the record, where there was one.
fn transcript(workspace: &Workspace, record: &Record) -> Result<Option<Transcript>, Error> {
    match record.dialogue.opening.protocol {
        Protocol::Council => {
            Ok(Some(engine::look(workspace.store.as_ref(), record.dialogue.id())?))
        }
        // Concluded, the record says all; else its ending may have been begun.
        Protocol::Alignment | Protocol::Review if record.conclusion.is_some() => Ok(None),
        Protocol::Alignment | Protocol::Review => {
            Ok(Transcript::of(&workspace.store.entries(record.dialogue.id(), 0)?))
        }
    }
}
