//! [`AgentProgram`]: the known agent programs and how each is invoked, and the plain program that
//! reads a prompt on standard input and writes the reply on standard output. Called by
//! `CliTransport`.
//!
//! Prompts never become arguments: an argument is limited to 128 KiB, and every user of the machine
//! can read it.

use std::ffi::OsString;
use std::path::Path;

use plenary_core::model::ask::AskMessages;

use crate::providers::cli::output_events::{claude_text, codex_text, parse_claude_events};
use crate::providers::cli::outputs::{parse_claude, parse_codex, parse_gemini, parse_plain};
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

/// How a program prints its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// Events while it works.
    Streamed,
    /// One document at the end.
    Whole,
}

/// Arguments, variables, files and input of one run, without the program's name.
#[derive(Debug, Default)]
pub(crate) struct ProgramInvocation {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) variables: &'static [(&'static str, &'static str)],
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

#[derive(Debug, Clone, Copy)]
pub(crate) enum PathDelivery {
    /// The path follows this flag.
    Argument(&'static str),
    /// The path is in this variable.
    Variable(&'static str),
    /// The program looks at this path by default.
    DefaultPath,
}

/// How a known program is invoked.
struct AgentRow {
    program: AgentProgram,
    /// File name of the program.
    command: &'static str,
    /// Names of providers that it serves by default.
    providers: &'static [&'static str],
    /// Prefixes of the environment variables that belong to it.
    own_prefixes: &'static [&'static str],
    arguments: &'static [&'static str],
    /// Arguments for output as a stream, and for output at the end.
    output: [&'static [&'static str]; 2],
    /// Settings that follow `-c` each.
    settings: &'static [&'static str],
    /// Arguments after the model.
    last_arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
    files: &'static [(&'static str, &'static str, PathDelivery)],
    /// How it gets the system message; `None` if the message precedes the prompt.
    system_file: Option<PathDelivery>,
}

const AGENT_ROWS: [AgentRow; 3] = [
    // Safe mode keeps the user's login but excludes their memory files, hooks, plugins and MCP
    // servers from the prompt. (`--bare` would too, but ignores logins.)
    AgentRow {
        program: AgentProgram::Claude,
        command: "claude",
        providers: &["claude", "anthropic"],
        own_prefixes: &["ANTHROPIC_", "CLAUDE_"],
        arguments: &["-p", "--no-session-persistence", "--strict-mcp-config", "--tools", ""],
        output: [
            &["--output-format", "stream-json", "--verbose", "--include-partial-messages"],
            &["--output-format", "json"],
        ],
        settings: &[],
        last_arguments: &[],
        variables: &[
            ("CLAUDE_CODE_SAFE_MODE", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            // Plenary does the retries and counts them.
            ("CLAUDE_CODE_MAX_RETRIES", "0"),
        ],
        files: &[],
        system_file: Some(PathDelivery::Argument("--system-prompt-file")),
    },
    // All known tools are turned off, and the read-only sandbox contains the rest. The user's login
    // is used, but not their configuration, which may start MCP servers; a custom endpoint goes into
    // `command:` with `-c`. Not every version has an option for system instructions.
    AgentRow {
        program: AgentProgram::Codex,
        command: "codex",
        providers: &["codex", "openai"],
        own_prefixes: &["OPENAI_", "CODEX_"],
        arguments: &[
            "exec",
            "--json",
            "--color",
            "never",
            "--sandbox",
            "read-only",
            "--skip-git-repo-check",
            "--ephemeral",
            "--ignore-user-config",
            "--ignore-rules",
        ],
        output: [&[], &[]],
        // Turns off tools and everything else that reaches beyond the prompt. Versions that do not
        // know a setting print a warning only.
        settings: &[
            "features.shell_tool=false",
            "features.view_image=false",
            "features.multi_agent=false",
            "features.goals=false",
            "features.hooks=false",
            "features.plugins=false",
            "features.apps=false",
            "features.memories=false",
            "web_search=\"disabled\"",
            "skills.include_instructions=false",
            "include_apps_instructions=false",
            "include_environment_context=false",
            "include_permissions_instructions=false",
            // Otherwise the program retries the connection until our timeout, which hides the cause.
            "features.unbounded_connection_retries=false",
        ],
        last_arguments: &["-"],
        variables: &[],
        files: &[],
        system_file: None,
    },
    // The policy file denies every tool, so the model is offered none. The settings file turns off
    // hooks and retries. Extensions and MCP servers are limited to none.
    AgentRow {
        program: AgentProgram::Gemini,
        command: "gemini",
        providers: &["gemini", "google"],
        own_prefixes: &["GEMINI_", "GOOGLE_"],
        arguments: &["--extensions", "none", "--allowed-mcp-server-names", "none"],
        // Its `stream-json` lacks the status of an error, and after a long prompt the text.
        output: [&["--output-format", "json"]; 2],
        settings: &[],
        last_arguments: &[],
        variables: &[
            // Required, or the program ignores the settings file.
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ],
        files: &[
            ("work/.gemini/settings.json", GEMINI_SETTINGS, PathDelivery::DefaultPath),
            ("policy.toml", DENY_POLICY, PathDelivery::Argument("--policy")),
        ],
        system_file: Some(PathDelivery::Variable("GEMINI_SYSTEM_MD")),
    },
];

const DENY_POLICY: &str = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n";

const GEMINI_SETTINGS: &str = r#"{"general": {"maxAttempts": 1, "enableAutoUpdate": false}, "hooksConfig": {"enabled": false}, "skills": {"enabled": false}, "privacy": {"usageStatisticsEnabled": false}}"#;

impl AgentProgram {
    /// Returns the program of a provider and its command line: the configured command, else the
    /// program that belongs to the provider's name.
    pub fn for_provider(provider: &Provider) -> Option<(Self, Vec<String>)> {
        if !provider.command.is_empty() {
            return Some((Self::from_command(&provider.command), provider.command.clone()));
        }
        let serves = |row: &&AgentRow| row.providers.contains(&provider.name.as_str());
        let row = AGENT_ROWS.iter().find(serves)?;
        Some((row.program, vec![row.command.to_owned()]))
    }

    /// Recognizes the program by its file name, also behind `node` or `npx`.
    fn from_command(command: &[String]) -> Self {
        let stem = |word: &String| Path::new(word).file_stem()?.to_str().map(str::to_owned);
        let mut stems =
            command.iter().filter_map(stem).skip_while(|stem| stem == "node" || stem == "npx");
        let stem = stems.next().unwrap_or_default();
        let row = AGENT_ROWS.iter().find(|row| row.command == stem);
        row.map_or(Self::Plain, |row| row.program)
    }

    fn row(self) -> Option<&'static AgentRow> {
        AGENT_ROWS.iter().find(|row| row.program == self)
    }

    /// Prefixes of the environment variables that belong to the program.
    pub(crate) fn own_prefixes(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.own_prefixes)
    }

    pub(crate) fn build_invocation(
        self,
        model: &str,
        messages: &AskMessages,
        output: OutputForm,
    ) -> ProgramInvocation {
        let Some(row) = self.row() else {
            return ProgramInvocation { input: join_messages(messages), ..Default::default() };
        };
        let settings = row.settings.iter().flat_map(|setting| ["-c", setting]);
        let model = ["--model", model].into_iter().filter(|_| !model.is_empty());
        let [streamed, whole] = row.output;
        let output = if output == OutputForm::Streamed { streamed } else { whole };
        let arguments = row.arguments.iter().chain(output).copied().chain(settings).chain(model);
        let file = |(name, text, delivery): &(&'static str, &str, PathDelivery)| InputFile {
            name,
            text: (*text).to_owned(),
            delivery: *delivery,
        };
        let system = row.system_file.filter(|_| !messages.system.is_empty());
        let system = system.map(|delivery| file(&("system.md", &messages.system, delivery)));
        ProgramInvocation {
            arguments: arguments
                .chain(row.last_arguments.iter().copied())
                .map(OsString::from)
                .collect(),
            variables: row.variables,
            files: row.files.iter().map(file).chain(system).collect(),
            input: match row.system_file {
                Some(_) => messages.user_message(),
                None => join_messages(messages),
            },
        }
    }

    /// Parses the program's output into a reply.
    pub(crate) fn parse_output(
        self,
        talk: &ProgramOutput,
        output: OutputForm,
    ) -> Result<CallReply, CallError> {
        match (self, output) {
            (Self::Claude, OutputForm::Streamed) => parse_claude_events(talk),
            (Self::Claude, OutputForm::Whole) => parse_claude(talk),
            (Self::Codex, _) => parse_codex(talk),
            (Self::Gemini, _) => parse_gemini(talk),
            (Self::Plain, _) => parse_plain(talk),
        }
    }

    /// The text that a line of the program's output adds to the reply.
    pub(crate) fn text_of_event(self, line: &str) -> String {
        let text = match self {
            Self::Claude => claude_text(line),
            Self::Codex => codex_text(line),
            // It prints one document, over several lines.
            Self::Gemini => None,
            Self::Plain => Some(format!("{line}\n")),
        };
        text.unwrap_or_default()
    }

    /// Whether the program does not know the options for a stream.
    pub(crate) fn rejects_stream(self, talk: &ProgramOutput) -> bool {
        let [streamed, whole] = self.row().map_or([&[][..]; 2], |row| row.output);
        let message = talk.stderr.to_lowercase();
        let phrases = ["unknown option", "unknown argument", "invalid values", "unrecognized"];
        !talk.succeeded
            && streamed != whole
            && phrases.iter().any(|phrase| message.contains(phrase))
    }
}

/// Puts the system message first, for programs without an option for it.
pub(crate) fn join_messages(messages: &AskMessages) -> String {
    if messages.system.is_empty() {
        return messages.user_message();
    }
    format!("{}\n\n{}", messages.system, messages.user_message())
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
