//! Moments in UTC with microseconds, days, and time windows, each with one fixed text form.
//!
//! The fixed width makes text order equal time order, which the store relies on. Therefore only the
//! years 0000 to 9999 exist: values outside are clamped, and arithmetic saturates.

use std::fmt;
use std::str::FromStr;

use crate::model::ids::MalformedText;
use crate::model::string_enum::{schema_by_text, serde_by_text};

/// A moment, written `2026-02-02T09:30:00.000000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment(jiff::Timestamp);

impl Moment {
    /// The first moment with the fixed width.
    pub const FIRST: Self = Self(jiff::Timestamp::constant(FIRST_SECOND, 0));

    /// The last moment, on 9999-12-30: no time zone shifts it beyond the year 9999.
    pub const LAST: Self = Self(jiff::Timestamp::constant(LAST_SECOND, LAST_NANOS));

    /// Drops everything below a microsecond, so that a moment equals itself after a round trip
    /// through text.
    pub fn new(timestamp: jiff::Timestamp) -> Self {
        let micros = jiff::Timestamp::from_microsecond(timestamp.as_microsecond());
        Self(micros.unwrap_or(timestamp)).clamp(Self::FIRST, Self::LAST)
    }

    pub fn utc_day(self) -> Day {
        Day(self.0.to_zoned(jiff::tz::TimeZone::UTC).date())
    }

    /// Formats for people, in UTC: `2026-02-02 09:30`.
    pub fn format_minute(self) -> String {
        self.0.strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Formats for people, in UTC: `2026-02-02 09:30:15`.
    pub fn format_second(self) -> String {
        self.0.strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// Milliseconds since an earlier moment; 0 if that moment is not earlier.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.duration_since(earlier.0).as_millis()).unwrap_or(0)
    }

    /// Subtracts hours, saturating at the first moment.
    #[must_use]
    pub fn minus_hours(self, hours: u32) -> Self {
        let earlier = self.0.saturating_sub(jiff::SignedDuration::from_hours(i64::from(hours)));
        Self::new(earlier.unwrap_or(jiff::Timestamp::MIN))
    }

    /// The next distinguishable moment, or `None` after the last.
    #[must_use]
    pub fn next_moment(self) -> Option<Self> {
        let next = self.0.checked_add(jiff::SignedDuration::from_micros(1)).ok()?;
        (self < Self::LAST).then_some(Self(next))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}", self.0)
    }
}

impl FromStr for Moment {
    type Err = MalformedText;

    /// Rejects years that need more than four digits, because their text would sort wrongly.
    fn from_str(text: &str) -> Result<Self, MalformedText> {
        let timestamp: jiff::Timestamp = text.parse().map_err(|_| MalformedText)?;
        if timestamp < Self::FIRST.0 { Err(MalformedText) } else { Ok(Self::new(timestamp)) }
    }
}

serde_by_text!(Moment);
schema_by_text!(Moment, "date-time");

/// 0000-01-01T00:00:00Z, in seconds from 1970.
const FIRST_SECOND: i64 = -62_167_219_200;
/// 9999-12-30T22:00:00Z, and its last microsecond.
const LAST_SECOND: i64 = 253_402_207_200;
const LAST_NANOS: i32 = 999_999_000;

/// A day, written `2026-02-02`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(jiff::civil::Date);

impl Day {
    /// The last day that can be written.
    pub const LAST: Self = Self(jiff::civil::Date::MAX);

    /// The first day with the fixed width.
    pub const FIRST: Self = Self(jiff::civil::Date::constant(0, 1, 1));

    /// Adds days, saturating at the last day.
    #[must_use]
    pub fn plus_days(self, days: u32) -> Self {
        Self(self.0.saturating_add(jiff::SignedDuration::from_hours(i64::from(days) * 24)))
    }

    /// Subtracts days, saturating at the first day.
    #[must_use]
    pub fn minus_days(self, days: u32) -> Self {
        let earlier = self.0.saturating_sub(jiff::SignedDuration::from_hours(i64::from(days) * 24));
        Self(earlier).max(Self::FIRST)
    }

    /// The first moment of the day, in UTC.
    pub fn start_moment(self) -> Moment {
        let midnight = self.0.to_zoned(jiff::tz::TimeZone::UTC).map(|start| start.timestamp());
        // The last day starts after the last moment.
        midnight.map_or(Moment::LAST, Moment::new)
    }

    /// Days since an earlier day; negative if that day is later.
    pub fn days_since(self, earlier: Self) -> i64 {
        self.0.duration_since(earlier.0).as_hours() / 24
    }

    /// With the day of the week, for example `Monday, 2026-02-02`.
    pub fn with_weekday(self) -> String {
        self.0.strftime("%A, %Y-%m-%d").to_string()
    }

    /// The ISO week, for example `2026-W06`.
    pub fn iso_week(self) -> String {
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
    type Err = MalformedText;

    /// Accepts only the one spelling; a moment is not a day.
    fn from_str(text: &str) -> Result<Self, MalformedText> {
        let day = text.parse().map(Self).map_err(|_| MalformedText)?;
        if day.to_string() == text && day >= Self::FIRST { Ok(day) } else { Err(MalformedText) }
    }
}

serde_by_text!(Day);
schema_by_text!(Day, "date");

/// A hundred years: no plan reaches further, and dates stay within their range.
const DAYS_MAX: u32 = 36_500;

const DAY_UNITS: [(char, u32); 2] = [('d', 1), ('w', 7)];

/// A number of days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayCount {
    pub days: u32,
}

impl FromStr for DayCount {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        let read = |(unit, days): (char, u32)| {
            let number = text.strip_suffix(unit)?;
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse::<u32>().ok().filter(|_| is_number)?.checked_mul(days)
        };
        let days = DAY_UNITS.into_iter().find_map(read).filter(|days| *days <= DAYS_MAX);
        days.map(|days| Self { days }).ok_or(MalformedText)
    }
}

/// Start of a window: a day, or a number of days before today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinceDay {
    Day(Day),
    Ago(DayCount),
}

impl SinceDay {
    /// The first moment of the start day.
    pub fn start_moment(self, today: Day) -> Moment {
        match self {
            Self::Day(day) => day.start_moment(),
            Self::Ago(stretch) => today.minus_days(stretch.days).start_moment(),
        }
    }
}

impl FromStr for SinceDay {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        text.parse().map(Self::Day).or_else(|_| text.parse().map(Self::Ago))
    }
}

/// Start of a window that also accepts hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinceTime {
    Hours(u32),
    Since(SinceDay),
}

impl SinceTime {
    /// Hours count back from now; days start at midnight.
    pub fn start_moment(self, now: Moment) -> Moment {
        match self {
            Self::Hours(hours) => now.minus_hours(hours),
            Self::Since(since) => since.start_moment(now.utc_day()),
        }
    }
}

impl FromStr for SinceTime {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        let Some(number) = text.strip_suffix('h') else { return text.parse().map(Self::Since) };
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let hours = number.parse::<u32>().ok().filter(|_| is_number);
        hours.filter(|hours| *hours <= DAYS_MAX * 24).map(Self::Hours).ok_or(MalformedText)
    }
}

/// Units of a duration, the smallest first.
const DURATION_UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// Parses an integer with a unit into milliseconds.
pub fn parse_duration(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    let (_, factor) = DURATION_UNITS.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Formats milliseconds with the largest unit that divides them.
pub fn show_duration(ms: u64) -> String {
    let fits =
        DURATION_UNITS.iter().rev().find(|(_, factor)| ms >= *factor && ms.is_multiple_of(*factor));
    fits.map_or_else(|| format!("{ms}ms"), |(name, factor)| format!("{}{name}", ms / factor))
}

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
            assert_eq!(other.parse::<Day>(), Err(MalformedText), "{other}");
        }
        assert_eq!(
            (day.iso_week().as_str(), day.plus_days(27).to_string().as_str()),
            ("2026-W06", "2026-03-01")
        );
        assert_eq!(day.plus_days(27).days_since(day), 27);
    }

    #[test]
    fn moments_have_one_spelling() {
        let moment: Moment = "2026-02-02T10:30:00+01:00".parse().unwrap();
        assert_eq!(moment.to_string(), "2026-02-02T09:30:00.000000Z");
        let next = moment.next_moment().map(|next| next.to_string());
        assert_eq!(next.as_deref(), Some("2026-02-02T09:30:00.000001Z"));
    }

    #[test]
    fn moments_stop_at_both_ends() {
        let (first, last) = ("0000-01-01T00:00:00.000000Z", "9999-12-30T22:00:00.999999Z");
        assert_eq!(
            (Moment::FIRST.to_string(), Moment::LAST.to_string()),
            (first.into(), last.into())
        );
        assert_eq!((first.parse(), last.parse()), (Ok(Moment::FIRST), Ok(Moment::LAST)));
        // A clock outside the range is clamped to the nearest end.
        assert_eq!(Moment::new(jiff::Timestamp::MIN), Moment::FIRST);
        assert_eq!(Moment::new(jiff::Timestamp::MAX), Moment::LAST);
        assert_eq!(Moment::LAST.next_moment(), None);
        assert_eq!(Moment::FIRST.next_moment().unwrap().to_string(), "0000-01-01T00:00:00.000001Z");
        assert_eq!(Moment::FIRST.minus_hours(1), Moment::FIRST);
        assert_eq!(Moment::LAST.minus_hours(u32::MAX), Moment::FIRST);
        assert_eq!(Moment::FIRST.millis_since(Moment::LAST), 0);
        assert_eq!(Moment::LAST.millis_since(Moment::FIRST), 315_569_426_400_999);
        assert_eq!(Moment::LAST.format_minute(), "9999-12-30 22:00");
        assert_eq!(Moment::LAST.utc_day().to_string(), "9999-12-30");
        let outside = ["-000001-12-31T23:59:59.999999Z", "-009999-01-02T01:59:59Z"];
        let outside = outside.iter().chain(&["9999-12-31T00:00:00Z", "+010000-01-01T00:00:00Z"]);
        for text in outside {
            assert_eq!(text.parse::<Moment>(), Err(MalformedText), "{text}");
        }
    }

    #[test]
    fn days_stop_at_both_ends() {
        assert_eq!(
            (Day::FIRST.to_string(), Day::LAST.to_string()),
            ("0000-01-01".into(), "9999-12-31".into())
        );
        assert_eq!(("0000-01-01".parse(), "9999-12-31".parse()), (Ok(Day::FIRST), Ok(Day::LAST)));
        assert_eq!(
            (Day::FIRST.minus_days(1), Day::LAST.minus_days(u32::MAX)),
            (Day::FIRST, Day::FIRST)
        );
        assert_eq!(
            (Day::LAST.plus_days(1), Day::FIRST.plus_days(u32::MAX)),
            (Day::LAST, Day::LAST)
        );
        assert_eq!(
            (Day::FIRST.start_moment(), Day::LAST.start_moment()),
            (Moment::FIRST, Moment::LAST)
        );
        assert_eq!(
            (Day::LAST.days_since(Day::FIRST), Day::FIRST.days_since(Day::LAST)),
            (3_652_424, -3_652_424)
        );
        assert_eq!(
            (Day::FIRST.iso_week().as_str(), Day::LAST.iso_week().as_str()),
            ("-001-W52", "9999-W52")
        );
        for text in ["-000001-12-31", "-009999-01-01", "10000-01-01", "+010000-01-01"] {
            assert_eq!(text.parse::<Day>(), Err(MalformedText), "{text}");
        }
    }
}

#[cfg(test)]
mod stretch_tests {
    use super::*;

    #[test]
    fn stretches_are_days_or_weeks() {
        let days = |text: &str| text.parse::<DayCount>().ok().map(|stretch| stretch.days);
        let cases = [("0d", 0), ("30d", 30), ("4w", 28), ("36500d", 36_500)];
        for (text, expected) in cases {
            assert_eq!(days(text), Some(expected), "{text}");
        }
        let wrong = ["", "d", "30", "30 d", "30D", "-1d", "+1d", "1.5d", "24h", "36501d", "٣d"];
        for text in wrong.into_iter().chain(["4294967295w", "99999999999d", "30dd"]) {
            assert_eq!(days(text), None, "{text}");
        }
    }

    #[test]
    fn since_begins_with_a_day() {
        let today: Day = "2026-03-01".parse().unwrap();
        let start = |text: &str| {
            text.parse::<SinceDay>().map(|since| since.start_moment(today).to_string())
        };
        let check = |text: &str, day: &str| {
            assert_eq!(start(text), Ok(format!("{day}T00:00:00.000000Z")), "{text}");
        };
        check("2026-01-01", "2026-01-01");
        check("0d", "2026-03-01");
        check("1d", "2026-02-28");
        check("4w", "2026-02-01");
        assert_eq!(start("yesterday"), Err(MalformedText));
    }

    #[test]
    fn lately_is_hours_or_a_day() {
        let now: Moment = "2026-03-01T09:30:00Z".parse().unwrap();
        let start = |text: &str| {
            text.parse::<SinceTime>().map(|lately| lately.start_moment(now).to_string())
        };
        let check = |text: &str, moment: &str| {
            assert_eq!(start(text), Ok(moment.to_owned()), "{text}");
        };
        check("24h", "2026-02-28T09:30:00.000000Z");
        check("0h", "2026-03-01T09:30:00.000000Z");
        check("7d", "2026-02-22T00:00:00.000000Z");
        check("2026-01-01", "2026-01-01T00:00:00.000000Z");
        for text in ["", "h", "24", "24 h", "-1h", "+1h", "1.5h", "876001h", "99999999999h"] {
            assert_eq!(start(text), Err(MalformedText), "{text}");
        }
    }
}
