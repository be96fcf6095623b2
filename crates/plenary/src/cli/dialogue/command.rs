//! `plenary dialogue`: its subcommands and their shared `--data` option; `create`, `panel`, `expert`
//! and `abandon`.

use std::path::PathBuf;

use clap::Args;
use plenary_core::dialogue::diagnostics::RequestWarning;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::app::dialogues::{
    CreateResult, PanelResult, abandon_dialogue, create_dialogue, create_expert, evolve_panel,
};
use plenary_engine::error::Error;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::commands::commands;
use crate::cli::dialogue::extract::ExtractArgs;
use crate::cli::dialogue::list::ListArgs;
use crate::cli::dialogue::queries::{CiteArgs, SimilarArgs, StatsArgs};
use crate::cli::dialogue::rounds::{
    ContextArgs, ProgressArgs, PromptsArgs, RegisterArgs, VerdictArgs,
};
use crate::cli::dialogue::show::{ExportArgs, ShowArgs};
use crate::cli::session::{CliArguments, CliSession, ExitStatus};
use crate::cli::ui::TerminalUi;

commands! {
    /// Lead an expert dialogue: panels, rounds, verdicts
    ///
    /// A Judge, person or agent, opens a dialogue, gives the experts their prompts, registers each
    /// round and gives verdicts. Every operation takes its arguments as JSON with `--data FILE` (or
    /// `-` for standard input), like the MCP tool of that name, and prints the result of that tool
    /// with `--json`. Options on the command line override the file.
    ///
    /// $ plenary dialogue create "NVIDIA Investment Decision"
    ///
    /// $ plenary dialogue register nvidia-investment-decision --data round-1.json
    ///
    /// $ plenary dialogue verdict --data verdict.json --json
    pub(crate) enum DialogueCommand {
        Create(CreateArgs),
        Panel(PanelArgs),
        Expert(ExpertArgs),
        Context(ContextArgs),
        Prompts(PromptsArgs),
        Extract(ExtractArgs),
        Register(RegisterArgs),
        Progress(ProgressArgs),
        Verdict(VerdictArgs),
        Abandon(AbandonArgs),
        List(ListArgs),
        Show(ShowArgs),
        Cite(CiteArgs),
        Export(ExportArgs),
        Similar(SimilarArgs),
        Stats(StatsArgs),
    }
}

/// The arguments of the operation, as JSON.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Read the arguments as a JSON object from this file; `-` reads standard input
    #[arg(long, value_name = "FILE|-")]
    pub data: Option<PathBuf>,
}

impl DataArgs {
    /// The arguments of the file, with the given options on top.
    pub(crate) fn with_options(&self, options: &impl Serialize) -> Result<CliArguments, Error> {
        self.arguments()?.set_options(options)
    }

    /// The arguments of the file.
    pub(crate) fn arguments(&self) -> Result<CliArguments, Error> {
        CliArguments::new(self.data.as_deref())
    }
}

/// Prints the warnings on stderr; with `--json` they are in the document already.
pub(crate) fn warn(ui: &TerminalUi, warnings: &[RequestWarning]) {
    if ui.json {
        return;
    }
    for warning in warnings {
        ui.print_note(&format!("warning: {}", safe_line(&warning.to_sentence())));
    }
}

/// Open a dialogue
///
/// The id follows from the title: `NVIDIA Investment Decision` becomes
/// `nvidia-investment-decision`. Give the expert pool in `--data`, or create experts afterwards.
///
/// $ plenary dialogue create "Tea or Coffee" --question "What do we serve?"
///
/// $ plenary dialogue create --data dialogue.json
#[derive(Debug, Args, Serialize)]
pub(crate) struct CreateArgs {
    /// The title, in a few words
    title: Option<String>,
    /// The question to decide
    #[arg(long)]
    question: Option<String>,
    /// Draw this many experts from the pool for the first round [default: all]
    #[arg(long, value_name = "N")]
    panel_size: Option<i64>,
    /// Percentage of experts that must agree before a final verdict
    /// [default: the value of council.yaml, else 100]
    #[arg(long, value_name = "PERCENT")]
    convergence_percent: Option<i64>,
    /// Folder for the files of the dialogue [default: a new folder beside the store]
    #[arg(long, value_name = "DIR")]
    output_dir: Option<String>,
    /// Bind the dialogue by an ethos (`plenary ethos`)
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    calibrated: bool,
    /// The domain whose tenets hold; needs --calibrated
    #[arg(long = "domain", value_name = "DOMAIN")]
    domain_id: Option<String>,
    /// A constraint of the question; repeatable, needs --calibrated
    #[arg(long = "constraint", value_name = "TEXT")]
    constraints: Vec<String>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl CreateArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let located = session.loader.locate_files()?;
        let arguments = self.data.with_options(&self)?;
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

/// Record the panel of the next round
///
/// Without a recorded panel the next round has the same panel as the last one.
///
/// $ plenary dialogue panel tea --round 1 --seat muffin --seat eclair:pool
///
/// $ plenary dialogue panel --data panel.json
#[derive(Debug, Args)]
pub(crate) struct PanelArgs {
    /// The id of the dialogue
    id: Option<String>,
    /// The round of this panel; it must be the next one
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    /// An expert and its source: muffin:retained, eclair:pool or palmier:created; repeatable
    #[arg(long = "seat", value_name = "EXPERT:SOURCE")]
    seats: Vec<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl PanelArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let panel: Vec<Value> = self.seats.iter().map(|seat| seat_value(seat)).collect();
        let options = json!({ "dialogue_id": self.id, "round": self.round, "panel": panel });
        let arguments = self.data.with_options(&options)?;
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

/// Create an expert during a dialogue
///
/// Use it when no expert of the pool can settle a tension. `plenary dialogue panel` then seats the
/// new expert.
///
/// $ plenary dialogue expert tea palmier --role Analyst --tier Core --reason Tax
///
/// $ plenary dialogue expert --data expert.json
#[derive(Debug, Args, Serialize)]
pub(crate) struct ExpertArgs {
    /// The id of the dialogue
    #[serde(rename = "dialogue_id")]
    id: Option<String>,
    /// A short name: lower-case letters, digits, `-` and `_`
    #[serde(rename = "expert_slug")]
    slug: Option<String>,
    /// The role, such as "Geopolitical Risk Analyst"
    #[arg(long)]
    role: Option<String>,
    /// Core, Adjacent or Wildcard
    #[arg(long)]
    tier: Option<String>,
    /// Why the dialogue needs this expert
    #[arg(long)]
    reason: Option<String>,
    /// What the expert examines, in a few words
    #[arg(long)]
    focus: Option<String>,
    /// How the expert thinks, for the prompt
    #[arg(long)]
    description: Option<String>,
    /// What the expert must deliver
    #[arg(long)]
    mandate: Option<String>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl ExpertArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.with_options(&self)?;
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
            session.ui.print_note("next: seat the expert with `plenary dialogue panel`; before the first panel every expert has a seat");
        }
        Ok(ExitStatus::Ok)
    }
}

/// Close a dialogue without a conclusion
///
/// Deletes nothing; the record stays readable.
///
/// $ plenary dialogue abandon tea-or-coffee --why "The question is settled."
#[derive(Debug, Args, Serialize)]
pub(crate) struct AbandonArgs {
    /// The id of the dialogue
    #[arg(required_unless_present = "data")]
    #[serde(rename = "dialogue_id")]
    id: Option<String>,
    /// The reason; the journal keeps it
    #[arg(long, value_name = "TEXT")]
    #[serde(rename = "reason")]
    why: Option<String>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl AbandonArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.with_options(&self)?;
        let abandoned = abandon_dialogue(&session.open_existing()?, arguments.value())?;
        session
            .ui
            .print_result(&abandoned, |abandoned| format!("Abandoned {}", abandoned.dialogue_id))?;
        Ok(ExitStatus::Ok)
    }
}
