//! Several processes at once, and processes that die in the middle.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::{Program, at, batch, item, pool, times};

fn spawn(program: &Program, arguments: &[&str]) -> Child {
    let mut command = program.command();
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for all and returns exit codes and documents; nobody may hear of a lock.
fn finish(children: Vec<Child>) -> Vec<(i32, Value)> {
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
    let program = Program::new();
    let file = program
        .file("create.json", &json!({ "title": "Talk", "expert_pool": pool(&["ann", "bob"]) }));
    let children =
        (0..12).map(|_| spawn(&program, &["dialogue", "create", "--data", &file, "--json"]));
    let mut ids: Vec<String> = finish(children.collect())
        .iter()
        .map(|(code, created)| {
            assert_eq!(*code, 0, "{created:#}");
            at(created, "dialogue_id").as_str().unwrap().to_owned()
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 12);
    assert_eq!(program.run(&["verify"]).code, 0);
}

#[test]
fn one_of_several_batches_for_a_round_wins_and_the_others_hear_it() {
    let program = Program::new();
    program.operation("create", &json!({ "title": "Talk", "expert_pool": pool(&["ann", "bob"]) }));
    let files: Vec<String> = (0..8)
        .map(|writer| {
            let fields = json!({ "summary": format!("writer {writer}"), "perspectives": [item("ANN-P0001", "")] });
            program.file(&format!("batch-{writer}.json"), &batch(0, fields))
        })
        .collect();
    let children = files
        .iter()
        .map(|file| spawn(&program, &["dialogue", "register", "--data", file, "--json"]));
    let answers = finish(children.collect());
    let won = answers.iter().filter(|(code, _)| *code == 0).count();
    assert_eq!(won, 1);
    for (_, refusal) in answers.iter().filter(|(code, _)| *code != 0) {
        assert_eq!(at(refusal, "errors.0.error_code"), "round_already_registered");
    }
    assert_eq!(program.run(&["verify"]).code, 0);
}

#[test]
fn writers_of_different_dialogues_do_not_lose_a_round() {
    let program = Program::new();
    for _ in 0..4 {
        program
            .operation("create", &json!({ "title": "Talk", "expert_pool": pool(&["ann", "bob"]) }));
    }
    for round in 0..3 {
        let children = ["talk", "talk-2", "talk-3", "talk-4"].iter().map(|id| {
            let mut document =
                batch(round, json!({ "tensions": [item(&format!("BOB-T{round:02}01"), "")] }));
            document["dialogue_id"] = json!(id);
            let file = program.file(&format!("{id}-{round}.json"), &document);
            spawn(&program, &["dialogue", "register", "--data", &file, "--json"])
        });
        assert!(finish(children.collect()).iter().all(|(code, _)| *code == 0));
    }
    let listed: Value = serde_json::from_str(&program.run(&["list", "--json"]).stdout).unwrap();
    let rounds: Vec<&Value> =
        at(&listed, "dialogues").as_array().unwrap().iter().map(|d| at(d, "rounds")).collect();
    assert_eq!(rounds, [3, 3, 3, 3]);
    assert_eq!(program.run(&["verify"]).code, 0);
}

/// A batch that takes long enough to be interrupted.
fn heavy(round: u8) -> Value {
    let content = "A position takes room. ".repeat(200);
    let perspectives = (1..=99).map(|seq| {
        let mut item = item(
            &format!("ANN-P{round:02}{seq:02}"),
            if seq > 1 { "support ANN-C$$01" } else { "" },
        );
        item["content"] = json!(content);
        if let Some(reference) = item.pointer_mut("/references/0/target") {
            *reference = json!(format!("ANN-C{round:02}01"));
        }
        item
    });
    batch(
        round,
        json!({ "perspectives": perspectives.collect::<Vec<_>>(), "claims": [item(&format!("ANN-C{round:02}01"), "")] }),
    )
}

#[test]
fn a_killed_register_is_whole_or_absent() {
    let program = Program::new();
    program.operation("create", &json!({ "title": "Talk", "expert_pool": pool(&["ann", "bob"]) }));
    let started = Instant::now();
    program.operation("register", &heavy(0));
    let usual = started.elapsed();
    let (mut round, mut whole, mut absent) = (1_u8, 0, 0);
    let attempts = times(20, 500);
    for attempt in 0..attempts {
        let file = program.file("heavy.json", &heavy(round));
        let mut child = spawn(&program, &["dialogue", "register", "--data", &file, "--json"]);
        // Moments spread over the whole run, and a little beyond its end.
        std::thread::sleep(Duration::from_secs_f64(
            usual.as_secs_f64() * 1.2 * f64::from(attempt * 7 % attempts) / f64::from(attempts),
        ));
        child.kill().unwrap();
        child.wait().unwrap();
        let verified: Value =
            serde_json::from_str(&program.run(&["verify", "--json"]).stdout).unwrap();
        assert_eq!(at(&verified, "findings"), &json!([]), "after kill {attempt}");
        let progress: Value =
            serde_json::from_str(&program.run(&["dialogue", "progress", "talk", "--json"]).stdout)
                .unwrap();
        match at(&progress, "round").as_u64().unwrap() {
            reached if reached == u64::from(round) => {
                assert_eq!(at(&progress, "new_perspectives"), 99);
                whole += 1;
                round += 1;
            }
            before => {
                assert_eq!(before, u64::from(round) - 1);
                absent += 1;
            }
        }
        if round == 90 {
            break;
        }
    }
    assert!(absent > 0, "no kill came in time: {whole} whole, {absent} absent");
}
