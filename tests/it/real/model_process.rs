//! Starts the small model of `scripts/local-model` for the duration of a test.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The model server; dropping it ends the whole process group.
pub(super) struct LocalModelProcess(Child);

impl Drop for LocalModelProcess {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

/// Starts `scripts/local-model` and returns the configuration it prints when it is ready.
pub(super) fn start_local_model(arguments: &[&str]) -> (LocalModelProcess, String) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/local-model");
    let mut command = Command::new(script);
    command.args(arguments).arg(free.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut served = LocalModelProcess(command.spawn().unwrap());
    let lines = BufReader::new(served.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut yaml = String::new();
    for line in lines {
        yaml.push_str(&line);
        yaml.push('\n');
        // The last line of what it prints.
        if line.contains("timeouts:") {
            return (served, yaml);
        }
    }
    panic!("the model's server ended; it printed: {yaml}");
}

/// The same with short replies: the test checks the transport, not the content.
pub(super) fn with_short_replies(yaml: &str, output_tokens_max: u32) -> String {
    let (long, short) = ("_tokens: 1200", format!("_tokens: {output_tokens_max}"));
    assert!(yaml.contains(long), "{yaml}");
    yaml.replace(long, &short)
}
