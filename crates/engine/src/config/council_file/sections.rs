//! [`CouncilFile`]: the whole file and its sections.

use std::path::PathBuf;

use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::limits::ROUND_MAX;
use plenary_core::model::plan::{PARTICIPANTS_MAX, SkipReviewRule, SkipSynthesisRule};
use plenary_core::model::string_enum::{StringEnum, words};
use plenary_core::protocols::review::policy::PolicyName;
use plenary_core::protocols::review::redaction::LogRedaction;
use plenary_core::protocols::review::types::{ADJUDICATOR_SEAT, BuiltInDeliberator};

use crate::config::council_file::provider_entry::ProviderEntry;
use crate::config::section::{ConfigSection, ProblemList, WithLine, parse_name, parse_text};
use crate::config::tier_rules::{TierRule, read_tier_rules};
use crate::config::yaml::{YamlNode, YamlValue};

const SECTION_KEYS: [&str; 8] = [
    "council",
    "budget",
    "conclusion",
    "review",
    "tier_rules",
    "alignment",
    "storage",
    "retention",
];

/// No run needs a larger budget.
pub(crate) const USD_MAX: f64 = 1_000_000.0;

/// No caller waits longer than a week.
const WALL_MS_MAX: u64 = 7 * 24 * 3_600_000;

#[derive(Debug, Default)]
pub(crate) struct CouncilFile {
    pub council: CouncilSection,
    pub budget: BudgetSection,
    pub conclusion: ConclusionSection,
    pub review: ReviewSection,
    /// By tier, then in the order of the file; `None` if there are no rules.
    pub tier_rules: Option<WithLine<Vec<TierRule>>>,
    pub alignment: AlignmentSection,
    pub storage: Option<WithLine<String>>,
    pub keep_prompts: Option<WithLine<bool>>,
}

#[derive(Debug, Default)]
pub(crate) struct BudgetSection {
    pub usd_max: Option<WithLine<f64>>,
    pub tokens_max: Option<WithLine<u64>>,
    pub calls_max: Option<WithLine<u32>>,
    pub wall_max: Option<WithLine<u64>>,
    pub server_usd_max: Option<WithLine<f64>>,
}

#[derive(Debug, Default)]
pub(crate) struct ConclusionSection {
    pub synthesizer: Option<WithLine<ExpertSlug>>,
    pub critic: Option<WithLine<ExpertSlug>>,
    pub reviser: Option<WithLine<ExpertSlug>>,
}

#[derive(Debug, Default)]
pub(crate) struct AlignmentSection {
    pub max_rounds: Option<WithLine<u8>>,
    pub convergence_percent: Option<WithLine<u8>>,
}

impl CouncilFile {
    pub(crate) fn from_tree(tree: &YamlNode, problems: &mut ProblemList) -> Self {
        let Some(file) = ConfigSection::from_node(tree, "", &SECTION_KEYS, problems) else {
            return Self::default();
        };
        Self {
            council: CouncilSection::from_file(&file, problems),
            budget: BudgetSection::from_file(&file, problems),
            conclusion: ConclusionSection::from_file(&file, problems),
            review: ReviewSection::from_file(&file, problems),
            tier_rules: read_tier_rules(&file, problems),
            alignment: read_alignment(tree, problems),
            storage: read_storage(tree, problems),
            keep_prompts: file
                .section_or_empty("retention", &["keep_prompts"], problems)
                .read_boolean("keep_prompts", problems),
        }
    }
}

impl BudgetSection {
    fn from_file(file: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
        let known = ["usd_max", "tokens_max", "calls_max", "wall_max", "server_usd_max"];
        let budget = file.section_or_empty("budget", &known, problems);
        Self {
            usd_max: budget.read_number("usd_max", 0.0..=USD_MAX, problems),
            tokens_max: budget.read_integer("tokens_max", 1..=i128::from(u64::MAX), problems),
            calls_max: budget.read_integer("calls_max", 1..=i128::from(u32::MAX), problems),
            wall_max: budget.read_duration("wall_max", WALL_MS_MAX, problems),
            server_usd_max: budget.read_number("server_usd_max", 0.0..=USD_MAX, problems),
        }
    }
}

impl ConclusionSection {
    fn from_file(file: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
        let known = ["synthesizer", "critic", "reviser"];
        let conclusion = file.section_or_empty("conclusion", &known, problems);
        Self {
            synthesizer: conclusion.read_name("synthesizer", problems),
            critic: conclusion.read_name("critic", problems),
            reviser: conclusion.read_name("reviser", problems),
        }
    }
}

/// Reads only this section, for commands that need no other.
pub(crate) fn read_alignment(tree: &YamlNode, problems: &mut ProblemList) -> AlignmentSection {
    let mut elsewhere = ProblemList::default();
    let Some(file) = ConfigSection::from_mapping(tree, "", &mut elsewhere) else {
        return AlignmentSection::default();
    };
    let known = ["max_rounds", "convergence_percent"];
    let alignment = file.section_or_empty("alignment", &known, problems);
    AlignmentSection {
        // Rounds are numbered from 0.
        max_rounds: alignment.read_integer("max_rounds", 1..=i128::from(ROUND_MAX) + 1, problems),
        convergence_percent: alignment.read_integer("convergence_percent", 1..=100, problems),
    }
}

/// Reads only this section, for commands that need no other.
pub(crate) fn read_storage(
    tree: &YamlNode,
    problems: &mut ProblemList,
) -> Option<WithLine<String>> {
    let mut elsewhere = ProblemList::default();
    let file = ConfigSection::from_mapping(tree, "", &mut elsewhere)?;
    file.section_or_empty("storage", &["url"], problems).read_text("url", problems)
}

/// Reads only this field and ignores its problems; commands that need the section report them.
pub(crate) fn read_log_path(tree: &YamlNode) -> Option<WithLine<String>> {
    let mut elsewhere = ProblemList::default();
    let file = ConfigSection::from_mapping(tree, "", &mut elsewhere)?;
    let review = file.section_or_empty("review", &[], &mut elsewhere);
    review.read_text("log_path", &mut elsewhere)
}

words! {
    /// Default transport, unless a provider names its own.
    pub enum TransportChoice {
        Auto = "auto",
        Http = "http",
        Mcp = "mcp",
        Cli = "cli",
    }
}

/// A model that has not answered within a day will not answer.
const TIMEOUT_MS_MAX: u64 = 24 * 3_600_000;

/// In the order of the specification.
const TIMEOUT_KEYS: [&str; 3] = ["r1_per_provider", "r2_per_provider", "r3_chair"];

const COUNCIL_KEYS: [&str; 6] =
    ["providers", "transport", "timeouts", "quorum", "short_circuit", "anonymous_review"];

#[derive(Debug, Default)]
pub(crate) struct CouncilSection {
    /// `None` if providers are to be discovered.
    pub providers: Option<WithLine<Vec<ProviderEntry>>>,
    pub transport: Option<WithLine<TransportChoice>>,
    pub timeouts: TimeoutsSection,
    pub quorum: QuorumSection,
    pub short_circuit: ShortCircuitSection,
    pub anonymous_review: Option<WithLine<bool>>,
}

#[derive(Debug, Default)]
pub(crate) struct TimeoutsSection {
    pub r1_per_provider: Option<WithLine<u64>>,
    pub r2_per_provider: Option<WithLine<u64>>,
    pub r3_chair: Option<WithLine<u64>>,
}

#[derive(Debug, Default)]
pub(crate) struct QuorumSection {
    pub r1_min: Option<WithLine<usize>>,
    pub r2_min: Option<WithLine<usize>>,
    pub r3_required: Option<WithLine<bool>>,
    pub allow_partial: Option<WithLine<bool>>,
    pub families_min: Option<WithLine<usize>>,
}

#[derive(Debug, Default)]
pub(crate) struct ShortCircuitSection {
    pub enabled: Option<WithLine<bool>>,
    pub shadow: Option<WithLine<bool>>,
    pub skip_r2_if: Option<WithLine<Vec<SkipReviewRule>>>,
    pub skip_r3_if: Option<WithLine<Vec<SkipSynthesisRule>>>,
}

impl CouncilSection {
    pub(crate) fn from_file(file: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
        let council = file.section_or_empty("council", &COUNCIL_KEYS, problems);
        Self {
            providers: ProviderEntry::read_all(&council, problems),
            transport: council.read_enum("transport", problems),
            timeouts: TimeoutsSection::from_parent(&council, problems),
            quorum: QuorumSection::from_council(&council, problems),
            short_circuit: ShortCircuitSection::from_council(&council, problems),
            anonymous_review: council.read_boolean("anonymous_review", problems),
        }
    }
}

impl TimeoutsSection {
    /// The `timeouts` of a council or of a provider.
    pub(crate) fn from_parent(parent: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
        let timeouts = parent.section_or_empty("timeouts", &TIMEOUT_KEYS, problems);
        Self {
            r1_per_provider: timeouts.read_duration("r1_per_provider", TIMEOUT_MS_MAX, problems),
            r2_per_provider: timeouts.read_duration("r2_per_provider", TIMEOUT_MS_MAX, problems),
            r3_chair: timeouts.read_duration("r3_chair", TIMEOUT_MS_MAX, problems),
        }
    }
}

impl QuorumSection {
    fn from_council(council: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
        let known = ["r1_min", "r2_min", "r3_required", "allow_partial", "families_min"];
        let quorum = council.section_or_empty("quorum", &known, problems);
        let most = PARTICIPANTS_MAX as i128;
        Self {
            r1_min: quorum.read_integer("r1_min", 1..=most, problems),
            r2_min: quorum.read_integer("r2_min", 0..=most, problems),
            r3_required: quorum.read_boolean("r3_required", problems),
            allow_partial: quorum.read_boolean("allow_partial", problems),
            families_min: quorum.read_integer("families_min", 1..=most, problems),
        }
    }
}

impl ShortCircuitSection {
    fn from_council(council: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
        let known = ["enabled", "shadow", "skip_r2_if", "skip_r3_if"];
        let short_circuit = council.section_or_empty("short_circuit", &known, problems);
        Self {
            enabled: short_circuit.read_boolean("enabled", problems),
            shadow: short_circuit.read_boolean("shadow", problems),
            skip_r2_if: short_circuit.read_enums("skip_r2_if", problems),
            skip_r3_if: short_circuit.read_enums("skip_r3_if", problems),
        }
    }
}

/// Each prior verdict takes a few lines; more would crowd out the artifact.
const PRIOR_VERDICTS_MAX: i128 = 50;

#[derive(Debug, Default)]
pub(crate) struct ReviewSection {
    pub deliberators: Option<WithLine<Vec<DeliberatorEntry>>>,
    pub adjudicator: Option<WithLine<ExpertSlug>>,
    pub policy: Option<WithLine<PolicyName>>,
    pub min_deliberators: Option<WithLine<usize>>,
    pub prior_verdicts: Option<WithLine<usize>>,
    pub log_path: Option<WithLine<String>>,
    pub redact: Option<WithLine<LogRedaction>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeliberatorEntry {
    pub line: u64,
    pub name: ExpertSlug,
    pub provider: Option<WithLine<ExpertSlug>>,
    /// Prompt file of the operator, relative to `council.yaml`.
    pub prompt: Option<PathBuf>,
    pub context_refs: Vec<PathBuf>,
    pub version: Option<String>,
}

impl ReviewSection {
    pub(crate) fn from_file(file: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
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
    pub(crate) fn built_in() -> Vec<Self> {
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
