//! Many councils at once in one process: time and CPU without a limit of calls, and memory at the
//! default pace.

use std::time::Duration;

use crate::bare_client::critical_path;
use crate::folder::{BenchmarkFolder, CallPace};
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
        let taken = run_batch(server, councils, CallPace::Unlimited)?;
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
    ])
}

/// Peak memory at the default pace: calls that may not be sent yet wait.
pub(crate) fn measure_memory(
    server: &SlowServer,
    councils: usize,
) -> BenchmarkResult<BenchmarkRow> {
    let taken = run_batch(server, councils, CallPace::Default)?;
    Ok(BenchmarkRow {
        work: format!("{councils} councils at once, default pace, memory"),
        measured: MeasuredQuantity::Kilobytes(taken.memory_kb),
        limit: MeasuredQuantity::Kilobytes(MEMORY_MAX_KB),
        limit_is: "at its peak",
        allowed: 1.0,
    })
}

fn run_batch(
    server: &SlowServer,
    councils: usize,
    pace: CallPace,
) -> BenchmarkResult<ResourceUsage> {
    let folder = BenchmarkFolder::new(&server.base_url(), pace)?;
    let batch = folder.write_batch(councils)?.display().to_string();
    run_program(&folder, &["--batch", &batch, "--jobs", &councils.to_string()], councils)
}
