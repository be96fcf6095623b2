//! Explains why `review` and `sweep` do not review a file, with the CLI option that changes it.

use crate::domain::refusal::Fault;
use crate::hosting::{SecretFile, SkipReason, SkippedFile};

/// The reason for the skip, and the option that forces a review.
pub(super) fn skipped_because(skipped: &SkippedFile) -> String {
    let advice = match skipped.because {
        SkipReason::Claimed => "`--tier 1` is",
        SkipReason::Rule | SkipReason::NoRuleFits | SkipReason::Outside | SkipReason::NotDrawn => {
            "`--force` has it judged all the same"
        }
    };
    format!("{}; {advice}", skipped.sentence())
}

/// `review` accepts `--force` for a false positive.
pub(super) fn reviewed_with_key(held: &SecretFile) -> Fault {
    held.fault().suggest("take it out; `--force` sends it all the same")
}

/// `sweep` has no `--force`, because the user has not seen the files that it finds.
pub(super) fn swept_with_key(held: &SecretFile) -> Fault {
    held.fault().suggest("take it out; `plenary review --force` sends it all the same")
}
