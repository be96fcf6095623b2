//! `ethos constraint`, `synthesize`, `show`, `resolve`, `approve`, `reject` and `check`: the rules of
//! one dialogue.

use clap::Args;
use plenary_core::ethos::requests::EthosOp;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::error::Error;
use serde_json::{Value, json};

use crate::cli::commands::commands;
use crate::cli::dialogue::command::DataArgs;
use crate::cli::ethos::command::{EthosAnswer, domain_values};
use crate::cli::session::{CliArguments, CliSession, ExitStatus};

commands! {
    /// Add a constraint, which one question requires
    ///
    /// `dialogue create --constraint` adds some at once.
    ///
    /// $ plenary ethos constraint add trust-swap "4 % income"
    pub(crate) enum ConstraintCommand {
        Add(ConstraintAddArgs),
    }
}

/// Add a constraint to a calibrated dialogue
///
/// The next synthesis takes it in.
///
/// $ plenary ethos constraint add trust-swap "4 % income"
#[derive(Debug, Args)]
pub(crate) struct ConstraintAddArgs {
    /// The id of the dialogue
    dialogue: Option<String>,
    /// A few words
    label: Option<String>,
    /// What it requires
    #[arg(long = "text", value_name = "TEXT")]
    description: Option<String>,
    /// Where it comes from: authored or extracted [default: authored]
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// The document or person it comes from
    #[arg(long, value_name = "TEXT")]
    source_detail: Option<String>,
    /// Its rank [default: 500]
    #[arg(long, value_name = "N")]
    priority: Option<i64>,
    #[command(flatten)]
    data: DataArgs,
}

impl ConstraintAddArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let options = json!({
            "dialogue_id": self.dialogue, "label": self.label, "description": self.description,
            "source": self.source, "source_detail": self.source_detail, "priority": self.priority,
        });
        let arguments = self.data.with_options(&options)?;
        EthosAnswer::run(session, EthosOp::ConstraintAdd, &arguments)?.print_added(session)
    }
}

/// Make the next version of a dialogue's ethos
///
/// It gathers all active principles, the tenets of the domains and the constraints of the dialogue.
/// Between tenets the higher priority wins; a person resolves every other conflict. A draft that
/// was not decided is replaced; an approved version stays in force until the next is approved.
///
/// $ plenary ethos synthesize trust-swap --approve
///
/// $ plenary ethos synthesize trust-swap --domain FID:FID-LN01 --detect model
#[derive(Debug, Args)]
pub(crate) struct SynthesizeArgs {
    /// The id of the dialogue
    dialogue: Option<String>,
    /// A domain and its lens; repeatable [default: the domain of the dialogue]
    #[arg(long = "domain", value_name = "DOMAIN[:LENS]")]
    domains: Vec<String>,
    /// Approve it if no conflict is open
    #[arg(long)]
    approve: bool,
    /// How conflicts are found: code, or code and one model call [default: code]
    #[arg(long, value_name = "code|model")]
    detect: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl SynthesizeArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let options = json!({
            "dialogue_id": self.dialogue, "domains": domain_values(&self.domains),
            "approve": self.approve.then_some(true), "detect": self.detect,
        });
        let arguments = self.data.with_options(&options)?;
        let answer = EthosAnswer::run(session, EthosOp::Synthesize, &arguments)?;
        let printed = answer.print_ethos(session)?;
        if !session.ui.json {
            session.ui.print_note(&next_step(&answer.document));
        }
        Ok(printed)
    }
}

/// What the user does next.
fn next_step(document: &Value) -> String {
    let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
    let id = text("ethos_id");
    let open = document.get("open_conflicts").and_then(Value::as_u64).unwrap_or(0);
    match (text("ethos_status"), open) {
        ("approved", _) => format!("next: `plenary dialogue context {}`", text("dialogue_id")),
        (_, 0) => format!("next: `plenary ethos approve {id}`"),
        _ => format!("next: `plenary ethos resolve {id} N --as RESOLUTION --why TEXT`"),
    }
}

/// Names an ethos, by its id or by its dialogue.
fn name_ethos(arguments: CliArguments, name: Option<String>) -> CliArguments {
    match name {
        // A dialogue may be called `ethos-…`; its ethos then has that twice.
        Some(name) if name.starts_with("ethos-") => arguments.set_field("ethos_id", Some(name)),
        name => arguments.set_field("dialogue_id", name),
    }
}

/// Show an ethos: rules and conflicts
///
/// Of a dialogue it shows the version in force, else the newest.
///
/// $ plenary ethos show ethos-trust-swap-001
///
/// $ plenary ethos show trust-swap
#[derive(Debug, Args)]
pub(crate) struct EthosShowArgs {
    /// The id of the ethos or of the dialogue
    #[arg(value_name = "ETHOS|DIALOGUE")]
    name: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl EthosShowArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = name_ethos(self.data.arguments()?, self.name);
        EthosAnswer::run(session, EthosOp::Get, &arguments)?.print_ethos(session)
    }
}

/// Resolve a conflict of a draft
///
/// `a_supersedes` and `b_supersedes` keep one rule, `merged` lets rule a take in rule b, `removed`
/// drops both. Without `--as` you accept what the model proposed.
///
/// $ plenary ethos resolve ethos-trust-001 1 --as a_supersedes --why "the deed"
#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    /// The id of the ethos
    ethos: Option<String>,
    /// The number of the conflict
    conflict: Option<i64>,
    /// a_supersedes, b_supersedes, merged or removed
    #[arg(long = "as", value_name = "RESOLUTION")]
    resolution: Option<String>,
    /// Why
    #[arg(long = "why", value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ResolveArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let options = json!({
            "ethos_id": self.ethos, "conflict": self.conflict,
            "resolution": self.resolution, "reason": self.reason,
        });
        let arguments = self.data.with_options(&options)?;
        EthosAnswer::run(session, EthosOp::Resolve, &arguments)?.print_ethos(session)
    }
}

/// Approve a draft; it never changes again
///
/// A draft with an open conflict is refused. The rules bind the dialogue from now on.
///
/// $ plenary ethos approve ethos-trust-swap-001 --by "trustee"
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// The id of the ethos
    ethos: Option<String>,
    /// Who approves it [default: principal]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl ApproveArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments =
            self.data.arguments()?.set_field("ethos_id", self.ethos).set_field("by", self.by);
        EthosAnswer::run(session, EthosOp::Approve, &arguments)?.print_ethos(session)
    }
}

/// Reject a draft
///
/// The version stays in the record. `ethos synthesize` makes the next one.
///
/// $ plenary ethos reject ethos-trust-swap-001 --why "liquidity is missing"
#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    /// The id of the ethos
    ethos: Option<String>,
    /// Why
    #[arg(long = "why", value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl RejectArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self
            .data
            .arguments()?
            .set_field("ethos_id", self.ethos)
            .set_field("reason", self.reason);
        EthosAnswer::run(session, EthosOp::Reject, &arguments)?.print_ethos(session)
    }
}

/// Check each rule: status, reason, challenges
///
/// The status comes from the final verdict. Exit code 1 if the verdict violates a rule.
///
/// $ plenary ethos check trust-swap
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The id of the dialogue
    dialogue: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl CheckArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = self.data.arguments()?.set_field("dialogue_id", self.dialogue);
        let answer = EthosAnswer::run(session, EthosOp::Check, &arguments)?;
        let width = session.ui.table_width();
        answer.print(session, |document| check_text(document, width))?;
        let rules = answer.document.get("rules").and_then(Value::as_array);
        let is_violated = |rule: &Value| rule.get("status").is_some_and(|s| s == "violation");
        match rules.into_iter().flatten().any(is_violated) {
            true => Ok(ExitStatus::WithFindings),
            false => Ok(ExitStatus::Ok),
        }
    }
}

fn check_text(document: &Value, width: usize) -> String {
    let rules = document.get("rules").and_then(Value::as_array).cloned().unwrap_or_default();
    if rules.is_empty() {
        return "No ethos is approved yet.\n".to_owned();
    }
    let mut table = TextTable::new(&["RULE", "STATUS", "CHALLENGED BY", "LABEL", "REASON"]);
    for rule in &rules {
        let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or("–");
        let by = rule.get("challenged_by").and_then(Value::as_array).into_iter().flatten();
        let by: Vec<&str> = by.filter_map(Value::as_str).collect();
        let by = if by.is_empty() { "–".to_owned() } else { by.join(", ") };
        let (label, reason) = (safe_line(text("label")), safe_line(text("reason")));
        table.add_row([text("rule_id"), text("status"), &by, &label, &reason]);
    }
    table.draw_table(width)
}
