//! `GET /api/events`: the events of dialogues as a stream that a browser resumes by itself.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::http::answer::ApiProblem;
use crate::http::connections::ConnectionState;
use crate::http::event_hub::{EventPlace, HubClient};
use crate::http::router::{ApiState, parse_dialogue, query_pairs};

/// Event streams at the same time; other requests need connections too.
pub(crate) const STREAMS_MAX: usize = 224;

/// Dialogues of one stream.
const STREAM_DIALOGUES_MAX: usize = 32;

/// After this time the browser connects again, so that proxies do not cut a stream unnoticed.
const STREAM_TIME: Duration = Duration::from_secs(300);

const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// A client that takes nothing for this long is dropped.
const SLOW_CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Chunks of events that wait for a client; the others stay in the feed that all clients share.
const WAITING_CHUNKS_MAX: usize = 16;

/// Events are joined up to this size. A client that does not read holds as many bytes as wait for it.
const CHUNK_BYTES_MAX: usize = 16 * 1024;

/// How long a browser waits before it connects again.
const RETRY: Bytes = Bytes::from_static(b"retry: 2000\n\n");

const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// The places of all streams.
#[derive(Debug)]
pub(crate) struct StreamPlaces(Arc<Semaphore>);

impl Default for StreamPlaces {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(STREAMS_MAX)))
    }
}

pub(crate) async fn stream_events(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let (ids, after) = read_wish(&request)?;
    let place = Arc::clone(&state.streams.0).try_acquire_owned().map_err(|_| {
        ApiProblem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many_streams",
            &format!("this server sends {STREAMS_MAX} event streams already"),
            "close a page, then connect again",
        )
    })?;
    let client = state.hub.subscribe(ids, after).await?;
    let (sender, receiver) = mpsc::channel(WAITING_CHUNKS_MAX);
    let connection = request.extensions().get::<Arc<ConnectionState>>().cloned();
    tokio::spawn(send_events(client, EventSink { sender, connection, _place: place }));
    let chunks = stream::unfold(receiver, async |mut receiver| {
        let chunk = receiver.recv().await?;
        Some((Ok::<Bytes, Infallible>(chunk), receiver))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(chunks)).into_response())
}

/// The dialogues of a request, and the last event that its client has.
fn read_wish(request: &Request) -> Result<(Vec<DialogueId>, EventPlace), ApiProblem> {
    let (mut ids, mut after): (Vec<DialogueId>, Option<EventPlace>) = (Vec::new(), None);
    for (name, value) in query_pairs(request) {
        match name.as_str() {
            "dialogue" => {
                let id = parse_dialogue(&value)?;
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            "after" => after = Some(parse_place(&value)?),
            _ => {}
        }
    }
    if ids.len() > STREAM_DIALOGUES_MAX {
        let message = format!("a stream follows at most {STREAM_DIALOGUES_MAX} dialogues");
        let fault = ValidationError::new(ErrorCode::FieldTooLong, message);
        return Err(fault.with_field("dialogue").into());
    }
    // A browser that connects again sends the newest place as a header.
    let known = last_event(request.headers()).map(parse_place).transpose()?;
    Ok((ids, known.or(after).unwrap_or_default()))
}

fn last_event(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get("last-event-id")?.to_str().ok()?;
    (!text.is_empty()).then_some(text)
}

fn parse_place(text: &str) -> Result<EventPlace, ValidationError> {
    EventPlace::parse(text).ok_or_else(|| {
        ValidationError::new(ErrorCode::InvalidType, "the id of an event is `seq.n`")
            .with_field("after")
            .with_value(text)
            .with_suggestion("send the id of the last event, such as 12.0")
    })
}

/// Where the events of one client go.
struct EventSink {
    sender: mpsc::Sender<Bytes>,
    connection: Option<Arc<ConnectionState>>,
    _place: OwnedSemaphorePermit,
}

impl EventSink {
    /// Sends a chunk; returns whether the client is still there. A client that does not read is
    /// cut off.
    async fn send(&self, chunk: Bytes) -> bool {
        match timeout(SLOW_CLIENT_TIMEOUT, self.sender.send(chunk)).await {
            Ok(sent) => sent.is_ok(),
            Err(_) => {
                self.cut_off();
                false
            }
        }
    }

    fn cut_off(&self) {
        if let Some(connection) = &self.connection {
            connection.close_now();
        }
    }
}

/// Joins events into chunks: each chunk is a write to the client.
fn join_events(events: Vec<Bytes>) -> Vec<Bytes> {
    let mut chunks: Vec<Vec<u8>> = Vec::new();
    for event in events {
        match chunks.last_mut().filter(|chunk| chunk.len() + event.len() <= CHUNK_BYTES_MAX) {
            Some(chunk) => chunk.extend_from_slice(&event),
            None => chunks.push(event.to_vec()),
        }
    }
    chunks.into_iter().map(Bytes::from).collect()
}

/// Sends events until the client leaves or the stream has lasted long enough.
async fn send_events(mut client: HubClient, sink: EventSink) {
    let ends_at = Instant::now() + STREAM_TIME;
    if !sink.send(RETRY).await {
        return;
    }
    loop {
        for chunk in join_events(client.take_news()) {
            if !sink.send(chunk).await {
                return;
            }
        }
        tokio::select! {
            () = client.wait_for_news() => {}
            () = sink.sender.closed() => return,
            () = sleep(KEEP_ALIVE_INTERVAL) => if !sink.send(KEEP_ALIVE).await { return },
            () = sleep_until(ends_at) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_events_are_the_same_bytes_in_chunks_of_a_limited_size() {
        let sizes = [1, 5_000, 9_000, 3_000, CHUNK_BYTES_MAX + 1, 2, 2, CHUNK_BYTES_MAX];
        let events: Vec<Bytes> = (0_u8..)
            .zip(sizes)
            .map(|(number, size)| Bytes::from(vec![b'a' + number; size]))
            .collect();
        let chunks = join_events(events.clone());
        assert_eq!(chunks.concat(), events.concat());
        let lengths: Vec<usize> = chunks.iter().map(Bytes::len).collect();
        assert_eq!(lengths, [14_001, 3_000, CHUNK_BYTES_MAX + 1, 4, CHUNK_BYTES_MAX]);
        assert!(join_events(Vec::new()).is_empty());
    }
}
