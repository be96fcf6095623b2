//! The `review` section.

use std::path::PathBuf;

use crate::config::section::{At, Problems, Section, name, text};
use crate::config::yaml::{Node, Value};
use crate::domain::gate::{ADJUDICATOR, BuiltIn, PolicyName, Redaction};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::PARTICIPANTS_MAX;
use crate::domain::words::Word;

/// Each prior verdict takes a few lines; more would crowd out the artifact.
const PRIOR_VERDICTS_MAX: i128 = 50;

#[derive(Debug, Default)]
pub(in crate::config) struct ReviewSection {
    pub deliberators: Option<At<Vec<DeliberatorEntry>>>,
    pub adjudicator: Option<At<ExpertSlug>>,
    pub policy: Option<At<PolicyName>>,
    pub min_deliberators: Option<At<usize>>,
    pub prior_verdicts: Option<At<usize>>,
    pub log_path: Option<At<String>>,
    pub redact: Option<At<Redaction>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::config) struct DeliberatorEntry {
    pub line: u64,
    pub name: ExpertSlug,
    pub provider: Option<At<ExpertSlug>>,
    /// Prompt file of the operator, relative to `council.yaml`.
    pub prompt: Option<PathBuf>,
    pub context_refs: Vec<PathBuf>,
    pub version: Option<String>,
}

impl ReviewSection {
    pub(super) fn read(file: &Section<'_>, problems: &mut Problems) -> Self {
        let known = ["deliberators", "adjudicator", "policy", "log_path", "redact"];
        let review = file.section_or_empty("review", &known, problems);
        let known = ["name", "min_deliberators", "prior_verdicts"];
        let policy = review.section_or_empty("policy", &known, problems);
        let most = PARTICIPANTS_MAX as i128;
        Self {
            deliberators: deliberators(&review, problems),
            adjudicator: review
                .section_or_empty("adjudicator", &["provider"], problems)
                .name("provider", problems),
            policy: policy.word("name", problems),
            min_deliberators: policy.integer("min_deliberators", 1..=most, problems),
            prior_verdicts: policy.integer("prior_verdicts", 0..=PRIOR_VERDICTS_MAX, problems),
            log_path: review.text("log_path", problems),
            redact: redact(&review, problems),
        }
    }
}

impl DeliberatorEntry {
    /// The four deliberators of the specification.
    pub(in crate::config) fn built_in() -> Vec<Self> {
        let names = BuiltIn::ALL.iter().map(|one| one.name());
        names.filter_map(|name| Some(Self::named(name.parse().ok()?, 0))).collect()
    }

    fn named(name: ExpertSlug, line: u64) -> Self {
        Self { line, name, provider: None, prompt: None, context_refs: Vec::new(), version: None }
    }

    /// Reads a name alone, or a mapping.
    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let entry = if matches!(node.value, Value::Text(_)) {
            Self::named(name(node, path, problems)?, node.line)
        } else {
            let known = ["name", "provider", "prompt", "context_refs", "version"];
            let seat = Section::of(node, path, &known, problems)?;
            let refs = seat.texts("context_refs", problems).map(|at| at.value).unwrap_or_default();
            Self {
                provider: seat.name("provider", problems),
                prompt: seat.text("prompt", problems).map(|at| at.value.into()),
                context_refs: refs.into_iter().map(PathBuf::from).collect(),
                version: seat.text("version", problems).map(|at| at.value),
                ..Self::named(seat.required_name("name", problems)?, node.line)
            }
        };
        entry.check(path, problems);
        Some(entry)
    }

    fn check(&self, path: &str, problems: &mut Problems) {
        let name = self.name.as_str();
        if name == ADJUDICATOR {
            problems.note(path, self.line, &format!("must not be called `{name}`"));
        } else if self.prompt.is_none() && BuiltIn::named(name).is_none() {
            let ours = BuiltIn::options().join(", ");
            let fault =
                format!("is `{name}`, which needs a `prompt`; without one there are {ours}");
            problems.note(path, self.line, &fault);
        }
    }
}

/// Reads regular expressions. Messages do not repeat a pattern, because it may be a secret.
fn redact(review: &Section<'_>, problems: &mut Problems) -> Option<At<Redaction>> {
    let list = review.list("redact", problems)?;
    let path = review.at("redact");
    let mut redaction = Redaction::default();
    for (place, node) in list.value.iter().enumerate() {
        let path = format!("{path}[{place}]");
        let Some(pattern) = text(node, &path, problems) else { continue };
        if let Err(reason) = redaction.add(&pattern) {
            problems.note(&path, node.line, &format!("is no regular expression: {reason}"));
        }
    }
    Some(At { value: redaction, line: list.line })
}

fn deliberators(
    review: &Section<'_>,
    problems: &mut Problems,
) -> Option<At<Vec<DeliberatorEntry>>> {
    let list = review.list("deliberators", problems)?;
    let path = review.at("deliberators");
    if list.value.is_empty() || list.value.len() > PARTICIPANTS_MAX {
        let fault = format!("must have from 1 to {PARTICIPANTS_MAX} items");
        problems.note(&path, list.line, &fault);
    }
    let mut seats: Vec<DeliberatorEntry> = Vec::new();
    for (place, node) in list.value.iter().enumerate() {
        let path = format!("{path}[{place}]");
        let Some(seat) = DeliberatorEntry::read(node, &path, problems) else { continue };
        if seats.iter().any(|other| other.name == seat.name) {
            let fault = format!("names `{}`, which stands above already", seat.name);
            problems.note(&path, node.line, &fault);
        }
        seats.push(seat);
    }
    Some(At { value: seats, line: list.line })
}
