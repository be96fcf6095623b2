//! The size of a page and the detail to draw: [`PageCanvas`], passed to every drawing function.

/// Minimum width for aligned columns. A narrower terminal wraps the lines itself.
const COLUMNS_MIN: usize = 40;

/// Maximum width of a page; longer lines are hard to follow.
const COLUMNS_MAX: usize = 140;

/// Maximum width of prose, also on wide terminals.
const TEXT_WIDTH_MAX: usize = 100;

/// Minimum width for tension columns side by side.
const BOARD_COLUMNS_MIN: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCanvas {
    /// Width of the terminal in columns.
    pub width: usize,
    pub detail: PageDetail,
    /// Draw only this round, if set.
    pub round: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageDetail {
    /// Cuts contributions to a few lines.
    Brief,
    /// Shows the full text, and every event of each tension.
    Full,
}

impl PageCanvas {
    pub(super) fn column_count(self) -> usize {
        self.width.clamp(COLUMNS_MIN, COLUMNS_MAX)
    }

    pub(super) fn text_width(self) -> usize {
        self.column_count().min(TEXT_WIDTH_MAX)
    }

    pub(super) fn fits_board(self) -> bool {
        self.column_count() >= BOARD_COLUMNS_MIN
    }

    pub(super) fn shows_round(self, round: u8) -> bool {
        self.round.is_none_or(|only| only == round)
    }
}
