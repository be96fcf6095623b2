//! `ask`: puts a question to a council.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use plenary_core::model::plan::{AuditMode, DeliveryMode, Plan, StakesLevel};
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::protocol::Protocol;
use plenary_core::report::phrases::group_digits;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable as Grid;
use plenary_engine::app::planning::estimate::{CostEstimate, estimate_cost};
use plenary_engine::app::planning::panel_setup::{AskOptions, PanelSetup};
use plenary_engine::app::planning::review_panel::secret_guard;
use plenary_engine::app::prepare_run::{council_settings, prepare_council};
use plenary_engine::app::start_run::{PreparedRun, RunStart};
use plenary_engine::clock::RealSystem;
use plenary_engine::config::settings::Settings;
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::context_files::gather::gather_files;
use plenary_engine::error::Error;
use serde_json::json;

use crate::cli::council::batch::{BatchLimits, read_questions, run_batch, shared_budget};
use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::ProgressDisplay;
use crate::cli::runs::value_parsers::{parse_dollars, parse_question, parse_rehearsal, parse_time};
use crate::cli::session::{CliSession, ExitStatus};

/// Enough to keep a provider busy, few enough to avoid rate limits.
const JOBS_DEFAULT: usize = 8;

/// Ask a council: opinions, reviews, a report, and a conclusion that was audited blind
///
/// Each model answers alone, each reviews the others, a chair reports. Then the Synthesizer
/// writes five fields, and the Blind Critic, who sees them and the question and nothing else,
/// passes them or says what is wrong; once they are mended. The end is Clean, Revised or
/// Unconverged (docs/conclusions.md).
///
/// The panel is that of `council.yaml`. Without one, providers are found by their keys
/// (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY), by programs
/// (claude, codex, gemini) or by an Ollama server; with none of them a built-in panel
/// rehearses, which shows everything and calls no model.
///
/// The conclusion goes to standard output, progress to standard error. In every case, what
/// was answered is kept: `plenary resume ID` goes on.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question; `-` reads it from standard input.
    #[arg(required_unless_present_any = ["batch", "context", "rehearse"], conflicts_with = "batch")]
    question: Option<String>,
    /// What kind of question it is.
    #[arg(long, default_value = "general", value_parser = mode_parser())]
    mode: QuestionMode,
    /// Files or folders that belong to the question. May be repeated.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    context: Vec<PathBuf>,
    /// Only these providers, in this order.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    providers: Vec<String>,
    /// Who writes the report.
    #[arg(long, value_name = "NAME")]
    chair: Option<String>,
    /// Deliver the opinion its peers rate best, instead of a synthesis.
    #[arg(long)]
    select: bool,
    /// Say that being wrong would cost little; only matters with `short_circuit`.
    #[arg(long, value_name = "STAKES", default_value = "normal", value_parser = stakes_parser())]
    stakes: StakesLevel,
    /// Conclude without an auditor; the result says so.
    #[arg(long)]
    no_audit: bool,
    /// End with the chair's report, without the audited conclusion.
    #[arg(long, conflicts_with = "no_audit")]
    no_conclusion: bool,
    /// Spend at most this much; for a batch, in all.
    #[arg(long, value_name = "USD", value_parser = parse_dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time, for example `90s` or `10m`; what is there can be resumed.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    deadline: Option<u64>,
    /// Print the plan and its worst cost, and call no model.
    // A batch has many plans; that it would be asked all the same must not be possible.
    #[arg(long, conflicts_with = "batch")]
    dry_run: bool,
    /// Let the built-in panel play, by a script if one is given.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    rehearse: Option<Option<PathBuf>>,
    /// Ask each question of a JSON Lines file: a string, or {id?, question, mode?, context?}
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// How many councils of a batch sit at once [default: 8]
    #[arg(long, value_name = "N", requires = "batch",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    jobs: Option<u16>,
    /// The protocol of the run, by its name in the registry [default: council]
    #[arg(long, hide = true, value_name = "NAME", conflicts_with = "batch")]
    protocol: Option<String>,
}

fn mode_parser() -> impl TypedValueParser<Value = QuestionMode> {
    let names = QuestionMode::ALL.iter().map(|mode| mode.name());
    PossibleValuesParser::new(names)
        .map(|name| QuestionMode::named(&name).unwrap_or(QuestionMode::General))
}

fn stakes_parser() -> impl TypedValueParser<Value = StakesLevel> {
    let names = StakesLevel::ALL.iter().map(|stakes| stakes.name());
    PossibleValuesParser::new(names)
        .map(|name| StakesLevel::named(&name).unwrap_or(StakesLevel::Normal))
}

impl AskArgs {
    pub(crate) fn run(mut self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        self.find_question();
        let options = self.ask_options()?;
        let overrides = BudgetOverrides {
            // The limit of a batch is a budget of its own.
            budget_usd: self.budget_usd.filter(|_| self.batch.is_none()),
            deadline_ms: self.deadline,
        };
        let settings = council_settings(&session.loader, &options.rehearsal, &overrides)?;
        let panel = PanelSetup::new(&settings, &options, &transport_factory(session))?;
        if let Some(file) = &self.batch {
            let asked = read_questions(file, self.mode, &self.context)?;
            let budget = self.budget_usd.map(shared_budget);
            let limits = BatchLimits {
                jobs: self.jobs.map_or(JOBS_DEFAULT, usize::from),
                budget,
                deadline: self.deadline.map(Duration::from_millis),
            };
            return run_batch(session, &settings, panel, asked, limits);
        }
        let question = parse_question(self.question.as_deref().unwrap_or_default())?;
        let context =
            gather_files(&settings.paths.working, &self.context, &secret_guard(&settings))?.into();
        if self.mode == QuestionMode::Review && self.context.is_empty() {
            session.ui.print_note("there is nothing to review: give files with `--context`");
        }
        let protocol = session.loader.protocols.for_question(self.protocol.as_deref())?;
        let plan = panel.build_plan(self.mode, context, &RealSystem);
        if self.dry_run {
            return dry_run(session, protocol, &plan, &question, &settings.list_warnings());
        }
        if is_short(&plan, &estimate_cost(protocol, &plan, &question)) {
            session
                .ui
                .print_note("this may not get through with its budget; `--dry-run` shows why");
        }
        run_council(session, &settings, prepare_council(protocol, &panel, question, plan))
    }

    /// In `ask --rehearse "…"` and `ask --context src "…"` the question is parsed as a path; a path
    /// that does not exist is the question.
    fn find_question(&mut self) {
        if self.question.is_some() || self.batch.is_some() {
            return;
        }
        let is_missing = |path: &mut PathBuf| !path.exists();
        let path = match &mut self.rehearse {
            Some(script) => script.take_if(is_missing),
            None => self.context.pop_if(is_missing),
        };
        self.question = path.map(|path| path.to_string_lossy().into_owned());
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

fn run_council(
    session: &CliSession<'_>,
    settings: &Settings,
    prepared: PreparedRun,
) -> Result<ExitStatus, Error> {
    let runtime = CliRuntime::open(session.open_or_create(&settings.paths)?, Concurrency::One)?;
    let progress = Arc::new(ProgressDisplay::new(session));
    runtime.complete_run(session, &progress, RunStart::New(prepared), None)
}

fn dry_run(
    session: &CliSession<'_>,
    protocol: &dyn Protocol,
    plan: &Plan,
    question: &str,
    warnings: &[String],
) -> Result<ExitStatus, Error> {
    let estimate = estimate_cost(protocol, plan, question);
    let seats: Vec<_> = plan
        .seats
        .iter()
        .map(|seat| {
            json!({ "seat": seat.name, "model": seat.model, "family": seat.family,
            "roles": seat.roles, "transports": seat.transports, "price": seat.price })
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

/// Whether the worst case is more than the run may spend.
fn is_short(plan: &Plan, estimate: &CostEstimate) -> bool {
    let cap = plan.caps.usd_micros as f64 / 1e6;
    estimate.tokens_max > plan.caps.tokens
        || estimate.usd_max.is_some_and(|usd| usd > cap)
        || estimate.calls > plan.caps.calls as usize
}

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
    let short = match is_short(plan, estimate) {
        true => "It may not get through with that: raise `budget`, or send less.\n",
        false => "",
    };
    let excluded: String = plan
        .context
        .excluded
        .iter()
        .map(|left_out| {
            let (path, reason) = (safe_line(&left_out.path), safe_line(&left_out.reason));
            format!("left out: {path} ({reason})\n")
        })
        .collect();
    let files = plan.context.files.iter();
    let sent: String = files.map(|file| format!("sent: {}\n", safe_line(&file.path))).collect();
    let files = match (plan.context.files.len(), excluded.is_empty()) {
        (0, true) => String::new(),
        (0, false) => format!("\nNo file goes with the question.\n{excluded}"),
        (1, _) => format!("\n1 file goes with the question.\n{sent}{excluded}"),
        (count, _) => format!("\n{count} files go with the question.\n{sent}{excluded}"),
    };
    let named = match plan.context.indexed.len() {
        0 => String::new(),
        count => format!("{count} more go by name only: they are too many to send.\n"),
    };
    format!(
        "{}\n{}\nNobody was asked. This is one call for each seat and round with every reply as long as it\nmay be; retries come on top. The run may spend ${cap:.2} and {tokens_cap} tokens.\n{short}{files}{named}",
        seats.draw_table(width),
        rounds.draw_table(width)
    )
}
