//! Several processes at once, and processes that are killed.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::{TestProgram, make_batch, make_item, make_pool, pick_repeats, value_at};

fn spawn_program(program: &TestProgram, arguments: &[&str]) -> Child {
    let mut command = program.command();
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for all and returns exit codes and documents; no output may mention a lock.
fn wait_all(children: Vec<Child>) -> Vec<(i32, Value)> {
    let finished = children.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(!stdout.contains("locked") && !stderr.contains("locked"), "{stdout}{stderr}");
        let document = serde_json::from_str(&stdout)
            .unwrap_or_else(|_| panic!("no document: {stdout}{stderr}"));
        (output.status.code().unwrap(), document)
    });
    finished.collect()
}

#[test]
fn the_same_title_at_the_same_time_gets_different_ids() {
    let program = TestProgram::new();
    let file = program.write_json(
        "create.json",
        &json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) }),
    );
    let children = (0..12)
        .map(|_| spawn_program(&program, &["dialogue", "create", "--data", &file, "--json"]));
    let mut ids: Vec<String> = wait_all(children.collect())
        .iter()
        .map(|(code, created)| {
            assert_eq!(*code, 0, "{created:#}");
            value_at(created, "dialogue_id").as_str().unwrap().to_owned()
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 12);
    assert_eq!(program.run_command(&["verify"]).code, 0);
}

#[test]
fn one_of_several_batches_for_a_round_wins_and_the_others_hear_it() {
    let program = TestProgram::new();
    program.run_operation(
        "create",
        &json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) }),
    );
    let files: Vec<String> = (0..8)
        .map(|writer| {
            let fields = json!({ "summary": format!("writer {writer}"), "perspectives": [make_item("ANN-P0001", "")] });
            program.write_json(&format!("batch-{writer}.json"), &make_batch(0, fields))
        })
        .collect();
    let children = files
        .iter()
        .map(|file| spawn_program(&program, &["dialogue", "register", "--data", file, "--json"]));
    let answers = wait_all(children.collect());
    let won = answers.iter().filter(|(code, _)| *code == 0).count();
    assert_eq!(won, 1);
    for (_, refusal) in answers.iter().filter(|(code, _)| *code != 0) {
        assert_eq!(value_at(refusal, "errors.0.error_code"), "round_already_registered");
    }
    assert_eq!(program.run_command(&["verify"]).code, 0);
}

#[test]
fn writers_of_different_dialogues_do_not_lose_a_round() {
    let program = TestProgram::new();
    for _ in 0..4 {
        program.run_operation(
            "create",
            &json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) }),
        );
    }
    for round in 0..3 {
        let children = ["talk", "talk-2", "talk-3", "talk-4"].iter().map(|id| {
            let mut document = make_batch(
                round,
                json!({ "tensions": [make_item(&format!("BOB-T{round:02}01"), "")] }),
            );
            document["dialogue_id"] = json!(id);
            let file = program.write_json(&format!("{id}-{round}.json"), &document);
            spawn_program(&program, &["dialogue", "register", "--data", &file, "--json"])
        });
        assert!(wait_all(children.collect()).iter().all(|(code, _)| *code == 0));
    }
    let listed: Value =
        serde_json::from_str(&program.run_command(&["list", "--json"]).stdout).unwrap();
    let rounds: Vec<&Value> = value_at(&listed, "dialogues")
        .as_array()
        .unwrap()
        .iter()
        .map(|d| value_at(d, "rounds"))
        .collect();
    assert_eq!(rounds, [3, 3, 3, 3]);
    assert_eq!(program.run_command(&["verify"]).code, 0);
}

/// A batch that takes long enough to be interrupted.
fn heavy_batch(dialogue: &str, round: u8) -> Value {
    let content = "A position takes room. ".repeat(200);
    let claim = format!("ANN-C{round:02}01");
    let perspectives = (1..=99).map(|seq| {
        let mut perspective =
            make_item(&format!("ANN-P{round:02}{seq:02}"), &format!("support {claim}"));
        perspective["content"] = json!(content);
        perspective
    });
    let fields = json!({
        "dialogue_id": dialogue,
        "perspectives": perspectives.collect::<Vec<_>>(),
        "claims": [make_item(&claim, "")],
    });
    make_batch(round, fields)
}

/// The newest round of a dialogue and its number of perspectives.
fn newest_round(program: &TestProgram, dialogue: &str) -> (u64, u64) {
    let ran = program.run_command(&["dialogue", "progress", dialogue, "--json"]);
    let progress: Value = serde_json::from_str(&ran.stdout).unwrap();
    let number = |path| value_at(&progress, path).as_u64().unwrap();
    (number("round"), number("new_perspectives"))
}

#[test]
fn a_killed_register_is_whole_or_absent() {
    let program = TestProgram::new();
    let open = || {
        let (_, created) = program.run_operation(
            "create",
            &json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) }),
        );
        value_at(&created, "dialogue_id").as_str().unwrap().to_owned()
    };
    let mut dialogue = open();
    let started = Instant::now();
    program.run_operation("register", &heavy_batch(&dialogue, 0));
    let usual = started.elapsed();
    let (mut round, mut whole, mut absent) = (1_u8, 0, 0);
    let attempts = pick_repeats(20, 500);
    for attempt in 0..attempts {
        let file = program.write_json("heavy.json", &heavy_batch(&dialogue, round));
        let mut child =
            spawn_program(&program, &["dialogue", "register", "--data", &file, "--json"]);
        // Kill times spread over the whole run and a little beyond its end.
        let moment = 1.2 * f64::from(attempt * 7 % attempts) / f64::from(attempts);
        std::thread::sleep(Duration::from_secs_f64(usual.as_secs_f64() * moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let verified = program.run_command(&["verify", &dialogue, "--json"]);
        assert_eq!(verified.code, 0, "after kill {attempt}: {:.2000}", verified.stdout);
        match newest_round(&program, &dialogue) {
            (reached, 99) if reached == u64::from(round) => (whole, round) = (whole + 1, round + 1),
            (before, 99) if before == u64::from(round) - 1 => absent += 1,
            half => panic!("after kill {attempt} the round is half there: {half:?}"),
        }
        if round == 30 {
            // A long dialogue takes long to verify; continue with a new one.
            dialogue = open();
            program.run_operation("register", &heavy_batch(&dialogue, 0));
            round = 1;
        }
    }
    assert!(absent > 0, "no kill came in time: {whole} whole, {absent} absent");
    assert_eq!(program.run_command(&["verify"]).code, 0);
}
