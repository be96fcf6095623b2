//! Parser tests with recorded output of real programs: replies and errors.

use plenary_core::model::ask::{CallErrorType, FinishReason, TokenUsage};

use crate::providers::cli::program::{AgentProgram, OutputForm};
use crate::providers::process::process_group::ProgramOutput;
use crate::providers::transport::{CallError, CallReply};

macro_rules! recorded {
    ($path:literal) => {
        include_str!(concat!("../../../../../tests/fixtures/replies/", $path))
    };
}

fn output_with_stdout(stdout: &str) -> ProgramOutput {
    ProgramOutput {
        succeeded: true,
        ending: "exit status: 0".to_owned(),
        stdout: stdout.into(),
        stderr: String::new(),
    }
}

fn output_with_stderr(stderr: &str) -> ProgramOutput {
    ProgramOutput {
        succeeded: false,
        ending: "exit status: 1".to_owned(),
        stdout: Vec::new(),
        stderr: stderr.to_owned(),
    }
}

#[test]
fn a_recorded_reply_is_read_with_its_usage() {
    let check = |program: AgentProgram, stdout: &str, model: Option<&str>| {
        let expected = CallReply {
            text: "PONG".to_owned(),
            usage: Some(TokenUsage::new(11, 7)),
            model: model.map(str::to_owned),
            finish: FinishReason::Stop,
            cost_usd: None,
            structured: false,
        };
        assert_eq!(
            program.parse_output(&output_with_stdout(stdout), OutputForm::Whole),
            Ok(expected),
            "{program:?}"
        );
    };
    check(
        AgentProgram::Claude,
        recorded!("claude-cli/reply.json"),
        Some("claude-sonnet-4-20250514"),
    );
    check(AgentProgram::Codex, recorded!("codex-cli/reply.jsonl"), None);
    check(AgentProgram::Gemini, recorded!("gemini-cli/reply.json"), Some("m-answering"));
}

/// Error type and user-visible message.
fn check_error(
    program: AgentProgram,
    talk: &ProgramOutput,
    error_type: CallErrorType,
    message: &str,
) {
    assert_eq!(
        program.parse_output(talk, OutputForm::Whole),
        Err(CallError::new(error_type, message)),
        "{program:?}"
    );
}

#[test]
fn recorded_errors_of_claude_have_their_class() {
    let check = |stdout: &str, error_type, message| {
        check_error(AgentProgram::Claude, &output_with_stdout(stdout), error_type, message);
    };
    check(
        recorded!("claude-cli/unauthorized.json"),
        CallErrorType::Auth,
        "Failed to authenticate. API Error: 401 scripted",
    );
    check(
        recorded!("claude-cli/not-logged-in.json"),
        CallErrorType::Auth,
        "Not logged in · Please run /login",
    );
    check(
        recorded!("claude-cli/rate-limited.json"),
        CallErrorType::RateLimit,
        "API Error: Request rejected (429) · scripted",
    );
    check(
        recorded!("claude-cli/server-error.json"),
        CallErrorType::ServerError,
        "API Error: 500 scripted. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8391).",
    );
    check(
        recorded!("claude-cli/unreachable.json"),
        CallErrorType::Network,
        "API Error: Unable to connect to API (ConnectionRefused)",
    );
    check(
        recorded!("claude-cli/refused.json"),
        CallErrorType::Refused,
        "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup). Try rephrasing the request in a new session or change your model.",
    );
}

#[test]
fn recorded_errors_of_codex_have_their_class() {
    let check = |stdout: &str, error_type, message| {
        check_error(AgentProgram::Codex, &output_with_stdout(stdout), error_type, message);
    };
    check(
        recorded!("codex-cli/unauthorized.jsonl"),
        CallErrorType::Auth,
        "unexpected status 401 Unauthorized: scripted, url: http://127.0.0.1:8391/v1/responses",
    );
    check(
        recorded!("codex-cli/rate-limited.jsonl"),
        CallErrorType::RateLimit,
        "exceeded retry limit, last status: 429 Too Many Requests",
    );
    check(
        recorded!("codex-cli/server-error.jsonl"),
        CallErrorType::ServerError,
        "We’re currently experiencing high demand, which may cause temporary errors.",
    );
    check(
        recorded!("codex-cli/unreachable.jsonl"),
        CallErrorType::Network,
        "Connection failed: error sending request",
    );
}

#[test]
fn recorded_errors_of_gemini_have_their_class() {
    let check = |stderr: &str, error_type, message| {
        check_error(AgentProgram::Gemini, &output_with_stderr(stderr), error_type, message);
    };
    check(
        recorded!("gemini-cli/unauthorized.stderr.txt"),
        CallErrorType::Auth,
        "API key not valid. Please pass a valid API key.",
    );
    check(recorded!("gemini-cli/rate-limited.stderr.txt"), CallErrorType::RateLimit, "scripted");
    check(recorded!("gemini-cli/server-error.stderr.txt"), CallErrorType::ServerError, "scripted");
    check(
        recorded!("gemini-cli/unreachable.stderr.txt"),
        CallErrorType::Network,
        "exception TypeError: fetch failed sending request",
    );
    check(
        recorded!("gemini-cli/not-logged-in.stderr.txt"),
        CallErrorType::Auth,
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
    for program in [AgentProgram::Claude, AgentProgram::Codex, AgentProgram::Gemini] {
        for stdout in BAD {
            let talk = ProgramOutput { stdout: stdout.to_vec(), ..output_with_stdout("") };
            let error = program.parse_output(&talk, OutputForm::Whole).unwrap_err();
            let shown = String::from_utf8_lossy(stdout);
            assert_eq!(
                error.error_type,
                CallErrorType::ParseError,
                "{program:?} {shown:?} {error}"
            );
        }
    }
}

#[test]
fn a_program_that_dies_without_a_document_is_told_by_its_last_words() {
    let talk = output_with_stderr("one\ntwo\nthree\nerror: unexpected argument '--tools' found\n");
    for program in
        [AgentProgram::Claude, AgentProgram::Codex, AgentProgram::Gemini, AgentProgram::Plain]
    {
        check_error(
            program,
            &talk,
            CallErrorType::Unknown,
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
    let received =
        AgentProgram::Codex.parse_output(&output_with_stdout(events), OutputForm::Whole).unwrap();
    assert_eq!(received.text, "Forty-two.");
    assert_eq!(received.usage, Some(TokenUsage::new(3, 2)));
}

#[test]
fn gemini_may_warn_before_it_answers() {
    let stdout = format!("Warning: {{}}\n{}", recorded!("gemini-cli/reply.json"));
    assert_eq!(
        AgentProgram::Gemini
            .parse_output(&output_with_stdout(&stdout), OutputForm::Whole)
            .unwrap()
            .text,
        "PONG"
    );
}
