//! `override`: records a person's decision that replaces a review's verdict.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::super::session::{CliArguments, CliSession, ExitStatus};
use crate::domain::gate::ReviewDecision;
use crate::error::Error;
use crate::export::safe_text;
use crate::operations::{self, OverrideResult};
use crate::surfaces::cli::runs::output::repair_log;

/// Decide otherwise than the gate did, and say why
///
/// The gate's verdict stays in the log as it is; the decision is kept beside it with its
/// reason, and stands from then on. A later one takes its place, and both are kept.
/// `plenary audit` counts how often this happens.
///
///   plenary override posts-launch-md-1a2b3c4d/1 --as SHIP --why "The source was added."
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct OverrideArgs {
    /// The verdict, as `plenary log tail` shows it; or its dialogue, if that has but one.
    verdict_id: String,
    /// What it is to be.
    #[arg(long = "as", value_name = "DECISION", value_parser = decision_parser(), ignore_case = true)]
    decision: ReviewDecision,
    /// The reason, for whoever reads the log later.
    #[arg(long, value_name = "TEXT")]
    why: String,
}

fn decision_parser() -> impl TypedValueParser<Value = ReviewDecision> {
    let names = ReviewDecision::ALL.iter().map(|word| word.name());
    PossibleValuesParser::new(names)
        .try_map(|name| name.to_uppercase().parse().map_err(|_| "no decision"))
}

impl OverrideArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let arguments = CliArguments::new(None)?
            .set_field("verdict_id", Some(self.verdict_id))
            .set_field("decision", Some(self.decision.name()))
            .set_field("why", Some(self.why));
        let project = session.open_existing()?;
        repair_log(session, &project);
        let overridden = operations::override_verdict(&project, arguments.value())?;
        session.ui.print_result(&overridden, override_text)?;
        Ok(ExitStatus::Ok)
    }
}

fn override_text(overridden: &OverrideResult) -> String {
    let OverrideResult { verdict_id, artifact, gate, stood, stands, .. } = overridden;
    let earlier = match stood == gate {
        true => String::new(),
        false => format!(", {stood} until now"),
    };
    let what = format!("{} ({})", safe_text::safe_line(artifact), safe_text::safe_line(verdict_id));
    format!("{what}\n  the gate said {gate}{earlier}; {stands} stands")
}
