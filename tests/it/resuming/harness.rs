//! Harness: a folder with a store, three seats behind a model server, and councils run by the real
//! program, one process after another.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use plenary_core::model::journal::JournalEntry;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use super::attempts::{
    RunAttempt, calls_in_flight, find_complaints, fold_journal, lifecycle_of, lost_calls,
};
use super::scripted_seats::{
    CouncilFinale, attempt_of_request, reply_to, round_of_request, seat_of_request,
};
use crate::kit::{ModelRequest, ModelServer, ScriptedReply, TestProgram, value_at};

/// Timeout on a machine that is busy with other tests.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

pub struct ResumeProject {
    pub program: TestProgram,
    pub server: ModelServer,
    store: SqliteStore,
}

impl ResumeProject {
    pub fn new() -> Self {
        Self::with_script(reply_to)
    }

    pub fn with_script(
        script: impl Fn(&ModelRequest) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        Self::with_script_and_program(TestProgram::new(), script)
    }

    /// With an existing store.
    pub fn with_program(program: TestProgram) -> Self {
        Self::with_script_and_program(program, reply_to)
    }

    fn with_script_and_program(
        program: TestProgram,
        script: impl Fn(&ModelRequest) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        let store = SqliteStore::open(&program.path().join(".plenary/plenary.db")).unwrap();
        Self { program, server: ModelServer::start(script), store }
    }

    /// Writes the settings of one attempt; its name is part of the request path.
    pub fn write_settings(&self, life: &str, more: &str) -> String {
        let url = self.server.base_url().replace("/v1", &format!("/{life}/v1"));
        let seats = [("ann", "participant, chair"), ("bob", "participant"), ("cid", "participant")];
        let seats = seats.map(|(name, roles)| {
            format!(
                "    - {{name: {name}, role: [{roles}], model: model-{name}, family: {name}, \
                 dialect: openai, base_url: \"{url}\", max_output_tokens: 1000, \
                 price: {{input_per_mtok: 1, output_per_mtok: 1}}}}\n"
            )
        });
        self.write_yaml(life, &format!("council:\n  providers:\n{}{more}", seats.concat()))
    }

    pub fn write_yaml(&self, name: &str, yaml: &str) -> String {
        let name = format!("{name}.yaml");
        std::fs::write(self.program.path().join(&name), yaml).unwrap();
        name
    }

    pub fn spawn_program(&self, arguments: &[&str]) -> Child {
        let mut command = self.program.command();
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The requests of an attempt, such as `R1 ann`.
    pub fn requests_of(&self, name: &str) -> Vec<String> {
        let seen = self.server.requests();
        seen.iter().filter(|seen| attempt_of_request(seen) == name).map(request_name).collect()
    }

    /// The id of the council on a question, once it exists.
    pub fn find_dialogue_id(&self, question: &str) -> Option<String> {
        let path = self.program.path().join(".plenary/plenary.db");
        let found = "SELECT dialogue_id FROM dialogues WHERE title = ?1";
        let connection = Connection::open(path).unwrap();
        connection.query_row(found, [question], |row| row.get(0)).optional().unwrap()
    }

    pub fn read_journal(&self, id: &str) -> Vec<JournalEntry> {
        self.store.load_entries(&id.parse().unwrap(), 0).unwrap()
    }

    /// Lifecycle and terminal state in the dialogue's row.
    pub fn dialogue_row(&self, id: &str) -> (String, Option<String>) {
        let path = self.program.path().join(".plenary/plenary.db");
        let found = "SELECT lifecycle, terminal_state FROM dialogues WHERE dialogue_id = ?1";
        let connection = Connection::open(path).unwrap();
        connection.query_row(found, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }
}

/// The name of a request, such as `R1 ann`.
pub fn request_name(seen: &ModelRequest) -> String {
    format!("R{} {}", round_of_request(seen), seat_of_request(seen))
}

/// One council and the attempts to run it so far.
pub struct ResumedCouncil<'a> {
    project: &'a ResumeProject,
    pub question: String,
    pub finale: CouncilFinale,
    /// Further lines of the settings.
    pub more: String,
    pub attempts: Vec<RunAttempt>,
}

impl<'a> ResumedCouncil<'a> {
    /// A council that ends with its report.
    pub fn new(house: &'a ResumeProject, question: &str) -> Self {
        Self::with_finale(house, question, CouncilFinale::Report)
    }

    pub fn with_finale(house: &'a ResumeProject, question: &str, finale: CouncilFinale) -> Self {
        let (question, more) = (question.to_owned(), String::new());
        Self { project: house, question, finale, more, attempts: Vec::new() }
    }

    /// Starts the next process. The seats in `held`, such as `opinion-bob`, never answer it.
    pub fn start_process(&self, held: &[&str]) -> CouncilRun<'_> {
        self.start_with(held, &[])
    }

    /// The same, with further arguments.
    pub fn start_with(&self, held: &[&str], further: &[&str]) -> CouncilRun<'_> {
        let id = self.project.find_dialogue_id(&self.question);
        let command = match &id {
            Some(id) => vec!["resume", id],
            None => [&["ask", &self.question], self.finale.ask_arguments()].concat(),
        };
        self.start_command(&[&command, further].concat(), held)
    }

    /// The same with `conclude`, for a council without a conclusion.
    pub fn start_conclude(&self, held: &[&str]) -> CouncilRun<'_> {
        let id = self.find_dialogue_id().unwrap();
        self.start_command(&[&["conclude", &id], self.finale.ask_arguments()].concat(), held)
    }

    fn start_command(&self, command: &[&str], held: &[&str]) -> CouncilRun<'_> {
        let (nth, finale, held) = (self.attempts.len(), self.finale.name_part(), held.join("."));
        let life = format!("{}-{nth}.{finale}.{held}", self.question);
        let settings = self.project.write_settings(&life, &self.more);
        let child =
            self.project.spawn_program(&[command, &["--json", "--config", &settings]].concat());
        CouncilRun { child, attempt_name: life, project: self.project, question: &self.question }
    }

    pub fn find_dialogue_id(&self) -> Option<String> {
        self.project.find_dialogue_id(&self.question)
    }

    /// Records the end of a killed process and verifies the store.
    #[track_caller]
    pub fn record_kill(&mut self, dead: KilledProcess) {
        let Some(id) = self.find_dialogue_id() else {
            assert_eq!(dead.requests, [""; 0], "somebody was asked before anything was written");
            return;
        };
        let verified = self.project.program.run_command(&["verify", &id, "--json"]);
        assert_eq!(verified.code, 0, "{}: {verified:?}", self.question);
        self.record_attempt(
            &id,
            RunAttempt { requests: dead.requests, reported: dead.reported, journal: Vec::new() },
        );
    }

    /// Stores an attempt; the dialogue's row must agree with its journal.
    #[track_caller]
    fn record_attempt(&mut self, id: &str, life: RunAttempt) {
        let journal = self.project.read_journal(id);
        assert_eq!(self.project.dialogue_row(id).0, lifecycle_of(&journal), "{}", self.question);
        self.attempts.push(RunAttempt { journal, ..life });
    }

    /// Records the end of a process that stopped by itself; returns its exit code and document.
    #[track_caller]
    pub fn record_stop(&mut self, end: (i32, Value, RunAttempt)) -> (i32, Value) {
        let (code, document, life) = end;
        let id = self.find_dialogue_id().unwrap();
        self.record_attempt(&id, life);
        (code, document)
    }

    /// Runs the council to its end and checks all attempts.
    #[track_caller]
    pub fn run_to_end(&mut self) -> Value {
        self.run_to_end_with(&[])
    }

    /// The same, with further arguments.
    #[track_caller]
    pub fn run_to_end_with(&mut self, further: &[&str]) -> Value {
        let end = self.start_with(&[], further).wait_result();
        let (code, document) = self.record_stop(end);
        assert_eq!(code, 0, "{}: {document:#}", self.question);
        assert_eq!(find_complaints(&self.attempts), [""; 0], "{}", self.question);
        let (last, dead) = self.attempts.split_last().unwrap();
        let repeated = lost_calls(dead).len();
        assert_eq!(value_at(&document, "metrics.session.repeated_calls"), repeated);
        assert_eq!(value_at(&document, "transparency.starts"), &json!(self.next_attempt()));
        assert_eq!(last.reported, last.answers_since(dead.last()), "{}", self.question);
        let state = self.finale.terminal_state();
        assert_eq!(value_at(&document, "terminal_state"), &json!(state), "{}", self.question);
        let standing = ("terminal".to_owned(), state.map(str::to_owned));
        assert_eq!(
            self.project.dialogue_row(&self.find_dialogue_id().unwrap()),
            standing,
            "{}",
            self.question
        );
        document
    }

    fn next_attempt(&self) -> usize {
        fold_journal(&self.attempts.last().unwrap().journal).owners.len()
    }
}

/// A process that runs a council.
pub struct CouncilRun<'a> {
    child: Child,
    pub attempt_name: String,
    project: &'a ResumeProject,
    question: &'a str,
}

/// Requests and progress lines of a killed process.
pub struct KilledProcess {
    requests: Vec<String>,
    reported: Vec<String>,
}

impl CouncilRun<'_> {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a condition is true for the number of journal entries, or the process exits.
    pub fn wait_for(&mut self, mut condition: impl FnMut(usize) -> bool) {
        let path = self.project.program.path().join(".plenary/plenary.db");
        let connection = Connection::open(path).unwrap();
        let count = "SELECT count(*) FROM journal WHERE dialogue_id = \
                     (SELECT dialogue_id FROM dialogues WHERE title = ?1)";
        let mut count = connection.prepare(count).unwrap();
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            let entries: usize = count.query_row([self.question], |row| row.get(0)).unwrap();
            if condition(entries) {
                return;
            }
            assert!(start.elapsed() < WAIT_TIMEOUT, "{} stands still at {entries}", self.question);
        }
    }

    /// Waits until `times` calls were sent and all but `unanswered` are answered.
    pub fn wait_until_asked(&mut self, times: usize, unanswered: usize) {
        let (house, question, life) = (self.project, self.question, self.attempt_name.clone());
        self.wait_for(|_| {
            std::thread::sleep(Duration::from_millis(2));
            let Some(id) = house.find_dialogue_id(question) else { return false };
            house.requests_of(&life).len() == times
                && calls_in_flight(&house.read_journal(&id)).len() == unanswered
        });
    }

    pub fn kill_process(mut self) -> KilledProcess {
        self.child.kill().unwrap();
        let output = self.child.wait_with_output().unwrap();
        let result = reported_answers(&String::from_utf8(output.stderr).unwrap());
        // Its last requests may still be on their way.
        std::thread::sleep(Duration::from_millis(10));
        KilledProcess { requests: self.project.requests_of(&self.attempt_name), reported: result }
    }

    /// Waits for the exit: code, document and attempt.
    #[track_caller]
    pub fn wait_result(self) -> (i32, Value, RunAttempt) {
        let output = self.child.wait_with_output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let document = serde_json::from_str(&stdout)
            .unwrap_or_else(|_| panic!("{}: no document: {stdout}{stderr}", self.question));
        let asked = self.project.requests_of(&self.attempt_name);
        let life = RunAttempt {
            requests: asked,
            reported: reported_answers(&stderr),
            journal: Vec::new(),
        };
        (output.status.code().unwrap(), document, life)
    }
}

/// The answers in the progress lines: a heading names the round, a line such as `● ann  approve`
/// the seat. Answers of earlier attempts come before the first heading.
fn reported_answers(stderr: &str) -> Vec<String> {
    let (mut round, mut result) = (None, Vec::new());
    for line in stderr.lines().map(str::trim) {
        if let Some(heading) = line.strip_prefix("─ ") {
            round = Some(parse_round(heading));
        } else if let (Some(round), Some(seat)) = (round, parse_seat(line)) {
            result.push(format!("R{round} {seat}"));
        }
    }
    result.sort();
    result
}

fn parse_round(heading: &str) -> u8 {
    let headings = [
        "R1 independent opinions",
        "R2 cross review",
        "R3 chair's report",
        "Conclusion",
        "Blind audit",
        "Revision",
        "Second blind audit",
    ];
    let place = headings.iter().position(|known| *known == heading);
    place.unwrap_or_else(|| panic!("no round is called {heading:?}")) as u8 + 1
}

/// The seat whose answer a line reports; an objection is one too.
fn parse_seat(line: &str) -> Option<&str> {
    let objects = |line: &str| line.contains("the Blind Critic") || line.contains("reject,");
    let message = line
        .strip_prefix("● ")
        .or_else(|| line.strip_prefix("▲ ").filter(|message| objects(message)))?;
    let seat = message.split(' ').next()?;
    ["ann", "bob", "cid"].contains(&seat).then_some(seat)
}

/// A document without the values that differ between runs.
pub fn stable_document(document: &Value) -> Value {
    let mut report = document["report"].clone();
    // An interrupted run has none.
    report.as_object_mut().and_then(|report| report.remove("run_id"));
    let mut essence = json!({ "report": report });
    for field in ["status", "terminal_state", "conclusion", "draft", "explanation", "audit"] {
        essence[field] = value_at(document, field).clone();
    }
    // A dialogue led by a Judge has no panel.
    for field in ["tally", "peer_choice", "panel", "flags", "warnings"] {
        essence[field] = document[field].clone();
    }
    essence
}
