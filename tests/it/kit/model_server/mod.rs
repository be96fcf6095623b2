//! A scripted model server over real HTTP.
//!
//! It speaks all three dialects; the path selects one. It records every request, so that tests can
//! check what was sent. It runs on its own thread and stops when dropped.

mod connection;
mod reply_gate;
mod scripted_reply;
mod server;
mod valid_replies;

pub use reply_gate::Gate;
pub use scripted_reply::Play;
pub use server::{ModelServer, OFFERED, Seen};
pub use valid_replies::{fitting, purpose_of};
