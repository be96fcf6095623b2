//! Runs of this process, for every interface: prepare, start, drive, follow and resume them.

mod prepare_run;
mod review_input;
mod run_engine;
mod run_server;
mod run_status;
mod start_run;

pub use prepare_run::{
    RestateOutcome, check_question, council_settings, lower_limits, prepare_council,
    prepare_review, restate_directive, review_settings,
};
pub use review_input::{ReviewInput, ReviewOverrides, SecretFile, SkipReason, SkippedFile};
pub use run_engine::RunEngine;
pub use run_server::{RunServer, RunSlot, run_blocking};
pub use run_status::{FOLLOW_INTERVAL, RunFollower, RunProgress, RunReport, RunStatus, report_run};
pub use start_run::{PreparedRun, ResumePlan, RunStart, StartedRun, start_run};
