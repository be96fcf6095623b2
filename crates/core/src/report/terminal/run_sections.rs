//! The raw replies of each seat in order, with interventions in the margin.

use crate::model::ask::{AskState, CallOutcome, CallState};
use crate::model::run_state::RunState;
use crate::model::time::Moment;
use crate::report::interventions::TimedIntervention;
use crate::report::phrases::{count_noun, group_digits, round_name};
use crate::report::run_metrics::RunMetrics;
use crate::report::terminal::layout::{
    FAINT, ID, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, draw_heading, hang_block,
    indent_prose,
};
use crate::report::terminal::wrap::{wrap_line, wrap_text};

pub(crate) fn draw_replies(
    transcript: &RunState,
    interventions: &[TimedIntervention],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut lines = draw_heading("REPLIES", "as they came", canvas);
    let mut noted = interventions.iter();
    let mut drawn = 0;
    for asked in &transcript.asks {
        // An ask stores how many interventions it saw; those are drawn above it.
        let before = asked.interventions.saturating_sub(drawn);
        drawn = drawn.max(asked.interventions);
        lines.extend(noted.by_ref().take(before).flat_map(|one| draw_in_margin(one, canvas)));
        lines.extend(asked.calls.iter().flat_map(|call| draw_reply(asked, call, canvas)));
    }
    lines.extend(noted.flat_map(|one| draw_in_margin(one, canvas)));
    // The caller separates sections, so drop the blank line after the last reply.
    lines.pop_if(|last| last.width() == 0);
    lines
}

fn draw_reply(asked: &AskState, call: &CallState, canvas: PageCanvas) -> Vec<StyledLine> {
    let said = match &call.outcome {
        CallOutcome::Replied(reply, _) => reply.text.clone(),
        CallOutcome::Failed(failure, _) => {
            format!("({}: {})", failure.error_type, failure.message)
        }
        CallOutcome::InFlight | CallOutcome::Lost => "(nothing came back)".to_owned(),
    };
    let round = round_name(asked.ask.round);
    let place = format!(" {round}, call {}", call.dispatch.call);
    let lead = StyledLine::with_indent(MARGIN).push_styled(asked.ask.seat.as_str(), STRONG);
    let mut lines = vec![lead.push_styled(&place, FAINT)];
    lines.extend(indent_prose(&wrap_text(&said, canvas.text_width() - MARGIN * 2), MARGIN * 2));
    lines.push(StyledLine::blank());
    lines
}

/// The part of a timestamp that is the time of day: `15:40:15`.
const TIME_OF_DAY: std::ops::Range<usize> = 11..19;

pub(crate) fn draw_interventions(all: &[TimedIntervention], canvas: PageCanvas) -> Vec<StyledLine> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("INTERVENTIONS", &all.len().to_string(), canvas);
    for one in all {
        let lead = StyledLine::with_indent(MARGIN).push_styled("» ", ID);
        let place = round_name(one.seen.round);
        let told = format!("{} · {place} · {}", time_of_day(one), one.seen.action_text());
        let room = canvas.text_width() - MARGIN * 2;
        lines.extend(hang_block(lead, &wrap_line(&told, room), FAINT));
        lines.extend(
            wrap_words(one, room)
                .into_iter()
                .map(|text| StyledLine::with_indent(MARGIN * 2).push_plain(&text)),
        );
    }
    lines
}

/// Draws an intervention at its position among the replies, left of their text.
pub(crate) fn draw_in_margin(one: &TimedIntervention, canvas: PageCanvas) -> Vec<StyledLine> {
    let lead = StyledLine::blank().push_styled("» ", ID);
    let room = canvas.text_width() - lead.width();
    let told = wrap_line(&format!("{} {}", time_of_day(one), one.seen.action_text()), room);
    let first = told.into_iter().map(|text| lead.clone().push_styled(&text, FAINT));
    let words =
        wrap_words(one, room).into_iter().map(|text| lead.clone().push_styled(&text, PLAIN));
    first.chain(words).chain([StyledLine::blank()]).collect()
}

fn wrap_words(one: &TimedIntervention, room: usize) -> Vec<String> {
    one.seen.detail_texts().iter().flat_map(|text| wrap_text(text, room)).collect()
}

fn time_of_day(one: &TimedIntervention) -> String {
    let moment = one.at.to_string();
    moment.get(TIME_OF_DAY).unwrap_or(&moment).to_owned()
}

/// Lists rounds, calls, tokens, time, cost and date.
pub(crate) fn list_spending(metrics: &RunMetrics, opened_at: Moment) -> Vec<String> {
    let session = &metrics.session;
    let cost = session.total_cost_estimate.map_or_else(
        || "cost unknown".to_owned(),
        |usd| if usd > 0.0 { format!("${usd:.4}") } else { "no cost".to_owned() },
    );
    let tokens = session.total_tokens_in + session.total_tokens_out;
    vec![
        count_noun(usize::from(session.rounds_completed), "round"),
        count_noun(session.calls, "call"),
        format!("{} tokens", group_digits(tokens)),
        format!("{:.1} s", session.total_duration_ms as f64 / 1_000.0),
        cost,
        opened_at.utc_day().to_string(),
    ]
}
