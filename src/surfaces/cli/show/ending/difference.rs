//! The difference between two versions of a field: old lines with a minus, new lines with a plus,
//! changed words in colour.

use anstyle::Style;

use crate::domain::conclusion::{Conclusion, Field};
use crate::export::conclusion::{Marked, changed_words, field_text};
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::MARGIN;
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{BAD, FAINT, GOOD, PLAIN};
use crate::surfaces::cli::wrap::wrap_text;

/// Indent of the text, after the sign.
const INDENT: usize = MARGIN + 4;

pub(super) fn draw(
    original: &Conclusion,
    mended: &Conclusion,
    field: Field,
    canvas: Canvas,
) -> Vec<Line> {
    let room = canvas.measure() - INDENT;
    let set = |conclusion: &Conclusion| wrap_text(&field_text(conclusion, field), room);
    let (old, new) = (set(original), set(mended));
    // Compare the wrapped lines, so that the marks match the words on the screen.
    let (gone, come) = changed_words(&old, &new);
    let (before, after) = (
        Side { sign: "-", changed: BAD, kept: FAINT },
        Side { sign: "+", changed: GOOD.bold(), kept: PLAIN },
    );
    let mut lines = before.draw(&old, &gone);
    lines.extend(after.draw(&new, &come));
    lines
}

/// Sign and styles of the old or the new version.
struct Side {
    sign: &'static str,
    changed: Style,
    kept: Style,
}

impl Side {
    fn draw(&self, lines: &[String], marked: &Marked<'_>) -> Vec<Line> {
        if lines.is_empty() {
            return vec![self.start().styled("(nothing)", FAINT)];
        }
        let set = lines.iter().zip(marked).map(|(text, words)| {
            let indent = text.len() - text.trim_start().len();
            let mut line = self.start().pad_to(INDENT + indent);
            for (place, (word, is_changed)) in words.iter().enumerate() {
                let gap = if place == 0 { "" } else { " " };
                let style = if *is_changed { self.changed } else { self.kept };
                line = line.plain(gap).styled(word, style);
            }
            line
        });
        set.collect()
    }

    fn start(&self) -> Line {
        Line::indented(MARGIN * 2).styled(self.sign, self.changed).pad_to(INDENT)
    }
}
