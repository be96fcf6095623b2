//! The JSON document of a council (`ask --json`).
//!
//! It is computed from the run state alone, so a run, its resumption and its replay give the same
//! document.

mod document;
mod events;
mod health;
mod metrics;
mod rounds;
mod stop;
mod transparency;

pub use document::{Deliberated, document};
pub use events::{AdjudicationSeen, AskSeen, Event, JudgementSeen, Look, SeatSeen, events};
pub use health::{Health, Panel, is_cut_short, truncation_words, warnings};
pub(crate) use health::{of_family, of_replies, unpriced};
pub(crate) use metrics::metrics;
pub use metrics::{Metrics, cost_usd};
pub use stop::{Status, Stopped, status, stopped};
pub use transparency::Transparency;
pub(crate) use transparency::transparency;
