//! [`CouncilFile`]: the whole file and its sections.

use super::council::CouncilSection;
use super::review::ReviewSection;
use super::tiers::{self, TierRule};
use crate::config::section::{At, Problems, Section};
use crate::config::yaml::Node;
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::ROUND_MAX;

const SECTIONS: [&str; 8] = [
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
pub(in crate::config) const USD_MAX: f64 = 1_000_000.0;

/// No caller waits longer than a week.
const WALL_MS_MAX: u64 = 7 * 24 * 3_600_000;

#[derive(Debug, Default)]
pub(in crate::config) struct CouncilFile {
    pub council: CouncilSection,
    pub budget: BudgetSection,
    pub conclusion: ConclusionSection,
    pub review: ReviewSection,
    /// By tier, then in the order of the file; `None` if there are no rules.
    pub tier_rules: Option<At<Vec<TierRule>>>,
    pub alignment: AlignmentSection,
    pub storage: Option<At<String>>,
    pub keep_prompts: Option<At<bool>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct BudgetSection {
    pub usd_max: Option<At<f64>>,
    pub tokens_max: Option<At<u64>>,
    pub calls_max: Option<At<u32>>,
    pub wall_max: Option<At<u64>>,
    pub server_usd_max: Option<At<f64>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct ConclusionSection {
    pub synthesizer: Option<At<ExpertSlug>>,
    pub critic: Option<At<ExpertSlug>>,
    pub reviser: Option<At<ExpertSlug>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct AlignmentSection {
    pub max_rounds: Option<At<u8>>,
    pub convergence_percent: Option<At<u8>>,
}

impl CouncilFile {
    pub(in crate::config) fn read(tree: &Node, problems: &mut Problems) -> Self {
        let Some(file) = Section::of(tree, "", &SECTIONS, problems) else { return Self::default() };
        Self {
            council: CouncilSection::read(&file, problems),
            budget: BudgetSection::read(&file, problems),
            conclusion: ConclusionSection::read(&file, problems),
            review: ReviewSection::read(&file, problems),
            tier_rules: tiers::read(&file, problems),
            alignment: read_alignment(tree, problems),
            storage: read_storage(tree, problems),
            keep_prompts: file
                .section_or_empty("retention", &["keep_prompts"], problems)
                .boolean("keep_prompts", problems),
        }
    }
}

impl BudgetSection {
    fn read(file: &Section<'_>, problems: &mut Problems) -> Self {
        let known = ["usd_max", "tokens_max", "calls_max", "wall_max", "server_usd_max"];
        let budget = file.section_or_empty("budget", &known, problems);
        Self {
            usd_max: budget.number("usd_max", 0.0..=USD_MAX, problems),
            tokens_max: budget.integer("tokens_max", 1..=i128::from(u64::MAX), problems),
            calls_max: budget.integer("calls_max", 1..=i128::from(u32::MAX), problems),
            wall_max: budget.duration("wall_max", WALL_MS_MAX, problems),
            server_usd_max: budget.number("server_usd_max", 0.0..=USD_MAX, problems),
        }
    }
}

impl ConclusionSection {
    fn read(file: &Section<'_>, problems: &mut Problems) -> Self {
        let known = ["synthesizer", "critic", "reviser"];
        let conclusion = file.section_or_empty("conclusion", &known, problems);
        Self {
            synthesizer: conclusion.name("synthesizer", problems),
            critic: conclusion.name("critic", problems),
            reviser: conclusion.name("reviser", problems),
        }
    }
}

/// Reads only this section, for commands that need no other.
pub(in crate::config) fn read_alignment(tree: &Node, problems: &mut Problems) -> AlignmentSection {
    let mut elsewhere = Problems::default();
    let Some(file) = Section::open(tree, "", &mut elsewhere) else {
        return AlignmentSection::default();
    };
    let known = ["max_rounds", "convergence_percent"];
    let alignment = file.section_or_empty("alignment", &known, problems);
    AlignmentSection {
        // Rounds are numbered from 0.
        max_rounds: alignment.integer("max_rounds", 1..=i128::from(ROUND_MAX) + 1, problems),
        convergence_percent: alignment.integer("convergence_percent", 1..=100, problems),
    }
}

/// Reads only this section, for commands that need no other.
pub(in crate::config) fn read_storage(tree: &Node, problems: &mut Problems) -> Option<At<String>> {
    let mut elsewhere = Problems::default();
    let file = Section::open(tree, "", &mut elsewhere)?;
    file.section_or_empty("storage", &["url"], problems).text("url", problems)
}

/// Reads only this field and ignores its problems; commands that need the section report them.
pub(in crate::config) fn read_log_path(tree: &Node) -> Option<At<String>> {
    let mut elsewhere = Problems::default();
    let file = Section::open(tree, "", &mut elsewhere)?;
    let review = file.section_or_empty("review", &[], &mut elsewhere);
    review.text("log_path", &mut elsewhere)
}
