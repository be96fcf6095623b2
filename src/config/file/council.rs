//! The `council` section.

use super::provider::ProviderEntry;
use crate::config::section::{At, Problems, Section};
use crate::domain::plan::{PARTICIPANTS_MAX, SkipReview, SkipSynthesis};
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
const TIMEOUTS: [&str; 3] = ["r1_per_provider", "r2_per_provider", "r3_chair"];

const KEYS: [&str; 6] =
    ["providers", "transport", "timeouts", "quorum", "short_circuit", "anonymous_review"];

#[derive(Debug, Default)]
pub(in crate::config) struct CouncilSection {
    /// `None` if providers are to be discovered.
    pub providers: Option<At<Vec<ProviderEntry>>>,
    pub transport: Option<At<TransportChoice>>,
    pub timeouts: TimeoutsSection,
    pub quorum: QuorumSection,
    pub short_circuit: ShortCircuitSection,
    pub anonymous_review: Option<At<bool>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct TimeoutsSection {
    pub r1_per_provider: Option<At<u64>>,
    pub r2_per_provider: Option<At<u64>>,
    pub r3_chair: Option<At<u64>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct QuorumSection {
    pub r1_min: Option<At<usize>>,
    pub r2_min: Option<At<usize>>,
    pub r3_required: Option<At<bool>>,
    pub allow_partial: Option<At<bool>>,
    pub families_min: Option<At<usize>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct ShortCircuitSection {
    pub enabled: Option<At<bool>>,
    pub shadow: Option<At<bool>>,
    pub skip_r2_if: Option<At<Vec<SkipReview>>>,
    pub skip_r3_if: Option<At<Vec<SkipSynthesis>>>,
}

impl CouncilSection {
    pub(super) fn read(file: &Section<'_>, problems: &mut Problems) -> Self {
        let council = file.section_or_empty("council", &KEYS, problems);
        Self {
            providers: ProviderEntry::read_all(&council, problems),
            transport: council.word("transport", problems),
            timeouts: TimeoutsSection::read(&council, problems),
            quorum: QuorumSection::read(&council, problems),
            short_circuit: ShortCircuitSection::read(&council, problems),
            anonymous_review: council.boolean("anonymous_review", problems),
        }
    }
}

impl TimeoutsSection {
    /// The `timeouts` of a council or of a provider.
    pub(super) fn read(parent: &Section<'_>, problems: &mut Problems) -> Self {
        let timeouts = parent.section_or_empty("timeouts", &TIMEOUTS, problems);
        Self {
            r1_per_provider: timeouts.duration("r1_per_provider", TIMEOUT_MS_MAX, problems),
            r2_per_provider: timeouts.duration("r2_per_provider", TIMEOUT_MS_MAX, problems),
            r3_chair: timeouts.duration("r3_chair", TIMEOUT_MS_MAX, problems),
        }
    }
}

impl QuorumSection {
    fn read(council: &Section<'_>, problems: &mut Problems) -> Self {
        let known = ["r1_min", "r2_min", "r3_required", "allow_partial", "families_min"];
        let quorum = council.section_or_empty("quorum", &known, problems);
        let most = PARTICIPANTS_MAX as i128;
        Self {
            r1_min: quorum.integer("r1_min", 1..=most, problems),
            r2_min: quorum.integer("r2_min", 0..=most, problems),
            r3_required: quorum.boolean("r3_required", problems),
            allow_partial: quorum.boolean("allow_partial", problems),
            families_min: quorum.integer("families_min", 1..=most, problems),
        }
    }
}

impl ShortCircuitSection {
    fn read(council: &Section<'_>, problems: &mut Problems) -> Self {
        let known = ["enabled", "shadow", "skip_r2_if", "skip_r3_if"];
        let short_circuit = council.section_or_empty("short_circuit", &known, problems);
        Self {
            enabled: short_circuit.boolean("enabled", problems),
            shadow: short_circuit.boolean("shadow", problems),
            skip_r2_if: short_circuit.words("skip_r2_if", problems),
            skip_r3_if: short_circuit.words("skip_r3_if", problems),
        }
    }
}
