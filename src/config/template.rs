//! The file that `init` writes.

/// Every setting with its default and a word about it.
pub const TEMPLATE: &str = include_str!("../../templates/council.yaml");
