//! A disk that fills during a run: the run reports its id, its saved replies and how to continue,
//! and pays for no saved reply twice.
//!
//! A file size limit simulates the full disk: a write beyond it fails as on a full disk, during the
//! run and in the real program.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use plenary_engine::engine::run_start::load_run;
use plenary_engine::store::sqlite::store::SqliteStore;
use rusqlite::Connection;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use crate::councils::harness::{TestCouncil, seat_of};
use crate::kit::{CommandOutput, ScriptedReply, plenary_binary, purpose_of};
use crate::mcp::stdio_client::StdioClient;

/// The program with a file size limit that can be raised again.
fn limited_command(council: &TestCouncil, bytes_max: u64, arguments: &[&str]) -> Command {
    // The shell counts in blocks of 512 bytes. Ignore the signal, so that a failed write does not
    // end the process.
    let script = "trap '' XFSZ; ulimit -S -f \"$1\"; shift; exec \"$@\"";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "sh", &(bytes_max / 512).to_string()]).arg(plenary_binary());
    command.args(arguments).current_dir(council.program.path()).env_clear().stdin(Stdio::null());
    command
}

fn run_limited(council: &TestCouncil, bytes_max: u64, arguments: &[&str]) -> CommandOutput {
    let output = limited_command(council, bytes_max, arguments).output().unwrap();
    CommandOutput {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Calls per seat and purpose.
fn calls_by_seat(council: &TestCouncil) -> BTreeMap<(String, &'static str), usize> {
    let mut calls = BTreeMap::new();
    for seen in council.server.requests() {
        *calls.entry((seat_of(&seen), purpose_of(&seen).name())).or_default() += 1;
    }
    calls
}

/// The council in the store, if any, and the seats whose replies are saved.
fn saved_replies(council: &TestCouncil) -> Option<(String, Vec<(String, &'static str)>)> {
    let path = council.program.path().join(".plenary/plenary.db");
    let id: Option<String> = Connection::open(&path)
        .unwrap()
        .query_row("SELECT dialogue_id FROM dialogues WHERE protocol = 'council'", [], |row| {
            row.get(0)
        })
        .ok();
    let id = id?;
    let store = SqliteStore::open(&path).unwrap();
    let state = load_run(&store, &id.parse().unwrap()).unwrap().state;
    let answered = state.asks.iter().filter(|asked| asked.last_reply().is_some());
    let kept = answered.map(|asked| (asked.ask.seat.to_string(), asked.ask.purpose.name()));
    Some((id, kept.collect()))
}

/// Runs `ask` with limited space, continues without the limit, and returns how it stopped first.
fn check_with_limit(bytes_max: u64) -> (i32, usize) {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    // Create the store first: the first start writes the schema.
    assert_eq!(council.program.run_command(&["dialogue", "create", "Room"]).code, 0);
    let asking = ["ask", "--json", "--no-conclusion", "Shall we go ahead?"];
    let ran = run_limited(&council, bytes_max, &asking);
    let first = calls_by_seat(&council);
    council.assert_verified();
    let Some((id, kept)) = saved_replies(&council) else {
        assert!([3, 4].contains(&ran.code), "{bytes_max}: {ran:?}");
        assert!(first.is_empty(), "{bytes_max}: asked without a record: {first:?}");
        return (ran.code, 0);
    };
    if ran.code != 0 {
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &document["error_code"]), (3, &"run_halted".into()), "{ran:?}");
        assert_eq!(document["dialogue_id"], id.as_str(), "{document:#}");
        // The writer may save one more reply after the run has stopped, never one less.
        let result = document["replies_kept"].as_u64().unwrap() as usize;
        assert!(result <= kept.len(), "{} are kept: {document:#}", kept.len());
        assert!(result > 0 || kept.len() < 2, "{} are kept: {document:#}", kept.len());
        assert_eq!(document["resume"], format!("plenary resume {id}"), "{document:#}");
        let hint = document["suggestion"].as_str().unwrap();
        assert!(hint.contains(&format!("`plenary resume {id}`")), "{hint}");
        assert!(document["message"].as_str().unwrap().contains(&id), "{document:#}");
        assert!(!ran.stdout.contains("nothing was changed"), "{ran:?}");
    }
    let resumed = council.run_command(&["resume", &id, "--json"]);
    resumed.expect_status("done", 0);
    let after = calls_by_seat(&council);
    for one in &kept {
        assert_eq!(after[one], first[one], "{bytes_max}: {one:?} was paid for twice");
    }
    (ran.code, kept.len())
}

#[test]
fn a_run_that_finds_no_room_says_how_to_continue() {
    let mut halted = Vec::new();
    for room in 1..=14 {
        let (code, kept) = check_with_limit(room * 40 * 1_024);
        if code == 3 && kept > 0 {
            halted.push(kept);
        }
    }
    // The disk filled with no reply saved, with a few, and with more.
    assert!(halted.len() >= 2, "{halted:?}");
}

#[test]
fn the_same_is_said_in_words_and_in_a_batch() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    assert_eq!(council.program.run_command(&["dialogue", "create", "Room"]).code, 0);
    let room = (1..=20).map(|room| room * 30 * 1_024).find_map(|room| {
        let ran = run_limited(&council, room, &["ask", "--no-conclusion", "Shall we?"]);
        (ran.stderr.contains("stopped early")).then_some((room, ran))
    });
    let (room, ran) = room.unwrap();
    let (id, _) = saved_replies(&council).unwrap();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.contains(&format!("the run `{id}` stopped early")), "{ran:?}");
    assert!(ran.stderr.contains(&format!("\n  plenary resume {id}\n")), "{ran:?}");
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    assert_eq!(council.program.run_command(&["dialogue", "create", "Room"]).code, 0);
    council.program.write_text("asked.jsonl", "\"Shall we?\"\n");
    let batch = ["ask", "--batch", "asked.jsonl", "--no-conclusion", "--json"];
    let ran = run_limited(&council, room, &batch);
    let (id, _) = saved_replies(&council).unwrap();
    assert_eq!(ran.code, 3, "{ran:?}");
    let line: Value = serde_json::from_str(ran.stdout.trim()).unwrap();
    assert_eq!(
        (&line["status"], &line["error"]["dialogue_id"]),
        (&"incomplete".into(), &id.into())
    );
}

#[test]
fn a_server_continues_a_run_when_there_is_room_again() {
    let halted = (1..=20).map(|room| room * 30 * 1_024).find_map(|room| {
        let council = TestCouncil::new(|_| ScriptedReply::Valid);
        assert_eq!(council.program.run_command(&["dialogue", "create", "Room"]).code, 0);
        let mut agent =
            StdioClient::without_handshake_from(limited_command(&council, room, &["mcp"]));
        let asking = json!({ "question": "Tea?", "conclusion": false, "wait_seconds": 60 });
        let answer = agent.call_tool("council_ask", &asking)["structuredContent"].clone();
        (answer["result"]["error_code"] == "run_halted").then_some((council, agent, answer))
    });
    let (council, mut agent, answer) = halted.unwrap();
    let (id, kept) = saved_replies(&council).unwrap();
    assert_eq!(
        (&answer["status"], &answer["dialogue_id"]),
        (&"failed".into(), &id.as_str().into())
    );
    assert_eq!(answer["result"]["resume"], format!("plenary resume {id}"));
    let first = calls_by_seat(&council);
    // The server process survives; with free space it continues the failed run.
    let process = Pid::from_raw(i32::try_from(agent.process_id()).unwrap());
    let most = getrlimit(Resource::Fsize).maximum;
    prlimit(process, Resource::Fsize, Rlimit { current: most, maximum: most }).unwrap();
    let asking = json!({ "dialogue_id": id, "resume": true, "wait_seconds": 60 });
    let answer = agent.call_tool_ok("deliberation_status", &asking);
    assert_eq!(answer["status"], "done", "{answer:#}");
    let after = calls_by_seat(&council);
    for one in &kept {
        assert_eq!(after[one], first[one], "{one:?} was paid for twice");
    }
    council.assert_verified();
}
