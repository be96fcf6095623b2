//! Time windows as people write them: a number of days (`30d`, `4w`), and a start given as a day,
//! as a number of days before today, or as a number of hours before now.

use std::str::FromStr;

use super::ids::MalformedText;
use super::time::{Day, Moment};

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

#[cfg(test)]
mod tests {
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
