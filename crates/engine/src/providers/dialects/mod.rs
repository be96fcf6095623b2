//! Wire formats of model servers: each builds a request and parses a reply, both pure. Called by
//! `HttpTransport`.

pub mod anthropic;
#[cfg(test)]
mod effort_tests;
pub mod gemini;
pub mod openai;
pub mod schema;
pub mod stream;
pub mod wire;
