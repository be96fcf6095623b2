//! A model server that plays by a script, over real HTTP.
//!
//! It speaks all three dialects; the path tells which. Whatever it was asked is kept, so
//! that a test can look at what was sent. It lives on a thread of its own and ends when
//! it is dropped.

mod connection;
mod council;
mod gate;
mod play;
mod server;

pub use council::{fitting, purpose_of};
pub use gate::Gate;
pub use play::Play;
pub use server::{ModelServer, OFFERED, Seen};
