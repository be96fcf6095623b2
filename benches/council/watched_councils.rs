//! 20 councils of one `plenary serve`, with 200 pages that follow them and without: the slowest run
//! of each. 50 of the pages never read.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::folder::{BenchmarkFolder, CallPace};
use crate::measure::{BenchmarkResult, BenchmarkRow, SamplePairs};
use crate::program::PROGRAM;
use crate::server::SlowServer;

const COUNCILS: usize = 20;
const ALLOWED: f64 = 1.1;

/// The pages that follow the councils.
#[derive(Debug, Clone, Copy)]
struct PageCrowd {
    reading: usize,
    stalled: usize,
}

const NO_PAGES: PageCrowd = PageCrowd { reading: 0, stalled: 0 };
const PAGES: PageCrowd = PageCrowd { reading: 150, stalled: 50 };

/// A client that hears nothing for this long is stuck.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn measure_watched(
    models: &SlowServer,
    repeats: usize,
) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let mut samples = SamplePairs::default();
    for _ in 0..repeats {
        samples.add_pair(slowest_run(models, PAGES)?, slowest_run(models, NO_PAGES)?);
    }
    let name = format!("{COUNCILS} councils, {} pages follow", PAGES.reading + PAGES.stalled);
    Ok(vec![samples.into_row(name, "the same without pages", ALLOWED)])
}

/// Runs the councils in a new project and returns the time of the slowest, by its journal.
fn slowest_run(models: &SlowServer, pages: PageCrowd) -> BenchmarkResult<Duration> {
    let folder = BenchmarkFolder::new(&models.base_url(), CallPace::Unlimited)?;
    let served = ServedProject::start_server(&folder)?;
    let ids = (1..=COUNCILS)
        .map(|number| served.start_council(number))
        .collect::<BenchmarkResult<Vec<String>>>()?;
    let stalled = (0..pages.stalled)
        .map(|_| served.follow(&ids))
        .collect::<BenchmarkResult<Vec<TcpStream>>>()?;
    for place in 0..pages.reading {
        let followed = ids.iter().cycle().skip(place).take(1).cloned().collect::<Vec<_>>();
        let mut page = served.follow(&followed)?;
        // It reads until the server ends.
        thread::spawn(move || std::io::copy(&mut page, &mut std::io::sink()));
    }
    let times = run_times(BufReader::new(served.follow(&ids)?))?;
    drop(stalled);
    times.into_iter().max().ok_or_else(|| "no council ran".into())
}

/// Reads the events of all councils until each has stopped.
fn run_times(mut events: BufReader<TcpStream>) -> BenchmarkResult<Vec<Duration>> {
    let mut started: BTreeMap<String, Timestamp> = BTreeMap::new();
    let mut times = Vec::new();
    while times.len() < COUNCILS {
        let mut line = String::new();
        if events.read_line(&mut line)? == 0 {
            return Err(format!("the stream ended after {} councils", times.len()).into());
        }
        let Some(text) = line.strip_prefix("data: ") else { continue };
        let event: Value = serde_json::from_str(text)?;
        let field = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let id = field("dialogue_id").to_owned();
        match field("event") {
            "started" => {
                started.insert(id, field("ts").parse()?);
            }
            "stopped" if field("stop") == "done" => {
                let start = started.get(&id).ok_or("a council stopped before it started")?;
                let end: Timestamp = field("ts").parse()?;
                times.push(Duration::try_from(end.duration_since(*start))?);
            }
            "stopped" => return Err(format!("a council was not complete: {event}").into()),
            _ => {}
        }
    }
    Ok(times)
}

/// `plenary serve` in a folder; dropping it ends the server.
struct ServedProject {
    process: Child,
    address: String,
    token: String,
}

impl ServedProject {
    #[expect(clippy::disallowed_methods, reason = "the token is in a file")]
    fn start_server(folder: &BenchmarkFolder) -> BenchmarkResult<Self> {
        let mut process = Command::new(PROGRAM)
            .args(["serve", "--port", "0"])
            .current_dir(folder.path())
            .env_clear()
            .env("PLENARY_TRUST", "all")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut message = String::new();
        if let Some(result) = process.stderr.take() {
            let mut lines = BufReader::new(result);
            while !message.contains("the token is in") && lines.read_line(&mut message)? > 0 {}
            thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        }
        let mut places =
            message.lines().filter_map(|line| line.split_once("http://")?.1.strip_suffix("/mcp"));
        let address = places.next_back().ok_or("the server did not start")?.to_owned();
        let token = std::fs::read_to_string(folder.path().join(".plenary/token"))?;
        Ok(Self { process, address, token: token.trim().to_owned() })
    }

    fn start_council(&self, number: usize) -> BenchmarkResult<String> {
        let question = format!("Should we take step {number} before winter?");
        let body = json!({ "question": question, "conclusion": false }).to_string();
        let mut answer = String::new();
        self.send_request("POST", "/api/ask", &body)?.read_to_string(&mut answer)?;
        let (_, document) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let document: Value = serde_json::from_str(document)?;
        let id = document.get("dialogue_id").and_then(Value::as_str);
        Ok(id.ok_or_else(|| format!("no council started: {document}"))?.to_owned())
    }

    /// Opens an event stream.
    fn follow(&self, ids: &[String]) -> BenchmarkResult<TcpStream> {
        let query: Vec<String> = ids.iter().map(|id| format!("dialogue={id}")).collect();
        self.send_request("GET", &format!("/api/events?{}", query.join("&")), "")
    }

    fn send_request(&self, method: &str, path: &str, body: &str) -> BenchmarkResult<TcpStream> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )?;
        Ok(stream)
    }
}

impl Drop for ServedProject {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
