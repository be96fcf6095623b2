//! `council.yaml` as it was written: a type per section, each value with its line.
//!
//! Reading checks shapes and ranges, and what one section can know of itself. What
//! depends on the environment or on another section is checked when settings are made.

mod council;
mod document;
mod provider;
mod review;
mod tiers;

pub use council::TransportChoice;
pub use tiers::{TierRule, is_artifact_type};

pub(super) use council::CouncilSection;
pub(super) use document::{
    AlignmentSection, BudgetSection, ConclusionSection, CouncilFile, USD_MAX, read_alignment,
    read_log_path, read_storage,
};
pub(super) use provider::ProviderEntry;
pub(super) use review::{DeliberatorEntry, ReviewSection};
