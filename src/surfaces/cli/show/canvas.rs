//! The size of a page and the detail to draw: [`PageCanvas`], passed to every drawing function.

/// Minimum width for aligned columns. A narrower terminal wraps the lines itself.
const COLUMNS_MIN: usize = 40;

/// Maximum width of a page; longer lines are hard to follow.
const COLUMNS_MAX: usize = 140;

/// Maximum width of prose, also on wide terminals.
const MEASURE_MAX: usize = 100;

/// Minimum width for tension columns side by side.
const BOARD_COLUMNS_MIN: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Width of the terminal in columns.
    pub width: usize,
    pub detail: Detail,
    /// Draw only this round, if set.
    pub round: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Cuts contributions to a few lines.
    Brief,
    /// Shows the full text, and every event of each tension.
    Full,
}

impl Canvas {
    pub(super) fn columns(self) -> usize {
        self.width.clamp(COLUMNS_MIN, COLUMNS_MAX)
    }

    pub(super) fn measure(self) -> usize {
        self.columns().min(MEASURE_MAX)
    }

    pub(super) fn has_room_for_board(self) -> bool {
        self.columns() >= BOARD_COLUMNS_MIN
    }

    pub(super) fn shows_round(self, round: u8) -> bool {
        self.round.is_none_or(|only| only == round)
    }
}
