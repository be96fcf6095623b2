//! `show --prompts`, `show --call N`, `cite ID/call/N` and `export --full`: what each seat was sent
//! and what came back. Also the label of a rehearsed record in every list, page and citation.

use serde_json::Value;

use crate::kit::{CommandOutput, TestProgram};

/// A project with one rehearsed council, and the id of the council.
fn program_with_council(settings: &str) -> (TestProgram, String) {
    let program = TestProgram::new();
    if !settings.is_empty() {
        program.write_text("council.yaml", settings);
    }
    let asked = ["ask", "Should reads go through a cache?", "--rehearse", "--json", "--quiet"];
    let ran = program.run_command(&asked);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = read_json(&ran)["dialogue_id"].as_str().unwrap().to_owned();
    (program, id)
}

fn read_json(ran: &CommandOutput) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn the_prompts_of_every_call_are_listed_in_order() {
    let (program, id) = program_with_council("");
    let listed = read_json(&program.run_command(&["show", &id, "--prompts", "--json"]));
    let calls = listed.as_array().unwrap();
    let numbers: Vec<u64> = calls.iter().map(|call| call["call"].as_u64().unwrap()).collect();
    assert!(numbers.len() >= 9 && numbers.is_sorted(), "{numbers:?}");
    for call in calls {
        assert!(call.get("raw").is_none(), "{call}");
        let roles: Vec<&str> = call["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, ["system", "user"], "{call}");
    }
    let purposes: Vec<&str> = calls.iter().map(|call| call["purpose"].as_str().unwrap()).collect();
    for purpose in ["opinion", "review", "synthesis", "conclusion", "audit"] {
        assert!(purposes.contains(&purpose), "{purposes:?}");
    }
    let question = |call: &Value| call["messages"].to_string().contains("go through a cache?");
    assert!(calls.iter().all(question), "every seat reads the question");

    let page = program.run_command(&["show", &id, "--prompts"]).stdout;
    for part in ["PROMPTS ─", "CALL 1 ─", "System message", "User message", "R1 · opinion · "]
    {
        assert!(page.contains(part), "no {part} in:\n{page}");
    }
    assert!(page.contains("The same as in call 1."), "a message is printed once:\n{page}");
}

#[test]
fn one_call_is_shown_with_its_reply_and_what_the_parser_made_of_it() {
    let (program, id) = program_with_council("");
    let call = read_json(&program.run_command(&["show", &id, "--call", "2", "--json"]));
    let fields = [
        "call",
        "seat",
        "purpose",
        "round",
        "model_asked",
        "model_served",
        "messages",
        "raw",
        "usage",
        "cost",
        "timing",
        "parse",
    ];
    for field in fields {
        assert!(call.get(field).is_some_and(|value| !value.is_null()), "{field} of {call}");
    }
    assert_eq!(call["call"], 2);
    assert_eq!(call["parse"]["status"], "parsed");
    let raw: Value = serde_json::from_str(call["raw"].as_str().unwrap()).unwrap();
    assert_eq!(call["parse"]["document"]["summary"], raw["summary"]);
    // The journal and the record have the same reply.
    let full = program.run_command(&["show", &id, "--full", "--width", "400"]).stdout;
    let full = full.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(full.contains(raw["summary"].as_str().unwrap()), "{full}");

    let page = program.run_command(&["show", &id, "--call", "2"]).stdout;
    for part in
        ["CALL ─", "REHEARSAL", "SYSTEM MESSAGE", "USER MESSAGE", "REPLY ", "Tokens", "Parsed"]
    {
        assert!(page.contains(part), "no {part} in:\n{page}");
    }
    for width in ["60", "80", "120"] {
        let page = program.run_command(&["show", &id, "--call", "2", "--width", width]).stdout;
        let widest = page.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width.parse().unwrap(), "{widest} of {width}:\n{page}");
    }

    let missing = program.run_command(&["show", &id, "--call", "99"]);
    assert_eq!(missing.code, 4, "{missing:?}");
    assert!(missing.stderr.contains("has no call 99"), "{missing:?}");
}

#[test]
fn a_record_without_prompts_says_so() {
    let (program, id) = program_with_council("retention: {keep_prompts: false}\n");
    let call = read_json(&program.run_command(&["show", &id, "--call", "1", "--json"]));
    assert_eq!(call["messages"], serde_json::json!([]));
    assert_eq!(call["messages_sha256"].as_str().unwrap().len(), 64, "{call}");
    let page = program.run_command(&["show", &id, "--prompts"]).stdout;
    assert!(page.contains("the settings kept prompts out of it"), "{page}");
    assert!(!page.contains("User message"), "{page}");
}

#[test]
fn a_dialogue_without_a_run_has_no_prompts() {
    let program = TestProgram::new();
    assert_eq!(program.run_command(&["dialogue", "create", "Talk"]).code, 0);
    let page = program.run_command(&["show", "talk", "--prompts"]);
    assert!(page.stdout.contains("asked no model"), "{page:?}");
    let listed = read_json(&program.run_command(&["show", "talk", "--prompts", "--json"]));
    assert_eq!(listed, serde_json::json!([]));
    let missing = program.run_command(&["cite", "talk/call/1"]);
    assert!(missing.code == 4 && missing.stderr.contains("it has 0 calls"), "{missing:?}");
}

#[test]
fn a_citation_leads_to_the_passage_of_the_reply_and_to_its_call() {
    let (program, id) = program_with_council("");
    let cite = |part: &str| {
        let ran = program.run_command(&["cite", &format!("{id}/{part}"), "--json"]);
        read_json(&ran)["citations"][0].clone()
    };
    for part in ["P0101", "conclusion.recommendation", "conclusion/key_condition", "report"] {
        let cited = cite(part);
        let source = &cited["sources"][0];
        let [start, end] = ["start", "end"].map(|key| source[key].as_u64().unwrap() as usize);
        let reply = cite(&format!("call/{}", source["call"]));
        let raw: Vec<char> = reply["content"].as_str().unwrap().chars().collect();
        let passage: String = raw[start..end].iter().collect();
        assert!(end > start && !passage.is_empty(), "{part}: {cited:#}");
        assert!(source["journal_seq"].is_u64() && source["hash"].is_string(), "{part}: {cited:#}");
    }
    assert_eq!(cite("conclusion/key_condition")["id"], "conclusion.key_condition");
    let page = program.run_command(&["cite", &format!("{id}/P0101")]).stdout;
    let (_, digits) = id.rsplit_once('-').unwrap();
    let command = format!("plenary cite {digits}/call/1");
    assert_eq!(page.lines().filter(|line| line.trim() == command).count(), 1, "{page}");
    assert!(page.contains("Comes from") && page.contains("characters 12 to"), "{page}");
    for (missing, code) in [("conclusion.title", 1), ("verdict.none", 4), ("nothing", 1)] {
        let ran = program.run_command(&["cite", &format!("{id}/{missing}")]);
        assert_eq!(ran.code, code, "{missing}: {ran:?}");
    }
    let ran = program.run_command(&["show", &id, "--round", "9"]);
    assert!(ran.code == 4 && ran.stderr.contains("its last round is"), "{ran:?}");
    assert_eq!(program.run_command(&["show", &id, "--call", "99"]).code, 4);
}

#[test]
fn a_call_can_be_cited() {
    let (program, id) = program_with_council("");
    let cited = read_json(&program.run_command(&["cite", &format!("{id}/call/3"), "--json"]));
    let citation = &cited["citations"][0];
    assert_eq!([&citation["id"], &citation["type"]], ["call/3", "call"]);
    assert_eq!([&citation["rehearsal"], &citation["call"]], [&Value::from(true), &Value::from(3)]);
    assert_eq!(citation["content"], citation["raw"]);
    assert_eq!(citation["contributors"][0], citation["seat"]);
    let short = ["cite", "call/3", "P0101", "--dialogue", &id];
    let page = program.run_command(&short).stdout;
    let labels = page.matches("REHEARSAL").count();
    assert!(page.contains("CALL 3 ─") && page.contains("P0101") && labels >= 2, "{page}");
    for bad in ["call/x", "call/-1", "call/"] {
        let refused = program.run_command(&["cite", &format!("{id}/{bad}"), "--json"]);
        assert_eq!(read_json(&refused)["errors"][0]["error_code"], "invalid_display_id", "{bad}");
    }
}

#[test]
fn a_full_export_has_every_call_and_is_else_the_same() {
    let (program, id) = program_with_council("");
    let plain = read_json(&program.run_command(&["export", &id]));
    let mut full = read_json(&program.run_command(&["export", &id, "--full"]));
    let calls = full.as_object_mut().unwrap().remove("calls").unwrap();
    assert_eq!(full, plain);
    let calls = calls.as_array().unwrap();
    let raw = |call: &Value| call["raw"].is_string() && call["messages"][1]["content"].is_string();
    assert!(calls.len() >= 9 && calls.iter().all(raw), "{calls:?}");
    for format in ["md", "html"] {
        let plain = program.run_command(&["export", &id, "--format", format]).stdout;
        let full = program.run_command(&["export", &id, "--format", format, "--full"]).stdout;
        for part in ["System message", "You are a participant of a council."] {
            assert!(full.contains(part) && !plain.contains(part), "{part} of {format}");
        }
    }
    // The file is an export, so the next export replaces it.
    for _ in 0..2 {
        let wrote = program.run_command(&["export", &id, "--full", "--output", "full.html"]);
        assert_eq!(wrote.code, 0, "{wrote:?}");
    }
}

#[test]
fn a_rehearsed_record_is_labelled_wherever_it_appears() {
    let (program, id) = program_with_council("");
    let headline = |page: &str| page.lines().take(4).any(|line| line.contains("REHEARSAL"));
    for arguments in [vec!["show", &id], vec!["show", &id, "--round", "1"], vec!["list"]] {
        let page = program.run_command(&arguments).stdout;
        assert!(headline(&page), "{arguments:?}\n{page}");
    }
    let entity = program.run_command(&["cite", &format!("{id}/P0101")]).stdout;
    assert!(entity.contains("REHEARSAL"), "{entity}");
    let found = program.run_command(&["dialogue", "similar", "reads cache"]).stdout;
    assert!(found.contains("REHEARSAL: "), "{found}");
    let found = ["dialogue", "similar", "reads cache", "--json"];
    assert_eq!(read_json(&program.run_command(&found))["results"][0]["rehearsal"], true);
    let markdown = program.run_command(&["export", &id, "--format", "md"]).stdout;
    assert!(headline(&markdown), "{markdown}");
    let html = program.run_command(&["export", &id, "--format", "html"]).stdout;
    assert!(html.contains(" · REHEARSAL"), "{html}");
}

#[test]
fn a_rehearsal_that_was_not_asked_for_is_announced_even_to_a_quiet_script() {
    let program = TestProgram::new();
    let ran = program.run_command(&["ask", "Is it so?", "--json", "--quiet"]);
    assert!(ran.code == 0 && ran.stderr.contains("REHEARSAL: "), "{ran:?}");
    assert_eq!(read_json(&ran)["rehearsal"], true);
    let asked = program.run_command(&["ask", "Is it so?", "--json", "--quiet", "--rehearse"]);
    assert_eq!(asked.stderr, "");
}

#[test]
fn a_selected_opinion_comes_before_the_conclusion() {
    let program = TestProgram::new();
    let ran = program.run_command(&["ask", "Is it so?", "--rehearse", "--select"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let place = |part: &str| ran.stdout.find(part).unwrap_or_else(|| panic!("{part}: {ran:?}"));
    assert!(place("SELECTED OPINION · ") < place("\nCONCLUSION ─"), "{}", ran.stdout);
    assert!(place("not a synthesis") < place("\nCONCLUSION ─"), "{}", ran.stdout);
    assert!(!ran.stdout.contains(" weight"), "its own support is no point: {}", ran.stdout);
}
