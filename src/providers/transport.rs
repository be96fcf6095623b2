//! stub
use super::request::{CallError, Received, Request};
use crate::domain::ask::TransportKind;
#[derive(Debug)]
pub enum Transport {
    Stub,
}
impl Transport {
    pub fn kind(&self) -> TransportKind {
        TransportKind::Http
    }
    pub async fn send(&self, _r: &Request) -> Result<Received, CallError> {
        Err(CallError::new(crate::domain::ask::ErrorType::Unknown, "stub"))
    }
}
