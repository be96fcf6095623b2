//! Models behind agent programs: `claude`, `codex`, `gemini`, or any program that reads a prompt
//! and writes a reply.
//!
//! Each program has two pure functions: build the invocation, parse the output. [`CliTransport`]
//! runs all of them.

mod claude;
mod codex;
mod failure;
mod gemini;
mod plain;
mod program;
#[cfg(test)]
mod tests;
mod transport;

pub use program::AgentProgram;
pub use transport::CliTransport;
