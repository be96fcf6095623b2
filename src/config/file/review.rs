//! The `review` section.

use std::path::PathBuf;

use crate::config::section::{ConfigSection, ProblemList, WithLine, parse_name, parse_text};
use crate::config::yaml::{YamlNode, YamlValue};
use crate::domain::gate::{ADJUDICATOR_SEAT, BuiltInDeliberator, LogRedaction, PolicyName};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::PARTICIPANTS_MAX;
use crate::domain::words::StringEnum;

/// Each prior verdict takes a few lines; more would crowd out the artifact.
const PRIOR_VERDICTS_MAX: i128 = 50;

#[derive(Debug, Default)]
pub(in crate::config) struct ReviewSection {
    pub deliberators: Option<WithLine<Vec<DeliberatorEntry>>>,
    pub adjudicator: Option<WithLine<ExpertSlug>>,
    pub policy: Option<WithLine<PolicyName>>,
    pub min_deliberators: Option<WithLine<usize>>,
    pub prior_verdicts: Option<WithLine<usize>>,
    pub log_path: Option<WithLine<String>>,
    pub redact: Option<WithLine<LogRedaction>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::config) struct DeliberatorEntry {
    pub line: u64,
    pub name: ExpertSlug,
    pub provider: Option<WithLine<ExpertSlug>>,
    /// Prompt file of the operator, relative to `council.yaml`.
    pub prompt: Option<PathBuf>,
    pub context_refs: Vec<PathBuf>,
    pub version: Option<String>,
}

impl ReviewSection {
    pub(super) fn from_file(file: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
        let known = ["deliberators", "adjudicator", "policy", "log_path", "redact"];
        let review = file.section_or_empty("review", &known, problems);
        let known = ["name", "min_deliberators", "prior_verdicts"];
        let policy = review.section_or_empty("policy", &known, problems);
        let most = PARTICIPANTS_MAX as i128;
        Self {
            deliberators: read_deliberators(&review, problems),
            adjudicator: review
                .section_or_empty("adjudicator", &["provider"], problems)
                .read_name("provider", problems),
            policy: policy.read_enum("name", problems),
            min_deliberators: policy.read_integer("min_deliberators", 1..=most, problems),
            prior_verdicts: policy.read_integer("prior_verdicts", 0..=PRIOR_VERDICTS_MAX, problems),
            log_path: review.read_text("log_path", problems),
            redact: read_redaction(&review, problems),
        }
    }
}

impl DeliberatorEntry {
    /// The four deliberators of the specification.
    pub(in crate::config) fn built_in() -> Vec<Self> {
        let names = BuiltInDeliberator::ALL.iter().map(|one| one.name());
        names.filter_map(|name| Some(Self::from_name(name.parse().ok()?, 0))).collect()
    }

    fn from_name(name: ExpertSlug, line: u64) -> Self {
        Self { line, name, provider: None, prompt: None, context_refs: Vec::new(), version: None }
    }

    /// Reads a name alone, or a mapping.
    fn from_node(node: &YamlNode, path: &str, problems: &mut ProblemList) -> Option<Self> {
        let entry = if matches!(node.value, YamlValue::Text(_)) {
            Self::from_name(parse_name(node, path, problems)?, node.line)
        } else {
            let known = ["name", "provider", "prompt", "context_refs", "version"];
            let seat = ConfigSection::from_node(node, path, &known, problems)?;
            let refs =
                seat.read_texts("context_refs", problems).map(|at| at.value).unwrap_or_default();
            Self {
                provider: seat.read_name("provider", problems),
                prompt: seat.read_text("prompt", problems).map(|at| at.value.into()),
                context_refs: refs.into_iter().map(PathBuf::from).collect(),
                version: seat.read_text("version", problems).map(|at| at.value),
                ..Self::from_name(seat.read_required_name("name", problems)?, node.line)
            }
        };
        entry.check_name(path, problems);
        Some(entry)
    }

    fn check_name(&self, path: &str, problems: &mut ProblemList) {
        let name = self.name.as_str();
        if name == ADJUDICATOR_SEAT {
            problems.add_problem(path, self.line, &format!("must not be called `{name}`"));
        } else if self.prompt.is_none() && BuiltInDeliberator::named(name).is_none() {
            let ours = BuiltInDeliberator::options().join(", ");
            let fault =
                format!("is `{name}`, which needs a `prompt`; without one there are {ours}");
            problems.add_problem(path, self.line, &fault);
        }
    }
}

/// Reads regular expressions. Messages do not repeat a pattern, because it may be a secret.
fn read_redaction(
    review: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<LogRedaction>> {
    let list = review.read_list("redact", problems)?;
    let path = review.key_path("redact");
    let mut redaction = LogRedaction::default();
    for (place, node) in list.value.iter().enumerate() {
        let path = format!("{path}[{place}]");
        let Some(pattern) = parse_text(node, &path, problems) else { continue };
        if let Err(reason) = redaction.add_pattern(&pattern) {
            problems.add_problem(&path, node.line, &format!("is no regular expression: {reason}"));
        }
    }
    Some(WithLine { value: redaction, line: list.line })
}

fn read_deliberators(
    review: &ConfigSection<'_>,
    problems: &mut ProblemList,
) -> Option<WithLine<Vec<DeliberatorEntry>>> {
    let list = review.read_list("deliberators", problems)?;
    let path = review.key_path("deliberators");
    if list.value.is_empty() || list.value.len() > PARTICIPANTS_MAX {
        let fault = format!("must have from 1 to {PARTICIPANTS_MAX} items");
        problems.add_problem(&path, list.line, &fault);
    }
    let mut seats: Vec<DeliberatorEntry> = Vec::new();
    for (place, node) in list.value.iter().enumerate() {
        let path = format!("{path}[{place}]");
        let Some(seat) = DeliberatorEntry::from_node(node, &path, problems) else { continue };
        if seats.iter().any(|other| other.name == seat.name) {
            let fault = format!("names `{}`, which stands above already", seat.name);
            problems.add_problem(&path, node.line, &fault);
        }
        seats.push(seat);
    }
    Some(WithLine { value: seats, line: list.line })
}
