//! What every client sees: the handshake, the tool list, and only messages on standard output.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::stdio_client::StdioClient;
use crate::kit::{TestProgram, make_pool, value_at};

/// Size limit of the tool list, which every conversation pays for.
const LIST_BYTES_MAX: usize = 18_000;

const GOLDEN: &str = "tests/fixtures/mcp/tools.json";

#[test]
#[expect(clippy::print_stdout, reason = "what the list costs is worth knowing")]
fn the_list_of_tools_is_the_one_that_was_agreed_on_and_small() {
    let mut agent = StdioClient::in_own_folder();
    let id = agent.send_request("tools/list", &json!({}));
    let answer = agent.wait_answer(id);
    let size = answer.to_string().len();
    println!("tools/list: {size} bytes of {LIST_BYTES_MAX}");
    assert!(size < LIST_BYTES_MAX, "{size} bytes");
    let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(GOLDEN);
    let shown = format!("{:#}\n", value_at(&answer, "result.tools"));
    if std::env::var_os("PLENARY_WRITE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &shown).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(
        golden == shown,
        "tools/list has changed: if it was meant, PLENARY_WRITE_GOLDEN=1 writes {GOLDEN}"
    );
}

#[test]
fn every_version_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let program = TestProgram::new();
        let mut agent = StdioClient::without_handshake(&program, &["mcp"]);
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let result = agent.request_ok("initialize", &hello);
        assert_eq!(value_at(&result, "protocolVersion"), version);
        assert_eq!(value_at(&result, "serverInfo.name"), "plenary");
        assert!(value_at(&result, "instructions").as_str().unwrap().contains("council_ask"));
    }
    // The newest version has no handshake: every request identifies its client.
    let program = TestProgram::new();
    let mut agent = StdioClient::without_handshake(&program, &["mcp"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let result = agent.request_ok("server/discover", &json!({ "_meta": meta }));
    let versions = value_at(&result, "supportedVersions").as_array().unwrap();
    assert!(
        versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2024-11-05")),
        "{result:#}"
    );
    let listed = agent.request_ok("tools/list", &json!({ "_meta": meta }));
    assert_eq!(value_at(&listed, "tools").as_array().unwrap().len(), 16);
}

/// The operation reads every property of its schema: a misspelled name is rejected with the correct
/// one.
#[test]
fn every_property_of_a_schema_is_read_by_its_tool() {
    let mut agent = StdioClient::in_own_folder();
    agent.call_tool_ok(
        "blue_dialogue_create",
        &json!({ "title": "Talk", "expert_pool": make_pool(&["ann"]) }),
    );
    let listed = agent.request_ok("tools/list", &json!({}));
    let mut tried = 0;
    for tool in value_at(&listed, "tools").as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        for property in value_at(tool, "inputSchema.properties").as_object().unwrap().keys() {
            if property.len() < 3 {
                // Too short for a misspelling to be recognised.
                continue;
            }
            let slip = format!("{property}x");
            let mut arguments = json!({ slip.clone(): 1 });
            if name == "blue_dialogue_search" {
                arguments["op"] = json!(operation_of(property));
            }
            let refused = agent.call_tool_error(name, &arguments);
            let message = refused.to_string();
            assert!(
                message.contains(&slip) && message.contains(&format!("'{property}'")),
                "{name}.{property}: {refused:#}"
            );
            tried += 1;
        }
    }
    assert!(tried > 90, "{tried}");
}

/// The search operation that reads a property.
fn operation_of(property: &str) -> &'static str {
    match property {
        "ids" | "dialogue_id" => "cite",
        "query" => "similar",
        _ => "list",
    }
}

/// The keys of an object, sorted.
fn object_keys(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

/// The keys in a tool's output schema.
fn schema_keys(listed: &Value, name: &str) -> BTreeSet<String> {
    let tools = value_at(listed, "tools").as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
    object_keys(value_at(tool, "outputSchema.properties"))
}

#[test]
fn answers_have_the_keys_that_their_schema_names() {
    let mut agent = StdioClient::in_own_folder();
    let listed = agent.request_ok("tools/list", &json!({}));
    let named = json!({ "dialogue_id": "talk" });
    let round = json!({ "dialogue_id": "talk", "round": 0, "score": 1 });
    for (tool, arguments) in [
        ("blue_dialogue_create", &json!({ "title": "Talk", "expert_pool": make_pool(&["ann"]) })),
        ("blue_dialogue_round_context", &named),
        ("blue_dialogue_round_context", &json!({ "dialogue_id": "talk", "render": true })),
        ("blue_dialogue_round_register", &round),
        ("blue_dialogue_progress", &named),
        ("blue_dialogue_export", &named),
        ("council_ask", &json!({ "question": "Tea?", "rehearse": true, "wait_seconds": 30 })),
    ] {
        let answer = agent.call_tool_ok(tool, arguments);
        let mut promised = schema_keys(&listed, tool);
        // Without `render` no prompts are written.
        promised.retain(|key| key != "prompts" || arguments.get("render").is_some());
        // Only a calibrated dialogue has this.
        promised.retain(|key| key != "calibration");
        let result = object_keys(&answer);
        // Warnings are optional.
        promised.retain(|key| key != "warnings" || result.contains(key));
        assert_eq!(result, promised, "{tool}");
    }
    // A search returns some of its keys; all its operations together return all of them.
    let mut result = BTreeSet::new();
    for search in [
        json!({ "op": "cite", "ids": ["talk/P0001"] }),
        json!({ "op": "similar", "query": "tea" }),
        json!({ "op": "stats" }),
        json!({ "op": "list", "colour": "red" }),
    ] {
        result.extend(object_keys(&agent.call_tool_ok("blue_dialogue_search", &search)));
    }
    assert_eq!(result, schema_keys(&listed, "blue_dialogue_search"));
}

#[test]
fn standard_output_carries_the_protocol_and_nothing_else() {
    let program = TestProgram::new();
    std::fs::write(program.path().join("post.md"), "A post.\n").unwrap();
    // A log that cannot be written causes a warning.
    std::fs::create_dir(program.path().join("council_log.jsonl")).unwrap();
    let mut agent = StdioClient::with_arguments(&program, &["-v", "mcp"]);
    agent.call_tool_ok(
        "council_review",
        &json!({ "path": "post.md", "rehearse": true, "wait_seconds": 30 }),
    );
    agent.call_tool_ok("blue_dialogue_create", &json!({ "title": "Talk" }));
    agent.call_tool_error("blue_dialogue_progress", &json!({ "dialogue_id": "nothing" }));
    // The client panics on any line that is not a message.
    let (code, message) = agent.close_client();
    assert_eq!(code, 0, "{message}");
    assert!(message.contains("verdict log"), "{message}");
}

#[test]
fn a_tool_that_is_not_there_is_an_error_of_the_protocol() {
    let mut agent = StdioClient::in_own_folder();
    let id = agent
        .send_request("tools/call", &json!({ "name": "blue_dialogue_delete", "arguments": {} }));
    let answer = agent.wait_answer(id);
    assert_eq!(value_at(&answer, "error.code"), -32602);
    assert!(value_at(&answer, "error.message").as_str().unwrap().contains("tools/list"));
}
