//! What a client is told of the tools' arguments.

use serde_json::{Map, Value, json};

use crate::mcp::tools::round_register::TOOL;
use crate::mcp::tools::tool::TOOLS;

#[test]
fn only_what_a_tool_cannot_do_without_is_required() {
    let required = |schema: &Map<String, Value>| {
        let names = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    let listed: Vec<String> = TOOLS
        .iter()
        .map(|tool| format!("{}: {}", tool.name, required(&(tool.arguments)())))
        .collect();
    insta::assert_snapshot!(listed.join("\n"), @r"
    blue_dialogue_create: title
    blue_dialogue_evolve_panel: dialogue_id round panel
    blue_dialogue_round_context: dialogue_id
    blue_dialogue_round_register: dialogue_id round score
    blue_dialogue_expert_create: dialogue_id expert_slug role tier reason
    blue_dialogue_progress: dialogue_id
    blue_dialogue_verdict_register: dialogue_id verdict_id verdict_type recommendation description
    blue_dialogue_export: dialogue_id
    blue_dialogue_search: op
    council_ask: question
    council_review: 
    deliberation_status: dialogue_id
    deliberation_intervene: dialogue_id kind
    ");
    let register = TOOL.arguments;
    let refs = &register()["properties"]["refs"]["items"]["required"];
    assert_eq!(refs, &json!(["source_id", "ref_type", "target_id"]));
}

/// Clients turn what was typed into a value by the type of the field alone; some take no
/// reference there, and no choice. Null goes with a text and with nothing else.
#[test]
fn every_argument_says_of_what_type_it_is() {
    for tool in TOOLS {
        let schema = (tool.arguments)();
        for (name, argument) in schema["properties"].as_object().unwrap() {
            let kind = &argument["type"];
            let is_lone = kind.as_str().is_some_and(|kind| kind != "null");
            let is_text_or_null = *kind == json!(["string", "null"]) && name == "author_expert";
            assert!(is_lone || is_text_or_null, "{} {name}: {argument}", tool.name);
        }
        let text = Value::Object(schema).to_string().replace(r#"["string","null"]"#, "");
        assert!(!text.contains("\"null") && !text.contains("anyOf"), "{}: {text}", tool.name);
    }
}
