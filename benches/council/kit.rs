//! Includes the tests' model server and its valid replies.

pub(crate) use scripted_reply::ScriptedReply;
pub(crate) use scripted_reply::ServerAction;
pub(crate) use server::{ModelRequest, ModelServer};

#[path = "../../tests/it/kit/model_server/connection.rs"]
mod connection;
#[path = "../../tests/it/kit/model_server/reply_gate.rs"]
mod reply_gate;
#[path = "../../tests/it/kit/model_server/scripted_reply.rs"]
mod scripted_reply;
#[path = "../../tests/it/kit/model_server/server.rs"]
mod server;
#[path = "../../tests/it/kit/model_server/streamed_reply.rs"]
mod streamed_reply;
#[path = "../../tests/it/kit/model_server/valid_replies.rs"]
mod valid_replies;
