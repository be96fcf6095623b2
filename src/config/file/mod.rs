//! `council.yaml` as written: one type per section, each value with its line.
//!
//! Reading checks types, ranges and what one section can check alone. Checks that depend on the
//! environment or another section follow when `load` builds the settings.

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
