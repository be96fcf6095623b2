//! Which candidates a sweep chooses.

use crate::app::review_input::{SkipReason, SkippedFile};
use plenary_core::protocols::review::policy::ReviewVerdict;

use super::*;

/// Candidates by name: the first letter is the content, `?` is not sampled, `!` is unreadable;
/// content in capitals has an earlier verdict.
fn check(names: &str, max: usize, expected: &str) {
    let file =
        |name: &str| FolderFile { path: name.into(), shown: name.to_owned(), modified: None };
    let input_of = |file: &FolderFile| Ok(read_sample(file));
    let decided = |sha256: &str| {
        let is_decided = sha256.chars().all(char::is_uppercase);
        Ok(is_decided.then(|| ContentDecision {
            verdict_id: "a-review/1".to_owned(),
            verdict: ReviewVerdict::Hold,
            ts: "2026-02-02T09:00:00Z".parse().unwrap(),
        }))
    };
    let candidates = names.split_whitespace().map(file).collect();
    let mut found = SweepSelection::default();
    found.choose_files(candidates, max, input_of, decided).unwrap();
    let mut result: Vec<String> =
        found.chosen.iter().map(|one| format!("+{}", one.document.artifact().path)).collect();
    result.extend(found.left.iter().map(|path| format!("left {path}")));
    result.extend(found.passed_over.iter().map(|one| format!("{:?} {}", one.code, one.path)));
    let unread = found.unreadable.iter();
    result.extend(unread.map(|(path, _)| format!("unreadable {path}")));
    assert_eq!(result.join(", "), expected, "{names}");
}

fn read_sample(file: &FolderFile) -> ReviewInput {
    match file.shown.chars().next().unwrap() {
        '?' => ReviewInput::Skipped(SkippedFile {
            path: file.shown.clone(),
            artifact_type: "post".to_owned(),
            tier: ReviewTier::Sampled,
            because: SkipReason::NotDrawn,
            classified: None,
        }),
        '!' => ReviewInput::Unreadable {
            path: file.path.clone(),
            error: Error::Output(std::io::ErrorKind::Other.into()),
        },
        content => ReviewInput::Artifact(Box::new(ReviewArtifact {
            path: file.shown.clone(),
            artifact_type: "post".to_owned(),
            tier: ReviewTier::Always,
            producer: None,
            sha256: content.to_string(),
            text: String::new(),
            classified: None,
        })),
    }
}

#[test]
fn candidates_are_judged_in_their_order() {
    check("", 20, "");
    check("b a c", 20, "+b, +a, +c");
}

#[test]
fn a_content_is_judged_once() {
    check("a1 a2 b a3", 20, "+a1, +b, Duplicate a2, Duplicate a3");
    check("A b", 20, "+b, Decided A");
}

#[test]
fn what_the_cap_leaves_is_said() {
    check("a b c d", 2, "+a, +b, left c, left d");
    // Files that need no review do not count towards the maximum.
    check(
        "A ?x a1 a2 B b c1 c2",
        2,
        "+a1, +b, left c1, Decided A, NotDrawn ?x, Duplicate a2, Decided B, Duplicate c2",
    );
}

#[test]
fn what_cannot_be_read_does_not_pass() {
    check("!x a ?y", 20, "+a, NotDrawn ?y, unreadable !x");
}

#[test]
fn a_file_that_was_decided_says_how() {
    let before = ContentDecision {
        verdict_id: "a-review/1".to_owned(),
        verdict: ReviewVerdict::Hold,
        ts: "2026-02-02T09:00:00Z".parse().unwrap(),
    };
    let file = FolderFile { path: "a".into(), shown: "a".into(), modified: None };
    let input_of = |_: &FolderFile| {
        let (path, artifact_type) = ("a".to_owned(), "post".to_owned());
        let (sha256, text) = (String::new(), String::new());
        let tier = ReviewTier::Always;
        let (producer, classified) = (None, None);
        let artifact =
            ReviewArtifact { path, artifact_type, tier, producer, sha256, text, classified };
        Ok(ReviewInput::Artifact(Box::new(artifact)))
    };
    let mut found = SweepSelection::default();
    found.choose_files(vec![file], 1, input_of, |_| Ok(Some(before.clone()))).unwrap();
    assert_eq!(found.passed_over[0].reason, "decided before: HOLD (a-review/1)");
}
