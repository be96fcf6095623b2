//! A damaged store file is reported as damaged: no panic, no internal error, and `verify` finds
//! every changed value.

use std::path::Path;

use plenary_core::model::hash::SeededRandom;
use plenary_core::model::queries::{ConclusionQuery, DialogueQuery};
use plenary_engine::error::{Error, ErrorKind};
use plenary_engine::store::error::StoreError;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;

use crate::kit::{TestProgram, pick_repeats};
use crate::tampering::TamperedStore;

/// Queries a damaged file: one text per query, or the error.
fn query_answers(path: &Path) -> Vec<Result<String, StoreError>> {
    let store = match SqliteStore::open(path) {
        Ok(store) => store,
        Err(error) => return vec![Err(error)],
    };
    let list = DialogueQuery { limit: 50, ..DialogueQuery::default() };
    let mut answers = vec![
        store.list_dialogues(&list).map(|found| format!("{found:?}")),
        store.load_stats(5).map(|found| format!("{found:?}")),
        store.search_texts(&["talk".to_owned()], 5).map(|found| format!("{found:?}")),
        store.last_intervention_seq().map(|found| format!("{found:?}")),
        store.load_log_lines(0, 50).map(|found| format!("{found:?}")),
        store.list_due("2036-01-01".parse().unwrap(), 50).map(|found| format!("{found:?}")),
        store
            .list_endings(&ConclusionQuery { limit: 50, since: None })
            .map(|found| format!("{found:?}")),
    ];
    for id in ["talk", "second", "ended", "review"] {
        let id = id.parse().unwrap();
        answers.push(store.load_dialogue(&id).map(|found| format!("{found:?}")));
        answers.push(store.load_record(&id).map(|found| format!("{found:?}")));
        answers.push(store.load_entries(&id, 0).map(|found| format!("{found:?}")));
    }
    answers
}

/// A store that the test damages again and again.
struct DamagedStore {
    store: TamperedStore,
    original: Vec<u8>,
    expected: Vec<String>,
}

impl DamagedStore {
    fn new() -> Self {
        let scene = TamperedStore::new_store();
        let original = std::fs::read(scene.store_path()).unwrap();
        let sound = query_answers(&scene.store_path()).into_iter().map(Result::unwrap).collect();
        Self { store: scene, original, expected: sound }
    }

    /// Checks every answer of the damaged file.
    fn check_damage(&self, what: &str, bytes: &[u8]) {
        let path = self.store.store_path();
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(path.with_file_name(format!("plenary.db{suffix}")));
        }
        std::fs::write(&path, bytes).unwrap();
        let answers = query_answers(&path);
        let is_same = answers.len() == self.expected.len()
            && answers
                .iter()
                .zip(&self.expected)
                .all(|(answer, sound)| answer.as_ref().is_ok_and(|answer| answer == sound));
        for error in answers.into_iter().filter_map(Result::err).map(Error::from) {
            assert_ne!(error.kind(), ErrorKind::Internal, "{what}: {}", error.full_message());
            assert!(error.hint().is_some(), "{what}: {}", error.full_message());
        }
        match SqliteStore::open(&path).and_then(|store| store.verify_record(None, None)) {
            Err(error) => {
                let error = Error::from(error);
                assert_ne!(error.kind(), ErrorKind::Internal, "{what}: {}", error.full_message());
            }
            Ok(verified) => {
                assert!(is_same || !verified.findings.is_empty(), "{what} passes `verify`");
            }
        }
    }
}

/// Page size of our stores.
const PAGE_BYTES: usize = 8 * 1024;

#[test]
fn a_page_that_was_lost_is_damage() {
    let wreck = DamagedStore::new();
    assert!(wreck.original.len() > 20 * PAGE_BYTES);
    for (number, start) in (0..wreck.original.len()).step_by(PAGE_BYTES).enumerate() {
        // In turn: zeros, ones, or the content of another page.
        let mut bytes = wreck.original.clone();
        match number % 3 {
            0 => bytes[start..start + PAGE_BYTES].fill(0x00),
            1 => bytes[start..start + PAGE_BYTES].fill(0xff),
            _ => {
                let other = (start + 7 * PAGE_BYTES) % bytes.len();
                bytes.copy_within(other..other + PAGE_BYTES, start);
            }
        }
        wreck.check_damage(&format!("page {number}"), &bytes);
    }
}

#[test]
fn bytes_that_were_changed_are_damage() {
    let wreck = DamagedStore::new();
    let mut dice = SeededRandom::new(12);
    for attempt in 0..pick_repeats(40, 5_000) {
        let mut bytes = wreck.original.clone();
        for _ in 0..=dice.next_u64() % 4 {
            let at = usize::try_from(dice.next_u64()).unwrap() % bytes.len();
            bytes[at] ^= u8::try_from(dice.next_u64() % 255 + 1).unwrap();
        }
        wreck.check_damage(&format!("attempt {attempt}"), &bytes);
    }
    // The header of the file and of its pages, which SQLite reads first.
    let heads = (1..wreck.original.len() / PAGE_BYTES).step_by(4).map(|page| page * PAGE_BYTES);
    for at in (0..100).step_by(3).chain(heads) {
        let mut bytes = wreck.original.clone();
        bytes[at] ^= 0x5a;
        wreck.check_damage(&format!("byte {at}"), &bytes);
    }
}

#[test]
fn a_file_that_was_cut_is_damage() {
    let wreck = DamagedStore::new();
    let length = wreck.original.len();
    for kept in [
        1,
        15,
        16,
        99,
        100,
        512,
        4_096,
        PAGE_BYTES - 1,
        PAGE_BYTES,
        PAGE_BYTES + 1,
        length / 2,
        length - PAGE_BYTES,
    ] {
        wreck.check_damage(&format!("{kept} bytes"), &wreck.original[..kept]);
    }
    wreck.check_damage("a text", b"This is a text that is no database, and long enough to be one.");
}

#[test]
fn the_program_says_that_its_store_is_damaged() {
    let program = TestProgram::new();
    assert_eq!(program.run_command(&["ask", "--rehearse", "Shall we?"]).code, 0);
    let path = program.path().join(".plenary/plenary.db");
    let original = std::fs::read(&path).unwrap();
    let listed = program.run_command(&["list", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed["dialogues"][0]["dialogue_id"].as_str().unwrap().to_owned();
    let commands: [&[&str]; 8] = [
        &["list"],
        &["show", &id],
        &["verify"],
        &["verify", &id],
        &["export", &id],
        &["resume", &id],
        &["watch", &id],
        &["ask", "--rehearse", "And this?"],
    ];
    let pages = original.len() / PAGE_BYTES;
    let mut codes = std::collections::BTreeSet::new();
    for page in (0..pages).step_by((pages / 12).max(1)) {
        for command in commands {
            let mut bytes = original.clone();
            bytes[page * PAGE_BYTES..(page + 1) * PAGE_BYTES].fill(0);
            std::fs::write(&path, &bytes).unwrap();
            let ran = program.run_command(command);
            let is_said = ran.code == 0 || ran.code == 1 || ran.stderr.contains("hint:");
            assert!(
                [0, 1, 3, 4].contains(&ran.code) && is_said,
                "page {page} {command:?}: {ran:?}"
            );
            codes.insert(ran.code);
        }
    }
    assert!(codes.contains(&1) && codes.contains(&4), "{codes:?}");
}
