//! `dialogue create`.

use clap::Args;

use super::super::session::{Done, Session};
use super::super::table::Table;
use super::command::{Data, warn};
use crate::error::Error;
use crate::operations::{self, Created};

/// Open a dialogue
///
/// The title becomes the id (`NVIDIA Investment Decision` → `nvidia-investment-decision`).
/// Give the expert pool in `--data`, or create experts one by one afterwards.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// What the dialogue is about, in a few words.
    title: Option<String>,
    /// The question to be decided.
    #[arg(long)]
    question: Option<String>,
    /// How many experts to draw from the pool for the first round [default: all]
    #[arg(long, value_name = "N")]
    panel_size: Option<i64>,
    /// How many of a hundred must agree before a final verdict
    /// [default: what `council.yaml` says, else 100]
    #[arg(long, value_name = "PERCENT")]
    convergence_percent: Option<i64>,
    /// Where the dialogue's files go [default: a folder of its own beside the store]
    #[arg(long, value_name = "DIR")]
    output_dir: Option<String>,
    #[command(flatten)]
    data: Data,
}

impl Create {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let located = session.premises.located()?;
        let arguments = self
            .data
            .arguments()?
            .with("title", self.title)
            .with("question", self.question)
            .with("panel_size", self.panel_size)
            .with("convergence_percent", self.convergence_percent)
            .with("output_dir", self.output_dir);
        let created = operations::create(&session.open(&located)?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.answer(&created, |created| text(created, width))?;
        warn(session.ui, &created.warnings);
        if !session.ui.json {
            session.ui.say(&next(&created));
        }
        Ok(Done::Well)
    }
}

fn text(created: &Created, width: usize) -> String {
    let mut text = format!("Opened {}\n", created.dialogue_id);
    if !created.panel.is_empty() {
        let mut table = Table::new(&["EXPERT", "TIER", "ROLE"]);
        for seat in &created.panel {
            table.row([seat.expert_slug.as_str(), seat.tier.name(), &seat.role]);
        }
        text.push_str(&format!("\n{}", table.draw(width)));
    }
    text
}

fn next(created: &Created) -> String {
    let id = &created.dialogue_id;
    if created.panel.is_empty() {
        format!("next: `plenary dialogue expert {id} SLUG --role … --tier Core --reason …`")
    } else {
        format!(
            "next: `plenary dialogue context {id}`, then `plenary dialogue register --data FILE`"
        )
    }
}
