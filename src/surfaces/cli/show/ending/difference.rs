//! A field before and after: old lines with a minus, new ones with a plus, and the words
//! that differ in colour.

use anstyle::Style;

use super::super::super::wrap::wrap_text;
use super::super::canvas::Canvas;
use super::super::line::Line;
use super::super::page::MARGIN;
use super::super::palette::{BAD, FAINT, GOOD, PLAIN};
use crate::domain::conclusion::{Conclusion, Field};
use crate::export::conclusion::{changed_words, field_text};

/// Where the words begin, past the sign.
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
    // Compared as they are set, so that each word on the screen has its answer.
    let (gone, come) = changed_words(&words(&old), &words(&new));
    let mut lines = side(&old, &gone, &Side { sign: "-", changed: BAD, kept: FAINT });
    lines.extend(side(&new, &come, &Side { sign: "+", changed: GOOD.bold(), kept: PLAIN }));
    lines
}

/// How one of the two is drawn.
struct Side {
    sign: &'static str,
    changed: Style,
    kept: Style,
}

fn side(lines: &[String], changed: &[bool], side: &Side) -> Vec<Line> {
    if lines.is_empty() {
        return vec![side.start().styled("(nothing)", FAINT)];
    }
    let mut changed = changed.iter().copied();
    let mut set = |text: &String| {
        let indent = text.len() - text.trim_start().len();
        let mut line = side.start().pad_to(INDENT + indent);
        for (place, word) in text.split_whitespace().enumerate() {
            let is_changed = changed.next().unwrap_or(true);
            let gap = if place == 0 { "" } else { " " };
            line = line.plain(gap).styled(word, if is_changed { side.changed } else { side.kept });
        }
        line
    };
    lines.iter().map(&mut set).collect()
}

impl Side {
    fn start(&self) -> Line {
        Line::indented(MARGIN * 2).styled(self.sign, self.changed).pad_to(INDENT)
    }
}

fn words(lines: &[String]) -> Vec<&str> {
    lines.iter().flat_map(|line| line.split_whitespace()).collect()
}
