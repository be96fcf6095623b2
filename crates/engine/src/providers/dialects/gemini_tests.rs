//! Tests of Gemini requests and recorded replies.

use super::*;
use crate::providers::dialects::wire::adapt_schema;
use crate::providers::test_samples::{
    format_request, read_recorded, sample_parts, sample_provider, sample_request,
};

const REAL: &str = "https://generativelanguage.googleapis.com/v1beta";

#[test]
fn a_request_says_who_speaks_and_keeps_the_key_out_of_the_address() {
    let provider = Provider { temperature: Some(1.0), ..sample_provider() };
    let parts = sample_parts(Dialect::Gemini, &provider, None);
    let wire = build_request(REAL, &provider, &sample_request(), &parts);
    insta::assert_snapshot!(format_request(&wire), @r#"
    https://generativelanguage.googleapis.com/v1beta/models/gpt-4o:generateContent
    x-goog-api-key: KEY
    {
      "systemInstruction": {
        "parts": [
          {
            "text": "You are a participant."
          }
        ]
      },
      "contents": [
        {
          "role": "user",
          "parts": [
            {
              "text": "Is \"it\" so?\n"
            }
          ]
        }
      ],
      "generationConfig": {
        "maxOutputTokens": 4096,
        "temperature": 1.0
      }
    }
    "#);
}

#[test]
fn a_request_carries_the_schema_in_its_configuration() {
    let (provider, asked) = (sample_provider(), sample_request());
    let schema = adapt_schema(Dialect::Gemini, asked.schema.as_ref().unwrap(), 4_096);
    let parts = sample_parts(Dialect::Gemini, &provider, Some(&schema));
    let wire = build_request(REAL, &provider, &asked, &parts);
    let body: serde_json::Value = serde_json::from_slice(&wire.body).unwrap();
    let configuration = &body["generationConfig"];
    assert_eq!(configuration["responseMimeType"], "application/json");
    insta::assert_snapshot!(format!("{:#}", configuration["responseSchema"]), @r#"
    {
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
          "type": "string",
          "nullable": true
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
            "propertyOrdering": [
              "severity"
            ]
          }
        }
      },
      "required": [
        "summary",
        "rating"
      ],
      "propertyOrdering": [
        "summary",
        "rating",
        "note",
        "risks"
      ]
    }
    "#);
}

#[test]
fn a_model_is_one_segment_of_the_path() {
    let check = |model: &str, expected: &str| {
        let provider = Provider { model: model.to_owned(), ..sample_provider() };
        let parts = sample_parts(Dialect::Gemini, &provider, None);
        let wire = build_request("http://h/v1", &provider, &sample_request(), &parts);
        assert_eq!(wire.url, format!("http://h/v1/models/{expected}:generateContent"), "{model}");
    };
    check("models/gemini-2.0-flash", "gemini-2.0-flash");
    check("../../x?key=1#y", "..%2F..%2Fx%3Fkey%3D1%23y");
    check("tuned/é", "tuned%2F%C3%A9");
}

#[test]
fn recorded_replies_are_read() {
    let check = |fixture: &str, expected: &str| {
        assert_eq!(read_recorded(Dialect::Gemini, fixture), expected, "{fixture}");
    };
    check(
        "ok",
        r#"stop "{\"summary\":\"It is so.\"}" Some("gemini-2.0-flash") Some((212, 41)) None"#,
    );
    check(
        "length",
        r#"length "{\"summary\":\"It is" Some("gemini-2.0-flash") Some((212, 4)) None"#,
    );
    check("length_thought_away", r#"length "" Some("gemini-2.5-flash") Some((212, 4096)) None"#);
    check("safety", "refused: `openai` refused to answer and gave no reason");
    check("blocked", "refused: `openai` refused to answer and gave no reason");
    check(
        "thoughts",
        r#"stop "{\"summary\":\"It is so.\"}" Some("gemini-2.5-pro") Some((212, 141)) None"#,
    );
    check("nothing", "parse_error: `openai` sent an invalid reply: no candidate in it");
    check(
        "wrong_shape",
        "parse_error: `openai` sent an invalid reply: JSON of another shape (at line 2 column 16)",
    );
}
