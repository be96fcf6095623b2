//! `log replay`: what another policy would have decided.

use clap::Args;
use plenary_core::model::time::SinceTime;
use plenary_core::protocols::review::policy::PolicyName;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::app::replay_log::{ReplayResult, replay_log};
use plenary_engine::error::Error;

use crate::cli::runs::value_parsers::{enum_parser, parse_since};
use crate::cli::session::{CliSession, ExitStatus};

/// Show what another policy would have decided
///
/// Applies a policy to the recorded judgements, before you switch to it. It calls no model and
/// changes nothing. Rehearsals and undecided reviews do not count.
///
/// $ plenary log replay --policy strict
///
/// $ plenary log replay --policy strict --since 4w --json
#[derive(Debug, Args)]
pub(crate) struct LogReplayArgs {
    /// The policy to try
    #[arg(long, value_parser = enum_parser(PolicyName::ALL, PolicyName::name))]
    policy: PolicyName,
    /// Replay only verdicts within a time (24h, 30d, 4w) or since a day (2026-01-01)
    #[arg(long, value_name = "TIME|DAY", value_parser = parse_since)]
    since: Option<SinceTime>,
}

impl LogReplayArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        let now = project.ambient.now();
        let since = self.since.map(|since| since.start_moment(now));
        let replay = replay_log(&project, self.policy, since)?;
        let width = session.ui.table_width();
        session.ui.print_result(&replay, |replay| replay_text(replay, width))?;
        Ok(ExitStatus::Ok)
    }
}

fn replay_text(replay: &ReplayResult, width: usize) -> String {
    if replay.rows == 0 {
        return "There is no recorded verdict to replay; rehearsals do not count.\n".to_owned();
    }
    let (rows, changed) = (count_noun(replay.rows, "verdict"), replay.changed.len());
    let mut text = format!("Policy `{}` over {rows}: {changed} would change\n", replay.policy);
    let mut counts = TextTable::new(&["VERDICT", "WAS", "WOULD BE"]);
    for verdict in ["SHIP", "REVISE", "HOLD", "INCOMPLETE"] {
        let shift = &replay.distribution;
        let [was, would_be] =
            [&shift.was, &shift.would_be].map(|counts| counts.get(verdict).copied().unwrap_or(0));
        if was + would_be > 0 {
            counts.add_row([verdict.to_owned(), was.to_string(), would_be.to_string()]);
        }
    }
    text.push_str(&format!("\n{}", counts.draw_table(width)));
    if changed > 0 {
        let mut table = TextTable::new(&["VERDICT ID", "WAS", "WOULD BE", "FILE"]);
        for one in &replay.changed {
            table.add_row([&one.verdict_id, one.was.name(), one.would_be.name(), &one.artifact]);
        }
        text.push_str(&format!("\n{}", table.draw_table(width)));
    }
    text
}
