//! `dialogue context`.

use clap::Args;
use serde_json::{Map, Value};

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::super::terminal_text::DataForm;
use super::command::Data;
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::files::WritePermission;
use crate::operations;

/// Show what the experts of a round may read; with `--json`, all of it
///
/// One document for the whole panel: the question and its background, all prior
/// rounds with full content, the active tensions, and each expert's own part.
#[derive(Debug, Args)]
pub(crate) struct Context {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// The round to prepare [default: the next one]
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    #[command(flatten)]
    data: Data,
}

impl Context {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments =
            self.data.arguments()?.with("dialogue_id", self.id).with("round", self.round);
        let document = operations::context(
            &session.for_existing()?,
            arguments.value(),
            WritePermission::Local,
        )?;
        if session.ui.json {
            session.ui.print_data(&document, DataForm::Json)?;
        } else {
            session.ui.print(&outline(&document, session.ui.table_width()))?;
            session.ui.say("this is an outline; `--json` prints what the experts read");
        }
        Ok(Done::Well)
    }
}

/// Who is at the table and what is open; the document itself is for programs.
fn outline(document: &str, width: usize) -> String {
    let context: Value = serde_json::from_str(document).unwrap_or_default();
    let field = |value: &Value, name: &str| match value.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let dialogue = context.get("dialogue").cloned().unwrap_or_default();
    let mut text = format!(
        "{}, before round {}\n",
        safe_text::line(&field(&dialogue, "title")),
        field(&dialogue, "current_round")
    );
    let rounds = context.get("prior_rounds").and_then(Value::as_array).map_or(0, Vec::len);
    text.push_str(&format!("{} held\n", wording::count(rounds, "round")));
    let mut experts = Table::new(&["EXPERT", "SOURCE", "SCORE", "TASK"]);
    for expert in
        context.get("experts").and_then(Value::as_object).into_iter().flat_map(Map::values)
    {
        experts
            .row(["slug", "source", "your_score", "round_context"].map(|name| field(expert, name)));
    }
    let mut tensions = Table::new(&["TENSION", "STATUS", "LABEL"]);
    for tension in context.get("active_tensions").and_then(Value::as_array).into_iter().flatten() {
        tensions.row(["id", "status", "label"].map(|name| field(tension, name)));
    }
    for table in [experts, tensions].iter().filter(|table| !table.is_empty()) {
        text.push_str(&format!("\n{}", table.draw(width)));
    }
    text
}
