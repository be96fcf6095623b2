//! `ask --batch`: many questions, some at once, each a council of its own.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plenary_core::model::dialogue::ProtocolKind as ProtocolName;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::plan::{ContextPack, Plan};
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::protocols::council::document::{CouncilDocument, council_document};
use plenary_core::protocols::council::page::{result_labels, result_sentence};
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::protocol::Protocol;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::run_metrics::cost_usd;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::planning::estimate::expected_cost;
use plenary_engine::app::planning::panel_setup::PanelSetup;
use plenary_engine::app::planning::review_panel::secret_guard;
use plenary_engine::app::prepare_run::prepare_council;
use plenary_engine::app::run_engine::RunEngine;
use plenary_engine::app::spending::UsualReplies;
use plenary_engine::app::start_run::{RunStart, start_run};
use plenary_engine::clock::RealSystem;
use plenary_engine::config::settings::Settings;
use plenary_engine::context_files::gather::{gather_files, require_named_files};
use plenary_engine::engine::batch_admission::{AdmissionResult, BatchAdmission, CouncilEnd};
use plenary_engine::engine::budget::Budget;
use plenary_engine::engine::call_budget::BatchShare;
use plenary_engine::engine::run::NoopObserver;
use plenary_engine::error::{Error, to_json_text};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cli::council::batch_file::BatchQuestion;
use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency};
use crate::cli::runs::count_bar::CountBar;
use crate::cli::runs::output::run_exit;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Limits of the whole batch; those of the settings apply to each question.
#[derive(Debug)]
pub(crate) struct BatchLimits {
    pub jobs: usize,
    pub budget: Option<Arc<Budget>>,
    pub deadline: Option<Duration>,
}

/// Budget shared by the batch.
pub(crate) fn shared_budget(usd: f64) -> Arc<Budget> {
    Arc::new(Budget::for_batch((usd * 1e6).round() as u64))
}

/// A question with its files, ready to be asked.
struct QueuedQuestion {
    index: usize,
    id: Option<Value>,
    question: String,
    mode: QuestionMode,
    context: Arc<ContextPack>,
}

/// Runs the councils and prints each as it ends. The exit code is the greatest of all.
pub(crate) fn run_batch(
    session: &CliSession<'_>,
    settings: &Settings,
    panel: PanelSetup,
    mode: QuestionMode,
    questions: Vec<BatchQuestion>,
    limits: BatchLimits,
) -> Result<ExitStatus, Error> {
    let items = read_files(settings, mode, questions)?;
    let runtime = CliRuntime::open(session.open_or_create(&settings.paths)?, Concurrency::Many)?;
    let protocol = session.loader.protocols.find_protocol(ProtocolName::Council)?;
    runtime.block_on(|engine, interrupted| {
        let queue = QuestionQueue {
            waiting: items.into(),
            admission: limits.budget.clone().map(BatchAdmission::new),
            panel: Arc::new(panel),
            protocol,
            interrupted,
            deadline: limits.deadline.map(|time| Instant::now() + time),
        };
        run_councils(session, engine, queue, limits)
    })
}

/// Reads files once for all questions that name them. An unreadable file ends the batch before a
/// model is called.
fn read_files(
    settings: &Settings,
    mode: QuestionMode,
    questions: Vec<BatchQuestion>,
) -> Result<Vec<QueuedQuestion>, Error> {
    let guard = secret_guard(settings);
    let mut packs: BTreeMap<Vec<PathBuf>, Arc<ContextPack>> = BTreeMap::new();
    let mut items = Vec::new();
    for (index, asked) in questions.into_iter().enumerate() {
        let BatchQuestion { id, question, mode: own_mode, context } = asked;
        let pack = match packs.get(&context) {
            Some(pack) => Arc::clone(pack),
            None => {
                let base = &settings.paths.working;
                let pack = gather_files(base, &context, &guard)?;
                require_named_files(base, &context, &pack)?;
                Arc::new(pack)
            }
        };
        packs.insert(context, Arc::clone(&pack));
        let mode = own_mode.unwrap_or(mode);
        items.push(QueuedQuestion { index, id, question, mode, context: pack });
    }
    Ok(items)
}

async fn run_councils(
    session: &CliSession<'_>,
    engine: Arc<RunEngine>,
    mut queue: QuestionQueue,
    limits: BatchLimits,
) -> Result<ExitStatus, Error> {
    let mut report = BatchReport::new(session, queue.waiting.len());
    let mut councils = JoinSet::new();
    let jobs = limits.jobs.min(queue.panel.connections.busy_runs_max());
    loop {
        while councils.len() < jobs {
            let Some((item, planned)) = queue.next_question() else { break };
            let (index, id) = (item.index, item.id);
            match planned {
                Ok(plan) => {
                    let budget = limits.budget.clone();
                    let share = budget.map(|budget| BatchShare { budget, council: index });
                    let ran = queue.run_council(Arc::clone(&engine), item.question, plan, share);
                    councils.spawn(async move { (index, id, ran.await) });
                }
                Err(unasked) => report.add_unasked(index, id.as_ref(), &unasked)?,
            }
        }
        let Some(ended) = councils.join_next().await else { break };
        let (index, id, ran) = ended.map_err(|error| Error::Runtime(error.into()))?;
        queue.end_council(index, ran.as_ref().ok().map(|(stop, _)| stop));
        match ran {
            Ok((stop, state)) => {
                report.add_council(index, id, &state, stop == RunStopReason::Interrupted)?;
                report.raise_exit(run_exit(queue.protocol, &stop, &state));
            }
            // A failed council does not stop the others.
            Err(error) => report.add_failure(index, id.as_ref(), &error)?,
        }
    }
    let is_interrupted = *queue.interrupted.borrow();
    Ok(report.finish(is_interrupted))
}

/// Prints each council as it ends, and counts for the last lines.
struct BatchReport<'a> {
    session: &'a CliSession<'a>,
    bar: CountBar,
    total: usize,
    unasked: usize,
    unaffordable: usize,
    interrupted: Vec<DialogueId>,
    worst: ExitStatus,
}

impl<'a> BatchReport<'a> {
    fn new(session: &'a CliSession<'a>, total: usize) -> Self {
        Self {
            session,
            bar: CountBar::new(session.ui, total, "councils"),
            total,
            unasked: 0,
            unaffordable: 0,
            interrupted: Vec::new(),
            worst: ExitStatus::Ok,
        }
    }

    fn raise_exit(&mut self, exit: ExitStatus) {
        self.worst = self.worst.max(exit);
    }

    fn add_unasked(
        &mut self,
        index: usize,
        id: Option<&Value>,
        unasked: &UnaskedQuestion,
    ) -> Result<(), Error> {
        self.unaffordable += usize::from(unasked.error_code == OUT_OF_BUDGET);
        self.unasked += 1;
        // A person gets one line for all questions that Ctrl-C left.
        if self.session.ui.json || unasked.exit != ExitStatus::Interrupted {
            let error = unasked.to_document();
            let session = self.session;
            self.bar.print_above(|| print_unasked(session, index, id, "incomplete", &error))?;
        }
        self.bar.add_finished(None);
        self.raise_exit(unasked.exit);
        Ok(())
    }

    fn add_council(
        &mut self,
        index: usize,
        id: Option<Value>,
        state: &RunState,
        is_interrupted: bool,
    ) -> Result<(), Error> {
        if is_interrupted {
            self.interrupted.push(state.opening.dialogue_id.clone());
        }
        if self.session.ui.json || !is_interrupted {
            let session = self.session;
            self.bar.print_above(|| print_council(session, index, id, state))?;
        }
        self.bar.add_finished(cost_usd(state));
        Ok(())
    }

    fn add_failure(
        &mut self,
        index: usize,
        id: Option<&Value>,
        error: &Error,
    ) -> Result<(), Error> {
        let exit = ExitStatus::from_error_kind(error.kind());
        let status = if exit == ExitStatus::Incomplete { "incomplete" } else { "failed" };
        let (session, document) = (self.session, error.to_document());
        self.bar.print_above(|| print_unasked(session, index, id, status, &document))?;
        self.bar.add_finished(None);
        self.raise_exit(exit);
        Ok(())
    }

    /// Prints the last lines, and returns the greatest exit status.
    fn finish(self, is_interrupted: bool) -> ExitStatus {
        let Self { session, total, .. } = self;
        self.bar.clear();
        if self.unaffordable > 0 {
            print_unaffordable(session, self.unaffordable);
        }
        if is_interrupted {
            let unasked = self.unasked;
            let done = total - unasked - self.interrupted.len();
            let summary = format!("Interrupted: {done} of {total} done, {unasked} not asked");
            session.ui.print_interrupted(&summary, &self.interrupted);
        } else {
            session.ui.print_note(&count_noun(total, "question"));
        }
        self.worst
    }
}

fn print_unaffordable(session: &CliSession<'_>, unaffordable: usize) {
    let questions = count_noun(unaffordable, "question");
    session.ui.print_note(&format!(
        "not asked: {questions}, because the budget does not cover them; ask them again with a \
         higher `--budget-usd`"
    ));
}

/// Questions that are not asked yet, in order.
struct QuestionQueue {
    waiting: VecDeque<QueuedQuestion>,
    /// With a shared budget: which councils it covers.
    admission: Option<BatchAdmission>,
    panel: Arc<PanelSetup>,
    protocol: &'static dyn Protocol,
    interrupted: watch::Receiver<bool>,
    deadline: Option<Instant>,
}

/// Why a question is not asked.
struct UnaskedQuestion {
    error_code: &'static str,
    message: String,
    exit: ExitStatus,
}

const OUT_OF_BUDGET: &str = "budget_exhausted";

impl UnaskedQuestion {
    fn to_document(&self) -> Value {
        let suggestion = "write the questions that were not asked into a file, and run \
                          `plenary ask --batch FILE` with a higher budget or a later deadline";
        json!({ "error_code": self.error_code, "message": self.message, "suggestion": suggestion })
    }
}

impl QuestionQueue {
    /// Takes the first question with its plan, or with the reason if it is not asked. Returns none
    /// if a council must end before it can be asked.
    fn next_question(&mut self) -> Option<(QueuedQuestion, Result<Plan, UnaskedQuestion>)> {
        let item = self.waiting.front()?;
        let plan = self.panel.build_plan(item.mode, Arc::clone(&item.context), &RealSystem);
        let planned = if *self.interrupted.borrow() {
            let message = "not asked: the batch was interrupted".to_owned();
            let (error_code, exit) = ("interrupted", ExitStatus::Interrupted);
            Err(UnaskedQuestion { error_code, message, exit })
        } else if self.deadline.is_some_and(|at| Instant::now() >= at) {
            let message = "not asked: the deadline of the batch passed".to_owned();
            let (error_code, exit) = ("deadline_exceeded", ExitStatus::Incomplete);
            Err(UnaskedQuestion { error_code, message, exit })
        } else if let Some(admission) = &mut self.admission {
            let usual = UsualReplies::default();
            let cost = expected_cost(self.protocol, &plan, &item.question, &usual);
            match admission.admit_council(item.index, cost) {
                AdmissionResult::Now => Ok(plan),
                AdmissionResult::Later => return None,
                AdmissionResult::Never { left_usd_micros, needed_usd_micros } => {
                    let [left, needed] =
                        [left_usd_micros, needed_usd_micros].map(|micros| micros as f64 / 1e6);
                    let message = format!(
                        "not asked: ${left:.4} of the batch's `--budget-usd` is left, and this \
                         council needs about ${needed:.4}"
                    );
                    let exit = ExitStatus::Incomplete;
                    Err(UnaskedQuestion { error_code: OUT_OF_BUDGET, message, exit })
                }
            }
        } else {
            Ok(plan)
        };
        self.waiting.pop_front().map(|item| (item, planned))
    }

    /// Runs one council until it stops.
    fn run_council(
        &self,
        engine: Arc<RunEngine>,
        question: String,
        plan: Plan,
        share: Option<BatchShare>,
    ) -> impl Future<Output = Result<(RunStopReason, RunState), Error>> + use<> {
        let prepared = prepare_council(self.protocol, &self.panel, question, plan);
        let (interrupted, deadline) = (self.interrupted.clone(), self.deadline);
        async move {
            let context = engine.run_context(Arc::new(NoopObserver), share);
            let mut started = start_run(context, RunStart::New(Box::new(prepared))).await?;
            if let Some(at) = deadline {
                started.wall = started.wall.min(at.saturating_duration_since(Instant::now()));
            }
            engine.finish_run(started, interrupted).await
        }
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

fn print_council(
    session: &CliSession<'_>,
    index: usize,
    id: Option<Value>,
    state: &RunState,
) -> Result<(), Error> {
    let result = council_document(state);
    if session.ui.json {
        let line = BatchLine { index, id, result };
        return session.ui.stream_data(&to_json_text(&line)?, DataFormat::Json);
    }
    let labels = result_labels(&result);
    let text = safe_line(&result_sentence(&result));
    session.ui.stream_page(&format!("{}. {} {labels}{text}", index + 1, result.dialogue_id))
}

#[derive(Debug, serde::Serialize)]
struct BatchLine {
    index: usize,
    id: Option<Value>,
    #[serde(flatten)]
    result: CouncilDocument,
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
