//! One council: the program from start to exit, compared with three calls in a row.

use crate::bare_client::critical_path;
use crate::folder::{BenchmarkFolder, CallPace};
use crate::measure::{BenchmarkResult, BenchmarkRow, SamplePairs};
use crate::program::run_program;
use crate::server::SlowServer;

const ALLOWED: f64 = 1.03;

pub(crate) fn measure_one(
    server: &SlowServer,
    repeats: usize,
) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let folder = BenchmarkFolder::new(&server.base_url(), CallPace::Unlimited)?;
    let ask = || run_program(&folder, &["Should we take the first step before winter?"], 1);
    // Create the store before measuring: it is created only once per project.
    ask()?;
    let mut samples = SamplePairs::default();
    for _ in 0..repeats {
        samples.add_pair(ask()?.wall, critical_path(server.address)?);
    }
    Ok(vec![samples.into_row("one council".to_owned(), "three calls in a row", ALLOWED)])
}
