//! Explains why `review` and `sweep` do not review a file, with the CLI option that changes it.

use crate::domain::refusal::Fault;
use crate::hosting::{HoldsKey, Skipped, SkippedBecause};

/// The reason for the skip, and the option that forces a review.
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

/// `review` accepts `--force` for a false positive.
pub(super) fn reviewed_with_key(held: &HoldsKey) -> Fault {
    held.fault().suggest("take it out; `--force` sends it all the same")
}

/// `sweep` has no `--force`, because the user has not seen the files that it finds.
pub(super) fn swept_with_key(held: &HoldsKey) -> Fault {
    held.fault().suggest("take it out; `plenary review --force` sends it all the same")
}
