//! Tests with clients that are silent, slow or without a token, and one that has the token.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use plenary_core::protocols::protocol::Protocols;
use plenary_engine::app::project::SettingsLoader;
use plenary_engine::app::run_server::RunServer;
use plenary_engine::config::locate::ConfigFlags;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

use super::*;
use crate::http::admission::{PublicAddress, ServedNames};
use crate::http::server::{HttpServer, ListenAddress};
use crate::http::tls::read_tls;

/// Never reached in a test.
const LONG: Duration = Duration::from_secs(3_600);

/// Short enough to wait for in a test.
const SHORT: Duration = Duration::from_millis(100);

/// A test that waits longer has hung.
const HUNG: Duration = Duration::from_secs(60);

const LONG_LIMITS: HttpLimits = HttpLimits {
    connections_max: 8,
    admission_timeout: LONG,
    head_timeout: LONG,
    body_timeout: LONG,
};

fn serve_mcp(run_server: Arc<RunServer>, names: &ServedNames, limits: HttpLimits) -> Router {
    let (hosts, origins) = (names.hosts.clone(), names.origins.clone());
    crate::mcp::http::mcp_router(run_server, hosts, origins, limits.body_timeout)
}

/// A server on a free port, stopped on drop.
struct TestServer {
    address: SocketAddr,
    token: String,
    _stop: oneshot::Sender<()>,
    _folder: tempfile::TempDir,
}

impl TestServer {
    async fn start_with(limits: HttpLimits) -> Self {
        Self::start_on(ListenAddress::loopback(IpAddr::V4(Ipv4Addr::LOCALHOST), 0), limits).await
    }

    #[expect(clippy::disallowed_methods, reason = "the token is read as a client reads it")]
    async fn start_on(address: ListenAddress, limits: HttpLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Some(folder.path().join("plenary.db").to_string_lossy().into_owned());
        let loader = SettingsLoader::new(
            ConfigFlags { store, ..ConfigFlags::default() },
            Protocols::built_in(),
        );
        let run_server = RunServer::new(loader, |_| {});
        let listening = HttpServer::bind(run_server, &address, limits, serve_mcp).await.unwrap();
        let (address, path): (SocketAddr, PathBuf) =
            (listening.address, listening.token_path.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(listening.serve_until(async move { drop(stopped.await) }));
        let token = std::fs::read_to_string(path).unwrap();
        Self { address, token, _stop: stop, _folder: folder }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends the head of a request with the token.
    async fn send_head(&self, stream: &mut TcpStream, request: &str, headers: &str) {
        let head = format!(
            "{request} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {headers}\r\n",
            self.address, self.token
        );
        stream.write_all(head.as_bytes()).await.unwrap();
    }

    /// Opens a session on one connection and its event stream on another.
    async fn open_stream(&self) -> TcpStream {
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
        let mut first = self.connect().await;
        let length = format!("Connection: close\r\nContent-Length: {}\r\n", hello.len());
        self.send_head(&mut first, "POST /mcp", &length).await;
        first.write_all(hello.as_bytes()).await.unwrap();
        let head = read_until(&mut first, "\r\n\r\n").await;
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session =
            format!("Mcp-Session-Id: {}\r\n", session.unwrap_or_else(|| panic!("{head}")));
        let mut stream = self.connect().await;
        self.send_head(&mut stream, "GET /mcp", &session).await;
        let head = read_until(&mut stream, "\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        stream
    }

    /// The response to a request on a kept-alive connection.
    async fn request_response(&self, stream: &mut TcpStream) -> String {
        self.send_head(stream, "GET /nothing", "").await;
        read_until(stream, "\r\n\r\n").await
    }
}

async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut read = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&read).contains(end) {
            if stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
                break;
            }
        }
    };
    timeout(HUNG, reading).await.expect("nothing comes");
    String::from_utf8(read).unwrap()
}

/// Waits until the server closes the connection.
async fn wait_for_end(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    // A reset counts as closed.
    let _ = timeout(HUNG, stream.read_to_end(&mut rest)).await.expect("it stays open");
}

/// Whether the connection is still open.
fn is_open(stream: &TcpStream) -> bool {
    let mut byte = [0; 1];
    matches!(stream.try_read(&mut byte), Ok(1..))
        || stream.try_read(&mut byte).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

#[tokio::test]
async fn a_client_without_the_token_is_closed_in_time_and_a_stream_of_events_is_not() {
    let served =
        TestServer::start_with(HttpLimits { admission_timeout: SHORT, ..LONG_LIMITS }).await;
    let stream = served.open_stream().await;
    let mut silent = served.connect().await;
    let mut slow = served.connect().await;
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127").await.unwrap();
    wait_for_end(&mut silent).await;
    wait_for_end(&mut slow).await;
    assert!(is_open(&stream));
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection_with_the_token_too() {
    let served = TestServer::start_with(HttpLimits { head_timeout: SHORT, ..LONG_LIMITS }).await;
    let mut kept = served.connect().await;
    assert!(served.request_response(&mut kept).await.starts_with("HTTP/1.1 404"));
    kept.write_all(b"POST /mcp HTTP/1.1\r\nHo").await.unwrap();
    wait_for_end(&mut kept).await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_answered_with_a_timeout() {
    let served = TestServer::start_with(HttpLimits { body_timeout: SHORT, ..LONG_LIMITS }).await;
    let mut slow = served.connect().await;
    served.send_head(&mut slow, "POST /mcp", "Content-Length: 1000\r\n").await;
    slow.write_all(b"{\"jsonrpc\"").await.unwrap();
    assert!(read_until(&mut slow, "\r\n\r\n").await.starts_with("HTTP/1.1 408"));
    wait_for_end(&mut slow).await;
}

#[tokio::test]
async fn a_crowd_without_the_token_makes_room_for_a_client_that_has_it() {
    let served = TestServer::start_with(LONG_LIMITS).await;
    let stream = served.open_stream().await;
    let mut crowd = Vec::new();
    for place in 0..60 {
        let mut idle = served.connect().await;
        if place % 2 == 0 {
            idle.write_all(b"GET /mcp HTTP/1.1\r\nX-Slow: ").await.unwrap();
        }
        crowd.push(idle);
    }
    let mut owner = served.connect().await;
    assert!(served.request_response(&mut owner).await.starts_with("HTTP/1.1 404"));
    for oldest in &mut crowd[..40] {
        wait_for_end(oldest).await;
    }
    assert!(is_open(&stream), "a client with the token keeps its place");
    assert!(served.request_response(&mut owner).await.starts_with("HTTP/1.1 404"));
}

#[tokio::test]
async fn a_refused_request_ends_its_connection() {
    let served = TestServer::start_with(LONG_LIMITS).await;
    let mut stranger = served.connect().await;
    let head = format!("GET /mcp HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
    stranger.write_all(head.as_bytes()).await.unwrap();
    assert!(read_until(&mut stranger, "\r\n\r\n").await.starts_with("HTTP/1.1 401"));
    wait_for_end(&mut stranger).await;
}

#[tokio::test]
async fn when_all_places_belong_to_clients_with_the_token_the_next_is_told() {
    let served = TestServer::start_with(HttpLimits { connections_max: 2, ..LONG_LIMITS }).await;
    let mut owners = [served.connect().await, served.connect().await];
    for owner in &mut owners {
        assert!(served.request_response(owner).await.starts_with("HTTP/1.1 404"));
    }
    let mut next = served.connect().await;
    let result = read_until(&mut next, "in use now").await;
    assert!(result.starts_with("HTTP/1.1 503"), "{result}");
    let body = result.split_once("\r\n\r\n").map(|(_, body)| body.len());
    assert!(result.contains(&format!("Content-Length: {}", body.unwrap())), "{result}");
    drop(owners);
    let answered = async {
        loop {
            let mut again = served.connect().await;
            if served.request_response(&mut again).await.starts_with("HTTP/1.1 404") {
                return;
            }
        }
    };
    timeout(HUNG, answered).await.expect("a place that became free is not given");
}

#[test]
fn connections_leave_most_files_to_runs() {
    let places = |files| HttpLimits::with_files(files).connections_max;
    assert_eq!([2, 256, 1_024, 1 << 20].map(places), [1, 64, 256, 256]);
}

#[tokio::test]
async fn a_server_with_a_certificate_speaks_tls_and_nothing_else() {
    let fixture = |name: &str| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/tls")).join(name)
    };
    let tls = read_tls(&fixture("cert.pem"), &fixture("key.pem")).unwrap();
    let public = PublicAddress::parse("https://plenary.test");
    let loopback = ListenAddress::loopback(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let address = ListenAddress { public, tls: Some(tls), ..loopback };
    let server = TestServer::start_on(address, LONG_LIMITS).await;
    let request = "GET /api/health HTTP/1.1\r\nHost: plenary.test\r\n\r\n";
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("cert.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "plenary.test".try_into().unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let mut stream = connector.connect(name, server.connect().await).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 15];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 200 OK");
    // A client that speaks plain HTTP gets no answer in HTTP.
    let mut plain = server.connect().await;
    plain.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    // A file without a key is refused by its name.
    let refusal = read_tls(&fixture("cert.pem"), &fixture("cert.pem")).unwrap_err();
    assert!(refusal.to_string().contains("cert.pem"), "{refusal}");
}
