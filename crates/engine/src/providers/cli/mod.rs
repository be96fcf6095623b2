//! Models behind agent programs: `claude`, `codex`, `gemini`, or any program that reads a prompt
//! and writes a reply.
//!
//! A known program is a row of a table and a pure parser of its output. [`CliTransport`] runs all
//! of them.

pub(crate) mod output_events;
pub mod outputs;
pub mod program;
#[cfg(test)]
mod tests;
pub mod transport;
