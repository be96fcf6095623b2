//! `export`: a record as a file, or as text.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::arguments::dialogue_id;
use super::workspace::Workspace;
use crate::domain::ids::DialogueId;
use crate::domain::record::Record;
use crate::domain::refusal::Refusal;
use crate::domain::words::words;
use crate::error::Error;
use crate::record::{Fields, Warning, no_dialogue};
use crate::store::StoreError;
use crate::{export as documents, files};

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

fn read(arguments: &Value) -> Result<Request, Error> {
    let fields = Fields::of_arguments(arguments)?;
    let id = dialogue_id(&fields)?;
    let mut faults = Vec::new();
    let format = fields.word("format", &mut faults).unwrap_or(Format::Json);
    let output_path = fields.text("output_path", usize::MAX, &mut faults);
    if faults.is_empty() {
        Ok(Request { id, format, output_path })
    } else {
        Err(Refusal::new(faults).into())
    }
}

/// Writes the file; without `output_path` into the dialogue's own folder.
pub fn export(workspace: &Workspace, arguments: &Value) -> Result<Exported, Error> {
    let request = read(arguments)?;
    let record = load(workspace, &request.id)?;
    let path = match &request.output_path {
        Some(path) => workspace.folders.file("output_path", path)?,
        None => default_path(workspace, &record, request.format)?,
    };
    files::replace(&path, text(&record, request.format)?.as_bytes())?;
    Ok(Exported {
        status: "success",
        path: path.display().to_string(),
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
        warnings: documents::warnings(&record),
    })
}

/// The document itself, for standard output.
pub fn exported_text(workspace: &Workspace, arguments: &Value) -> Result<String, Error> {
    let request = read(arguments)?;
    text(&load(workspace, &request.id)?, request.format)
}

/// The whole record of the dialogue that the arguments name, to be drawn.
pub fn record(workspace: &Workspace, arguments: &Value) -> Result<Record, Error> {
    load(workspace, &dialogue_id(&Fields::of_arguments(arguments)?)?)
}

fn load(workspace: &Workspace, id: &DialogueId) -> Result<Record, Error> {
    workspace.store.record(id)?.ok_or_else(|| no_dialogue(id.as_str()).into())
}

fn default_path(workspace: &Workspace, record: &Record, format: Format) -> Result<PathBuf, Error> {
    let name = match format {
        Format::Json => "dialogue.json",
        Format::Markdown => "dialogue.md",
    };
    Ok(workspace.folders.own_file(&record.dialogue.opening.output_dir, name)?)
}

fn text(record: &Record, format: Format) -> Result<String, Error> {
    match format {
        Format::Json => {
            Ok(serde_json::to_string(&documents::document(record))
                .map_err(StoreError::Unwritable)?)
        }
        Format::Markdown => Ok(documents::markdown(record)),
    }
}
