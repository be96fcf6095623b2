//! The `council` section.

use super::provider::ProviderEntry;
use crate::config::section::{ConfigSection, ProblemList, WithLine};
use crate::domain::plan::{PARTICIPANTS_MAX, SkipReviewRule, SkipSynthesisRule};
use crate::domain::words::words;

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
pub(in crate::config) struct CouncilSection {
    /// `None` if providers are to be discovered.
    pub providers: Option<WithLine<Vec<ProviderEntry>>>,
    pub transport: Option<WithLine<TransportChoice>>,
    pub timeouts: TimeoutsSection,
    pub quorum: QuorumSection,
    pub short_circuit: ShortCircuitSection,
    pub anonymous_review: Option<WithLine<bool>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct TimeoutsSection {
    pub r1_per_provider: Option<WithLine<u64>>,
    pub r2_per_provider: Option<WithLine<u64>>,
    pub r3_chair: Option<WithLine<u64>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct QuorumSection {
    pub r1_min: Option<WithLine<usize>>,
    pub r2_min: Option<WithLine<usize>>,
    pub r3_required: Option<WithLine<bool>>,
    pub allow_partial: Option<WithLine<bool>>,
    pub families_min: Option<WithLine<usize>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct ShortCircuitSection {
    pub enabled: Option<WithLine<bool>>,
    pub shadow: Option<WithLine<bool>>,
    pub skip_r2_if: Option<WithLine<Vec<SkipReviewRule>>>,
    pub skip_r3_if: Option<WithLine<Vec<SkipSynthesisRule>>>,
}

impl CouncilSection {
    pub(super) fn from_file(file: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
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
    pub(super) fn from_parent(parent: &ConfigSection<'_>, problems: &mut ProblemList) -> Self {
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
