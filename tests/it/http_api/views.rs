//! The views of a dialogue: their shapes against the OpenAPI document, entity tags, provenance.

use serde_json::{Value, json};

use super::client::{EventStream, get_json, send, start_council, wait_for_state};
use crate::kit::TestProgram;
use crate::mcp::http_harness::HttpServerProcess;

/// Checks a value against a schema: types, fields, items, words, choices.
fn find_faults(
    document: &Value,
    schema: &Value,
    value: &Value,
    place: &str,
    faults: &mut Vec<String>,
) {
    if let Some(name) = schema["$ref"].as_str() {
        let target =
            document.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name}"));
        return find_faults(document, target, value, place, faults);
    }
    for choices in ["anyOf", "oneOf"] {
        if let Some(options) = schema[choices].as_array() {
            let fits = |option: &&Value| {
                let mut found = Vec::new();
                find_faults(document, option, value, place, &mut found);
                found.is_empty()
            };
            if !options.iter().any(|option| fits(&option)) {
                faults.push(format!("{place}: {value} fits no choice"));
            }
        }
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let own = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_number = own == "integer" && types.contains(&"number");
    if !(types.is_empty() || types.contains(&own) || is_number) {
        faults.push(format!("{place}: {own} is not {types:?}"));
    }
    if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
        faults.push(format!("{place}: {value} is not in {words:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        faults.push(format!("{place}: {value} is not {}", schema["const"]));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.is_object() && value.get(name).is_none() {
            faults.push(format!("{place}: {name} is missing"));
        }
    }
    if let (Some(fields), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    {
        for (name, field) in fields {
            match properties.get(name) {
                Some(known) => {
                    find_faults(document, known, field, &format!("{place}/{name}"), faults)
                }
                None if types == ["object"] && schema.get("oneOf").is_none() => {
                    faults.push(format!("{place}: {name} is not documented"));
                }
                None => {}
            }
        }
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        for (number, item) in items.iter().enumerate() {
            find_faults(document, schema, item, &format!("{place}/{number}"), faults);
        }
    }
}

fn check_answer(served: &HttpServerProcess, document: &Value, route: &str, path: &str) {
    let schema = &document["paths"][route]["get"]["responses"]["200"]["content"]["application/json"]
        ["schema"];
    assert!(schema.is_object(), "{route} has no schema");
    let mut faults = Vec::new();
    find_faults(document, schema, &get_json(served, path), path, &mut faults);
    assert_eq!(faults, Vec::<String>::new(), "{path}");
}

#[test]
fn every_view_has_the_shape_that_the_document_states() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let council = start_council(&served, "Tea or coffee?");
    let reviewed =
        json!({ "text": "We are the best, everyone says so.", "type": "post", "rehearse": true });
    let result = send(&served, "POST", "/api/review", &reviewed);
    assert_eq!(result.status, 202, "{result:?}");
    let review: Value = serde_json::from_str(&result.body).unwrap();
    let review = review["dialogue_id"].as_str().unwrap().to_owned();
    wait_for_state(&served, &council, "done");
    wait_for_state(&served, &review, "done");
    let document = get_json(&served, "/api/openapi.json");
    assert_eq!(document["openapi"], "3.1.0");
    for path in [
        "/api/health",
        "/api/dialogues",
        "/api/stats",
        "/api/audit",
        "/api/due",
        "/api/openapi.json",
    ] {
        check_answer(&served, &document, path, path);
    }
    for id in [&council, &review] {
        for view in ["", "/transcript", "/entities", "/graph", "/tensions", "/calls"] {
            let route = format!("/api/dialogues/{{id}}{view}");
            check_answer(&served, &document, &route, &format!("/api/dialogues/{id}{view}"));
        }
        check_answer(
            &served,
            &document,
            "/api/dialogues/{id}/calls/{call}",
            &format!("/api/dialogues/{id}/calls/1"),
        );
        check_answer(
            &served,
            &document,
            "/api/dialogues/{id}/provenance/{entity}",
            &format!("/api/dialogues/{id}/provenance/P0101"),
        );
    }
}

/// An error repeats the value of the address, and a view of what does not exist is no view.
#[test]
fn a_call_a_round_and_an_address_that_do_not_exist_are_refused() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let id = start_council(&served, "Tea or coffee?");
    wait_for_state(&served, &id, "done");
    for (part, status, message) in [
        ("/calls/x", 404, "has no call x; it has"),
        ("/calls/99999999999999999999", 404, "has no call 99999999999999999999; it has"),
        ("/calls/999", 404, "has no call 999; it has"),
        ("/tensions?round=99", 422, "has no round 99; its last round is 3"),
        ("/tensions?round=x", 422, "'round' must be a number"),
        ("/provenance/%ff", 400, "not UTF-8"),
    ] {
        let result = send(&served, "GET", &format!("/api/dialogues/{id}{part}"), &Value::Null);
        assert_eq!(result.status, status, "{part}: {result:?}");
        assert_eq!(result.header("content-type").as_deref(), Some("application/problem+json"));
        assert!(result.body.contains(message), "{part}: {}", result.body);
    }
    let board = get_json(&served, &format!("/api/dialogues/{id}/tensions?round=1"));
    assert_eq!(board["open"][0]["id"], "T0101");
}

#[test]
fn a_reader_that_has_the_newest_state_is_told_so() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let id = start_council(&served, "Tea or coffee?");
    wait_for_state(&served, &id, "done");
    let bearer = format!("Bearer {}", served.token);
    let views =
        ["", "/transcript", "/graph", "/calls"].map(|view| format!("/api/dialogues/{id}{view}"));
    for path in views.iter().map(String::as_str).chain(["/api/dialogues", "/"]) {
        let tag = send(&served, "GET", path, &Value::Null).header("etag").unwrap();
        let headers = [
            ("Host", served.address.as_str()),
            ("Authorization", &bearer),
            ("If-None-Match", &tag),
        ];
        let again = served.send_request("GET", path, &headers, b"");
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
    }
    let head = get_json(&served, &views[0])["head"].as_str().unwrap().to_owned();
    let tag = send(&served, "GET", &views[1], &Value::Null).header("etag").unwrap();
    assert_eq!(tag, format!("\"{head}\""));
}

/// From every entity and every field of the conclusion to the words of the raw reply.
#[test]
fn every_part_of_a_council_leads_to_a_passage_of_a_reply() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let id = start_council(&served, "Tea or \"coffee\"?\nAnd when?");
    wait_for_state(&served, &id, "done");
    check_passages(&served, &id, &["verdict.report", "audit.1", "council.report"]);
    let result =
        send(&served, "GET", &format!("/api/dialogues/{id}/provenance/P9999"), &Value::Null);
    assert!((400..500).contains(&result.status), "{result:?}");
    // The short id of the list leads to the same dialogue; a cursor that no list gave is refused.
    let short = get_json(&served, "/api/dialogues")["dialogues"][0]["short_id"].clone();
    let same = get_json(&served, &format!("/api/dialogues/{}", short.as_str().unwrap()));
    assert_eq!(same["id"], *id);
    let lost = send(&served, "GET", "/api/dialogues?after=zzz", &Value::Null);
    assert!((400..500).contains(&lost.status), "{lost:?}");
    let wrong = send(&served, "POST", "/api/dialogues", &json!({}));
    assert_eq!(
        (wrong.status, wrong.header("content-type").as_deref()),
        (405, Some("application/problem+json"))
    );
}

/// A caller can rehearse without a provider, so the request is refused and the server is not broken.
#[test]
fn a_start_without_a_provider_is_refused() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let result = send(&served, "POST", "/api/ask", &json!({ "question": "Tea or coffee?" }));
    assert_eq!(result.status, 422, "{result:?}");
    assert!(result.body.contains("invalid_configuration"), "{result:?}");
}

/// The critic speaks of letters, and the reader wants to know of whom.
#[test]
fn a_transcript_names_the_seat_beside_its_letter() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let id = start_council(&served, "Tea or coffee?");
    wait_for_state(&served, &id, "done");
    let result = get_json(&served, &format!("/api/dialogues/{id}/transcript")).to_string();
    assert!(result.contains("Letter: A (") && result.contains("Provider: B ("), "{result}");
}

/// The same where a Judge merges contributions and writes the verdicts.
#[test]
fn every_part_of_an_alignment_leads_to_a_passage_of_a_reply() {
    let program = TestProgram::new();
    let ran = program.run_command(&["align", "Tea or coffee?", "--rehearse", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let served = HttpServerProcess::new(&program);
    let rows = get_json(&served, "/api/dialogues");
    let id = rows["dialogues"][0]["dialogue_id"].as_str().unwrap();
    check_passages(&served, id, &["verdict.final", "verdict.minority-beignet"]);
    let base = format!("/api/dialogues/{id}");
    // An expert's own verdict comes from the expert's reply, not from the Judge's.
    let own = get_json(&served, &format!("{base}/provenance/verdict.minority-beignet"));
    assert_eq!(own["sources"][0]["seat"], "beignet", "{own}");
    // The conditions of the final verdict are passages, too.
    let given = get_json(&served, &format!("{base}/provenance/verdict.final"));
    let condition = get_json(&served, &base)["verdicts"][0]["conditions"][0].clone();
    let quotes = given["sources"].as_array().unwrap().iter().map(|source| &source["quote"]);
    assert!(quotes.into_iter().any(|quote| *quote == condition), "{condition}: {given}");
    check_replies_are_drawn(&served, &base);
}

/// The rendered transcript has what the experts wrote, not the counts of the parser.
#[track_caller]
fn check_replies_are_drawn(served: &HttpServerProcess, base: &str) {
    let result = get_json(served, &format!("{base}/transcript"));
    let entries = result["rounds"].as_array().unwrap().iter();
    let entries = entries.flat_map(|round| round["entries"].as_array().unwrap());
    let experts: Vec<&Value> = entries.filter(|entry| entry["purpose"] == "expert").collect();
    assert!(experts.len() > 10, "{result}");
    for entry in experts {
        let raw = entry["raw"].as_str().unwrap();
        let line = raw.lines().find(|line| line.len() > 20 && !line.contains(['[', '*', '`']));
        let (line, blocks) = (line.unwrap(), entry["blocks"].to_string());
        assert!(blocks.contains(line.trim()), "{line} is not in {blocks}");
    }
}

#[test]
fn a_panel_that_did_not_converge_is_told_so_in_the_list_and_in_exports() {
    let program = TestProgram::new();
    let ran = program.run_command(&["align", "Tea?", "--rehearse", "--max-rounds", "1", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let served = HttpServerProcess::new(&program);
    let rows = get_json(&served, "/api/dialogues");
    let row = &rows["dialogues"][0];
    assert_eq!((&row["forced"], &row["overridden"]), (&json!(true), &Value::Null), "{row}");
    let id = row["dialogue_id"].as_str().unwrap();
    let record = get_json(&served, &format!("/api/dialogues/{id}"));
    assert_eq!(record["alignment"]["stop_reason"], "max_rounds");
    assert_eq!(record["alignment"]["panel"]["attempted"], 6, "{}", record["alignment"]["panel"]);
    let shown = program.run_command(&["export", id, "--format", "markdown"]).stdout;
    assert!(shown.contains("NOT CONVERGED") && shown.contains("closed by a forced verdict"));
    assert!(
        !shown.contains("| Status | converged |") && !shown.contains("| Converged |"),
        "{shown}"
    );
}

#[track_caller]
fn check_passages(served: &HttpServerProcess, id: &str, verdicts: &[&str]) {
    let base = format!("/api/dialogues/{id}");
    let entities = get_json(served, &format!("{base}/entities"));
    let ids =
        entities["entities"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap());
    let fields = ["recommendation", "key_condition", "review_by"];
    let targets: Vec<String> = ids
        .map(str::to_owned)
        .chain(fields.iter().map(|field| format!("conclusion.{field}")))
        .chain(verdicts.iter().map(ToString::to_string))
        .collect();
    assert!(targets.len() > 10, "{targets:?}");
    for target in targets {
        let found = get_json(served, &format!("{base}/provenance/{target}"));
        let sources = found["sources"].as_array().unwrap();
        let is_quoted = |source: &&Value| source["end"].as_u64() > source["start"].as_u64();
        assert!(sources.iter().any(|source| is_quoted(&source)), "{target}: {found}");
        for source in sources.iter().filter(is_quoted) {
            let call = get_json(served, &format!("{base}/calls/{}", source["call"]));
            let raw: Vec<char> = call["raw"].as_str().unwrap().chars().collect();
            let [start, end] = ["start", "end"].map(|name| source[name].as_u64().unwrap() as usize);
            assert_eq!(raw[start..end].iter().collect::<String>(), source["quote"], "{target}");
            assert!(source["hash"].as_str().is_some_and(|hash| hash.len() == 64), "{source}");
            assert!(source["journal_seq"].as_u64().is_some(), "{source}");
        }
    }
}

#[test]
fn an_alignment_dialogue_starts_over_http_and_its_scoreboard_is_a_view() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let added = json!({ "op": "principle_add", "label": "Evidence is citable", "description": "Name a source." });
    let result = send(&served, "POST", "/api/ethos", &added);
    assert_eq!(result.status, 200, "{}", result.body);
    let overview = get_json(&served, "/api/ethos");
    assert_eq!(overview["principles"][0]["id"], "PR0001");
    let wrong = send(&served, "POST", "/api/ethos", &json!({ "op": "principle_remove" }));
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    let asked = json!({ "question": "Tea or coffee?", "rehearse": true, "constraints": ["No sugar"], "conclusion": false });
    let result = send(&served, "POST", "/api/align", &asked);
    assert_eq!(result.status, 202, "{}", result.body);
    let id = serde_json::from_str::<Value>(&result.body).unwrap()["dialogue_id"]
        .as_str()
        .unwrap()
        .to_owned();
    wait_for_state(&served, &id, "done");
    let board = get_json(&served, &format!("/api/dialogues/{id}/scoreboard"));
    assert_eq!(board["rounds"].as_array().unwrap().len(), 3);
    let record = get_json(&served, &format!("/api/dialogues/{id}"));
    assert_eq!(record["calibration"]["rules_count"], 2);
    let document = get_json(&served, "/api/openapi.json");
    for view in ["/scoreboard", "/tensions", "/transcript", "/graph", "/entities", "/calls"] {
        let route = format!("/api/dialogues/{{id}}{view}");
        check_answer(&served, &document, &route, &format!("/api/dialogues/{id}{view}"));
    }
    check_answer(&served, &document, "/api/ethos", "/api/ethos");
    assert_eq!(get_json(&served, "/api/ethos")["ethos"][0]["title"], record["title"]);
    let mut stream = EventStream::open(&served, &[&id], None);
    let saved =
        std::iter::from_fn(|| stream.next_event()).find(|event| !event.data["ethos"].is_null());
    let saved = saved.unwrap().data;
    assert_eq!(
        (&saved["event"], &saved["ethos"]["open_conflicts"]),
        (&json!("recorded"), &json!(0))
    );
    assert_eq!(record["scoreboard"], board);
    let refused = send(
        &served,
        "POST",
        "/api/align",
        &json!({ "question": "Tea?", "rehearse": true, "domain": "nowhere" }),
    );
    assert!((400..500).contains(&refused.status), "{}", refused.body);
}
