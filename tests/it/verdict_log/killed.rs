//! `kill -9` around the append: the next start always leaves the file complete and equal to the
//! database.

use std::process::Stdio;
use std::time::{Duration, Instant};

use plenary::domain::dice::SplitMix;
use plenary::store::{SqliteStore, Store};
use serde_json::json;

use super::program_harness::{Desk, lines, theirs};
use crate::kit::times;

/// Timeout on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// State of the file when a process was killed, counted.
#[derive(Debug, Default)]
struct Seen {
    /// The file has all rows of the table.
    whole: u32,
    /// The file lacks rows.
    behind: u32,
    /// The last line is incomplete.
    torn: u32,
}

/// Long enough to be written page by page, so that a signal can arrive in between.
const LONG: usize = 2 * 1024 * 1024;

/// The `n`-th command: a review, or an import of a short row or a long one.
fn command(desk: &Desk, n: u32) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    if n.is_multiple_of(3) {
        desk.write("post.md", format!("# Number {n}\n\nOur cache is fast.\n"));
        return words(&["review", "--rehearse", "post.md", "--force"]);
    }
    let mut row = theirs(n % 60, "HOLD");
    row["artifact"] = json!(format!("posts/{n}.md"));
    if n.is_multiple_of(2) {
        row["adjudicator"]["reasoning"] = json!("ä".repeat(LONG / 2));
    }
    desk.write("row.jsonl", lines(&[row]));
    words(&["log", "import", "row.jsonl"])
}

fn rows(store: &SqliteStore) -> u64 {
    store.log_lines(0, 1_000_000).unwrap().last().map_or(0, |line| line.seq)
}

/// Starts a process and kills it as soon as its row is committed, or a little later.
fn kill(desk: &Desk, n: u32, dice: &mut SplitMix) {
    let store = desk.store();
    let before = rows(&store);
    let mut process = desk.program.command();
    process.args(command(desk, n)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = process.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() && store.log_lines(before, 1).unwrap().is_empty() {
        assert!(start.elapsed() < PATIENCE, "nothing is logged");
    }
    std::thread::sleep(Duration::from_micros((dice.roll() % 4) * (dice.roll() % 1_000)));
    // It may have exited already.
    let _ = child.kill();
    child.wait().unwrap();
}

/// Kills this many processes one after another and checks the file after each.
fn check(desk: &Desk, times: u32, dice: &mut SplitMix) -> Seen {
    let mut seen = Seen::default();
    desk.write("nothing.jsonl", "");
    for n in 0..times {
        kill(desk, n, dice);
        let path = desk.program.path().join("council_log.jsonl");
        let file = std::fs::read(&path).unwrap_or_default();
        let table = desk.table();
        assert!(table.as_bytes().starts_with(&file), "{n}: the file is no beginning of the table");
        match (file.len() == table.len(), file.last()) {
            (true, _) => seen.whole += 1,
            (false, None | Some(b'\n')) => seen.behind += 1,
            (false, Some(_)) => seen.torn += 1,
        }
        // The next start with different commands.
        let starts: [&[&str]; 4] = [
            &["log", "import", "nothing.jsonl"],
            &["log", "tail"],
            &["log", "export", "--type", "nothing"],
            &["audit"],
        ];
        desk.must(starts[dice.roll() as usize % starts.len()]);
        assert_eq!(desk.file().len(), table.len(), "{n}: the file is not whole");
        assert!(desk.file() == table, "{n}: the file is not the table");
    }
    desk.verify();
    seen
}

#[test]
fn killed_around_the_append_the_next_start_mends_the_file() {
    let mut dice = SplitMix::new(7);
    // Start a new log after ten kills, because a long one only slows the test.
    let mut all = Seen::default();
    let mut left = times(30, 500);
    while left > 0 {
        let some = left.min(10);
        let seen = check(&Desk::new(), some, &mut dice);
        all.whole += seen.whole;
        all.behind += seen.behind;
        all.torn += seen.torn;
        left -= some;
    }
    assert!(all.behind + all.torn > 0, "no process was killed before its append: {all:?}");
}
