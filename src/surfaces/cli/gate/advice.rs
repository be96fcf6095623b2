//! What would have a file judged that is not: options of this door.

use crate::domain::refusal::Fault;
use crate::hosting::{HoldsKey, Skipped, SkippedBecause};

/// Why a file is skipped, and what would have it looked at.
pub(super) fn skipped_because(skipped: &Skipped) -> String {
    let advice = match skipped.because {
        SkippedBecause::Claimed => "`--tier 1` is",
        SkippedBecause::Rule
        | SkippedBecause::NoRuleFits
        | SkippedBecause::Outside
        | SkippedBecause::NotDrawn => "`--force` has it judged all the same",
    };
    format!("{}; {advice}", skipped.sentence())
}

/// `review` can be told that the key is none.
pub(super) fn reviewed_with_key(held: &HoldsKey) -> Fault {
    held.fault().suggest("take it out; `--force` sends it all the same")
}

/// `sweep` cannot: nobody has looked at what it finds.
pub(super) fn swept_with_key(held: &HoldsKey) -> Fault {
    held.fault().suggest("take it out; `plenary review --force` sends it all the same")
}
