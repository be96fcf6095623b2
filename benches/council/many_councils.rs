//! Many councils at once in one process: time, CPU and memory.

use std::time::Duration;

use crate::bare_client::critical_path;
use crate::folder::Folder;
use crate::measure::{Outcome, Quantity, Row, Samples, median};
use crate::program::{Taken, run};
use crate::server::Server;

const PROCESSOR_MAX: Duration = Duration::from_millis(3);
const MEMORY_MAX_KB: u64 = 80 * 1_024;

pub(crate) fn measure(
    server: &Server,
    councils: usize,
    allowed: f64,
    repeats: usize,
) -> Outcome<Vec<Row>> {
    let mut samples = Samples::default();
    let mut all = Vec::new();
    for _ in 0..repeats {
        // Each run gets a new store, so that no run is slowed by another's data.
        let folder = Folder::new(server.address)?;
        let batch = folder.batch(councils)?.display().to_string();
        let taken = run(&folder, &["--batch", &batch, "--jobs", &councils.to_string()], councils)?;
        samples.add(taken.wall, critical_path(server.address)?);
        all.push(taken);
    }
    let name = format!("{councils} councils at once");
    let for_each = |taken: &Taken| taken.processor / u32::try_from(councils).unwrap_or(u32::MAX);
    Ok(vec![
        samples.row(name.clone(), "three calls in a row", allowed),
        Row {
            work: format!("{name}, processor"),
            measured: Quantity::Time(median(all.iter().map(for_each).collect())),
            limit: Quantity::Time(PROCESSOR_MAX),
            limit_is: "for each",
            allowed: 1.0,
        },
        Row {
            work: format!("{name}, memory"),
            measured: Quantity::Kilobytes(
                all.iter().map(|taken| taken.memory_kb).max().unwrap_or(0),
            ),
            limit: Quantity::Kilobytes(MEMORY_MAX_KB),
            limit_is: "at its peak",
            allowed: 1.0,
        },
    ])
}
