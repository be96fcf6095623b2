//! SQLite backend: one file, write-ahead log, durable commits.

mod apply;
mod catalogue;
mod columns;
mod compare;
mod connect;
mod endings;
mod facts;
mod journal;
mod load;
mod migrate;
mod schema;
mod search_index;
mod show;
mod statements;
mod store;
mod verdict_log;
mod verify;

pub use store::SqliteStore;

#[cfg(test)]
mod endings_tests;
#[cfg(test)]
mod plan_tests;
