//! Parser tests with recorded output of real programs: replies and errors.

use super::Program;
use crate::domain::ask::{ErrorType, Finish, Usage};
use crate::providers::process::Talk;
use crate::providers::request::{CallError, Received};

macro_rules! recorded {
    ($path:literal) => {
        include_str!(concat!("../../../tests/fixtures/replies/", $path))
    };
}

fn said(stdout: &str) -> Talk {
    Talk {
        succeeded: true,
        ending: "exit status: 0".to_owned(),
        stdout: stdout.into(),
        stderr: String::new(),
    }
}

fn complained(stderr: &str) -> Talk {
    Talk {
        succeeded: false,
        ending: "exit status: 1".to_owned(),
        stdout: Vec::new(),
        stderr: stderr.to_owned(),
    }
}

#[test]
fn a_recorded_reply_is_read_with_its_usage() {
    let check = |program: Program, stdout: &str, model: Option<&str>| {
        let expected = Received {
            text: "PONG".to_owned(),
            usage: Some(Usage { input_tokens: 11, output_tokens: 7 }),
            model: model.map(str::to_owned),
            finish: Finish::Stop,
            cost_usd: None,
            structured: false,
        };
        assert_eq!(program.read(&said(stdout)), Ok(expected), "{program:?}");
    };
    check(Program::Claude, recorded!("claude-cli/reply.json"), Some("claude-sonnet-4-20250514"));
    check(Program::Codex, recorded!("codex-cli/reply.jsonl"), None);
    check(Program::Gemini, recorded!("gemini-cli/reply.json"), Some("m-answering"));
}

/// Error type and user-visible message.
fn check_error(program: Program, talk: &Talk, error_type: ErrorType, message: &str) {
    assert_eq!(program.read(talk), Err(CallError::new(error_type, message)), "{program:?}");
}

#[test]
fn recorded_errors_of_claude_have_their_class() {
    let check = |stdout: &str, error_type, message| {
        check_error(Program::Claude, &said(stdout), error_type, message);
    };
    check(
        recorded!("claude-cli/unauthorized.json"),
        ErrorType::Auth,
        "Failed to authenticate. API Error: 401 scripted",
    );
    check(
        recorded!("claude-cli/not-logged-in.json"),
        ErrorType::Auth,
        "Not logged in · Please run /login",
    );
    check(
        recorded!("claude-cli/rate-limited.json"),
        ErrorType::RateLimit,
        "API Error: Request rejected (429) · scripted",
    );
    check(
        recorded!("claude-cli/server-error.json"),
        ErrorType::ServerError,
        "API Error: 500 scripted. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8391).",
    );
    check(
        recorded!("claude-cli/unreachable.json"),
        ErrorType::Network,
        "API Error: Unable to connect to API (ConnectionRefused)",
    );
    check(
        recorded!("claude-cli/refused.json"),
        ErrorType::Refused,
        "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup). Try rephrasing the request in a new session or change your model.",
    );
}

#[test]
fn recorded_errors_of_codex_have_their_class() {
    let check = |stdout: &str, error_type, message| {
        check_error(Program::Codex, &said(stdout), error_type, message);
    };
    check(
        recorded!("codex-cli/unauthorized.jsonl"),
        ErrorType::Auth,
        "unexpected status 401 Unauthorized: scripted, url: http://127.0.0.1:8391/v1/responses",
    );
    check(
        recorded!("codex-cli/rate-limited.jsonl"),
        ErrorType::RateLimit,
        "exceeded retry limit, last status: 429 Too Many Requests",
    );
    check(
        recorded!("codex-cli/server-error.jsonl"),
        ErrorType::ServerError,
        "We’re currently experiencing high demand, which may cause temporary errors.",
    );
    check(
        recorded!("codex-cli/unreachable.jsonl"),
        ErrorType::Network,
        "Connection failed: error sending request",
    );
}

#[test]
fn recorded_errors_of_gemini_have_their_class() {
    let check = |stderr: &str, error_type, message| {
        check_error(Program::Gemini, &complained(stderr), error_type, message);
    };
    check(
        recorded!("gemini-cli/unauthorized.stderr.txt"),
        ErrorType::Auth,
        "API key not valid. Please pass a valid API key.",
    );
    check(recorded!("gemini-cli/rate-limited.stderr.txt"), ErrorType::RateLimit, "scripted");
    check(recorded!("gemini-cli/server-error.stderr.txt"), ErrorType::ServerError, "scripted");
    check(
        recorded!("gemini-cli/unreachable.stderr.txt"),
        ErrorType::Network,
        "exception TypeError: fetch failed sending request",
    );
    check(
        recorded!("gemini-cli/not-logged-in.stderr.txt"),
        ErrorType::Auth,
        "Please set an Auth method in your /home/someone/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA",
    );
}

#[test]
fn output_that_is_no_reply_is_a_parse_error_for_every_program() {
    const BAD: [&[u8]; 7] = [
        b"",
        b"{",
        b"null",
        b"{}",
        b"\xff\xfe",
        br#"{"is_error": false, "result": "   ", "response": "", "type": "turn.completed"}"#,
        br#"{"type": "item.completed", "item": {"type": "agent_message", "text": 7}}"#,
    ];
    for program in [Program::Claude, Program::Codex, Program::Gemini] {
        for stdout in BAD {
            let talk = Talk { stdout: stdout.to_vec(), ..said("") };
            let error = program.read(&talk).unwrap_err();
            let shown = String::from_utf8_lossy(stdout);
            assert_eq!(error.error_type, ErrorType::ParseError, "{program:?} {shown:?} {error}");
        }
    }
}

#[test]
fn a_program_that_dies_without_a_document_is_told_by_its_last_words() {
    let talk = complained("one\ntwo\nthree\nerror: unexpected argument '--tools' found\n");
    for program in [Program::Claude, Program::Codex, Program::Gemini, Program::Plain] {
        check_error(
            program,
            &talk,
            ErrorType::Unknown,
            "exit status: 1: one\ntwo\nthree\nerror: unexpected argument '--tools' found",
        );
    }
}

#[test]
fn codex_is_heard_to_the_end() {
    // The program may print several messages; the last one is the answer.
    let events = r#"{"type":"item.completed","item":{"type":"agent_message","text":"Let me see."}}
not an event
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"type":"agent_message","text":"Forty-two."}}
{"type":"turn.completed","usage":{"input_tokens":3,"output_tokens":2}}"#;
    let received = Program::Codex.read(&said(events)).unwrap();
    assert_eq!(received.text, "Forty-two.");
    assert_eq!(received.usage, Some(Usage { input_tokens: 3, output_tokens: 2 }));
}

#[test]
fn gemini_may_warn_before_it_answers() {
    let stdout = format!("Warning: {{}}\n{}", recorded!("gemini-cli/reply.json"));
    assert_eq!(Program::Gemini.read(&said(&stdout)).unwrap().text, "PONG");
}
