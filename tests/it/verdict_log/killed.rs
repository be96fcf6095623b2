//! `kill -9` around the append: the next start always leaves the file complete and equal to the
//! database.

use std::process::Stdio;
use std::time::{Duration, Instant};

use plenary_core::model::hash::SeededRandom;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use serde_json::json;

use super::program_harness::{LogProgram, foreign_row, to_lines};
use crate::kit::pick_repeats;

/// Timeout on a machine that is busy with other tests.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// State of the file when a process was killed, counted.
#[derive(Debug, Default)]
struct FileStateCounts {
    /// The file has all rows of the table.
    complete: u32,
    /// The file lacks rows.
    behind: u32,
    /// The last line is incomplete.
    torn: u32,
}

/// Long enough to be written page by page, so that a signal can arrive in between.
const LONG_BYTES: usize = 2 * 1024 * 1024;

/// The `n`-th command: a review, or an import of a short row or a long one.
fn nth_command(project: &LogProgram, n: u32) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    if n.is_multiple_of(3) {
        project.write_file("post.md", format!("# Number {n}\n\nOur cache is fast.\n"));
        return words(&["review", "--rehearse", "post.md", "--force"]);
    }
    let mut row = foreign_row(n % 60, "HOLD");
    row["artifact"] = json!(format!("posts/{n}.md"));
    if n.is_multiple_of(2) {
        row["adjudicator"]["reasoning"] = json!("ä".repeat(LONG_BYTES / 2));
    }
    project.write_file("row.jsonl", to_lines(&[row]));
    words(&["log", "import", "row.jsonl"])
}

fn count_rows(store: &SqliteStore) -> u64 {
    store.load_log_lines(0, 1_000_000).unwrap().last().map_or(0, |line| line.seq)
}

/// Starts a process and kills it as soon as its row is committed, or a little later.
fn kill_command(project: &LogProgram, n: u32, dice: &mut SeededRandom) {
    let store = project.open_store();
    let before = count_rows(&store);
    let mut process = project.program.command();
    process.args(nth_command(project, n)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = process.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() && store.load_log_lines(before, 1).unwrap().is_empty()
    {
        assert!(start.elapsed() < WAIT_TIMEOUT, "nothing is logged");
    }
    std::thread::sleep(Duration::from_micros((dice.next_u64() % 4) * (dice.next_u64() % 1_000)));
    // It may have exited already.
    let _ = child.kill();
    child.wait().unwrap();
}

/// Kills this many processes one after another and checks the file after each.
fn check_kills(project: &LogProgram, times: u32, dice: &mut SeededRandom) -> FileStateCounts {
    let mut seen = FileStateCounts::default();
    for n in 0..times {
        kill_command(project, n, dice);
        let path = project.program.path().join("council_log.jsonl");
        let file = std::fs::read(&path).unwrap_or_default();
        let table = project.expected_file();
        assert!(table.as_bytes().starts_with(&file), "{n}: the file is no beginning of the table");
        match (file.len() == table.len(), file.last()) {
            (true, _) => seen.complete += 1,
            (false, None | Some(b'\n')) => seen.behind += 1,
            (false, Some(_)) => seen.torn += 1,
        }
        // The next start with different commands.
        let starts: [&[&str]; 3] =
            [&["log", "tail"], &["log", "export", "--type", "nothing"], &["audit"]];
        project.run_ok(starts[dice.next_u64() as usize % starts.len()]);
        assert_eq!(project.read_log_file().len(), table.len(), "{n}: the file is not whole");
        assert!(project.read_log_file() == table, "{n}: the file is not the table");
    }
    project.assert_verified();
    seen
}

#[test]
fn killed_around_the_append_the_next_start_mends_the_file() {
    let mut dice = SeededRandom::new(7);
    // Start a new log after ten kills, because a long one only slows the test.
    let mut all = FileStateCounts::default();
    let mut left = pick_repeats(30, 500);
    while left > 0 {
        let some = left.min(10);
        let seen = check_kills(&LogProgram::new(), some, &mut dice);
        all.complete += seen.complete;
        all.behind += seen.behind;
        all.torn += seen.torn;
        left -= some;
    }
    assert!(all.behind + all.torn > 0, "no process was killed before its append: {all:?}");
}
