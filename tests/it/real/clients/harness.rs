//! Harness: a folder served to foreign clients, with a council of slow models.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::kit::{ModelServer, ScriptedReply, TestProgram, plenary_binary};

/// Long enough to interrupt, short enough to wait for.
const REPLY_DELAY: Duration = Duration::from_millis(300);

pub struct ClientProject {
    pub program: TestProgram,
    pub models: ModelServer,
}

impl ClientProject {
    pub fn new() -> Self {
        Self::with_replies(|| ScriptedReply::Slow(REPLY_DELAY, Box::new(ScriptedReply::Valid)))
    }

    pub fn with_replies(play: impl Fn() -> ScriptedReply + Send + Sync + 'static) -> Self {
        let (program, models) = (TestProgram::new(), ModelServer::start(move |_| play()));
        let seats = [("ann", "participant, chair"), ("bob", "participant"), ("cid", "participant")];
        let url = models.base_url();
        let seats = seats.map(|(name, roles)| {
            format!(
                "    - {{name: {name}, role: [{roles}], model: model-{name}, family: {name}, \
                 dialect: openai, base_url: \"{url}\"}}\n"
            )
        });
        let yaml = format!("council:\n  providers:\n{}", seats.concat());
        std::fs::write(program.path().join("council.yaml"), yaml).unwrap();
        Self { program, models }
    }

    /// A foreign program in the folder, with the path of ours in its environment.
    pub fn client_command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.program.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.program.path())
            .env("PLENARY", plenary_binary())
            .env("EXAMPLES", examples_folder())
            .stdin(Stdio::null());
        command
    }

    /// The record is intact after any use of its servers.
    #[track_caller]
    pub fn assert_verified(&self) {
        let verified = self.program.run_command(&["verify"]);
        assert_eq!(verified.code, 0, "{verified:?}");
    }
}

pub fn examples_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/nvidia"))
}

/// The path of a program installed by `./check real`.
pub fn installed_path(name: &str) -> String {
    std::env::var(format!("PLENARY_REAL_{name}")).expect("`./check real` says where it is")
}

/// Runs a client to its end. Returns the documents that it printed, one per line, and its stderr.
#[track_caller]
pub fn run_client(mut command: Command) -> (Vec<Value>, String) {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?}\n{message}\n{shown}");
    (shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), message)
}

/// `plenary serve`, stopped on drop.
pub struct ServeProcess {
    server: Child,
    pub url: String,
    pub token: String,
}

impl ServeProcess {
    pub fn new(program: &TestProgram) -> Self {
        let mut command = program.command();
        let mut server =
            command.args(["serve", "--port", "0"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut message = BufReader::new(server.stderr.take().unwrap()).lines();
        let mut lines = message.by_ref().map(Result::unwrap);
        let url = lines.find_map(|line| Some(line.split_once("serving MCP on ")?.1.to_owned()));
        let url = url.unwrap();
        // Drain the output, because a full pipe would block the server.
        std::thread::spawn(move || message.for_each(drop));
        let token = std::fs::read_to_string(program.path().join(".plenary/token")).unwrap();
        Self { server, url, token }
    }

    pub fn port(&self) -> u16 {
        let address = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        address.rsplit(':').next().unwrap().parse().unwrap()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
