//! From the first byte of a model's reply to its appearance, in `watch --json` of another process and
//! on the terminal of `ask`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::folder::BenchmarkFolder;
use crate::measure::{BenchmarkResult, BenchmarkRow, MeasuredQuantity, median_time};
use crate::program::PROGRAM;

const DELAY_MAX: Duration = Duration::from_millis(50);

/// Time before the first byte, in which the watcher starts.
const THINKING: Duration = Duration::from_millis(700);

/// The stream stays open this long after its first byte.
const HOLD: Duration = Duration::from_secs(2);

/// The first text of the reply, which the screen shows.
const FIRST_TEXT: &str = "SEEN";

/// Longer than any delay that counts.
const WAIT_MAX: Duration = Duration::from_secs(10);

pub(crate) fn measure_streams(repeats: usize) -> BenchmarkResult<Vec<BenchmarkRow>> {
    let row = |work: &str, delays: Vec<Duration>| BenchmarkRow {
        work: format!("first byte of a reply to {work}"),
        measured: MeasuredQuantity::Time(median_time(delays)),
        limit: MeasuredQuantity::Time(DELAY_MAX),
        limit_is: "fixed",
        allowed: 1.0,
    };
    let watched = (0..repeats).map(|_| measure_watch()).collect::<BenchmarkResult<_>>()?;
    let drawn = (0..repeats).map(|_| measure_screen()).collect::<BenchmarkResult<_>>()?;
    Ok(vec![row("`watch --json`", watched), row("the screen", drawn)])
}

/// A program that is stopped when the measurement is over.
struct RunningProgram(Child);

impl Drop for RunningProgram {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn measure_watch() -> BenchmarkResult<Duration> {
    let (address, first_byte) = start_server()?;
    let folder = folder_for(address)?;
    let quiet = command(&folder, &["ask", "Shall we?", "--no-conclusion", "--json", "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let _run = RunningProgram(quiet);
    thread::sleep(THINKING / 3);
    let mut watcher = RunningProgram(
        command(&folder, &["watch", "latest", "--json"]).stdout(Stdio::piped()).spawn()?,
    );
    let output = watcher.0.stdout.take().ok_or("no output")?;
    let seen = find_in(output, |line| line.contains("\"event\":\"writing\""))?;
    Ok(seen.saturating_duration_since(first_byte.recv_timeout(WAIT_MAX)?))
}

fn measure_screen() -> BenchmarkResult<Duration> {
    let (address, first_byte) = start_server()?;
    let folder = folder_for(address)?;
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?.into_string()?;
    let terminal = std::fs::File::options().read(true).write(true).open(name)?;
    let mut shown = command(&folder, &["ask", "Shall we?", "--no-conclusion", "--verbose"]);
    shown.env("TERM", "xterm").stdout(terminal.try_clone()?).stderr(terminal);
    let _run = RunningProgram(shown.spawn()?);
    let seen = find_in(std::fs::File::from(master), |text| text.contains(FIRST_TEXT))?;
    Ok(seen.saturating_duration_since(first_byte.recv_timeout(WAIT_MAX)?))
}

fn command(folder: &BenchmarkFolder, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder.path()).env_clear().stdin(Stdio::null());
    command
}

/// The time at which the output has a line, or a part that ends in a carriage return, of this kind.
fn find_in(
    output: impl Read + Send + 'static,
    is_it: impl Fn(&str) -> bool + Send + 'static,
) -> BenchmarkResult<Instant> {
    let (tell, result) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut text = String::new();
        while let Ok(bytes) = reader.fill_buf() {
            if bytes.is_empty() {
                break;
            }
            let length = bytes.len();
            text.push_str(&String::from_utf8_lossy(bytes));
            reader.consume(length);
            if is_it(&text) {
                let _ = tell.send(Instant::now());
                break;
            }
        }
    });
    Ok(result.recv_timeout(WAIT_MAX)?)
}

/// A council of one seat.
fn folder_for(address: SocketAddr) -> BenchmarkResult<BenchmarkFolder> {
    BenchmarkFolder::with_settings(&format!(
        "council:\n  providers:\n    - {{name: ann, role: [participant, chair], model: test-model, \
         dialect: openai, base_url: \"http://{address}/v1\", transports: [http]}}\n  \
         quorum: {{r1_min: 1}}\n"
    ))
}

/// Answers each request with the beginning of a stream, and tells when it sent the first byte.
fn start_server() -> BenchmarkResult<(SocketAddr, mpsc::Receiver<Instant>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let (tell, result) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let tell = tell.clone();
            thread::spawn(move || begin_stream(stream, &tell));
        }
    });
    Ok((address, result))
}

fn begin_stream(stream: TcpStream, tell: &mpsc::Sender<Instant>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    thread::sleep(THINKING);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let event =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{FIRST_TEXT}\"}}}}]}}\n\n");
    reader.get_mut().write_all(head.as_bytes()).ok()?;
    tell.send(Instant::now()).ok()?;
    reader.get_mut().write_all(event.as_bytes()).ok()?;
    thread::sleep(HOLD);
    Some(())
}
