//! `dialogue context`, `prompts`, `register`, `progress` and `verdict`: the rounds of a Judge.

use clap::Args;
use plenary_core::dialogue::progress::DialogueProgress as ProgressReport;
use plenary_core::dialogue::register::batch::RegisterAnswer;
use plenary_core::model::ids::EntityId;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::report::phrases::count_noun;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::app::round_context::{
    PromptsWritten, read_context, render_prompt, render_prompts,
};
use plenary_engine::app::rounds::{VerdictRegistered, give_verdict, read_progress, register_round};
use plenary_engine::error::Error;
use plenary_engine::files::allowed_file::WritePermission;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::cli::dialogue::command::{DataArgs, warn};
use crate::cli::dialogue::show::write_permission;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Show what the experts of a round may read
///
/// Prints an outline; `--json` prints the whole document for the panel: the question and its
/// background, all earlier rounds with full content, the active tensions, and a part for each
/// expert.
///
/// $ plenary dialogue context tea-or-coffee
///
/// $ plenary dialogue context tea-or-coffee --round 2 --json
#[derive(Debug, Args, Serialize)]
pub(crate) struct ContextArgs {
    /// The id of the dialogue
    #[arg(required_unless_present = "data")]
    #[serde(rename = "dialogue_id")]
    id: Option<String>,
    /// The round to prepare [default: the next one]
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl ContextArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.with_options(&self)?;
        let document =
            read_context(&session.open_existing()?, arguments.value(), WritePermission::Local)?;
        if session.ui.json {
            session.ui.print_data(&document, DataFormat::Json)?;
        } else {
            session.ui.print_page(&outline_context(&document, session.ui.table_width()))?;
            session.ui.print_note("this is an outline; `--json` prints the whole document");
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
    text.push_str(&format!("{} registered\n", count_noun(rounds, "round")));
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

/// Write a prompt for each expert of a round
///
/// Each expert of the panel gets two files in `round-N/` of the dialogue's folder.
/// `prompt-EXPERT.md` has the question, the role and task, all earlier rounds and the form of the
/// answer. `context-EXPERT.json` has the same as data. A new expert also gets a brief: the reason,
/// the mandate, and the earlier work that matters for it. The experts answer in
/// `response-EXPERT.md` beside the prompt.
///
/// $ plenary dialogue prompts nvidia-investment-decision
///
/// $ plenary dialogue prompts nvidia-investment-decision --expert muffin | less
#[derive(Debug, Args)]
pub(crate) struct PromptsArgs {
    /// The id of the dialogue
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// The round to prepare [default: the next one]
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    /// Print the prompt of this expert and write no file
    #[arg(long, value_name = "SLUG")]
    expert: Option<String>,
    /// Leave out the markers: the experts have the skill
    #[arg(long)]
    skill_loaded: bool,
    /// Replace files that Plenary did not write
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl PromptsArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let options = json!({
            "dialogue_id": self.id,
            "round": self.round,
            "render": true,
            "skill_loaded": self.skill_loaded.then_some(true),
        });
        let arguments = self.data.with_options(&options)?;
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
            "the panel of round {round} is empty; create an expert with `plenary dialogue expert {id} SLUG …`"
        );
    }
    "next: give each expert its prompt; the answer goes into `response-EXPERT.md` beside it"
        .to_owned()
}

/// Register a round with its entities, references and scores
///
/// Plenary registers the whole batch or nothing, and reports all errors at once. Registering the
/// same batch again is harmless. `--data` also takes the output of `dialogue extract --json`; then
/// give the scores as options.
///
/// $ plenary dialogue register --data round-1.json
///
/// $ plenary dialogue register tea --data r.json --score 25 --expert-score muffin=8
#[derive(Debug, Args, Serialize)]
pub(crate) struct RegisterArgs {
    /// The id of the dialogue
    #[serde(rename = "dialogue_id")]
    id: Option<String>,
    /// The ALIGNMENT score of the whole round
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    score: Option<i64>,
    /// The score of one expert in this round; repeatable
    #[arg(long = "expert-score", value_name = "SLUG=N", value_parser = parse_expert_score)]
    #[serde(skip)]
    expert_scores: Vec<(String, i64)>,
    /// The Judge's synthesis of the round
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl RegisterArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        if self.data.data.is_none() && !session.ui.json {
            let message = "the replies of the round are missing";
            let hint = "write them to a file with `plenary dialogue extract`, and pass it with \
                        `--data FILE`";
            let fault = ValidationError::new(ErrorCode::MissingField, message);
            return Err(fault.with_suggestion(hint).into());
        }
        let batch = self.data.arguments().map_err(Error::of_batch)?.unwrap_batch()?;
        let arguments = batch.set_options(&self)?.add_entries("expert_scores", self.expert_scores);
        let answer = register_round(&session.open_existing()?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.print_result(&answer, |answer| register_text(answer, width))?;
        warn(session.ui, &answer.warnings);
        Ok(ExitStatus::Ok)
    }
}

fn parse_expert_score(text: &str) -> Result<(String, i64), String> {
    let read = text.split_once('=').and_then(|(slug, score)| Some((slug, score.parse().ok()?)));
    let (slug, score) = read.ok_or("expected an expert and a number, such as `muffin=8`")?;
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

/// Show the progress of a dialogue and whether it converges
///
/// Prints scores, velocity, open tensions and an estimate of the remaining rounds.
///
/// $ plenary dialogue progress tea-or-coffee
#[derive(Debug, Args, Serialize)]
pub(crate) struct ProgressArgs {
    /// The id of the dialogue
    #[arg(required_unless_present = "data")]
    #[serde(rename = "dialogue_id")]
    id: Option<String>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl ProgressArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.with_options(&self)?;
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
/// A verdict never changes. A final verdict closes the dialogue. Plenary refuses it while a tension
/// is neither resolved nor accepted, or while too few experts agree; `--force` overrides that.
///
/// $ plenary dialogue verdict tea --verdict-id V1 --type final --recommendation Tea
///
/// $ plenary dialogue verdict --data verdict.json
#[derive(Debug, Args, Serialize)]
pub(crate) struct VerdictArgs {
    /// The id of the dialogue
    #[serde(rename = "dialogue_id")]
    id: Option<String>,
    /// The id of the verdict, such as final, V01 or minority-esg
    #[arg(long, value_name = "ID")]
    verdict_id: Option<String>,
    /// interim, final, minority or dissent
    #[arg(long = "type", value_name = "TYPE")]
    verdict_type: Option<String>,
    /// The decision, in one line
    #[arg(long)]
    recommendation: Option<String>,
    /// The reasoning, in two or three sentences
    #[arg(long)]
    description: Option<String>,
    /// The expert who gives the verdict [default: the Judge]
    #[arg(long, value_name = "EXPERT")]
    #[serde(rename = "author_expert")]
    author: Option<String>,
    /// An expert who supports a minority verdict; repeatable
    #[arg(long = "supporter", value_name = "EXPERT")]
    #[serde(rename = "supporting_experts")]
    supporters: Vec<String>,
    /// The votes: 11-1, 11-1-2 with abstentions, or unanimous
    #[arg(long)]
    vote: Option<String>,
    /// unanimous, strong, split or contested
    #[arg(long)]
    confidence: Option<String>,
    /// A tension that the verdict resolves; repeatable
    #[arg(long = "resolves", value_name = "T")]
    #[serde(rename = "tensions_resolved")]
    resolves: Vec<String>,
    /// A tension that the verdict accepts unresolved; repeatable
    #[arg(long = "accepts", value_name = "T")]
    #[serde(rename = "tensions_accepted")]
    accepts: Vec<String>,
    /// A recommendation that the verdict adopts; repeatable
    #[arg(long = "adopts", value_name = "R")]
    #[serde(rename = "recommendations_adopted")]
    adopts: Vec<String>,
    /// Give the verdict before the dialogue has converged, with this warning
    #[arg(long, value_name = "WARNING")]
    #[serde(rename = "warning")]
    force: Option<String>,
    #[command(flatten)]
    #[serde(skip)]
    data: DataArgs,
}

impl VerdictArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let is_forced = self.force.is_some().then_some(true);
        let arguments = self.data.with_options(&self)?.set_field("forced", is_forced);
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
