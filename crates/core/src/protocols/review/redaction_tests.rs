//! What redaction removes from a row, and what stays.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn redaction(patterns: &[&str]) -> LogRedaction {
    let mut redaction = LogRedaction::default();
    patterns.iter().for_each(|pattern| redaction.add_pattern(pattern).unwrap());
    redaction
}

/// A row with this text in every text field.
fn row(text: &str) -> LogRow {
    let seat = json!({
        "deliberator": "skeptic", "verdict": "hold", "scores": {text: 3}, "would_block": true, "irreducible": false,
        "concerns": [{"locus": text, "issue": text, "fix": text}], "revision_brief": text,
        "concessions": [text], "escalations": [text], "delta_from_r1": text,
    });
    let row = json!({
        "v": 2, "ts": "2026-05-18T10:00:00Z", "artifact": text, "artifact_type": "post", "round1": [seat], "round2": [seat],
        "adjudicator": {"final_verdict": "HOLD", "reasoning": text, "revision_brief": text},
        "artifact_sha256": "ab".repeat(32), "producer": text, "verdict_id": "posts-a-12345678/1", "rehearsal": false,
    });
    serde_json::from_value(row).unwrap()
}

/// Collects every text of a parsed line, including the names of scores.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|item| texts(item, found)),
        Value::Object(map) => map.iter().for_each(|(key, item)| {
            if item.is_number() {
                found.push(key.clone());
            }
            texts(item, found);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn matches_are_marked_in_every_text() {
    let redacted = redaction(&["sk-[a-z0-9]+"]).redact_row(&row("key sk-abc123, \"sk-9\"\nend"));
    let line = serde_json::to_string(&redacted).unwrap();
    assert!(!line.contains("sk-"), "{line}");
    // Eight per seat, two of the adjudicator, path and producer.
    assert_eq!(line.matches(r#"key [redacted], \"[redacted]\"\nend"#).count(), 20, "{line}");
    for kept in [
        "\"artifact_type\":\"post\"",
        "posts-a-12345678/1",
        "2026-05-18T10:00:00",
        "abababab",
        "\"skeptic\"",
    ] {
        assert!(line.contains(kept), "{kept}: {line}");
    }
}

#[test]
fn what_a_row_is_found_by_stays() {
    let redacted = redaction(&["."]).redact_row(&row("x"));
    let expected = LogRow {
        artifact: REDACTION_MARK.into(),
        producer: Some(REDACTION_MARK.into()),
        ..redaction(&["x"]).redact_row(&row("x"))
    };
    assert_eq!(redacted, expected);
}

#[test]
fn names_that_become_one_keep_their_scores() {
    let scores = BTreeMap::from([("a1".to_owned(), 1), ("a2".to_owned(), 2), ("b".to_owned(), 3)]);
    let kept = redaction(&["a."]).redact_scores(&scores);
    let expected = [("[redacted]", 1), ("[redacted] 2", 2), ("b", 3)];
    assert_eq!(kept, expected.map(|(name, score)| (name.to_owned(), score)).into());
}

#[track_caller]
fn check(patterns: &[&str], text: &str, expected: &str) {
    assert_eq!(redaction(patterns).redact_text(text), expected, "{patterns:?}");
}

#[test]
fn what_touches_is_one_mark_and_new_matches_are_found() {
    check(&["b+", "c+"], "abbcca", "a[redacted]a");
    check(&["abc", "bcd"], "xabcdx", "x[redacted]x");
    check(&["x", r"\bsecret"], "xsecret", "[redacted]");
    check(&["a*"], "baab", "b[redacted]b");
    check(&["redacted"], "redacted [redacted]", "[redacted] [[redacted]]");
    check(&[r"\w+"], "über 7", "[redacted] [redacted]");
    check(&["(?i)müller"], "Frau MÜLLER", "Frau [redacted]");
    check(&["(?s)BEGIN.*END"], "x BEGIN\n1\n2\nEND y", "x [redacted] y");
    check(&[r#"a"b\\c"#], r#"a"b\c"#, "[redacted]");
    check(&[], "as it is", "as it is");
}

#[test]
fn a_pattern_that_is_none_is_said_without_it() {
    let bad = |pattern: &str| LogRedaction::default().add_pattern(pattern).unwrap_err();
    assert_eq!(bad("hunter2("), "unclosed group");
    assert_eq!(bad("hunter2[a"), "unclosed character class");
    assert_eq!(bad("(hunter2{999}){999}"), "it is too large");
    assert!(!format!("{:?}", redaction(&["hunter2"])).contains("hunter2"));
}

/// Typical patterns, and patterns that cause trouble.
fn patterns() -> impl Strategy<Value = Vec<String>> {
    let pattern = prop_oneof![
        "[a-e]{1,3}",
        "[a-e]\\+[a-e]?",
        "\\\\b[a-e]",
        "[a-e]\\$",
        "\\^[a-e\"]",
        Just(r"\s+".to_owned()),
        Just(r#"["\\]"#.to_owned()),
        Just("[^a]".to_owned()),
        Just(r"\[re".to_owned()),
        Just("(a|b)*".to_owned()),
    ];
    proptest::collection::vec(pattern, 0..4)
}

proptest! {
    #[test]
    fn no_match_is_left_in_the_line(
        patterns in patterns(),
        text in "[a-e \"\\\\\n\u{7f}é]{0,40}",
    ) {
        let redaction = redaction(&patterns.iter().map(String::as_str).collect::<Vec<_>>());
        let line = serde_json::to_string(&redaction.redact_row(&row(&text))).unwrap();
        let parsed: Value = serde_json::from_str(&line).unwrap();
        let mut found = Vec::new();
        texts(&parsed, &mut found);
        let named = ["post", "skeptic", "hold", "HOLD", "v", "prior_verdicts_consulted", "posts-a-12345678/1"];
        for text in found.iter().filter(|text| !named.contains(&text.as_str())) {
            if text.starts_with("2026-05-18") || text.starts_with("abab") {
                continue;
            }
            for pattern in &patterns {
                let pattern = Regex::new(pattern).unwrap();
                // A mark may contain a match; the text outside of marks, or across their ends, may
                // not.
                for left in pattern.find_iter(text).filter(|left| !left.is_empty()) {
                    let inside = text.match_indices(REDACTION_MARK).any(|(start, mark)| {
                        start <= left.start() && left.end() <= start + mark.len()
                    });
                    prop_assert!(inside, "{:?} is left in {:?} by {}", left.as_str(), text, pattern);
                }
            }
        }
    }
}
