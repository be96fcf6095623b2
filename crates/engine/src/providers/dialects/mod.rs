//! Wire formats of model servers: each builds a request and parses a reply, both pure. Called by
//! `HttpTransport`.

pub mod anthropic;
pub mod gemini;
pub mod openai;
pub mod schema;
pub mod wire;
