//! `show`, also as `dialogue show`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::show::{Canvas, Detail, draw, draw_council, draw_imported, draw_review};
use super::super::terminal_text::DataForm;
use super::command::Data;
use crate::domain::dialogue::Protocol;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::engine;
use crate::error::Error;
use crate::export::Ran;
use crate::operations::{self, Workspace};

/// Draw a dialogue: verdicts, experts, the board of tensions, rounds, references
///
/// What it was concluded with comes first; of a council, then its report and how the panel
/// stood; of a review, its verdict and what to change. With `--json` it prints the same document as `export`.
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
        if session.ui.json {
            session.ui.print_data(&operations::json(&workspace, &record)?, DataForm::Json)?;
        } else {
            session.ui.print(&drawn(&workspace, &record, canvas)?)?;
        }
        Ok(Done::Well)
    }
}

/// The page, with what was run on the dialogue where anything was.
fn drawn(workspace: &Workspace, record: &Record, canvas: Canvas) -> Result<String, Error> {
    let (store, id) = (workspace.store.as_ref(), record.dialogue.id());
    Ok(match record.dialogue.opening.protocol {
        Protocol::Council => draw_council(record, &engine::look(store, id)?, canvas),
        Protocol::Review => match Ran::of(Protocol::Review, &store.entries(id, 0)?) {
            Some(Ran::Imported(rows)) => draw_imported(record, &rows, canvas),
            Some(Ran::Review(_) | Ran::Council(_)) | None => {
                draw_review(record, &engine::look(store, id)?, canvas)
            }
        },
        // Concluded, the record says all; else its ending may have been begun.
        Protocol::Alignment if record.conclusion.is_some() => draw(record, None, canvas),
        Protocol::Alignment => {
            draw(record, Transcript::of(&store.entries(id, 0)?).as_ref(), canvas)
        }
    })
}
