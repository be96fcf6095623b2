//! `list`, `show`, `export`, `cite`, `similar` and `stats`: read what is recorded.

use clap::Args;
use serde_json::{Map, Value, json};

use super::command::{DataArgs, warn};
use crate::domain::catalogue::Citation;
use crate::domain::ids::EntityId;
use crate::domain::record::Record;
use crate::domain::reference::RefType;
use crate::domain::refusal::{Code, Fault};
use crate::engine;
use crate::error::{Error, document_text};
use crate::export::{safe_text, wording};
use crate::files::WritePermission;
use crate::operations::{self, Cited, Format, Listed, Matched, Printed, Project, Statistics};
use crate::protocols::ShownRun;
use crate::record::no_dialogue;
use crate::surfaces::cli::session::{Done, Session};
use crate::surfaces::cli::show::{Canvas, Detail};
use crate::surfaces::cli::table::Table;
use crate::surfaces::cli::terminal_text::DataForm;
use crate::surfaces::cli::ui::{Ui, talk};
use crate::surfaces::cli::wrap::wrap_text;

/// List dialogues, newest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only those that are open, converging, converged or abandoned.
    #[arg(long)]
    status: Option<String>,
    /// Only those of this protocol: alignment, council or review.
    #[arg(long)]
    protocol: Option<String>,
    /// At most this many [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<i64>,
    /// Read on after this dialogue, the last one of the page before.
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ListArgs {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("status", self.status)
            .with("protocol", self.protocol)
            .with("limit", self.limit)
            .with("after", self.after);
        let listed = operations::list(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &listed.warnings);
        let width = session.ui.table_width();
        if listed.dialogues.is_empty() && !session.ui.json {
            session.ui.say("no dialogues; `plenary dialogue create TITLE` opens one");
            return Ok(Done::Well);
        }
        session.ui.answer(&listed, |listed| list_text(listed, width))?;
        if let (Some(next), false) = (&listed.next, session.ui.json) {
            session.ui.say(&format!("more: the same with `--after {next}`"));
        }
        Ok(Done::Well)
    }
}

fn list_text(listed: &Listed, width: usize) -> String {
    let mut table = Table::new(&["DIALOGUE", "STATUS", "ROUNDS", "CREATED", "TITLE"]);
    for dialogue in &listed.dialogues {
        let day = dialogue.created_at.day().to_string();
        let ended = match (dialogue.terminal_state, dialogue.verdict) {
            (Some(state), _) => format!("{} · {state}", dialogue.status),
            // The verdict of a review says more than its status.
            (None, Some(verdict)) => verdict.to_string(),
            (None, None) => dialogue.status.to_string(),
        };
        let rehearsal = if dialogue.rehearsal { "rehearsal: " } else { "" };
        table.row([
            dialogue.dialogue_id.as_str(),
            &ended,
            &dialogue.rounds.to_string(),
            &day,
            &format!("{rehearsal}{}", dialogue.title),
        ]);
    }
    table.draw(width)
}

/// Draw a dialogue: verdicts, experts, the board of tensions, rounds, references
///
/// What it was concluded with comes first; of a council, then its report and how the panel
/// stood; of a review, its verdict and what to change. With `--json` it prints the same document as `export`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Show contents whole instead of their first lines.
    #[arg(long)]
    full: bool,
    /// Only this round.
    #[arg(long, value_name = "N")]
    round: Option<u8>,
    /// Columns to draw in [default: the terminal's]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..=400))]
    width: Option<u16>,
    #[command(flatten)]
    data: DataArgs,
}

impl ShowArgs {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self.data.arguments()?.with("dialogue_id", self.id);
        let project = session.for_existing()?;
        let record = operations::record(&project, arguments.value())?;
        if let Some(round) = self.round
            && record.rounds.iter().all(|held| held.round != round)
        {
            let message = format!("round {round} has not been held");
            return Err(Fault::new(Code::InvalidRound, message).field("round").value(round).into());
        }
        let canvas = Canvas {
            width: self.width.map_or_else(|| session.ui.width(), usize::from),
            detail: if self.full { Detail::Full } else { Detail::Brief },
            round: self.round,
        };
        if session.ui.json {
            session.ui.print_data(&operations::json(&project, &record)?, DataForm::Json)?;
        } else {
            session.ui.print(&draw_record(&project, &record, canvas)?)?;
        }
        Ok(Done::Well)
    }
}

/// Draws the page, with the run on the dialogue if there is one.
fn draw_record(project: &Project, record: &Record, canvas: Canvas) -> Result<String, Error> {
    let (store, id) = (project.store.as_ref(), record.dialogue.id());
    let protocol = project.protocols.find(record.dialogue.opening.protocol)?;
    let journal = store.entries(id, 0)?;
    let state = match engine::load_run_state(&project.protocols, store, id) {
        Err(Error::Refused(_)) => None,
        loaded => Some(loaded?),
    };
    let shown = ShownRun { record, journal: &journal, state: state.as_ref() };
    match protocol.page(&shown, canvas) {
        Some(page) => Ok(page),
        // The refusal says that nothing was run.
        None => Err(engine::load_run(store, id)
            .err()
            .unwrap_or_else(|| no_dialogue(id.as_str()).into())),
    }
}

/// Print a dialogue as one document, or write it to a file
///
/// Without `--output` the document itself goes to standard output. The same
/// record gives the same bytes. A file that exists is replaced only if it is an
/// export; `--force` replaces any file but those of the store and those that
/// council.yaml names.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The dialogue.
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Write to this file, inside the working folder, the store's folder or one given with `--allow`.
    #[arg(long, short, value_name = "PATH")]
    output: Option<String>,
    /// Replace a file that Plenary did not write.
    #[arg(long)]
    force: bool,
    /// json or markdown [default: json]
    #[arg(long)]
    format: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ExportArgs {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.id)
            .with("output_path", self.output)
            .with("format", self.format);
        let project = session.for_existing()?;
        if arguments.value().get("output_path").is_none_or(serde_json::Value::is_null) {
            let printed = operations::printed(&project, arguments.value())?;
            warn(session.ui, &printed.warnings);
            let form = match printed.format {
                Format::Markdown if !session.ui.json => DataForm::Text,
                Format::Json | Format::Markdown => DataForm::Json,
            };
            session.ui.print_data(&to_output_form(session.ui, printed)?, form)?;
            return Ok(Done::Well);
        }
        let permission = write_permission(self.force);
        let exported = operations::export(&project, arguments.value(), permission)?;
        session
            .ui
            .answer(&exported, |exported| format!("Wrote {}", safe_text::line(&exported.path)))?;
        warn(session.ui, &exported.warnings);
        Ok(Done::Well)
    }
}

/// What `--force` allows.
pub(crate) fn write_permission(force: bool) -> WritePermission {
    if force { WritePermission::Forced } else { WritePermission::Local }
}

/// With `--json` one JSON document is promised, so Markdown is wrapped in one.
fn to_output_form(ui: &Ui, printed: Printed) -> Result<String, Error> {
    match printed.format {
        Format::Markdown if ui.json => document_text(
            &json!({ "status": "success", "format": "markdown", "document": printed.text }),
        ),
        Format::Json | Format::Markdown => Ok(printed.text),
    }
}

/// Say what an id means: who said it, how it stands, what it rests on
///
/// Ids that cannot be found are named beside those that can. Exit code 1 when none was found.
#[derive(Debug, Args)]
pub(crate) struct CiteArgs {
    /// Ids such as my-dialogue/P0101, or P0101 with `--dialogue`.
    ids: Vec<String>,
    /// The dialogue that plain ids belong to.
    #[arg(long, value_name = "ID")]
    dialogue: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl CiteArgs {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self
            .data
            .arguments()?
            .with("dialogue_id", self.dialogue)
            .with("ids", (!self.ids.is_empty()).then_some(self.ids));
        let cited = operations::cite(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &cited.warnings);
        if session.ui.json || !cited.citations.is_empty() {
            session.ui.answer(&cited, |cited| cite_text(cited, session.ui.width()))?;
        }
        if !session.ui.json {
            for error in &cited.errors {
                let (message, hint) = (&error.fault.message, error.fault.hint());
                talk(&format!(
                    "error: {}\nhint: {}",
                    safe_text::line(message),
                    safe_text::line(hint)
                ));
            }
        }
        Ok(if cited.citations.is_empty() { Done::WithFindings } else { Done::Well })
    }
}

fn cite_text(cited: &Cited, width: usize) -> String {
    let told = cited.citations.iter().map(|citation| describe_citation(citation, width));
    told.collect::<Vec<_>>().join("\n")
}

fn describe_citation(citation: &Citation, width: usize) -> String {
    let bold = anstyle::Style::new().bold();
    let contributors: Vec<&str> = citation.contributors.iter().map(|slug| slug.as_str()).collect();
    let mut text = format!(
        "{bold}{} {}{bold:#}\n{} by {} in round {} of {}, {}\n\n",
        citation.id,
        safe_text::line(&citation.label),
        citation.kind,
        contributors.join(", "),
        citation.round,
        citation.dialogue_id,
        citation.status,
    );
    for line in wrap_text(&citation.content, width.saturating_sub(2).clamp(38, 98)) {
        text.push_str(&format!("  {line}\n"));
    }
    if let Some(parameters) = &citation.parameters {
        text.push_str(&format!("\n  parameters {}\n", safe_text::line(&parameters.to_string())));
    }
    text.push_str("\nhistory\n");
    for event in &citation.events {
        text.push_str(&format!("  {}\n", wording::happened(citation.id.kind, event)));
    }
    let outgoing = citation.references.iter().map(|made| (made.ref_type, made.target, &made.label));
    text.push_str(&citation_links("refers to", outgoing));
    let incoming =
        citation.referenced_by.iter().map(|made| (made.ref_type, made.source, &made.label));
    text.push_str(&citation_links("referred to by", incoming));
    text
}

fn citation_links<'a>(
    heading: &str,
    links: impl Iterator<Item = (RefType, EntityId, &'a String)>,
) -> String {
    let lines: String = links
        .map(|(ref_type, id, label)| format!("  {ref_type:<8} {id} {}\n", safe_text::line(label)))
        .collect();
    if lines.is_empty() { lines } else { format!("\n{heading}\n{lines}") }
}

/// Find dialogues about something like this
///
/// Looks through titles, questions, tension labels, claims and verdicts.
#[derive(Debug, Args)]
pub(crate) struct SimilarArgs {
    /// Words to look for.
    query: Option<String>,
    /// At most this many [default: 10]
    #[arg(long, value_name = "N")]
    limit: Option<i64>,
    #[command(flatten)]
    data: DataArgs,
}

impl SimilarArgs {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self.data.arguments()?.with("query", self.query).with("limit", self.limit);
        let matched = operations::similar(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &matched.warnings);
        let width = session.ui.table_width();
        if matched.results.is_empty() && !session.ui.json {
            session.ui.say("nothing similar");
            return Ok(Done::Well);
        }
        session.ui.answer(&matched, |matched| similar_text(matched, width))?;
        Ok(Done::Well)
    }
}

fn similar_text(matched: &Matched, width: usize) -> String {
    let mut table = Table::new(&["DIALOGUE", "SCORE", "MATCHED", "TEXT"]);
    for result in &matched.results {
        table.row([
            result.dialogue_id.as_str(),
            &format!("{:.2}", result.score),
            result.matched.name(),
            &result.snippet,
        ]);
    }
    table.draw(width)
}

/// Count what the store holds
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    data: DataArgs,
}

impl StatsArgs {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let arguments = self.data.arguments()?;
        let statistics = operations::stats(&session.for_existing()?, arguments.value())?;
        warn(session.ui, &statistics.warnings);
        let width = session.ui.table_width();
        session.ui.answer(&statistics, |statistics| stats_text(statistics, width))?;
        Ok(Done::Well)
    }
}

fn stats_text(statistics: &Statistics, width: usize) -> String {
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
        text.push_str(&format!("\n{heading}\n{}", count_rows(counts)));
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

fn count_rows(counts: &Map<String, Value>) -> String {
    counts.iter().map(|(name, count)| format!("  {name:<18} {count}\n")).collect()
}
