//! Cost of a run as short facts, for the foot of council and review pages.

use crate::domain::time::Moment;
use crate::export::council::RunMetrics;
use crate::export::wording;

/// Lists rounds, calls, tokens, time, cost and date.
pub(super) fn list_spending(metrics: &RunMetrics, opened_at: Moment) -> Vec<String> {
    let session = &metrics.session;
    let cost = session.total_cost_estimate.map_or_else(
        || "cost unknown".to_owned(),
        |usd| if usd > 0.0 { format!("${usd:.4}") } else { "no cost".to_owned() },
    );
    let tokens = session.total_tokens_in + session.total_tokens_out;
    vec![
        wording::count_noun(usize::from(session.rounds_completed), "round"),
        wording::count_noun(session.calls, "call"),
        format!("{} tokens", wording::group_digits(tokens)),
        format!("{:.1} s", session.total_duration_ms as f64 / 1_000.0),
        cost,
        opened_at.utc_day().to_string(),
    ]
}
