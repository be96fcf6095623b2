//! A document before a review: read, sorted by rule, and rejected if it must not be sent.

use std::path::{Path, PathBuf};

use plenary_core::model::hash::sha256_hex;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::classification::finding::ClassifierFinding;
use plenary_core::protocols::review::document::{ReviewDocument, skipped_document};
use plenary_core::protocols::review::types::{ReviewArtifact, ReviewTier, is_sampled};

use crate::app::planning::review_panel::{is_judged_whole, secret_guard};
use crate::config::settings::Settings;
use crate::config::tier_rules::{ClassReason, FileClass, TierClassifier};
use crate::context_files::document::{DocumentLocation, SourceDocument};
use crate::context_files::gather::ContextFileError;
use crate::error::Error;
use crate::files::allowed_folders::SourcePath;
use crate::files::read_write::{STANDARD_INPUT, read_request_text};

/// What the caller says of a file, instead of the rules.
#[derive(Debug, Clone, Default)]
pub struct ReviewOverrides {
    pub tier: Option<ReviewTier>,
    pub artifact_type: Option<String>,
    pub producer: Option<String>,
    /// Review it regardless of its tier.
    pub force: bool,
}

/// A file after triage.
#[derive(Debug)]
pub enum ReviewInput {
    /// To be reviewed.
    Artifact(Box<ReviewArtifact>),
    /// Passed without a review, by rule.
    Skipped(SkippedFile),
    /// The classifier decides whether it is reviewed.
    Unclassified(Box<UnclassifiedFile>),
    /// Must not be sent, so it does not pass.
    HoldsSecret(SecretFile),
    /// Cannot be reviewed, so it does not pass.
    Unreadable { path: PathBuf, error: Error },
}

impl ReviewInput {
    /// Whether models are asked about it.
    pub fn needs_model(&self) -> bool {
        match self {
            Self::Artifact(_) | Self::Unclassified(_) => true,
            Self::Skipped(_) | Self::HoldsSecret(_) | Self::Unreadable { .. } => false,
        }
    }

    /// Reads and sorts a file; `-` is standard input.
    pub fn from_path(
        named: &Path,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &TierClassifier,
    ) -> Self {
        let located = &settings.paths;
        let sorted = match named == Path::new("-") {
            true => {
                let shown = Path::new(STANDARD_INPUT);
                Self::without_file(shown, overrides, settings, rules, || {
                    Ok(read_request_text(named)?)
                })
            }
            false => DocumentLocation::from_path(&located.documents, &located.working, named)
                .map_err(Error::from)
                .and_then(|place| Self::from_place(named, &place, overrides, settings, rules)),
        };
        sorted.unwrap_or_else(|error| Self::Unreadable { path: named.to_owned(), error })
    }

    /// Reads and sorts a file that a remote caller named.
    pub fn from_source(
        source: &SourcePath,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &TierClassifier,
    ) -> Self {
        let sorted = DocumentLocation::from_source(&settings.paths.documents, source)
            .map_err(Error::from)
            .and_then(|place| Self::from_place(source.path(), &place, overrides, settings, rules));
        sorted.unwrap_or_else(|error| Self::Unreadable { path: source.path().to_owned(), error })
    }

    /// If the path alone excludes the file, it is not read.
    fn from_place(
        named: &Path,
        place: &DocumentLocation,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &TierClassifier,
    ) -> Result<Self, Error> {
        let shown = place.relative.clone();
        let shown = shown.unwrap_or_else(|| named.to_string_lossy().into_owned());
        let class = overrides.classify_path(place.relative.as_deref(), rules);
        let skip = overrides.skip_reason(&class, place.relative.as_deref());
        let is_open = overrides.asks_classifier(&class, settings);
        if let Some(because) = skip.filter(|_| !is_open) {
            // A mistyped name, a folder or an empty file must not pass as skipped.
            place.must_not_be_folder()?;
            place.must_have_content()?;
            return Ok(Self::skip_file(shown, class, because));
        }
        let document = place.read_document(&secret_guard(settings))?;
        match is_open {
            true => Self::hold_document(named, shown, class, document, overrides, skip),
            false => Self::sort_document(named, shown, class, document, overrides),
        }
    }

    /// Sorts a text without a file; `shown` is its name.
    pub fn from_text(
        shown: &str,
        text: String,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &TierClassifier,
    ) -> Self {
        let named = Path::new(shown);
        let sorted = Self::without_file(named, overrides, settings, rules, || Ok(text));
        sorted.unwrap_or_else(|error| Self::Unreadable { path: named.to_owned(), error })
    }

    fn without_file(
        named: &Path,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &TierClassifier,
        text: impl FnOnce() -> Result<String, Error>,
    ) -> Result<Self, Error> {
        let (class, shown) =
            (overrides.classify_path(None, rules), named.to_string_lossy().into_owned());
        let skip = overrides.skip_reason(&class, None);
        let is_open = overrides.asks_classifier(&class, settings);
        if let Some(because) = skip.filter(|_| !is_open) {
            return Ok(Self::skip_file(shown, class, because));
        }
        let document = SourceDocument::from_text(named, text()?, &secret_guard(settings))?;
        match is_open {
            true => Self::hold_document(named, shown, class, document, overrides, skip),
            false => Self::sort_document(named, shown, class, document, overrides),
        }
    }

    fn sort_document(
        named: &Path,
        path: String,
        class: FileClass,
        document: SourceDocument,
        overrides: &ReviewOverrides,
    ) -> Result<Self, Error> {
        let SourceDocument { text, key } = document;
        must_have_text(named, &text)?;
        if class.tier == ReviewTier::Sampled
            && !overrides.force
            && !is_sampled(drawn_by(&path), &text)
        {
            return Ok(Self::skip_file(path, class, SkipReason::NotDrawn));
        }
        if let Some(key) = key.filter(|_| !overrides.force) {
            return Ok(Self::HoldsSecret(SecretFile { path: named.to_owned(), key }));
        }
        let producer = overrides.producer.clone();
        Ok(Self::Artifact(Box::new(build_artifact(named, path, class, text, producer)?)))
    }

    /// Prepares a document for the classifier, which reads all of it as a deliberator does.
    fn hold_document(
        named: &Path,
        path: String,
        class: FileClass,
        document: SourceDocument,
        overrides: &ReviewOverrides,
        skip: Option<SkipReason>,
    ) -> Result<Self, Error> {
        let SourceDocument { text, key } = document;
        must_have_text(named, &text)?;
        if let Some(key) = key {
            return Ok(Self::HoldsSecret(SecretFile { path: named.to_owned(), key }));
        }
        let producer = overrides.producer.clone();
        let artifact = build_artifact(named, path, class, text, producer)?;
        Ok(Self::Unclassified(Box::new(UnclassifiedFile { artifact, skip })))
    }

    fn skip_file(path: String, class: FileClass, because: SkipReason) -> Self {
        let FileClass { tier, artifact_type, .. } = class;
        Self::Skipped(SkippedFile { path, artifact_type, tier, because, classified: None })
    }
}

fn must_have_text(named: &Path, text: &str) -> Result<(), ContextFileError> {
    if !text.trim().is_empty() {
        return Ok(());
    }
    Err(ContextFileError::Unfit { path: named.to_owned(), reason: "it is empty".to_owned() })
}

fn build_artifact(
    named: &Path,
    path: String,
    class: FileClass,
    text: String,
    producer: Option<String>,
) -> Result<ReviewArtifact, ContextFileError> {
    if !is_judged_whole(&text) {
        let reason = "it is too long to be shown whole to each deliberator".to_owned();
        return Err(ContextFileError::Unfit { path: named.to_owned(), reason });
    }
    let FileClass { tier, artifact_type, .. } = class;
    let sha256 = sha256_hex([text.as_bytes()]);
    Ok(ReviewArtifact { path, artifact_type, tier, producer, sha256, text, classified: None })
}

/// A document whose tier the classifier may raise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnclassifiedFile {
    /// With the tier of the rules.
    pub artifact: ReviewArtifact,
    /// Why the rules skip it; `None` in tier 3.
    skip: Option<SkipReason>,
}

impl UnclassifiedFile {
    /// What happens to the document after the classifier's answer.
    pub fn settle(self, finding: ClassifierFinding) -> ReviewInput {
        let tier = finding.effective_tier();
        let artifact = ReviewArtifact { tier, classified: Some(finding), ..self.artifact };
        let is_drawn = || is_sampled(drawn_by(&artifact.path), &artifact.text);
        let because = match tier {
            ReviewTier::Never => self.skip.or(Some(SkipReason::NoRuleFits)),
            ReviewTier::Sampled if !is_drawn() => Some(SkipReason::NotDrawn),
            ReviewTier::Sampled | ReviewTier::Always => None,
        };
        let Some(because) = because else { return ReviewInput::Artifact(Box::new(artifact)) };
        let ReviewArtifact { path, artifact_type, classified, .. } = artifact;
        ReviewInput::Skipped(SkippedFile { path, artifact_type, tier, because, classified })
    }
}

/// The name that decides sampling: the path inside the project. For a file outside of it, the file
/// name alone, so that the way it was named does not matter.
fn drawn_by(path: &str) -> &str {
    let is_elsewhere = path.starts_with('/') || path.split('/').any(|part| part == "..");
    if is_elsewhere { path.rsplit('/').next().unwrap_or(path) } else { path }
}

impl ReviewOverrides {
    /// Rejects a type that no rule knows: a typo would select another tier.
    pub fn check_type(&self, rules: &TierClassifier) -> Result<(), ValidationError> {
        let known = rules.list_types();
        let Some(named) = self.artifact_type.as_ref().filter(|_| !known.is_empty()) else {
            return Ok(());
        };
        if known.contains(named) {
            return Ok(());
        }
        let message = format!("`tier_rules` has no type '{named}'");
        let hint = format!("use one of: {}", known.join(", "));
        Err(ValidationError::new(ErrorCode::InvalidEnum, message)
            .with_field("type")
            .with_value(named.as_str())
            .with_options(&known)
            .with_suggestion(hint))
    }

    /// Type and tier: those of the caller, else those of the rules.
    fn classify_path(&self, relative: Option<&str>, rules: &TierClassifier) -> FileClass {
        let class = match &self.artifact_type {
            Some(artifact_type) => rules.classify_as(relative, artifact_type),
            None => rules.classify_path(relative),
        };
        FileClass { tier: self.tier.unwrap_or(class.tier), ..class }
    }

    /// Whether a model is asked for the tier. It is not if the caller decides.
    fn asks_classifier(&self, class: &FileClass, settings: &Settings) -> bool {
        let is_decided = self.force || self.tier.is_some() || self.artifact_type.is_some();
        !is_decided && settings.tier_classifier.kind.asks_model(class)
    }

    /// Why a file of tier 2 passes without a review.
    fn skip_reason(&self, class: &FileClass, relative: Option<&str>) -> Option<SkipReason> {
        if self.force || class.tier != ReviewTier::Never {
            return None;
        }
        if self.tier.is_some() {
            return Some(SkipReason::Claimed);
        }
        Some(match class.reason {
            ClassReason::Rule => SkipReason::Rule,
            ClassReason::NoMatch | ClassReason::NoRules => match relative {
                Some(_) => SkipReason::NoRuleFits,
                None => SkipReason::Outside,
            },
        })
    }
}

/// A file that passes without a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    pub path: String,
    pub artifact_type: String,
    pub tier: ReviewTier,
    pub because: SkipReason,
    /// What the classifier said, if it was asked.
    pub classified: Option<ClassifierFinding>,
}

/// Why a file passes without a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// The caller set tier 2.
    Claimed,
    /// A rule set tier 2.
    Rule,
    /// No rule matches the file in the project.
    NoRuleFits,
    /// The file is outside the project, where no rule matches.
    Outside,
    /// Tier 3, and not in the sample of one in five.
    NotDrawn,
}

impl SkippedFile {
    pub fn sentence(&self) -> String {
        match &self.classified {
            Some(finding) => format!("{}; {}", self.rule_sentence(), finding.sentence()),
            None => self.rule_sentence(),
        }
    }

    /// The document that a program reads.
    pub fn to_document(&self, because: &str) -> ReviewDocument {
        let Self { path, artifact_type, tier, classified, .. } = self;
        ReviewDocument {
            not_covered: self.because == SkipReason::NoRuleFits,
            classified: classified.clone(),
            ..skipped_document(path, artifact_type, *tier, because)
        }
    }

    fn rule_sentence(&self) -> String {
        match self.because {
            SkipReason::Claimed => "files of tier 2 are not reviewed".to_owned(),
            SkipReason::Rule => format!("`{}` is of tier 2", self.artifact_type),
            SkipReason::NoRuleFits => {
                "no rule of `tier_rules` matches it, so it is of tier 2".to_owned()
            }
            SkipReason::Outside => {
                "it is outside the folder of council.yaml, where no rule of `tier_rules` matches, so it is of tier 2".to_owned()
            }
            SkipReason::NotDrawn => {
                "one in five files of tier 3 is reviewed, and this one is not".to_owned()
            }
        }
    }
}

/// A file with text that looks like a secret key. A review would send the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFile {
    pub path: PathBuf,
    /// Description of the key.
    pub key: String,
}

impl SecretFile {
    pub fn fault(&self) -> ValidationError {
        let Self { path, key } = self;
        let message = format!("`{}` is not sent to any provider: {key}", path.display());
        ValidationError::new(ErrorCode::ContainsSecret, message)
            .with_suggestion("remove the key from the document")
    }
}
