//! `export`: a record as a file, or as text.

use serde::Serialize;
use serde_json::Value;

use super::arguments::{read, read_strictly};
use super::recognise;
use super::workspace::Workspace;
use crate::domain::dialogue::Protocol;
use crate::domain::ids::DialogueId;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::words::words;
use crate::error::{Error, document_text};
use crate::export::{self as documents, Ran};
use crate::files::{AllowedFile, WritePermission};
use crate::record::{Warning, no_dialogue, read_dialogue_id};

words! {
    /// What a record is exported as.
    pub enum Format {
        Json = "json",
        Markdown = "markdown",
    }
}

/// The seed's answer to an export.
#[derive(Debug, Serialize)]
pub struct Exported {
    pub status: &'static str,
    pub path: String,
    pub stats: ExportStats,
    pub warnings: Vec<Warning>,
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

#[derive(Debug)]
struct Request {
    id: DialogueId,
    format: Format,
    output_path: Option<String>,
}

/// The request, and what was passed over in it.
fn read_request(arguments: &Value) -> Result<(Request, Vec<Warning>), Error> {
    read(arguments, &["dialogue_id", "output_path", "format"], |fields, notes| {
        let output_path = fields.text("output_path", usize::MAX, notes);
        let format = fields.word("format", notes);
        let format = format.unwrap_or_else(|| format_of(output_path.as_deref()));
        Some(Request { id: read_dialogue_id(fields, notes)?, format, output_path })
    })
}

/// A file that is called Markdown is written as Markdown.
fn format_of(path: Option<&str>) -> Format {
    let is_markdown = |path: &str| path.ends_with(".md") || path.ends_with(".markdown");
    if path.is_some_and(is_markdown) { Format::Markdown } else { Format::Json }
}

/// Writes the file; without `output_path` into the dialogue's own folder. A file that exists is
/// replaced if it is an export, or if the operator forces it.
pub fn export(
    workspace: &Workspace,
    arguments: &Value,
    permission: WritePermission,
) -> Result<Exported, Error> {
    let (request, mut warnings) = read_request(arguments)?;
    let record = load(workspace, &request.id)?;
    let file = match &request.output_path {
        Some(path) => named_file(workspace, path, request.format, permission)?,
        None => default_file(workspace, &record, request.format, permission)?,
    };
    // Before the document is made, which takes a while for a long record.
    file.check(&recognise::is_export)?;
    let mut text = text(workspace, &record, request.format)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    file.write(text.as_bytes(), &recognise::is_export)?;
    warnings.extend(documents::warnings(&record));
    Ok(Exported {
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

/// A document on its way to standard output.
#[derive(Debug)]
pub struct Printed {
    pub format: Format,
    pub text: String,
    pub warnings: Vec<Warning>,
}

/// The document itself, without a file.
pub fn printed(workspace: &Workspace, arguments: &Value) -> Result<Printed, Error> {
    let (Request { id, format, .. }, warnings) = read_request(arguments)?;
    Ok(Printed { format, text: text(workspace, &load(workspace, &id)?, format)?, warnings })
}

/// The document of a record that was read already, as JSON.
pub fn json(workspace: &Workspace, record: &Record) -> Result<String, Error> {
    text(workspace, record, Format::Json)
}

/// The whole record of the dialogue that the arguments name, to be drawn.
pub fn record(workspace: &Workspace, arguments: &Value) -> Result<Record, Error> {
    load(workspace, &read_strictly(arguments, &["dialogue_id"], read_dialogue_id)?)
}

fn load(workspace: &Workspace, id: &DialogueId) -> Result<Record, Error> {
    workspace.store.record(id)?.ok_or_else(|| no_dialogue(id.as_str()).into())
}

/// The file that the request names. A remote caller names it as what it is: a program that acts
/// on files of some other kind must not find one of ours.
fn named_file(
    workspace: &Workspace,
    path: &str,
    format: Format,
    permission: WritePermission,
) -> Result<AllowedFile, Fault> {
    let endings: &[&str] = match format {
        Format::Json => &["json"],
        Format::Markdown => &["md", "markdown"],
    };
    let file = workspace.folders.file("output_path", path, permission)?;
    let ending = file.path().extension().unwrap_or_default();
    let fits = endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
    if permission == WritePermission::Remote && !fits {
        let message =
            format!("output_path is not allowed: the name does not fit the format {format}");
        let names = endings.iter().map(|ending| format!("`.{ending}`")).collect::<Vec<_>>();
        let hint = format!("end the name in {}", names.join(" or "));
        let fault = Fault::new(Code::PathNotAllowed, message);
        return Err(fault.field("output_path").value(path).suggest(hint));
    }
    Ok(file)
}

fn default_file(
    workspace: &Workspace,
    record: &Record,
    format: Format,
    permission: WritePermission,
) -> Result<AllowedFile, Fault> {
    let name = match format {
        Format::Json => "dialogue.json",
        Format::Markdown => "dialogue.md",
    };
    workspace.folders.own_file(&record.dialogue.opening.output_dir, name, permission)
}

fn text(workspace: &Workspace, record: &Record, format: Format) -> Result<String, Error> {
    match (format, ran(workspace, record)?) {
        (Format::Markdown, ran) => Ok(documents::markdown(record, ran.as_ref())),
        (Format::Json, None) => document_text(&documents::document(record)),
        (Format::Json, Some(ran)) => {
            document_text(&Whole { record: documents::document(record), ran })
        }
    }
}

/// The record, and what the run that filled it came to.
#[derive(Debug, Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    record: documents::Document<'a>,
    #[serde(flatten)]
    ran: Ran,
}

/// What a council or a review came to; nothing, for a dialogue that somebody leads.
fn ran(workspace: &Workspace, record: &Record) -> Result<Option<Ran>, Error> {
    match record.dialogue.opening.protocol {
        Protocol::Alignment => Ok(None),
        protocol @ (Protocol::Council | Protocol::Review) => {
            Ok(Ran::of(protocol, &workspace.store.entries(record.dialogue.id(), 0)?))
        }
    }
}
