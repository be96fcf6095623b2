//! Torn lines, foreign lines, lost stores: the file ends complete, and no foreign line is lost.

use std::process::Command;

use plenary_core::protocols::review::policy::ReviewVerdict;
use plenary_engine::verdict_log::sync::SyncResult;
use proptest::prelude::*;

use super::file_harness::LogFileProject;
use super::program_harness::LogProgram;
use crate::kit::{insert_log_rows, insert_verdict, make_log_row, pick_repeats, plenary_binary};

#[test]
fn a_line_torn_at_any_byte_is_mended() {
    let shelf = LogFileProject::with_verdicts(3);
    shelf.sync_file();
    let whole = shelf.read_file();
    let last = shelf.table_lines().pop().unwrap();
    assert!(!last.is_ascii(), "some letters are longer than a byte");
    let start = whole.len() - last.len() - 1;
    for torn in start..whole.len() {
        shelf.write_file(&whole.as_bytes()[..torn]);
        let corrected = torn > start;
        let expected = SyncResult { appended: 1, repaired: corrected, ..SyncResult::default() };
        assert_eq!(shelf.sync_file(), expected, "{torn}");
        assert_eq!(shelf.read_file(), whole, "torn at {torn}");
        assert_eq!(shelf.read_torn_file(), None);
    }
}

#[test]
fn a_file_cut_anywhere_is_written_to_its_end() {
    let shelf = LogFileProject::with_verdicts(4);
    shelf.sync_file();
    let whole = shelf.read_file();
    for torn in (0..whole.len()).step_by(97) {
        shelf.write_file(&whole.as_bytes()[..torn]);
        shelf.sync_file();
        assert_eq!(shelf.read_file(), whole, "cut at {torn}");
    }
}

#[test]
fn a_lone_first_line_is_mended_too() {
    let shelf = LogFileProject::with_verdicts(1);
    let whole = shelf.expected_file();
    for torn in 0..whole.len() {
        shelf.write_file(&whole.as_bytes()[..torn]);
        shelf.sync_file();
        assert_eq!(shelf.read_file(), whole, "torn at {torn}");
    }
}

#[test]
fn somebody_elses_torn_line_is_kept_aside() {
    let shelf = LogFileProject::with_verdicts(2);
    for piece in [b"{\"v\":2,\"tz".as_slice(), b"\0\0\0\0", b"garbage \xff\xfe", b" "] {
        let first = format!("{}\n", shelf.table_lines()[0]);
        shelf.write_file([first.as_bytes(), piece].concat());
        let synced = shelf.sync_file();
        assert_eq!(shelf.read_file(), shelf.expected_file());
        let aside = std::fs::read(synced.kept_aside.as_ref().unwrap()).unwrap();
        assert_eq!(aside, [piece, b"\n"].concat());
        let message = synced.to_sentences(&shelf.log_path);
        assert!(message[0].contains("council_log.jsonl.torn"), "{message:?}");
        std::fs::remove_file(synced.kept_aside.unwrap()).unwrap();
    }
}

#[test]
fn somebody_elses_lines_stay_and_are_told_of_once() {
    let shelf = LogFileProject::with_verdicts(1);
    let theirs = "{\"v\":2,\"theirs\":true}\nnot even JSON\n\n";
    shelf.write_file(theirs);
    let synced = shelf.sync_file();
    assert_eq!((synced.appended, synced.unknown), (1, 2));
    assert_eq!(shelf.read_file(), format!("{theirs}{}", shelf.expected_file()));
    let message = synced.to_sentences(&shelf.log_path);
    assert!(message[0].contains("has 1 line that is not JSON"), "{message:?}");
    assert!(message[1].contains("has 1 line that the store does not know"), "{message:?}");
    assert!(message[1].contains("plenary log import"), "{message:?}");
    shelf.insert_verdict(2);
    let expected = SyncResult { appended: 1, ..SyncResult::default() };
    assert_eq!(shelf.sync_file(), expected);
    assert_eq!(shelf.read_file(), format!("{theirs}{}", shelf.expected_file()));
}

#[test]
fn their_last_line_may_lack_its_end() {
    let shelf = LogFileProject::with_verdicts(1);
    shelf.write_file("{\"theirs\":1}");
    assert_eq!(shelf.sync_file().unknown, 1);
    assert_eq!(shelf.read_file(), format!("{{\"theirs\":1}}\n{}", shelf.expected_file()));
    assert_eq!(shelf.read_torn_file(), None);
}

#[test]
fn lines_among_ours_do_not_make_ours_come_twice() {
    let shelf = LogFileProject::with_verdicts(2);
    shelf.sync_file();
    let so_far = shelf.read_file();
    shelf.write_file(format!("{so_far}{{\"theirs\":1}}\n"));
    shelf.insert_verdict(3);
    assert_eq!(shelf.sync_file().appended, 1);
    let last = shelf.table_lines().pop().unwrap();
    assert_eq!(shelf.read_file(), format!("{so_far}{{\"theirs\":1}}\n{last}\n"));
}

#[test]
fn after_a_lost_store_the_old_lines_stay() {
    let old = LogFileProject::with_verdicts(3);
    old.sync_file();
    let new = LogFileProject::with_verdicts(0);
    new.write_file(old.read_file());
    insert_verdict(new.store(), "fresh", 1, ReviewVerdict::Ship);
    let synced = new.sync_file();
    assert_eq!((synced.appended, synced.unknown), (1, 3));
    assert_eq!(new.read_file(), format!("{}{}", old.read_file(), new.expected_file()));
}

#[test]
fn a_line_longer_than_a_chunk_is_found_and_mended() {
    let shelf = LogFileProject::with_verdicts(1);
    let mut long = make_log_row("long/1", "post", ReviewVerdict::Hold, 5);
    long.adjudicator.reasoning = "ä".repeat(200_000);
    insert_log_rows(shelf.store(), "long", &[long]);
    shelf.sync_file();
    let whole = shelf.read_file();
    assert_eq!(shelf.sync_file(), SyncResult::default());
    for torn in [1, 2, 65_535, 65_536, 65_537, 200_001, 400_000] {
        shelf.write_file(&whole.as_bytes()[..whole.len() - torn]);
        assert!(shelf.sync_file().repaired, "{torn}");
        assert_eq!(shelf.read_file(), whole, "{torn}");
    }
}

#[test]
fn what_a_full_disk_tore_is_mended_when_there_is_room() {
    let project = LogProgram::with_verdicts(2);
    let so_far = project.read_log_file();
    (3..=100).for_each(|n| project.insert_verdict(n, ReviewVerdict::Hold));
    // A file size limit in blocks of 512 bytes, without its signal.
    let mut limited = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"";
    limited.args(["-c", script]).arg(plenary_binary()).args(["log", "tail"]);
    let output = limited.current_dir(project.program.path()).output().unwrap();
    assert!(output.status.success(), "the file is a warning, no more: {output:?}");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("cannot write the verdict log"), "{message}");
    let torn = project.read_log_file();
    assert!(torn.len() > so_far.len() && !torn.ends_with('\n'), "{} bytes", torn.len());
    project.run_ok(&["log", "tail"]);
    project.assert_verified();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(pick_repeats(24, 400)))]
    /// For any file content, complete lines survive, and ours follow in order at the end.
    #[test]
    fn whatever_was_there_ours_follow(
        before in proptest::collection::vec(prop_oneof!["[ -~]{0,30}", Just(String::new())], 0..6),
        rest in proptest::collection::vec(any::<u8>(), 0..40),
        ours in 0..3_usize,
    ) {
        let shelf = LogFileProject::with_verdicts(3);
        let lines = shelf.table_lines();
        let mut text: Vec<u8> = before.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
        lines.iter().take(ours).for_each(|line| text.extend(format!("{line}\n").bytes()));
        let rest: Vec<u8> = rest.into_iter().filter(|byte| *byte != b'\n').collect();
        text.extend(&rest);
        shelf.write_file(&text);
        shelf.sync_file();
        let whole = text.len() - rest.len();
        let file = std::fs::read(&shelf.log_path).unwrap();
        prop_assert_eq!(&file[..whole], &text[..whole]);
        let table: String = lines.iter().skip(ours).map(|line| format!("{line}\n")).collect();
        prop_assert!(file.ends_with(table.as_bytes()));
        prop_assert_eq!(shelf.sync_file(), SyncResult::default());
        if let Some(aside) = shelf.read_torn_file() {
            prop_assert_eq!(aside.trim_end_matches('\n'), String::from_utf8_lossy(&rest));
        }
    }
}

#[test]
fn what_is_there_in_other_words_is_not_written_again() {
    let shelf = LogFileProject::with_verdicts(3);
    shelf.sync_file();
    // As a checkout on another system leaves it.
    shelf.write_file(shelf.read_file().replace('\n', "\r\n"));
    shelf.insert_verdict(4);
    let synced = shelf.sync_file();
    assert_eq!((synced.appended, synced.altered), (1, 3));
    assert_eq!(shelf.read_file().lines().count(), 4);
    let message = synced.to_sentences(&shelf.log_path);
    assert!(message[0].contains("3 lines with another text"), "{message:?}");
    assert!(message[0].contains("plenary log repair"), "{message:?}");
    assert_eq!(shelf.sync_file().to_sentences(&shelf.log_path), [""; 0], "told once");
    shelf.repair_file();
    assert_eq!(shelf.read_file(), shelf.expected_file());
}
