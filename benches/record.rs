//! Benchmarks the record: each task is measured next to its limit, in one run on one machine, so
//! only the ratio counts.
//!
//! `./bench` runs all of it, `./bench --quick` with smaller sizes. It prints one table and exits
//! with 1 when a ratio is over its limit.

use std::process::ExitCode;

use measure::{BenchmarkResult, BenchmarkRow};

#[path = "record/bare_reads.rs"]
mod bare_reads;
#[path = "record/bare_writes.rs"]
mod bare_writes;
#[path = "record/documents.rs"]
mod documents;
#[path = "record/generated_data.rs"]
mod generated_data;
#[path = "record/growth.rs"]
mod growth;
#[expect(dead_code, reason = "councils measure more")]
mod measure;
#[path = "record/rounds.rs"]
mod rounds;
#[path = "record/start.rs"]
mod start;

/// Sizes of the benchmark data.
#[derive(Debug, Clone, Copy)]
struct DataSizes {
    /// Rounds registered and compared with bare transactions.
    registered: u8,
    /// Dialogues whose early and late rounds are compared.
    dialogues: u8,
    /// The first of the late rounds.
    late: u8,
    /// Rounds of the dialogue that is exported.
    exported: u8,
    /// Repeats of all other tasks.
    repeats: usize,
    /// Dialogues in the small store; the large one has ten times as many.
    stored: u32,
}

const FULL: DataSizes =
    DataSizes { registered: 60, dialogues: 3, late: 85, exported: 100, repeats: 41, stored: 1_000 };
const QUICK: DataSizes =
    DataSizes { registered: 20, dialogues: 1, late: 40, exported: 40, repeats: 15, stored: 600 };

fn main() -> ExitCode {
    // Cargo adds `--bench`. Another argument selects the rows whose task name contains it.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let sizes = if arguments.iter().any(|word| word == "--quick") { QUICK } else { FULL };
    let chosen = arguments.iter().find(|word| !word.starts_with('-'));
    match measure_all(sizes, chosen.map_or("", String::as_str)) {
        Ok(rows) => {
            measure::print_table(&rows);
            ExitCode::from(u8::from(rows.iter().any(BenchmarkRow::is_over)))
        }
        Err(error) => {
            measure::print_error(error.as_ref());
            ExitCode::from(70)
        }
    }
}

/// Table rows that are measured together.
type BenchmarkGroup = fn(DataSizes) -> BenchmarkResult<Vec<BenchmarkRow>>;

fn measure_all(sizes: DataSizes, chosen: &str) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let groups: [(&str, BenchmarkGroup); 4] = [
        ("register", rounds::measure_rounds),
        ("documents", documents::measure_documents),
        ("growth", growth::measure_growth),
        ("start", start::measure_start),
    ];
    let mut rows = Vec::new();
    for (_, measure) in groups.iter().filter(|(name, _)| name.contains(chosen)) {
        rows.extend(measure(sizes)?);
    }
    Ok(rows)
}
