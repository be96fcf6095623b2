//! Hostile texts: none makes the extraction panic or hang.

use super::extract_reply;
use std::path::Path;

use super::{ReplyExtraction, extract};

fn read(text: &str) -> ReplyExtraction {
    extract_reply(text, &"muffin".parse().unwrap(), 1)
}

/// Every string of the corpora.
#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
fn corpora() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/corpora");
    let files = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let texts = files.flat_map(|path| {
        let file = std::fs::read_to_string(path).unwrap();
        let texts = file.lines().map(|line| {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            entry["text"].as_str().unwrap().to_owned()
        });
        texts.collect::<Vec<_>>()
    });
    texts.collect()
}

#[test]
fn strings_of_the_corpora_are_kept_as_they_are() {
    let corpora = corpora();
    assert!(corpora.len() > 500, "found only {}", corpora.len());
    for text in corpora {
        assert_eq!(read(&text).contributions, [], "{text}");
        // The text is a paragraph of its own, so that its fences and brackets do not affect others.
        let before = read(&format!("[MUFFIN-P0101: A]\nbefore\n\n{text}"));
        assert_eq!(before.contributions.len(), 1, "{text}");
        let said = &before.contributions[0].text;
        assert!(said.starts_with("before"), "{said}");
        let as_label = read(&format!("[MUFFIN-P0101: {text}]\nafter"));
        assert!(as_label.contributions.iter().all(|item| item.local_id.seq == 1), "{text}");
    }
}

/// Quadratic run time would make this test hang.
#[test]
fn a_long_text_of_any_one_thing_is_read() {
    let pieces = [
        "[",
        "]",
        "[]",
        "[a",
        "[RE:",
        "[RE:SUPPORT P0001 ",
        "[RE:SUPPORT P0001]",
        "[MOVE:REQUEST ",
        "[MOVE:DEFEND P0001]",
        "[MUFFIN-P0101: ",
        "[MUFFIN-P0101: a] ",
        "[MUFFIN-P0101] ",
        "`",
        "`` ` ",
        "[`",
        "* ",
        "> ",
        "- ",
        "\n- [",
        "**[",
        "\\[",
        "［",
        "[MUFFIN-",
        "[P0001 ",
        "[P0001,",
        "```\n",
        "~~~a\n",
        "# \n",
        "\n\n    ",
        "[DISSENT]",
        "[VERDICT:",
        "[RE:SUPPORT @",
        "[MUFFIN-P0101: a]\n[MUFFIN-P0102: ",
        "[RE:SUPPORT [",
        "[PERSPECTIVE ",
        "\u{200b}",
        "[\u{200b}",
        "[ ",
        "\n[MOVE:CONVERGE]\n# ",
        "[MUFFIN-P0101: a]\n---\n",
        "[MUFFIN-X0101: a]\n",
        "[MUFFIN-X",
        "`[RE:SUPPORT P0001]` ",
        "`[aa]` a\n",
        "MOVE:CONVERGE\n",
        "MUFFIN-P0101: a\n",
        "[MUFFIN-P0101: a] b [RE:SUPPORT P0001] ",
        "\n\n[RE:SUPPORT P0001]\n",
        "- ([MOVE:CONVERGE]) ",
        "{",
    ];
    for piece in pieces {
        let _ = read(&piece.repeat(100_000 / piece.len()));
    }
}

#[test]
fn limits_of_a_batch_are_kept() {
    let long = "word ".repeat(40_000);
    let cut = read(&format!("[MUFFIN-P0101: A]\n{long}"));
    assert_eq!(cut.contributions[0].text.chars().count(), 99_999);
    assert_eq!(cut.warnings[0].kind.name(), "cut");
    let label = read(&format!("[MUFFIN-P0101: {}]\na", "l".repeat(1_001)));
    assert_eq!((label.contributions.len(), label.warnings[1].kind.name()), (0, "not_read"));
    let many: String = (0..7_000).map(|_| "[MOVE:DEFEND P0001] a\n").collect();
    let many = read(&many);
    assert_eq!(many.moves.len(), 5_000);
    assert_eq!(many.warnings.len(), 1_001);
    assert_eq!(many.warnings[1_000].message, "there are 1000 further warnings");
    let references: String = (1..=90)
        .flat_map(|seq| {
            ["P", "R", "T", "E", "C", "@x"].map(|kind| match kind {
                "@x" => format!("[RE:SUPPORT @x{seq}]"),
                kind => format!("[RE:SUPPORT {kind}00{seq:02}]"),
            })
        })
        .collect();
    assert_eq!(
        read(&format!("[MUFFIN-P0101: A] a {references}")).contributions[0].references.len(),
        500
    );
}
