//! Wire formats of model servers: each builds a request and parses a reply, both pure. Called by
//! `HttpTransport`.

mod anthropic;
mod gemini;
mod openai;
mod schema;
mod wire;

pub(super) use wire::{
    WireRequest, adapt_schema, build_models_request, build_request, parse_models, parse_reply,
};
