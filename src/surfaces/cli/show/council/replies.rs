//! The raw replies of each seat in order, with interventions in the margin.

use crate::domain::transcript::{Asked, Call, CallOutcome, Transcript};
use crate::export::{Intervened, wording};
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::interventions::in_margin;
use crate::surfaces::cli::show::layout::{MARGIN, heading, prose};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{FAINT, STRONG};
use crate::surfaces::cli::wrap::wrap_text;

pub(in crate::surfaces::cli::show) fn draw(
    transcript: &Transcript,
    interventions: &[Intervened],
    canvas: Canvas,
) -> Vec<Line> {
    let mut lines = heading("REPLIES", "as they came", canvas);
    let mut noted = interventions.iter();
    let mut drawn = 0;
    for asked in &transcript.asks {
        // An ask stores how many interventions it saw; those are drawn above it.
        let before = asked.interventions.saturating_sub(drawn);
        drawn = drawn.max(asked.interventions);
        lines.extend(noted.by_ref().take(before).flat_map(|one| in_margin(one, canvas)));
        lines.extend(asked.calls.iter().flat_map(|call| reply(asked, call, canvas)));
    }
    lines.extend(noted.flat_map(|one| in_margin(one, canvas)));
    // The caller separates sections, so drop the blank line after the last reply.
    lines.pop_if(|last| last.width() == 0);
    lines
}

fn reply(asked: &Asked, call: &Call, canvas: Canvas) -> Vec<Line> {
    let said = match &call.outcome {
        CallOutcome::Replied(reply, _) => reply.text.clone(),
        CallOutcome::Failed(failure, _) => {
            format!("({}: {})", failure.error_type, failure.message)
        }
        CallOutcome::InFlight | CallOutcome::Lost => "(nothing came back)".to_owned(),
    };
    let round = wording::round_name(asked.ask.round);
    let place = format!(" {round}, call {}", call.sending.call);
    let lead = Line::indented(MARGIN).styled(asked.ask.seat.as_str(), STRONG);
    let mut lines = vec![lead.styled(&place, FAINT)];
    lines.extend(prose(&wrap_text(&said, canvas.measure() - MARGIN * 2), MARGIN * 2));
    lines.push(Line::blank());
    lines
}
