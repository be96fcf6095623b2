//! Tests of Anthropic requests and recorded replies.

use super::*;
use crate::providers::dialects::wire::adapt_schema;
use crate::providers::test_samples::{
    format_request, read_recorded, sample_parts, sample_provider, sample_request,
};

const REAL: &str = "https://api.anthropic.com/v1";

#[test]
fn a_request_carries_the_schema_as_a_tool_that_must_be_used() {
    let (provider, asked) = (sample_provider(), sample_request());
    let schema = adapt_schema(Dialect::Anthropic, asked.schema.as_ref().unwrap(), 4_096);
    let parts = sample_parts(Dialect::Anthropic, &provider, Some(&schema));
    let wire = build_request(REAL, &provider, &asked, &parts);
    insta::assert_snapshot!(format_request(&wire), @r#"
    https://api.anthropic.com/v1/messages
    anthropic-version: 2023-06-01
    x-api-key: KEY
    {
      "model": "gpt-4o",
      "max_tokens": 4096,
      "system": "You are a participant.",
      "messages": [
        {
          "role": "user",
          "content": "Is \"it\" so?\n"
        }
      ],
      "tools": [
        {
          "name": "opinion",
          "description": "Takes your whole answer.",
          "input_schema": {
            "type": "object",
            "properties": {
              "summary": {
                "type": "string",
                "description": "In short."
              },
              "rating": {
                "type": "integer",
                "minimum": 1,
                "maximum": 10
              },
              "note": {
                "type": [
                  "string",
                  "null"
                ]
              },
              "risks": {
                "type": "array",
                "items": {
                  "type": "object",
                  "properties": {
                    "severity": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "severity"
                  ]
                }
              }
            },
            "required": [
              "summary",
              "rating"
            ]
          }
        }
      ],
      "tool_choice": {
        "type": "tool",
        "name": "opinion"
      }
    }
    "#);
}

#[test]
fn a_request_without_a_schema_has_no_tools() {
    let provider = Provider { temperature: Some(0.0), ..sample_provider() };
    let parts = sample_parts(Dialect::Anthropic, &provider, None);
    let wire = build_request(REAL, &provider, &sample_request(), &parts);
    insta::assert_snapshot!(format_request(&wire), @r#"
    https://api.anthropic.com/v1/messages
    anthropic-version: 2023-06-01
    x-api-key: KEY
    {
      "model": "gpt-4o",
      "max_tokens": 4096,
      "system": "You are a participant.",
      "messages": [
        {
          "role": "user",
          "content": "Is \"it\" so?\n"
        }
      ],
      "temperature": 0.0
    }
    "#);
}

#[test]
fn recorded_replies_are_read() {
    let check = |fixture: &str, expected: &str| {
        assert_eq!(read_recorded(Dialect::Anthropic, fixture), expected, "{fixture}");
    };
    check(
        "ok",
        r#"stop "{\"summary\":\"It is so.\"}" Some("claude-sonnet-4-20250514") Some((212, 41)) None"#,
    );
    check(
        "length",
        r#"length "{\"summary\":\"It is" Some("claude-sonnet-4-20250514") Some((212, 4)) None"#,
    );
    check(
        "tool_use",
        r#"stop "{\"summary\":\"It is so.\",\"rating\":1.0}" Some("claude-sonnet-4-20250514") Some((212, 41)) None"#,
    );
    check("refusal", "refused: `openai` refused to answer and gave no reason");
    check(
        "refusal_midway",
        r#"refusal "I would rather" Some("claude-opus-4-1-20250805") Some((212, 3)) None"#,
    );
    check(
        "thinking",
        r#"stop "{\"summary\":\"It is so.\"}" Some("claude-sonnet-4-20250514") Some((212, 90)) None"#,
    );
    check(
        "error_in_200",
        "server_error: `openai` at api.openai.com reported 529 in its reply: Overloaded",
    );
    check(
        "wrong_shape",
        "parse_error: `openai` sent an invalid reply: JSON of another shape (at line 2 column 24)",
    );
}
