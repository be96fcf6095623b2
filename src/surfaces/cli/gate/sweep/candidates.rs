//! Which files of a folder a rule sends before the gate, and which of them were changed.

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

/// What is written to be read. Such a file is asked for by a rule that fits it, whatever its name
/// says of it; a key of some service in it is found when it is read.
const DOCUMENT_ENDS: [&str; 8] =
    [".md", ".markdown", ".txt", ".rst", ".adoc", ".html", ".htm", ".tex"];

/// The files of a folder, sorted by what the rules and the clock say.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// To be read, the one that was changed first before the others: what a cap leaves is the
    /// newest, which the next sweep still finds.
    pub files: Vec<FolderFile>,
    /// A rule fits them, and yet they are not read.
    pub passed_over: Vec<PassedOver>,
    /// A rule may fit what is in them, and they cannot be entered: they do not pass.
    pub closed: Vec<(String, Error)>,
    pub counts: Counts,
}

/// Files that are only counted: there may be thousands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Counts {
    pub looked_at: usize,
    /// No rule fits.
    pub no_rule: usize,
    pub tier_2: usize,
}

/// Looks through a folder of the project.
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

    /// One that a rule sends before the gate.
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

    /// What the walk left out. Of what no rule would have fitted nobody needs to be told.
    fn note_left_out(
        &mut self,
        left_out: LeftOut,
        since: Moment,
        rules: &Classifier,
        own: &[PathBuf],
    ) {
        let LeftOut { path, shown, kind, reason } = left_out;
        match kind {
            // As `review` would: by its own name, if what it leads to lies in the folder.
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

/// Documents that a rule fits, and folders that one spells out, such as `dist` in `dist/*.md`.
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

/// The verdict log and the store: they change with every review.
fn own_files(settings: &Settings) -> Vec<PathBuf> {
    let store = store_files(&settings.located.store);
    let own = [settings.review.log_path.clone()].into_iter().chain(store);
    own.filter_map(|path| path.canonicalize().ok()).collect()
}

fn is_elsewhere(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(path).zip(real(folder)).is_some_and(|(path, folder)| !path.starts_with(folder))
}

/// Rules are relative to the project's folder: elsewhere none of them fits, and a sweep that
/// looks there by mistake would call everything in order.
fn outside(dir: &Path) -> Error {
    let message = format!("`{}` lies outside the folder of council.yaml", dir.display());
    let fault = Fault::new(refusal::Code::PathNotAllowed, message);
    fault.suggest("name a folder in it; its rules fit nothing elsewhere").into()
}
