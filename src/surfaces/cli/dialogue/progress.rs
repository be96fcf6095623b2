//! `dialogue progress`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::command::{Data, warn};
use crate::error::Error;
use crate::operations;
use crate::record::convergence::Progress as Report;

/// Say how far a dialogue has come and whether it is converging
#[derive(Debug, Args)]
pub(crate) struct Progress {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Progress {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self.data.arguments()?.with("dialogue_id", self.id);
        let report = operations::progress(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &report.warnings);
        let width = session.ui.table_width();
        session.ui.answer(&report, |report| text(report, width))?;
        Ok(Done::Well)
    }
}

fn text(report: &Report, width: usize) -> String {
    let round = report.round.map_or_else(|| "none yet".to_owned(), |round| round.to_string());
    let remaining = report
        .estimated_rounds_remaining
        .map_or_else(|| "unknown".to_owned(), |rounds| rounds.to_string());
    let facts = [
        ("status", report.status.to_string()),
        ("last round", round),
        ("score", format!("{} (velocity {:+})", report.score, report.velocity)),
        ("total", report.total_alignment.to_string()),
        ("open tensions", report.open_tensions.to_string()),
        ("new perspectives", report.new_perspectives.to_string()),
        ("work remaining", report.work_remaining.to_string()),
        ("signalled converge", format!("{} %", report.converge_percent)),
        ("converging", if report.converging { "yes" } else { "no" }.to_owned()),
        ("rounds remaining", remaining),
    ];
    let mut text = format!("{}\n\n", report.dialogue_id);
    for (name, value) in facts {
        text.push_str(&format!("  {name:<18} {value}\n"));
    }
    if !report.leaderboard.is_empty() {
        let mut table = Table::new(&["EXPERT", "TOTAL"]);
        for standing in &report.leaderboard {
            table.row([standing.expert_slug.to_string(), standing.total.to_string()]);
        }
        text.push_str(&format!("\n{}", table.draw(width)));
    }
    text
}
