//! `deliberation_status`

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use super::deliberation::{DELIBERATION, dollars, wait};
use super::tool::{Run, Tool, Work};
use crate::config::Overrides;
use crate::domain::ids::DialogueId;
use crate::domain::refusal::{Code, Fault};
use crate::engine::load_run;
use crate::error::Error;
use crate::hosting::{ResumePlan, RunServer};
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
    /// With resume: what it may spend in all [as before].
    budget_usd: Option<f64>,
}

const FIELDS: [&str; 4] = ["dialogue_id", "wait_seconds", "resume", "budget_usd"];

/// Arguments of `deliberation_status`.
#[derive(Debug)]
pub(in crate::surfaces::mcp) struct StatusArguments {
    pub id: DialogueId,
    pub wait: Duration,
    /// Overrides for the resumed run; `None` to only report.
    pub resume: Option<Overrides>,
}

impl StatusArguments {
    pub(in crate::surfaces::mcp) fn read(arguments: &Value) -> Result<Self, Error> {
        read_strictly(arguments, &FIELDS, |fields, notes| {
            let (wait, is_to_go_on) = (wait(fields, notes), fields.boolean("resume", notes));
            let budget_usd = dollars(fields, notes);
            if budget_usd.is_some() && !is_to_go_on {
                let message = "a budget is given to a run that is to go on";
                let fault = Fault::new(Code::NotSupported, message).field("budget_usd");
                notes.fault(fault.suggest("send resume: true with it"));
            }
            let resume = is_to_go_on.then_some(Overrides { budget_usd, deadline_ms: None });
            Some(Self { id: read_dialogue_id(fields, notes)?, wait, resume })
        })
    }
}

/// Prepares to resume a run; for a review also returns the path of the verdict log.
pub(in crate::surfaces::mcp) fn resume_plan(
    run_server: &RunServer,
    id: &DialogueId,
    overrides: &Overrides,
) -> Result<(ResumePlan, Option<PathBuf>), Error> {
    let loaded = load_run(run_server.open_project()?.store.as_ref(), id)?;
    let opening = &loaded.transcript.opening;
    let operator = run_server.loader.load_run_settings(opening, &Overrides::default())?;
    let settings = run_server.limit_caller(operator, overrides)?;
    let log = loaded.transcript.plan.gate.is_some().then(|| settings.review.log_path.clone());
    Ok((ResumePlan::for_caller(loaded, &settings, overrides, &run_server.factory), log))
}
