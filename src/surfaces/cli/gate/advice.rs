//! Explains why `review` and `sweep` do not review a file, with the CLI option that changes it.

use crate::domain::refusal::ValidationError;
use crate::hosting::{SecretFile, SkipReason, SkippedFile};

/// The reason for the skip, and the option that forces a review.
pub(super) fn explain_skip(skipped: &SkippedFile) -> String {
    let advice = match skipped.because {
        SkipReason::Claimed => "`--tier 1` is",
        SkipReason::Rule | SkipReason::NoRuleFits | SkipReason::Outside | SkipReason::NotDrawn => {
            "`--force` has it judged all the same"
        }
    };
    format!("{}; {advice}", skipped.sentence())
}

/// `review` accepts `--force` for a false positive.
pub(super) fn review_key_error(held: &SecretFile) -> ValidationError {
    held.fault().with_suggestion("take it out; `--force` sends it all the same")
}

/// `sweep` has no `--force`, because the user has not seen the files that it finds.
pub(super) fn sweep_key_error(held: &SecretFile) -> ValidationError {
    held.fault().with_suggestion("take it out; `plenary review --force` sends it all the same")
}
