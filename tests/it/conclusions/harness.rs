//! Harness: a council run by a process, and interventions from other processes.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use plenary_core::model::ask::{Ask, AskMessages, AskPurpose, CallOutcome, CallState};
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::run_state::RunState;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use crate::councils::harness::{CommandResult, TestCouncil, seat_of};
use crate::kit::{ModelRequest, ScriptedReply, purpose_of};

/// Timeout on a machine that is busy with other tests.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) const QUESTION: &str = "Shall we go ahead?";

/// A running `plenary` process.
pub(super) struct CouncilProcess<'a> {
    pub council: &'a TestCouncil,
    child: Child,
}

impl<'a> CouncilProcess<'a> {
    /// Starts `ask` with further arguments.
    pub(super) fn start_ask(council: &'a TestCouncil, arguments: &[&str]) -> Self {
        Self::start_command(council, &[&["ask", "--json", QUESTION], arguments].concat())
    }

    pub(super) fn start_command(council: &'a TestCouncil, arguments: &[&str]) -> Self {
        let mut command = council.program.command();
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { council, child: command.spawn().unwrap() }
    }

    /// Waits until `called` calls were made for a purpose and `in_flight` of them are unanswered.
    #[track_caller]
    pub(super) fn wait_until_called(
        &mut self,
        purpose: AskPurpose,
        called: usize,
        in_flight: usize,
    ) {
        self.wait_until_state(|state| {
            let asked = state.asks.iter().filter(|asked| asked.ask.purpose == purpose);
            let calls: Vec<_> = asked.flat_map(|asked| &asked.calls).collect();
            let is_open = |call: &&&CallState| call.outcome == CallOutcome::InFlight;
            calls.len() == called && calls.iter().filter(is_open).count() == in_flight
        });
        // Calls in the journal were sent, but may not have arrived yet.
        let start = Instant::now();
        while self.council.call_count(purpose) < called {
            assert!(start.elapsed() < WAIT_TIMEOUT, "a call never arrived");
            sleep(Duration::from_millis(2));
        }
    }

    /// Waits until a condition is true for the run.
    #[track_caller]
    pub(super) fn wait_until_state(&mut self, condition: impl Fn(&RunState) -> bool) {
        let start = Instant::now();
        loop {
            let ended = self.child.try_wait().unwrap();
            if read_run_state(self.council).is_some_and(|known| condition(&known)) {
                return;
            }
            assert!(ended.is_none(), "it ended before it came to that: {ended:?}");
            assert!(start.elapsed() < WAIT_TIMEOUT, "it never came to that");
            sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn has_exited(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Runs `whisper`, `direct` or `stop` in another process.
    #[track_caller]
    pub(super) fn intervene(&self, words: &[&str]) -> CommandResult {
        intervene_in(self.council, words)
    }

    /// Waits until the process exits.
    #[track_caller]
    pub(super) fn wait_result(self) -> CommandResult {
        let output = self.child.wait_with_output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let document = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("no document: {error}\n{stdout}{stderr}"));
        self.council.assert_verified();
        CommandResult { code: output.status.code().unwrap_or(-1), document, stderr }
    }

    /// The same, for a command that prints one document per line.
    #[track_caller]
    pub(super) fn wait_lines(self) -> Vec<Value> {
        let output = self.child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let events = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        // What a seat is writing is shown live only; a replay has no such events.
        events.filter(|event| event["event"] != "writing").collect()
    }

    pub(super) fn kill_process(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.council.assert_verified();
    }
}

/// Intervenes in the only council of the project.
#[track_caller]
pub(super) fn intervene_in(council: &TestCouncil, words: &[&str]) -> CommandResult {
    let (command, rest) = words.split_first().unwrap();
    let id = find_dialogue_id(council).unwrap();
    council.run_command(&[&[command, id.as_str()], rest, &["--json"]].concat())
}

#[track_caller]
pub(super) fn resume_council(council: &TestCouncil) -> CommandResult {
    council.run_command(&["resume", &find_dialogue_id(council).unwrap(), "--json", "--quiet"])
}

/// The id of the only dialogue, once it exists.
pub(super) fn find_dialogue_id(council: &TestCouncil) -> Option<String> {
    let path = council.program.path().join(".plenary/plenary.db");
    // A store that is being created has no tables yet.
    let connection = path.exists().then(|| Connection::open(path).ok())??;
    let query = "SELECT dialogue_id FROM dialogues";
    connection.query_row(query, [], |row| row.get(0)).optional().ok()?
}

pub(super) fn read_journal(council: &TestCouncil) -> Vec<JournalEntry> {
    let path = council.program.path().join(".plenary/plenary.db");
    let id = find_dialogue_id(council).unwrap();
    SqliteStore::open(&path).unwrap().load_entries(&id.parse().unwrap(), 0).unwrap()
}

fn read_run_state(council: &TestCouncil) -> Option<RunState> {
    find_dialogue_id(council)?;
    RunState::from_entries(&read_journal(council))
}

/// The program's output must match the record, and it must print each answer once.
#[track_caller]
pub(super) fn check_output(council: &TestCouncil, result: &CommandResult) {
    let again = council.run_command(&["resume", result.dialogue_id(), "--json", "--quiet"]);
    assert_eq!(again.document, result.document);
    let mut lines: Vec<&str> =
        result.stderr.lines().filter(|line| line.trim_start().starts_with('●')).collect();
    lines.sort_unstable();
    assert!(!lines.windows(2).any(|pair| pair[0] == pair[1]), "{}", result.stderr);
}

/// Seats that were sent a text, such as `review ann`, sorted.
pub(super) fn seats_sent(council: &TestCouncil, text: &str) -> Vec<String> {
    let seen = council.server.requests();
    let carriers = seen.iter().filter(|seen| seen.body.to_string().contains(text));
    let mut carriers: Vec<String> =
        carriers.map(|seen| format!("{} {}", purpose_of(seen).name(), seat_of(seen))).collect();
    carriers.sort();
    carriers
}

/// Every ask of a journal with the interventions recorded before it.
pub(super) type AskContexts = Vec<(Ask, AskMessages, Vec<(u8, Intervention)>)>;

pub(super) fn ask_contexts(journal: &[JournalEntry]) -> AskContexts {
    let mut asks: AskContexts = Vec::new();
    let (mut message, mut blocks) = (Vec::new(), Vec::new());
    for change in journal.iter().flat_map(|entry| &entry.events) {
        if let JournalEvent::Intervened { round, intervention } = change {
            message.push((*round, intervention.clone()));
        }
        if let JournalEvent::SharedBlockPrepared(prepared) = change {
            assert!(!blocks.contains(prepared), "a block is in the journal twice");
            blocks.push(prepared.clone());
        }
        if let JournalEvent::AskPrepared { ask, messages, .. } = change {
            let stored = messages.as_ref().unwrap();
            let earlier = stored
                .common
                .and_then(|common| asks.iter().find(|(earlier, ..)| earlier.id == common.ask));
            let messages = stored.to_whole(&blocks, earlier.map(|(_, sent, _)| sent)).unwrap();
            asks.push((ask.clone(), messages, message.clone()));
        }
    }
    asks
}

/// Checks every ask against the interventions before it in the journal, which all have unique
/// texts, and every request against the journal.
#[track_caller]
pub(super) fn check_intervention_delivery(council: &TestCouncil) {
    check_delivery_in(&read_journal(council), &council.server.requests());
}

/// The same for a given journal and given requests.
#[track_caller]
pub(super) fn check_delivery_in(journal: &[JournalEntry], all_seen: &[ModelRequest]) {
    let (asks, changes) = (ask_contexts(journal), journal.iter().flat_map(|entry| &entry.events));
    let all: Vec<&Intervention> = changes
        .filter_map(|change| {
            let JournalEvent::Intervened { intervention, .. } = change else { return None };
            Some(intervention)
        })
        .collect();
    for (ask, messages, before) in &asks {
        for intervention in &all {
            let Some(text) = intervention_text(intervention) else { continue };
            let is_due = before
                .iter()
                .any(|(round, known)| known == *intervention && is_visible_to(known, *round, ask));
            assert_eq!(messages.user.contains(text), is_due, "{ask:?} and {intervention:?}");
            assert!(!messages.system.contains(text), "{ask:?}");
        }
    }
    for seen in all_seen {
        let is_it = |(_, messages, _): &(Ask, AskMessages, _)| {
            (&messages.system, &messages.user_message()) == (&seen.system, &seen.user)
        };
        let is_restatement = purpose_of(seen) == AskPurpose::Restatement;
        assert!(is_restatement || asks.iter().any(is_it), "nobody wrote down: {}", seen.user);
    }
}

/// The rules of the documentation, implemented a second time.
fn is_visible_to(intervention: &Intervention, round: u8, ask: &Ask) -> bool {
    let is_critic = ask.purpose == AskPurpose::Audit;
    let is_in_rounds = [1, 2, 3].contains(&ask.round);
    match intervention {
        Intervention::Whisper { to: Some(seat), .. } => is_in_rounds && *seat == ask.seat,
        Intervention::Whisper { to: None, .. } => !is_critic,
        Intervention::Directive { confirmed, .. } => *confirmed && !is_critic && round < ask.round,
        Intervention::Stop => false,
    }
}

fn intervention_text(intervention: &Intervention) -> Option<&str> {
    match intervention {
        Intervention::Whisper { text, .. } | Intervention::Directive { text, .. } => Some(text),
        Intervention::Stop => None,
    }
}

/// The interventions in a document, without their time.
pub(super) fn read_interventions(result: &CommandResult) -> Value {
    let mut all = result.value_at("interventions").clone();
    for one in all.as_array_mut().unwrap() {
        one.as_object_mut().unwrap().remove("at");
    }
    all
}

pub(super) fn text_reply(text: &str) -> ScriptedReply {
    ScriptedReply::Reply(text.to_owned())
}
