//! The difference between two versions of a field: old lines with a minus, new lines with a plus,
//! changed words in colour.

use anstyle::Style;

use crate::domain::conclusion::{Conclusion, ConclusionField};
use crate::export::conclusion::{MarkedLines, changed_words, field_text};
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::MARGIN;
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{BAD, FAINT, GOOD, PLAIN};
use crate::surfaces::cli::wrap::wrap_text;

/// Indent of the text, after the sign.
const DIFF_INDENT: usize = MARGIN + 4;

pub(super) fn draw_difference(
    original: &Conclusion,
    mended: &Conclusion,
    field: ConclusionField,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let room = canvas.text_width() - DIFF_INDENT;
    let set = |conclusion: &Conclusion| wrap_text(&field_text(conclusion, field), room);
    let (old, new) = (set(original), set(mended));
    // Compare the wrapped lines, so that the marks match the words on the screen.
    let (gone, come) = changed_words(&old, &new);
    let (before, after) = (
        DiffSide { sign: "-", changed: BAD, kept: FAINT },
        DiffSide { sign: "+", changed: GOOD.bold(), kept: PLAIN },
    );
    let mut lines = before.draw_side(&old, &gone);
    lines.extend(after.draw_side(&new, &come));
    lines
}

/// Sign and styles of the old or the new version.
struct DiffSide {
    sign: &'static str,
    changed: Style,
    kept: Style,
}

impl DiffSide {
    fn draw_side(&self, lines: &[String], marked: &MarkedLines<'_>) -> Vec<StyledLine> {
        if lines.is_empty() {
            return vec![self.start_line().push_styled("(nothing)", FAINT)];
        }
        let set = lines.iter().zip(marked).map(|(text, words)| {
            let indent = text.len() - text.trim_start().len();
            let mut line = self.start_line().pad_to_column(DIFF_INDENT + indent);
            for (place, (word, is_changed)) in words.iter().enumerate() {
                let gap = if place == 0 { "" } else { " " };
                let style = if *is_changed { self.changed } else { self.kept };
                line = line.push_plain(gap).push_styled(word, style);
            }
            line
        });
        set.collect()
    }

    fn start_line(&self) -> StyledLine {
        StyledLine::with_indent(MARGIN * 2)
            .push_styled(self.sign, self.changed)
            .pad_to_column(DIFF_INDENT)
    }
}
