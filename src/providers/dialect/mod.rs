//! Wire formats of model servers: each builds a request and parses a reply, both pure. Called by
//! `HttpTransport`.

mod anthropic;
mod gemini;
mod openai;
mod schema;
mod wire;

pub(super) use wire::{WireRequest, models, models_request, reply, request, suited_schema};
