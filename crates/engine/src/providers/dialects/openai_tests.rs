//! Tests of requests to OpenAI-compatible servers and of recorded replies.

use super::*;
use crate::providers::dialects::wire::adapt_schema;
use crate::providers::test_samples::{
    format_request, read_recorded, sample_parts, sample_provider, sample_request,
};

const REAL: &str = "https://api.openai.com/v1";

#[test]
fn a_request_carries_the_schema_in_strict_mode() {
    let (provider, asked) = (sample_provider(), sample_request());
    let schema = adapt_schema(Dialect::OpenAi, asked.schema.as_ref().unwrap(), 4_096);
    let parts = sample_parts(Dialect::OpenAi, &provider, Some(&schema));
    let wire = build_request(REAL, &provider, &asked, &parts);
    insta::assert_snapshot!(format_request(&wire), @r#"
    https://api.openai.com/v1/chat/completions
    authorization: Bearer KEY
    {
      "model": "gpt-4o",
      "messages": [
        {
          "role": "system",
          "content": "You are a participant."
        },
        {
          "role": "user",
          "content": "Is \"it\" so?\n"
        }
      ],
      "max_completion_tokens": 4096,
      "response_format": {
        "type": "json_schema",
        "json_schema": {
          "name": "opinion",
          "strict": true,
          "schema": {
            "type": "object",
            "properties": {
              "summary": {
                "type": "string",
                "description": "In short."
              },
              "rating": {
                "type": "integer"
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
                  ],
                  "additionalProperties": false
                }
              }
            },
            "required": [
              "summary",
              "rating",
              "note",
              "risks"
            ],
            "additionalProperties": false
          }
        }
      }
    }
    "#);
}

#[test]
fn a_compatible_server_gets_the_older_limit_and_no_key_where_there_is_none() {
    let provider = Provider { key: None, temperature: Some(0.5), ..sample_provider() };
    let parts = sample_parts(Dialect::OpenAi, &provider, None);
    let wire = build_request("http://127.0.0.1:8099/v1", &provider, &sample_request(), &parts);
    insta::assert_snapshot!(format_request(&wire), @r#"
    http://127.0.0.1:8099/v1/chat/completions
    {
      "model": "gpt-4o",
      "messages": [
        {
          "role": "system",
          "content": "You are a participant."
        },
        {
          "role": "user",
          "content": "Is \"it\" so?\n"
        }
      ],
      "max_tokens": 4096,
      "temperature": 0.5
    }
    "#);
}

#[test]
fn recorded_replies_are_read() {
    let check = |fixture: &str, expected: &str| {
        assert_eq!(read_recorded(Dialect::OpenAi, fixture), expected, "{fixture}");
    };
    check(
        "ok",
        r#"stop "{\"summary\":\"It is so.\"}" Some("gpt-4o-2024-08-06") Some((212, 41)) None"#,
    );
    check(
        "length",
        r#"length "{\"summary\":\"It is" Some("gpt-4o-2024-08-06") Some((212, 4)) None"#,
    );
    check(
        "refusal",
        r#"refusal "I'm sorry, I cannot help with that." Some("gpt-4o-2024-08-06") Some((212, 11)) None"#,
    );
    check("content_filter", "refused: `openai` refused to answer and gave no reason");
    check("empty", r#"stop "" Some("llama3.2:latest") None None"#);
    check(
        "openrouter",
        r#"stop "{\"summary\":\"It is so.\"}" Some("openai/gpt-4o") Some((212, 41)) Some(0.00094)"#,
    );
    check(
        "openrouter_error_in_200",
        "rate_limit: `openai` at api.openai.com reported 429 in its reply: Rate limit exceeded: free-models-per-min.",
    );
    check(
        "parts",
        r#"stop "{\"summary\":\"It is so.\"}" Some("magistral-medium-latest") Some((9, 7)) None"#,
    );
    check("odd_usage", r#"other "{}" Some("qwen2.5-7b") None None"#);
    check("no_choice", "parse_error: `openai` sent an invalid reply: no choice in it");
    check(
        "wrong_shape",
        "parse_error: `openai` sent an invalid reply: JSON of another shape (at line 2 column 25)",
    );
}
