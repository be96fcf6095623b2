//! [`CouncilFile`]: the whole file and its sections.

use super::council::CouncilSection;
use super::review::ReviewSection;
use super::tiers::{self, TierRule};
use crate::config::section::{ConfigSection, ProblemList, WithLine};
use crate::config::yaml::YamlNode;
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::ROUND_MAX;

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
    pub tier_rules: Option<WithLine<Vec<TierRule>>>,
    pub alignment: AlignmentSection,
    pub storage: Option<WithLine<String>>,
    pub keep_prompts: Option<WithLine<bool>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct BudgetSection {
    pub usd_max: Option<WithLine<f64>>,
    pub tokens_max: Option<WithLine<u64>>,
    pub calls_max: Option<WithLine<u32>>,
    pub wall_max: Option<WithLine<u64>>,
    pub server_usd_max: Option<WithLine<f64>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct ConclusionSection {
    pub synthesizer: Option<WithLine<ExpertSlug>>,
    pub critic: Option<WithLine<ExpertSlug>>,
    pub reviser: Option<WithLine<ExpertSlug>>,
}

#[derive(Debug, Default)]
pub(in crate::config) struct AlignmentSection {
    pub max_rounds: Option<WithLine<u8>>,
    pub convergence_percent: Option<WithLine<u8>>,
}

impl CouncilFile {
    pub(in crate::config) fn from_tree(tree: &YamlNode, problems: &mut ProblemList) -> Self {
        let Some(file) = ConfigSection::from_node(tree, "", &SECTION_KEYS, problems) else {
            return Self::default();
        };
        Self {
            council: CouncilSection::from_file(&file, problems),
            budget: BudgetSection::from_file(&file, problems),
            conclusion: ConclusionSection::from_file(&file, problems),
            review: ReviewSection::from_file(&file, problems),
            tier_rules: tiers::read_tier_rules(&file, problems),
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
pub(in crate::config) fn read_alignment(
    tree: &YamlNode,
    problems: &mut ProblemList,
) -> AlignmentSection {
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
pub(in crate::config) fn read_storage(
    tree: &YamlNode,
    problems: &mut ProblemList,
) -> Option<WithLine<String>> {
    let mut elsewhere = ProblemList::default();
    let file = ConfigSection::from_mapping(tree, "", &mut elsewhere)?;
    file.section_or_empty("storage", &["url"], problems).read_text("url", problems)
}

/// Reads only this field and ignores its problems; commands that need the section report them.
pub(in crate::config) fn read_log_path(tree: &YamlNode) -> Option<WithLine<String>> {
    let mut elsewhere = ProblemList::default();
    let file = ConfigSection::from_mapping(tree, "", &mut elsewhere)?;
    let review = file.section_or_empty("review", &[], &mut elsewhere);
    review.read_text("log_path", &mut elsewhere)
}
