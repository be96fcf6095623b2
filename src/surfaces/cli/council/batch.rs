//! `ask --batch`: many questions, some at once, each a council of its own.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::super::runs::hall::{Crowd, Floor, Hall};
use super::super::runs::presenting::done;
use super::super::session::{Done, Session};
use super::super::terminal_text::DataForm;
use crate::config::Settings;
use crate::convening::{Table, expected_cost, secret_guard};
use crate::domain::council::words::Mode;
use crate::domain::plan::ContextPack;
use crate::domain::refusal::{Code, Fault, Refusal};
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::{
    self, Admitted, BatchAdmission, BatchShare, CouncilEnd, Purse, Question, Silent,
};
use crate::error::{Error, document_text};
use crate::export::conclusion::state_word;
use crate::export::council::{Deliberated, document};
use crate::export::{safe_text, wording};
use crate::files;
use crate::hosting::check_question;
use crate::material;
use crate::operations;

/// One question of a batch.
#[derive(Debug)]
pub(super) struct Asked {
    id: Option<Value>,
    question: String,
    mode: Mode,
    context: Vec<PathBuf>,
}

/// What holds for all of a batch together; the settings' limits hold for each question.
#[derive(Debug)]
pub(super) struct Limits {
    pub jobs: usize,
    pub purse: Option<Arc<Purse>>,
    pub deadline: Option<Duration>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    id: Option<Value>,
    question: String,
    mode: Option<Mode>,
    #[serde(default)]
    context: Vec<PathBuf>,
}

/// Reads all of it before anybody is asked; every line that is wrong is named.
pub(super) fn read(file: &Path, mode: Mode, context: &[PathBuf]) -> Result<Vec<Asked>, Error> {
    let text = files::read_text(file)?;
    let (mut asked, mut faults) = (Vec::new(), Vec::new());
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match read_line(line, mode, context) {
            Ok(one) => asked.push(one),
            Err(reason) => {
                let message = format!("line {}: {reason}", place + 1);
                let shape =
                    "each line is a question as a JSON string, or {id?, question, mode?, context?}";
                faults.push(Fault::new(Code::InvalidJson, message).suggest(shape));
            }
        }
    }
    if !faults.is_empty() {
        return Err(Refusal::new(faults).into());
    }
    if asked.is_empty() {
        let fault = Fault::new(Code::MissingField, "the batch holds no question");
        return Err(fault.suggest("write one question per line, as JSON").into());
    }
    Ok(asked)
}

fn read_line(line: &str, mode: Mode, context: &[PathBuf]) -> Result<Asked, String> {
    let value = operations::parse(line).map_err(|_| "not JSON".to_owned())?;
    let fields = if let Value::String(question) = value {
        Fields { id: None, question, mode: None, context: Vec::new() }
    } else {
        serde_json::from_value(value).map_err(|error| error.to_string())?
    };
    let question = check_question(&fields.question).map_err(|fault| fault.message)?;
    let own = !fields.context.is_empty();
    Ok(Asked {
        id: fields.id,
        question,
        mode: fields.mode.unwrap_or(mode),
        context: if own { fields.context } else { context.to_vec() },
    })
}

/// What all of a batch may spend together.
pub(super) fn purse(usd: f64) -> Arc<Purse> {
    Arc::new(Purse::of_batch((usd * 1e6).round() as u64))
}

/// Runs the councils and prints each as it ends. The exit code is the greatest of all.
pub(super) fn run(
    session: &Session<'_>,
    settings: &Settings,
    table: Table,
    asked: Vec<Asked>,
    limits: Limits,
) -> Result<Done, Error> {
    let asked = with_files(settings, asked)?;
    let total = asked.len();
    let hall = Hall::open(session.open(&settings.located)?, Crowd::Many)?;
    let worst = hall.run(|floor| all(session, floor, Arc::new(table), asked, limits))?;
    session.ui.say(&wording::count(total, "question"));
    Ok(worst)
}

/// Files are read once for all questions that name the same; one that cannot be read ends the
/// batch before anybody was asked.
fn with_files(
    settings: &Settings,
    asked: Vec<Asked>,
) -> Result<Vec<(Arc<ContextPack>, Asked)>, Error> {
    let guard = secret_guard(settings);
    let mut read: BTreeMap<Vec<PathBuf>, Arc<ContextPack>> = BTreeMap::new();
    let mut all = Vec::new();
    for one in asked {
        let pack = match read.get(&one.context) {
            Some(pack) => Arc::clone(pack),
            None => Arc::new(material::gather(&settings.located.working, &one.context, &guard)?),
        };
        read.insert(one.context.clone(), Arc::clone(&pack));
        all.push((pack, one));
    }
    Ok(all)
}

async fn all(
    session: &Session<'_>,
    floor: Arc<Floor>,
    table: Arc<Table>,
    asked: Vec<(Arc<ContextPack>, Asked)>,
    limits: Limits,
) -> Result<Done, Error> {
    let Limits { jobs, purse, deadline } = limits;
    let deadline = deadline.map(|time| Instant::now() + time);
    let mut queue = Queue {
        waiting: asked.into_iter().enumerate().collect(),
        admission: purse.clone().map(BatchAdmission::new),
        table: Arc::clone(&table),
        floor: Arc::clone(&floor),
        deadline,
    };
    let mut councils = JoinSet::new();
    let (mut worst, mut not_started) = (Done::Well, 0);
    loop {
        while councils.len() < jobs {
            match queue.next() {
                Some(Next::Begin(index, context, one)) => {
                    let (floor, table) = (Arc::clone(&floor), Arc::clone(&table));
                    let share = purse.clone().map(|purse| BatchShare { purse, council: index });
                    councils.spawn(async move {
                        let id = one.id.clone();
                        (index, id, council(&floor, &table, context, one, share, deadline).await)
                    });
                }
                Some(Next::Unasked(index, one, reason)) => {
                    not_started += usize::from(matches!(reason, NotAsked::Unaffordable { .. }));
                    let (error, how) = unasked(reason);
                    print_unasked(session, index, one.id.as_ref(), "incomplete", &error)?;
                    worst = worst.max(how);
                }
                None => break,
            }
        }
        let Some(ended) = councils.join_next().await else { break };
        let (index, id, ran) = ended.map_err(|error| Error::Runtime(error.into()))?;
        queue.end(index, ran.as_ref().ok().map(|(stop, _)| stop));
        let how = match ran {
            Ok((stop, transcript)) => {
                print(session, index, id, &transcript)?;
                done(&stop, &transcript)
            }
            // One that broke does not take the others with it.
            Err(error) => {
                let how = Done::of(error.kind());
                let status = if how == Done::Incomplete { "incomplete" } else { "failed" };
                print_unasked(session, index, id.as_ref(), status, &error.document())?;
                how
            }
        };
        worst = worst.max(how);
    }
    if not_started > 0 {
        let questions = wording::count(not_started, "question");
        let hint = "ask them again with a higher `--budget-usd`";
        session.ui.say(&format!(
            "not started, because the budget does not cover them: {questions}; {hint}"
        ));
    }
    Ok(worst)
}

/// The questions that are not asked yet, in their order.
struct Queue {
    waiting: VecDeque<(usize, (Arc<ContextPack>, Asked))>,
    /// Where there is a budget for all, which of them it covers.
    admission: Option<BatchAdmission>,
    table: Arc<Table>,
    floor: Arc<Floor>,
    deadline: Option<Instant>,
}

/// What becomes of the first question of the queue.
enum Next {
    Begin(usize, Arc<ContextPack>, Asked),
    Unasked(usize, Asked, NotAsked),
}

/// Why a question is not asked.
#[derive(Clone, Copy)]
enum NotAsked {
    Interrupted,
    Late,
    Unaffordable { left_usd_micros: u64, needed_usd_micros: u64 },
}

impl Queue {
    /// The first question, unless a council must end before it can be asked.
    fn next(&mut self) -> Option<Next> {
        let (index, (context, one)) = self.waiting.front()?;
        let is_late = self.deadline.is_some_and(|at| Instant::now() >= at);
        let reason = match &mut self.admission {
            _ if self.floor.is_interrupted() => Some(NotAsked::Interrupted),
            _ if is_late => Some(NotAsked::Late),
            None => None,
            Some(admission) => {
                let ambient = self.floor.desk.workspace.ambient.as_ref();
                let plan = self.table.plan(one.mode, Arc::clone(context), ambient);
                match admission.admit(*index, expected_cost(&plan, &one.question)) {
                    Admitted::Now => None,
                    Admitted::Later => return None,
                    Admitted::Never { left_usd_micros, needed_usd_micros } => {
                        Some(NotAsked::Unaffordable { left_usd_micros, needed_usd_micros })
                    }
                }
            }
        };
        let (index, (context, one)) = self.waiting.pop_front()?;
        Some(match reason {
            None => Next::Begin(index, context, one),
            Some(reason) => Next::Unasked(index, one, reason),
        })
    }

    /// A council has ended; one that broke has no stop.
    fn end(&mut self, index: usize, stop: Option<&Stop>) {
        let how = match stop {
            Some(Stop::Done) => CouncilEnd::Done,
            Some(Stop::Budget { .. }) => CouncilEnd::OutOfMoney,
            Some(_) | None => CouncilEnd::Otherwise,
        };
        if let Some(admission) = &mut self.admission {
            admission.end(index, how);
        }
    }
}

async fn council(
    floor: &Floor,
    table: &Table,
    context: Arc<ContextPack>,
    asked: Asked,
    share: Option<BatchShare>,
    deadline: Option<Instant>,
) -> Result<(Stop, Transcript), Error> {
    let plan = table.plan(asked.mode, context, floor.desk.workspace.ambient.as_ref());
    let question = Question { text: asked.question, rehearsal: table.is_rehearsal, plan };
    let surroundings = floor.desk.surroundings(Arc::new(Silent), share);
    let folders = &floor.desk.workspace.folders;
    let connections = table.connections.clone();
    let run = engine::open(question, connections, &floor.desk.owner, folders, surroundings).await?;
    let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
    let own = Duration::from_millis(table.caps().wall_ms);
    floor.see_through(run, left.map_or(own, |left| left.min(own))).await
}

fn print(
    session: &Session<'_>,
    index: usize,
    id: Option<Value>,
    transcript: &Transcript,
) -> Result<(), Error> {
    let told = document(transcript);
    if session.ui.json {
        let line = Line { index, id, told };
        return session.ui.stream_data(&document_text(&line)?, DataForm::Json);
    }
    let labels = labels(&told);
    let said = safe_text::line(&said(&told));
    session.ui.stream(&format!("{}. {} {labels}{said}", index + 1, told.dialogue_id))
}

/// What came of it, in a sentence: the conclusion, why there is none, or the report.
fn said(told: &Deliberated) -> String {
    let ended = &told.ended;
    let ending = ended.conclusion.as_ref().map(|given| &given.recommendation);
    if let Some(said) = ending.or(ended.explanation.as_ref()) {
        return said.clone();
    }
    match (&told.error, &told.report) {
        (Some(error), None) => format!("{}: {}", told.status, error.message),
        // The report of a run that stopped in its ending is no conclusion.
        (Some(error), Some(_)) if ended.stage.is_some() => {
            format!("{}: {}", told.status, error.message)
        }
        (_, Some(report)) => {
            let conclusion = &report.report.conclusion;
            format!("{}: {}", conclusion.outcome, conclusion.statement)
        }
        (None, None) => told.status.to_string(),
    }
}

/// What no headline may leave out.
fn labels(told: &Deliberated) -> String {
    let labels = [
        (told.ended.is_over(), state_word(told.ended.terminal_state)),
        (told.rehearsal, "REHEARSAL"),
        (told.flags.degraded, "DEGRADED"),
        (told.flags.truncated, "TRUNCATED"),
        (told.flags.false_consensus, "FALSE CONSENSUS"),
    ];
    let due = labels.iter().filter(|(is_due, _)| *is_due);
    due.map(|(_, label)| format!("[{label}] ")).collect()
}

#[derive(Debug, serde::Serialize)]
struct Line {
    index: usize,
    id: Option<Value>,
    #[serde(flatten)]
    told: Deliberated,
}

/// Why its turn did not come.
fn unasked(reason: NotAsked) -> (Value, Done) {
    let dollars = |usd_micros: u64| format!("${:.4}", usd_micros as f64 / 1e6);
    let (error_code, message, how) = match reason {
        NotAsked::Interrupted => {
            let message = "it was interrupted before this question was asked".to_owned();
            ("interrupted", message, Done::Interrupted)
        }
        NotAsked::Late => {
            let message = "the deadline came before this question was asked".to_owned();
            ("deadline_exceeded", message, Done::Incomplete)
        }
        NotAsked::Unaffordable { left_usd_micros, needed_usd_micros } => {
            let message = format!(
                "not started: the batch's budget (`--budget-usd`) has {} left, and this council \
                 needs about {}",
                dollars(left_usd_micros),
                dollars(needed_usd_micros)
            );
            ("budget_exhausted", message, Done::Incomplete)
        }
    };
    let suggestion = "put the questions that were not asked into a file, and run \
                      `plenary ask --batch FILE` with a greater budget or a later deadline";
    (json!({ "error_code": error_code, "message": message, "suggestion": suggestion }), how)
}

/// A question without a result.
fn print_unasked(
    session: &Session<'_>,
    index: usize,
    id: Option<&Value>,
    status: &str,
    error: &Value,
) -> Result<(), Error> {
    if session.ui.json {
        let line = json!({ "index": index, "id": id, "status": status, "error": error });
        return session.ui.stream_data(&line.to_string(), DataForm::Json);
    }
    let message = error.get("message").and_then(Value::as_str).unwrap_or(status);
    session.ui.stream(&format!("{}. {status}: {}", index + 1, safe_text::line(message)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::conclusion::sample;

    #[test]
    fn a_line_of_a_batch_says_how_it_ended() {
        let line = |transcript: &Transcript| {
            let told = document(transcript);
            labels(&told) + &said(&told)
        };
        let cases = [
            (sample::clean(), "[CLEAN] Put a read-through cache before the catalogue,"),
            (sample::unaudited(), "[UNAUDITED] Put a read-through cache"),
            (sample::unconverged(), "[UNCONVERGED] No conclusion came out"),
            (sample::cut_short(), "[CLEAN] [DEGRADED] Put a"),
            (sample::unheard(), "incomplete: the conclusion could not be audited: bob"),
        ];
        for (transcript, start) in cases {
            let line = line(&transcript);
            assert!(line.starts_with(start), "{line}");
        }
    }
}
