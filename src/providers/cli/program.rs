//! [`AgentProgram`]: the known agent programs, how each is invoked, and the plain program that
//! reads a prompt on standard input and writes the reply on standard output. Called by
//! `CliTransport`.
//!
//! Prompts never become arguments: an argument is limited to 128 KiB, and every user of the machine
//! can read it.

use std::ffi::OsString;
use std::path::Path;

use super::claude;
use super::codex;
use super::gemini;
use super::plain;
use crate::domain::ask::Messages;
use crate::providers::process::Talk;
use crate::providers::provider::Provider;
use crate::providers::request::{CallError, Received};

/// A known agent program, or any other program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Claude,
    Codex,
    Gemini,
    /// Prompt on standard input, reply on standard output.
    Plain,
}

/// Arguments, variables, files and input of one run, without the program's name.
#[derive(Debug, Default)]
pub(super) struct Invocation {
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(&'static str, String)>,
    /// Files for the program to read.
    pub(super) files: Vec<Attachment>,
    pub(super) input: String,
}

/// File in the scratch folder whose path the program gets.
#[derive(Debug)]
pub(super) struct Attachment {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) told: Told,
}

#[derive(Debug)]
pub(super) enum Told {
    /// The path follows this flag.
    Argument(&'static str),
    /// The path is in this variable.
    Variable(&'static str),
    /// The program looks at this path by default.
    Place,
}

impl Program {
    /// Returns the program of a provider and its command line: the configured command, else the
    /// program that belongs to the provider's name.
    pub fn of(provider: &Provider) -> Option<(Self, Vec<String>)> {
        if !provider.command.is_empty() {
            return Some((Self::of_command(&provider.command), provider.command.clone()));
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
    fn of_command(command: &[String]) -> Self {
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
    pub(super) fn own_prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["ANTHROPIC_", "CLAUDE_"],
            Self::Codex => &["OPENAI_", "CODEX_"],
            Self::Gemini => &["GEMINI_", "GOOGLE_"],
            Self::Plain => &[],
        }
    }

    pub(super) fn invocation(self, model: &str, messages: &Messages) -> Invocation {
        match self {
            Self::Claude => claude::invocation(model, messages),
            Self::Codex => codex::invocation(model, messages),
            Self::Gemini => gemini::invocation(model, messages),
            Self::Plain => plain::invocation(messages),
        }
    }

    /// Parses the program's output into a reply.
    pub(super) fn read(self, talk: &Talk) -> Result<Received, CallError> {
        match self {
            Self::Claude => claude::read(talk),
            Self::Codex => codex::read(talk),
            Self::Gemini => gemini::read(talk),
            Self::Plain => plain::read(talk),
        }
    }
}

/// Puts the system message first, for programs without an option for it.
pub(super) fn joined(messages: &Messages) -> String {
    if messages.system.is_empty() {
        return messages.user.clone();
    }
    format!("{}\n\n{}", messages.system, messages.user)
}

pub(super) fn arguments(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_the_file_that_is_run() {
        let check = |command: &[&str], expected: Program| {
            let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(Program::of_command(&words), expected, "{command:?}");
        };
        check(&["claude"], Program::Claude);
        check(&["/opt/agents/codex", "-c", "model_provider=local"], Program::Codex);
        check(&["node", "/opt/agents/gemini.js"], Program::Gemini);
        check(&["npx", "codex"], Program::Codex);
        check(&["./ask-my-model"], Program::Plain);
        check(&["python3", "ask.py", "--model", "gemini"], Program::Plain);
        check(&["node"], Program::Plain);
    }
}
