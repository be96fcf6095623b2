//! Selects the candidates to review: each content once, at most `max` of them.

use std::collections::HashMap;

use serde::Serialize;

use crate::domain::gate::{ContentDecision, ReviewArtifact};
use crate::domain::time::Moment;
use crate::error::Error;
use crate::hosting::ReviewInput;
use crate::material::FolderFile;
use crate::surfaces::cli::gate::advice::sweep_key_error;

/// Why a file that matches a rule is not reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PassOverReason {
    Unchanged,
    LeftOut,
    NotDrawn,
    Decided,
    Duplicate,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct PassedOverFile {
    pub path: String,
    pub code: PassOverReason,
    pub reason: String,
}

/// Candidates by what happens to them.
#[derive(Debug, Default)]
pub(super) struct SweepSelection {
    /// To be reviewed, in this order.
    pub chosen: Vec<ChosenFile>,
    pub passed_over: Vec<PassedOverFile>,
    /// Selected by a rule but unreadable; they fail the sweep.
    pub unreadable: Vec<(String, Error)>,
    /// Beyond `max`, so left for the next sweep.
    pub left: Vec<String>,
}

#[derive(Debug)]
pub(super) struct ChosenFile {
    pub artifact: Box<ReviewArtifact>,
    pub modified: Option<Moment>,
}

/// Selects candidates in order. `piece_of` reads a file; `decided` returns an earlier verdict on
/// the same content.
pub(super) fn select_candidates(
    candidates: Vec<FolderFile>,
    max: usize,
    input_of: impl Fn(&FolderFile) -> ReviewInput,
    decided: impl Fn(&str) -> Result<Option<ContentDecision>, Error>,
) -> Result<SweepSelection, Error> {
    let mut found = SweepSelection::default();
    let mut seen: HashMap<String, String> = HashMap::new();
    for file in candidates {
        let artifact = match input_of(&file) {
            ReviewInput::Artifact(artifact) => artifact,
            ReviewInput::Skipped(skipped) => {
                let reason = "of tier 3, and not the one in five".to_owned();
                found.pass_over(skipped.path, PassOverReason::NotDrawn, reason);
                continue;
            }
            ReviewInput::HoldsSecret(held) => {
                found.unreadable.push((file.shown, sweep_key_error(&held).into()));
                continue;
            }
            ReviewInput::Unreadable { error, .. } => {
                found.unreadable.push((file.shown, error));
                continue;
            }
        };
        if let Some(before) = decided(&artifact.sha256)? {
            let reason = format!("decided before: {} ({})", before.verdict, before.verdict_id);
            found.pass_over(artifact.path, PassOverReason::Decided, reason);
        } else if let Some(first) = seen.get(&artifact.sha256) {
            let reason = format!("the same content as `{first}`");
            found.pass_over(artifact.path, PassOverReason::Duplicate, reason);
        } else {
            seen.insert(artifact.sha256.clone(), artifact.path.clone());
            if found.chosen.len() < max {
                found.chosen.push(ChosenFile { artifact, modified: file.modified });
            } else {
                found.left.push(artifact.path);
            }
        }
    }
    Ok(found)
}

impl SweepSelection {
    fn pass_over(&mut self, path: String, code: PassOverReason, reason: String) {
        self.passed_over.push(PassedOverFile { path, code, reason });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::gate::{FinalVerdict, ReviewTier};
    use crate::hosting::{SkipReason, SkippedFile};

    /// Candidates by name: the first letter is the content, `?` is not sampled, `!` is unreadable;
    /// content in capitals has an earlier verdict.
    fn check(names: &str, max: usize, expected: &str) {
        let file =
            |name: &str| FolderFile { path: name.into(), shown: name.to_owned(), modified: None };
        let input_of = |file: &FolderFile| match file.shown.chars().next().unwrap() {
            '?' => ReviewInput::Skipped(SkippedFile {
                path: file.shown.clone(),
                artifact_type: "post".to_owned(),
                tier: ReviewTier::Sampled,
                because: SkipReason::NotDrawn,
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
            })),
        };
        let decided = |sha256: &str| {
            let is_decided = sha256.chars().all(char::is_uppercase);
            Ok(is_decided.then(|| ContentDecision {
                verdict_id: "a-review/1".to_owned(),
                verdict: FinalVerdict::Hold,
                ts: "2026-02-02T09:00:00Z".parse().unwrap(),
            }))
        };
        let candidates = names.split_whitespace().map(file).collect();
        let found = select_candidates(candidates, max, input_of, decided).unwrap();
        let mut told: Vec<String> =
            found.chosen.iter().map(|one| format!("+{}", one.artifact.path)).collect();
        told.extend(found.left.iter().map(|path| format!("left {path}")));
        told.extend(found.passed_over.iter().map(|one| format!("{:?} {}", one.code, one.path)));
        let unread = found.unreadable.iter();
        told.extend(unread.map(|(path, _)| format!("unreadable {path}")));
        assert_eq!(told.join(", "), expected, "{names}");
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
            verdict: FinalVerdict::Hold,
            ts: "2026-02-02T09:00:00Z".parse().unwrap(),
        };
        let file = FolderFile { path: "a".into(), shown: "a".into(), modified: None };
        let input_of = |_: &FolderFile| {
            let (path, artifact_type) = ("a".to_owned(), "post".to_owned());
            let (sha256, text) = (String::new(), String::new());
            let tier = ReviewTier::Always;
            ReviewInput::Artifact(Box::new(ReviewArtifact {
                path,
                artifact_type,
                tier,
                producer: None,
                sha256,
                text,
            }))
        };
        let found =
            select_candidates(vec![file], 1, input_of, |_| Ok(Some(before.clone()))).unwrap();
        assert_eq!(found.passed_over[0].reason, "decided before: HOLD (a-review/1)");
    }
}
