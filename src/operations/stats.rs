//! `stats`: what the store holds, counted.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::arguments::read;
use super::workspace::Workspace;
use crate::domain::catalogue::TopExpert;
use crate::error::Error;
use crate::record::Warning;

const TOP_EXPERTS: usize = 10;

#[derive(Debug, Serialize)]
pub struct Statistics {
    pub status: &'static str,
    pub dialogues: usize,
    pub by_status: Map<String, Value>,
    pub by_protocol: Map<String, Value>,
    pub by_terminal_state: Map<String, Value>,
    pub entities: Map<String, Value>,
    pub averages: Map<String, Value>,
    pub top_experts: Vec<TopExpert>,
    /// Fields that nobody knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

pub fn stats(workspace: &Workspace, arguments: &Value) -> Result<Statistics, Error> {
    let ((), warnings) = read(arguments, &["op"], |_, _| Some(()))?;
    let stats = workspace.store.stats(TOP_EXPERTS)?;
    let average = |sum: f64| {
        let mean = sum / stats.dialogues.max(1) as f64;
        json!((mean * 100.0).round() / 100.0)
    };
    let sums = [
        ("rounds", stats.rounds as f64),
        ("experts", stats.experts as f64),
        ("total_alignment", stats.total_alignment as f64),
    ];
    let of_kinds = stats.entities.iter().map(|(kind, count)| (kind.section(), *count as f64));
    let averages =
        sums.into_iter().chain(of_kinds).map(|(name, sum)| (name.to_owned(), average(sum)));
    Ok(Statistics {
        status: "success",
        dialogues: stats.dialogues,
        averages: averages.collect(),
        by_status: counts(stats.by_status.iter().map(|(word, count)| (word.name(), *count))),
        by_protocol: counts(stats.by_protocol.iter().map(|(word, count)| (word.name(), *count))),
        by_terminal_state: counts(
            stats.by_terminal_state.iter().map(|(word, count)| (word.name(), *count)),
        ),
        entities: counts(stats.entities.iter().map(|(kind, count)| (kind.section(), *count))),
        top_experts: stats.top_experts,
        warnings,
    })
}

fn counts<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> Map<String, Value> {
    counts.map(|(name, count)| (name.to_owned(), json!(count))).collect()
}
