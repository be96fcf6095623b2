//! The toy protocol in the whole program: live over HTTP, killed, resumed, watched, shown, exported.
//!
//! The program is this test binary, started again with one protocol more in its registry.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use plenary::cli::commands::run_program;
use plenary_core::model::journal::JournalEntryKind;
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use serde_json::{Value, json};

use crate::kit::{CommandOutput, ModelRequest, ModelServer, ScriptedReply, TestProgram};
use crate::toy_protocol::VoteProtocol;

const ARGUMENTS: &str = "VOTE_PROGRAM_ARGUMENTS";
const PATIENCE: Duration = Duration::from_secs(60);

/// The program with the toy protocol, where a test starts it; else it does nothing.
#[test]
fn vote_program() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let arguments: Vec<String> = serde_json::from_str(&arguments).unwrap();
    let protocols = Protocols::built_in().with_protocol(&VoteProtocol);
    let arguments = std::iter::once("plenary".to_owned()).chain(arguments).map(Into::into);
    std::process::exit(run_program(arguments, protocols).into());
}

/// A folder with settings for two seats, and the server behind them.
struct Setup {
    program: TestProgram,
    server: ModelServer,
}

impl Setup {
    fn new(script: impl Fn(&ModelRequest) -> ScriptedReply + Send + Sync + 'static) -> Self {
        let setup = Self { program: TestProgram::new(), server: ModelServer::start(script) };
        for life in ["first", "second"] {
            let url = setup.server.base_url().replace("/v1", &format!("/{life}/v1"));
            let seats = [("ann", "participant, chair"), ("bob", "participant")].map(|(name, roles)| {
                format!(
                    "    - {{name: {name}, role: [{roles}], model: model-{name}, family: {name}, \
                     dialect: openai, base_url: \"{url}\", max_output_tokens: 1000, \
                     price: {{input_per_mtok: 1, output_per_mtok: 1}}}}\n"
                )
            });
            let settings = format!("council:\n  providers:\n{}", seats.concat());
            setup.program.write_text(&format!("{life}.yaml"), &settings);
        }
        setup
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "toy_protocol_runs::vote_program", "--nocapture"])
            .current_dir(self.program.path())
            .env_clear()
            .env("PLENARY_TRUST", "all")
            .env(ARGUMENTS, json!(arguments).to_string())
            .stdin(Stdio::null());
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stdout}\n{stderr}");
        // What the test harness prints before the program begins.
        stdout.trim_start().trim_start_matches("running 1 test\n").to_owned()
    }

    #[track_caller]
    fn document(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[arguments, &["--json"]].concat())).unwrap()
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.program.path().join(".plenary/plenary.db")).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        let connection =
            rusqlite::Connection::open(self.program.path().join(".plenary/plenary.db")).unwrap();
        let mut all = connection.prepare("SELECT dialogue_id FROM dialogues").unwrap();
        all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// How often a model was asked.
    fn asked(&self, model: &str) -> usize {
        self.server.requests().iter().filter(|seen| seen.model == model).count()
    }
}

fn ballot(seen: &ModelRequest) -> ScriptedReply {
    let in_favour = seen.model == "model-ann";
    ScriptedReply::Reply(json!({ "in_favour": in_favour, "reason": "Tea is warm." }).to_string())
}

fn ask<'a>(life: &'a str, question: &'a str) -> Vec<&'a str> {
    vec!["--config", life, "ask", "--protocol", "vote", "--no-conclusion", question]
}

#[track_caller]
fn wait_for(mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a vote in which `bob` never answers, and kills it when `ann` has.
fn killed(setup: &Setup) -> String {
    let mut child = setup.start(&ask("first.yaml", "Tea?"));
    let store = setup.store();
    let kept = || {
        setup.ids().into_iter().find(|id| {
            let entries = store.load_entries(&id.parse().unwrap(), 0).unwrap();
            entries.iter().any(|entry| entry.kind == JournalEntryKind::ReplyKept)
        })
    };
    wait_for(|| kept().is_some() && setup.asked("model-bob") == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    kept().unwrap()
}

#[test]
fn a_vote_runs_live_and_is_watched_shown_and_exported() {
    let setup = Setup::new(ballot);
    let voted = setup.document(&ask("first.yaml", "Tea?"));
    assert_eq!((&voted["protocol"], &voted["vote"]), (&json!("vote"), &json!("1-1")));
    let id = voted["dialogue_id"].as_str().unwrap();

    let events = setup.run(&["watch", id, "--json"]);
    assert!(events.contains(r#""purpose":"ballot""#) && events.contains("round_held"), "{events}");
    let refused = setup.command(&["conclude", id]).output().unwrap();
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains("is a vote, which `conclude` does not support"), "{refused}");
    let shown = setup.run(&["show", id]);
    for text in ["vote protocol", "Not carried", "In favour", "Tea is warm."] {
        assert!(shown.contains(text), "no {text}: {shown}");
    }
    let exported = setup.document(&["export", id]);
    assert_eq!(exported["vote"], voted);
    assert_eq!(exported["perspectives"].as_array().unwrap().len(), 2);
    let markdown = setup.run(&["export", id, "--format", "markdown"]);
    assert!(markdown.contains("Not carried") && markdown.contains("| Protocol | vote |"));
    setup.run(&["verify"]);
}

#[test]
fn a_killed_vote_is_resumed_without_paying_for_a_recorded_reply_again() {
    let setup = Setup::new(|seen| match seen.path.contains("first") && seen.model == "model-bob" {
        true => ScriptedReply::Hang,
        false => ballot(seen),
    });
    let id = killed(&setup);
    let resumed = setup.document(&["--config", "second.yaml", "resume", &id]);
    assert_eq!(resumed["vote"], "1-1", "{resumed}");
    assert_eq!((setup.asked("model-ann"), setup.asked("model-bob")), (1, 2));
    // Resumed once more, there is nothing left to do.
    assert_eq!(setup.document(&["--config", "second.yaml", "resume", &id]), resumed);
    assert_eq!((setup.asked("model-ann"), setup.asked("model-bob")), (1, 2));
    setup.run(&["verify"]);
}

#[test]
fn a_program_without_the_protocol_says_so_and_still_lists_and_verifies() {
    let setup = Setup::new(ballot);
    let voted = setup.document(&ask("first.yaml", "Tea?"));
    let id = voted["dialogue_id"].as_str().unwrap();
    for arguments in [["show", id], ["export", id], ["resume", id], ["watch", id]] {
        let CommandOutput { code, stderr, .. } =
            setup.program.run_command(&[&["--config", "first.yaml"], &arguments[..]].concat());
        assert_eq!(code, 1, "{arguments:?}: {stderr}");
        assert!(stderr.contains("does not know the protocol 'vote'"), "{arguments:?}: {stderr}");
    }
    let listed: Value =
        serde_json::from_str(&setup.program.run_command(&["list", "--json"]).stdout).unwrap();
    assert_eq!(listed["dialogues"][0]["protocol"], "vote");
    assert_eq!(setup.program.run_command(&["verify"]).code, 0);
}
