//! The tests' model server, of which only the documents are wanted here: what fits a council.

#[path = "../../tests/it/kit/model_server/connection.rs"]
mod connection;
#[path = "../../tests/it/kit/model_server/council.rs"]
mod council;
#[path = "../../tests/it/kit/model_server/gate.rs"]
mod gate;
#[path = "../../tests/it/kit/model_server/play.rs"]
mod play;
#[path = "../../tests/it/kit/model_server/server.rs"]
mod server;

pub(crate) use play::{Answer, Play};
pub(crate) use server::Seen;
