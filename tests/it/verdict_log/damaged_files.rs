//! Torn lines, foreign lines, lost stores: the file ends complete, and no foreign line is lost.

use std::process::Command;

use plenary::domain::gate::GateVerdict;
use plenary::verdict_log::Synced;
use proptest::prelude::*;

use super::file_harness::Shelf;
use super::program_harness::Desk;
use crate::kit::{binary, log_row, log_rows, log_verdict, times};

#[test]
fn a_line_torn_at_any_byte_is_mended() {
    let shelf = Shelf::with(3);
    shelf.sync();
    let whole = shelf.file();
    let last = shelf.lines().pop().unwrap();
    assert!(!last.is_ascii(), "some letters are longer than a byte");
    let start = whole.len() - last.len() - 1;
    for torn in start..whole.len() {
        shelf.write(&whole.as_bytes()[..torn]);
        let mended = torn > start;
        let expected = Synced { appended: 1, mended, ..Synced::default() };
        assert_eq!(shelf.sync(), expected, "{torn}");
        assert_eq!(shelf.file(), whole, "torn at {torn}");
        assert_eq!(shelf.aside(), None);
    }
}

#[test]
fn a_file_cut_anywhere_is_written_to_its_end() {
    let shelf = Shelf::with(4);
    shelf.sync();
    let whole = shelf.file();
    for torn in (0..whole.len()).step_by(97) {
        shelf.write(&whole.as_bytes()[..torn]);
        shelf.sync();
        assert_eq!(shelf.file(), whole, "cut at {torn}");
    }
}

#[test]
fn a_lone_first_line_is_mended_too() {
    let shelf = Shelf::with(1);
    let whole = shelf.table();
    for torn in 0..whole.len() {
        shelf.write(&whole.as_bytes()[..torn]);
        shelf.sync();
        assert_eq!(shelf.file(), whole, "torn at {torn}");
    }
}

#[test]
fn somebody_elses_torn_line_is_kept_aside() {
    let shelf = Shelf::with(2);
    for piece in [b"{\"v\":2,\"tz".as_slice(), b"\0\0\0\0", b"garbage \xff\xfe", b" "] {
        let first = format!("{}\n", shelf.lines()[0]);
        shelf.write([first.as_bytes(), piece].concat());
        let synced = shelf.sync();
        assert_eq!(shelf.file(), shelf.table());
        let aside = std::fs::read(synced.kept_aside.as_ref().unwrap()).unwrap();
        assert_eq!(aside, [piece, b"\n"].concat());
        let said = synced.sentences(&shelf.path);
        assert!(said[0].contains("council_log.jsonl.torn"), "{said:?}");
        std::fs::remove_file(synced.kept_aside.unwrap()).unwrap();
    }
}

#[test]
fn somebody_elses_lines_stay_and_are_told_of_once() {
    let shelf = Shelf::with(1);
    let theirs = "{\"v\":2,\"theirs\":true}\nnot even JSON\n\n";
    shelf.write(theirs);
    let synced = shelf.sync();
    assert_eq!((synced.appended, synced.strangers), (1, 2));
    assert_eq!(shelf.file(), format!("{theirs}{}", shelf.table()));
    let said = synced.sentences(&shelf.path);
    assert!(said[0].contains("holds 2 lines that the store does not know"), "{said:?}");
    assert!(said[0].contains("plenary log import"), "{said:?}");
    shelf.log(2);
    let expected = Synced { appended: 1, ..Synced::default() };
    assert_eq!(shelf.sync(), expected);
    assert_eq!(shelf.file(), format!("{theirs}{}", shelf.table()));
}

#[test]
fn their_last_line_may_lack_its_end() {
    let shelf = Shelf::with(1);
    shelf.write("{\"theirs\":1}");
    assert_eq!(shelf.sync().strangers, 1);
    assert_eq!(shelf.file(), format!("{{\"theirs\":1}}\n{}", shelf.table()));
    assert_eq!(shelf.aside(), None);
}

#[test]
fn lines_among_ours_do_not_make_ours_come_twice() {
    let shelf = Shelf::with(2);
    shelf.sync();
    let so_far = shelf.file();
    shelf.write(format!("{so_far}{{\"theirs\":1}}\n"));
    shelf.log(3);
    assert_eq!(shelf.sync().appended, 1);
    let last = shelf.lines().pop().unwrap();
    assert_eq!(shelf.file(), format!("{so_far}{{\"theirs\":1}}\n{last}\n"));
}

#[test]
fn after_a_lost_store_the_old_lines_stay() {
    let old = Shelf::with(3);
    old.sync();
    let new = Shelf::with(0);
    new.write(old.file());
    log_verdict(new.store(), "fresh", 1, GateVerdict::Ship);
    let synced = new.sync();
    assert_eq!((synced.appended, synced.strangers), (1, 3));
    assert_eq!(new.file(), format!("{}{}", old.file(), new.table()));
}

#[test]
fn a_line_longer_than_a_chunk_is_found_and_mended() {
    let shelf = Shelf::with(1);
    let mut long = log_row("long/1", "post", GateVerdict::Hold, 5);
    long.adjudicator.reasoning = "ä".repeat(200_000);
    log_rows(shelf.store(), "long", &[long]);
    shelf.sync();
    let whole = shelf.file();
    assert_eq!(shelf.sync(), Synced::default());
    for torn in [1, 2, 65_535, 65_536, 65_537, 200_001, 400_000] {
        shelf.write(&whole.as_bytes()[..whole.len() - torn]);
        assert!(shelf.sync().mended, "{torn}");
        assert_eq!(shelf.file(), whole, "{torn}");
    }
}

#[test]
fn what_a_full_disk_tore_is_mended_when_there_is_room() {
    let desk = Desk::with(2);
    let so_far = desk.file();
    (3..=100).for_each(|n| desk.log(n, GateVerdict::Hold));
    desk.write("nothing.jsonl", "");
    // A file size limit in blocks of 512 bytes, without its signal.
    let mut limited = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"";
    limited.args(["-c", script]).arg(binary()).args(["log", "import", "nothing.jsonl"]);
    let output = limited.current_dir(desk.program.path()).output().unwrap();
    assert!(output.status.success(), "the file is a warning, no more: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot write the verdict log"), "{said}");
    let torn = desk.file();
    assert!(torn.len() > so_far.len() && !torn.ends_with('\n'), "{} bytes", torn.len());
    desk.must(&["log", "import", "nothing.jsonl"]);
    desk.verify();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(times(24, 400)))]
    /// For any file content, complete lines survive, and ours follow in order at the end.
    #[test]
    fn whatever_was_there_ours_follow(
        before in proptest::collection::vec(prop_oneof!["[ -~]{0,30}", Just(String::new())], 0..6),
        rest in proptest::collection::vec(any::<u8>(), 0..40),
        ours in 0..3_usize,
    ) {
        let shelf = Shelf::with(3);
        let lines = shelf.lines();
        let mut text: Vec<u8> = before.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
        lines.iter().take(ours).for_each(|line| text.extend(format!("{line}\n").bytes()));
        let rest: Vec<u8> = rest.into_iter().filter(|byte| *byte != b'\n').collect();
        text.extend(&rest);
        shelf.write(&text);
        shelf.sync();
        let whole = text.len() - rest.len();
        let file = std::fs::read(&shelf.path).unwrap();
        prop_assert_eq!(&file[..whole], &text[..whole]);
        let table: String = lines.iter().skip(ours).map(|line| format!("{line}\n")).collect();
        prop_assert!(file.ends_with(table.as_bytes()));
        prop_assert_eq!(shelf.sync(), Synced::default());
        if let Some(aside) = shelf.aside() {
            prop_assert_eq!(aside.trim_end_matches('\n'), String::from_utf8_lossy(&rest));
        }
    }
}

#[test]
fn what_is_there_in_other_words_is_not_written_again() {
    let shelf = Shelf::with(3);
    shelf.sync();
    // As a checkout on another system leaves it.
    shelf.write(shelf.file().replace('\n', "\r\n"));
    shelf.log(4);
    let synced = shelf.sync();
    assert_eq!((synced.appended, synced.otherwise), (1, 3));
    assert_eq!(shelf.file().lines().count(), 4);
    let said = synced.sentences(&shelf.path);
    assert!(said[0].contains("3 lines read otherwise"), "{said:?}");
    assert!(said[0].contains("plenary log repair"), "{said:?}");
    assert_eq!(shelf.sync().sentences(&shelf.path), [""; 0], "told once");
    shelf.repair();
    assert_eq!(shelf.file(), shelf.table());
}
