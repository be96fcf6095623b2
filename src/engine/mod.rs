//! The only loop: what is the next step, do it, write it down, ask again.
//!
//! A run is a [`Deliberation`]: it owns its transcript, and everything that happens
//! in it is in the journal before anything else follows from it. Resuming is the
//! same function on a transcript that was loaded.

mod batch_admission;
mod budget;
mod call_budget;
mod daily_budget;
mod deliberation;
mod interventions;
mod journal;
mod known;
mod observer;
mod preparing;
mod process_lock;
mod pursue;
mod reading;
mod restate;
mod run_start;
mod steps;
mod writing;

pub use batch_admission::{AdmissionResult, BatchAdmission, CouncilEnd, ExpectedCost};
pub use budget::{Budget, usual_cost_for_bytes, usual_output_tokens, worst_cost_for_bytes};
pub use call_budget::BatchShare;
pub use daily_budget::DailyBudget;
pub use deliberation::{Run, RunContext, RunLimits};
pub use interventions::{
    InterventionWatcher, check_intervention, record_intervention, unknown_seat,
};
pub use journal::JournalWriter;
pub use observer::{NoopObserver, RunObserver};
pub use process_lock::{ProcessLock, is_running};
pub use reading::parse_pending_replies as due_readings;
pub use restate::restate_directive;
pub use run_start::{
    LoadedRun, RunQuestion, SeatTransports, load_run, load_run_state, open_run, resume_run,
};
