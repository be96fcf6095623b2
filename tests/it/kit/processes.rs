//! Foreign programs for tests: providers that run them, requests, and process lookup.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plenary_core::model::ask::{AskMessages, AskPurpose, TransportKind};
use plenary_core::model::plan::SeatRole;
use plenary_engine::providers::call_progress::SilenceTimer;
use plenary_engine::providers::process::child_environment::ChildEnvironment;
use plenary_engine::providers::transport::{CallRequest, Provider, WireSchema};

/// How long dead processes may take to disappear on a busy machine.
const EXIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Start of a script that spawns six processes: a child in its group, one in its own session, one
/// whose parent exits at once, one that combines both and has a child, and one with another
/// environment that ignores signals. Each appends its pid to `pids`; the script waits until all
/// run.
pub const RUNAWAYS: &str = r#"
pids="$HOME/pids.$$"; export pids; : > "$pids"
sh -c 'echo $$ >> "$pids"; exec sleep 1000' &
setsid sh -c 'echo $$ >> "$pids"; exec sleep 1000' &
(sh -c 'echo $$ >> "$pids"; exec sleep 1000' &)
(setsid sh -c 'sleep 1000 & echo $! >> "$pids"; echo $$ >> "$pids"; exec sleep 1000' &)
env -i HOME="$HOME" PATH="$PATH" pids="$pids" setsid sh -c \
  'trap "" HUP INT TERM QUIT; echo $$ >> "$pids"; while :; do sleep 1; done' &
while [ "$(wc -l < "$pids")" -lt 6 ]; do sleep 0.05; done
echo $$ >> "$pids"
"#;

/// Number of pids that a script with [`RUNAWAYS`] records, its own included.
pub const RUNAWAYS_COUNT: usize = 7;

pub fn make_provider(name: &str, command: &[&str]) -> Provider {
    Provider {
        name: name.parse().unwrap(),
        roles: vec![SeatRole::Participant],
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
        input_tokens_max: None,
        effort: None,
        lens: None,
        lenses: Vec::new(),
        timeouts: None,
        wire_schema: WireSchema::Auto,
        max_in_flight: None,
    }
}

pub fn make_request(system: &str, user: &str) -> CallRequest {
    CallRequest {
        seat: "seat".parse().unwrap(),
        round: 1,
        purpose: AskPurpose::Opinion,
        messages: Arc::new(AskMessages::new(system, user)),
        schema: None,
        timer: SilenceTimer::start(Duration::from_secs(60)),
        partial_text: None,
        is_stricter: false,
    }
}

/// An environment with PATH, the test's own HOME, and extra variables.
pub fn make_environment(home: &Path, more: &[(&str, &str)]) -> ChildEnvironment {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = [("PATH".to_owned(), path), ("HOME".to_owned(), home.as_os_str().to_owned())];
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value)));
    own.into_iter().chain(more).collect()
}

/// Processes whose environment contains a text. Children inherit it in any group or session.
pub fn find_processes_with(text: &str) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let holds = |path: &PathBuf| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.windows(text.len()).any(|window| window == text.as_bytes())
    };
    processes.filter(holds).collect()
}

/// A process that was seen alive. The start time is needed because a pid may be reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveProcess {
    pub pid: i32,
    start_time: String,
}

impl LiveProcess {
    pub fn from_pid(pid: i32) -> Option<Self> {
        let started = read_stat(pid)?.start_time;
        Some(Self { pid, start_time: started })
    }

    /// A zombie counts as dead: it only waits for its parent.
    pub fn is_alive(&self) -> bool {
        read_stat(self.pid).is_some_and(|now| now.start_time == self.start_time && now.state != "Z")
    }
}

/// The living children of a process that have this name.
pub fn find_children(parent: u32, name: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        read_stat(*pid)
            .is_some_and(|now| now.parent == parent && now.name == name && now.state != "Z")
    })
    .collect()
}

struct ProcessStat {
    name: String,
    state: String,
    parent: u32,
    start_time: String,
}

fn read_stat(pid: i32) -> Option<ProcessStat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = text.rsplit_once(')')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    Some(ProcessStat {
        name: head.split_once('(')?.1.to_owned(),
        state: fields.first()?.to_string(),
        parent: fields.get(1)?.parse().ok()?,
        start_time: fields.get(19)?.to_string(),
    })
}

/// The same as `wait_until`, without a runtime.
pub fn wait_until_blocking(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < EXIT_TIMEOUT {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// Waits until a condition is true; returns false on timeout.
pub async fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < EXIT_TIMEOUT {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}
