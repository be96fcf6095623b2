//! `dialogue create`, `panel`, `expert` and `abandon`: open a dialogue, change its panel, close it.

use clap::Args;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::app::dialogues::{
    CreateResult, PanelResult, abandon_dialogue, create_dialogue, create_expert, evolve_panel,
};
use plenary_engine::error::Error;
use serde_json::{Value, json};

use crate::cli::dialogue::command::{DataArgs, warn};
use crate::cli::session::{CliSession, ExitStatus};

/// Open a dialogue
///
/// The title becomes the id (`NVIDIA Investment Decision` → `nvidia-investment-decision`).
/// Give the expert pool in `--data`, or create experts one by one afterwards.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
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
    data: DataArgs,
}

impl CreateArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let located = session.loader.locate_files()?;
        let arguments = self
            .data
            .arguments()?
            .set_field("title", self.title)
            .set_field("question", self.question)
            .set_field("panel_size", self.panel_size)
            .set_field("convergence_percent", self.convergence_percent)
            .set_field("output_dir", self.output_dir);
        let created = create_dialogue(&session.open_or_create(&located)?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.print_result(&created, |created| create_text(created, width))?;
        warn(session.ui, &created.warnings);
        if !session.ui.json {
            session.ui.print_note(&create_next_step(&created));
        }
        Ok(ExitStatus::Ok)
    }
}

fn create_text(created: &CreateResult, width: usize) -> String {
    let mut text = format!("Opened {}\n", created.dialogue_id);
    if !created.panel.is_empty() {
        let mut table = TextTable::new(&["EXPERT", "TIER", "ROLE"]);
        for seat in &created.panel {
            table.add_row([seat.expert_slug.as_str(), seat.tier.name(), &seat.role]);
        }
        text.push_str(&format!("\n{}", table.draw_table(width)));
    }
    text
}

fn create_next_step(created: &CreateResult) -> String {
    let id = &created.dialogue_id;
    if created.panel.is_empty() {
        format!("next: `plenary dialogue expert {id} SLUG --role … --tier Core --reason …`")
    } else {
        format!(
            "next: `plenary dialogue context {id}`, then `plenary dialogue register --data FILE`"
        )
    }
}

/// Record who sits at the table in the next round
///
/// Without a recorded panel a round has the last one, retained.
#[derive(Debug, Args)]
pub(crate) struct PanelArgs {
    /// The dialogue.
    id: Option<String>,
    /// The round this panel is for; it must be the next one.
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    /// An expert and how they came: muffin:retained, eclair:pool, palmier:created. May be repeated.
    #[arg(long = "seat", value_name = "EXPERT:SOURCE")]
    seats: Vec<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl PanelArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let seats: Vec<Value> = self.seats.iter().map(|seat| seat_value(seat)).collect();
        let arguments = self
            .data
            .arguments()?
            .set_field("dialogue_id", self.id)
            .set_field("round", self.round)
            .set_field("panel", (!seats.is_empty()).then_some(seats));
        let evolved = evolve_panel(&session.open_existing()?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.print_result(&evolved, |evolved| panel_text(evolved, width))?;
        warn(session.ui, &evolved.warnings);
        Ok(ExitStatus::Ok)
    }
}

/// A seat without a source was on the panel before.
fn seat_value(seat: &str) -> Value {
    let (expert, source) = seat.split_once(':').unwrap_or((seat, "retained"));
    json!({ "expert_slug": expert, "source": source })
}

fn panel_text(evolved: &PanelResult, width: usize) -> String {
    let mut table = TextTable::new(&["EXPERT", "SOURCE", "TIER", "ROLE"]);
    for seat in &evolved.panel {
        table.add_row([
            seat.expert_slug.as_str(),
            seat.source.name(),
            seat.tier.name(),
            &seat.role,
        ]);
    }
    format!("Panel of round {}\n\n{}", evolved.round, table.draw_table(width))
}

/// Create an expert for a gap that nobody on the panel fills
#[derive(Debug, Args)]
pub(crate) struct ExpertArgs {
    /// The dialogue.
    id: Option<String>,
    /// A short name: lower-case letters, digits, `-` and `_`.
    slug: Option<String>,
    /// What they are: "Geopolitical Risk Analyst".
    #[arg(long)]
    role: Option<String>,
    /// Core, Adjacent or Wildcard.
    #[arg(long)]
    tier: Option<String>,
    /// Why they are needed.
    #[arg(long)]
    reason: Option<String>,
    /// What they look at, briefly.
    #[arg(long)]
    focus: Option<String>,
    /// How they think, for their prompt.
    #[arg(long)]
    description: Option<String>,
    /// What they are to deliver.
    #[arg(long)]
    mandate: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ExpertArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self
            .data
            .arguments()?
            .set_field("dialogue_id", self.id)
            .set_field("expert_slug", self.slug)
            .set_field("role", self.role)
            .set_field("tier", self.tier)
            .set_field("reason", self.reason)
            .set_field("focus", self.focus)
            .set_field("description", self.description)
            .set_field("mandate", self.mandate);
        let created = create_expert(&session.open_existing()?, arguments.value())?;
        session.ui.print_result(&created, |created| {
            let expert = &created.expert;
            let joins = expert
                .first_round
                .map_or_else(String::new, |round| format!(", from round {round}"));
            let role = safe_line(&expert.role);
            format!("Created {} ({role}, {}{joins})", expert.expert_slug, expert.tier)
        })?;
        warn(session.ui, &created.warnings);
        if !session.ui.json {
            session.ui.print_note("next: `plenary dialogue panel` says who sits; before the first panel everyone does");
        }
        Ok(ExitStatus::Ok)
    }
}

/// Close a dialogue that will not be concluded
///
/// Nothing is deleted; the record stays readable.
#[derive(Debug, Args)]
pub(crate) struct AbandonArgs {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Why; it is kept in the journal.
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl AbandonArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments =
            self.data.arguments()?.set_field("dialogue_id", self.id).set_field("reason", self.why);
        let abandoned = abandon_dialogue(&session.open_existing()?, arguments.value())?;
        session
            .ui
            .print_result(&abandoned, |abandoned| format!("Abandoned {}", abandoned.dialogue_id))?;
        Ok(ExitStatus::Ok)
    }
}
