//! From settings and options to a plan: the seats, how each is reached, by which rules they argue.

mod estimate;
mod panel_setup;
mod review_panel;
mod transports;

pub use estimate::{Estimate, RoundEstimate, estimate, expected_cost, least_tokens};
pub use panel_setup::{
    AskOptions, PanelSetup, PlanningError, RehearsalChoice, ending, ending_alone,
};
pub use review_panel::{ReviewPanel, is_judged_whole, secret_guard};
pub use transports::{TransportFactory, reconnect};
