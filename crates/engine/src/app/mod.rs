//! Runs of this process, for every interface: prepare, start, drive, follow and resume them.

pub mod agent_check;
pub mod checks;
pub mod dialogues;
pub mod doctor;
pub mod export_record;
pub mod planning;
pub mod prepare_run;
pub mod project;
pub mod queries;
pub mod review_input;
pub mod round_context;
pub mod rounds;
pub mod run_engine;
pub mod run_server;
pub mod run_status;
pub mod start_run;
pub mod sweep;
pub mod verdict_log;
