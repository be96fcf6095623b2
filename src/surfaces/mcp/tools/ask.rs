//! `council_ask`

use std::time::Duration;

use schemars::JsonSchema;

use super::deliberation::{DELIBERATION, dollars, wait};
use super::tool::{Run, Tool, Work};
use crate::ambient::Machine;
use crate::config::{Overrides, parse_duration};
use crate::convening::{AskOptions, PanelSetup, RehearsalChoice, secret_guard};
use crate::domain::council::words::Mode;
use crate::domain::dialogue::Protocol;
use crate::domain::limits::LINE_CHARS_MAX;
use crate::domain::plan::{Auditing, Delivery, Stakes};
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::files::SourcePath;
use crate::hosting::{PreparedRun, RunServer, check_question, council_settings, prepare_council};
use crate::material;
use crate::operations::read_strictly;
use crate::record::{Fields, Notes};
use crate::surfaces::mcp::schema;

pub(super) const TOOL: Tool = Tool {
    name: "council_ask",
    about: "Put a question before a council of models: each answers alone, each reviews the \
        others, a chair reports, and the conclusion is audited by one who saw nothing else. Takes \
        minutes and costs money: returns at once with an id to poll with deliberation_status, \
        unless you wait. Cancelling the call ends the run, resumable.",
    arguments: schema::arguments::<Arguments>,
    answer: DELIBERATION,
    work: Work::Run(Run::Ask),
};

#[expect(dead_code, reason = "describes what `AskArguments` reads")]
#[derive(JsonSchema)]
struct Arguments {
    question: String,
    /// [general]
    #[schemars(schema_with = "schema::word::<Mode>", default)]
    mode: Option<Mode>,
    /// Files and folders that belong to the question.
    context: Option<Vec<String>>,
    /// false: end with the chair's report.
    conclusion: Option<bool>,
    /// false: conclude without an auditor.
    audit: Option<bool>,
    budget_usd: Option<f64>,
    /// Such as 10m.
    deadline: Option<String>,
    /// Let a built-in panel play; asks nobody.
    rehearse: Option<bool>,
    /// [0] Many clients give up after 60.
    wait_seconds: Option<u32>,
}

const FIELDS: [&str; 9] = [
    "question",
    "mode",
    "context",
    "conclusion",
    "audit",
    "budget_usd",
    "deadline",
    "rehearse",
    "wait_seconds",
];

/// Arguments of `council_ask`.
#[derive(Debug)]
pub(in crate::surfaces::mcp) struct AskArguments {
    question: String,
    mode: Mode,
    context: Vec<String>,
    conclusion: Option<Auditing>,
    overrides: Overrides,
    rehearsal: RehearsalChoice,
    pub wait: Duration,
}

impl AskArguments {
    pub(in crate::surfaces::mcp) fn read(arguments: &serde_json::Value) -> Result<Self, Error> {
        read_strictly(arguments, &FIELDS, |fields, notes| {
            let question = question(fields, notes);
            let is_wanted =
                |name, notes: &mut Notes| !fields.has(name) || fields.boolean(name, notes);
            let conclusion = match (is_wanted("conclusion", notes), is_wanted("audit", notes)) {
                (false, _) => None,
                (true, true) => Some(Auditing::Audited),
                (true, false) => Some(Auditing::Unaudited),
            };
            Some(Self {
                mode: fields.word("mode", notes).unwrap_or(Mode::General),
                context: fields.texts("context", LINE_CHARS_MAX, notes).unwrap_or_default(),
                conclusion,
                overrides: Overrides {
                    budget_usd: dollars(fields, notes),
                    deadline_ms: time(fields, "deadline", notes),
                },
                rehearsal: rehearsal(fields, notes),
                wait: wait(fields, notes),
                question: question?,
            })
        })
    }

    /// Prepares the run.
    pub(in crate::surfaces::mcp) fn prepare(
        self,
        run_server: &RunServer,
    ) -> Result<PreparedRun, Error> {
        let Self { question, mode, context, conclusion, overrides, rehearsal, .. } = self;
        let operator = council_settings(&run_server.loader, &rehearsal, &Overrides::default())?;
        let settings = run_server.limit_caller(operator, &overrides)?;
        let options = AskOptions {
            providers: Vec::new(),
            chair: None,
            stakes: Stakes::Normal,
            delivery: Delivery::Synthesis,
            conclusion,
            rehearsal,
        };
        let panel = PanelSetup::new(&settings, &options, &run_server.factory)?;
        let folders = &run_server.create_project()?.folders;
        let paths: Result<Vec<SourcePath>, Fault> =
            context.iter().map(|path| folders.source("context", path)).collect();
        let guard = secret_guard(&settings);
        let pack = material::gather_sources(&settings.located.working, &paths?, &guard)?;
        let plan = panel.plan(mode, pack.into(), &Machine);
        let protocol = run_server.loader.protocols.find(Protocol::Council)?;
        Ok(prepare_council(protocol, &panel, question, plan))
    }
}

/// [`check_question`] reports an empty or too long question; a value of another type is reported
/// once only.
fn question(fields: &Fields<'_>, notes: &mut Notes) -> Option<String> {
    let text = match fields.has("question") {
        true => fields.text("question", usize::MAX, notes)?,
        false => String::new(),
    };
    check_question(&text).map_err(|fault| notes.fault(fault)).ok()
}

pub(super) fn rehearsal(fields: &Fields<'_>, notes: &mut Notes) -> RehearsalChoice {
    if fields.boolean("rehearse", notes) {
        RehearsalChoice::Requested
    } else {
        RehearsalChoice::WhenNoProvider
    }
}

/// A duration such as `10m`, or milliseconds.
fn time(fields: &Fields<'_>, name: &str, notes: &mut Notes) -> Option<u64> {
    let given = fields.get(name)?;
    let millis = given.as_u64().or_else(|| given.as_str().and_then(parse_duration));
    if millis.is_none() {
        let fault =
            Fault::new(Code::InvalidType, format!("field '{name}' must be a length of time"));
        notes.fault(
            fault.field(name).value(given.clone()).suggest("for example \"10m\" or \"90s\""),
        );
    }
    millis
}
