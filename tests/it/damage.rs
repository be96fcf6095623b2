//! A damaged store file is reported as damaged: no panic, no internal error, and `verify` finds
//! every changed value.

use std::path::Path;

use plenary::domain::catalogue::{EndingQuery, ListQuery};
use plenary::domain::dice::SplitMix;
use plenary::error::{Error, Kind};
use plenary::store::{SqliteStore, Store, StoreError};

use crate::kit::{Program, times};
use crate::tampering::Crime;

/// Queries a damaged file: one text per query, or the error.
fn answers(path: &Path) -> Vec<Result<String, StoreError>> {
    let store = match SqliteStore::open(path) {
        Ok(store) => store,
        Err(error) => return vec![Err(error)],
    };
    let list = ListQuery { status: None, protocol: None, limit: 50, after: None };
    let mut answers = vec![
        store.list(&list).map(|found| format!("{found:?}")),
        store.stats(5).map(|found| format!("{found:?}")),
        store.search(&["talk".to_owned()], 5).map(|found| format!("{found:?}")),
        store.last_intervention().map(|found| format!("{found:?}")),
        store.log_lines(0, 50).map(|found| format!("{found:?}")),
        store.due("2036-01-01".parse().unwrap(), 50).map(|found| format!("{found:?}")),
        store.endings(&EndingQuery { limit: 50, since: None }).map(|found| format!("{found:?}")),
    ];
    for id in ["talk", "second", "ended", "review"] {
        let id = id.parse().unwrap();
        answers.push(store.dialogue(&id).map(|found| format!("{found:?}")));
        answers.push(store.record(&id).map(|found| format!("{found:?}")));
        answers.push(store.entries(&id, 0).map(|found| format!("{found:?}")));
    }
    answers
}

/// A store that the test damages again and again.
struct Wreck {
    scene: Crime,
    original: Vec<u8>,
    sound: Vec<String>,
}

impl Wreck {
    fn new() -> Self {
        let scene = Crime::scene();
        let original = std::fs::read(scene.file()).unwrap();
        let sound = answers(&scene.file()).into_iter().map(Result::unwrap).collect();
        Self { scene, original, sound }
    }

    /// Checks every answer of the damaged file.
    fn check(&self, what: &str, bytes: &[u8]) {
        let path = self.scene.file();
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(path.with_file_name(format!("plenary.db{suffix}")));
        }
        std::fs::write(&path, bytes).unwrap();
        let answers = answers(&path);
        let is_same = answers.len() == self.sound.len()
            && answers
                .iter()
                .zip(&self.sound)
                .all(|(answer, sound)| answer.as_ref().is_ok_and(|answer| answer == sound));
        for error in answers.into_iter().filter_map(Result::err).map(Error::from) {
            assert_ne!(error.kind(), Kind::Internal, "{what}: {}", error.sentence());
            assert!(error.hint().is_some(), "{what}: {}", error.sentence());
        }
        match SqliteStore::open(&path).and_then(|store| store.verify(None, None)) {
            Err(error) => {
                let error = Error::from(error);
                assert_ne!(error.kind(), Kind::Internal, "{what}: {}", error.sentence());
            }
            Ok(verified) => {
                assert!(is_same || !verified.findings.is_empty(), "{what} passes `verify`");
            }
        }
    }
}

/// Page size of our stores.
const PAGE: usize = 8 * 1024;

#[test]
fn a_page_that_was_lost_is_damage() {
    let wreck = Wreck::new();
    assert!(wreck.original.len() > 20 * PAGE);
    for (number, start) in (0..wreck.original.len()).step_by(PAGE).enumerate() {
        // In turn: zeros, ones, or the content of another page.
        let mut bytes = wreck.original.clone();
        match number % 3 {
            0 => bytes[start..start + PAGE].fill(0x00),
            1 => bytes[start..start + PAGE].fill(0xff),
            _ => {
                let other = (start + 7 * PAGE) % bytes.len();
                bytes.copy_within(other..other + PAGE, start);
            }
        }
        wreck.check(&format!("page {number}"), &bytes);
    }
}

#[test]
fn bytes_that_were_changed_are_damage() {
    let wreck = Wreck::new();
    let mut dice = SplitMix::new(12);
    for attempt in 0..times(40, 5_000) {
        let mut bytes = wreck.original.clone();
        for _ in 0..=dice.roll() % 4 {
            let at = usize::try_from(dice.roll()).unwrap() % bytes.len();
            bytes[at] ^= u8::try_from(dice.roll() % 255 + 1).unwrap();
        }
        wreck.check(&format!("attempt {attempt}"), &bytes);
    }
    // The header of the file and of its pages, which SQLite reads first.
    let heads = (1..wreck.original.len() / PAGE).step_by(4).map(|page| page * PAGE);
    for at in (0..100).step_by(3).chain(heads) {
        let mut bytes = wreck.original.clone();
        bytes[at] ^= 0x5a;
        wreck.check(&format!("byte {at}"), &bytes);
    }
}

#[test]
fn a_file_that_was_cut_is_damage() {
    let wreck = Wreck::new();
    let length = wreck.original.len();
    for kept in
        [1, 15, 16, 99, 100, 512, 4_096, PAGE - 1, PAGE, PAGE + 1, length / 2, length - PAGE]
    {
        wreck.check(&format!("{kept} bytes"), &wreck.original[..kept]);
    }
    wreck.check("a text", b"This is a text that is no database, and long enough to be one.");
}

#[test]
fn the_program_says_that_its_store_is_damaged() {
    let program = Program::new();
    assert_eq!(program.run(&["ask", "--rehearse", "Shall we?"]).code, 0);
    let path = program.path().join(".plenary/plenary.db");
    let original = std::fs::read(&path).unwrap();
    let listed = program.run(&["list", "--json"]).stdout;
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
    let pages = original.len() / PAGE;
    let mut codes = std::collections::BTreeSet::new();
    for page in (0..pages).step_by((pages / 12).max(1)) {
        for command in commands {
            let mut bytes = original.clone();
            bytes[page * PAGE..(page + 1) * PAGE].fill(0);
            std::fs::write(&path, &bytes).unwrap();
            let ran = program.run(command);
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
