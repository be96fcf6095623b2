//! How many calls of a council begin with the same bytes, so that the caches of providers work: a
//! question with a file of 48 kB, three providers, each with another dialect.

use std::process::{Command, Stdio};

use crate::folder::{BenchmarkFolder, CallPace};
use crate::kit::{ModelRequest, ModelServer, ScriptedReply};
use crate::measure::{BenchmarkResult, BenchmarkRow, MeasuredQuantity};
use crate::program::PROGRAM;

const FILE_BYTES: usize = 48_000;

/// The seat that sees neither the question's files nor the debate.
const EXEMPT: &str = "You are the Blind Critic.";

/// What follows the shared block in an opinion's message.
const FIRST_ROLE: &str = "You are a participant of a council.";

/// Counts the calls that may see the shared block, and those that begin with it.
pub(crate) fn measure_prefix() -> BenchmarkResult<BenchmarkRow> {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let folder = BenchmarkFolder::new(&server.base_url(), CallPace::Default)?;
    let line = "A read takes 4 ms, and a write takes 9 ms.\n";
    folder.write_file("notes.md", &line.repeat(FILE_BYTES / line.len() + 1))?;
    let question = "Should reads go through a cache?";
    let status = Command::new(PROGRAM)
        .args(["ask", question, "--context", "notes.md", "--json", "--quiet"])
        .current_dir(folder.path())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("the council ended with {status}").into());
    }
    let requests = server.requests();
    let seeing: Vec<&ModelRequest> =
        requests.iter().filter(|seen| !seen.system.contains(EXEMPT)).collect();
    let first = seeing.first().ok_or("no call was made")?;
    let end = first.user.find(FIRST_ROLE).ok_or("the first call is no opinion")?;
    let block = first.user.get(..end).unwrap_or_default();
    if block.len() < FILE_BYTES {
        return Err(format!("the shared block has {} bytes", block.len()).into());
    }
    // A schema on the wire would stand before the shared block.
    let is_prefixed = |seen: &&&ModelRequest| {
        seen.system == first.system && seen.user.starts_with(block) && !seen.structured
    };
    Ok(BenchmarkRow {
        work: "calls that may see a shared block of 48 kB".to_owned(),
        measured: MeasuredQuantity::Calls(seeing.len()),
        limit: MeasuredQuantity::Calls(seeing.iter().filter(is_prefixed).count()),
        limit_is: "begin with it",
        allowed: 1.0,
    })
}
