//! Discovers providers that no file names: by keys, then agent programs, then models of an Ollama
//! server on this machine. Called by `load_settings`.
//!
//! The query to Ollama uses a plain socket and a short timeout, because usually no server answers.

use std::io;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::limits::EXPERT_SLUG_BYTES_MAX;
use plenary_core::model::text::slugify_title;
use serde_json::{Value, json};

use crate::config::council_file::ProviderEntry;
use crate::config::environment::EnvVariables;
use crate::config::settings::PANEL_SEATS;
use crate::providers::catalogue::{ProviderRow, find_row};
use crate::providers::offered_models::is_chat_model;

/// Providers whose keys are looked for, in this order.
const KEYED_PROVIDERS: [&str; 4] = ["claude", "openai", "gemini", "openrouter"];

/// Providers whose agent programs are looked for, in this order.
const PROGRAM_PROVIDERS: [&str; 3] = ["claude", "openai", "gemini"];

/// A panel has three seats; more local models would only take turns on one machine.
const MODELS_MAX: usize = 3;

/// Whether to query the local server: not if the panel is full already.
pub(crate) fn needs_more(found: &[ProviderEntry]) -> bool {
    found.len() < PANEL_SEATS
}

/// Returns providers with a key, then those with only a program. A provider with a key is not added
/// a second time for its program.
pub(crate) fn find_keys_and_programs(environment: &EnvVariables) -> Vec<ProviderEntry> {
    let has_key =
        |row: &ProviderRow| row.key_variables.iter().any(|name| environment.get(name).is_some());
    let has_program =
        |row: &ProviderRow| row.program.is_some_and(|program| environment.has_program(program));
    let rows = |names: &'static [&'static str]| names.iter().filter_map(|name| find_row(name));
    let keyed = rows(&KEYED_PROVIDERS).filter(|row| has_key(row));
    let programs = rows(&PROGRAM_PROVIDERS).filter(|row| !has_key(row) && has_program(row));
    keyed.chain(programs).filter_map(|row| found_entry(json!({ "name": row.name }))).collect()
}

/// Returns installed models as providers, each named after its model.
pub(crate) fn entries_for_models(models: &[String], server: &str) -> Vec<ProviderEntry> {
    let mut entries: Vec<ProviderEntry> = Vec::new();
    for model in models.iter().filter(|model| is_chat_model(model)).take(MODELS_MAX) {
        let taken: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let Some(name) = model_slug(model, &taken) else { continue };
        entries.extend(found_entry(json!({
            "name": name,
            "model": model,
            "dialect": "openai",
            "base_url": format!("{server}/v1"),
        })));
    }
    entries
}

/// Discovered providers may participate and chair; the first one chairs first.
fn found_entry(mut entry: Value) -> Option<ProviderEntry> {
    let fields = entry.as_object_mut()?;
    fields.insert("role".to_owned(), json!(["participant", "chair"]));
    serde_json::from_value(entry).ok()
}

/// `llama3.2:latest` → `llama3-2`.
fn model_slug(model: &str, taken: &[&str]) -> Option<ExpertSlug> {
    let short = model.strip_suffix(":latest").unwrap_or(model);
    let slug = slugify_title(short);
    let slug =
        if slug.starts_with(|c: char| c.is_ascii_digit()) { format!("m-{slug}") } else { slug };
    // Leave space for `-2`, here and for repeated seats.
    let slug: String = slug.chars().take(EXPERT_SLUG_BYTES_MAX - 6).collect();
    let slug = slug.trim_end_matches('-');
    let names = (1..).map(|nth| if nth == 1 { slug.to_owned() } else { format!("{slug}-{nth}") });
    names.take(MODELS_MAX + 1).find(|name| !taken.contains(&&**name))?.parse().ok()
}

const PORT_DEFAULT: u16 = 11434;

/// Limit for connecting, asking and reading together.
const QUERY_TIME_MAX: Duration = Duration::from_millis(300);

/// A list of a hundred models has about fifty kilobytes.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// Returns the server's URL from `OLLAMA_HOST`, read as Ollama's own programs do, else the default.
/// `None` if it is not plain HTTP.
pub(crate) fn server_url(environment: &EnvVariables) -> Option<String> {
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
    let Ok(tags) = get_json(server, "/api/tags", deadline) else { return Vec::new() };
    let names = read_names(&tags, "models", "name");
    if !names.is_empty() {
        return names;
    }
    // Compatible servers have no `/api/tags`.
    let models = get_json(server, "/v1/models", deadline).unwrap_or_default();
    read_names(&models, "data", "id")
}

fn read_names(answer: &Value, list: &str, field: &str) -> Vec<String> {
    let items = answer.get(list).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.get(field)?.as_str()).map(str::to_owned).collect()
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
