//! `sweep`: selects the files of a folder that a tier rule sends to review, that changed recently,
//! and whose content has no verdict yet.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plenary_core::model::time::Moment;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::review::log_row::{ContentDecision, ContentQuery};
use plenary_core::protocols::review::types::{ReviewArtifact, ReviewTier};
use serde::Serialize;

use crate::app::classify_document::DocumentClassifier;
use crate::app::project::Project;
use crate::app::review_input::{ReviewInput, ReviewOverrides, SkippedFile, UnclassifiedFile};
use crate::config::settings::Settings;
use crate::config::tier_rules::{ClassReason, ClassifierKind, TierClassifier};
use crate::context_files::gather::ContextFileError;
use crate::context_files::walk::{
    ExcludedEntry, FolderEntryKind, FolderFile, IsRequested, list_folder_files,
};
use crate::error::Error;
use crate::files::read_write::lock_file;
use crate::files::reserved_names::list_store_files;

/// Extensions of documents. A rule that matches such a file includes it, even if its name looks
/// like a secret: the content is checked for keys when it is read.
const DOCUMENT_EXTENSIONS: [&str; 8] =
    [".md", ".markdown", ".txt", ".rst", ".adoc", ".html", ".htm", ".tex"];

/// What a sweep looks for.
#[derive(Debug)]
pub struct SweepRequest<'a> {
    pub dir: &'a Path,
    /// Files that changed earlier are passed over.
    pub since: Moment,
    /// Maximum number of reviews.
    pub max: usize,
    pub overrides: ReviewOverrides,
    /// Verdicts of rehearsals count only for rehearsals.
    pub rehearsal: bool,
    /// Decides on documents that the rules alone would skip; none if the rules decide alone.
    pub classifier: Option<&'a DocumentClassifier>,
}

/// The files of a folder by what happens to them.
#[derive(Debug, Default)]
pub struct SweepSelection {
    /// To be reviewed, oldest change first: files beyond the maximum are the newest, and the next
    /// sweep still finds them.
    pub chosen: Vec<ChosenFile>,
    /// Files that a rule selects but that need no review.
    pub passed_over: Vec<PassedOverFile>,
    /// Selected by a rule but unreadable; they fail the sweep.
    pub unreadable: Vec<(String, Error)>,
    /// Beyond the maximum, so left for the next sweep.
    pub left: Vec<String>,
    pub counts: SweepCounts,
}

#[derive(Debug)]
pub struct ChosenFile {
    pub document: ChosenDocument,
    pub modified: Option<Moment>,
}

/// A document that a sweep looks into.
#[derive(Debug)]
pub enum ChosenDocument {
    Artifact(Box<ReviewArtifact>),
    /// The classifier decides whether it is reviewed.
    Unclassified(Box<UnclassifiedFile>),
}

impl ChosenDocument {
    pub fn artifact(&self) -> &ReviewArtifact {
        match self {
            Self::Artifact(artifact) => artifact,
            Self::Unclassified(file) => &file.artifact,
        }
    }

    pub fn into_input(self) -> ReviewInput {
        match self {
            Self::Artifact(artifact) => ReviewInput::Artifact(artifact),
            Self::Unclassified(file) => ReviewInput::Unclassified(file),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOverFile {
    pub path: String,
    pub code: PassOverReason,
    pub reason: String,
}

/// Why a file that matches a rule is not reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PassOverReason {
    Unchanged,
    LeftOut,
    NotDrawn,
    Decided,
    Duplicate,
    /// The classifier left the document in tier 2.
    Classified,
}

/// Files that are only counted, because there may be thousands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SweepCounts {
    pub looked_at: usize,
    /// No rule matches.
    pub no_rule: usize,
    pub tier_2: usize,
}

/// Locks the configuration file, so that two concurrent sweeps do not review, and pay for, the same
/// files. Tier rules come from this file, so it exists.
pub fn lock_sweep(settings: &Settings) -> Result<Option<File>, Error> {
    let Some(file) = &settings.paths.file else { return Ok(None) };
    let lock = lock_file(file)?;
    if lock.is_none() {
        let message = "another sweep is running in this project";
        let fault = ValidationError::new(ErrorCode::NotSupported, message);
        return Err(fault.with_suggestion("wait until it has ended").into());
    }
    Ok(lock)
}

/// Lists, classifies and reads the files of a project folder.
pub fn select_files(
    project: &Project,
    settings: &Settings,
    rules: &Arc<TierClassifier>,
    request: &SweepRequest<'_>,
) -> Result<SweepSelection, Error> {
    let paths = &settings.paths;
    if is_outside(&paths.working.join(request.dir), &paths.documents) {
        return Err(outside_error(request.dir));
    }
    let wanted = wanted_entries(rules);
    let listed = list_folder_files(&paths.documents, &paths.working, request.dir, wanted)?;
    let classifier = settings.tier_classifier.kind;
    let own = own_files(settings);
    let mut walk = FolderWalk { rules, classifier, since: request.since, own, files: Vec::new() };
    let mut selection = SweepSelection::default();
    for file in listed.files {
        walk.classify_file(file, &mut selection);
    }
    for left_out in listed.left_out {
        walk.note_left_out(left_out, &mut selection);
    }
    walk.files.sort_by(|a, b| {
        let age = |file: &FolderFile| (file.modified.is_none(), file.modified);
        (age(a), &a.shown).cmp(&(age(b), &b.shown))
    });
    let working = paths.working.canonicalize().unwrap_or_default();
    let read_input = |file: &FolderFile| {
        // The path as the user would type it in the working folder.
        let named = file.path.strip_prefix(&working).unwrap_or(&file.path);
        match ReviewInput::from_path(named, &request.overrides, settings, rules) {
            ReviewInput::Unclassified(file) => settle_recorded(project, request.classifier, file),
            settled @ (ReviewInput::Artifact(_)
            | ReviewInput::Skipped(_)
            | ReviewInput::HoldsSecret(_)
            | ReviewInput::Unreadable { .. }) => Ok(settled),
        }
    };
    let find_decision = |sha256: &str| find_decision(project, sha256, request.rehearsal);
    selection.choose_files(walk.files, request.max, read_input, find_decision)?;
    selection.passed_over.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(selection)
}

/// Takes the recorded answer of the classifier, if there is one.
fn settle_recorded(
    project: &Project,
    classifier: Option<&DocumentClassifier>,
    file: Box<UnclassifiedFile>,
) -> Result<ReviewInput, Error> {
    let recorded = classifier.map(|asked| asked.find_recorded(project, &file.artifact));
    Ok(match recorded.transpose()?.flatten() {
        Some(finding) => file.settle(finding),
        None => ReviewInput::Unclassified(file),
    })
}

/// The latest decision on a content.
pub fn find_decision(
    project: &Project,
    sha256: &str,
    rehearsal: bool,
) -> Result<Option<ContentDecision>, Error> {
    let content = ContentQuery { sha256: sha256.to_owned(), rehearsal };
    let Some(found) = project.store.find_decided(&content)? else { return Ok(None) };
    let person = project.store.list_overrides(&found.verdict_id)?.pop();
    let verdict = person.map_or(found.verdict, |word| word.decision.into());
    Ok(Some(ContentDecision { verdict, ..found }))
}

/// Sorts the entries of a folder by tier rule and age.
struct FolderWalk<'a> {
    rules: &'a TierClassifier,
    classifier: ClassifierKind,
    since: Moment,
    /// The verdict log and the store, which change with every review.
    own: Vec<PathBuf>,
    /// Files to read.
    files: Vec<FolderFile>,
}

impl FolderWalk<'_> {
    fn classify_file(&mut self, file: FolderFile, selection: &mut SweepSelection) {
        selection.counts.looked_at += 1;
        let class = self.rules.classify_path(Some(&file.shown));
        let is_open = self.classifier.asks_model(&class) && is_document(&file.shown);
        match (class.tier, class.reason) {
            (ReviewTier::Never, ClassReason::Rule) if !is_open => selection.counts.tier_2 += 1,
            (ReviewTier::Never, ClassReason::NoMatch | ClassReason::NoRules) if !is_open => {
                selection.counts.no_rule += 1;
            }
            _ if self.own.contains(&file.path) => {
                selection.pass_over(file.shown, PassOverReason::LeftOut, "plenary's own record");
            }
            _ if file.modified.is_some_and(|modified| modified < self.since) => {
                selection.pass_over(file.shown, PassOverReason::Unchanged, "unchanged since then");
            }
            _ => self.files.push(file),
        }
    }

    /// Handles an entry that the directory walk skipped. Entries that no rule could match are not
    /// reported.
    fn note_left_out(&mut self, left_out: ExcludedEntry, selection: &mut SweepSelection) {
        let ExcludedEntry { path, shown, kind, reason } = left_out;
        let is_matched = match kind {
            FolderEntryKind::Link | FolderEntryKind::File | FolderEntryKind::Other => {
                self.rules.is_reviewed(&shown)
            }
            FolderEntryKind::Folder | FolderEntryKind::ClosedFolder => {
                self.rules.may_review_in(&shown)
            }
        };
        match kind {
            _ if !is_matched => {}
            // As in `review`: classify a link by its own name; reading it checks that its target is
            // inside the folder.
            FolderEntryKind::Link => self.classify_file(FolderFile::new(path, shown), selection),
            FolderEntryKind::File | FolderEntryKind::Other | FolderEntryKind::Folder => {
                selection.pass_over(shown, PassOverReason::LeftOut, &reason);
            }
            FolderEntryKind::ClosedFolder => {
                let error = ContextFileError::Unfit { path: shown.clone().into(), reason };
                selection.unreadable.push((shown, error.into()));
            }
        }
    }
}

impl SweepSelection {
    fn pass_over(&mut self, path: String, code: PassOverReason, reason: &str) {
        self.passed_over.push(PassedOverFile { path, code, reason: reason.to_owned() });
    }

    fn pass_over_skipped(&mut self, skipped: SkippedFile) {
        let (code, reason) = match skipped.tier {
            ReviewTier::Never => (PassOverReason::Classified, skipped.sentence()),
            ReviewTier::Sampled | ReviewTier::Always => {
                (PassOverReason::NotDrawn, "of tier 3, and not the one in five".to_owned())
            }
        };
        self.pass_over(skipped.path, code, &reason);
    }

    /// Chooses files in order. `read_input` reads a file; `find_decision` returns an earlier verdict
    /// on the same content.
    fn choose_files(
        &mut self,
        files: Vec<FolderFile>,
        max: usize,
        read_input: impl Fn(&FolderFile) -> Result<ReviewInput, Error>,
        find_decision: impl Fn(&str) -> Result<Option<ContentDecision>, Error>,
    ) -> Result<(), Error> {
        let mut seen: HashMap<String, String> = HashMap::new();
        for file in files {
            let document = match read_input(&file)? {
                ReviewInput::Artifact(artifact) => ChosenDocument::Artifact(artifact),
                ReviewInput::Unclassified(file) => ChosenDocument::Unclassified(file),
                ReviewInput::Skipped(skipped) => {
                    self.pass_over_skipped(skipped);
                    continue;
                }
                ReviewInput::HoldsSecret(secret) => {
                    // `sweep` has no `--force`: the user has not seen the files that it finds.
                    let hint = "remove the key; `plenary review --force` sends the file anyway";
                    let fault = secret.fault().with_suggestion(hint);
                    self.unreadable.push((file.shown, fault.into()));
                    continue;
                }
                ReviewInput::Unreadable { error, .. } => {
                    self.unreadable.push((file.shown, error));
                    continue;
                }
            };
            let ReviewArtifact { path, sha256, .. } = document.artifact().clone();
            if let Some(before) = find_decision(&sha256)? {
                let reason = format!("decided before: {} ({})", before.verdict, before.verdict_id);
                self.pass_over(path, PassOverReason::Decided, &reason);
            } else if let Some(first) = seen.get(&sha256) {
                let reason = format!("the same content as `{first}`");
                self.pass_over(path, PassOverReason::Duplicate, &reason);
            } else {
                seen.insert(sha256, path.clone());
                if self.chosen.len() < max {
                    self.chosen.push(ChosenFile { document, modified: file.modified });
                } else {
                    self.left.push(path);
                }
            }
        }
        Ok(())
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
    fault.with_suggestion("name a folder inside it; no tier rule matches a file outside").into()
}

#[cfg(test)]
#[path = "sweep_tests.rs"]
mod tests;
