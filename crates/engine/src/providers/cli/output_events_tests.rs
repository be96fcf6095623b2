//! Tests with streams as the programs write them, cut at every byte. `./check real` runs the programs
//! themselves.

use plenary_core::model::ask::{CallErrorType, TokenUsage};

use super::*;
use crate::providers::cli::program::{AgentProgram, OutputForm};

const STREAMS: [(AgentProgram, &str); 2] = [
    (AgentProgram::Claude, include_str!("../../../../../tests/fixtures/streams/claude-cli.jsonl")),
    (AgentProgram::Codex, include_str!("../../../../../tests/fixtures/streams/codex-cli.jsonl")),
];

/// The text of each stream.
const TEXT: &str = r#"{"summary": "Grüße — tea \u00e9", "n": 1}"#;

fn output_of(stdout: &str, succeeded: bool) -> ProgramOutput {
    let ending = if succeeded { "exit status: 0" } else { "exit status: 1" };
    ProgramOutput {
        succeeded,
        ending: ending.to_owned(),
        stdout: stdout.into(),
        stderr: String::new(),
    }
}

#[test]
fn a_stream_is_read_with_its_usage() {
    for (program, stream) in STREAMS {
        let reply = program.parse_output(&output_of(stream, true), OutputForm::Streamed).unwrap();
        assert_eq!(reply.text, TEXT, "{program:?}");
        let usage = reply.usage.unwrap();
        let cache_write_tokens = usage.cache_write_tokens;
        let expected =
            TokenUsage { cached_tokens: 64, cache_write_tokens, ..TokenUsage::new(120, 31) };
        assert_eq!(usage, expected, "{program:?}");
    }
}

#[test]
fn a_stream_cut_at_any_byte_shows_the_same_text() {
    for (program, stream) in STREAMS {
        for cut in 0..=stream.len() {
            let (head, tail) = stream.as_bytes().split_at(cut);
            let mut lines = LineDecoder::default();
            let all = [head, tail].into_iter().flat_map(|part| lines.push_bytes(part));
            let shown: String = all.map(|line| program.text_of_event(&line)).collect();
            assert_eq!(shown, TEXT, "{program:?} at {cut}");
        }
    }
}

#[test]
fn a_stream_that_ends_early_is_an_error() {
    for (program, stream) in STREAMS {
        let lines: Vec<&str> = stream.lines().collect();
        for count in 0..lines.len() {
            let part = lines[..count].join("\n");
            let failed = program.parse_output(&output_of(&part, false), OutputForm::Streamed);
            assert_eq!(
                failed.unwrap_err().error_type,
                CallErrorType::Unknown,
                "{program:?} {count}"
            );
        }
    }
}

#[test]
fn a_failed_result_is_an_error_of_its_class() {
    let check = |program: AgentProgram, stdout: &str, expected: CallErrorType| {
        let failed = program.parse_output(&output_of(stdout, false), OutputForm::Streamed);
        assert_eq!(failed.unwrap_err().error_type, expected, "{stdout}");
    };
    check(
        AgentProgram::Claude,
        r#"{"type":"result","is_error":true,"result":"busy","api_error_status":529}"#,
        CallErrorType::ServerError,
    );
}

#[test]
fn only_a_program_that_does_not_know_the_options_is_run_without_them() {
    let check = |program: AgentProgram, stderr: &str, expected: bool| {
        let talk = ProgramOutput { stderr: stderr.to_owned(), ..output_of("", false) };
        assert_eq!(program.rejects_stream(&talk), expected, "{stderr}");
    };
    check(AgentProgram::Claude, "error: unknown option '--include-partial-messages'", true);
    check(AgentProgram::Claude, "Invalid values:\n  Argument: output-format", true);
    check(AgentProgram::Gemini, "Invalid values:\n  Argument: output-format", false);
    check(AgentProgram::Claude, "Not logged in", false);
    check(AgentProgram::Codex, "error: unknown option", false);
}
