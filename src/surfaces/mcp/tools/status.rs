//! `deliberation_status`

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use super::deliberation::{DELIBERATION, wait};
use super::tool::{Run, Tool, Work};
use crate::config::Overrides;
use crate::domain::ids::DialogueId;
use crate::engine::load;
use crate::error::Error;
use crate::hosting::{House, Resumption};
use crate::operations::read_strictly;
use crate::record::read_dialogue_id;
use crate::surfaces::mcp::schema;

pub(super) const TOOL: Tool = Tool {
    name: "deliberation_status",
    about: "Where a council or review stands: running, done, incomplete, failed or interrupted; \
        with its result once it has stopped. `resume` goes on with one that broke off: what was \
        answered is not asked again.",
    arguments: schema::arguments::<Arguments>,
    answer: DELIBERATION,
    work: Work::Run(Run::Status),
};

#[expect(dead_code, reason = "describes what `StatusArguments` reads")]
#[derive(JsonSchema)]
struct Arguments {
    dialogue_id: String,
    /// [0] Many clients give up after 60.
    wait_seconds: Option<u32>,
    resume: Option<bool>,
}

/// The arguments, read.
#[derive(Debug)]
pub(in crate::surfaces::mcp) struct StatusArguments {
    pub id: DialogueId,
    pub wait: Duration,
    pub resume: bool,
}

impl StatusArguments {
    pub(in crate::surfaces::mcp) fn read(arguments: &Value) -> Result<Self, Error> {
        read_strictly(arguments, &["dialogue_id", "wait_seconds", "resume"], |fields, notes| {
            let (wait, resume) = (wait(fields, notes), fields.boolean("resume", notes));
            Some(Self { id: read_dialogue_id(fields, notes)?, wait, resume })
        })
    }
}

/// What it takes to go on with a run; and where the verdict log lies, for a review.
pub(in crate::surfaces::mcp) fn resumption(
    house: &House,
    id: &DialogueId,
) -> Result<(Resumption, Option<PathBuf>), Error> {
    let loaded = load(house.for_existing()?.store.as_ref(), id)?;
    let overrides = Overrides::default();
    let settings = house.premises.settings_for(&loaded.transcript.opening, &overrides)?;
    let log = loaded.transcript.plan.gate.is_some().then(|| settings.review.log_path.clone());
    Ok((Resumption::prepare(loaded, &settings, &overrides, &house.outlets), log))
}
