//! The real program before a scripted server: a process that is killed, and calls outside a run.

use std::process::Stdio;
use std::sync::Arc;

use plenary_core::model::run_state::RunState;
use plenary_core::report::scoreboard::record_scoreboard;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use serde_json::{Value, json};

use super::harness::{AlignmentRequest, QUESTION, read_request};
use super::scripted_panel::usual_reply;
use crate::kit::{
    ModelRequest, ModelServer, ReplyGate, ScriptedReply, TestProgram, TestProject, make_pool,
    value_at, wait_until_blocking,
};

/// A folder whose settings name three models on one server.
struct ProgramSetup {
    program: TestProgram,
    server: Arc<ModelServer>,
}

impl ProgramSetup {
    fn new(script: impl Fn(&ModelRequest) -> ScriptedReply + Send + Sync + 'static) -> Self {
        let setup =
            Self { program: TestProgram::new(), server: Arc::new(ModelServer::start(script)) };
        let url = setup.server.base_url();
        let providers = [
            ("ann", "participant, chair"),
            ("bob", "participant"),
            ("cid", "participant"),
        ]
        .map(|(name, roles)| {
            format!(
                "    - {{name: {name}, role: [{roles}], model: model-{name}, family: {name}, \
                     dialect: openai, base_url: \"{url}\", max_output_tokens: 1000, \
                     price: {{input_per_mtok: 1000, output_per_mtok: 1000}}}}\n"
            )
        });
        let limits = "budget: {usd_max: 1000}\n";
        let settings = format!("{limits}council:\n  providers:\n{}", providers.concat());
        setup.program.write_text("council.yaml", &settings);
        setup.program.write_json("experts.json", &make_pool(&["muffin", "cupcake", "scone"]));
        setup
    }

    fn run_json(&self, arguments: &[&str]) -> Value {
        let ran = self.program.run_command(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
    }

    /// What makes each request of a run unlike the others.
    fn asked(&self) -> Vec<String> {
        let seen = self.server.requests();
        seen.iter().map(|seen| format!("{:?}", read_request(seen))).collect()
    }
}

fn usual(seen: &ModelRequest) -> ScriptedReply {
    let (purpose, round, expert) = read_request(seen);
    let asked = AlignmentRequest { purpose, round, expert, nth: 1, request: seen };
    ScriptedReply::Reply(usual_reply(&asked))
}

#[test]
fn a_killed_process_is_resumed_without_paying_a_reply_twice() {
    let gate = ReplyGate::default();
    let held = gate.clone();
    // Scone's reply of round 1 waits; all others have arrived when the process dies.
    let setup = ProgramSetup::new(move |seen| {
        let (_, round, expert) = read_request(seen);
        match (round, expert.as_str()) {
            (1, "scone") => ScriptedReply::Gated(held.clone(), Box::new(usual(seen))),
            _ => usual(seen),
        }
    });
    let arguments =
        ["align", QUESTION, "--experts", "experts.json", "--panel", "3", "--no-conclusion"];
    let mut command = setup.program.command();
    let command = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // Round 0 takes four calls; then come the panel and three experts.
    let replies = || {
        let listed = setup.program.run_command(&["list", "--json", "--all"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
        let id = listed.pointer("/dialogues/0/dialogue_id").and_then(Value::as_str);
        id.map(str::to_owned)
    };
    assert!(wait_until_blocking(|| setup.asked().len() >= 8), "{:?}", setup.asked());
    std::thread::sleep(std::time::Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    let id = replies().expect("nothing was recorded");
    let before = setup.asked();
    assert_eq!(before.len(), 8, "{before:?}");
    gate.open();
    let document = setup.run_json(&["resume", &id]);
    assert_eq!(value_at(&document, "stop_reason"), "converged");
    let after = &setup.asked()[before.len()..];
    let again: Vec<&String> = after.iter().filter(|asked| before.contains(asked)).collect();
    assert_eq!(again.len(), 1, "only scone's lost call is repeated: {again:?}");
    assert!(again[0].contains("scone"));
    assert_eq!(setup.program.run_command(&["verify"]).code, 0);
}

/// A calibrated dialogue with two rules, and a model that finds a conflict between them.
fn calibrated_talk() -> ProgramSetup {
    let setup = ProgramSetup::new(|_| {
        let reply = json!({ "conflicts": [{
            "a": "RULE01", "b": "RULE02", "type": "contradiction", "quote_a": "Every figure",
            "quote_b": "No figures", "resolution": "a_supersedes", "reason": "Both are about figures.",
        }] });
        ScriptedReply::Reply(reply.to_string())
    });
    let add = |label: &str, text: &str| {
        setup.run_json(&["ethos", "principle", "add", label, "--text", text]);
    };
    add("Cite", "Every figure names its source.");
    add("Brief", "No figures in the summary.");
    let create = json!({ "title": "Talk", "calibrated": true });
    let (code, created) = setup.program.run_operation("create", &create);
    assert_eq!(code, 0, "{created:#}");
    setup
}

#[test]
fn a_model_that_looks_for_conflicts_is_on_record_and_in_the_cost() {
    let setup = calibrated_talk();
    let made = setup.run_json(&["ethos", "synthesize", "talk", "--detect", "model"]);
    assert_eq!(value_at(&made, "open_conflicts"), 1, "{made:#}");
    assert_eq!(setup.server.requests().len(), 1);
    let cost = setup.run_json(&["cost"]);
    let row = &value_at(&cost, "rows")[0];
    assert_eq!((&row["key"], &row["calls"]), (&json!("model-ann"), &json!(1)), "{cost:#}");
    assert!(row["usd"].as_f64().unwrap() > 0.0, "{cost:#}");
    let log = setup.program.run_command(&["replay", "talk", "--json"]);
    let verified = setup.program.run_command(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?} {log:?}");
    let call = setup.program.run_command(&["show", "talk", "--call", "1"]);
    assert!(call.code == 0 && call.stdout.contains("No figures"), "{call:?}");
    let prompts = setup.program.run_command(&["show", "talk", "--prompts"]);
    assert!(prompts.stdout.contains("Every figure names its source."), "{prompts:?}");
    // The next synthesis asks again, as the second ask.
    setup.run_json(&["ethos", "synthesize", "talk", "--detect", "model"]);
    assert_eq!(value_at(&setup.run_json(&["cost"]), "rows.0.calls"), 2);
    // What was spent does not depend on the settings of today.
    setup.program.write_text("council.yaml", "council: {providers: 7}\n");
    assert_eq!(value_at(&setup.run_json(&["cost"]), "rows.0.calls"), 2);
}

#[test]
fn processes_that_look_for_conflicts_at_once_number_their_calls_apart() {
    const PROCESSES: u32 = 6;
    let setup = calibrated_talk();
    let start = |_| {
        let mut command = setup.program.command();
        command.args(["ethos", "synthesize", "talk", "--detect", "model"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let running: Vec<_> = (0..PROCESSES).map(start).collect();
    for mut child in running {
        child.wait().unwrap();
    }
    assert_eq!(setup.server.requests().len(), PROCESSES as usize);
    let store = SqliteStore::open(&setup.program.path().join(".plenary/plenary.db")).unwrap();
    let entries = store.load_entries(&"talk".parse().unwrap(), 0).unwrap();
    let state = RunState::from_journal(&entries).unwrap();
    let mut calls: Vec<u32> = state.all_calls().map(|call| call.dispatch.call).collect();
    calls.sort_unstable();
    assert_eq!(calls, Vec::from_iter(1..=PROCESSES));
    let asks: Vec<u32> = state.asks.iter().map(|asked| asked.ask.id).collect();
    assert_eq!(asks, Vec::from_iter(1..=PROCESSES));
    assert_eq!(value_at(&setup.run_json(&["cost"]), "rows.0.calls"), PROCESSES);
}

#[test]
fn an_agent_types_the_four_parts_of_a_score_and_nothing_that_code_counts() {
    let bench = TestProject::new();
    bench.run_ok("create", &json!({ "title": "Talk", "expert_pool": make_pool(&["ann"]) }));
    let typed = json!({ "ann": { "wisdom": 1, "consistency": 2, "truth": 3, "relationships": 4,
        "calibration": 9, "quotes": ["never said"] } });
    let batch =
        json!({ "dialogue_id": "talk", "round": 0, "score": 10, "score_components": typed });
    let answer = bench.run_ok("register", &batch);
    let warnings = value_at(&answer, "warnings").to_string();
    assert!(warnings.contains("'calibration'") && warnings.contains("'quotes'"), "{warnings}");
    let record = bench.store().load_record(&"talk".parse().unwrap()).unwrap().unwrap();
    let board = record_scoreboard(&record).unwrap();
    let row = board.rounds[0].experts.values().next().unwrap();
    assert_eq!((row.total, row.calibration, row.quotes.len()), (10, None, 0));
}
