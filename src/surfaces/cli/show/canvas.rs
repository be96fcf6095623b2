//! What there is to draw on, and how much of the dialogue is wanted.

/// Narrower than this nothing lines up; the terminal may wrap what we draw.
const COLUMNS_MIN: usize = 40;

/// Wider than this the eye loses the line between its two ends.
const COLUMNS_MAX: usize = 140;

/// Prose is set no wider than this, however wide the terminal.
const MEASURE_MAX: usize = 100;

/// From this width on the tensions stand side by side.
const BOARD_COLUMNS_MIN: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Canvas {
    /// Columns of the terminal.
    pub width: usize,
    pub detail: Detail,
    /// Only this round, when given.
    pub round: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Contributions are cut to a few lines.
    Brief,
    /// Every word, and every step of each tension.
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
