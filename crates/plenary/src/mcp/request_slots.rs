//! [`RequestSlots`]: limits the concurrent requests of one client.
//!
//! Quick requests share a few slots. When all are in use, the reader waits until an answer is
//! written, so a client that never reads uses little memory. A call that waits for a run can take
//! an hour. It uses a separate kind of slot, because the client must be able to cancel it: when
//! those are used up, the call is refused and reading continues.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, JsonRpcMessage,
    RequestId,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::mcp::tools::table::{RunTool, TOOLS, Work};

/// More would not be faster: the store has one writer, and an answer can have megabytes.
const QUICK_SLOTS_MAX: usize = 16;

/// Four times the maximum number of runs.
pub(crate) const WAITING_MAX: usize = 128;

/// A slot, in use until the request's handler has ended and its answer is written.
#[derive(Debug, Clone)]
pub(crate) struct RequestSlot {
    _permit: Arc<OwnedSemaphorePermit>,
}

/// The slots of one client.
#[derive(Debug)]
pub(crate) struct RequestSlots {
    quick: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// Slots of unanswered requests.
    unanswered: Mutex<HashMap<RequestId, RequestSlot>>,
}

impl Default for RequestSlots {
    fn default() -> Self {
        Self {
            quick: Arc::new(Semaphore::new(QUICK_SLOTS_MAX)),
            waiting: Arc::new(Semaphore::new(WAITING_MAX)),
            unanswered: Mutex::default(),
        }
    }
}

impl RequestSlots {
    /// Takes a slot for the message. Waits for a quick slot; does not wait for a waiting slot.
    pub(crate) async fn take_slot(&self, message: &ClientJsonRpcMessage) -> SlotResult {
        let JsonRpcMessage::Request(request) = message else { return SlotResult::NotNeeded };
        let permit = match may_wait(&request.request) {
            true => Arc::clone(&self.waiting).try_acquire_owned().ok(),
            // Cannot fail: the semaphore is never closed.
            false => Arc::clone(&self.quick).acquire_owned().await.ok(),
        };
        match permit {
            Some(permit) => SlotResult::Taken(RequestSlot { _permit: Arc::new(permit) }),
            None => SlotResult::NoneLeft,
        }
    }

    /// Ties the slot to the request: to its handler, and to this table until it is answered.
    pub(crate) fn attach_slot(&self, message: &mut ClientJsonRpcMessage, slot: RequestSlot) {
        let JsonRpcMessage::Request(request) = message else { return };
        request.request.extensions_mut().insert(slot.clone());
        self.lock().insert(request.id.clone(), slot);
    }

    /// Removes the slot of a request that is answered or will never be.
    pub(crate) fn detach_slot(&self, id: &RequestId) -> Option<RequestSlot> {
        self.lock().remove(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, RequestSlot>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Result of taking a slot.
#[derive(Debug)]
pub(crate) enum SlotResult {
    Taken(RequestSlot),
    NotNeeded,
    NoneLeft,
}

/// Whether a request can wait for a run or a model.
fn may_wait(request: &ClientRequest) -> bool {
    let ClientRequest::CallToolRequest(call) = request else { return false };
    let tool = TOOLS.iter().find(|tool| tool.name == call.params.name);
    match tool.map(|tool| tool.work) {
        Some(Work::Run(RunTool::Intervene)) => true,
        Some(Work::Run(RunTool::Align | RunTool::Ask | RunTool::Review | RunTool::Status)) => {
            let arguments = call.params.arguments.as_ref();
            let wait = arguments.and_then(|arguments| arguments.get("wait_seconds"));
            wait.is_some_and(|wait| wait.as_u64() != Some(0) && !wait.is_null())
        }
        Some(Work::Look(_) | Work::Add(_) | Work::Replace(_) | Work::Open(_)) | None => false,
    }
}

/// The set of active ids.
#[derive(Debug)]
pub(crate) struct ActiveIds<K>(Mutex<HashSet<K>>);

impl<K> Default for ActiveIds<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> ActiveIds<K> {
    /// Adds an id; returns false if it is already active.
    pub(crate) fn try_insert(&self, key: K) -> bool {
        self.lock().insert(key)
    }

    pub(crate) fn release_id(&self, key: &K) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of a request.
pub(crate) fn request_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        JsonRpcMessage::Response(_)
        | JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Error(_) => None,
    }
}

/// The id that a cancellation names; that request gets no answer.
pub(crate) fn cancelled_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    let JsonRpcMessage::Notification(note) = message else { return None };
    let ClientNotification::CancelledNotification(cancelled) = &note.notification else {
        return None;
    };
    cancelled.params.request_id.as_ref()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn call(id: u32, tool: &str, arguments: &Value) -> ClientJsonRpcMessage {
        let params = json!({ "name": tool, "arguments": arguments });
        let message =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        serde_json::from_value(message).unwrap()
    }

    #[test]
    fn what_waits_for_a_run_is_told_from_what_ends_by_itself() {
        for (tool, arguments, expected) in [
            ("council_ask", json!({ "question": "Tea?" }), false),
            ("council_ask", json!({ "question": "Tea?", "wait_seconds": 0 }), false),
            ("council_ask", json!({ "question": "Tea?", "wait_seconds": 1 }), true),
            ("council_review", json!({ "wait_seconds": 3600 }), true),
            ("deliberation_status", json!({ "wait_seconds": "60" }), true),
            ("deliberation_intervene", json!({}), true),
            ("blue_dialogue_search", json!({ "wait_seconds": 5 }), false),
            ("no_such_tool", json!({ "wait_seconds": 5 }), false),
        ] {
            let message = call(1, tool, &arguments);
            let JsonRpcMessage::Request(request) = &message else { panic!("{message:?}") };
            assert_eq!(may_wait(&request.request), expected, "{tool} {arguments}");
        }
    }

    #[tokio::test]
    async fn a_slot_is_free_when_the_handler_has_ended_and_the_answer_is_written() {
        let slots = RequestSlots::default();
        let mut message = call(7, "council_ask", &json!({ "wait_seconds": 9 }));
        let SlotResult::Taken(slot) = slots.take_slot(&message).await else {
            panic!("none is taken")
        };
        slots.attach_slot(&mut message, slot);
        let free = || slots.waiting.available_permits();
        let answered = slots.detach_slot(&RequestId::Number(7)).unwrap();
        assert_eq!(free(), WAITING_MAX - 1);
        drop(answered);
        assert_eq!(free(), WAITING_MAX - 1, "its handler still runs");
        drop(message);
        assert_eq!(free(), WAITING_MAX);
    }

    #[tokio::test]
    async fn calls_that_wait_are_refused_when_there_are_too_many_and_others_are_not() {
        let slots = RequestSlots::default();
        let waiting = call(1, "deliberation_status", &json!({ "wait_seconds": 60 }));
        let mut held = Vec::new();
        for _ in 0..WAITING_MAX {
            held.push(slots.take_slot(&waiting).await);
        }
        assert!(matches!(slots.take_slot(&waiting).await, SlotResult::NoneLeft));
        let quick = call(2, "deliberation_status", &json!({}));
        assert!(matches!(slots.take_slot(&quick).await, SlotResult::Taken(_)));
    }
}
