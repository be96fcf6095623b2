//! Export of a record as a file or as text, and which existing files an export may replace.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use plenary_core::dialogue::context::ContextShape;
use plenary_core::dialogue::diagnostics::{RequestWarning, dialogue_not_found};
use plenary_core::dialogue::expert_prompts::panel_prompts::is_prompt;
use plenary_core::dialogue::request::OperationRequest;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEntry;
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::run_state::RunState;
use plenary_core::model::string_enum::{word_schema, words};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::protocol::ShownRun;
use plenary_core::report::calls::{CallDocument, calls_section, list_calls, mark_lost};
use plenary_core::report::dialogue_facts::record_warnings;
use plenary_core::report::dialogue_json::{
    DialogueDocument, ExportShape, dialogue_document, is_html_export, is_markdown_export,
};
use plenary_core::report::html::render_html;
use plenary_core::report::markdown::render_markdown;
use plenary_core::report::page::{PageDetail, PageScope, PageSection};
use plenary_core::report::phrases::count_noun;
use plenary_core::report::provenance::{ProvenanceDocument, ProvenanceInput, ProvenanceTarget};
use plenary_core::report::source_sections::{graph_section, provenance_section};
use plenary_core::report::transcript::{TranscriptDocument, transcript_document};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::dialogue_ids::{read_resolved, read_strict_resolved};
use crate::app::project::Project;
use crate::engine::process_lock::is_running;
use crate::error::{Error, to_json_text};
use crate::files::allowed_file::{AllowedFile, WritePermission};
use crate::verdict_log::lines::is_all_stored;

words! {
    /// What a record is exported as.
    pub enum Format {
        Json = "json",
        Markdown = "markdown",
        Html = "html",
    }
}

/// Result of an export, in the shape of the seed.
#[derive(Debug, Serialize)]
pub struct ExportResult {
    pub status: &'static str,
    pub path: String,
    pub stats: ExportStats,
    pub warnings: Vec<RequestWarning>,
}

#[derive(Debug, Serialize)]
pub struct ExportStats {
    pub rounds: usize,
    pub experts: usize,
    pub perspectives: usize,
    pub recommendations: usize,
    pub tensions: usize,
    pub evidence: usize,
    pub claims: usize,
    #[serde(rename = "totalAlignment")]
    pub total_alignment: i64,
}

/// Arguments of `export`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ExportRequest {
    dialogue_id: DialogueId,
    /// Inside the working folder [the dialogue's own folder].
    output_path: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "word_schema::<Format>")]
    format: Option<Format>,
    /// Adds the calls: prompts and raw replies.
    #[serde(default)]
    full: bool,
}

impl OperationRequest for ExportRequest {}

/// How much an export has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportContents {
    Record,
    /// The record, and every call with its messages and its reply.
    RecordAndCalls,
}

impl ExportRequest {
    fn contents(&self) -> ExportContents {
        if self.full { ExportContents::RecordAndCalls } else { ExportContents::Record }
    }

    fn format(&self) -> Format {
        self.format.unwrap_or_else(|| format_for_path(self.output_path.as_deref()))
    }
}

/// Arguments of `show`.
#[derive(Debug, Deserialize, JsonSchema)]
struct ShowRequest {
    dialogue_id: DialogueId,
}

impl OperationRequest for ShowRequest {}

/// Format by the ending of the file name.
fn format_for_path(path: Option<&str>) -> Format {
    path.and_then(find_format).unwrap_or(Format::Json)
}

/// Whether a file name has an ending that selects no format. A name without an ending is JSON.
pub fn has_unknown_ending(path: &str) -> bool {
    Path::new(path).extension().is_some() && find_format(path).is_none()
}

/// The format that the ending of a file names.
pub fn find_format(path: &str) -> Option<Format> {
    let ending = Path::new(path).extension()?;
    let fits = |format: &&Format| {
        file_endings(**format).iter().any(|known| ending.eq_ignore_ascii_case(known))
    };
    Format::ALL.iter().find(fits).copied()
}

/// Writes the file; without `output_path` into the dialogue's own folder. A file that exists is
/// replaced if it is an export, or if the operator forces it.
pub fn export_record(
    project: &Project,
    arguments: &Value,
    permission: WritePermission,
) -> Result<ExportResult, Error> {
    let (request, mut warnings) = read_resolved::<ExportRequest>(project, arguments)?;
    let (record, format) = (load_record(project, &request.dialogue_id)?, request.format());
    let file = match &request.output_path {
        Some(path) => named_file(project, path, format, permission)?,
        None => default_file(project, &record, format, permission)?,
    };
    // Check before rendering, which is slow for a long record.
    file.check_writable(&is_export)?;
    let mut text = render_record(project, &record, format, request.contents())?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    file.write_file(text.as_bytes(), &is_export)?;
    warnings.extend(record_warnings(&record));
    Ok(ExportResult {
        status: "success",
        path: file.path().display().to_string(),
        stats: ExportStats {
            rounds: record.rounds.len(),
            experts: record.experts.len(),
            perspectives: record.perspectives.len(),
            recommendations: record.recommendations.len(),
            tensions: record.tensions.len(),
            evidence: record.evidence.len(),
            claims: record.claims.len(),
            total_alignment: record.dialogue.total_alignment,
        },
        warnings,
    })
}

/// A document for standard output.
#[derive(Debug)]
pub struct PrintedExport {
    pub format: Format,
    pub text: String,
    pub warnings: Vec<RequestWarning>,
}

/// Renders the document without writing a file.
pub fn print_record(project: &Project, arguments: &Value) -> Result<PrintedExport, Error> {
    let (request, warnings) = read_resolved::<ExportRequest>(project, arguments)?;
    let (record, format) = (load_record(project, &request.dialogue_id)?, request.format());
    let text = render_record(project, &record, format, request.contents())?;
    Ok(PrintedExport { format, text, warnings })
}

/// Renders a loaded record as JSON.
pub fn record_json(project: &Project, record: &DialogueRecord) -> Result<String, Error> {
    render_record(project, record, Format::Json, ExportContents::Record)
}

/// Reads the calls of a dialogue, in order; none if Plenary asked no model for it.
pub fn read_calls(project: &Project, id: &DialogueId) -> Result<Vec<CallDocument>, Error> {
    let journal = project.store.load_entries(id, 0)?;
    let Some(state) = RunState::from_journal(&journal) else { return Ok(Vec::new()) };
    let mut calls = list_calls(&state, &journal);
    if !is_running(project.folders.store_file(), &state) {
        mark_lost(&mut calls);
    }
    Ok(calls)
}

/// The transcript of a dialogue.
pub fn read_transcript(
    project: &Project,
    record: &DialogueRecord,
) -> Result<TranscriptDocument, Error> {
    let journal = project.store.load_entries(record.dialogue.id(), 0)?;
    let (run, calls) = (RunState::from_entries(&journal), journal_calls(&journal));
    Ok(transcript_document(record, &calls, run.as_ref(), &project.protocols))
}

fn journal_calls(journal: &[JournalEntry]) -> Vec<CallDocument> {
    let state = RunState::from_journal(journal);
    state.map(|state| list_calls(&state, journal)).unwrap_or_default()
}

/// What the sources of a record's parts are looked up in.
#[derive(Debug)]
pub struct RecordSources {
    pub record: DialogueRecord,
    calls: Vec<CallDocument>,
    journal: Vec<JournalEntry>,
    hashes: BTreeMap<u64, String>,
}

impl RecordSources {
    /// None without such a dialogue.
    pub fn load(project: &Project, id: &DialogueId) -> Result<Option<Self>, Error> {
        let Some(record) = project.store.load_record(id)? else { return Ok(None) };
        let journal = project.store.load_entries(id, 0)?;
        let places = project.store.load_entry_places(id, 0)?;
        let hashes = places.into_iter().map(|place| (place.seq, place.hash)).collect();
        Ok(Some(Self { record, calls: journal_calls(&journal), journal, hashes }))
    }

    /// Where a part comes from; none if the record does not have it.
    pub fn find(&self, target: &ProvenanceTarget) -> Option<ProvenanceDocument> {
        let Self { record, calls, journal, hashes } = self;
        ProvenanceInput { record, calls, journal, hashes }.find(target)
    }
}

/// The error for a call that a dialogue does not have.
pub fn call_not_found(
    id: &DialogueId,
    number: impl Display + Into<Value>,
    calls: usize,
) -> ValidationError {
    let message = format!("'{id}' has no call {number}; it has {}", count_noun(calls, "call"));
    ValidationError::new(ErrorCode::TargetNotFound, message)
        .with_value(number)
        .with_suggestion(format!("`plenary show {id} --prompts` lists its calls"))
}

pub fn round_not_found(record: &DialogueRecord, round: u8) -> ValidationError {
    let id = record.dialogue.id();
    let last = record.rounds.iter().map(|held| held.round).max();
    let message = match last {
        Some(last) => format!("'{id}' has no round {round}; its last round is {last}"),
        None => format!("'{id}' has no round yet"),
    };
    ValidationError::new(ErrorCode::InvalidRound, message)
        .with_field("round")
        .with_value(round)
        .with_suggestion(format!("to see all rounds: `plenary show {id} --full`"))
}

/// Loads the record of the dialogue in the arguments.
pub fn read_record(project: &Project, arguments: &Value) -> Result<DialogueRecord, Error> {
    let ShowRequest { dialogue_id } = read_strict_resolved(project.store.as_ref(), arguments)?;
    load_record(project, &dialogue_id)
}

fn load_record(project: &Project, id: &DialogueId) -> Result<DialogueRecord, Error> {
    project.store.load_record(id)?.ok_or_else(|| dialogue_not_found(id.as_str()).into())
}

/// The file that the request names. For a remote caller its ending must fit the format: a program
/// that acts on files of another kind must not find one of ours.
fn named_file(
    project: &Project,
    path: &str,
    format: Format,
    permission: WritePermission,
) -> Result<AllowedFile, ValidationError> {
    let endings = file_endings(format);
    let file = project.folders.check_file("output_path", path, permission)?;
    let ending = file.path().extension().unwrap_or_default();
    let fits = endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
    if permission == WritePermission::Remote && !fits {
        let message =
            format!("output_path is not allowed: the name does not fit the format {format}");
        let names = endings.iter().map(|ending| format!("`.{ending}`")).collect::<Vec<_>>();
        let hint = format!("end the name in {}", names.join(" or "));
        let fault = ValidationError::new(ErrorCode::PathNotAllowed, message);
        return Err(fault.with_field("output_path").with_value(path).with_suggestion(hint));
    }
    Ok(file)
}

fn file_endings(format: Format) -> &'static [&'static str] {
    match format {
        Format::Json => &["json"],
        Format::Markdown => &["md", "markdown"],
        Format::Html => &["html"],
    }
}

fn default_file(
    project: &Project,
    record: &DialogueRecord,
    format: Format,
    permission: WritePermission,
) -> Result<AllowedFile, ValidationError> {
    let name = match format {
        Format::Json => "dialogue.json",
        Format::Markdown => "dialogue.md",
        Format::Html => "dialogue.html",
    };
    project.folders.check_own_file(&record.dialogue.opening.output_dir, name, permission)
}

fn render_record(
    project: &Project,
    record: &DialogueRecord,
    format: Format,
    contents: ExportContents,
) -> Result<String, Error> {
    let protocol = project.protocols.find_protocol(record.dialogue.opening.protocol)?;
    let id = record.dialogue.id();
    // A long dialogue that an agent leads has megabytes of entries, and they repeat the record.
    let needs_journal = format != Format::Json
        || contents == ExportContents::RecordAndCalls
        || project.store.has_run_or_lines(id)?;
    let journal = if needs_journal { project.store.load_entries(id, 0)? } else { Vec::new() };
    let calls = (contents == ExportContents::RecordAndCalls).then(|| journal_calls(&journal));
    match format {
        Format::Markdown | Format::Html => {
            let state = RunState::from_entries(&journal);
            let shown = ShownRun { record, journal: &journal, state: state.as_ref() };
            let mut page = protocol.page(&shown, PageScope::new(PageDetail::Export));
            if format == Format::Html {
                page.sections.extend(source_sections(project, record, &journal)?);
            }
            page.sections.extend(calls.as_deref().map(calls_section));
            Ok(if format == Format::Html { render_html(&page) } else { render_markdown(&page) })
        }
        Format::Json => {
            let section = protocol.export_section(&journal).map_err(Error::Document)?;
            let record = dialogue_document(record);
            let run = section.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
            to_json_text(&ExportDocument { record, run, calls })
        }
    }
}

/// Graph and provenance, which only a file shows.
fn source_sections(
    project: &Project,
    record: &DialogueRecord,
    journal: &[JournalEntry],
) -> Result<Vec<PageSection>, Error> {
    let calls = journal_calls(journal);
    let places = project.store.load_entry_places(record.dialogue.id(), 0)?;
    let hashes: BTreeMap<u64, String> =
        places.into_iter().map(|place| (place.seq, place.hash)).collect();
    let input = ProvenanceInput { record, calls: &calls, journal, hashes: &hashes };
    Ok([graph_section(record), provenance_section(&input)].into_iter().flatten().collect())
}

/// The record and the section of its run.
#[derive(Debug, Serialize)]
struct ExportDocument<'a> {
    #[serde(flatten)]
    record: DialogueDocument<'a>,
    #[serde(flatten)]
    run: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<Vec<CallDocument>>,
}

/// Several times the longest possible dialogue. A larger file is not ours.
const BYTES_MAX: u64 = 1 << 28;

/// A title has at most some hundred characters, and a table follows it.
const HEAD_BYTES: u64 = 16 * 1024;

/// The last line of an export holds a hash.
const TAIL_BYTES: u64 = 256;

/// Whether a file is an export, as JSON, Markdown or HTML, of this or an older version.
pub(crate) fn is_export(file: &File) -> bool {
    match read_first_byte(file) {
        Some(b'{') => read_shape::<ExportShape>(file).is_some_and(|shape| shape.is_export()),
        Some(b'#') => read_ends(file).is_some_and(|(head, tail)| is_markdown_export(&head, &tail)),
        Some(b'<') => read_ends(file).is_some_and(|(head, tail)| is_html_export(&head, &tail)),
        Some(_) | None => false,
    }
}

/// Whether a file is a `prompt-EXPERT.md` of ours.
pub(crate) fn is_expert_prompt(file: &File) -> bool {
    read_ends(file).is_some_and(|(head, _)| is_prompt(&head))
}

/// Whether a file is a `context-EXPERT.json` of ours.
pub(crate) fn is_expert_context(file: &File) -> bool {
    read_shape::<ContextShape>(file).is_some()
}

/// Reads the whole file first: a parser that asks for one byte after another takes three times as
/// long, and a context has megabytes.
fn read_shape<T: DeserializeOwned>(file: &File) -> Option<T> {
    let mut bytes = Vec::new();
    limited_reader(file).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Whether all lines of a file are in the log of this store, byte for byte: replacing it loses
/// none. An export without verdicts is an empty file.
pub fn is_log_export(project: &Project, file: &File) -> bool {
    is_all_stored(project.store.as_ref(), limited_reader(file)).unwrap_or(false)
}

fn limited_reader(file: &File) -> impl BufRead {
    BufReader::new(file.take(BYTES_MAX))
}

/// Reads the first byte and rewinds the file.
fn read_first_byte(mut file: &File) -> Option<u8> {
    let mut first = [0];
    let read = file.read(&mut first).ok()?;
    file.seek(SeekFrom::Start(0)).ok()?;
    first.get(..read)?.first().copied()
}

/// The first and last bytes as text; a character that is cut is replaced.
fn read_ends(mut file: &File) -> Option<(String, String)> {
    let bytes = file.metadata().ok()?.len();
    let mut part = |start: u64, most: u64| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start)).ok()?;
        file.take(most).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    Some((part(0, HEAD_BYTES)?, part(bytes.saturating_sub(TAIL_BYTES), TAIL_BYTES)?))
}
