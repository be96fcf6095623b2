//! One line of the screen: [`StyledLine`], styled pieces with a known width.
//!
//! **Invariant:** every text passes through `safe_text` here, so the terminal receives no escape
//! sequence except our own colours.

use std::fmt;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::palette::PLAIN;
use crate::export::safe_text;
use crate::surfaces::cli::wrap::fit_width;

#[derive(Debug, Clone, Default)]
pub(super) struct StyledLine {
    pieces: Vec<(String, Style)>,
    width: usize,
}

impl StyledLine {
    pub(super) fn blank() -> Self {
        Self::default()
    }

    pub(super) fn with_indent(columns: usize) -> Self {
        Self::default().pad_to_column(columns)
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    #[must_use]
    pub(super) fn push_plain(self, text: &str) -> Self {
        self.push_styled(text, PLAIN)
    }

    #[must_use]
    pub(super) fn push_styled(mut self, text: &str, style: Style) -> Self {
        let text = safe_text::safe_line(text);
        self.width += text.width();
        self.pieces.push((text, style));
        self
    }

    /// Appends text, cut so that it ends before `column`.
    #[must_use]
    pub(super) fn push_fitted(self, text: &str, style: Style, column: usize) -> Self {
        let room = column.saturating_sub(self.width);
        let text = fit_width(text, room);
        self.push_styled(&text, style)
    }

    #[must_use]
    pub(super) fn pad_to_column(mut self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width);
        self.pieces.push((" ".repeat(missing), PLAIN));
        self.width += missing;
        self
    }

    /// Appends the other line so that it ends at `column`.
    #[must_use]
    pub(super) fn append_right(self, other: Self, column: usize) -> Self {
        let start = column.saturating_sub(other.width);
        self.pad_to_column(start).append_line(other)
    }

    #[must_use]
    pub(super) fn append_line(mut self, other: Self) -> Self {
        self.width += other.width;
        self.pieces.extend(other.pieces);
        self
    }
}

impl fmt::Display for StyledLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Trim padding at the end, so that a reader who copies the line does not get it.
        let ink = |(text, _): &(String, Style)| !text.trim_end().is_empty();
        let inked = self.pieces.iter().rposition(ink).map_or(0, |last| last + 1);
        for (place, (text, style)) in self.pieces.iter().take(inked).enumerate() {
            let text = if place + 1 == inked { text.trim_end() } else { text };
            if !text.is_empty() {
                write!(f, "{style}{text}{style:#}")?;
            }
        }
        Ok(())
    }
}
