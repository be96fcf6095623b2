//! Commands that open another door and keep it open.

mod lifetime;
pub(super) mod mcp;
pub(super) mod serve;
