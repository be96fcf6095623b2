//! `ask --batch`: many questions, some at once, each a council of its own.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plenary_core::model::dialogue::ProtocolKind as ProtocolName;
use plenary_core::model::plan::ContextPack;
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};
use plenary_core::protocols::council::document::{CouncilDocument, council_document};
use plenary_core::protocols::council::page::{result_labels, result_sentence};
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::protocol::Protocol;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::dialogues::parse_arguments;
use plenary_engine::app::planning::estimate::expected_cost;
use plenary_engine::app::planning::panel_setup::PanelSetup;
use plenary_engine::app::planning::review_panel::secret_guard;
use plenary_engine::app::prepare_run::{check_question, prepare_council};
use plenary_engine::app::run_engine::RunEngine;
use plenary_engine::app::start_run::{RunStart, start_run};
use plenary_engine::config::settings::Settings;
use plenary_engine::engine::batch_admission::{AdmissionResult, BatchAdmission, CouncilEnd};
use plenary_engine::engine::budget::Budget;
use plenary_engine::engine::call_budget::BatchShare;
use plenary_engine::engine::run::NoopObserver;
use plenary_engine::error::{Error, to_json_text};
use plenary_engine::files::read_write::read_request_text;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency};
use crate::cli::runs::output::run_exit;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// A question of a batch.
#[derive(Debug)]
pub(crate) struct BatchQuestion {
    id: Option<Value>,
    question: String,
    mode: QuestionMode,
    context: Vec<PathBuf>,
}

/// Limits of the whole batch; those of the settings apply to each question.
#[derive(Debug)]
pub(crate) struct BatchLimits {
    pub jobs: usize,
    pub budget: Option<Arc<Budget>>,
    pub deadline: Option<Duration>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchFields {
    id: Option<Value>,
    question: String,
    mode: Option<QuestionMode>,
    #[serde(default)]
    context: Vec<PathBuf>,
}

/// Reads the whole file before a model is called; every malformed line is reported.
pub(crate) fn read_questions(
    file: &Path,
    mode: QuestionMode,
    context: &[PathBuf],
) -> Result<Vec<BatchQuestion>, Error> {
    let text = read_request_text(file)?;
    let (mut asked, mut faults) = (Vec::new(), Vec::new());
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match read_line(line, mode, context) {
            Ok(one) => asked.push(one),
            Err(reason) => {
                let message = format!("line {}: {reason}", place + 1);
                let shape =
                    "each line is a question as a JSON string, or {id?, question, mode?, context?}";
                faults.push(
                    ValidationError::new(ErrorCode::InvalidJson, message).with_suggestion(shape),
                );
            }
        }
    }
    if !faults.is_empty() {
        return Err(ValidationErrors::new(faults).into());
    }
    if asked.is_empty() {
        let fault = ValidationError::new(ErrorCode::MissingField, "the batch holds no question");
        return Err(fault.with_suggestion("write one question per line, as JSON").into());
    }
    Ok(asked)
}

fn read_line(line: &str, mode: QuestionMode, context: &[PathBuf]) -> Result<BatchQuestion, String> {
    let value = parse_arguments(line).map_err(|_| "not JSON".to_owned())?;
    let fields = if let Value::String(question) = value {
        BatchFields { id: None, question, mode: None, context: Vec::new() }
    } else {
        serde_json::from_value(value).map_err(|error| error.to_string())?
    };
    let question = check_question(&fields.question).map_err(|fault| fault.message)?;
    let own = !fields.context.is_empty();
    Ok(BatchQuestion {
        id: fields.id,
        question,
        mode: fields.mode.unwrap_or(mode),
        context: if own { fields.context } else { context.to_vec() },
    })
}

/// Budget shared by the batch.
pub(crate) fn shared_budget(usd: f64) -> Arc<Budget> {
    Arc::new(Budget::for_batch((usd * 1e6).round() as u64))
}

/// Runs the councils and prints each as it ends. The exit code is the greatest of all.
pub(crate) fn run_batch(
    session: &CliSession<'_>,
    settings: &Settings,
    panel: PanelSetup,
    asked: Vec<BatchQuestion>,
    limits: BatchLimits,
) -> Result<ExitStatus, Error> {
    let asked = gather_files(settings, asked)?;
    let total = asked.len();
    let runtime = CliRuntime::open(session.open_or_create(&settings.paths)?, Concurrency::Many)?;
    let worst = runtime.block_on(|engine, interrupted| {
        run_councils(session, engine, interrupted, Arc::new(panel), asked, limits)
    })?;
    session.ui.print_note(&count_noun(total, "question"));
    Ok(worst)
}

/// Reads files once for all questions that name them. An unreadable file ends the batch before a
/// model is called.
fn gather_files(
    settings: &Settings,
    asked: Vec<BatchQuestion>,
) -> Result<Vec<(Arc<ContextPack>, BatchQuestion)>, Error> {
    let guard = secret_guard(settings);
    let mut read: BTreeMap<Vec<PathBuf>, Arc<ContextPack>> = BTreeMap::new();
    let mut all = Vec::new();
    for one in asked {
        let pack = match read.get(&one.context) {
            Some(pack) => Arc::clone(pack),
            None => Arc::new(plenary_engine::context_files::gather::gather_files(
                &settings.paths.working,
                &one.context,
                &guard,
            )?),
        };
        read.insert(one.context.clone(), Arc::clone(&pack));
        all.push((pack, one));
    }
    Ok(all)
}

async fn run_councils(
    session: &CliSession<'_>,
    engine: Arc<RunEngine>,
    interrupted: watch::Receiver<bool>,
    panel: Arc<PanelSetup>,
    asked: Vec<(Arc<ContextPack>, BatchQuestion)>,
    limits: BatchLimits,
) -> Result<ExitStatus, Error> {
    let BatchLimits { jobs, budget, deadline } = limits;
    let deadline = deadline.map(|time| Instant::now() + time);
    let mut queue = QuestionQueue {
        waiting: asked.into_iter().enumerate().collect(),
        admission: budget.clone().map(BatchAdmission::new),
        panel: Arc::clone(&panel),
        protocol: session.loader.protocols.find_protocol(ProtocolName::Council)?,
        engine: Arc::clone(&engine),
        interrupted: interrupted.clone(),
        deadline,
    };
    let mut councils = JoinSet::new();
    let (mut worst, mut not_started) = (ExitStatus::Ok, 0);
    loop {
        while councils.len() < jobs {
            match queue.next_question() {
                Some(NextQuestion::Begin(index, context, one)) => {
                    let (engine, panel) = (Arc::clone(&engine), Arc::clone(&panel));
                    let interrupted = interrupted.clone();
                    let share = budget.clone().map(|budget| BatchShare { budget, council: index });
                    councils.spawn(async move {
                        let id = one.id.clone();
                        let ran = run_council(
                            &engine,
                            interrupted,
                            &panel,
                            context,
                            one,
                            share,
                            deadline,
                        );
                        (index, id, ran.await)
                    });
                }
                Some(NextQuestion::Unasked(index, one, reason)) => {
                    not_started +=
                        usize::from(matches!(reason, NotAskedReason::Unaffordable { .. }));
                    let (error, how) = not_asked_error(reason);
                    print_unasked(session, index, one.id.as_ref(), "incomplete", &error)?;
                    worst = worst.max(how);
                }
                None => break,
            }
        }
        let Some(ended) = councils.join_next().await else { break };
        let (index, id, ran) = ended.map_err(|error| Error::Runtime(error.into()))?;
        queue.end_council(index, ran.as_ref().ok().map(|(stop, _)| stop));
        let how = match ran {
            Ok((stop, transcript)) => {
                print_council(session, index, id, &transcript)?;
                run_exit(&stop, &transcript)
            }
            // A failed council does not stop the others.
            Err(error) => {
                let how = ExitStatus::from_error_kind(error.kind());
                let status = if how == ExitStatus::Incomplete { "incomplete" } else { "failed" };
                print_unasked(session, index, id.as_ref(), status, &error.to_document())?;
                how
            }
        };
        worst = worst.max(how);
    }
    if not_started > 0 {
        let questions = count_noun(not_started, "question");
        session.ui.print_note(&format!(
            "not started, because the budget does not cover them: {questions}; ask them again with a higher `--budget-usd`"
        ));
    }
    Ok(worst)
}

/// Questions that are not asked yet, in order.
struct QuestionQueue {
    waiting: VecDeque<(usize, (Arc<ContextPack>, BatchQuestion))>,
    /// With a shared budget: which councils it covers.
    admission: Option<BatchAdmission>,
    panel: Arc<PanelSetup>,
    protocol: &'static dyn Protocol,
    engine: Arc<RunEngine>,
    interrupted: watch::Receiver<bool>,
    deadline: Option<Instant>,
}

/// What happens to the first question of the queue.
enum NextQuestion {
    Begin(usize, Arc<ContextPack>, BatchQuestion),
    Unasked(usize, BatchQuestion, NotAskedReason),
}

/// Why a question is not asked.
#[derive(Clone, Copy)]
enum NotAskedReason {
    Interrupted,
    Late,
    Unaffordable { left_usd_micros: u64, needed_usd_micros: u64 },
}

impl QuestionQueue {
    /// Takes the first question, unless a council must end before it can be asked.
    fn next_question(&mut self) -> Option<NextQuestion> {
        let (index, (context, one)) = self.waiting.front()?;
        let is_late = self.deadline.is_some_and(|at| Instant::now() >= at);
        let reason = match &mut self.admission {
            _ if *self.interrupted.borrow() => Some(NotAskedReason::Interrupted),
            _ if is_late => Some(NotAskedReason::Late),
            None => None,
            Some(admission) => {
                let ambient = self.engine.project.ambient.as_ref();
                let plan = self.panel.build_plan(one.mode, Arc::clone(context), ambient);
                match admission
                    .admit_council(*index, expected_cost(self.protocol, &plan, &one.question))
                {
                    AdmissionResult::Now => None,
                    AdmissionResult::Later => return None,
                    AdmissionResult::Never { left_usd_micros, needed_usd_micros } => {
                        Some(NotAskedReason::Unaffordable { left_usd_micros, needed_usd_micros })
                    }
                }
            }
        };
        let (index, (context, one)) = self.waiting.pop_front()?;
        Some(match reason {
            None => NextQuestion::Begin(index, context, one),
            Some(reason) => NextQuestion::Unasked(index, one, reason),
        })
    }

    /// Records that a council ended; a failed one has no stop.
    fn end_council(&mut self, index: usize, stop: Option<&RunStopReason>) {
        let how = match stop {
            Some(RunStopReason::Done) => CouncilEnd::Done,
            Some(RunStopReason::Budget { .. }) => CouncilEnd::OutOfMoney,
            Some(_) | None => CouncilEnd::Otherwise,
        };
        if let Some(admission) = &mut self.admission {
            admission.end_council(index, how);
        }
    }
}

async fn run_council(
    engine: &RunEngine,
    interrupted: watch::Receiver<bool>,
    panel: &PanelSetup,
    context: Arc<ContextPack>,
    asked: BatchQuestion,
    share: Option<BatchShare>,
    deadline: Option<Instant>,
) -> Result<(RunStopReason, RunState), Error> {
    let plan = panel.build_plan(asked.mode, context, engine.project.ambient.as_ref());
    let protocol = engine.project.protocols.find_protocol(ProtocolName::Council)?;
    let prepared = prepare_council(protocol, panel, asked.question, plan);
    let context = engine.run_context(Arc::new(NoopObserver), share);
    let mut started = start_run(context, RunStart::New(prepared)).await?;
    if let Some(at) = deadline {
        started.wall = started.wall.min(at.saturating_duration_since(Instant::now()));
    }
    engine.finish_run(started, interrupted).await
}

fn print_council(
    session: &CliSession<'_>,
    index: usize,
    id: Option<Value>,
    transcript: &RunState,
) -> Result<(), Error> {
    let told = council_document(transcript);
    if session.ui.json {
        let line = BatchLine { index, id, told };
        return session.ui.stream_data(&to_json_text(&line)?, DataFormat::Json);
    }
    let labels = result_labels(&told);
    let said = safe_line(&result_sentence(&told));
    session.ui.stream_page(&format!("{}. {} {labels}{said}", index + 1, told.dialogue_id))
}

#[derive(Debug, serde::Serialize)]
struct BatchLine {
    index: usize,
    id: Option<Value>,
    #[serde(flatten)]
    told: CouncilDocument,
}

/// Error document and exit status of a question that was not asked.
fn not_asked_error(reason: NotAskedReason) -> (Value, ExitStatus) {
    let dollars = |usd_micros: u64| format!("${:.4}", usd_micros as f64 / 1e6);
    let (error_code, message, how) = match reason {
        NotAskedReason::Interrupted => {
            let message = "it was interrupted before this question was asked".to_owned();
            ("interrupted", message, ExitStatus::Interrupted)
        }
        NotAskedReason::Late => {
            let message = "the deadline came before this question was asked".to_owned();
            ("deadline_exceeded", message, ExitStatus::Incomplete)
        }
        NotAskedReason::Unaffordable { left_usd_micros, needed_usd_micros } => {
            let message = format!(
                "not started: the batch's budget (`--budget-usd`) has {} left, and this council \
                 needs about {}",
                dollars(left_usd_micros),
                dollars(needed_usd_micros)
            );
            ("budget_exhausted", message, ExitStatus::Incomplete)
        }
    };
    let suggestion = "put the questions that were not asked into a file, and run \
                      `plenary ask --batch FILE` with a greater budget or a later deadline";
    (json!({ "error_code": error_code, "message": message, "suggestion": suggestion }), how)
}

/// A question without a result.
fn print_unasked(
    session: &CliSession<'_>,
    index: usize,
    id: Option<&Value>,
    status: &str,
    error: &Value,
) -> Result<(), Error> {
    if session.ui.json {
        let line = json!({ "index": index, "id": id, "status": status, "error": error });
        return session.ui.stream_data(&line.to_string(), DataFormat::Json);
    }
    let message = error.get("message").and_then(Value::as_str).unwrap_or(status);
    session.ui.stream_page(&format!("{}. {status}: {}", index + 1, safe_line(message)))
}
