//! Moments, in UTC with microseconds, and days, always written the same way.
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

    pub fn day(self) -> Day {
        Day(self.0.to_zoned(jiff::tz::TimeZone::UTC).date())
    }

    /// `2026-02-02 09:30`, in UTC: what a person needs of it.
    pub fn minute(self) -> String {
        self.0.strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Milliseconds from an earlier moment to this one; none, when it is not earlier.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.duration_since(earlier.0).as_millis()).unwrap_or(0)
    }

    /// The moment that many hours before; the first one there is, beyond that.
    #[must_use]
    pub fn hours_earlier(self, hours: u32) -> Self {
        let earlier = self.0.saturating_sub(jiff::SignedDuration::from_hours(i64::from(hours)));
        Self(earlier.unwrap_or(jiff::Timestamp::MIN))
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

/// A day, written `2026-02-02`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(jiff::civil::Date);

impl Day {
    /// The last day that can be written.
    pub const LAST: Self = Self(jiff::civil::Date::MAX);

    /// The day that many days later; the last one there is, beyond that.
    #[must_use]
    pub fn later(self, days: u32) -> Self {
        Self(self.0.saturating_add(jiff::SignedDuration::from_hours(i64::from(days) * 24)))
    }

    /// The day that many days before; the first one there is, beyond that.
    #[must_use]
    pub fn earlier(self, days: u32) -> Self {
        Self(self.0.saturating_sub(jiff::SignedDuration::from_hours(i64::from(days) * 24)))
    }

    /// Its first moment, in UTC.
    pub fn start(self) -> Moment {
        let midnight = self.0.to_zoned(jiff::tz::TimeZone::UTC).map(|start| start.timestamp());
        // Moments end a little earlier than days do, and begin a little later.
        let nearest = if self.0.year() > 0 { jiff::Timestamp::MAX } else { jiff::Timestamp::MIN };
        Moment::new(midnight.unwrap_or(nearest))
    }

    /// Days from an earlier day to this one; negative, when it is not earlier.
    pub fn days_since(self, earlier: Self) -> i64 {
        self.0.duration_since(earlier.0).as_hours() / 24
    }

    /// The week it lies in, as `2026-W06`.
    pub fn week(self) -> String {
        let week = self.0.iso_week_date();
        format!("{:04}-W{:02}", week.year(), week.week())
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Day {
    type Err = Malformed;

    /// Only the one spelling: a moment is not a day.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let day = text.parse().map(Self).map_err(|_| Malformed)?;
        if day.to_string() == text { Ok(day) } else { Err(Malformed) }
    }
}

serde_by_text!(Day);

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
    fn days_have_one_spelling() {
        let day: Day = "2026-02-02".parse().unwrap();
        assert_eq!(day.to_string(), "2026-02-02");
        for other in ["20260202", "2026-2-2", "2026-02-02T09:30:00", "+002026-02-02", "2026-02-30"]
        {
            assert_eq!(other.parse::<Day>(), Err(Malformed), "{other}");
        }
        assert_eq!(
            (day.week().as_str(), day.later(27).to_string().as_str()),
            ("2026-W06", "2026-03-01")
        );
        assert_eq!(day.later(27).days_since(day), 27);
    }

    #[test]
    fn moments_have_one_spelling() {
        let moment: Moment = "2026-02-02T10:30:00+01:00".parse().unwrap();
        assert_eq!(moment.to_string(), "2026-02-02T09:30:00.000000Z");
        assert_eq!(moment.bumped().to_string(), "2026-02-02T09:30:00.000001Z");
    }
}
