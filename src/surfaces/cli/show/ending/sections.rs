//! Sections of a conclusion. Called by council and dialogue pages.

use super::fields::Framed;
use super::objections;
use crate::domain::conclusion::Outcome;
use crate::domain::dialogue::TerminalState;
use crate::domain::time::Moment;
use crate::export::conclusion::{Ended, state_word, what_draft_lacks};
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, headed, heading, prose};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{self, CAUTION, PLAIN, STRONG};
use crate::surfaces::cli::wrap::wrap_text;

/// Draws the conclusion or the current draft; nothing before there is a draft. `note` goes beside
/// the title.
pub(in crate::surfaces::cli::show) fn sections(
    ended: &Ended,
    outcomes: &[(Moment, Outcome)],
    note: Line,
    canvas: Canvas,
) -> Vec<Vec<Line>> {
    match (&ended.conclusion, &ended.draft) {
        (Some(conclusion), _) => {
            let (_, style) = palette::of_ending(ended.terminal_state);
            let mut lines = headed("CONCLUSION", note, canvas);
            lines.extend(
                Framed { bar: "┃", style, words: STRONG, canvas }.draw(conclusion, outcomes),
            );
            vec![lines, objections::of_revised(ended, conclusion, canvas)]
        }
        (None, Some(draft)) if ended.is_over() => {
            let (_, style) = palette::of_ending(ended.terminal_state);
            let mut rejected = heading("REJECTED DRAFT", "not a conclusion", canvas);
            rejected.extend(Framed { bar: "│", style, words: PLAIN, canvas }.draw(draft, outcomes));
            vec![
                explanation(ended, note, canvas),
                objections::of_rejected(ended, draft, canvas),
                rejected,
            ]
        }
        (None, Some(draft)) => {
            let mut lines = heading("DRAFT", what_draft_lacks(ended), canvas);
            lines.extend(
                Framed { bar: "│", style: CAUTION, words: PLAIN, canvas }.draw(draft, outcomes),
            );
            vec![lines, objections::of_draft(ended, draft, canvas)]
        }
        (None, None) => Vec::new(),
    }
}

/// The terminal state with mark and colour; blank while the run is not over.
pub(in crate::surfaces::cli::show) fn state(ended: &Ended) -> Line {
    if !ended.is_over() {
        return Line::blank();
    }
    let state: Option<TerminalState> = ended.terminal_state;
    let (mark, style) = palette::of_ending(state);
    Line::blank().styled(mark, style).plain(" ").styled(state_word(state), style.bold())
}

fn explanation(ended: &Ended, note: Line, canvas: Canvas) -> Vec<Line> {
    let Some(explanation) = &ended.explanation else { return Vec::new() };
    let mut lines = headed("NO CONCLUSION", note, canvas);
    lines.extend(prose(&wrap_text(explanation, canvas.measure() - MARGIN), MARGIN));
    lines
}
