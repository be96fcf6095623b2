//! `dialogue context`, `prompts`, `register`, `progress` and `verdict`: the rounds of a Judge.

use clap::Args;
use serde_json::{Map, Value};

use super::command::{DataArgs, warn};
use super::queries::write_permission;
use crate::domain::ids::EntityId;
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::files::WritePermission;
use crate::operations::{self, PromptsWritten, VerdictRegistered};
use crate::record::convergence::Progress as ProgressReport;
use crate::record::register::Answer;
use crate::surfaces::cli::session::{Done, Session};
use crate::surfaces::cli::table::Table;
use crate::surfaces::cli::terminal_text::DataForm;

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
            session.ui.print(&outline_context(&document, session.ui.table_width()))?;
            session.ui.say("this is an outline; `--json` prints what the experts read");
        }
        Ok(Done::Well)
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
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.id)
            .with("round", self.round)
            .with("render", Some(true));
        let project = session.for_existing()?;
        if let Some(expert) = self.expert {
            let prompt = operations::prompt(&project, arguments.value(), &expert)?;
            match session.ui.json {
                true => session.ui.answer(&prompt, |_| String::new())?,
                false => session.ui.print_data(&prompt.prompt, DataForm::Text)?,
            }
            return Ok(Done::Well);
        }
        let written =
            operations::prompts(&project, arguments.value(), write_permission(self.force))?;
        if session.ui.json {
            session.ui.print_data(&written.answer, DataForm::Json)?;
            return Ok(Done::Well);
        }
        if !written.prompts.is_empty() {
            session.ui.print(&prompts_text(&written, session.ui.table_width()))?;
        }
        session.ui.say(&prompts_next_step(&written));
        Ok(Done::Well)
    }
}

fn prompts_text(written: &PromptsWritten, width: usize) -> String {
    let mut table = Table::new(&["EXPERT", "BYTES", "PROMPT", "CONTEXT"]);
    for file in &written.prompts {
        let names = [&file.prompt_path, &file.context_path].map(|path| split_path(path).1);
        let bytes = file.bytes.to_string();
        table.row([file.expert_slug.as_str(), &bytes, names[0], names[1]]);
    }
    let folder = written.prompts.first().map_or("", |file| split_path(&file.prompt_path).0);
    let count = wording::count(written.prompts.len(), "prompt");
    let head = format!("Wrote {count} for round {} to {folder}", written.round);
    format!("{}\n\n{}", safe_text::line(&head), table.draw(width))
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
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()
            .map_err(Error::of_batch)?
            .unwrapped()
            .with("dialogue_id", self.id)
            .with("score", self.score)
            .with("summary", self.summary)
            .with_entries("expert_scores", self.expert_scores);
        let answer = operations::register(&session.for_existing()?, arguments.value())?;
        let width = session.ui.table_width();
        session.ui.answer(&answer, |answer| register_text(answer, width))?;
        warn(session.ui, &answer.warnings);
        Ok(Done::Well)
    }
}

fn parse_expert_score(text: &str) -> Result<(String, i64), String> {
    let read = text.split_once('=').and_then(|(slug, score)| Some((slug, score.parse().ok()?)));
    let (slug, score) = read.ok_or("write it as `muffin=8`")?;
    Ok((slug.to_owned(), score))
}

fn register_text(answer: &Answer, width: usize) -> String {
    let mut table = Table::new(&["ID", "LOCAL ID", "LABEL"]);
    for item in answer.registered() {
        table.row([item.id.to_string(), item.local_id.to_string(), item.label.clone()]);
    }
    let again = if answer.replayed { " (already registered, with the same batch)" } else { "" };
    let mut text = format!("Registered round {}{again}\n\n{}", answer.round, table.draw(width));
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
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self.data.arguments()?.with("dialogue_id", self.id);
        let report = operations::progress(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &report.warnings);
        let width = session.ui.table_width();
        session.ui.answer(&report, |report| progress_text(report, width))?;
        Ok(Done::Well)
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
        let mut table = Table::new(&["EXPERT", "TOTAL"]);
        for standing in &report.leaderboard {
            table.row([standing.expert_slug.to_string(), standing.total.to_string()]);
        }
        text.push_str(&format!("\n{}", table.draw(width)));
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
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let given = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.id)
            .with("verdict_id", self.verdict_id)
            .with("verdict_type", self.verdict_type)
            .with("recommendation", self.recommendation)
            .with("description", self.description)
            .with("author_expert", self.author)
            .with("supporting_experts", given(self.supporters))
            .with("vote", self.vote)
            .with("confidence", self.confidence)
            .with("tensions_resolved", given(self.resolves))
            .with("tensions_accepted", given(self.accepts))
            .with("recommendations_adopted", given(self.adopts))
            .with("forced", self.force.is_some().then_some(true))
            .with("warning", self.force);
        let registered = operations::give_verdict(&session.for_existing()?, arguments.value())?;
        session.ui.answer(&registered, verdict_text)?;
        warn(session.ui, &registered.warnings);
        Ok(Done::Well)
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
