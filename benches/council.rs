//! Benchmarks councils: runs the real program against a slow model server and compares it, in the
//! same run, with the critical path of a bare client.
//!
//! `./bench council` runs it, `./bench watched` only the councils that pages follow, `--quick` with
//! fewer repeats. It prints one table and exits with 1
//! when a ratio is over its limit.

use std::process::ExitCode;

use measure::{BenchmarkResult, BenchmarkRow};
use server::SlowServer;

#[path = "council/bare_client.rs"]
mod bare_client;
#[path = "council/folder.rs"]
mod folder;
#[expect(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "written for the tests, which use all of it"
)]
#[path = "council/kit.rs"]
mod kit;
#[path = "council/many_councils.rs"]
mod many_councils;
mod measure;
#[path = "council/one_council.rs"]
mod one_council;
#[path = "council/prepared_replies.rs"]
mod prepared_replies;
#[path = "council/program.rs"]
mod program;
#[path = "council/server.rs"]
mod server;
#[path = "council/shared_prefix.rs"]
mod shared_prefix;
#[path = "council/streamed_text.rs"]
mod streamed_text;
#[path = "council/watched_councils.rs"]
mod watched_councils;

/// Argument that makes this binary act as the model server of the benchmark process.
const SERVE_ARGUMENT: &str = "serve";

/// Number of repeats per benchmark.
#[derive(Debug, Clone, Copy)]
struct RepeatCounts {
    one: usize,
    crowd: usize,
}

const FULL: RepeatCounts = RepeatCounts { one: 9, crowd: 5 };
const QUICK: RepeatCounts = RepeatCounts { one: 3, crowd: 1 };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    if has(SERVE_ARGUMENT) {
        return exit_code_for(server::serve_forever(), |()| ExitCode::SUCCESS);
    }
    let repeats = if has("--quick") { QUICK } else { FULL };
    let measured = if has("watched") { measure_watched(repeats) } else { measure_all(repeats) };
    exit_code_for(measured, |rows| {
        measure::print_table(&rows);
        ExitCode::from(u8::from(rows.iter().any(BenchmarkRow::is_over)))
    })
}

fn exit_code_for<T>(outcome: BenchmarkResult<T>, well: impl FnOnce(T) -> ExitCode) -> ExitCode {
    match outcome {
        Ok(done) => well(done),
        Err(error) => {
            measure::print_error(error.as_ref());
            ExitCode::from(70)
        }
    }
}

fn measure_all(repeats: RepeatCounts) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let mut rows = vec![shared_prefix::measure_prefix()?];
    rows.extend(streamed_text::measure_streams(repeats.one)?);
    let server = SlowServer::start_server()?;
    rows.extend(one_council::measure_one(&server, repeats.one)?);
    rows.extend(many_councils::measure_many(&server, 100, 1.25, repeats.crowd)?);
    rows.extend(many_councils::measure_many(&server, 500, 2.2, repeats.crowd)?);
    rows.extend(watched_councils::measure_watched(&server, repeats.crowd)?);
    rows.push(many_councils::measure_memory(&server, 500)?);
    Ok(rows)
}

fn measure_watched(repeats: RepeatCounts) -> BenchmarkResult<Vec<BenchmarkRow>> {
    watched_councils::measure_watched(&SlowServer::start_server()?, repeats.crowd)
}
