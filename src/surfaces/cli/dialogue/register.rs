//! `dialogue register`.

use clap::Args;
use serde_json::Value;

use super::super::session::{Arguments, Done, Session};
use super::super::table::Table;
use super::command::Data;
use crate::domain::ids::EntityKind;
use crate::error::Error;
use crate::export::safe_text;
use crate::operations;

/// Register a round: entities, references, moves, updates and scores in one batch
///
/// The batch is taken whole or not at all; when it is refused, every fault is
/// named at once. The same batch again gets the same answer again.
#[derive(Debug, Args)]
pub(crate) struct Register {
    /// The dialogue.
    id: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Register {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = Arguments::new(self.data.data.as_deref())?.with("dialogue_id", self.id);
        let answer = operations::register(&session.for_writing()?, arguments.value())?;
        let width = session.ui.width();
        session.ui.answer(&answer, |answer| text(answer, width))?;
        if !session.ui.json {
            for warning in list(&answer, "warnings") {
                session.ui.say(&format!("warning: {}", safe_text::line(field(warning, "message"))));
            }
        }
        Ok(Done::Well)
    }
}

fn text(answer: &Value, width: usize) -> String {
    let mut table = Table::new(&["ID", "LOCAL ID", "LABEL"]);
    for kind in EntityKind::ALL {
        for item in list(answer, kind.section()) {
            table.row([field(item, "id"), field(item, "local_id"), field(item, "label")]);
        }
    }
    let round = answer.get("round").and_then(Value::as_u64).unwrap_or_default();
    let again = match answer.get("replayed").and_then(Value::as_bool) {
        Some(true) => " (already registered, with the same batch)",
        Some(false) | None => "",
    };
    let mut text = format!("Registered round {round}{again}\n\n{}", table.draw(width));
    for section in ["tension_updates", "updates"] {
        for update in list(answer, section) {
            text.push_str(&format!("{} is {}\n", field(update, "id"), field(update, "status")));
        }
    }
    text
}

fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn field<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}
