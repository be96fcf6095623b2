//! Finds the files of a folder that a tier rule selects and that changed recently.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::selection::{PassedOver, PassedOverBecause};
use crate::config::{Because, Classifier, Settings};
use crate::domain::gate::Tier;
use crate::domain::refusal::{self, Fault};
use crate::domain::store_files::store_files;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::material::{self, AskedFor, EntryKind, FolderFile, LeftOut, MaterialError};

/// Extensions of documents. A rule that matches such a file includes it, even if its name looks
/// like a secret: the content is checked for keys when it is read.
const DOCUMENT_ENDS: [&str; 8] =
    [".md", ".markdown", ".txt", ".rst", ".adoc", ".html", ".htm", ".tex"];

/// The files of a folder, sorted by tier rule and age.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Files to read, oldest change first: files beyond the cap are the newest, and the next sweep
    /// still finds them.
    pub files: Vec<FolderFile>,
    /// Files that match a rule but are not read.
    pub passed_over: Vec<PassedOver>,
    /// Folders that a rule may match but that cannot be read; they fail the sweep.
    pub closed: Vec<(String, Error)>,
    pub counts: Counts,
}

/// Files that are only counted, because there may be thousands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Counts {
    pub looked_at: usize,
    /// No rule matches.
    pub no_rule: usize,
    pub tier_2: usize,
}

/// Lists and classifies the files of a project folder.
pub(super) fn candidates(
    dir: &Path,
    since: Moment,
    settings: &Settings,
    rules: &Arc<Classifier>,
) -> Result<Candidates, Error> {
    let located = &settings.located;
    if is_elsewhere(&located.working.join(dir), &located.documents) {
        return Err(outside(dir));
    }
    let listed = material::files_in(&located.documents, &located.working, dir, asked_for(rules))?;
    let own = own_files(settings);
    let mut found = Candidates::default();
    for file in listed.files {
        found.sort(file, since, rules, &own);
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

impl Candidates {
    fn sort(&mut self, file: FolderFile, since: Moment, rules: &Classifier, own: &[PathBuf]) {
        self.counts.looked_at += 1;
        let class = rules.of_path(Some(&file.shown));
        match (class.tier != Tier::Never, class.because) {
            (true, _) => self.consider(file, since, own),
            (false, Because::Rule) => self.counts.tier_2 += 1,
            (false, Because::NoRuleFits | Because::NoRules) => self.counts.no_rule += 1,
        }
    }

    /// Handles a file that a rule selects for review.
    fn consider(&mut self, file: FolderFile, since: Moment, own: &[PathBuf]) {
        if own.contains(&file.path) {
            let reason = "plenary's own record".to_owned();
            self.pass_over(file.shown, PassedOverBecause::LeftOut, reason);
        } else if file.modified.is_some_and(|modified| modified < since) {
            let reason = "unchanged since then".to_owned();
            self.pass_over(file.shown, PassedOverBecause::Unchanged, reason);
        } else {
            self.files.push(file);
        }
    }

    /// Handles an entry that the directory walk skipped. Entries that no rule could match are not
    /// reported.
    fn note_left_out(
        &mut self,
        left_out: LeftOut,
        since: Moment,
        rules: &Classifier,
        own: &[PathBuf],
    ) {
        let LeftOut { path, shown, kind, reason } = left_out;
        match kind {
            // As in `review`: classify a link by its own name; reading it checks that its target is
            // inside the folder.
            EntryKind::Link if rules.is_judged(&shown) => {
                self.sort(FolderFile::new(path, shown), since, rules, own);
            }
            EntryKind::File | EntryKind::Other if rules.is_judged(&shown) => {
                self.pass_over(shown, PassedOverBecause::LeftOut, reason);
            }
            EntryKind::Folder if rules.may_judge_in(&shown) => {
                self.pass_over(shown, PassedOverBecause::LeftOut, reason);
            }
            EntryKind::ClosedFolder if rules.may_judge_in(&shown) => {
                let error = MaterialError::Unfit { path: shown.clone().into(), reason };
                self.closed.push((shown, error.into()));
            }
            EntryKind::Link
            | EntryKind::File
            | EntryKind::Other
            | EntryKind::Folder
            | EntryKind::ClosedFolder => {}
        }
    }

    fn pass_over(&mut self, path: String, code: PassedOverBecause, reason: String) {
        self.passed_over.push(PassedOver { path, code, reason });
    }
}

/// Accepts documents that match a rule, and folders that a rule names, such as `dist` in
/// `dist/*.md`.
fn asked_for(rules: &Arc<Classifier>) -> AskedFor {
    let rules = Arc::clone(rules);
    Arc::new(move |path, kind| match kind {
        EntryKind::File => is_document(path) && rules.is_judged(path),
        EntryKind::Folder => rules.names_folder(path),
        EntryKind::ClosedFolder | EntryKind::Link | EntryKind::Other => false,
    })
}

fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.starts_with('.') && DOCUMENT_ENDS.iter().any(|end| name.to_lowercase().ends_with(end))
}

/// The verdict log and the store, which change with every review.
fn own_files(settings: &Settings) -> Vec<PathBuf> {
    let store = store_files(&settings.located.store);
    let own = [settings.review.log_path.clone()].into_iter().chain(store);
    own.filter_map(|path| path.canonicalize().ok()).collect()
}

fn is_elsewhere(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(path).zip(real(folder)).is_some_and(|(path, folder)| !path.starts_with(folder))
}

/// Refuses a folder outside the project. Rules are relative to the project folder, so a sweep
/// elsewhere would match nothing and report success.
fn outside(dir: &Path) -> Error {
    let message = format!("`{}` lies outside the folder of council.yaml", dir.display());
    let fault = Fault::new(refusal::Code::PathNotAllowed, message);
    fault.suggest("name a folder in it; its rules fit nothing elsewhere").into()
}
