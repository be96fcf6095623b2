//! Template of the file that `init` writes.

/// Every setting with its default and an explanation.
pub const COUNCIL_TEMPLATE: &str = include_str!("../../templates/council.yaml");
