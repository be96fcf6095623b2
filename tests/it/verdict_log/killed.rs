//! `kill -9` around the append: whenever it comes, the next start leaves the file whole, and
//! equal to the database.

use std::process::Stdio;
use std::time::{Duration, Instant};

use plenary::domain::dice::SplitMix;
use plenary::store::{SqliteStore, Store};
use serde_json::json;

use super::desk::{Desk, lines, theirs};
use crate::kit::times;

/// A machine that is busy with other tests takes its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the file stood when a process was killed.
#[derive(Debug, Default)]
struct Seen {
    /// It has all that the table has.
    whole: u32,
    /// It lacks rows.
    behind: u32,
    /// Its last line has no end.
    torn: u32,
}

/// Long enough that it is written page by page, and a signal comes between two of them.
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

/// Starts a process and kills it: as soon as its row is committed, or a little later.
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
    // It may have come to its end.
    let _ = child.kill();
    child.wait().unwrap();
}

/// Kills so many processes one after the other, and looks at what each left behind.
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
        // The next start, whatever it is for.
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
    // A log that grows for ever only makes the test slow.
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
