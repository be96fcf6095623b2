//! `list`, `show`, `export`, `cite`, `similar` and `stats`: read what is recorded.

use clap::Args;
use plenary_core::model::ids::EntityId;
use plenary_core::model::queries::EntityCitation;
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::protocol::ShownRun;
use plenary_core::report::page::{
    ListItem, PageBlock, PageDetail, PageModel, PageScope, PageSection, RichText, TextTone,
};
use plenary_core::report::phrases::{count_noun, event_phrase, reference_verb};
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::{PageCanvas, TextTable};
use plenary_core::report::terminal::page::{draw_page, draw_sections};
use plenary_engine::app::export_record::{
    Format, PrintedExport, export_record, print_record, read_record, record_json,
};
use plenary_engine::app::project::Project;
use plenary_engine::app::queries::{
    CiteResult, ListResult, SimilarResult, StatsResult, count_records, find_similar,
    list_dialogues, resolve_citations,
};
use plenary_engine::engine::run_start::load_run_state;
use plenary_engine::error::{Error, to_json_text};
use plenary_engine::files::allowed_file::WritePermission;
use serde_json::{Map, Value, json};

use crate::cli::dialogue::command::{DataArgs, warn};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;
use crate::cli::ui::{TerminalUi, print_message};

/// List councils, reviews and dialogues, newest first
///
/// Shows the id, the state and the title of each.
///
/// $ plenary list
///
/// $ plenary list --protocol council --limit 10
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only this status: open, converging, converged or abandoned
    #[arg(long)]
    status: Option<String>,
    /// List only this protocol: alignment, council or review
    #[arg(long)]
    protocol: Option<String>,
    /// List at most N [default: 50]
    #[arg(long, value_name = "N")]
    limit: Option<i64>,
    /// Start after this id, the last one of the previous page
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ListArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self
            .data
            .arguments()?
            .set_field("status", self.status)
            .set_field("protocol", self.protocol)
            .set_field("limit", self.limit)
            .set_field("after", self.after);
        let listed = list_dialogues(&session.open_existing()?, arguments.value())?;
        warn(session.ui, &listed.warnings);
        let width = session.ui.table_width();
        if listed.dialogues.is_empty() && !session.ui.json {
            session.ui.print_note("no dialogues; `plenary dialogue create TITLE` opens one");
            return Ok(ExitStatus::Ok);
        }
        session.ui.print_result(&listed, |listed| list_text(listed, width))?;
        if let (Some(next), false) = (&listed.next, session.ui.json) {
            session.ui.print_note(&format!("more: the same with `--after {next}`"));
        }
        Ok(ExitStatus::Ok)
    }
}

fn list_text(listed: &ListResult, width: usize) -> String {
    let mut table = TextTable::new(&["DIALOGUE", "STATUS", "ROUNDS", "CREATED", "TITLE"]);
    for dialogue in &listed.dialogues {
        let day = dialogue.created_at.utc_day().to_string();
        let ended = match (dialogue.terminal_state, dialogue.verdict) {
            (Some(state), _) => format!("{} · {state}", dialogue.status),
            // The verdict of a review says more than its status.
            (None, Some(verdict)) => verdict.to_string(),
            (None, None) => dialogue.status.to_string(),
        };
        let rehearsal = if dialogue.rehearsal { "rehearsal: " } else { "" };
        table.add_row([
            dialogue.dialogue_id.as_str(),
            &ended,
            &dialogue.rounds.to_string(),
            &day,
            &format!("{rehearsal}{}", dialogue.title),
        ]);
    }
    table.draw_table(width)
}

/// Show a council, a review or a dialogue
///
/// The conclusion or verdict comes first, then the report, the experts, the tensions, the rounds
/// and the references. `--json` prints the same document as `export`.
///
/// $ plenary show tea-or-coffee-1a2b3c4d
///
/// $ plenary show tea-or-coffee-1a2b3c4d --round 1 --full
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The id, as `plenary list` shows it
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Show the whole contents instead of the first lines
    #[arg(long)]
    full: bool,
    /// Show only this round
    #[arg(long, value_name = "N")]
    round: Option<u8>,
    /// The width of the page [default: the width of the terminal]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..=400))]
    width: Option<u16>,
    #[command(flatten)]
    data: DataArgs,
}

impl ShowArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.arguments()?.set_field("dialogue_id", self.id);
        let project = session.open_existing()?;
        let record = read_record(&project, arguments.value())?;
        if let Some(round) = self.round
            && record.rounds.iter().all(|held| held.round != round)
        {
            let message = format!("round {round} has not been held");
            return Err(ValidationError::new(ErrorCode::InvalidRound, message)
                .with_field("round")
                .with_value(round)
                .into());
        }
        let width = self.width.map_or_else(|| session.ui.terminal_width(), usize::from);
        let detail = if self.full { PageDetail::Full } else { PageDetail::Brief };
        let scope = PageScope { detail, round: self.round };
        if session.ui.json {
            session.ui.print_data(&record_json(&project, &record)?, DataFormat::Json)?;
        } else {
            let page = record_page(&project, &record, scope)?;
            session.ui.print_page(&draw_page(&page, PageCanvas { width }))?;
        }
        Ok(ExitStatus::Ok)
    }
}

/// The page of a dialogue, with the run on it if there is one.
fn record_page(
    project: &Project,
    record: &DialogueRecord,
    scope: PageScope,
) -> Result<PageModel, Error> {
    let (store, id) = (project.store.as_ref(), record.dialogue.id());
    let protocol = project.protocols.find_protocol(record.dialogue.opening.protocol)?;
    let journal = store.load_entries(id, 0)?;
    let state = match load_run_state(&project.protocols, store, id) {
        Err(Error::Refused(_)) => None,
        loaded => Some(loaded?),
    };
    let shown = ShownRun { record, journal: &journal, state: state.as_ref() };
    Ok(protocol.page(&shown, scope))
}

/// Print or write a record as one document
///
/// Without `--output` the document goes to standard output. The same record gives the same bytes. An
/// existing file is replaced only if it is an export; `--force` replaces any file except those of
/// the store and those that council.yaml names.
///
/// $ plenary export tea-or-coffee-1a2b3c4d > record.json
///
/// $ plenary export tea-or-coffee-1a2b3c4d --format markdown --output record.md
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The id, as `plenary list` shows it
    #[arg(required_unless_present = "data")]
    id: Option<String>,
    /// Write to this file in the working folder, the folder of the store or one of `--allow`
    #[arg(long, short, value_name = "PATH")]
    output: Option<String>,
    /// Replace a file that Plenary did not write
    #[arg(long)]
    force: bool,
    /// The format: json, markdown (or md) or html [default: by the ending of the file, else json]
    #[arg(long)]
    format: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ExportArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self
            .data
            .arguments()?
            .set_field("dialogue_id", self.id)
            .set_field("output_path", self.output)
            .set_field("format", self.format.map(full_format_name));
        let project = session.open_existing()?;
        if arguments.value().get("output_path").is_none_or(serde_json::Value::is_null) {
            let printed = print_record(&project, arguments.value())?;
            warn(session.ui, &printed.warnings);
            let form = match printed.format {
                Format::Markdown | Format::Html if !session.ui.json => DataFormat::Text,
                Format::Json | Format::Markdown | Format::Html => DataFormat::Json,
            };
            session.ui.print_data(&to_output_form(session.ui, printed)?, form)?;
            return Ok(ExitStatus::Ok);
        }
        let permission = write_permission(self.force);
        let exported = export_record(&project, arguments.value(), permission)?;
        session
            .ui
            .print_result(&exported, |exported| format!("Wrote {}", safe_line(&exported.path)))?;
        warn(session.ui, &exported.warnings);
        Ok(ExitStatus::Ok)
    }
}

/// The name of a format for which a short name was typed.
fn full_format_name(name: String) -> String {
    if name == "md" { "markdown".to_owned() } else { name }
}

/// What `--force` allows.
pub(crate) fn write_permission(force: bool) -> WritePermission {
    if force { WritePermission::Forced } else { WritePermission::Local }
}

/// With `--json` one JSON document is promised, so Markdown or HTML is wrapped in one.
fn to_output_form(ui: &TerminalUi, printed: PrintedExport) -> Result<String, Error> {
    match printed.format {
        Format::Markdown | Format::Html if ui.json => to_json_text(
            &json!({ "status": "success", "format": printed.format, "document": printed.text }),
        ),
        Format::Json | Format::Markdown | Format::Html => Ok(printed.text),
    }
}

/// Explain the ids of statements: author, status, references
///
/// Names the ids that do not exist; the exit code is 1 if none exists.
///
/// $ plenary cite nvidia-decision/P0101
///
/// $ plenary cite P0101 T0003 --dialogue nvidia-decision
#[derive(Debug, Args)]
pub(crate) struct CiteArgs {
    /// Ids such as my-dialogue/P0101, or P0101 with `--dialogue`
    ids: Vec<String>,
    /// The dialogue of the short ids
    #[arg(long, value_name = "ID")]
    dialogue: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl CiteArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self
            .data
            .arguments()?
            .set_field("dialogue_id", self.dialogue)
            .set_field("ids", (!self.ids.is_empty()).then_some(self.ids));
        let cited = resolve_citations(&session.open_existing()?, arguments.value())?;
        warn(session.ui, &cited.warnings);
        if session.ui.json || !cited.citations.is_empty() {
            session
                .ui
                .print_result(&cited, |cited| cite_text(cited, session.ui.terminal_width()))?;
        }
        if !session.ui.json {
            for error in &cited.errors {
                let (message, hint) = (&error.fault.message, error.fault.hint());
                print_message(&format!("error: {}\nhint: {}", safe_line(message), safe_line(hint)));
            }
        }
        Ok(if cited.citations.is_empty() { ExitStatus::WithFindings } else { ExitStatus::Ok })
    }
}

fn cite_text(cited: &CiteResult, width: usize) -> String {
    let sections: Vec<PageSection> = cited.citations.iter().map(citation_section).collect();
    let lines = draw_sections(&sections, PageCanvas { width });
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What an entity says, its history, and the references from and to it.
fn citation_section(citation: &EntityCitation) -> PageSection {
    let authors: Vec<&str> = citation.contributors.iter().map(|slug| slug.as_str()).collect();
    let facts = [
        format!("{} by {}", citation.kind, authors.join(", ")),
        format!("round {} of {}", citation.round, citation.dialogue_id),
        citation.status.to_string(),
    ];
    let facts = facts.into_iter().map(RichText::from).collect();
    let mut blocks = vec![PageBlock::Facts(facts), PageBlock::prose(&citation.content)];
    let parameters = citation.parameters.as_ref();
    blocks.extend(
        parameters.map(|value| PageBlock::Facts(vec![format!("parameters {value}").into()])),
    );
    let history = citation.events.iter().map(|event| {
        let phrase = event_phrase(citation.id.kind, event);
        ListItem::new("", RichText::with_ids(&phrase, TextTone::Plain))
    });
    let outgoing = citation.references.iter().map(|made| (made.ref_type, made.target, &made.label));
    let incoming =
        citation.referenced_by.iter().map(|made| (made.ref_type, made.source, &made.label));
    PageSection::new(citation.id.to_string(), blocks)
        .with_subject(Some(citation.label.clone()))
        .with_sections(vec![
            PageSection::new("History", vec![PageBlock::List(history.collect())]),
            link_section(
                "Refers to",
                outgoing.map(|(kind, id, label)| (reference_verb(kind).to_owned(), id, label)),
            ),
            link_section(
                "Referred to by",
                incoming
                    .map(|(kind, id, label)| (format!("{} it", reference_verb(kind)), id, label)),
            ),
        ])
}

fn link_section<'a>(
    title: &str,
    links: impl Iterator<Item = (String, EntityId, &'a String)>,
) -> PageSection {
    let items: Vec<ListItem> = links
        .map(|(verb, id, label)| {
            let text = RichText::toned(id.to_string(), TextTone::Id);
            let lead = RichText::toned(verb, TextTone::Faint);
            ListItem::new(lead, text.push(format!(" {label}"), TextTone::Plain))
        })
        .collect();
    let blocks = (!items.is_empty()).then_some(PageBlock::List(items));
    PageSection::new(title, blocks.into_iter().collect())
}

/// Find earlier dialogues about a subject
///
/// Searches titles, questions, tension labels, claims and verdicts.
///
/// $ plenary dialogue similar "gpu prices" --limit 3
#[derive(Debug, Args)]
pub(crate) struct SimilarArgs {
    /// Words to search for
    query: Option<String>,
    /// List at most N [default: 10]
    #[arg(long, value_name = "N")]
    limit: Option<i64>,
    #[command(flatten)]
    data: DataArgs,
}

impl SimilarArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments =
            self.data.arguments()?.set_field("query", self.query).set_field("limit", self.limit);
        let matched = find_similar(&session.open_existing()?, arguments.value())?;
        warn(session.ui, &matched.warnings);
        let width = session.ui.table_width();
        if matched.results.is_empty() && !session.ui.json {
            session.ui.print_note("nothing similar");
            return Ok(ExitStatus::Ok);
        }
        session.ui.print_result(&matched, |matched| similar_text(matched, width))?;
        Ok(ExitStatus::Ok)
    }
}

fn similar_text(matched: &SimilarResult, width: usize) -> String {
    let mut table = TextTable::new(&["DIALOGUE", "SCORE", "MATCHED", "TEXT"]);
    for result in &matched.results {
        table.add_row([
            result.dialogue_id.as_str(),
            &format!("{:.2}", result.score),
            result.matched.name(),
            &result.snippet,
        ]);
    }
    table.draw_table(width)
}

/// Count the contents of the store
///
/// Counts dialogues by status, protocol and terminal state, entities, and the scores of experts.
///
/// $ plenary dialogue stats --json
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    data: DataArgs,
}

impl StatsArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.arguments()?;
        let statistics = count_records(&session.open_existing()?, arguments.value())?;
        warn(session.ui, &statistics.warnings);
        let width = session.ui.table_width();
        session.ui.print_result(&statistics, |statistics| stats_text(statistics, width))?;
        Ok(ExitStatus::Ok)
    }
}

fn stats_text(statistics: &StatsResult, width: usize) -> String {
    let count = count_noun(statistics.dialogues, "dialogue");
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
        let mut table = TextTable::new(&["EXPERT", "TOTAL", "DIALOGUES"]);
        for expert in &statistics.top_experts {
            table.add_row([
                expert.expert_slug.to_string(),
                expert.total.to_string(),
                expert.dialogues.to_string(),
            ]);
        }
        text.push_str(&format!("\n{}", table.draw_table(width)));
    }
    text
}

fn count_rows(counts: &Map<String, Value>) -> String {
    counts.iter().map(|(name, count)| format!("  {name:<18} {count}\n")).collect()
}
