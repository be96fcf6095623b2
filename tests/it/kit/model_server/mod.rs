//! A scripted model server over real HTTP.
//!
//! It speaks all three dialects; the path selects one. It records every request, so that tests can
//! check what was sent. It runs on its own thread and stops when dropped.

pub use reply_gate::ReplyGate;
pub use scripted_reply::ScriptedReply;
pub use server::MODEL_NAMES;
pub use server::ModelRequest;
pub use server::ModelServer;
pub use streamed_reply::StreamFault;
pub use valid_replies::purpose_of;
pub use valid_replies::valid_reply;

mod connection;
mod reply_gate;
mod scripted_reply;
mod server;
mod streamed_reply;
mod valid_replies;
