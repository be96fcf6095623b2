//! Moments, in UTC with microseconds, always written the same way.
//!
//! The fixed width makes text order equal time order, which the store relies on.

use std::fmt;
use std::str::FromStr;

use super::ids::Malformed;
use super::words::serde_by_text;

/// A moment, written `2026-02-02T09:30:00.000000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment(jiff::Timestamp);

impl Moment {
    /// What is finer than a microsecond is dropped, so that a moment is the same before and
    /// after it was written down.
    pub fn new(timestamp: jiff::Timestamp) -> Self {
        let micros = jiff::Timestamp::from_microsecond(timestamp.as_microsecond());
        Self(micros.unwrap_or(timestamp))
    }

    /// The day, as `2026-02-02`.
    pub fn day(self) -> String {
        self.to_string().chars().take("2026-02-02".len()).collect()
    }

    /// Milliseconds from an earlier moment to this one; none, when it is not earlier.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.duration_since(earlier.0).as_millis()).unwrap_or(0)
    }

    /// The next moment that can be told apart from this one.
    #[must_use]
    pub fn bumped(self) -> Self {
        Self(self.0.checked_add(jiff::SignedDuration::from_micros(1)).unwrap_or(self.0))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}", self.0)
    }
}

impl FromStr for Moment {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        text.parse().map(Self::new).map_err(|_| Malformed)
    }
}

serde_by_text!(Moment);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_same_after_it_was_written_down() {
        let finer: jiff::Timestamp = "2026-02-02T09:30:00.000999999Z".parse().unwrap();
        let moment = Moment::new(finer);
        assert_eq!(moment.to_string().parse(), Ok(moment));
        let second = Moment::new("2026-02-02T09:30:00Z".parse().unwrap());
        assert_eq!(moment.millis_since(second), 0);
    }

    #[test]
    fn moments_have_one_spelling() {
        let moment: Moment = "2026-02-02T10:30:00+01:00".parse().unwrap();
        assert_eq!(moment.to_string(), "2026-02-02T09:30:00.000000Z");
        assert_eq!(moment.bumped().to_string(), "2026-02-02T09:30:00.000001Z");
    }
}
