//! Connections of `serve`: their limits and timeouts, and which one is closed when there are too
//! many.
//!
//! **Invariant:** clients without the token cannot keep out a client that has it. Such a connection
//! is closed after a short time, or earlier when another needs its slot.

use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;

/// Maximum of open connections. A client needs a few: one for events, one per waiting call.
const CONNECTIONS_MAX: usize = 256;

/// Connections get one in this many file descriptors; runs and the store need the others.
const DESCRIPTOR_SHARE: u64 = 4;

/// Time from the start of a connection to a request with the token. Clients are local and send at
/// once.
const ADMISSION_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for the head of a request, including the idle time before it on a kept-alive connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Time for the body of a request: at most 16 MiB from a local client.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause after an error that affects all connections, such as no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Time for open connections to finish when the server stops. An event stream never finishes by
/// itself.
const CONNECTION_DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Response to a client when all connections are in use.
const BUSY_RESPONSE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\
    Retry-After: 1\r\nContent-Length: 30\r\n\r\nall connections are in use now";

/// Limits of the HTTP server; tests set smaller ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HttpLimits {
    pub connections_max: usize,
    pub admission_timeout: Duration,
    pub head_timeout: Duration,
    pub body_timeout: Duration,
}

impl HttpLimits {
    /// The limits for this process, from its file descriptor limit.
    pub(crate) fn of_process() -> Self {
        let files_max = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self::with_files(files_max)
    }

    fn with_files(files_max: u64) -> Self {
        let share = usize::try_from(files_max / DESCRIPTOR_SHARE).unwrap_or(usize::MAX);
        Self {
            connections_max: share.clamp(1, CONNECTIONS_MAX),
            admission_timeout: ADMISSION_TIMEOUT,
            head_timeout: HEAD_TIMEOUT,
            body_timeout: BODY_TIMEOUT,
        }
    }
}

/// State of a connection, shared with its requests.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    is_admitted: AtomicBool,
    /// Signalled when another connection needs the slot.
    close: Notify,
}

impl ConnectionState {
    /// Marks the connection after a request with the token, so that it is not closed for others.
    pub(crate) fn mark_admitted(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }

    /// Closes the connection at once, for a client that does not read.
    pub(crate) fn close_now(&self) {
        self.close.notify_one();
    }
}

/// The open connections, oldest first.
#[derive(Debug, Default)]
struct ConnectionTable {
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    states: BTreeMap<u64, Arc<ConnectionState>>,
}

/// A slot in the table; dropping it frees the slot.
#[derive(Debug)]
struct ConnectionGuard {
    table: Arc<ConnectionTable>,
    number: u64,
    state: Arc<ConnectionState>,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.table.lock().states.remove(&self.number);
    }
}

impl ConnectionTable {
    /// Takes a slot for a new connection. If all are in use, closes the oldest connection without
    /// the token.
    fn add_connection(self: &Arc<Self>, connections_max: usize) -> Option<ConnectionGuard> {
        let mut open = self.lock();
        if open.states.len() >= connections_max && !open.close_oldest() {
            return None;
        }
        let (number, state) = (open.next, Arc::new(ConnectionState::default()));
        open.next += 1;
        open.states.insert(number, Arc::clone(&state));
        Some(ConnectionGuard { table: Arc::clone(self), number, state })
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    /// Closes the oldest connection without the token; returns whether there was one.
    fn close_oldest(&mut self) -> bool {
        let oldest = self.states.iter().find(|(_, state)| !state.is_admitted());
        let Some(number) = oldest.map(|(number, _)| *number) else { return false };
        if let Some(state) = self.states.remove(&number) {
            state.close.notify_one();
        }
        true
    }
}

/// Serves connections until `stop`, then waits a short time for the open ones.
pub(crate) async fn serve_connections(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    router: Router,
    limits: HttpLimits,
    stop: impl Future<Output = ()>,
) {
    let table = Arc::new(ConnectionTable::default());
    let (stopping, is_stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, _)) => match table.add_connection(limits.connections_max) {
                Some(place) => {
                    let router = router.clone().layer(Extension(Arc::clone(&place.state)));
                    let is_stopping = is_stopping.clone();
                    let served =
                        accept_connection(stream, tls.clone(), router, place, limits, is_stopping);
                    connections.spawn(served);
                }
                None => refuse_connection(&stream),
            },
            Err(error) if is_connection_error(&error) => {}
            Err(_) => {
                // No file descriptor is free, so close a client without the token.
                table.lock().close_oldest();
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    stopping.send_replace(true);
    let _ = timeout(CONNECTION_DRAIN_TIMEOUT, async {
        while connections.join_next().await.is_some() {}
    })
    .await;
}

/// Whether an `accept` error concerns only this one connection.
fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// Sends the busy response, as far as possible without waiting.
fn refuse_connection(stream: &TcpStream) {
    // If the response cannot be written, the client still sees the connection close.
    let _ = stream.try_write(BUSY_RESPONSE);
}

/// Speaks TLS first, if the server has a certificate. A client that is slow at that is closed like
/// one without the token.
async fn accept_connection(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    router: Router,
    place: ConnectionGuard,
    limits: HttpLimits,
    is_stopping: watch::Receiver<bool>,
) {
    let Some(config) = tls else {
        return serve_connection(stream, router, place, limits, is_stopping).await;
    };
    let handshake = TlsAcceptor::from(config).accept(stream);
    let secured = tokio::select! {
        secured = timeout(limits.admission_timeout, handshake) => secured,
        () = place.state.close.notified() => return,
    };
    if let Ok(Ok(stream)) = secured {
        serve_connection(stream, router, place, limits, is_stopping).await;
    }
}

async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    place: ConnectionGuard,
    limits: HttpLimits,
    mut is_stopping: watch::Receiver<bool>,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let admission_ends = Instant::now() + limits.admission_timeout;
    let (mut is_ending, mut is_admission_over) = (false, false);
    loop {
        tokio::select! {
            // The client caused the error or notices it itself.
            _ = connection.as_mut() => return,
            () = place.state.close.notified() => return,
            () = sleep_until(admission_ends), if !is_admission_over => {
                if !place.state.is_admitted() {
                    return;
                }
                is_admission_over = true;
            }
            _ = is_stopping.wait_for(|is_so| *is_so), if !is_ending => {
                is_ending = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
