//! Finds the files of a folder that a tier rule selects and that changed recently.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::selection::{PassOverReason, PassedOverFile};
use crate::config::{ClassReason, Settings, TierClassifier};
use crate::domain::gate::ReviewTier;
use crate::domain::refusal::{self, ValidationError};
use crate::domain::store_files::list_store_files;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::material::{
    self, ContextFileError, ExcludedEntry, FolderEntryKind, FolderFile, IsRequested,
};

/// Extensions of documents. A rule that matches such a file includes it, even if its name looks
/// like a secret: the content is checked for keys when it is read.
const DOCUMENT_EXTENSIONS: [&str; 8] =
    [".md", ".markdown", ".txt", ".rst", ".adoc", ".html", ".htm", ".tex"];

/// The files of a folder, sorted by tier rule and age.
#[derive(Debug, Default)]
pub(super) struct SweepCandidates {
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
pub(super) struct SweepCounts {
    pub looked_at: usize,
    /// No rule matches.
    pub no_rule: usize,
    pub tier_2: usize,
}

/// Lists and classifies the files of a project folder.
pub(super) fn find_candidates(
    dir: &Path,
    since: Moment,
    settings: &Settings,
    rules: &Arc<TierClassifier>,
) -> Result<SweepCandidates, Error> {
    let located = &settings.paths;
    if is_outside(&located.working.join(dir), &located.documents) {
        return Err(outside_error(dir));
    }
    let listed = material::list_folder_files(
        &located.documents,
        &located.working,
        dir,
        wanted_entries(rules),
    )?;
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
    let fault = ValidationError::new(refusal::ErrorCode::PathNotAllowed, message);
    fault.with_suggestion("name a folder in it; its rules fit nothing elsewhere").into()
}
