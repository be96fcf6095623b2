//! [`ActiveIds`]: ids of unanswered requests. A duplicate is rejected until the first is answered.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId};

/// The set of active ids.
#[derive(Debug)]
pub(super) struct ActiveIds<K>(Mutex<HashSet<K>>);

impl<K> Default for ActiveIds<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> ActiveIds<K> {
    /// Adds an id; returns false if it is already active.
    pub(super) fn try_insert(&self, key: K) -> bool {
        self.lock().insert(key)
    }

    pub(super) fn release_id(&self, key: &K) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of a request.
pub(super) fn request_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        JsonRpcMessage::Response(_)
        | JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Error(_) => None,
    }
}

/// The id that a cancellation names; that request gets no answer.
pub(super) fn cancelled_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    let JsonRpcMessage::Notification(note) = message else { return None };
    let ClientNotification::CancelledNotification(cancelled) = &note.notification else {
        return None;
    };
    cancelled.params.request_id.as_ref()
}
