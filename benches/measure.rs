//! Samples, medians and the result table.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

pub(crate) type BenchmarkResult<T> = Result<T, Box<dyn Error>>;

/// One line of the table: a measured task and its limit.
#[derive(Debug)]
pub(crate) struct BenchmarkRow {
    pub work: String,
    pub measured: MeasuredQuantity,
    pub limit: MeasuredQuantity,
    pub limit_is: &'static str,
    pub allowed: f64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum MeasuredQuantity {
    Time(Duration),
    Kilobytes(u64),
    Calls(usize),
}

impl BenchmarkRow {
    fn limit_ratio(&self) -> f64 {
        self.measured.as_number() / self.limit.as_number()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.limit_ratio() > self.allowed
    }
}

impl MeasuredQuantity {
    fn as_number(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Kilobytes(kilobytes) => kilobytes as f64,
            Self::Calls(calls) => calls as f64,
        }
    }
}

impl fmt::Display for MeasuredQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => f.pad(&format!("{:.3} ms", time.as_secs_f64() * 1_000.0)),
            Self::Kilobytes(kilobytes) => f.pad(&format!("{:.1} MB", *kilobytes as f64 / 1_024.0)),
            Self::Calls(calls) => f.pad(&format!("{calls} calls")),
        }
    }
}

/// Times of the task and of its limit, sampled alternately.
#[derive(Debug, Default)]
pub(crate) struct SamplePairs {
    measured: Vec<Duration>,
    limit: Vec<Duration>,
}

impl SamplePairs {
    pub(crate) fn add_pair(&mut self, measured: Duration, limit: Duration) {
        self.measured.push(measured);
        self.limit.push(limit);
    }

    pub(crate) fn into_row(
        self,
        work: String,
        limit_is: &'static str,
        allowed: f64,
    ) -> BenchmarkRow {
        BenchmarkRow {
            work,
            measured: MeasuredQuantity::Time(median_time(self.measured)),
            limit: MeasuredQuantity::Time(median_time(self.limit)),
            limit_is,
            allowed,
        }
    }
}

pub(crate) fn median_time(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Measures the time of `work`. Its result is dropped after the clock has stopped.
pub(crate) fn measure_time<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let start = Instant::now();
    let done = work();
    let taken = start.elapsed();
    done.map(|_| taken)
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
pub(crate) fn print_table(rows: &[BenchmarkRow]) {
    let cells = rows.iter().map(|row| {
        let verdict = if row.is_over() { "OVER" } else { "OK" };
        let limit = format!("{} ({})", row.limit, row.limit_is);
        let (ratio, allowed) = (format!("{:.2}", row.limit_ratio()), format!("{:.2}", row.allowed));
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
pub(crate) fn print_error(error: &dyn Error) {
    eprintln!("bench: {error}");
}
