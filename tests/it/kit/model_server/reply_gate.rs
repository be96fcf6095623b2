//! Replies that wait until a test releases them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Closed until `open` is called; clones share the state.
#[derive(Debug, Clone, Default)]
pub struct ReplyGate(Arc<AtomicBool>);

impl ReplyGate {
    pub fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub async fn wait_open(&self) {
        while !self.0.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}
