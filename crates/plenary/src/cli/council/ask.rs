//! `ask`: puts a question to a council.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use plenary_core::model::plan::{AuditMode, ContextPack, DeliveryMode, Plan, StakesLevel};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::protocol::Protocol;
use plenary_core::report::phrases::{format_bytes, group_digits};
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable as Grid;
use plenary_core::report::terminal::wrap::wrap_line;
use plenary_engine::app::follow_up::EarlierDialogue;
use plenary_engine::app::planning::estimate::{CostEstimate, estimate_cost};
use plenary_engine::app::planning::panel_setup::{AskOptions, PanelSetup};
use plenary_engine::app::planning::review_panel::secret_guard;
use plenary_engine::app::prepare_run::{council_settings, prepare_council};
use plenary_engine::app::spending::UsualReplies;
use plenary_engine::app::start_run::{PreparedRun, RunStart};
use plenary_engine::clock::{RealSystem, System};
use plenary_engine::config::settings::Settings;
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::context_files::gather::{gather_files, require_named_files};
use plenary_engine::context_files::selection::{WHOLE_BYTES_MAX, WHOLE_FILES_MAX};
use plenary_engine::error::Error;
use serde_json::json;

use crate::cli::council::batch::{BatchLimits, run_batch, shared_budget};
use crate::cli::council::batch_file::read_questions;
use crate::cli::council::piped_input::{InputWait, InputWish, read_piped_input};
use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::ProgressDisplay;
use crate::cli::runs::value_parsers::{
    LimitArgs, enum_parser, from_one_to, parse_question, parse_rehearsal,
};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::print_warning_text;

/// Enough to keep a provider busy, few enough to avoid rate limits.
const JOBS_DEFAULT: usize = 8;

/// Each council makes several calls at once.
const JOBS_MAX: usize = 1_000;

/// Put a question to a council of models
///
/// Each model answers alone, then reviews the others, and a chair reports. The Synthesizer writes
/// a conclusion of five fields. The Blind Critic, who sees only the question and those fields,
/// passes or rejects it; a rejected conclusion is revised once. It ends Clean, Revised or
/// Unconverged (docs/conclusions.md).
///
/// The panel comes from council.yaml. Without that file, Plenary finds providers by their keys
/// (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY), programs (claude,
/// codex, gemini) or an Ollama server. Without any provider an offline panel rehearses: it shows
/// every step and calls no model.
///
/// The conclusion goes to standard output, progress to standard error. A run that stops early
/// keeps every answer; `plenary resume ID` continues it.
///
/// $ plenary ask "Should we move the API to gRPC?"
///
/// $ plenary ask "Is this design sound?" --mode review --context docs src/api
///
/// $ git diff | plenary ask "Is this safe to merge?"
///
/// $ plenary ask "And if costs double?" --after latest
///
/// $ plenary ask --batch questions.jsonl --budget-usd 20 --json > answers.jsonl
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question; `-` reads it from standard input
    #[arg(required_unless_present_any = ["batch", "context", "rehearse"], conflicts_with = "batch")]
    question: Option<String>,
    /// The kind of question
    #[arg(long, default_value = "general", value_parser = enum_parser(QuestionMode::ALL, QuestionMode::name))]
    mode: QuestionMode,
    /// Send these files and folders with the question; `-` is standard input; repeatable
    #[arg(long, value_name = "PATH", num_args = 1..)]
    context: Vec<PathBuf>,
    /// Follow up an earlier dialogue: its conclusion and outcome go with the question
    #[arg(long, value_name = "ID", conflicts_with = "batch")]
    after: Option<String>,
    /// Use only these providers, in this order
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    providers: Vec<String>,
    /// Let this provider write the report
    #[arg(long, value_name = "NAME")]
    chair: Option<String>,
    /// Deliver the answer that the panel rates best, instead of a synthesis
    #[arg(long)]
    select: bool,
    /// How much a wrong answer costs; `low` allows the shortcut of `short_circuit`
    #[arg(long, value_name = "STAKES", default_value = "normal",
          value_parser = enum_parser(StakesLevel::ALL, StakesLevel::name))]
    stakes: StakesLevel,
    /// Write the conclusion without an audit; the result says so
    #[arg(long)]
    no_audit: bool,
    /// End with the chair's report, without a conclusion
    #[arg(long, conflicts_with = "no_audit")]
    no_conclusion: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print the plan and its highest possible cost; call no model
    // A batch has many plans; that it would be asked all the same must not be possible.
    #[arg(long, conflicts_with = "batch")]
    dry_run: bool,
    /// Run the offline panel, with the replies of a script if you name one
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    rehearse: Option<Option<PathBuf>>,
    /// Ask every line of a JSON Lines file: a string, or {id?, question, mode?, context?}
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// Run this many councils of a batch at once, but not more than its providers keep busy: eight
    /// for each call that they take at once (`max_in_flight`) [default: 8]
    #[arg(long, value_name = "N", value_parser = from_one_to(JOBS_MAX))]
    jobs: Option<usize>,
    /// The protocol of the run, by its name in the registry [default: council]
    #[arg(long, hide = true, value_name = "NAME", conflicts_with = "batch")]
    protocol: Option<String>,
}

/// Printed when `ask` or `align` rehearses without `--rehearse`.
pub(crate) const UNASKED_REHEARSAL: &str = "REHEARSAL: Plenary found no provider, so it asks no model and the result is not advice; set a key such as ANTHROPIC_API_KEY, or name providers in council.yaml (`plenary init`)";

impl AskArgs {
    pub(crate) fn run(mut self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        self.find_question();
        self.check_input()?;
        let options = self.ask_options()?;
        let overrides = BudgetOverrides {
            // The limit of a batch is a budget of its own.
            budget_usd: self.limits.budget_usd.filter(|_| self.batch.is_none()),
            ..self.limits.overrides()
        };
        let settings = match self.dry_run {
            // A dry run sends nothing.
            true => {
                let loader = session.loader.without_queries();
                council_settings(&loader, &options.rehearsal, &overrides)?
            }
            false => council_settings(&session.loader, &options.rehearsal, &overrides)?,
        };
        let panel = PanelSetup::new(&settings, &options, &transport_factory(session))?;
        if panel.is_rehearsal && !options.rehearsal.is_asked_for() {
            // `--quiet` does not hide it: a script could pass the result on as advice.
            print_warning_text(UNASKED_REHEARSAL);
        }
        if let Some(file) = &self.batch {
            let asked = read_questions(file, &self.context)?;
            let budget = self.limits.budget_usd.map(shared_budget);
            let limits = BatchLimits {
                jobs: self.jobs.unwrap_or(JOBS_DEFAULT),
                budget,
                deadline: self.limits.deadline.map(Duration::from_millis),
            };
            return run_batch(session, &settings, panel, self.mode, asked, limits);
        }
        if self.jobs.is_some() {
            let message = "`--jobs` needs `--batch FILE`: one question is one council";
            return Err(Error::Usage(message.to_owned()));
        }
        let typed = self.question.as_deref().ok_or_else(|| no_question("ask"))?;
        if is_file_name(typed) {
            session.ui.print_note(&format!(
                "`{}` looks like a file name, but it is the question; `--context FILE` sends a \
                 file, and `plenary ask - < FILE` reads the question from one",
                safe_line(typed)
            ));
        }
        let question = parse_question(typed)?;
        let earlier = match &self.after {
            Some(id) => Some(EarlierDialogue::load(&session.open_if_present()?, id)?),
            None => None,
        };
        let start = Instant::now();
        let context = self.gather_context(session, &settings, earlier.as_ref())?.into();
        let waited_ms = start.elapsed().as_secs() * 1_000;
        if self.mode == QuestionMode::Review && self.context.is_empty() {
            session.ui.print_note("`--mode review` without files: name them with `--context PATH`");
        }
        let protocol = session.loader.protocols.for_question(self.protocol.as_deref())?;
        let mut plan = panel.build_plan(self.mode, context, &RealSystem);
        // The wait for standard input counts; shorter ones are not worth an odd number.
        plan.caps.wall_ms = plan.caps.wall_ms.saturating_sub(waited_ms);
        if self.dry_run {
            let warnings = settings.list_warnings(RealSystem.now().utc_day());
            return dry_run(session, protocol, &plan, &question, &warnings);
        }
        let estimate = estimate_cost(protocol, &plan, &question, &load_usual_replies(session));
        if let Some(warning) = describe_shortage(&plan, &estimate) {
            session.ui.print_note(&warning);
        }
        let prepared = prepare_council(protocol, &panel, question, plan)
            .with_background(earlier.map(|earlier| earlier.to_background()));
        run_council(session, &settings, prepared)
    }

    /// Reports a faulty question before anything about the panel.
    fn check_input(&self) -> Result<(), Error> {
        match self.question.as_deref() {
            Some("-") if self.context.iter().any(|path| is_stdin(path)) => {
                let message = "standard input cannot be both the question and a `--context`; write \
                               the question, or name a file";
                Err(Error::Usage(message.to_owned()))
            }
            None | Some("-") => Ok(()),
            Some(typed) => parse_question(typed).map(drop),
        }
    }

    /// The files, what is piped in, and the earlier conclusion.
    fn gather_context(
        &self,
        session: &CliSession<'_>,
        settings: &Settings,
        earlier: Option<&EarlierDialogue>,
    ) -> Result<ContextPack, Error> {
        let guard = secret_guard(settings);
        let (input, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            self.context.iter().cloned().partition(|path| is_stdin(path));
        let mut pack = gather_files(&settings.paths.working, &paths, &guard)?;
        require_named_files(&settings.paths.working, &paths, &pack)?;
        if !pack.indexed.is_empty() && !self.dry_run {
            session.ui.print_note(&describe_indexed(pack.indexed.len()));
        }
        let wish = if input.is_empty() { InputWish::IfPiped } else { InputWish::Named };
        if self.question.as_deref() != Some("-") {
            let limit = Duration::from_millis(settings.budget.wall_ms);
            let waiting = InputWait { wish, limit };
            pack.files.extend(read_piped_input(session.ui, waiting, &guard)?);
        }
        pack.files.extend(earlier.map(|earlier| earlier.material.clone()));
        Ok(pack)
    }

    fn find_question(&mut self) {
        if self.question.is_none() && self.batch.is_none() {
            self.question = take_question(&mut self.rehearse, &mut self.context);
        }
    }

    fn ask_options(&self) -> Result<AskOptions, Error> {
        Ok(AskOptions {
            providers: self.providers.iter().map(|name| name.trim().to_owned()).collect(),
            chair: self.chair.clone(),
            stakes: self.stakes,
            delivery: if self.select { DeliveryMode::Selection } else { DeliveryMode::Synthesis },
            conclusion: match (self.no_conclusion, self.no_audit) {
                (true, _) => None,
                (false, true) => Some(AuditMode::Unaudited),
                (false, false) => Some(AuditMode::Audited),
            },
            rehearsal: parse_rehearsal(self.rehearse.as_ref())?,
        })
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Which files are sent without their text, and why.
fn describe_indexed(count: usize) -> String {
    let files = if count == 1 { "1 file is" } else { &format!("{count} files are") };
    let size = format_bytes(usize::try_from(WHOLE_BYTES_MAX).unwrap_or(usize::MAX));
    format!(
        "{files} sent by name only: at most {WHOLE_FILES_MAX} files and {size} in all are sent whole"
    )
}

/// In `ask --rehearse "…"` and `ask --context src "…"` the question is parsed as a path; a path that
/// does not exist and does not look like one is the question.
pub(crate) fn take_question(
    script: &mut Option<Option<PathBuf>>,
    context: &mut Vec<PathBuf>,
) -> Option<String> {
    let is_question = |path: &mut PathBuf| !path.exists() && !is_file_name(&path.to_string_lossy());
    let script = script.as_mut().and_then(|script| script.take_if(is_question));
    let path = script.or_else(|| context.pop_if(is_question));
    path.map(|path| path.to_string_lossy().into_owned())
}

/// `--context` takes every path up to the next option, so a question behind it is lost.
pub(crate) fn no_question(command: &str) -> ValidationError {
    let hint = format!(
        "write the question before the options: `plenary {command} \"QUESTION\" --context FILE`"
    );
    ValidationError::new(ErrorCode::MissingField, "there is no question")
        .with_field("question")
        .with_suggestion(hint)
}

/// Whether a text is one word with the ending of a file: `notes.md`, `src/main.rs`.
fn is_file_name(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_ending = (1..=4).contains(&ending.len())
        && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
        && ending.chars().any(|letter| letter.is_ascii_alphabetic());
    is_ending && !text.contains(char::is_whitespace)
}

fn run_council(
    session: &CliSession<'_>,
    settings: &Settings,
    prepared: PreparedRun,
) -> Result<ExitStatus, Error> {
    let runtime = CliRuntime::open(session.open_or_create(&settings.paths)?, Concurrency::One)?;
    let progress = Arc::new(ProgressDisplay::new(session));
    runtime.complete_run(session, &progress, RunStart::New(Box::new(prepared)), None)
}

pub(crate) fn dry_run(
    session: &CliSession<'_>,
    protocol: &dyn Protocol,
    plan: &Plan,
    question: &str,
    warnings: &[String],
) -> Result<ExitStatus, Error> {
    let estimate = estimate_cost(protocol, plan, question, &load_usual_replies(session));
    let seats: Vec<_> = plan
        .seats
        .iter()
        .map(|seat| {
            json!({ "seat": seat.name, "model": seat.model, "family": seat.family,
            "roles": seat.roles, "lens": seat.lens, "transports": seat.transports,
            "price": seat.price })
        })
        .collect();
    let document = json!({
        "status": "planned",
        "mode": plan.mode,
        "seats": seats,
        "chairs": plan.chairs,
        "estimate": estimate,
        "caps": { "usd_max": plan.caps.usd_micros as f64 / 1e6, "tokens_max": plan.caps.tokens,
            "calls_max": plan.caps.calls, "wall_max_ms": plan.caps.wall_ms },
        "context": { "files": plan.context.files.len(), "excluded": plan.context.excluded },
        "notes": plan.notes,
        "warnings": warnings,
    });
    session.ui.print_result(&document, |_| plan_text(plan, &estimate, session.ui.table_width()))?;
    Ok(ExitStatus::Ok)
}

/// What replies of each model usually cost, as far as the store knows. An unreadable store is
/// reported by the command that needs it.
pub(crate) fn load_usual_replies(session: &CliSession<'_>) -> UsualReplies {
    let project = session.open_if_present().ok();
    let usual = project.and_then(|project| UsualReplies::load(project.store.as_ref()).ok());
    usual.unwrap_or_default()
}

/// A warning if a run with replies of usual length reaches a limit before it ends.
pub(crate) fn describe_shortage(plan: &Plan, estimate: &CostEstimate) -> Option<String> {
    let cap = plan.caps.usd_micros as f64 / 1e6;
    let calls = u64::from(plan.caps.calls);
    // Less than the smallest amount that is printed is not a difference.
    let limit = if let Some(usd) = estimate.usd_expected.filter(|usd| usd - cap > 0.000_05) {
        let digits = if usd - cap < 0.01 { 4 } else { 2 };
        format!("the expected cost ${usd:.digits$} is over the limit of ${cap:.digits$}")
    } else if estimate.tokens_expected > plan.caps.tokens {
        let [tokens, most] = [estimate.tokens_expected, plan.caps.tokens].map(group_digits);
        format!("about {tokens} tokens are over the limit of {most}")
    } else if estimate.calls as u64 > calls {
        format!("{} calls are over the limit of {calls}", estimate.calls)
    } else {
        return None;
    };
    Some(format!("{limit}; the run may stop early (`budget` in council.yaml, `--budget-usd`)"))
}

/// What follows if the usual run fits into the limits and the worst case does not.
fn describe_worst_case(plan: &Plan, estimate: &CostEstimate) -> Option<String> {
    let cap = plan.caps.usd_micros as f64 / 1e6;
    let is_over = estimate.usd_max.is_some_and(|usd| usd > cap);
    let fits = describe_shortage(plan, estimate).is_none();
    (is_over && fits).then(|| {
        format!(" Usual runs fit; the worst case would stop at ${cap:.2} and could be resumed.")
    })
}

/// Lines of prose where the output has no width.
const PROSE_WIDTH: usize = 80;

fn plan_text(plan: &Plan, estimate: &CostEstimate, width: usize) -> String {
    let mut seats = Grid::new(&["SEAT", "ROLES", "FAMILY", "REACHED BY", "MODEL"]);
    for seat in &plan.seats {
        let roles: Vec<&str> = seat.roles.iter().map(|role| role.name()).collect();
        let ways: Vec<&str> = seat.transports.iter().map(|way| way.name()).collect();
        let (roles, ways) = (roles.join(", "), ways.join(", "));
        seats.add_row([seat.name.as_str(), &roles, &seat.family, &ways, &seat.model]);
    }
    let dollars = |usd: Option<f64>| usd.map_or("unknown".to_owned(), |usd| format!("${usd:.4}"));
    let mut rounds = Grid::new(&["ROUND", "CALLS", "TOKENS AT MOST", "COST AT MOST"]);
    for round in &estimate.rounds {
        let tokens = group_digits(round.tokens_max);
        let cells = [round.calls.to_string(), tokens, dollars(round.usd_max)];
        rounds.add_row([round.round.clone()].iter().chain(&cells));
    }
    let tokens = group_digits(estimate.tokens_max);
    let all = [estimate.calls.to_string(), tokens, dollars(estimate.usd_max)];
    rounds.add_row(["all".to_owned()].iter().chain(&all));
    let cap = plan.caps.usd_micros as f64 / 1e6;
    let tokens_cap = group_digits(plan.caps.tokens);
    let tokens = group_digits(estimate.tokens_expected);
    let usual = match estimate.usd_expected {
        Some(usd) => format!("Usual replies cost about ${usd:.4} and use {tokens} tokens."),
        None => format!("Usual replies use about {tokens} tokens; their price is unknown."),
    };
    let outlook = describe_worst_case(plan, estimate).unwrap_or_default();
    let about = format!(
        "No model was called. The table assumes one call per seat and round and the longest replies; \
         retries cost extra. {usual} The limits are ${cap:.2} and {tokens_cap} tokens.{outlook}"
    );
    let short = describe_shortage(plan, estimate);
    let short = short.map(|warning| format!("Warning: {warning}.\n")).unwrap_or_default();
    let excluded: String = plan
        .context
        .excluded
        .iter()
        .map(|left_out| {
            let (path, reason) = (safe_line(&left_out.path), safe_line(&left_out.reason));
            format!("not sent: {path} ({reason})\n")
        })
        .collect();
    let files = plan.context.files.iter();
    let sent: String = files.map(|file| format!("sent: {}\n", safe_line(&file.path))).collect();
    let files = match (plan.context.files.len(), excluded.is_empty()) {
        (0, true) => String::new(),
        (0, false) => format!("\nNo file is sent with the question.\n{excluded}"),
        (1, _) => format!("\n1 file is sent with the question.\n{sent}{excluded}"),
        (count, _) => format!("\n{count} files are sent with the question.\n{sent}{excluded}"),
    };
    let named = match plan.context.indexed.len() {
        0 => String::new(),
        count => format!("{}\n", describe_indexed(count)),
    };
    format!(
        "{}\n{}\n{}\n{short}{files}{named}",
        seats.draw_table(width),
        rounds.draw_table(width),
        wrap_line(&about, width.min(PROSE_WIDTH)).join("\n")
    )
}
