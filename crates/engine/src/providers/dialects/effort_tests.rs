//! How each dialect is sent the effort, and the schema of a model that refuses forced tools.

use plenary_core::model::plan::EffortLevel;
use serde_json::{Value, json};

use crate::providers::dialects::wire::{adapt_schema, build_request};
use crate::providers::test_samples::{sample_parts, sample_provider, sample_request};
use crate::providers::transport::{Dialect, Provider};

/// The body of a request with effort `medium`.
fn request_body(dialect: Dialect, model: &str, limit: u32) -> Value {
    let provider = Provider {
        model: model.to_owned(),
        effort: Some(EffortLevel::Medium),
        temperature: Some(0.5),
        output_tokens_max: limit,
        ..sample_provider()
    };
    let asked = sample_request();
    let schema = adapt_schema(dialect, asked.schema.as_ref().unwrap(), limit);
    let parts = sample_parts(dialect, &provider, Some(&schema));
    let wire = build_request(dialect, "http://h/v1", &provider, &asked, &parts);
    serde_json::from_slice(&wire.body).unwrap()
}

#[test]
fn each_dialect_has_its_own_word_for_the_effort() {
    let check = |dialect: Dialect, model: &str, pointer: &str, expected: Value| {
        let body = request_body(dialect, model, 32_000);
        assert_eq!(body.pointer(pointer), Some(&expected), "{model}: {body:#}");
    };
    check(Dialect::OpenAi, "gpt-5.6", "/reasoning_effort", json!("medium"));
    check(Dialect::Anthropic, "claude-sonnet-5-5", "/output_config/effort", json!("medium"));
    check(Dialect::Anthropic, "claude-unheard-of-9", "/output_config/effort", json!("medium"));
    let budget = json!({ "type": "enabled", "budget_tokens": 8_192 });
    check(Dialect::Anthropic, "claude-haiku-4-5", "/thinking", budget);
    let level = json!({ "thinkingLevel": "medium" });
    check(Dialect::Gemini, "gemini-3.8-flash", "/generationConfig/thinkingConfig", level);
    let budget = json!({ "thinkingBudget": 8_192 });
    check(Dialect::Gemini, "gemini-2.5-pro", "/generationConfig/thinkingConfig", budget);
}

#[test]
fn a_thinking_budget_leaves_half_of_the_output_and_excludes_temperature_and_forced_tools() {
    let body = request_body(Dialect::Anthropic, "claude-haiku-4-5", 4_000);
    assert_eq!(body.pointer("/thinking/budget_tokens"), Some(&json!(2_000)));
    assert_eq!((body.get("temperature"), body.get("tool_choice")), (None, None));
    assert_eq!(body.pointer("/output_config/format/type"), Some(&json!("json_schema")));
    let small = request_body(Dialect::Anthropic, "claude-haiku-4-5", 1_000);
    assert_eq!(small.get("thinking"), None, "a budget under the least is not sent");
}

#[test]
fn a_model_that_refuses_forced_tools_gets_the_schema_as_its_format() {
    let body = request_body(Dialect::Anthropic, "claude-sonnet-5-5", 32_000);
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    let closed = body.pointer("/output_config/format/schema/additionalProperties");
    assert_eq!(closed, Some(&json!(false)));
    assert_eq!(body.get("temperature"), None, "it takes no temperature");
    let other = request_body(Dialect::Anthropic, "claude-opus-4-5", 32_000);
    assert_eq!(other.pointer("/tool_choice/type"), Some(&json!("tool")));
}
