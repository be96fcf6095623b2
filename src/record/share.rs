//! A part of a whole, as people read it, and when it says anything.

/// With fewer, a share says more about chance than about what it is a share of.
pub const ENOUGH: usize = 10;

/// To a tenth; nothing of nothing is no share.
pub fn percent(part: usize, whole: usize) -> Option<f64> {
    let tenths = (part * 1_000 + whole / 2).checked_div(whole)?;
    Some(tenths as f64 / 10.0)
}

/// Whether it is more than so many percent, of enough to say so. Rounding hides no step.
pub(super) fn is_over(part: usize, whole: usize, percent_max: usize) -> bool {
    whole >= ENOUGH && part * 100 > percent_max * whole
}
