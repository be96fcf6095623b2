//! `council_review`

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use super::ask::rehearsal;
use super::deliberation::{DELIBERATION, wait};
use super::tool::{Run, Tool, Work};
use crate::config::{Classifier, Overrides, is_artifact_type};
use crate::convening::{RehearsalChoice, ReviewPanel};
use crate::domain::gate::Tier;
use crate::domain::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::export::gate::{ReviewDocument, skipped};
use crate::hosting::{
    PreparedRun, ReviewInput, ReviewOverrides, RunServer, SkippedFile, prepare_review,
    review_settings,
};
use crate::operations::read_strictly;
use crate::record::{Fields, Notes};
use crate::surfaces::mcp::schema;

pub(super) const TOOL: Tool = Tool {
    name: "council_review",
    about: "Put a document before the artifact gate, by its path or as text with its type: four \
        deliberators judge it twice, an adjudicator merges them, a policy counts. The result is \
        SHIP, REVISE with a brief, HOLD, or INCOMPLETE. Takes minutes: poll like council_ask.",
    arguments: schema::arguments::<Arguments>,
    answer: DELIBERATION,
    work: Work::Run(Run::Review),
};

#[expect(dead_code, reason = "describes what `ReviewArguments` reads")]
#[derive(JsonSchema)]
struct Arguments {
    path: Option<String>,
    text: Option<String>,
    /// Of the document; with `path` the tier rules know it.
    r#type: Option<String>,
    /// 1 always, 2 never, 3 one in five [by the rules].
    tier: Option<u8>,
    /// Who made it.
    producer: Option<String>,
    rehearse: Option<bool>,
    wait_seconds: Option<u32>,
}

const FIELDS: [&str; 7] = ["path", "text", "type", "tier", "producer", "rehearse", "wait_seconds"];

/// Name of a text without a file.
const UNNAMED: &str = "text";

/// Arguments of `council_review`.
#[derive(Debug)]
pub(in crate::surfaces::mcp) struct ReviewArguments {
    document: Given,
    overrides: ReviewOverrides,
    rehearsal: RehearsalChoice,
    pub wait: Duration,
}

#[derive(Debug)]
enum Given {
    Path(String),
    Text(String),
}

/// Result of triage: a run, or a document that says why it was skipped.
#[derive(Debug)]
pub(in crate::surfaces::mcp) enum Sorting {
    Run { prepared: Box<PreparedRun>, log: PathBuf },
    Skipped(Box<ReviewDocument>),
}

impl ReviewArguments {
    pub(in crate::surfaces::mcp) fn read(arguments: &Value) -> Result<Self, Error> {
        read_strictly(arguments, &FIELDS, |fields, notes| {
            let document = given(fields, notes);
            let overrides = ReviewOverrides {
                tier: tier(fields, notes),
                artifact_type: artifact_type(fields, notes),
                producer: fields.text("producer", LINE_CHARS_MAX, notes),
                force: false,
            };
            if matches!(document, Some(Given::Text(_))) && !fields.has("type") {
                let fault = fields.missing("type");
                notes.fault(fault.suggest("say what kind of document the text is, such as email"));
            }
            let (rehearsal, wait) = (rehearsal(fields, notes), wait(fields, notes));
            Some(Self { document: document?, overrides, rehearsal, wait })
        })
    }

    pub(in crate::surfaces::mcp) fn sort(self, run_server: &RunServer) -> Result<Sorting, Error> {
        let Self { document, overrides, rehearsal, .. } = self;
        let asked = Overrides::default();
        let operator = review_settings(&run_server.loader, &rehearsal, &asked)?;
        let settings = run_server.limit_caller(operator, &asked)?;
        let project = run_server.create_project()?;
        let rules = Classifier::new(settings.tier_rules.as_deref());
        let input = match document {
            Given::Path(path) => {
                let path = project.folders.source("path", &path)?;
                ReviewInput::of_source(&path, &overrides, &settings, &rules)
            }
            Given::Text(text) => ReviewInput::of_text(UNNAMED, text, &overrides, &settings, &rules),
        };
        match input {
            ReviewInput::Artifact(artifact) => {
                let panel = ReviewPanel::new(&settings, &rehearsal, &run_server.factory)?;
                let prepared = Box::new(prepare_review(&project, &settings, &panel, *artifact)?);
                Ok(Sorting::Run { prepared, log: settings.review.log_path })
            }
            ReviewInput::Skipped(passed) => {
                let because = passed.sentence();
                let SkippedFile { path, artifact_type, tier, .. } = passed;
                Ok(Sorting::Skipped(Box::new(skipped(&path, &artifact_type, tier, &because))))
            }
            ReviewInput::HoldsSecret(held) => Err(held.fault().into()),
            ReviewInput::Unreadable { error, .. } => Err(error),
        }
    }
}

fn given(fields: &Fields<'_>, notes: &mut Notes) -> Option<Given> {
    let path = fields.text("path", LINE_CHARS_MAX, notes);
    let text = fields.text("text", TEXT_CHARS_MAX, notes);
    match (path, text) {
        // `-` means standard input on the command line; here that is the protocol's stream.
        (Some(path), None) if Path::new(&path) == Path::new("-") => {
            let fault = Fault::new(Code::PathNotAllowed, "path is not allowed: it is not a path");
            notes.fault(fault.field("path").value("-").suggest("give the document as `text`"));
            None
        }
        (Some(path), None) => Some(Given::Path(path)),
        (None, Some(text)) => Some(Given::Text(text)),
        (Some(_), Some(_)) => {
            let fault = Fault::new(Code::InvalidType, "there are both 'path' and 'text'");
            notes.fault(fault.field("text").suggest("give one of them"));
            None
        }
        (None, None) => {
            if !fields.has("path") && !fields.has("text") {
                notes.fault(
                    fields.missing("path").suggest("give a 'path', or 'text' and its 'type'"),
                );
            }
            None
        }
    }
}

fn tier(fields: &Fields<'_>, notes: &mut Notes) -> Option<Tier> {
    let number = fields.integer("tier", 1..=3, notes)?;
    u8::try_from(number).ok().and_then(|number| Tier::try_from(number).ok())
}

fn artifact_type(fields: &Fields<'_>, notes: &mut Notes) -> Option<String> {
    let name = fields.text("type", LINE_CHARS_MAX, notes)?;
    if is_artifact_type(&name) {
        return Some(name);
    }
    let message = "a type is 1 to 64 letters, digits, `_`, `-` or `.`";
    notes.fault(Fault::new(Code::InvalidType, message).field("type").value(name));
    None
}
