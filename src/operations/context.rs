//! `context`: what the panel of a round may read, as JSON; with `render`, as prompts too.

use serde_json::Value;

use super::arguments::read;
use super::prompts;
use super::workspace::Workspace;
use crate::domain::dialogue::Dialogue;
use crate::domain::ids::DialogueId;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::shown::{Shown, Viewer, show};
use crate::error::Error;
use crate::files::WritePermission;
use crate::record::{Warning, context as rules, no_dialogue, read_dialogue_id};
use crate::store::StoreError;

/// The arguments of `context`, read.
#[derive(Debug)]
pub(super) struct Request {
    id: DialogueId,
    round: Option<i64>,
    render: bool,
    /// Fields that nobody knows.
    pub warnings: Vec<Warning>,
}

pub(super) fn read_request(arguments: &Value) -> Result<Request, Error> {
    let known = ["dialogue_id", "round", "render"];
    let (request, warnings) = read(arguments, &known, |fields, notes| {
        let round = fields.integer("round", 0..=i64::from(u16::MAX), notes);
        let (render, warnings) = (fields.boolean("render", notes), Vec::new());
        Some(Request { id: read_dialogue_id(fields, notes)?, round, render, warnings })
    })?;
    Ok(Request { warnings, ..request })
}

/// The document as compact JSON: it can be large, so it is written out once.
pub fn context(
    workspace: &Workspace,
    arguments: &Value,
    permission: WritePermission,
) -> Result<String, Error> {
    let request = read_request(arguments)?;
    if request.render {
        return Ok(prompts::write(workspace, &request, permission)?.answer);
    }
    let before = Before::of(workspace, &request)?;
    let mut context = rules::Context::new(before.round);
    let mut add = |record: &Record, shown: &Shown<'_>| context.add(record, shown);
    let record = before.show(workspace, &mut add)?;
    let document = context.finish(&record).map_err(StoreError::Unwritable)?;
    told(document, &request.warnings)
}

/// The document, with what is to be said of the request.
pub(super) fn told(document: rules::Document, warnings: &[Warning]) -> Result<String, Error> {
    if warnings.is_empty() {
        return Ok(document.whole());
    }
    Ok(document.with("warnings", &warnings).map_err(StoreError::Unwritable)?.whole())
}

/// A dialogue before one of its rounds.
#[derive(Debug)]
pub(super) struct Before {
    pub dialogue: Dialogue,
    pub round: u8,
}

impl Before {
    pub(super) fn of(workspace: &Workspace, request: &Request) -> Result<Self, Error> {
        let missing = || no_dialogue(request.id.as_str());
        let dialogue = workspace.store.dialogue(&request.id)?.ok_or_else(missing)?;
        let round = asked_round(&dialogue, request.round)?;
        Ok(Self { dialogue, round })
    }

    /// Shows what was said before the round, and returns the record as its panel found it.
    pub(super) fn show(
        &self,
        workspace: &Workspace,
        viewer: &mut Viewer<'_>,
    ) -> Result<Record, Error> {
        let (id, round) = (self.dialogue.id(), self.round);
        let missing = || no_dialogue(id.as_str());
        if self.is_next() {
            let record = workspace.store.show_before(id, round, viewer)?;
            return Ok(record.ok_or_else(missing)?);
        }
        // Nobody at that table knew what came later.
        let record = workspace.store.record(id)?.ok_or_else(missing)?.rewound(round);
        show(&record, viewer).map_err(StoreError::Unwritable)?;
        Ok(record)
    }

    /// Whether the round is still to come.
    pub(super) fn is_next(&self) -> bool {
        self.round == self.dialogue.next_round()
    }
}

/// The round asked for; the next one when none was.
fn asked_round(dialogue: &Dialogue, round: Option<i64>) -> Result<u8, Fault> {
    // After the last round there is still something to read, if nothing to prepare.
    let (first, next) = (dialogue.opening.protocol.first_round(), dialogue.next_round());
    let Some(round) = round else { return Ok(next) };
    let known = u8::try_from(round).ok().filter(|round| (first..=next).contains(round));
    known.ok_or_else(|| {
        let message = format!("round {round} has no context yet: the next round is {next}");
        Fault::new(Code::InvalidRound, message).field("round").value(round)
    })
}
