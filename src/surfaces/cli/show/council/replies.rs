//! What each seat wrote, word for word: drawn when everything is asked for.

use super::super::super::wrap::wrap_text;
use super::super::canvas::{Canvas, Detail};
use super::super::line::Line;
use super::super::page::{MARGIN, heading, prose};
use super::super::palette::{FAINT, STRONG};
use crate::domain::transcript::{CallOutcome, Transcript};

pub(super) fn draw(transcript: &Transcript, canvas: Canvas) -> Vec<Line> {
    if canvas.detail == Detail::Brief {
        return Vec::new();
    }
    let mut lines = heading("REPLIES", "as they came", canvas);
    for asked in &transcript.asks {
        for call in &asked.calls {
            let said = match &call.outcome {
                CallOutcome::Replied(reply, _) => reply.text.clone(),
                CallOutcome::Failed(failure, _) => {
                    format!("({}: {})", failure.error_type, failure.message)
                }
                CallOutcome::InFlight | CallOutcome::Lost => "(nothing came back)".to_owned(),
            };
            let place = format!(" R{}, call {}", asked.ask.round, call.sending.call);
            let lead = Line::indented(MARGIN).styled(asked.ask.seat.as_str(), STRONG);
            lines.push(lead.styled(&place, FAINT));
            lines.extend(prose(&wrap_text(&said, canvas.measure() - MARGIN * 2), MARGIN * 2));
            lines.push(Line::blank());
        }
    }
    lines
}
