//! A document before a review: read, sorted by rule, and rejected if it must not be sent.

use std::path::{Path, PathBuf};

use crate::config::{Because, Class, Classifier, Settings};
use crate::convening::{is_judged_whole, secret_guard};
use crate::domain::digest::sha256_hex;
use crate::domain::gate::{Artifact, Tier, is_sampled};
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::files::{self, SourcePath};
use crate::material::{Document, MaterialError, Place};

/// What the caller says of a file, instead of the rules.
#[derive(Debug, Clone, Default)]
pub struct ReviewOverrides {
    pub tier: Option<Tier>,
    pub artifact_type: Option<String>,
    pub producer: Option<String>,
    /// Review it regardless of its tier.
    pub force: bool,
}

/// A file after triage.
#[derive(Debug)]
pub enum ReviewInput {
    /// To be reviewed.
    Artifact(Box<Artifact>),
    /// Passed without a review, by rule.
    Skipped(SkippedFile),
    /// Must not be sent, so it does not pass.
    HoldsSecret(SecretFile),
    /// Cannot be reviewed, so it does not pass.
    Unreadable { path: PathBuf, error: Error },
}

impl ReviewInput {
    /// Reads and sorts a file; `-` is standard input.
    pub fn of(
        named: &Path,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &Classifier,
    ) -> Self {
        let located = &settings.located;
        let sorted = match named == Path::new("-") {
            true => Self::of_input(named, overrides, settings, rules),
            false => Place::of(&located.documents, &located.working, named)
                .map_err(Error::from)
                .and_then(|place| Self::of_place(named, &place, overrides, settings, rules)),
        };
        sorted.unwrap_or_else(|error| Self::Unreadable { path: named.to_owned(), error })
    }

    /// Reads and sorts a file that a remote caller named.
    pub fn of_source(
        source: &SourcePath,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &Classifier,
    ) -> Self {
        let sorted = Place::of_source(&settings.located.documents, source)
            .map_err(Error::from)
            .and_then(|place| Self::of_place(source.path(), &place, overrides, settings, rules));
        sorted.unwrap_or_else(|error| Self::Unreadable { path: source.path().to_owned(), error })
    }

    /// If the path alone excludes the file, it is not read.
    fn of_place(
        named: &Path,
        place: &Place,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &Classifier,
    ) -> Result<Self, Error> {
        let shown = place.relative.clone();
        let shown = shown.unwrap_or_else(|| named.to_string_lossy().into_owned());
        let class = overrides.class(place.relative.as_deref(), rules);
        if let Some(because) = overrides.passed_over(&class, place.relative.as_deref()) {
            place.must_be_no_folder()?;
            if class.because != Because::Rule {
                // A mistyped name matches no rule either, and must not pass for that reason.
                place.must_exist()?;
            }
            return Ok(Self::skipped(shown, class, because));
        }
        Self::sorted(named, shown, class, place.read(&secret_guard(settings))?, overrides)
    }

    fn of_input(
        named: &Path,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &Classifier,
    ) -> Result<Self, Error> {
        Self::without_file(named, overrides, settings, rules, || Ok(files::read_text(named)?))
    }

    /// Sorts a text without a file; `shown` is its name.
    pub fn of_text(
        shown: &str,
        text: String,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &Classifier,
    ) -> Self {
        let named = Path::new(shown);
        let sorted = Self::without_file(named, overrides, settings, rules, || Ok(text));
        sorted.unwrap_or_else(|error| Self::Unreadable { path: named.to_owned(), error })
    }

    fn without_file(
        named: &Path,
        overrides: &ReviewOverrides,
        settings: &Settings,
        rules: &Classifier,
        text: impl FnOnce() -> Result<String, Error>,
    ) -> Result<Self, Error> {
        let (class, shown) = (overrides.class(None, rules), named.to_string_lossy().into_owned());
        if let Some(because) = overrides.passed_over(&class, None) {
            return Ok(Self::skipped(shown, class, because));
        }
        let document = Document::of_text(named, text()?, &secret_guard(settings))?;
        Self::sorted(named, shown, class, document, overrides)
    }

    fn sorted(
        named: &Path,
        path: String,
        class: Class,
        document: Document,
        overrides: &ReviewOverrides,
    ) -> Result<Self, Error> {
        let Document { text, key } = document;
        if class.tier == Tier::Sampled && !overrides.force && !is_sampled(drawn_by(&path), &text) {
            return Ok(Self::skipped(path, class, SkipReason::NotDrawn));
        }
        if let Some(key) = key.filter(|_| !overrides.force) {
            return Ok(Self::HoldsSecret(SecretFile { path: named.to_owned(), key }));
        }
        if !is_judged_whole(&text) {
            let reason = "it is too long to be shown whole to everybody who judges it".to_owned();
            return Err(MaterialError::Unfit { path: named.to_owned(), reason }.into());
        }
        Ok(Self::Artifact(Box::new(Artifact {
            path,
            artifact_type: class.artifact_type,
            tier: class.tier,
            producer: overrides.producer.clone(),
            sha256: sha256_hex([text.as_bytes()]),
            text,
        })))
    }

    fn skipped(path: String, class: Class, because: SkipReason) -> Self {
        let Class { tier, artifact_type, .. } = class;
        Self::Skipped(SkippedFile { path, artifact_type, tier, because })
    }
}

/// The name that decides sampling: the path inside the project. For a file outside of it, the file
/// name alone, so that the way it was named does not matter.
fn drawn_by(path: &str) -> &str {
    let is_elsewhere = path.starts_with('/') || path.split('/').any(|part| part == "..");
    if is_elsewhere { path.rsplit('/').next().unwrap_or(path) } else { path }
}

impl ReviewOverrides {
    /// Type and tier: those of the caller, else those of the rules.
    fn class(&self, relative: Option<&str>, rules: &Classifier) -> Class {
        let class = match &self.artifact_type {
            Some(artifact_type) => rules.of_type(relative, artifact_type),
            None => rules.of_path(relative),
        };
        Class { tier: self.tier.unwrap_or(class.tier), ..class }
    }

    /// Why a file of tier 2 passes without a review.
    fn passed_over(&self, class: &Class, relative: Option<&str>) -> Option<SkipReason> {
        if self.force || class.tier != Tier::Never {
            return None;
        }
        if self.tier.is_some() {
            return Some(SkipReason::Claimed);
        }
        Some(match class.because {
            Because::Rule => SkipReason::Rule,
            Because::NoRuleFits | Because::NoRules => match relative {
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
    pub tier: Tier,
    pub because: SkipReason,
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
        match self.because {
            SkipReason::Claimed => "tier 2 is not looked at".to_owned(),
            SkipReason::Rule => format!("`{}` is of tier 2", self.artifact_type),
            SkipReason::NoRuleFits => {
                "no rule of `tier_rules` fits it, so it is of tier 2".to_owned()
            }
            SkipReason::Outside => {
                "it lies outside the folder of council.yaml, where no rule of `tier_rules` fits, so it is of tier 2".to_owned()
            }
            SkipReason::NotDrawn => {
                "one in five files of tier 3 is looked at, and this one is not".to_owned()
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
    pub fn fault(&self) -> Fault {
        let Self { path, key } = self;
        let message = format!("`{}` is not sent to anybody: {key}", path.display());
        Fault::new(Code::NotSupported, message).suggest("take it out")
    }
}
