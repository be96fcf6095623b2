//! `ask --batch`: many questions, some at once, each a council of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::super::session::{Done, Session};
use super::ask::done;
use super::hall::{Crowd, Hall};
use super::material;
use crate::config::{ConfigError, Settings};
use crate::convening::Table;
use crate::domain::council::words::Mode;
use crate::domain::plan::{Caps, ContextPack};
use crate::domain::refusal::{Code, Fault, Refusal};
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::{self, Purse, Question, Silent};
use crate::error::{Error, document_text};
use crate::export::council::document;
use crate::export::safe_text;
use crate::material as files;
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
    let text = material::file(file)?;
    let (mut asked, mut faults) = (Vec::new(), Vec::new());
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match read_line(line, mode, context) {
            Ok(one) => asked.push(one),
            Err(reason) => {
                let message = format!("line {}: {reason}", place + 1);
                faults.push(Fault::new(Code::InvalidJson, message));
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
    let value = operations::parse(line).map_err(|error| error.to_string())?;
    let fields = if let Value::String(question) = value {
        Fields { id: None, question, mode: None, context: Vec::new() }
    } else {
        serde_json::from_value(value).map_err(|error| error.to_string())?
    };
    let question = material::check(&fields.question).map_err(|error| error.to_string())?;
    let own = !fields.context.is_empty();
    Ok(Asked {
        id: fields.id,
        question,
        mode: fields.mode.unwrap_or(mode),
        context: if own { fields.context } else { context.to_vec() },
    })
}

/// What all of a batch may spend together.
pub(super) fn purse(usd: f64) -> Result<Arc<Purse>, Error> {
    if !usd.is_finite() || usd < 0.0 {
        let flag = "--budget-usd";
        return Err(ConfigError::Flag { flag, expected: "an amount of dollars" }.into());
    }
    let usd_micros = (usd * 1e6).round() as u64;
    Ok(Arc::new(Purse::new(Caps {
        usd_micros,
        tokens: u64::MAX,
        calls: u32::MAX,
        wall_ms: u64::MAX,
    })))
}

/// Runs the councils and prints each as it ends. The exit code is the greatest of all.
pub(super) fn run(
    session: &Session<'_>,
    settings: &Settings,
    table: Table,
    asked: Vec<Asked>,
    limits: Limits,
) -> Result<Done, Error> {
    // A file that cannot be read ends the batch before anybody was asked.
    let asked = asked
        .into_iter()
        .map(|one| Ok((files::gather(&settings.located.working, &one.context)?, one)))
        .collect::<Result<Vec<_>, Error>>()?;
    let hall = Arc::new(Hall::open(session.open(&settings.located)?, Crowd::Many)?);
    let total = asked.len();
    let ended = hall.block_on(all(session, Arc::clone(&hall), Arc::new(table), asked, limits));
    if let Some(hall) = Arc::into_inner(hall) {
        hall.close();
    }
    let worst = ended?;
    session.ui.say(&format!("{total} questions"));
    Ok(worst)
}

async fn all(
    session: &Session<'_>,
    hall: Arc<Hall>,
    table: Arc<Table>,
    asked: Vec<(ContextPack, Asked)>,
    limits: Limits,
) -> Result<Done, Error> {
    let Limits { jobs, purse, deadline } = limits;
    let seats = Arc::new(Semaphore::new(jobs));
    let deadline = deadline.map(|time| Instant::now() + time);
    let mut councils = JoinSet::new();
    for (index, (context, one)) in asked.into_iter().enumerate() {
        let (hall, table, purse) = (Arc::clone(&hall), Arc::clone(&table), purse.clone());
        let seats = Arc::clone(&seats);
        councils.spawn(async move {
            // The semaphore is never closed.
            let _seat = seats.acquire().await;
            let id = one.id.clone();
            let is_late =
                *hall.interrupted.borrow() || deadline.is_some_and(|at| Instant::now() >= at);
            let ran = match is_late {
                true => Ok(None),
                false => council(&hall, &table, context, one, purse, deadline).await.map(Some),
            };
            (index, id, ran)
        });
    }
    let mut worst = Done::Well;
    while let Some(ended) = councils.join_next().await {
        let (index, id, ran) = ended.map_err(|error| Error::Runtime(error.into()))?;
        let how = match ran? {
            Some((stop, transcript)) => {
                print(session, index, id, &transcript)?;
                done(&stop)
            }
            None if *hall.interrupted.borrow() => Done::Interrupted,
            None => {
                print_unasked(session, index, id.as_ref())?;
                Done::Incomplete
            }
        };
        worst = worst.max(how);
    }
    Ok(worst)
}

async fn council(
    hall: &Hall,
    table: &Table,
    context: ContextPack,
    asked: Asked,
    purse: Option<Arc<Purse>>,
    deadline: Option<Instant>,
) -> Result<(Stop, Transcript), Error> {
    let plan = table.plan(asked.mode, context, hall.workspace.ambient.as_ref());
    let question = Question { text: asked.question, rehearsal: table.is_rehearsal, plan };
    let surroundings = hall.surroundings(Arc::new(Silent), purse);
    let folders = &hall.workspace.folders;
    let connections = table.connections.clone();
    let run = engine::open(question, connections, &hall.owner, folders, surroundings).await?;
    let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
    let own = Duration::from_millis(table.caps.wall_ms);
    let wall = left.map_or(own, |left| left.min(own));
    hall.see_through(run, wall).await
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
        return session.ui.print(&document_text(&line)?);
    }
    let said = match (&told.report, &told.error) {
        (Some(report), _) => {
            let conclusion = &report.report.conclusion;
            format!("{}: {}", conclusion.outcome, conclusion.statement)
        }
        (None, Some(error)) => format!("{}: {}", told.status, error.message),
        (None, None) => told.status.to_string(),
    };
    session.ui.print(&format!("{}. {} {}", index + 1, told.dialogue_id, safe_text::line(&said)))
}

#[derive(Debug, serde::Serialize)]
struct Line {
    index: usize,
    id: Option<Value>,
    #[serde(flatten)]
    told: crate::export::council::Deliberated,
}

/// The deadline came before its turn.
fn print_unasked(session: &Session<'_>, index: usize, id: Option<&Value>) -> Result<(), Error> {
    let message = "the deadline came before this question was asked";
    if !session.ui.json {
        return session.ui.print(&format!("{}. {message}", index + 1));
    }
    let suggestion = "ask it again, with more time";
    let error = json!({
        "error_code": "deadline_exceeded", "message": message, "suggestion": suggestion,
    });
    session.ui.print(
        &json!({ "index": index, "id": id, "status": "incomplete", "error": error }).to_string(),
    )
}
