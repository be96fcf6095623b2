//! A part of a whole, as people read it.

/// To a tenth; nothing of nothing is no share.
pub fn percent(part: usize, whole: usize) -> Option<f64> {
    let tenths = (part * 1_000 + whole / 2).checked_div(whole)?;
    Some(tenths as f64 / 10.0)
}

/// A mean to a hundredth.
pub(super) fn mean(sum: u64, count: u64) -> Option<f64> {
    let hundredths = (sum * 100 + count / 2).checked_div(count)?;
    Some(hundredths as f64 / 100.0)
}
