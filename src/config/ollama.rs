//! Asks an Ollama server on this machine for its installed models.
//!
//! Uses a plain socket and a short timeout, because commands ask at their start and usually no
//! server answers.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::environment::EnvVariables;

const PORT_DEFAULT: u16 = 11434;

/// Limit for connecting, asking and reading together.
const QUERY_TIME_MAX: Duration = Duration::from_millis(300);

/// A list of a hundred models has about fifty kilobytes.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// Returns the server's URL from `OLLAMA_HOST`, read as Ollama's own programs do, else the default.
/// `None` if it is not plain HTTP.
pub(super) fn server_url(environment: &EnvVariables) -> Option<String> {
    let host = environment.get("OLLAMA_HOST").unwrap_or("127.0.0.1").trim();
    let host = match host.split_once("://") {
        Some(("http", rest)) => rest,
        Some(_) => return None,
        None => host,
    };
    let host = host.split('/').next().unwrap_or_default();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port.parse().ok()?),
        Some(_) | None => (host, PORT_DEFAULT),
    };
    // A server that listens on all addresses is reachable on this one.
    let name = if name.is_empty() || name == "0.0.0.0" { "127.0.0.1" } else { name };
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]_".contains(c));
    is_name.then(|| format!("http://{name}:{port}"))
}

/// Returns the installed models; none if no server answers in time.
pub fn installed_models(server: &str) -> Vec<String> {
    let deadline = Instant::now() + QUERY_TIME_MAX;
    let tags =
        get_json(server, "/api/tags", deadline).map(|answer| read_names(&answer, "models", "name"));
    if let Ok(names) = tags {
        if !names.is_empty() {
            return names;
        }
        // Compatible servers have no `/api/tags`.
        let models = get_json(server, "/v1/models", deadline);
        return models.map(|answer| read_model_ids(&answer)).unwrap_or_default();
    }
    Vec::new()
}

fn read_model_ids(answer: &Value) -> Vec<String> {
    read_names(answer, "data", "id")
}

fn read_names(answer: &Value, list: &str, field: &str) -> Vec<String> {
    let items = answer.get(list).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.get(field)?.as_str()).map(str::to_owned).collect()
}

/// Excludes embedding and ranking models, which cannot chat.
pub(super) fn is_chat_model(model: &str) -> bool {
    !["embed", "minilm", "bge-", "rerank"].iter().any(|word| model.contains(word))
}

/// Uses HTTP/1.0, so that the response ends with the connection.
fn get_json(server: &str, path: &str, deadline: Instant) -> io::Result<Value> {
    let host = server.trim_start_matches("http://");
    let left = || {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::Error::from(io::ErrorKind::TimedOut)) } else { Ok(left) }
    };
    let address = host.to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
    let mut stream = TcpStream::connect_timeout(&address, left()?)?;
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").as_bytes())?;
    let mut bytes = Vec::new();
    let mut part = [0; 8192];
    loop {
        stream.set_read_timeout(Some(left()?))?;
        let read = stream.read(&mut part)?;
        bytes.extend_from_slice(part.get(..read).unwrap_or_default());
        if read == 0 || bytes.len() as u64 > ANSWER_BYTES_MAX {
            break;
        }
    }
    parse_body(&bytes)
}

/// Parses the response body. A body that is not JSON counts as empty: another service uses the
/// port.
fn parse_body(answer: &[u8]) -> io::Result<Value> {
    let text = String::from_utf8_lossy(answer);
    let document =
        text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
    Ok(document.unwrap_or_default())
}
