//! Many councils at once in one process: time, CPU and memory.

use std::time::Duration;

use crate::bare_client::critical_path;
use crate::folder::BenchmarkFolder;
use crate::measure::{BenchmarkResult, BenchmarkRow, MeasuredQuantity, SamplePairs, median_time};
use crate::program::{ResourceUsage, run_program};
use crate::server::SlowServer;

const PROCESSOR_MAX: Duration = Duration::from_millis(3);
const MEMORY_MAX_KB: u64 = 80 * 1_024;

pub(crate) fn measure_many(
    server: &SlowServer,
    councils: usize,
    allowed: f64,
    repeats: usize,
) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let mut samples = SamplePairs::default();
    let mut all = Vec::new();
    for _ in 0..repeats {
        // Each run gets a new store, so that no run is slowed by another's data.
        let folder = BenchmarkFolder::new(server.address)?;
        let batch = folder.write_batch(councils)?.display().to_string();
        let taken =
            run_program(&folder, &["--batch", &batch, "--jobs", &councils.to_string()], councils)?;
        samples.add_pair(taken.wall, critical_path(server.address)?);
        all.push(taken);
    }
    let name = format!("{councils} councils at once");
    let for_each =
        |taken: &ResourceUsage| taken.processor / u32::try_from(councils).unwrap_or(u32::MAX);
    Ok(vec![
        samples.into_row(name.clone(), "three calls in a row", allowed),
        BenchmarkRow {
            work: format!("{name}, processor"),
            measured: MeasuredQuantity::Time(median_time(all.iter().map(for_each).collect())),
            limit: MeasuredQuantity::Time(PROCESSOR_MAX),
            limit_is: "for each",
            allowed: 1.0,
        },
        BenchmarkRow {
            work: format!("{name}, memory"),
            measured: MeasuredQuantity::Kilobytes(
                all.iter().map(|taken| taken.memory_kb).max().unwrap_or(0),
            ),
            limit: MeasuredQuantity::Kilobytes(MEMORY_MAX_KB),
            limit_is: "at its peak",
            allowed: 1.0,
        },
    ])
}
