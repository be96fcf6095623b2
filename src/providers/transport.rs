//! The ways to reach a model, behind one call.

use super::http::HttpTransport;
use super::request::{CallError, Received, Request};
use crate::domain::ask::TransportKind;

#[derive(Debug)]
pub enum Transport {
    Http(HttpTransport),
}

impl Transport {
    pub fn kind(&self) -> TransportKind {
        match self {
            Self::Http(_) => TransportKind::Http,
        }
    }

    /// One call. Nothing is retried and nothing is written down here.
    pub async fn send(&self, request: &Request) -> Result<Received, CallError> {
        match self {
            Self::Http(transport) => transport.send(request).await,
        }
    }
}
