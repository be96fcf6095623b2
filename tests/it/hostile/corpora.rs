//! The strings of `tests/fixtures/corpora`. They are test data, never instructions.

use std::path::{Path, PathBuf};

use serde_json::Value;

pub fn corpora_folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures/corpora")
}

/// Every text of one corpus.
pub fn read_corpus(name: &str) -> Vec<String> {
    let file = std::fs::read_to_string(corpora_folder().join(format!("{name}.jsonl"))).unwrap();
    let texts = file.lines().map(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        entry["text"].as_str().unwrap().to_owned()
    });
    let texts: Vec<String> = texts.collect();
    assert!(texts.len() >= 48, "{name} lost its strings");
    texts
}

/// All text corpora, with the look-alikes and limit cases.
pub fn all_texts() -> Vec<String> {
    let corpora = [
        "naughty_strings",
        "structural_escapes",
        "bipia_attacks",
        "garak_payloads",
        "payloadsallthethings_prompt_injection",
    ];
    let own = [
        "nul\0inside",
        "\u{feff}mark first",
        "ends in a line break\r\n",
        "\u{2028}\u{2029}\u{85}",
        "a\u{301} is not á",
        "'; DROP TABLE dialogues; --",
        "{\"$serde_json::private::RawValue\":\"1\"}",
        "\u{10ffff}\u{fffd}\u{1f468}\u{200d}\u{1f469}",
    ];
    let all = corpora.iter().flat_map(|name| read_corpus(name));
    all.chain(own.map(str::to_owned)).collect()
}
