//! Which model a seat gets: `latest`, `--model`, a misspelled one and its correction; and the list of
//! `plenary models`.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::councils::harness::TestCouncil;
use crate::kit::{MODEL_NAMES, ModelServer, ScriptedReply, TestProgram, value_at};

fn provider(server: &ModelServer, name: &str, more: &Value) -> Value {
    let mut entry = json!({ "name": name, "role": ["participant", "chair"],
        "dialect": "openai", "base_url": server.base_url() });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn program_with(providers: &[Value]) -> TestProgram {
    let program = TestProgram::new();
    let settings =
        json!({ "council": { "providers": providers }, "budget": { "tokens_max": 50_000_000 } });
    program.write_json("council.yaml", &settings);
    program
}

#[test]
fn the_latest_model_is_the_newest_that_the_provider_offers() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let program = program_with(&[
        provider(&server, "claude", &json!({})),
        provider(&server, "gemini", &json!({ "model": "latest" })),
    ]);
    let ask = ["ask", "Shall we?", "--json", "--no-conclusion"];
    for _ in 0..2 {
        let ran = program.run_command(&ask);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let mut models: Vec<String> = server.requests().into_iter().map(|seen| seen.model).collect();
    models.sort();
    models.dedup();
    // The facts know newer ones, which this server does not offer.
    assert_eq!(models, ["claude-sonnet-4-20250514", "gemini-2.0-flash"]);
    let cached = std::fs::read_to_string(program.path().join(".plenary/plenary.db-models.json"));
    assert!(cached.unwrap().contains("claude-sonnet-4-20250514"));
    drop(server);
    let planned = program.run_command(&["ask", "Shall we?", "--dry-run", "--json"]).stdout;
    assert!(planned.contains("claude-sonnet-4-20250514"), "the list is kept for a day: {planned}");
}

#[test]
fn without_an_answer_the_latest_model_is_that_of_the_facts() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let program = program_with(&[
        provider(&server, "claude", &json!({})),
        provider(&server, "openai", &json!({})),
    ]);
    drop(server);
    let listed = program.run_command(&["models", "claude", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(value_at(&listed, "providers.0.source"), "facts");
    assert!(
        value_at(&listed, "providers.0.reason").as_str().unwrap().contains("cannot be reached")
    );
    let ran = program.run_command(&["ask", "Shall we?", "--dry-run", "--json"]);
    let plan: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(value_at(&plan, "seats.0.model"), "claude-sonnet-5-5");
    assert_eq!(value_at(&plan, "seats.1.model"), "gpt-5.6");
}

#[test]
fn a_flag_names_the_model_of_one_run() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    council.run_ask(&["--model", "ann=model-zoe"]).expect_status("done", 0);
    let asked = |model: &str| council.server.requests().iter().any(|seen| seen.model == model);
    assert!(asked("model-zoe") && !asked("model-ann"));
    let wrong = council.program.run_command(&["ask", "Shall we?", "--model", "eve=m"]);
    assert_eq!(wrong.code, 64, "{wrong:?}");
    assert!(wrong.stderr.contains("this project has ann, bob, cid, dot"), "{wrong:?}");
    let malformed = council.program.run_command(&["ask", "Shall we?", "--model", "ann"]);
    assert_eq!(malformed.code, 64, "{malformed:?}");
}

#[test]
fn an_unknown_model_names_three_others_and_resume_takes_the_correction() {
    let script = |asked: &crate::councils::harness::SeatRequest<'_>| {
        if asked.request.model == "gpt-4-o" {
            let body = json!({ "error": { "message": "no such model" } }).to_string();
            return ScriptedReply::Status(404, Vec::new(), body);
        }
        ScriptedReply::Valid
    };
    let change = |model: &'static str| {
        move |settings: &mut Value| {
            settings["council"]["providers"][0]["model"] = json!(model);
            settings["council"]["quorum"] = json!({ "r1_min": 3 });
        }
    };
    // In one start of a run, a model that is unknown once stays unknown.
    let partial = TestCouncil::with_settings(script, |settings| {
        settings["council"]["providers"][0]["model"] = json!("gpt-4-o");
    });
    partial.run_ask(&[]).expect_status("done", 0);
    let requests = partial.server.requests();
    assert_eq!(requests.iter().filter(|seen| seen.model == "gpt-4-o").count(), 1);

    let council = TestCouncil::with_settings(script, change("gpt-4-o"));
    let first = council.run_ask(&[]);
    first.expect_status("incomplete", 3);
    let message = first.value_at("panel.failed.0.error_message").as_str().unwrap();
    for name in MODEL_NAMES {
        assert!(message.contains(name), "{message}");
    }
    assert!(message.contains("`plenary models ann` lists all"), "{message}");

    council.change_settings(change("gpt-4o"));
    let id = first.dialogue_id();
    let second = council.run_command(&["resume", id, "--json"]);
    second.expect_status("done", 0);
    assert_eq!(second.dialogue_id(), id);
    let events = council.program.run_command(&["replay", id, "--json"]).stdout;
    let changed = events.lines().find(|line| line.contains("seat_changed")).unwrap();
    let changed: Value = serde_json::from_str(changed).unwrap();
    let model = json!({ "field": "model", "from": "gpt-4-o", "to": "gpt-4o" });
    assert_eq!((&changed["seat"], &changed["changes"][0]), (&json!("ann"), &model));
    let calls = council.program.run_command(&["show", id, "--prompts", "--json"]).stdout;
    let calls: Value = serde_json::from_str(&calls).unwrap();
    let asked = calls.as_array().unwrap().iter().filter(|call| call["seat"] == "ann");
    let asked: Vec<&str> = asked.map(|call| call["model_asked"].as_str().unwrap()).collect();
    assert_eq!((asked[0], *asked.last().unwrap()), ("gpt-4-o", "gpt-4o"), "{asked:?}");
}

#[test]
fn models_are_listed_from_the_provider_or_from_the_facts() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let program = program_with(&[
        provider(&server, "claude", &json!({})),
        provider(&server, "house", &json!({ "model": "m" })),
    ]);
    let list = |arguments: &[&str]| -> Value {
        let ran = program.run_command(&[&["models", "--json"], arguments].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let all = list(&[]);
    assert_eq!(value_at(&all, "providers.0.source"), "provider");
    assert_eq!(value_at(&all, "providers.1.name"), "house");
    let names: Vec<&str> = all["providers"][0]["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["model"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["claude-sonnet-4-20250514", "gemini-2.0-flash", "gpt-4o"]);
    assert_eq!(value_at(&all, "providers.0.models.0.preferred"), &json!(true));
    assert_eq!(value_at(&all, "providers.0.models.0.price"), &Value::Null);
    let price = json!({ "input": 2.5, "cached_input": 1.25, "output": 10.0 });
    assert_eq!(value_at(&all, "providers.0.models.2.price"), &price);
    let known = list(&["openai"]);
    assert_eq!(value_at(&known, "providers.0.source"), "facts");
    let newest = known["providers"][0]["models"].as_array().unwrap().iter();
    let newest: Vec<&Value> = newest.filter(|model| model["preferred"] == true).collect();
    assert_eq!(newest.len(), 1);
    assert_eq!(newest[0]["model"], "gpt-5.6");
    let page = program.run_command(&["models", "claude"]).stdout;
    assert!(page.contains("CLAUDE") && page.contains("offers 3 models"), "{page}");
    // Names are there to be copied.
    let page = program.run_command(&["models", "openai"]).stdout;
    let names = known["providers"][0]["models"].as_array().unwrap().iter();
    for name in names.map(|model| model["model"].as_str().unwrap()) {
        assert!(page.lines().any(|line| line.trim_start().starts_with(name)), "{name}: {page}");
    }
    let wrong = program.run_command(&["models", "cluade"]);
    assert_eq!(wrong.code, 1, "{wrong:?}");
    assert!(wrong.stderr.contains("plenary models claude"), "{wrong:?}");
}

#[test]
fn a_server_that_does_not_list_its_models_is_waited_for_once() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}/v1", server.local_addr().unwrap());
    let seat = |name: &str| {
        json!({ "name": name, "role": ["participant", "chair"], "dialect": "openai",
            "base_url": place })
    };
    let program = program_with(&[seat("claude"), seat("gemini")]);
    std::fs::create_dir(program.path().join(".plenary")).unwrap();
    // Connections are accepted by the system, and nothing answers.
    let plan = ["ask", "Shall we?", "--dry-run", "--json"];
    let first = program.run_command(&plan);
    assert!(first.stdout.contains("claude-sonnet-5-5"), "{first:?}");
    let start = Instant::now();
    let second = program.run_command(&plan);
    assert!(second.stdout.contains("claude-sonnet-5-5"), "{second:?}");
    assert!(start.elapsed() < Duration::from_secs(4), "it was waited for again");
}
