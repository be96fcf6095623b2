//! A scripted model server over real HTTP.
//!
//! It speaks all three dialects; the path selects one. It records every request, so that tests can
//! check what was sent. It runs on its own thread and stops when dropped.

mod connection;
mod reply_gate;
mod scripted_reply;
mod server;
mod valid_replies;

pub use reply_gate::ReplyGate;
pub use scripted_reply::ScriptedReply;
pub use server::{MODEL_NAMES, ModelRequest, ModelServer};
pub use valid_replies::{purpose_of, valid_reply};
