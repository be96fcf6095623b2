//! Sections of a conclusion. Called by council and dialogue pages.

use super::fields::ConclusionBlock;
use super::objections;
use crate::domain::conclusion::ConclusionOutcome;
use crate::domain::dialogue::TerminalState;
use crate::domain::time::Moment;
use crate::export::conclusion::{ConclusionView, draft_status, state_label};
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, draw_styled_heading, indent_prose};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{self, CAUTION, PLAIN, STRONG};
use crate::surfaces::cli::wrap::wrap_text;

/// Draws the conclusion or the current draft; nothing before there is a draft. `note` goes beside
/// the title.
pub(in crate::surfaces::cli::show) fn draw_conclusion(
    ended: &ConclusionView,
    outcomes: &[(Moment, ConclusionOutcome)],
    note: StyledLine,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    match (&ended.conclusion, &ended.draft) {
        (Some(conclusion), _) => {
            let (_, style) = palette::terminal_state_mark(ended.terminal_state);
            let mut lines = draw_styled_heading("CONCLUSION", note, canvas);
            lines.extend(
                ConclusionBlock { bar: "┃", style, text_style: STRONG, canvas }
                    .draw_fields(conclusion, outcomes),
            );
            vec![lines, objections::draw_revision(ended, conclusion, canvas)]
        }
        (None, Some(draft)) if ended.is_over() => {
            let (_, style) = palette::terminal_state_mark(ended.terminal_state);
            let mut rejected = draw_heading("REJECTED DRAFT", "not a conclusion", canvas);
            rejected.extend(
                ConclusionBlock { bar: "│", style, text_style: PLAIN, canvas }
                    .draw_fields(draft, outcomes),
            );
            vec![
                draw_explanation(ended, note, canvas),
                objections::draw_rejections(ended, draft, canvas),
                rejected,
            ]
        }
        (None, Some(draft)) => {
            let mut lines = draw_heading("DRAFT", draft_status(ended), canvas);
            lines.extend(
                ConclusionBlock { bar: "│", style: CAUTION, text_style: PLAIN, canvas }
                    .draw_fields(draft, outcomes),
            );
            vec![lines, objections::draw_draft_objections(ended, draft, canvas)]
        }
        (None, None) => Vec::new(),
    }
}

/// The terminal state with mark and colour; blank while the run is not over.
pub(in crate::surfaces::cli::show) fn state_line(ended: &ConclusionView) -> StyledLine {
    if !ended.is_over() {
        return StyledLine::blank();
    }
    let state: Option<TerminalState> = ended.terminal_state;
    let (mark, style) = palette::terminal_state_mark(state);
    StyledLine::blank()
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(state_label(state), style.bold())
}

fn draw_explanation(
    ended: &ConclusionView,
    note: StyledLine,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let Some(explanation) = &ended.explanation else { return Vec::new() };
    let mut lines = draw_styled_heading("NO CONCLUSION", note, canvas);
    lines.extend(indent_prose(&wrap_text(explanation, canvas.text_width() - MARGIN), MARGIN));
    lines
}
