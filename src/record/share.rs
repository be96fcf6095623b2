//! Percentages, and the sample size below which they mean nothing.

/// Below this sample size a percentage is mostly chance.
pub const SAMPLE_MIN: usize = 10;

/// Percentage rounded to one decimal; `None` if the whole is zero.
pub fn percent_of(part: usize, whole: usize) -> Option<f64> {
    let tenths = (part * 1_000 + whole / 2).checked_div(whole)?;
    Some(tenths as f64 / 10.0)
}

/// Whether the sample is large enough and the share exceeds the limit, without rounding.
pub(super) fn exceeds_percent(part: usize, whole: usize, percent_max: usize) -> bool {
    whole >= SAMPLE_MIN && part * 100 > percent_max * whole
}
