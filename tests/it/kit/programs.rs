//! Foreign programs for tests: providers that run them, requests to send, and a look
//! at what is still alive.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plenary::domain::ask::{Messages, Purpose, TransportKind};
use plenary::domain::plan::Role;
use plenary::providers::{Environment, Provider, Request};

/// How long the dead may take to disappear on a busy machine.
const GONE_WITHIN: Duration = Duration::from_secs(10);

pub fn provider(name: &str, command: &[&str]) -> Provider {
    Provider {
        name: name.parse().unwrap(),
        roles: vec![Role::Participant],
        model: "test-model".to_owned(),
        family: name.to_owned(),
        version: None,
        transports: vec![TransportKind::Cli],
        dialect: None,
        base_url: None,
        key_variable: None,
        key: None,
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        mcp: None,
        price: None,
        output_tokens_max: 4_096,
        temperature: None,
        timeouts: None,
    }
}

pub fn request(system: &str, user: &str) -> Request {
    Request {
        seat: "seat".parse().unwrap(),
        round: 1,
        purpose: Purpose::Opinion,
        messages: Arc::new(Messages { system: system.to_owned(), user: user.to_owned() }),
        schema: None,
        time_left: Duration::from_secs(60),
    }
}

/// The surroundings a program is started from: a PATH, a HOME of the test's own, and more.
pub fn surroundings(home: &Path, more: &[(&str, &str)]) -> Environment {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = [("PATH".to_owned(), path), ("HOME".to_owned(), home.as_os_str().to_owned())];
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value)));
    own.into_iter().chain(more).collect()
}

/// Processes in whose environment a text occurs: they and their children inherit it, whatever
/// group or session they moved to.
pub fn alive_with(text: &str) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let holds = |path: &PathBuf| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.windows(text.len()).any(|window| window == text.as_bytes())
    };
    processes.filter(holds).collect()
}

/// Waits until a condition holds, and says whether it came to hold.
pub async fn soon(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < GONE_WITHIN {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}
