//! SQLite backend: one file, write-ahead log, durable commits.

pub mod apply;
pub mod compare;
pub mod conclusions;
#[cfg(test)]
mod conclusions_tests;
pub mod connect;
pub mod ethos;
mod journal;
pub mod load;
pub mod lookup;
pub mod queries;
#[cfg(test)]
mod query_plan_tests;
pub mod statements;
pub mod store;
pub mod verdict_log;
pub mod verify;
