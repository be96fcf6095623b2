//! `health`: compares the terminal states of audited conclusions with their target shares.

use clap::Args;

use super::runs::value_parsers;
use super::session::{CliSession, ExitStatus};
use super::show;
use crate::domain::stretch::SinceDay;
use crate::error::Error;
use crate::operations;
use crate::record::health::{HEALTH_LAST_MAX, HealthVerdict};

/// Say whether audited conclusions end as they should
///
/// About 60 % should pass the Blind Critic at first sight (clean), 30 % after a revision
/// (revised), and 10 % not at all (unconverged). Over 80 % clean, the critic may be too
/// lenient; over 20 % unconverged, the synthesizer may need recalibration. Then an alarm
/// sounds and the exit code is 1. With fewer than 10 conclusions it cannot tell.
///
/// Rehearsals and conclusions that nobody audited are left out. The shares are also told
/// by protocol, by critic and by week.
#[derive(Debug, Args)]
pub(super) struct HealthArgs {
    /// Only the newest N [default: 50, or all of them with `--since`]
    #[arg(long, value_name = "N", value_parser = value_parsers::from_one_to(HEALTH_LAST_MAX))]
    last: Option<usize>,
    /// Only those since a day (2026-01-01) or for so long (30d, 4w).
    #[arg(long, value_name = "DAY|TIME", value_parser = value_parsers::parse_since)]
    since: Option<SinceDay>,
}

impl HealthArgs {
    pub(super) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let examined = operations::check_health(&session.open_existing()?, self.last, self.since)?;
        let canvas = session.ui.page_canvas();
        session
            .ui
            .print_result(&examined, |examined| show::health::draw_health_page(examined, canvas))?;
        Ok(match examined.health.verdict {
            HealthVerdict::Alarm => ExitStatus::WithFindings,
            HealthVerdict::Healthy | HealthVerdict::TooFew => ExitStatus::Ok,
        })
    }
}
