//! `audit`: prints statistics of the verdict log.

use clap::Args;

use super::super::session::{CliSession, ExitStatus};
use super::super::show;
use crate::domain::stretch::SinceDay;
use crate::error::Error;
use crate::operations::{self, AuditFilter};
use crate::record::gate_audit::DriftVerdict;
use crate::surfaces::cli::runs::output::repair_log;
use crate::surfaces::cli::runs::value_parsers;

/// Say what the verdict log says of the gate, and of those who produce for it
///
/// How verdicts are spread by type, producer and ISO week; how often each deliberator blocks,
/// is absent, and changes its mind between the rounds; the scores by week; how often people
/// override a verdict, and which way.
///
/// And drift: whether the share of what does not SHIP, or a mean score, moved in one
/// direction over the last three weeks of a type or a producer. It takes five verdicts in each
/// of them, twenty points (half a point of a score), and more than chance explains; with less
/// it cannot tell, and says so. Drift says that something changed, the producer or the gate,
/// and exits with 1.
///
/// Rehearsals are left out; imported verdicts count.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Only those since a day (2026-01-01) or for so long (30d, 4w).
    #[arg(long, value_name = "DAY|TIME", value_parser = value_parsers::parse_since)]
    since: Option<SinceDay>,
    /// Only artifacts of this type.
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
    /// Only what this producer made.
    #[arg(long, value_name = "NAME")]
    producer: Option<String>,
}

impl AuditArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let wish = AuditFilter {
            since: self.since,
            artifact_type: self.artifact_type,
            producer: self.producer,
        };
        let project = session.open_existing()?;
        repair_log(session, &project);
        let audited = operations::audit_verdicts(&project, wish)?;
        let canvas = session.ui.page_canvas();
        session
            .ui
            .print_result(&audited, |audited| show::audit::draw_audit_page(audited, canvas))?;
        Ok(match audited.audit.drift.verdict {
            DriftVerdict::Drift => ExitStatus::WithFindings,
            DriftVerdict::Steady | DriftVerdict::CannotTell => ExitStatus::Ok,
        })
    }
}
