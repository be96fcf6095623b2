//! Samples, medians and the result table.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// One line of the table: a measured task and its limit.
#[derive(Debug)]
pub(crate) struct Row {
    pub work: String,
    pub measured: Quantity,
    pub limit: Quantity,
    pub limit_is: &'static str,
    pub allowed: f64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Quantity {
    Time(Duration),
    Kilobytes(u64),
}

impl Row {
    fn ratio(&self) -> f64 {
        self.measured.size() / self.limit.size()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.ratio() > self.allowed
    }
}

impl Quantity {
    fn size(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Kilobytes(kilobytes) => kilobytes as f64,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => f.pad(&format!("{:.3} ms", time.as_secs_f64() * 1_000.0)),
            Self::Kilobytes(kilobytes) => f.pad(&format!("{:.1} MB", *kilobytes as f64 / 1_024.0)),
        }
    }
}

/// Times of the task and of its limit, sampled alternately.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    measured: Vec<Duration>,
    limit: Vec<Duration>,
}

impl Samples {
    pub(crate) fn add(&mut self, measured: Duration, limit: Duration) {
        self.measured.push(measured);
        self.limit.push(limit);
    }

    pub(crate) fn row(self, work: String, limit_is: &'static str, allowed: f64) -> Row {
        Row {
            work,
            measured: Quantity::Time(median(self.measured)),
            limit: Quantity::Time(median(self.limit)),
            limit_is,
            allowed,
        }
    }
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Measures the time of `work`. Its result is dropped after the clock has stopped.
pub(crate) fn time<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let start = Instant::now();
    let done = work();
    let taken = start.elapsed();
    done.map(|_| taken)
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
pub(crate) fn print(rows: &[Row]) {
    let cells = rows.iter().map(|row| {
        let verdict = if row.is_over() { "OVER" } else { "OK" };
        let limit = format!("{} ({})", row.limit, row.limit_is);
        let (ratio, allowed) = (format!("{:.2}", row.ratio()), format!("{:.2}", row.allowed));
        [row.work.clone(), row.measured.to_string(), limit, ratio, allowed, verdict.to_owned()]
    });
    let head = ["work", "measured", "limit", "ratio", "allowed", ""].map(str::to_owned);
    let lines: Vec<[String; 6]> = [head].into_iter().chain(cells).collect();
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    for line in &lines {
        let padded = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        println!("{}", padded.collect::<Vec<_>>().join("  ").trim_end());
    }
}

#[expect(clippy::print_stderr, reason = "nothing could be measured")]
pub(crate) fn complain(error: &dyn Error) {
    eprintln!("bench: {error}");
}
