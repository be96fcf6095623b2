//! The nine record tools: what a Judge does, and the errors it gets.

use serde_json::{Value, json};

use super::stdio_client::StdioClient;
use crate::kit::{TestProgram, make_batch, make_item, make_pool, value_at};

/// A dialogue called `talk`, with round 0 registered.
fn open_talk(agent: &mut StdioClient) {
    agent.call_tool_ok(
        "blue_dialogue_create",
        &json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) }),
    );
    let first = json!({ "perspectives": [make_item("ANN-P0001", "")], "tensions": [make_item("BOB-T0001", "")] });
    agent.call_tool_ok("blue_dialogue_round_register", &make_batch(0, first));
}

#[test]
fn a_tool_and_the_command_of_its_name_are_one_thing() {
    let (by_tool, by_command) = (TestProgram::new(), TestProgram::new());
    let mut agent = StdioClient::new(&by_tool);
    let create =
        json!({ "title": "Talk", "question": "Tea?", "expert_pool": make_pool(&["ann", "bob"]) });
    let panel = json!({ "dialogue_id": "talk", "round": 0, "panel": [{ "expert_slug": "ann", "source": "pool" }] });
    let expert = json!({ "dialogue_id": "talk", "expert_slug": "cid", "role": "Skeptic", "tier": "Wildcard", "reason": "T0001" });
    let round = make_batch(
        0,
        json!({ "perspectives": [make_item("ANN-P0001", "")], "tensions": [make_item("ANN-T0001", "")] }),
    );
    let verdict = json!({ "dialogue_id": "talk", "verdict_id": "final", "verdict_type": "final", "round": 0,
        "recommendation": "Tea.", "description": "It is hot.", "vote": "unanimous", "tensions_accepted": ["T0001"] });
    let named = json!({ "dialogue_id": "talk" });
    for (tool, operation, arguments) in [
        ("blue_dialogue_create", "create", &create),
        ("blue_dialogue_expert_create", "expert", &expert),
        ("blue_dialogue_evolve_panel", "panel", &panel),
        ("blue_dialogue_round_context", "context", &named),
        ("blue_dialogue_round_register", "register", &round),
        ("blue_dialogue_round_register", "register", &round),
        ("blue_dialogue_progress", "progress", &named),
        ("blue_dialogue_verdict_register", "verdict", &verdict),
    ] {
        let mut result = agent.call_tool_ok(tool, arguments);
        let (code, mut printed) = by_command.run_operation(operation, arguments);
        assert_eq!(code, 0, "{operation}: {printed:#}");
        for answer in [&mut result, &mut printed] {
            // The folder is the only difference.
            if let Some(folder) = answer.get_mut("output_dir") {
                *folder = json!("…");
            }
        }
        assert_eq!(result, printed, "{tool}");
    }
    let other = make_batch(0, json!({}));
    let refused = agent.call_tool_error("blue_dialogue_round_register", &other);
    assert_eq!(by_command.run_operation("register", &other), (1, refused));
}

#[test]
fn a_dialogue_begins_with_the_protocol_of_its_judge() {
    let mut agent = StdioClient::in_own_folder();
    let created = agent.call_tool_ok("blue_dialogue_create", &json!({ "title": "Talk" }));
    let protocol = value_at(&created, "judge_protocol").as_str().unwrap();
    for tool in ["blue_dialogue_round_context", "blue_dialogue_round_register"] {
        assert!(protocol.contains(tool), "{protocol}");
    }
}

#[test]
fn extract_turns_replies_into_a_batch_that_register_takes() {
    let mut agent = StdioClient::in_own_folder();
    let opened = json!({ "title": "Talk", "expert_pool": make_pool(&["ann"]) });
    agent.call_tool_ok("blue_dialogue_create", &opened);
    let text = "[ANN-P0001: Start small]\nA trial costs little.\n\n[ANN-P00X: Bad]\nText.\n";
    let replies = json!([{ "expert": "ann", "text": text }]);
    let arguments = json!({ "round": 0, "replies": replies, "raw": true });
    let extracted = agent.call_tool_ok("blue_dialogue_extract", &arguments);
    assert_eq!(value_at(&extracted, "batch.perspectives.0.local_id"), "ANN-P0001");
    assert_eq!(value_at(&extracted, "batch.raw_content.ann"), text);
    assert_eq!(value_at(&extracted, "warnings.0.expert"), "ann");
    let mut batch = extracted["batch"].clone();
    batch["dialogue_id"] = json!("talk");
    batch["score"] = json!(5);
    let registered = agent.call_tool_ok("blue_dialogue_round_register", &batch);
    assert_eq!(value_at(&registered, "id_mapping.ANN-P0001"), "P0001");
    for (arguments, code) in [
        (json!({ "round": 0 }), "missing_field"),
        (json!({ "round": 0, "replies": [] }), "missing_field"),
        (json!({ "round": 0, "replies": [{ "expert": "Ann!", "text": "x" }] }), "invalid_slug"),
    ] {
        let refused = agent.call_tool_error("blue_dialogue_extract", &arguments).to_string();
        assert!(refused.contains(code), "{arguments}: {refused}");
    }
}

#[test]
fn a_field_in_the_batch_and_beside_it_is_refused_and_nothing_is_lost() {
    let mut agent = StdioClient::in_own_folder();
    let opened = json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) });
    agent.call_tool_ok("blue_dialogue_create", &opened);
    let item = |id: &str| json!([{ "local_id": id, "label": "Start", "content": "Text." }]);
    let batch = json!({ "round": 0, "perspectives": item("ANN-P0001") });
    let with = |beside: Value| {
        let mut arguments = json!({ "dialogue_id": "talk", "score": 9, "batch": batch });
        arguments.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        arguments
    };
    for (field, beside) in [
        ("perspectives", json!({ "perspectives": item("BOB-P0001") })),
        ("round", json!({ "round": 1 })),
    ] {
        let refused = agent.call_tool_error("blue_dialogue_round_register", &with(beside));
        assert!(refused.to_string().contains(field), "{refused:#}");
    }
    let same = json!({ "round": 0, "expert_scores": { "ann": 1, "bob": 2 } });
    let registered = agent.call_tool_ok("blue_dialogue_round_register", &with(same));
    assert_eq!(value_at(&registered, "id_mapping.ANN-P0001"), "P0001");
    assert_eq!(value_at(&registered, "warnings.0.type"), "score_sum", "{registered:#}");
}

#[test]
fn an_empty_first_round_does_not_converge() {
    let mut agent = StdioClient::in_own_folder();
    let opened = json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) });
    agent.call_tool_ok("blue_dialogue_create", &opened);
    let empty = json!({ "dialogue_id": "talk", "round": 0, "score": 0 });
    agent.call_tool_ok("blue_dialogue_round_register", &empty);
    let result = agent.call_tool_ok("blue_dialogue_progress", &json!({ "dialogue_id": "talk" }));
    assert_eq!(value_at(&result, "converging"), false);
    let joins = |round: u8| {
        json!({ "dialogue_id": "talk", "expert_slug": format!("cid{round}"), "role": "Auditor",
            "tier": "Core", "reason": "T0001", "first_round": round })
    };
    for (round, warnings) in [(50, 1), (2, 0)] {
        let joined = agent.call_tool_ok("blue_dialogue_expert_create", &joins(round));
        assert_eq!(joined["warnings"].as_array().unwrap().len(), warnings, "{joined:#}");
    }
}

#[test]
fn the_state_of_a_dialogue_that_an_agent_leads_names_the_tools_for_it() {
    let mut agent = StdioClient::in_own_folder();
    open_talk(&mut agent);
    let talk = json!({ "dialogue_id": "talk", "wait_seconds": 5 });
    let result = agent.call_tool_ok("deliberation_status", &talk);
    assert_eq!(
        (value_at(&result, "status"), value_at(&result, "progress")),
        (&json!("open"), &Value::Null)
    );
    let suggestion = value_at(&result, "suggestion").as_str().unwrap();
    assert!(suggestion.contains("agent leads") && suggestion.contains("blue_dialogue_progress"));
    let resume = json!({ "dialogue_id": "talk", "resume": true });
    let refused = agent.call_tool_error("deliberation_status", &resume);
    assert!(refused["suggestion"].to_string().contains("blue_dialogue_round_register"));
}

#[test]
fn errors_name_tools_and_not_commands() {
    let mut agent = StdioClient::in_own_folder();
    let refused =
        agent.call_tool_error("deliberation_status", &json!({ "dialogue_id": "nowhere-1" }));
    assert!(!refused["suggestion"].as_str().unwrap().contains("plenary "), "{refused:#}");
    let page = agent.send_request("tools/list", &json!({ "cursor": "later" }));
    assert_eq!(value_at(&agent.wait_answer(page), "error.code"), -32602);
}

#[test]
fn looking_leaves_nothing_behind() {
    let program = TestProgram::new();
    let mut agent = StdioClient::new(&program);
    let listed = agent.call_tool_ok("blue_dialogue_search", &json!({ "op": "list" }));
    assert_eq!(value_at(&listed, "dialogues"), &json!([]));
    let refused =
        agent.call_tool_error("blue_dialogue_progress", &json!({ "dialogue_id": "talk" }));
    assert_eq!(value_at(&refused, "error_code"), "dialogue_not_found");
    agent.close_client();
    assert_eq!(std::fs::read_dir(program.path()).unwrap().count(), 0);
}

/// An export may replace an earlier export, but no other file.
#[test]
fn an_export_leaves_alone_what_has_a_meaning_of_its_own() {
    let program = TestProgram::new();
    let council = "review:\n  log_path: logs/verdicts.jsonl\n";
    std::fs::write(program.path().join("council.yaml"), council).unwrap();
    std::fs::create_dir_all(program.path().join(".git/hooks")).unwrap();
    let mut agent = StdioClient::new(&program);
    open_talk(&mut agent);
    let to = |path: &str| json!({ "dialogue_id": "talk", "output_path": path });
    for path in [
        "council.yaml",
        "./docs/../council.yaml",
        "logs/verdicts.jsonl",
        ".git/hooks/post-commit",
        ".GIT/config",
        "vendored/.git",
    ] {
        std::fs::create_dir_all(program.path().join("docs")).unwrap();
        let refused = agent.call_tool_error("blue_dialogue_export", &to(path));
        assert_eq!(value_at(&refused, "error_code"), "path_not_allowed", "{path}: {refused:#}");
        let ran = program.run_command(&["export", "talk", "--output", path]);
        assert_eq!(ran.code, 1, "{path}: {ran:?}");
    }
    let refused = agent.call_tool_error(
        "blue_dialogue_create",
        &json!({ "title": "Hook", "output_dir": ".git/hooks" }),
    );
    assert_eq!(value_at(&refused, "error_code"), "path_not_allowed", "{refused:#}");
    assert_eq!(std::fs::read_to_string(program.path().join("council.yaml")).unwrap(), council);
    for _ in 0..2 {
        agent.call_tool_ok("blue_dialogue_export", &to("docs/talk.json"));
    }
    let listed = agent.request_ok("tools/list", &json!({}));
    let tools = value_at(&listed, "tools").as_array().unwrap();
    let destructive: Vec<&Value> = tools
        .iter()
        .filter(|tool| value_at(tool, "annotations").get("destructiveHint") == Some(&json!(true)))
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(destructive, ["blue_dialogue_export"]);
}

#[test]
fn every_search_answers_in_its_own_shape() {
    let mut agent = StdioClient::in_own_folder();
    open_talk(&mut agent);
    let cited = agent.call_tool_ok(
        "blue_dialogue_search",
        &json!({ "op": "cite", "ids": ["talk/P0001", "talk/P0099"] }),
    );
    assert_eq!(value_at(&cited, "citations.0.label"), "Label of ANN-P0001");
    assert_eq!(value_at(&cited, "errors.0.error_code"), "target_not_found");
    let similar =
        agent.call_tool_ok("blue_dialogue_search", &json!({ "op": "similar", "query": "talk" }));
    assert_eq!(value_at(&similar, "results.0.dialogue_id"), "talk");
    let stats = agent.call_tool_ok("blue_dialogue_search", &json!({ "op": "stats" }));
    assert_eq!(value_at(&stats, "dialogues"), 1);
    let refused = agent.call_tool_error("blue_dialogue_search", &json!({ "op": "find" }));
    assert_eq!(value_at(&refused, "error_code"), "invalid_enum");
    let refused = agent.call_tool_error("blue_dialogue_search", &json!({}));
    assert_eq!(value_at(&refused, "error_code"), "missing_field");
}

/// The specification's error table: input, code and message.
#[test]
fn every_error_of_the_specification_arrives_with_its_message() {
    let mut agent = StdioClient::in_own_folder();
    open_talk(&mut agent);
    let loose = |fields: Value| {
        let mut reference =
            json!({ "source_id": "ANN-P0101", "ref_type": "support", "target_id": "P0001" });
        let (Value::Object(all), Value::Object(more)) = (&mut reference, fields) else {
            unreachable!()
        };
        all.extend(more);
        json!({ "perspectives": [make_item("ANN-P0101", "")], "refs": [reference] })
    };
    let resolved = json!({ "id": "T0001", "status": "reopened", "by": "judge" });
    for (fields, code, message) in [
        (
            loose(json!({ "source_type": "X" })),
            "invalid_entity_type",
            "source_type must be one of: P, R, T, E, C (got 'X')",
        ),
        (
            loose(json!({ "ref_type": "likes" })),
            "invalid_ref_type",
            "ref_type must be one of: support, oppose, refine, address, resolve, reopen, question, depend (got 'likes')",
        ),
        (
            loose(json!({ "target_type": "T" })),
            "type_id_mismatch",
            "target_type 'T' does not match target_id 'P0001' (expected prefix 'T')",
        ),
        (
            loose(json!({ "ref_type": "resolve" })),
            "invalid_ref_target",
            "ref_type 'resolve' can only target Tensions (T), but target_type is 'P'",
        ),
        (
            loose(json!({ "ref_type": "refine", "target_id": "T0001" })),
            "refine_type_mismatch",
            "ref_type 'refine' requires same source and target type (got P→T)",
        ),
        (
            loose(json!({ "target_id": "P0077" })),
            "target_not_found",
            "target_id 'P0077' not found in dialogue 'talk'",
        ),
        (
            json!({ "tension_updates": [resolved] }),
            "invalid_status_transition",
            "Cannot transition T0001 from 'open' to 'reopened' (valid transitions: addressed, resolved)",
        ),
    ] {
        let refused = agent.call_tool_error("blue_dialogue_round_register", &make_batch(1, fields));
        assert_eq!(value_at(&refused, "status"), "error");
        assert_eq!(value_at(&refused, "error_code"), "batch_validation_failed", "{refused:#}");
        let error = value_at(&refused, "errors.0");
        assert_eq!(
            (value_at(error, "error_code"), value_at(error, "message")),
            (&json!(code), &json!(message))
        );
        assert!(value_at(error, "suggestion").is_string(), "{error:#}");
    }
    let after = agent.call_tool_ok("blue_dialogue_progress", &json!({ "dialogue_id": "talk" }));
    assert_eq!(value_at(&after, "round"), 0, "nothing was stored");
}

#[test]
fn a_record_can_be_read_as_a_resource() {
    let mut agent = StdioClient::in_own_folder();
    open_talk(&mut agent);
    let listed = agent.request_ok("resources/list", &json!({}));
    assert_eq!(value_at(&listed, "resources.0.uri"), "plenary://dialogues/talk");
    let templates = agent.request_ok("resources/templates/list", &json!({}));
    assert_eq!(
        value_at(&templates, "resourceTemplates.2.uriTemplate"),
        "plenary://dialogues/{id}/conclusion"
    );
    let read = agent.request_ok("resources/read", &json!({ "uri": "plenary://dialogues/talk" }));
    let record: Value =
        serde_json::from_str(value_at(&read, "contents.0.text").as_str().unwrap()).unwrap();
    assert_eq!(value_at(&record, "title"), "Talk");
    let read = agent
        .request_ok("resources/read", &json!({ "uri": "plenary://dialogues/talk/transcript" }));
    assert_eq!(value_at(&read, "contents.0.mimeType"), "text/markdown");
    for uri in
        ["plenary://dialogues/talk/conclusion", "plenary://dialogues/nothing", "file:///etc/hosts"]
    {
        let id = agent.send_request("resources/read", &json!({ "uri": uri }));
        let answer = agent.wait_answer(id);
        assert_eq!(value_at(&answer, "error.code"), -32002, "{answer:#}");
        assert!(value_at(&answer, "error.data.suggestion").is_string(), "{answer:#}");
    }
}

#[test]
fn a_dialogue_that_somebody_leads_ends_by_their_verdicts() {
    let mut agent = StdioClient::in_own_folder();
    open_talk(&mut agent);
    let verdict = json!({
        "dialogue_id": "talk", "verdict_id": "V01", "verdict_type": "interim",
        "recommendation": "Go on.", "description": "There is more to say.",
    });
    agent.call_tool_ok("blue_dialogue_verdict_register", &verdict);
    let read = agent
        .request_ok("resources/read", &json!({ "uri": "plenary://dialogues/talk/conclusion" }));
    let result: Value =
        serde_json::from_str(value_at(&read, "contents.0.text").as_str().unwrap()).unwrap();
    assert_eq!(
        (value_at(&result, "dialogue_id"), value_at(&result, "verdicts.0.id")),
        (&json!("talk"), &json!("V01"))
    );
}

/// `plenary conclude` rejects a review, so the suggestion is another command.
#[test]
fn a_review_without_a_verdict_is_gone_on_with() {
    let program = TestProgram::new();
    std::fs::write(program.path().join("post.md"), "We are the best.\n").unwrap();
    let silent = "- {seat: adjudicator, fail: auth}";
    std::fs::write(program.path().join("silent.yaml"), silent).unwrap();
    let ran = program.run_command(&["review", "--json", "--rehearse", "silent.yaml", "post.md"]);
    let review: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value_at(&review, "verdict"), "INCOMPLETE");
    let id = value_at(&review, "dialogue_id").as_str().unwrap();
    let mut agent = StdioClient::new(&program);
    let uri = format!("plenary://dialogues/{id}/conclusion");
    let asked = agent.send_request("resources/read", &json!({ "uri": uri }));
    let answer = agent.wait_answer(asked);
    assert_eq!(value_at(&answer, "error.code"), -32002, "{answer:#}");
    assert_eq!(value_at(&answer, "error.message"), &format!("'{id}' has no verdict of a review"));
    let suggestion = value_at(&answer, "error.data.suggestion").as_str().unwrap();
    assert!(suggestion.starts_with("call deliberation_status with resume: true"), "{suggestion}");
}

#[test]
fn more_dialogues_than_a_page_are_listed_page_by_page() {
    let mut agent = StdioClient::in_own_folder();
    for n in 0..60 {
        agent.call_tool_ok("blue_dialogue_create", &json!({ "title": format!("Talk number {n}") }));
    }
    let mut names = Vec::new();
    let mut page = json!({});
    loop {
        let listed = agent.request_ok("resources/list", &page);
        names.extend(
            value_at(&listed, "resources")
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["name"].clone()),
        );
        let Some(cursor) = listed.get("nextCursor") else { break };
        page = json!({ "cursor": cursor });
    }
    assert_eq!(names.len(), 60);
    names.dedup();
    assert_eq!(names.len(), 60);
}

#[test]
fn prompts_tell_a_judge_and_an_expert_what_they_must_know() {
    let mut agent = StdioClient::in_own_folder();
    let listed = agent.request_ok("prompts/list", &json!({}));
    let names: Vec<&Value> =
        value_at(&listed, "prompts").as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["judge_protocol", "alignment_expert"]);
    for (name, word) in
        [("judge_protocol", "blue_dialogue_round_register"), ("alignment_expert", "[RE:")]
    {
        let prompt = agent.request_ok("prompts/get", &json!({ "name": name }));
        let text = value_at(&prompt, "messages.0.content.text").as_str().unwrap();
        // The prompt starts with its text, not with the front matter of its file.
        assert!(text.starts_with("# ") && text.contains(word), "{prompt:#}");
    }
    let id = agent.send_request("prompts/get", &json!({ "name": "nothing" }));
    assert_eq!(value_at(&agent.wait_answer(id), "error.code"), -32602);
}
