//! `dialogue context`, `prompts`, `register`, `progress` and `verdict`: the rounds of a Judge.

use clap::Args;
use plenary_core::dialogue::progress::DialogueProgress as ProgressReport;
use plenary_core::dialogue::register::batch::RegisterAnswer;
use plenary_core::model::ids::EntityId;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::app::round_context::{
    PromptsWritten, read_context, render_prompt, render_prompts,
};
use plenary_engine::app::rounds::{VerdictRegistered, give_verdict, read_progress, register_round};
use plenary_engine::error::Error;
use plenary_engine::files::allowed_file::WritePermission;
use serde_json::{Map, Value};

use crate::cli::dialogue::command::{DataArgs, warn};
use crate::cli::dialogue::queries::write_permission;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Show what the experts of a round may read; with `--json`, all of it
///
/// One document for the whole panel: the question and its background, all prior
/// rounds with full content, the active tensions, and each expert's own part.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// The round to prepare [default: the next one]
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    #[command(flatten)]
    data: DataArgs,
}

impl ContextArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments =
            self.data.arguments()?.set_field("dialogue_id", self.id).set_field("round", self.round);
        let document =
            read_context(&session.open_existing()?, arguments.value(), WritePermission::Local)?;
        if session.ui.json {
            session.ui.print_data(&document, DataFormat::Json)?;
        } else {
            session.ui.print_page(&outline_context(&document, session.ui.table_width()))?;
            session.ui.print_note("this is an outline; `--json` prints what the experts read");
        }
        Ok(ExitStatus::Ok)
    }
}

/// Outline of panel and open tensions; the document itself is for programs.
fn outline_context(document: &str, width: usize) -> String {
    let context: Value = serde_json::from_str(document).unwrap_or_default();
    let field = |value: &Value, name: &str| match value.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let dialogue = context.get("dialogue").cloned().unwrap_or_default();
    let mut text = format!(
        "{}, before round {}\n",
        safe_line(&field(&dialogue, "title")),
        field(&dialogue, "current_round")
    );
    let rounds = context.get("prior_rounds").and_then(Value::as_array).map_or(0, Vec::len);
    text.push_str(&format!("{} held\n", count_noun(rounds, "round")));
    let mut experts = TextTable::new(&["EXPERT", "SOURCE", "SCORE", "TASK"]);
    for expert in
        context.get("experts").and_then(Value::as_object).into_iter().flat_map(Map::values)
    {
        experts.add_row(
            ["slug", "source", "your_score", "round_context"].map(|name| field(expert, name)),
        );
    }
    let mut tensions = TextTable::new(&["TENSION", "STATUS", "LABEL"]);
    for tension in context.get("active_tensions").and_then(Value::as_array).into_iter().flatten() {
        tensions.add_row(["id", "status", "label"].map(|name| field(tension, name)));
    }
    for table in [experts, tensions].iter().filter(|table| !table.is_empty()) {
        text.push_str(&format!("\n{}", table.draw_table(width)));
    }
    text
}

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
pub(crate) struct PromptsArgs {
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
    data: DataArgs,
}

impl PromptsArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self
            .data
            .arguments()?
            .set_field("dialogue_id", self.id)
            .set_field("round", self.round)
            .set_field("render", Some(true));
        let project = session.open_existing()?;
        if let Some(expert) = self.expert {
            let prompt = render_prompt(&project, arguments.value(), &expert)?;
            match session.ui.json {
                true => session.ui.print_result(&prompt, |_| String::new())?,
                false => session.ui.print_data(&prompt.prompt, DataFormat::Text)?,
            }
            return Ok(ExitStatus::Ok);
        }
        let written = render_prompts(&project, arguments.value(), write_permission(self.force))?;
        if session.ui.json {
            session.ui.print_data(&written.answer, DataFormat::Json)?;
            return Ok(ExitStatus::Ok);
        }
        if !written.prompts.is_empty() {
            session.ui.print_page(&prompts_text(&written, session.ui.table_width()))?;
        }
        session.ui.print_note(&prompts_next_step(&written));
        Ok(ExitStatus::Ok)
    }
}

fn prompts_text(written: &PromptsWritten, width: usize) -> String {
    let mut table = TextTable::new(&["EXPERT", "BYTES", "PROMPT", "CONTEXT"]);
    for file in &written.prompts {
        let names = [&file.prompt_path, &file.context_path].map(|path| split_path(path).1);
        let bytes = file.bytes.to_string();
        table.add_row([file.expert_slug.as_str(), &bytes, names[0], names[1]]);
    }
    let folder = written.prompts.first().map_or("", |file| split_path(&file.prompt_path).0);
    let count = count_noun(written.prompts.len(), "prompt");
    let head = format!("Wrote {count} for round {} to {folder}", written.round);
    format!("{}\n\n{}", safe_line(&head), table.draw_table(width))
}

/// A path's folder and its name.
fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once(std::path::MAIN_SEPARATOR).unwrap_or(("", path))
}

fn prompts_next_step(written: &PromptsWritten) -> String {
    let (id, round) = (&written.dialogue_id, written.round);
    if written.prompts.is_empty() {
        return format!(
            "nobody is on the panel of round {round}; `plenary dialogue expert {id} SLUG …` creates an expert"
        );
    }
    "next: give each expert their prompt; they answer in `response-EXPERT.md` beside it".to_owned()
}

/// Register a round: entities, references, moves, updates and scores in one batch
///
/// The batch is taken whole or not at all; when it is refused, every fault is
/// named at once. The same batch again gets the same answer again. `--data` also
/// takes what `dialogue extract --json` printed; the scores then come from here.
#[derive(Debug, Args)]
pub(crate) struct RegisterArgs {
    /// The dialogue.
    id: Option<String>,
    /// The round's ALIGNMENT as a whole.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    score: Option<i64>,
    /// What an expert earned in the round. May be repeated.
    #[arg(long = "expert-score", value_name = "SLUG=N", value_parser = parse_expert_score)]
    expert_scores: Vec<(String, i64)>,
    /// The Judge's synthesis of the round.
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl RegisterArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self
            .data
            .arguments()
            .map_err(Error::of_batch)?
            .unwrap_batch()
            .set_field("dialogue_id", self.id)
            .set_field("score", self.score)
            .set_field("summary", self.summary)
            .add_entries("expert_scores", self.expert_scores);
        let answer = register_round(&session.open_existing()?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.print_result(&answer, |answer| register_text(answer, width))?;
        warn(session.ui, &answer.warnings);
        Ok(ExitStatus::Ok)
    }
}

fn parse_expert_score(text: &str) -> Result<(String, i64), String> {
    let read = text.split_once('=').and_then(|(slug, score)| Some((slug, score.parse().ok()?)));
    let (slug, score) = read.ok_or("write it as `muffin=8`")?;
    Ok((slug.to_owned(), score))
}

fn register_text(answer: &RegisterAnswer, width: usize) -> String {
    let mut table = TextTable::new(&["ID", "LOCAL ID", "LABEL"]);
    for item in answer.registered_items() {
        table.add_row([item.id.to_string(), item.local_id.to_string(), item.label.clone()]);
    }
    let again = if answer.replayed { " (already registered, with the same batch)" } else { "" };
    let mut text =
        format!("Registered round {}{again}\n\n{}", answer.round, table.draw_table(width));
    let changed = answer.tension_updates.iter().chain(&answer.updates).chain(&answer.effects);
    for update in changed {
        let via = update.via.map_or_else(String::new, |id| format!(" via {id}"));
        text.push_str(&format!("{} is {}{via}\n", update.id, update.status));
    }
    text
}

/// Say how far a dialogue has come and whether it is converging
#[derive(Debug, Args)]
pub(crate) struct ProgressArgs {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ProgressArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.arguments()?.set_field("dialogue_id", self.id);
        let report = read_progress(&session.open_existing()?, arguments.value())?;
        warn(session.ui, &report.warnings);
        let width = session.ui.table_width();
        session.ui.print_result(&report, |report| progress_text(report, width))?;
        Ok(ExitStatus::Ok)
    }
}

fn progress_text(report: &ProgressReport, width: usize) -> String {
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
        let mut table = TextTable::new(&["EXPERT", "TOTAL"]);
        for standing in &report.leaderboard {
            table.add_row([standing.expert_slug.to_string(), standing.total.to_string()]);
        }
        text.push_str(&format!("\n{}", table.draw_table(width)));
    }
    text
}

/// Give a verdict: interim, final, minority or dissent
///
/// A verdict is immutable. A final one closes the dialogue, and is refused while
/// a tension is neither resolved nor accepted or too few agree.
#[derive(Debug, Args)]
pub(crate) struct VerdictArgs {
    /// The dialogue.
    id: Option<String>,
    /// The verdict's own id: final, V01, minority-esg.
    #[arg(long, value_name = "ID")]
    verdict_id: Option<String>,
    /// interim, final, minority or dissent.
    #[arg(long = "type", value_name = "TYPE")]
    verdict_type: Option<String>,
    /// The decision, in one line.
    #[arg(long)]
    recommendation: Option<String>,
    /// The reasoning, in two or three sentences.
    #[arg(long)]
    description: Option<String>,
    /// The expert who gives it [default: the Judge]
    #[arg(long, value_name = "EXPERT")]
    author: Option<String>,
    /// An expert behind a minority verdict. May be repeated.
    #[arg(long = "supporter", value_name = "EXPERT")]
    supporters: Vec<String>,
    /// The tally: 11-1, 11-1-2 with abstentions, or unanimous.
    #[arg(long)]
    vote: Option<String>,
    /// unanimous, strong, split or contested.
    #[arg(long)]
    confidence: Option<String>,
    /// A tension that this resolves. May be repeated.
    #[arg(long = "resolves", value_name = "T")]
    resolves: Vec<String>,
    /// A tension that is accepted as it stands. May be repeated.
    #[arg(long = "accepts", value_name = "T")]
    accepts: Vec<String>,
    /// A recommendation that is adopted. May be repeated.
    #[arg(long = "adopts", value_name = "R")]
    adopts: Vec<String>,
    /// Give the verdict although the dialogue has not converged; say why.
    #[arg(long, value_name = "WARNING")]
    force: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl VerdictArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let given = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let arguments = self
            .data
            .arguments()?
            .set_field("dialogue_id", self.id)
            .set_field("verdict_id", self.verdict_id)
            .set_field("verdict_type", self.verdict_type)
            .set_field("recommendation", self.recommendation)
            .set_field("description", self.description)
            .set_field("author_expert", self.author)
            .set_field("supporting_experts", given(self.supporters))
            .set_field("vote", self.vote)
            .set_field("confidence", self.confidence)
            .set_field("tensions_resolved", given(self.resolves))
            .set_field("tensions_accepted", given(self.accepts))
            .set_field("recommendations_adopted", given(self.adopts))
            .set_field("forced", self.force.is_some().then_some(true))
            .set_field("warning", self.force);
        let registered = give_verdict(&session.open_existing()?, arguments.value())?;
        session.ui.print_result(&registered, verdict_text)?;
        warn(session.ui, &registered.warnings);
        Ok(ExitStatus::Ok)
    }
}

fn verdict_text(registered: &VerdictRegistered) -> String {
    let VerdictRegistered { dialogue_id, verdict_id, dialogue_status, .. } = registered;
    let mut text = format!("Gave verdict {verdict_id}; {dialogue_id} is {dialogue_status}\n");
    for (what, ids) in
        [("resolved", &registered.tensions_resolved), ("adopted", &registered.adopted)]
    {
        if !ids.is_empty() {
            let ids: Vec<String> = ids.iter().map(EntityId::to_string).collect();
            text.push_str(&format!("{what} {}\n", ids.join(", ")));
        }
    }
    text
}
