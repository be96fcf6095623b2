//! The raw replies of each seat in order, with interventions in the margin.

use crate::domain::transcript::{AskState, CallOutcome, CallState, RunState};
use crate::export::{TimedIntervention, wording};
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::interventions::draw_in_margin;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, indent_prose};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{FAINT, STRONG};
use crate::surfaces::cli::wrap::wrap_text;

pub(in crate::surfaces::cli::show) fn draw_replies(
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
    let round = wording::round_name(asked.ask.round);
    let place = format!(" {round}, call {}", call.dispatch.call);
    let lead = StyledLine::with_indent(MARGIN).push_styled(asked.ask.seat.as_str(), STRONG);
    let mut lines = vec![lead.push_styled(&place, FAINT)];
    lines.extend(indent_prose(&wrap_text(&said, canvas.text_width() - MARGIN * 2), MARGIN * 2));
    lines.push(StyledLine::blank());
    lines
}
