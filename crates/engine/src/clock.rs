//! Clock and random numbers, behind a trait so that tests can fix both.
//!
//! [`RealSystem`] is the implementation for production. The engine, the store and the interfaces
//! use it through the trait.

use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plenary_core::model::time::Moment;

/// The clock and the random numbers of the machine.
pub trait System: Debug + Send + Sync {
    fn now(&self) -> Moment;

    /// Returns 64 random bits.
    fn random_u64(&self) -> u64;
}

/// Years that the program accepts from the clock. It starts at the Unix epoch and ends early enough
/// that dates planned a hundred years ahead still have four digits.
pub const CLOCK_YEARS: RangeInclusive<i64> = 1970..=9_800;

/// The machine's clock and random number generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealSystem;

impl RealSystem {
    /// Returns the year of the clock if it lies outside [`CLOCK_YEARS`].
    #[expect(clippy::disallowed_methods, reason = "the one clock")]
    pub fn impossible_year(self) -> Option<i64> {
        let year = year_of(SystemTime::now());
        (!CLOCK_YEARS.contains(&year)).then_some(year)
    }
}

/// Converts a system time. A time outside the range of [`Moment`] becomes the nearest end.
fn to_moment(time: SystemTime) -> Moment {
    let nearest = || if time < UNIX_EPOCH { Moment::FIRST } else { Moment::LAST };
    jiff::Timestamp::try_from(time).map_or_else(|_| nearest(), Moment::new)
}

/// Returns the year of a time, exact to within a day.
fn year_of(time: SystemTime) -> i64 {
    const YEAR: Duration = Duration::from_secs(31_556_952);
    let years =
        |distance: Duration| i64::try_from(distance.as_secs() / YEAR.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => years(since).saturating_add(1970),
        Err(before) => 1969_i64.saturating_sub(years(before.duration())),
    }
}

impl System for RealSystem {
    #[expect(clippy::disallowed_methods, reason = "the one clock")]
    fn now(&self) -> Moment {
        to_moment(SystemTime::now())
    }

    fn random_u64(&self) -> u64 {
        // Falls back to the clock if the system has no randomness: a seed must differ between runs,
        // but need not be secret.
        getrandom::u64().unwrap_or_else(|_| {
            self.now()
                .to_string()
                .bytes()
                .fold(0, |seed: u64, byte| seed.rotate_left(7) ^ u64::from(byte))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_has_a_moment() {
        let at = |seconds: i64| match u64::try_from(seconds) {
            Ok(seconds) => UNIX_EPOCH + Duration::from_secs(seconds),
            Err(_) => UNIX_EPOCH - Duration::from_secs(seconds.unsigned_abs()),
        };
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z", 1970),
            (-1, "1969-12-31T23:59:59.000000Z", 1969),
            (1_770_022_800, "2026-02-02T09:00:00.000000Z", 2026),
            (253_402_207_200, "9999-12-30T22:00:00.000000Z", 9999),
            // The first second that `jiff` cannot represent, and values far beyond it.
            (253_402_207_201, "9999-12-30T22:00:00.999999Z", 9999),
            (253_402_400_000, "9999-12-30T22:00:00.999999Z", 10_000),
            (1 << 45, "9999-12-30T22:00:00.999999Z", 1_116_918),
            (-62_167_219_201, "0000-01-01T00:00:00.000000Z", -1),
            (-(1 << 45), "0000-01-01T00:00:00.000000Z", -1_112_979),
        ];
        for (seconds, moment, year) in cases {
            let time = at(seconds);
            assert_eq!((to_moment(time).to_string().as_str(), year_of(time)), (moment, year));
        }
    }

    #[test]
    fn the_clock_of_this_machine_can_be_worked_with() {
        assert_eq!(RealSystem.impossible_year(), None);
    }
}
