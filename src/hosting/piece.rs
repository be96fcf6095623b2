//! A file that was named, and what is to become of it.

use std::path::{Path, PathBuf};

use super::skipped::{HoldsKey, Skipped, SkippedBecause};
use crate::config::{Because, Class, Classifier, Settings};
use crate::convening::{is_judged_whole, secret_guard};
use crate::domain::digest::sha256_hex;
use crate::domain::gate::{Artifact, Tier, is_sampled};
use crate::error::Error;
use crate::files::{self, SourcePath};
use crate::material::{Document, MaterialError, Place};

/// What the caller claims of a file, where the rules would say otherwise.
#[derive(Debug, Clone, Default)]
pub struct CallerClaims {
    pub tier: Option<Tier>,
    pub artifact_type: Option<String>,
    pub producer: Option<String>,
    /// Look at it whatever its tier.
    pub force: bool,
}

/// A file before the gate.
#[derive(Debug)]
pub enum Piece {
    /// To be judged.
    Artifact(Box<Artifact>),
    /// Let through unseen, by rule.
    Skipped(Skipped),
    /// It must not be sent, and so does not pass.
    HoldsKey(HoldsKey),
    /// It cannot be judged, and so does not pass.
    Unreadable { path: PathBuf, error: Error },
}

impl Piece {
    /// The file under this name; `-` is standard input.
    pub fn of(
        named: &Path,
        claims: &CallerClaims,
        settings: &Settings,
        rules: &Classifier,
    ) -> Self {
        let located = &settings.located;
        let sorted = match named == Path::new("-") {
            true => Self::of_input(named, claims, settings, rules),
            false => Place::of(&located.documents, &located.working, named)
                .map_err(Error::from)
                .and_then(|place| Self::of_place(named, &place, claims, settings, rules)),
        };
        sorted.unwrap_or_else(|error| Self::Unreadable { path: named.to_owned(), error })
    }

    /// A file that a remote caller named.
    pub fn of_source(
        source: &SourcePath,
        claims: &CallerClaims,
        settings: &Settings,
        rules: &Classifier,
    ) -> Self {
        let sorted = Place::of_source(&settings.located.documents, source)
            .map_err(Error::from)
            .and_then(|place| Self::of_place(source.path(), &place, claims, settings, rules));
        sorted.unwrap_or_else(|error| Self::Unreadable { path: source.path().to_owned(), error })
    }

    /// Its path alone may say that it is not looked at; then it is not read either.
    fn of_place(
        named: &Path,
        place: &Place,
        claims: &CallerClaims,
        settings: &Settings,
        rules: &Classifier,
    ) -> Result<Self, Error> {
        let shown = place.relative.clone();
        let shown = shown.unwrap_or_else(|| named.to_string_lossy().into_owned());
        let class = claims.class(place.relative.as_deref(), rules);
        if let Some(because) = claims.passed_over(&class, place.relative.as_deref()) {
            place.must_be_no_folder()?;
            if class.because != Because::Rule {
                // A name that was mistyped fits no rule either, and must not pass for that.
                place.must_exist()?;
            }
            return Ok(Self::skipped(shown, class, because));
        }
        Self::sorted(named, shown, class, place.read(&secret_guard(settings))?, claims)
    }

    fn of_input(
        named: &Path,
        claims: &CallerClaims,
        settings: &Settings,
        rules: &Classifier,
    ) -> Result<Self, Error> {
        Self::without_file(named, claims, settings, rules, || Ok(files::read_text(named)?))
    }

    /// A text that no file holds; `shown` is what it is called.
    pub fn of_text(
        shown: &str,
        text: String,
        claims: &CallerClaims,
        settings: &Settings,
        rules: &Classifier,
    ) -> Self {
        let named = Path::new(shown);
        let sorted = Self::without_file(named, claims, settings, rules, || Ok(text));
        sorted.unwrap_or_else(|error| Self::Unreadable { path: named.to_owned(), error })
    }

    fn without_file(
        named: &Path,
        claims: &CallerClaims,
        settings: &Settings,
        rules: &Classifier,
        text: impl FnOnce() -> Result<String, Error>,
    ) -> Result<Self, Error> {
        let (class, shown) = (claims.class(None, rules), named.to_string_lossy().into_owned());
        if let Some(because) = claims.passed_over(&class, None) {
            return Ok(Self::skipped(shown, class, because));
        }
        let document = Document::of_text(named, text()?, &secret_guard(settings))?;
        Self::sorted(named, shown, class, document, claims)
    }

    fn sorted(
        named: &Path,
        path: String,
        class: Class,
        document: Document,
        claims: &CallerClaims,
    ) -> Result<Self, Error> {
        let Document { text, key } = document;
        if class.tier == Tier::Sampled && !claims.force && !is_sampled(drawn_by(&path), &text) {
            return Ok(Self::skipped(path, class, SkippedBecause::NotDrawn));
        }
        if let Some(key) = key.filter(|_| !claims.force) {
            return Ok(Self::HoldsKey(HoldsKey { path: named.to_owned(), key }));
        }
        if !is_judged_whole(&text) {
            let reason = "it is too long to be shown whole to everybody who judges it".to_owned();
            return Err(MaterialError::Unfit { path: named.to_owned(), reason }.into());
        }
        Ok(Self::Artifact(Box::new(Artifact {
            path,
            artifact_type: class.artifact_type,
            tier: class.tier,
            producer: claims.producer.clone(),
            sha256: sha256_hex([text.as_bytes()]),
            text,
        })))
    }

    fn skipped(path: String, class: Class, because: SkippedBecause) -> Self {
        let Class { tier, artifact_type, .. } = class;
        Self::Skipped(Skipped { path, artifact_type, tier, because })
    }
}

/// What the lot is drawn by: the path that everybody knows it by. Of a file that lies outside the
/// project that is its name, however whoever names it got there.
fn drawn_by(path: &str) -> &str {
    let is_elsewhere = path.starts_with('/') || path.split('/').any(|part| part == "..");
    if is_elsewhere { path.rsplit('/').next().unwrap_or(path) } else { path }
}

impl CallerClaims {
    /// What it is taken for: what the caller claims, else what the rules say.
    fn class(&self, relative: Option<&str>, rules: &Classifier) -> Class {
        let class = match &self.artifact_type {
            Some(artifact_type) => rules.of_type(relative, artifact_type),
            None => rules.of_path(relative),
        };
        Class { tier: self.tier.unwrap_or(class.tier), ..class }
    }

    /// Why a file of tier 2 is let through unseen.
    fn passed_over(&self, class: &Class, relative: Option<&str>) -> Option<SkippedBecause> {
        if self.force || class.tier != Tier::Never {
            return None;
        }
        if self.tier.is_some() {
            return Some(SkippedBecause::Claimed);
        }
        Some(match class.because {
            Because::Rule => SkippedBecause::Rule,
            Because::NoRuleFits | Because::NoRules => match relative {
                Some(_) => SkippedBecause::NoRuleFits,
                None => SkippedBecause::Outside,
            },
        })
    }
}
