//! The figures councils have to reach: the real program against a model server that
//! takes its time, held against the critical path of a bare client in the same run.
//!
//! `./bench council` runs it, `--quick` fewer times. One table; exit code 1 when a
//! ratio is over what is allowed.

#[path = "council/bare.rs"]
mod bare;
#[path = "council/bodies.rs"]
mod bodies;
#[path = "council/crowd.rs"]
mod crowd;
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
mod measure;
#[path = "council/one.rs"]
mod one;
#[path = "council/program.rs"]
mod program;
#[path = "council/server.rs"]
mod server;

use std::process::ExitCode;

use measure::{Outcome, Row};
use server::Server;

/// Tells this program to be the model server of another that is measured.
const SERVE: &str = "serve";

/// How often each is repeated.
#[derive(Debug, Clone, Copy)]
struct Repeats {
    one: usize,
    crowd: usize,
}

const FULL: Repeats = Repeats { one: 9, crowd: 5 };
const QUICK: Repeats = Repeats { one: 3, crowd: 1 };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    if has(SERVE) {
        return ended(server::serve(), |()| ExitCode::SUCCESS);
    }
    let repeats = if has("--quick") { QUICK } else { FULL };
    ended(measure_all(repeats), |rows| {
        measure::print(&rows);
        ExitCode::from(u8::from(rows.iter().any(Row::is_over)))
    })
}

fn ended<T>(outcome: Outcome<T>, well: impl FnOnce(T) -> ExitCode) -> ExitCode {
    match outcome {
        Ok(done) => well(done),
        Err(error) => {
            measure::complain(error.as_ref());
            ExitCode::from(70)
        }
    }
}

fn measure_all(repeats: Repeats) -> Outcome<Vec<Row>> {
    let server = Server::start()?;
    let mut rows = one::measure(&server, repeats.one)?;
    rows.extend(crowd::measure(&server, 100, 1.25, repeats.crowd)?);
    rows.extend(crowd::measure(&server, 500, 2.2, repeats.crowd)?);
    Ok(rows)
}
