//! Plenary without a user interface: everything that reads a file, a clock or a socket.
//!
//! `app` has one function per use case and is what the interfaces call. It uses `config`, the run
//! loop in `engine`, the model `providers` and the `store`.

pub mod app;
pub mod clock;
pub mod config;
pub mod context_files;
pub mod engine;
pub mod error;
mod error_hints;
pub mod files;
pub mod providers;
pub mod store;
pub mod verdict_log;
