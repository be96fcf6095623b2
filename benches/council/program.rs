//! Runs the real program and measures time, CPU and memory.

use std::fs::File;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::folder::BenchmarkFolder;
use crate::measure::BenchmarkResult;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_plenary");

/// The system counts CPU time in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// Memory polling interval. The kernel keeps the peak, so only growth at the very end can be
/// missed.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Resources used by one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceUsage {
    pub wall: Duration,
    pub processor: Duration,
    pub memory_kb: u64,
}

/// Runs the program and checks that it answered this many councils, all complete.
pub(crate) fn run_program(
    folder: &BenchmarkFolder,
    arguments: &[&str],
    councils: usize,
) -> BenchmarkResult<ResourceUsage> {
    let path = folder.path().join("answers.jsonl");
    let before = processor_of_children()?;
    let start = Instant::now();
    let mut child = Command::new(PROGRAM)
        .args(["ask", "--no-conclusion", "--json", "--quiet"])
        .args(arguments)
        .current_dir(folder.path())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(File::create(&path)?)
        .spawn()?;
    let process = child.id();
    let watch = thread::spawn(move || peak_memory(process));
    let status = child.wait()?;
    let wall = start.elapsed();
    let processor = processor_of_children()?.saturating_sub(before);
    let memory_kb = watch.join().map_err(|_| "the memory could not be watched")?;
    let complete = count_complete(&path)?;
    if !status.success() || complete != councils {
        let text = format!("{complete} of {councils} councils were complete, with {status}");
        return Err(text.into());
    }
    Ok(ResourceUsage { wall, processor, memory_kb })
}

/// Counts complete answers in a batch output.
#[expect(clippy::disallowed_methods, reason = "the answers are in a file")]
fn count_complete(path: &std::path::Path) -> BenchmarkResult<usize> {
    let text = std::fs::read_to_string(path)?;
    let answers = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let mut complete = 0;
    for answer in answers {
        complete += usize::from(answer?.get("report").is_some_and(Value::is_object));
    }
    Ok(complete)
}

/// CPU time of all children that have exited.
#[expect(clippy::disallowed_methods, reason = "the system tells in a file")]
fn processor_of_children() -> BenchmarkResult<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    // The numbers follow the program name, which may contain any character.
    let numbers = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u32 = numbers.skip(13).take(2).filter_map(|number| number.parse::<u32>().ok()).sum();
    Ok(TICK * ticks)
}

/// Peak memory of a process in KB, polled until the process ends.
#[expect(clippy::disallowed_methods, reason = "the system tells in a file")]
fn peak_memory(process: u32) -> u64 {
    let mut peak = 0;
    while let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(line) = line else { break };
        peak = line.split_whitespace().next().and_then(|kb| kb.parse().ok()).unwrap_or(peak);
        thread::sleep(POLL_INTERVAL);
    }
    peak
}
