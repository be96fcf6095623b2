//! Program start: compared with an empty program, and its memory.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::DataSizes;
use crate::measure::{BenchmarkResult, BenchmarkRow, MeasuredQuantity, SamplePairs, measure_time};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plenary");
const ALLOWED: f64 = 3.0;
const MEMORY_MAX_KB: u64 = 15 * 1_024;

/// Capacity of a pipe before a writer blocks.
const PIPE_BYTES: usize = 64 * 1_024;

pub(crate) fn measure_start(sizes: DataSizes) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let empty = compile_empty_program(folder.path())?;
    let mut rows = Vec::new();
    for flag in ["--help", "--version"] {
        let mut samples = SamplePairs::default();
        for _ in 0..sizes.repeats * 3 {
            let measured = measure_time(|| run_command(Command::new(PROGRAM).arg(flag)))?;
            let limit = measure_time(|| run_command(&mut Command::new(&empty)))?;
            samples.add_pair(measured, limit);
        }
        rows.push(samples.into_row(format!("plenary {flag}"), "an empty Rust program", ALLOWED));
        rows.push(BenchmarkRow {
            work: format!("plenary {flag}, memory"),
            measured: MeasuredQuantity::Kilobytes(peak_memory(flag)?),
            limit: MeasuredQuantity::Kilobytes(MEMORY_MAX_KB),
            limit_is: "at its peak",
            allowed: 1.0,
        });
    }
    Ok(rows)
}

fn run_command(command: &mut Command) -> std::io::Result<ExitStatus> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).status()
}

#[expect(clippy::disallowed_methods, reason = "a source file for the compiler")]
fn compile_empty_program(folder: &Path) -> BenchmarkResult<PathBuf> {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    std::fs::write(&source, "fn main() {}\n")?;
    let built = Command::new("rustc").arg("-O").arg(&source).arg("-o").arg(&program).status()?;
    if built.success() { Ok(program) } else { Err("rustc could not build an empty program".into()) }
}

/// Peak memory of the program when its answer is ready.
///
/// It writes into a full pipe and therefore blocks just before it exits.
fn peak_memory(flag: &str) -> BenchmarkResult<u64> {
    let (reader, mut writer) = std::io::pipe()?;
    writer.write_all(&vec![b' '; PIPE_BYTES])?;
    let mut child = Command::new(PROGRAM).arg(flag).stdin(Stdio::null()).stdout(writer).spawn()?;
    let memory = settled_memory(child.id());
    // Closing the reader lets the program exit.
    drop(reader);
    child.wait()?;
    memory
}

/// Waits until the process sleeps and its peak memory no longer rises.
#[expect(clippy::disallowed_methods, reason = "the system tells in a file")]
fn settled_memory(process: u32) -> BenchmarkResult<u64> {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut before = None;
    while Instant::now() < deadline {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let peak: Option<u64> = field("VmHWM:")
            .and_then(|text| text.split_whitespace().next())
            .and_then(|kilobytes| kilobytes.parse().ok());
        let sleeps = field("State:").is_some_and(|state| state.trim().starts_with('S'));
        match peak.filter(|_| sleeps) {
            Some(peak) if before == Some(peak) => return Ok(peak),
            other => before = other,
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err("the program did not stand still".into())
}
