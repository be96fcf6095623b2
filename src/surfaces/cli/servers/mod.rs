//! Commands that open another door and keep it open.

pub(super) mod mcp;
pub(super) mod serve;
mod standing;
