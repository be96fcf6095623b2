//! [`AgentProgram`]: the known agent programs, how each is invoked, and the plain program that
//! reads a prompt on standard input and writes the reply on standard output. Called by
//! `CliTransport`.
//!
//! Prompts never become arguments: an argument is limited to 128 KiB, and every user of the machine
//! can read it.

use std::ffi::OsString;
use std::path::Path;

use plenary_core::model::ask::{AskMessages, FinishReason};

use crate::providers::cli::transport::{exit_error, unreadable_error};
use crate::providers::process::process_group::ProgramOutput;
use crate::providers::transport::{CallError, CallReply, Provider};

/// A known agent program, or any other program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentProgram {
    Claude,
    Codex,
    Gemini,
    /// Prompt on standard input, reply on standard output.
    Plain,
}

/// Arguments, variables, files and input of one run, without the program's name.
#[derive(Debug, Default)]
pub(crate) struct ProgramInvocation {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) variables: Vec<(&'static str, String)>,
    /// Files for the program to read.
    pub(crate) files: Vec<InputFile>,
    pub(crate) input: String,
}

/// File in the scratch folder whose path the program gets.
#[derive(Debug)]
pub(crate) struct InputFile {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) delivery: PathDelivery,
}

#[derive(Debug)]
pub(crate) enum PathDelivery {
    /// The path follows this flag.
    Argument(&'static str),
    /// The path is in this variable.
    Variable(&'static str),
    /// The program looks at this path by default.
    DefaultPath,
}

impl AgentProgram {
    /// Returns the program of a provider and its command line: the configured command, else the
    /// program that belongs to the provider's name.
    pub fn for_provider(provider: &Provider) -> Option<(Self, Vec<String>)> {
        if !provider.command.is_empty() {
            return Some((Self::from_command(&provider.command), provider.command.clone()));
        }
        let (program, word) = match provider.name.as_str() {
            "claude" | "anthropic" => (Self::Claude, "claude"),
            "codex" | "openai" => (Self::Codex, "codex"),
            "gemini" | "google" => (Self::Gemini, "gemini"),
            _ => return None,
        };
        Some((program, vec![word.to_owned()]))
    }

    /// Recognizes the program by its file name, also behind `node` or `npx`.
    fn from_command(command: &[String]) -> Self {
        let stem = |word: &String| Path::new(word).file_stem()?.to_str().map(str::to_owned);
        let mut stems =
            command.iter().filter_map(stem).skip_while(|stem| stem == "node" || stem == "npx");
        match stems.next().as_deref() {
            Some("claude") => Self::Claude,
            Some("codex") => Self::Codex,
            Some("gemini") => Self::Gemini,
            Some(_) | None => Self::Plain,
        }
    }

    /// Prefixes of the environment variables that belong to the program.
    pub(crate) fn own_prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["ANTHROPIC_", "CLAUDE_"],
            Self::Codex => &["OPENAI_", "CODEX_"],
            Self::Gemini => &["GEMINI_", "GOOGLE_"],
            Self::Plain => &[],
        }
    }

    pub(crate) fn build_invocation(self, model: &str, messages: &AskMessages) -> ProgramInvocation {
        match self {
            Self::Claude => crate::providers::cli::claude::build_invocation(model, messages),
            Self::Codex => crate::providers::cli::codex::build_invocation(model, messages),
            Self::Gemini => crate::providers::cli::gemini::build_invocation(model, messages),
            Self::Plain => build_plain_invocation(messages),
        }
    }

    /// Parses the program's output into a reply.
    pub(crate) fn parse_output(self, talk: &ProgramOutput) -> Result<CallReply, CallError> {
        match self {
            Self::Claude => crate::providers::cli::claude::parse_output(talk),
            Self::Codex => crate::providers::cli::codex::parse_output(talk),
            Self::Gemini => crate::providers::cli::gemini::parse_output(talk),
            Self::Plain => parse_plain_output(talk),
        }
    }
}

/// Puts the system message first, for programs without an option for it.
pub(crate) fn join_messages(messages: &AskMessages) -> String {
    if messages.system.is_empty() {
        return messages.user.clone();
    }
    format!("{}\n\n{}", messages.system, messages.user)
}

pub(crate) fn to_arguments(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

pub(crate) fn build_plain_invocation(messages: &AskMessages) -> ProgramInvocation {
    ProgramInvocation { input: join_messages(messages), ..ProgramInvocation::default() }
}

pub(crate) fn parse_plain_output(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    if !talk.succeeded {
        return Err(exit_error(talk));
    }
    plain_reply(decode_utf8(&talk.stdout)?)
}

pub(crate) fn decode_utf8(bytes: &[u8]) -> Result<&str, CallError> {
    str::from_utf8(bytes).map_err(|_| unreadable_error("its output is not UTF-8 text"))
}

/// Reply with text only.
pub(crate) fn plain_reply(text: &str) -> Result<CallReply, CallError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(unreadable_error("its reply is empty"));
    }
    Ok(CallReply {
        text: text.to_owned(),
        usage: None,
        model: None,
        finish: FinishReason::Stop,
        cost_usd: None,
        structured: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_the_file_that_is_run() {
        let check = |command: &[&str], expected: AgentProgram| {
            let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(AgentProgram::from_command(&words), expected, "{command:?}");
        };
        check(&["claude"], AgentProgram::Claude);
        check(&["/opt/agents/codex", "-c", "model_provider=local"], AgentProgram::Codex);
        check(&["node", "/opt/agents/gemini.js"], AgentProgram::Gemini);
        check(&["npx", "codex"], AgentProgram::Codex);
        check(&["./ask-my-model"], AgentProgram::Plain);
        check(&["python3", "ask.py", "--model", "gemini"], AgentProgram::Plain);
        check(&["node"], AgentProgram::Plain);
    }
}
