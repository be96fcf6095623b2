//! Models behind agent programs: `claude`, `codex`, `gemini`, or any program that reads a prompt
//! and writes a reply.
//!
//! Each program has two pure functions: build the invocation, parse the output. [`CliTransport`]
//! runs all of them.

pub mod claude;
pub mod codex;
pub mod gemini;
pub mod program;
#[cfg(test)]
mod tests;
pub mod transport;
