//! `dialogue stats`.

use clap::Args;
use serde_json::{Map, Value};

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::command::{Data, warn};
use crate::error::Error;
use crate::export::wording;
use crate::operations::{self, Statistics};

/// Count what the store holds
#[derive(Debug, Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    data: Data,
}

impl Stats {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self.data.arguments()?;
        let statistics = operations::stats(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &statistics.warnings);
        let width = session.ui.table_width();
        session.ui.answer(&statistics, |statistics| text(statistics, width))?;
        Ok(Done::Well)
    }
}

fn text(statistics: &Statistics, width: usize) -> String {
    let count = wording::count(statistics.dialogues, "dialogue");
    let mut text = format!("{count}, rehearsals left out\n");
    let sections = [
        ("by status", &statistics.by_status),
        ("by protocol", &statistics.by_protocol),
        ("by terminal state", &statistics.by_terminal_state),
        ("entities", &statistics.entities),
        ("per dialogue", &statistics.averages),
    ];
    for (heading, counts) in sections.into_iter().filter(|(_, counts)| !counts.is_empty()) {
        text.push_str(&format!("\n{heading}\n{}", rows(counts)));
    }
    if !statistics.top_experts.is_empty() {
        let mut table = Table::new(&["EXPERT", "TOTAL", "DIALOGUES"]);
        for expert in &statistics.top_experts {
            table.row([
                expert.expert_slug.to_string(),
                expert.total.to_string(),
                expert.dialogues.to_string(),
            ]);
        }
        text.push_str(&format!("\n{}", table.draw(width)));
    }
    text
}

fn rows(counts: &Map<String, Value>) -> String {
    counts.iter().map(|(name, count)| format!("  {name:<18} {count}\n")).collect()
}
