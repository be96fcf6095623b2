//! The wire formats: each is a translation of a request and one of a reply, both pure.

mod anthropic;
mod gemini;
mod openai;
mod schema;
mod wire;

pub(super) use wire::{WireRequest, models, models_request, reply, request, suited_schema};
