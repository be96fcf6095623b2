//! `plenary ethos`: its subcommands, and how an operation is run and printed.

use clap::Args;
use plenary_core::dialogue::diagnostics::RequestWarning;
use plenary_core::ethos::requests::{EthosOp, GetRequest};
use plenary_core::model::limits::PAGE_ITEMS_MAX;
use plenary_core::report::ethos_page::{ethos_page, library_page};
use plenary_core::report::page::PageModel;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::page::draw_page;
use plenary_engine::app::ethos::{load_ethos, run_ethos_op, writes_library};
use plenary_engine::app::project::Project;
use plenary_engine::error::Error;
use serde_json::{Value, json};

use crate::cli::commands::commands;
use crate::cli::dialogue::command::{DataArgs, warn};
use crate::cli::ethos::library::{
    DeprecateArgs, DomainAddArgs, DomainCommand, ExportLibraryArgs, ImportLibraryArgs, LensAddArgs,
    LensCommand, PrincipleAddArgs, PrincipleCommand, TenetAddArgs, TenetCommand, WriteViewsArgs,
};
use crate::cli::ethos::rules::{
    ApproveArgs, CheckArgs, ConstraintAddArgs, ConstraintCommand, EthosShowArgs, RejectArgs,
    ResolveArgs, SynthesizeArgs,
};
use crate::cli::session::{CliArguments, CliSession, ExitStatus};

/// Keep principles and tenets that bind dialogues
///
/// An organisation writes down what always holds (principles), what holds in a field of work
/// (tenets of a domain) and what one question requires (constraints). `synthesize` makes the ethos
/// of a dialogue from them: numbered rules without open conflicts. The experts read the rules, and a
/// final verdict gives each rule a status. Without a subcommand, `ethos` shows all there is.
///
/// Every operation takes its arguments as JSON with `--data FILE` (or `-`), like the MCP tool
/// `blue_ethos`; its names (`principle_add`, `get`, …) are commands too.
///
/// $ plenary ethos principle add "Cite" --text "Every figure names its source."
///
/// $ plenary ethos synthesize trust-swap --domain fiduciary --approve
///
/// $ plenary ethos check trust-swap
#[derive(Debug, Args)]
pub(crate) struct EthosArgs {
    #[command(subcommand)]
    command: Option<EthosCommand>,
}

impl EthosArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        match self.command {
            Some(command) => command.run(session),
            None => OverviewArgs { data: DataArgs { data: None } }.run(session),
        }
    }
}

commands! {
    pub(crate) enum EthosCommand {
        #[command(subcommand)]
        Principle(PrincipleCommand),
        #[command(subcommand)]
        Domain(DomainCommand),
        #[command(subcommand)]
        Tenet(TenetCommand),
        #[command(subcommand)]
        Lens(LensCommand),
        #[command(subcommand)]
        Constraint(ConstraintCommand),
        Synthesize(SynthesizeArgs),
        Show(EthosShowArgs),
        Resolve(ResolveArgs),
        Approve(ApproveArgs),
        Reject(RejectArgs),
        Check(CheckArgs),
        Deprecate(DeprecateArgs),
        Import(ImportLibraryArgs),
        Export(ExportLibraryArgs),
        Write(WriteViewsArgs),
        #[command(hide = true)]
        Overview(OverviewArgs),
        #[command(name = "principle_add", hide = true)]
        PrincipleAdd(PrincipleAddArgs),
        #[command(name = "domain_add", hide = true)]
        DomainAdd(DomainAddArgs),
        #[command(name = "tenet_add", hide = true)]
        TenetAdd(TenetAddArgs),
        #[command(name = "lens_add", hide = true)]
        LensAdd(LensAddArgs),
        #[command(name = "constraint_add", hide = true)]
        ConstraintAdd(ConstraintAddArgs),
        #[command(hide = true)]
        Get(EthosShowArgs),
    }
}

/// Show all principles, domains and ethos
///
/// The same page as `plenary ethos` without a subcommand.
///
/// $ plenary ethos overview --json
#[derive(Debug, Args)]
pub(crate) struct OverviewArgs {
    #[command(flatten)]
    data: DataArgs,
}

impl OverviewArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let answer = EthosAnswer::run(session, EthosOp::Overview, &self.data.arguments()?)?;
        let library = answer.project.store.load_library()?;
        let known = answer.project.store.list_ethos(PAGE_ITEMS_MAX)?;
        answer.print(session, |_| page_text(session, &library_page(&library, &known)))
    }
}

/// The answer of an operation, with the project that gave it.
#[derive(Debug)]
pub(crate) struct EthosAnswer {
    pub project: Project,
    pub document: Value,
}

impl EthosAnswer {
    /// Runs one operation. Only an operation that adds to the library creates the store.
    pub(crate) fn run(
        session: &CliSession<'_>,
        op: EthosOp,
        arguments: &CliArguments,
    ) -> Result<Self, Error> {
        let project = match writes_library(op) {
            true => session.open_or_create(&session.loader.locate_files()?)?,
            false => session.open_existing()?,
        };
        let document = run_ethos_op(&project, op, arguments.value())?;
        Ok(Self { project, document })
    }

    /// Prints the document, or its text for a person; then the warnings.
    pub(crate) fn print(
        &self,
        session: &CliSession<'_>,
        as_text: impl FnOnce(&Value) -> String,
    ) -> Result<ExitStatus, Error> {
        session.ui.print_result(&self.document, as_text)?;
        let warnings = self.document.get("warnings").cloned().unwrap_or_default();
        let warnings: Vec<RequestWarning> = serde_json::from_value(warnings).unwrap_or_default();
        warn(session.ui, &warnings);
        Ok(ExitStatus::Ok)
    }

    /// Prints what was added.
    pub(crate) fn print_added(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        self.print(session, |document| {
            let id = document.get("id").and_then(Value::as_str).unwrap_or_default();
            format!("Added {}\n", safe_line(id))
        })
    }

    /// Prints the page of the ethos in the document.
    pub(crate) fn print_ethos(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let id = self.document.get("ethos_id").cloned().unwrap_or_default();
        let request = GetRequest { ethos_id: serde_json::from_value(id).ok(), dialogue_id: None };
        let ethos = load_ethos(&self.project, &request)?;
        self.print(session, |_| page_text(session, &ethos_page(&ethos)))
    }
}

/// A page for the terminal.
pub(crate) fn page_text(session: &CliSession<'_>, page: &PageModel) -> String {
    draw_page(page, session.ui.page_canvas())
}

/// `--domain D[:LENS]` as the field `domains`.
pub(crate) fn domain_values(domains: &[String]) -> Vec<Value> {
    let split = |text: &String| match text.split_once(':') {
        Some((domain, lens)) => json!({ "domain": domain, "lens": lens }),
        None => json!({ "domain": text }),
    };
    domains.iter().map(split).collect()
}
