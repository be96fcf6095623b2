//! From settings and options to a plan: the seats, how each is reached, by which rules they argue.

mod estimate;
mod panel_setup;
mod review_panel;
mod transports;

pub use estimate::{CostEstimate, RoundEstimate, estimate_cost, expected_cost, least_tokens};
pub use panel_setup::{
    AskOptions, PanelSetup, PlanningError, RehearsalChoice, plan_conclusion, plan_conclusion_run,
};
pub use review_panel::{ReviewPanel, is_judged_whole, secret_guard};
pub use transports::{TransportFactory, reconnect_seats};
