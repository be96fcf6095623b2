//! Models behind agent programs: `claude`, `codex`, `gemini`, or any program that
//! reads a prompt and writes a reply.
//!
//! A program is two pure functions, as a dialect is: how it is called, and what its
//! output means. Running it is the same for all.

mod claude;
mod codex;
mod failure;
mod gemini;
mod plain;
mod program;
#[cfg(test)]
mod tests;
mod transport;

pub use program::Program;
pub use transport::CliTransport;
