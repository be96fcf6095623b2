//! `dialogue prompts`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::super::terminal_text::DataForm;
use super::command::Data;
use super::export::permission;
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::operations::{self, PromptsWritten};

/// Write a prompt for each expert of a round, ready to be given to an agent
///
/// Each expert of the round's panel gets two files in the dialogue's folder, under
/// `round-N/`: `prompt-EXPERT.md`, which holds the question, their role and task,
/// all prior rounds and how to answer; and `context-EXPERT.json`, the data it was
/// made from. Whoever is new to the table finds a context brief in it: why they are
/// here, their mandate, and the prior work that matters to it.
///
///   plenary dialogue prompts nvidia-investment-decision
///   plenary dialogue prompts nvidia-investment-decision --expert muffin | less
///
/// Experts answer in `response-EXPERT.md` beside it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Prompts {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// The round to prepare [default: the next one]
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    /// Print the prompt of this expert, and write nothing.
    #[arg(long, value_name = "SLUG")]
    expert: Option<String>,
    /// Replace files that Plenary did not write.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: Data,
}

impl Prompts {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.id)
            .with("round", self.round)
            .with("render", Some(true));
        let workspace = session.for_existing()?;
        if let Some(expert) = self.expert {
            let prompt = operations::prompt(&workspace, arguments.value(), &expert)?;
            match session.ui.json {
                true => session.ui.answer(&prompt, |_| String::new())?,
                false => session.ui.print_data(&prompt.prompt, DataForm::Text)?,
            }
            return Ok(Done::Well);
        }
        let written = operations::prompts(&workspace, arguments.value(), permission(self.force))?;
        if session.ui.json {
            session.ui.print_data(&written.answer, DataForm::Json)?;
            return Ok(Done::Well);
        }
        if !written.prompts.is_empty() {
            session.ui.print(&text(&written, session.ui.table_width()))?;
        }
        session.ui.say(&next(&written));
        Ok(Done::Well)
    }
}

fn text(written: &PromptsWritten, width: usize) -> String {
    let mut table = Table::new(&["EXPERT", "BYTES", "PROMPT", "CONTEXT"]);
    for file in &written.prompts {
        let names = [&file.prompt_path, &file.context_path].map(|path| split(path).1);
        let bytes = file.bytes.to_string();
        table.row([file.expert_slug.as_str(), &bytes, names[0], names[1]]);
    }
    let folder = written.prompts.first().map_or("", |file| split(&file.prompt_path).0);
    let count = wording::count(written.prompts.len(), "prompt");
    let head = format!("Wrote {count} for round {} to {folder}", written.round);
    format!("{}\n\n{}", safe_text::line(&head), table.draw(width))
}

/// A path's folder and its name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once(std::path::MAIN_SEPARATOR).unwrap_or(("", path))
}

fn next(written: &PromptsWritten) -> String {
    let (id, round) = (&written.dialogue_id, written.round);
    if written.prompts.is_empty() {
        return format!(
            "nobody is on the panel of round {round}; `plenary dialogue expert {id} SLUG …` creates an expert"
        );
    }
    "next: give each expert their prompt; they answer in `response-EXPERT.md` beside it".to_owned()
}
