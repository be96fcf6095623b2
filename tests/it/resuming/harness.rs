//! Harness: a folder with a store, three seats behind a model server, and councils run by the real
//! program, one process after another.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use plenary::domain::change::Entry;
use plenary::store::{SqliteStore, Store};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use super::attempts::{Life, complaints, in_flight, lifecycle, lost, transcript};
use super::scripted_seats::{Finale, life, play, round, seat};
use crate::kit::{ModelServer, Play, Program, Seen, at};

/// Timeout on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct House {
    pub program: Program,
    pub server: ModelServer,
    store: SqliteStore,
}

impl House {
    pub fn new() -> Self {
        Self::playing(play)
    }

    pub fn playing(script: impl Fn(&Seen) -> Play + Send + Sync + 'static) -> Self {
        Self::playing_over(Program::new(), script)
    }

    /// With an existing store.
    pub fn over(program: Program) -> Self {
        Self::playing_over(program, play)
    }

    fn playing_over(
        program: Program,
        script: impl Fn(&Seen) -> Play + Send + Sync + 'static,
    ) -> Self {
        let store = SqliteStore::open(&program.path().join(".plenary/plenary.db")).unwrap();
        Self { program, server: ModelServer::start(script), store }
    }

    /// Writes the settings of one attempt; its name is part of the request path.
    pub fn settings(&self, life: &str, more: &str) -> String {
        let url = self.server.base_url().replace("/v1", &format!("/{life}/v1"));
        let seats = [("ann", "participant, chair"), ("bob", "participant"), ("cid", "participant")];
        let seats = seats.map(|(name, roles)| {
            format!(
                "    - {{name: {name}, role: [{roles}], model: model-{name}, family: {name}, \
                 dialect: openai, base_url: \"{url}\", max_output_tokens: 1000, \
                 price: {{input_per_mtok: 1, output_per_mtok: 1}}}}\n"
            )
        });
        self.write(life, &format!("council:\n  providers:\n{}{more}", seats.concat()))
    }

    pub fn write(&self, name: &str, yaml: &str) -> String {
        let name = format!("{name}.yaml");
        std::fs::write(self.program.path().join(&name), yaml).unwrap();
        name
    }

    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.program.command();
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The requests of an attempt, such as `R1 ann`.
    pub fn asked(&self, name: &str) -> Vec<String> {
        let seen = self.server.seen();
        seen.iter().filter(|seen| life(seen) == name).map(named).collect()
    }

    /// The id of the council on a question, once it exists.
    pub fn id(&self, question: &str) -> Option<String> {
        let path = self.program.path().join(".plenary/plenary.db");
        let found = "SELECT dialogue_id FROM dialogues WHERE title = ?1";
        let connection = Connection::open(path).unwrap();
        connection.query_row(found, [question], |row| row.get(0)).optional().unwrap()
    }

    pub fn journal(&self, id: &str) -> Vec<Entry> {
        self.store.entries(&id.parse().unwrap(), 0).unwrap()
    }

    /// Lifecycle and terminal state in the dialogue's row.
    pub fn standing(&self, id: &str) -> (String, Option<String>) {
        let path = self.program.path().join(".plenary/plenary.db");
        let found = "SELECT lifecycle, terminal_state FROM dialogues WHERE dialogue_id = ?1";
        let connection = Connection::open(path).unwrap();
        connection.query_row(found, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }
}

/// The name of a request, such as `R1 ann`.
pub fn named(seen: &Seen) -> String {
    format!("R{} {}", round(seen), seat(seen))
}

/// One council and the attempts to run it so far.
pub struct Council<'a> {
    house: &'a House,
    pub question: String,
    pub finale: Finale,
    /// Further lines of the settings.
    pub more: String,
    pub lives: Vec<Life>,
}

impl<'a> Council<'a> {
    /// A council that ends with its report.
    pub fn new(house: &'a House, question: &str) -> Self {
        Self::ending(house, question, Finale::Report)
    }

    pub fn ending(house: &'a House, question: &str, finale: Finale) -> Self {
        let (question, more) = (question.to_owned(), String::new());
        Self { house, question, finale, more, lives: Vec::new() }
    }

    /// Starts the next process. The seats in `held`, such as `opinion-bob`, never answer it.
    pub fn start(&self, held: &[&str]) -> Process<'_> {
        self.start_with(held, &[])
    }

    /// The same, with further arguments.
    pub fn start_with(&self, held: &[&str], further: &[&str]) -> Process<'_> {
        let id = self.house.id(&self.question);
        let command = match &id {
            Some(id) => vec!["resume", id],
            None => [&["ask", &self.question], self.finale.arguments()].concat(),
        };
        self.run(&[&command, further].concat(), held)
    }

    /// The same with `conclude`, for a council without a conclusion.
    pub fn conclude(&self, held: &[&str]) -> Process<'_> {
        let id = self.id().unwrap();
        self.run(&[&["conclude", &id], self.finale.arguments()].concat(), held)
    }

    fn run(&self, command: &[&str], held: &[&str]) -> Process<'_> {
        let (nth, finale, held) = (self.lives.len(), self.finale.word(), held.join("."));
        let life = format!("{}-{nth}.{finale}.{held}", self.question);
        let settings = self.house.settings(&life, &self.more);
        let child = self.house.spawn(&[command, &["--json", "--config", &settings]].concat());
        Process { child, life, house: self.house, question: &self.question }
    }

    pub fn id(&self) -> Option<String> {
        self.house.id(&self.question)
    }

    /// Records the end of a killed process and verifies the store.
    #[track_caller]
    pub fn died(&mut self, dead: Dead) {
        let Some(id) = self.id() else {
            assert_eq!(dead.asked, [""; 0], "somebody was asked before anything was written");
            return;
        };
        let verified = self.house.program.run(&["verify", &id, "--json"]);
        assert_eq!(verified.code, 0, "{}: {verified:?}", self.question);
        self.note(&id, Life { asked: dead.asked, told: dead.told, journal: Vec::new() });
    }

    /// Stores an attempt; the dialogue's row must agree with its journal.
    #[track_caller]
    fn note(&mut self, id: &str, life: Life) {
        let journal = self.house.journal(id);
        assert_eq!(self.house.standing(id).0, lifecycle(&journal), "{}", self.question);
        self.lives.push(Life { journal, ..life });
    }

    /// Records the end of a process that stopped by itself; returns its exit code and document.
    #[track_caller]
    pub fn stopped(&mut self, end: (i32, Value, Life)) -> (i32, Value) {
        let (code, document, life) = end;
        let id = self.id().unwrap();
        self.note(&id, life);
        (code, document)
    }

    /// Runs the council to its end and checks all attempts.
    #[track_caller]
    pub fn finish(&mut self) -> Value {
        self.finish_with(&[])
    }

    /// The same, with further arguments.
    #[track_caller]
    pub fn finish_with(&mut self, further: &[&str]) -> Value {
        let end = self.start_with(&[], further).end();
        let (code, document) = self.stopped(end);
        assert_eq!(code, 0, "{}: {document:#}", self.question);
        assert_eq!(complaints(&self.lives), [""; 0], "{}", self.question);
        let (last, dead) = self.lives.split_last().unwrap();
        let repeated = lost(dead).len();
        assert_eq!(at(&document, "metrics.session.repeated_calls"), repeated);
        assert_eq!(at(&document, "transparency.starts"), &json!(self.starts()));
        assert_eq!(last.told, last.heard_since(dead.last()), "{}", self.question);
        let state = self.finale.terminal_state();
        assert_eq!(at(&document, "terminal_state"), &json!(state), "{}", self.question);
        let standing = ("terminal".to_owned(), state.map(str::to_owned));
        assert_eq!(self.house.standing(&self.id().unwrap()), standing, "{}", self.question);
        document
    }

    fn starts(&self) -> usize {
        transcript(&self.lives.last().unwrap().journal).owners.len()
    }
}

/// A process that runs a council.
pub struct Process<'a> {
    child: Child,
    pub life: String,
    house: &'a House,
    question: &'a str,
}

/// Requests and progress lines of a killed process.
pub struct Dead {
    asked: Vec<String>,
    told: Vec<String>,
}

impl Process<'_> {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a condition is true for the number of journal entries, or the process exits.
    pub fn wait_for(&mut self, mut condition: impl FnMut(usize) -> bool) {
        let path = self.house.program.path().join(".plenary/plenary.db");
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
            assert!(start.elapsed() < PATIENCE, "{} stands still at {entries}", self.question);
        }
    }

    /// Waits until `times` calls were sent and all but `unanswered` are answered.
    pub fn wait_until_asked(&mut self, times: usize, unanswered: usize) {
        let (house, question, life) = (self.house, self.question, self.life.clone());
        self.wait_for(|_| {
            std::thread::sleep(Duration::from_millis(2));
            let Some(id) = house.id(question) else { return false };
            house.asked(&life).len() == times && in_flight(&house.journal(&id)).len() == unanswered
        });
    }

    pub fn kill(mut self) -> Dead {
        self.child.kill().unwrap();
        let output = self.child.wait_with_output().unwrap();
        let told = told(&String::from_utf8(output.stderr).unwrap());
        // Its last requests may still be on their way.
        std::thread::sleep(Duration::from_millis(10));
        Dead { asked: self.house.asked(&self.life), told }
    }

    /// Waits for the exit: code, document and attempt.
    #[track_caller]
    pub fn end(self) -> (i32, Value, Life) {
        let output = self.child.wait_with_output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let document = serde_json::from_str(&stdout)
            .unwrap_or_else(|_| panic!("{}: no document: {stdout}{stderr}", self.question));
        let asked = self.house.asked(&self.life);
        let life = Life { asked, told: told(&stderr), journal: Vec::new() };
        (output.status.code().unwrap(), document, life)
    }
}

/// The answers in the progress lines: a heading names the round, a line such as `● ann  approve`
/// the seat. Answers of earlier attempts come before the first heading.
fn told(stderr: &str) -> Vec<String> {
    let (mut round, mut told) = (None, Vec::new());
    for line in stderr.lines().map(str::trim) {
        if let Some(heading) = line.strip_prefix("─ ") {
            round = Some(round_of(heading));
        } else if let (Some(round), Some(seat)) = (round, spoke(line)) {
            told.push(format!("R{round} {seat}"));
        }
    }
    told.sort();
    told
}

fn round_of(heading: &str) -> u8 {
    let headings = [
        "R1 independent opinions",
        "R2 cross review",
        "R3 chair's report",
        "Conclusion",
        "Blind audit",
        "Revision",
        "Blind audit, the second look",
    ];
    let place = headings.iter().position(|known| *known == heading);
    place.unwrap_or_else(|| panic!("no round is called {heading:?}")) as u8 + 1
}

/// The seat whose answer a line reports; an objection is one too.
fn spoke(line: &str) -> Option<&str> {
    let objects = |line: &str| line.contains("the Blind Critic");
    let said =
        line.strip_prefix("● ").or_else(|| line.strip_prefix("▲ ").filter(|said| objects(said)))?;
    let seat = said.split(' ').next()?;
    ["ann", "bob", "cid"].contains(&seat).then_some(seat)
}

/// A document without the values that differ between runs.
pub fn essence(document: &Value) -> Value {
    let mut report = document["report"].clone();
    // An interrupted run has none.
    report.as_object_mut().and_then(|report| report.remove("run_id"));
    let mut essence = json!({ "report": report });
    for field in ["status", "terminal_state", "conclusion", "draft", "explanation", "audit"] {
        essence[field] = at(document, field).clone();
    }
    // A dialogue led by a Judge has no panel.
    for field in ["tally", "peer_choice", "panel", "flags", "warnings"] {
        essence[field] = document[field].clone();
    }
    essence
}
