//! Finds the files of a folder that a tier rule selects and that changed recently.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plenary_core::model::time::Moment;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::review::log_row::ContentDecision;
use plenary_core::protocols::review::types::{ReviewArtifact, ReviewTier};
use plenary_engine::app::review_input::ReviewInput;
use plenary_engine::config::settings::Settings;
use plenary_engine::config::tier_rules::{ClassReason, TierClassifier};
use plenary_engine::context_files::gather::ContextFileError;
use plenary_engine::context_files::walk::{
    ExcludedEntry, FolderEntryKind, FolderFile, IsRequested, list_folder_files,
};
use plenary_engine::error::Error;
use plenary_engine::files::reserved_names::list_store_files;
use serde::Serialize;

use crate::cli::review::sweep_key_error;

/// Extensions of documents. A rule that matches such a file includes it, even if its name looks
/// like a secret: the content is checked for keys when it is read.
const DOCUMENT_EXTENSIONS: [&str; 8] =
    [".md", ".markdown", ".txt", ".rst", ".adoc", ".html", ".htm", ".tex"];

/// The files of a folder, sorted by tier rule and age.
#[derive(Debug, Default)]
pub(crate) struct SweepCandidates {
    /// Files to read, oldest change first: files beyond the cap are the newest, and the next sweep
    /// still finds them.
    pub files: Vec<FolderFile>,
    /// Files that match a rule but are not read.
    pub passed_over: Vec<PassedOverFile>,
    /// Folders that a rule may match but that cannot be read; they fail the sweep.
    pub closed: Vec<(String, Error)>,
    pub counts: SweepCounts,
}

/// Files that are only counted, because there may be thousands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct SweepCounts {
    pub looked_at: usize,
    /// No rule matches.
    pub no_rule: usize,
    pub tier_2: usize,
}

/// Lists and classifies the files of a project folder.
pub(crate) fn find_candidates(
    dir: &Path,
    since: Moment,
    settings: &Settings,
    rules: &Arc<TierClassifier>,
) -> Result<SweepCandidates, Error> {
    let located = &settings.paths;
    if is_outside(&located.working.join(dir), &located.documents) {
        return Err(outside_error(dir));
    }
    let listed =
        list_folder_files(&located.documents, &located.working, dir, wanted_entries(rules))?;
    let own = own_files(settings);
    let mut found = SweepCandidates::default();
    for file in listed.files {
        found.classify_file(file, since, rules, &own);
    }
    for left_out in listed.left_out {
        found.note_left_out(left_out, since, rules, &own);
    }
    found.files.sort_by(|a, b| {
        let age = |file: &FolderFile| (file.modified.is_none(), file.modified);
        (age(a), &a.shown).cmp(&(age(b), &b.shown))
    });
    Ok(found)
}

impl SweepCandidates {
    fn classify_file(
        &mut self,
        file: FolderFile,
        since: Moment,
        rules: &TierClassifier,
        own: &[PathBuf],
    ) {
        self.counts.looked_at += 1;
        let class = rules.classify_path(Some(&file.shown));
        match (class.tier != ReviewTier::Never, class.reason) {
            (true, _) => self.consider_file(file, since, own),
            (false, ClassReason::Rule) => self.counts.tier_2 += 1,
            (false, ClassReason::NoMatch | ClassReason::NoRules) => self.counts.no_rule += 1,
        }
    }

    /// Handles a file that a rule selects for review.
    fn consider_file(&mut self, file: FolderFile, since: Moment, own: &[PathBuf]) {
        if own.contains(&file.path) {
            let reason = "plenary's own record".to_owned();
            self.pass_over(file.shown, PassOverReason::LeftOut, reason);
        } else if file.modified.is_some_and(|modified| modified < since) {
            let reason = "unchanged since then".to_owned();
            self.pass_over(file.shown, PassOverReason::Unchanged, reason);
        } else {
            self.files.push(file);
        }
    }

    /// Handles an entry that the directory walk skipped. Entries that no rule could match are not
    /// reported.
    fn note_left_out(
        &mut self,
        left_out: ExcludedEntry,
        since: Moment,
        rules: &TierClassifier,
        own: &[PathBuf],
    ) {
        let ExcludedEntry { path, shown, kind, reason } = left_out;
        match kind {
            // As in `review`: classify a link by its own name; reading it checks that its target is
            // inside the folder.
            FolderEntryKind::Link if rules.is_reviewed(&shown) => {
                self.classify_file(FolderFile::new(path, shown), since, rules, own);
            }
            FolderEntryKind::File | FolderEntryKind::Other if rules.is_reviewed(&shown) => {
                self.pass_over(shown, PassOverReason::LeftOut, reason);
            }
            FolderEntryKind::Folder if rules.may_review_in(&shown) => {
                self.pass_over(shown, PassOverReason::LeftOut, reason);
            }
            FolderEntryKind::ClosedFolder if rules.may_review_in(&shown) => {
                let error = ContextFileError::Unfit { path: shown.clone().into(), reason };
                self.closed.push((shown, error.into()));
            }
            FolderEntryKind::Link
            | FolderEntryKind::File
            | FolderEntryKind::Other
            | FolderEntryKind::Folder
            | FolderEntryKind::ClosedFolder => {}
        }
    }

    fn pass_over(&mut self, path: String, code: PassOverReason, reason: String) {
        self.passed_over.push(PassedOverFile { path, code, reason });
    }
}

/// Accepts documents that match a rule, and folders that a rule names, such as `dist` in
/// `dist/*.md`.
fn wanted_entries(rules: &Arc<TierClassifier>) -> IsRequested {
    let rules = Arc::clone(rules);
    Arc::new(move |path, kind| match kind {
        FolderEntryKind::File => is_document(path) && rules.is_reviewed(path),
        FolderEntryKind::Folder => rules.names_folder(path),
        FolderEntryKind::ClosedFolder | FolderEntryKind::Link | FolderEntryKind::Other => false,
    })
}

fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.starts_with('.')
        && DOCUMENT_EXTENSIONS.iter().any(|end| name.to_lowercase().ends_with(end))
}

/// The verdict log and the store, which change with every review.
fn own_files(settings: &Settings) -> Vec<PathBuf> {
    let store = list_store_files(&settings.paths.store);
    let own = [settings.review.log_path.clone()].into_iter().chain(store);
    own.filter_map(|path| path.canonicalize().ok()).collect()
}

fn is_outside(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(path).zip(real(folder)).is_some_and(|(path, folder)| !path.starts_with(folder))
}

/// Refuses a folder outside the project. Rules are relative to the project folder, so a sweep
/// elsewhere would match nothing and report success.
fn outside_error(dir: &Path) -> Error {
    let message = format!("`{}` lies outside the folder of council.yaml", dir.display());
    let fault = ValidationError::new(ErrorCode::PathNotAllowed, message);
    fault.with_suggestion("name a folder in it; its rules fit nothing elsewhere").into()
}

/// Why a file that matches a rule is not reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PassOverReason {
    Unchanged,
    LeftOut,
    NotDrawn,
    Decided,
    Duplicate,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PassedOverFile {
    pub path: String,
    pub code: PassOverReason,
    pub reason: String,
}

/// Candidates by what happens to them.
#[derive(Debug, Default)]
pub(crate) struct SweepSelection {
    /// To be reviewed, in this order.
    pub chosen: Vec<ChosenFile>,
    pub passed_over: Vec<PassedOverFile>,
    /// Selected by a rule but unreadable; they fail the sweep.
    pub unreadable: Vec<(String, Error)>,
    /// Beyond `max`, so left for the next sweep.
    pub left: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct ChosenFile {
    pub artifact: Box<ReviewArtifact>,
    pub modified: Option<Moment>,
}

/// Selects candidates in order. `piece_of` reads a file; `decided` returns an earlier verdict on
/// the same content.
pub(crate) fn select_candidates(
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
    use plenary_core::protocols::review::policy::ReviewVerdict;
    use plenary_core::protocols::review::types::ReviewTier;
    use plenary_engine::app::review_input::{SkipReason, SkippedFile};

    use super::*;

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
                verdict: ReviewVerdict::Hold,
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
            verdict: ReviewVerdict::Hold,
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
