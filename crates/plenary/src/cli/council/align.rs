//! `align`: lets the built-in Judge lead an alignment dialogue.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::plan::AuditMode;
use plenary_core::protocols::alignment::types::PlannedPool;
use plenary_engine::app::planning::alignment_panel::{
    AlignOptions, AlignmentSetup, plan_calibration, read_expert_pool,
};
use plenary_engine::app::planning::estimate::estimate_cost;
use plenary_engine::app::planning::review_panel::secret_guard;
use plenary_engine::app::prepare_run::council_settings;
use plenary_engine::app::start_run::RunStart;
use plenary_engine::clock::{RealSystem, System};
use plenary_engine::context_files::gather::gather_files;
use plenary_engine::error::Error;
use plenary_engine::files::read_write::read_request_text;

use crate::cli::council::ask::{
    UNASKED_REHEARSAL, describe_shortage, dry_run, load_usual_replies, no_question, take_question,
};
use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::ProgressDisplay;
use crate::cli::runs::value_parsers::{LimitArgs, parse_question, parse_rehearsal};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::print_warning_text;

/// Run an alignment dialogue with the built-in Judge
///
/// The Judge designs a pool of experts for the question. A panel of them argues in rounds; each
/// contribution gets an id. The Judge merges, settles tensions, scores and changes the panel. Code
/// decides when it ends: when every tension is resolved or accepted and the panel converges, or at
/// a limit, which the result calls NOT CONVERGED. Final, minority and dissenting verdicts follow,
/// then the audited conclusion (docs/alignment.md).
///
/// The verdict goes to standard output, progress to standard error. A run that stops early keeps
/// every answer; `plenary resume ID` continues it.
///
/// $ plenary align "Should the trust swap NVAI for NVDA?" --context deed.md
///
/// $ plenary align "Tea or coffee?" --panel 4 --to 80 --max-rounds 3
///
/// $ plenary align "Tea or coffee?" --dry-run
#[derive(Debug, Args)]
pub(crate) struct AlignArgs {
    /// The question; `-` reads it from standard input
    #[arg(required_unless_present_any = ["context", "rehearse"])]
    question: Option<String>,
    /// Send these files and folders with the question; repeatable
    #[arg(long, value_name = "PATH", num_args = 1..)]
    context: Vec<PathBuf>,
    /// Seat this many experts in each round
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=12))]
    panel: Option<u8>,
    /// Take the experts from this file instead of a design
    #[arg(long, value_name = "FILE")]
    experts: Option<PathBuf>,
    /// Let the Judge create no experts
    #[arg(long)]
    pool_only: bool,
    /// Let the tenets of this domain bind the dialogue (`plenary ethos`)
    #[arg(long, value_name = "DOMAIN[:LENS]")]
    domain: Option<String>,
    /// A requirement that binds the dialogue; repeatable
    #[arg(long, value_name = "TEXT")]
    constraint: Vec<String>,
    /// Converge when this percentage of the panel agrees
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    to: Option<u8>,
    /// Give a forced verdict after this many rounds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    max_rounds: Option<u8>,
    /// Write the conclusion without an audit; the result says so
    #[arg(long)]
    no_audit: bool,
    /// End with the verdicts, without a conclusion
    #[arg(long, conflicts_with = "no_audit")]
    no_conclusion: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print the plan and its highest possible cost; call no model
    #[arg(long)]
    dry_run: bool,
    /// Run the offline panel, with the replies of a script if you name one
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    rehearse: Option<Option<PathBuf>>,
}

impl AlignArgs {
    pub(crate) fn run(mut self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        if self.question.is_none() {
            self.question = take_question(&mut self.rehearse, &mut self.context);
        }
        let question = self.question.as_deref().ok_or_else(|| no_question("align"))?;
        let question = parse_question(question)?;
        let overrides = self.limits.overrides();
        let mut options = self.align_options()?;
        let settings = council_settings(&session.loader, &options.rehearsal, &overrides)?;
        if self.domain.is_some() || !self.constraint.is_empty() {
            let store = session.open_if_present()?.store;
            let domain = self.domain.as_deref();
            options.calibration = plan_calibration(store.as_ref(), domain, &self.constraint)?;
        }
        let setup = AlignmentSetup::new(&settings, &options, &transport_factory(session))?;
        if setup.is_rehearsal && !options.rehearsal.is_asked_for() {
            print_warning_text(UNASKED_REHEARSAL);
        }
        let guard = secret_guard(&settings);
        let context = gather_files(&settings.paths.working, &self.context, &guard)?.into();
        let plan = setup.build_plan(context, &RealSystem);
        let protocols = &session.loader.protocols;
        let protocol = protocols.find_protocol(ProtocolKind::Alignment)?;
        if self.dry_run {
            let warnings = settings.list_warnings(RealSystem.now().utc_day());
            return dry_run(session, protocol, &plan, &question, &warnings);
        }
        let estimate = estimate_cost(protocol, &plan, &question, &load_usual_replies(session));
        if let Some(warning) = describe_shortage(&plan, &estimate) {
            session.ui.print_note(&warning);
        }
        let prepared = setup.prepare_run(protocols, question, plan)?;
        let runtime = CliRuntime::open(session.open_or_create(&settings.paths)?, Concurrency::One)?;
        let progress = Arc::new(ProgressDisplay::new(session));
        runtime.complete_run(session, &progress, RunStart::New(Box::new(prepared)), None)
    }

    fn align_options(&self) -> Result<AlignOptions, Error> {
        Ok(AlignOptions {
            panel_size: self.panel.map(usize::from),
            pool: self.experts.as_deref().map(read_pool).transpose()?,
            pool_only: self.pool_only,
            domain: self.domain.clone(),
            calibration: None,
            constraints: self.constraint.clone(),
            convergence_percent: self.to,
            max_rounds: self.max_rounds,
            conclusion: match (self.no_conclusion, self.no_audit) {
                (true, _) => None,
                (false, true) => Some(AuditMode::Unaudited),
                (false, false) => Some(AuditMode::Audited),
            },
            rehearsal: parse_rehearsal(self.rehearse.as_ref())?,
        })
    }
}

fn read_pool(path: &Path) -> Result<PlannedPool, Error> {
    read_expert_pool(&read_request_text(path)?)
}
