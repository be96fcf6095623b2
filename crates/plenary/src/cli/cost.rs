//! `cost`: what runs spent, by model, provider, day or dialogue.

use clap::Args;
use plenary_core::model::time::SinceTime;
use plenary_core::report::phrases::{count_noun, group_digits};
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::spending::{SpendingGroup, SpendingReport};
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::app::spending::sum_spending;
use plenary_engine::error::Error;

use crate::cli::runs::value_parsers::{enum_parser, parse_since};
use crate::cli::session::{CliSession, ExitStatus};

/// Sum what runs spent
///
/// Adds up the calls of all runs in the store: dollars, calls, tokens, and the share of the input
/// that providers read from their caches. A reply that broke off counts as estimated. Rehearsals are
/// left out.
///
/// $ plenary cost
///
/// $ plenary cost --by day --since 30d
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// Group the calls
    #[arg(long, value_parser = enum_parser(SpendingGroup::ALL, SpendingGroup::name), default_value = "model")]
    by: SpendingGroup,
    /// Only calls within a time (24h, 7d, 4w) or since a day (2026-01-01)
    #[arg(long, value_name = "TIME|DAY", value_parser = parse_since)]
    since: Option<SinceTime>,
}

impl CostArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        let now = project.ambient.now();
        let start = self.since.map(|since| since.start_moment(now));
        if start.is_some_and(|start| start > now) {
            session.ui.print_note("`--since` is in the future");
        }
        let report = sum_spending(&project, self.by, self.since)?;
        let width = session.ui.table_width();
        session.ui.print_result(&report, |report| match (report.rows.is_empty(), start) {
            (true, Some(start)) => {
                format!("No answered call since {}. Rehearsals do not count.\n", start.utc_day())
            }
            (true, None) => "No answered call is on record. Rehearsals do not count.\n".to_owned(),
            (false, _) => draw_report(self.by, report, width),
        })?;
        Ok(ExitStatus::Ok)
    }
}

/// Nothing as `$0.00`, as in `list`.
fn format_dollars(usd: f64) -> String {
    if usd > 0.0 { format!("${usd:.4}") } else { "$0.00".to_owned() }
}

/// A table of the groups, and the sum below it.
fn draw_report(group: SpendingGroup, report: &SpendingReport, width: usize) -> String {
    let heading = match group {
        SpendingGroup::Model => "MODEL",
        SpendingGroup::Provider => "PROVIDER",
        SpendingGroup::Day => "DAY",
        SpendingGroup::Dialogue => "DIALOGUE",
    };
    let mut table =
        TextTable::new(&[heading, "COST", "CALLS", "TOKENS IN", "FROM CACHE", "TOKENS OUT"]);
    for row in &report.rows {
        let [tokens_in, cached, tokens_out] =
            [row.tokens_in, row.tokens_cached, row.tokens_out].map(group_digits);
        let usd = format_dollars(row.usd);
        let key = safe_line(&row.key);
        let calls = row.calls.to_string();
        table.add_row([key.as_str(), &usd, &calls, &tokens_in, &cached, &tokens_out]);
    }
    let share = report.cached_share.unwrap_or(0.0) * 100.0;
    let unpriced = match usize::try_from(report.unpriced_calls).unwrap_or(usize::MAX) {
        0 => String::new(),
        count => format!("; the cost of {} is unknown", count_noun(count, "call")),
    };
    let (rows, total) = (table.draw_table(width), format_dollars(report.total_usd));
    let [tokens_in, tokens_out] = [report.tokens_in, report.tokens_out].map(group_digits);
    format!(
        "{rows}\nTotal {total}{unpriced}. {tokens_in} tokens in, {tokens_out} out; \
         {share:.0} % of input from cache.\n"
    )
}
