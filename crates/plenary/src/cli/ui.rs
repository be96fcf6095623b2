//! The only module that prints: data goes to stdout, messages to stderr.

use std::ffi::OsString;
use std::io;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::process::{Command, Stdio};

use anstyle::{AnsiColor, Style};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::validation_error::{ErrorItem, ValidationError, ValidationErrors};
use plenary_core::report::run_status::split_command;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::PageCanvas;
use plenary_core::report::terminal::wrap::wrap_screen;
use plenary_engine::config::environment::EnvVariables;
use plenary_engine::config::error::ConfigProblem;
use plenary_engine::error::{Error, ErrorKind, to_json_text};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::commands::{ColorMode, GlobalArgs};
use crate::cli::first_slips::GUIDE;
use crate::cli::terminal_text::{
    DataFormat, escape_data, escape_message, escape_page, needs_escape, quote_argument,
};

/// More runs are in `plenary list`.
const RESUME_LINES_MAX: usize = 16;

/// Used if the terminal width is unknown.
const WIDTH_DEFAULT: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageLevel {
    Quiet,
    Normal,
    Verbose,
}

#[derive(Debug)]
pub(crate) struct TerminalUi {
    pub json: bool,
    pub level: MessageLevel,
    /// `--config` and `--store` of this command, for the commands in its hints.
    location_flags: String,
    /// Whether long pages go through a pager.
    is_paged: bool,
}

impl TerminalUi {
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        let voice = match (global.quiet, global.verbose) {
            (true, _) => MessageLevel::Quiet,
            (false, true) => MessageLevel::Verbose,
            (false, false) => MessageLevel::Normal,
        };
        let flag = |name: &str, value: String| format!(" --{name} {}", quote_argument(&value));
        let config = global.config.as_ref().map(|path| flag("config", path.display().to_string()));
        let store = global.store.as_ref().map(|store| flag("store", store.clone()));
        let location_flags = [config, store].into_iter().flatten().collect();
        let is_paged = !global.no_pager;
        Self { json: global.json, level: voice, location_flags, is_paged }
    }

    /// Adds the location flags to the `plenary resume ID` that a hint names in backquotes.
    fn complete_hint(&self, hint: &str) -> String {
        let Some((before, rest)) = hint.split_once("`plenary resume ") else {
            return hint.to_owned();
        };
        let Some((id, after)) = rest.split_once('`') else { return hint.to_owned() };
        format!("{before}`plenary resume {id}{}`{after}", self.location_flags)
    }

    /// Prints the command that resumes a run, if the page's own hint lacks the location flags.
    pub(crate) fn print_resume_command(&self, id: &DialogueId) {
        if !self.location_flags.is_empty() {
            self.print_note(&format!("to resume, run `plenary resume {id}`"));
        }
    }

    /// Prints a result as one JSON document or as text.
    pub(crate) fn print_result<T: Serialize>(
        &self,
        result: &T,
        as_text: impl FnOnce(&T) -> String,
    ) -> Result<(), Error> {
        if self.json {
            return self.print_data(&to_json_text(result)?, DataFormat::Json);
        }
        self.print_page(&as_text(result))
    }

    /// Prints a page. A closed pipe is not an error: the exit code stays the same.
    pub(crate) fn print_page(&self, page: &str) -> Result<(), Error> {
        ignore_closed_pipe(write_page(page))
    }

    /// Prints a page that a person reads from its beginning: through a pager if it is longer than
    /// the terminal.
    pub(crate) fn print_long_page(&self, page: &str) -> Result<(), Error> {
        let rows = terminal_size::terminal_size().map(|(_, rows)| usize::from(rows.0));
        let is_long = rows.is_some_and(|rows| page.lines().count() >= rows);
        let is_person = io::stdout().is_terminal() && io::stdin().is_terminal();
        if self.is_paged && is_person && is_long && show_in_pager(&escape_page(page)) {
            return Ok(());
        }
        self.print_page(page)
    }

    /// Prints data: unchanged to a pipe or file, escaped to a terminal. On a terminal a JSON
    /// document is indented.
    pub(crate) fn print_data(&self, text: &str, form: DataFormat) -> Result<(), Error> {
        let indented = match (form, io::stdout().is_terminal()) {
            (DataFormat::Json, true) => indent_json(text),
            (DataFormat::Json, false) | (DataFormat::Text, _) => None,
        };
        ignore_closed_pipe(write_data(indented.as_deref().unwrap_or(text), form))
    }

    /// Prints a part of a longer output. A closed pipe is an error, so that the command stops.
    pub(crate) fn stream_page(&self, page: &str) -> Result<(), Error> {
        write_page(page)
    }

    /// Prints a part of longer data, with the same rule.
    pub(crate) fn stream_data(&self, text: &str, form: DataFormat) -> Result<(), Error> {
        write_data(text, form)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.level == MessageLevel::Quiet
    }

    /// Whether to show progress: stderr is a terminal and `--quiet` is not set.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal() && !self.is_quiet()
    }

    /// Whether a person types standard input.
    pub(crate) fn is_input_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    /// Prints what an interrupted command leaves. The last lines are the commands that continue it.
    pub(crate) fn print_interrupted(&self, summary: &str, runs: &[DialogueId]) {
        if self.level == MessageLevel::Quiet {
            return;
        }
        let more = if runs.is_empty() { "." } else { ". To continue:" };
        print_message(&format!("{summary}{more}"));
        for id in runs.iter().take(RESUME_LINES_MAX) {
            // The short id, so that the command fits one line.
            let id = id.hex_digits().unwrap_or(id.as_str());
            print_message(&format!("plenary resume {id}{}", self.location_flags));
        }
        if runs.len() > RESUME_LINES_MAX {
            print_message(&format!("plenary list --state interrupted{}", self.location_flags));
        }
    }

    /// Whether the command can prompt the user.
    pub(crate) fn can_ask(&self) -> bool {
        !self.json && self.is_watched() && io::stdin().is_terminal()
    }

    /// Prints a message unless `--quiet` is set.
    pub(crate) fn print_note(&self, text: &str) {
        if self.level != MessageLevel::Quiet {
            print_message(&self.complete_hint(text));
        }
    }

    /// Prints a message only with `--verbose`.
    pub(crate) fn print_detail(&self, text: &str) {
        if self.level == MessageLevel::Verbose {
            print_message(text);
        }
    }

    /// Width of a table; unlimited for a pipe or file, so that no cell is cut.
    pub(crate) fn table_width(&self) -> usize {
        if io::stdout().is_terminal() { self.terminal_width() } else { usize::MAX }
    }

    /// A canvas as wide as the terminal.
    pub(crate) fn page_canvas(&self) -> PageCanvas {
        PageCanvas { width: self.terminal_width() }
    }

    /// Width of the terminal in columns.
    pub(crate) fn terminal_width(&self) -> usize {
        if !io::stdout().is_terminal() {
            return WIDTH_DEFAULT;
        }
        terminal_size::terminal_size().map_or(WIDTH_DEFAULT, |(width, _)| usize::from(width.0))
    }
}

/// Sets whether anything is printed in colour.
pub(crate) fn set_color_mode(mode: ColorMode) {
    let choice = match mode {
        ColorMode::Auto => return,
        ColorMode::Always => anstream::ColorChoice::Always,
        ColorMode::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    // The spinners have a setting of their own.
    console::set_colors_enabled_stderr(mode == ColorMode::Always);
}

/// The document with an indent for each level; `None` if it is not one document.
fn indent_json(text: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    serde_json::to_string_pretty(&document).ok()
}

/// Shows a page in the user's pager; false if there is none.
fn show_in_pager(page: &str) -> bool {
    let environment = EnvVariables::from_process();
    let pager = environment.get("PAGER").unwrap_or(PAGER_DEFAULT);
    let is_plain = anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
    let page =
        if is_plain { anstream::adapter::strip_str(page).to_string() } else { page.to_owned() };
    let started = Command::new("sh").arg("-c").arg(pager).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = started else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A person who leaves the pager early closes the pipe.
        let _ = input.write_all(page.as_bytes());
    }
    // The shell reports a program that does not exist with this code.
    const NOT_FOUND: i32 = 127;
    child.wait().is_ok_and(|ended| ended.code() != Some(NOT_FOUND))
}

/// Keeps colours, ends at once if the page fits, and leaves it on the screen.
const PAGER_DEFAULT: &str = "less -FRX";

fn ignore_closed_pipe(printed: Result<(), Error>) -> Result<(), Error> {
    match printed {
        Err(error) if error.is_closed_pipe() => Ok(()),
        printed => printed,
    }
}

/// Prints a page and a final newline. `anstream` removes colours where no terminal shows them.
pub(crate) fn write_page(page: &str) -> Result<(), Error> {
    let page = fit_screen(escape_page(page), io::stdout().is_terminal());
    write_line(anstream::AutoStream::auto(io::stdout().lock()), &page)
}

/// Breaks lines that are wider than the terminal at words; a pipe or file gets them whole.
fn fit_screen(text: String, is_terminal: bool) -> String {
    match terminal_size::terminal_size().filter(|_| is_terminal) {
        Some((width, _)) => wrap_screen(&text, usize::from(width.0)),
        None => text,
    }
}

/// Prints data and a final newline.
pub(crate) fn write_data(text: &str, form: DataFormat) -> Result<(), Error> {
    let out = io::stdout();
    match out.is_terminal() {
        true => write_line(out.lock(), &escape_data(text, form)),
        false => write_line(out.lock(), text),
    }
}

fn write_line(mut out: impl Write, text: &str) -> Result<(), Error> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    out.write_all(text.as_bytes())
        .and_then(|()| out.write_all(end.as_bytes()))
        .and_then(|()| out.flush())
        .map_err(Error::Output)
}

/// Prompts at the terminal. Everything except yes means no, also end of input.
pub(crate) fn confirm_prompt(question: &str) -> bool {
    let answer = prompt_line(&format!("{question} [y/N]"));
    matches!(answer.to_lowercase().as_str(), "y" | "yes")
}

/// Prompts at the terminal for a line; empty at the end of input.
pub(crate) fn prompt_line(question: &str) -> String {
    print_message(question);
    let mut line = String::new();
    // A valid answer is short; the rest of a longer line is not read.
    const ANSWER_BYTES_MAX: u64 = 1_000;
    match io::stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut line) {
        Ok(_) => line.trim().to_owned(),
        Err(_) => String::new(),
    }
}

/// Prints a message without colours. A failure to write it is ignored.
pub(crate) fn print_message(text: &str) {
    write_stderr(&escape_message(text));
}

/// Prints a message with colours. The caller has escaped untrusted text.
pub(crate) fn print_styled_message(page: &str) {
    write_stderr(&escape_page(page));
}

fn write_stderr(text: &str) {
    let text = fit_screen(text.to_owned(), io::stderr().is_terminal());
    let mut out = anstream::AutoStream::auto(io::stderr().lock());
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

pub(crate) fn report_error(ui: &TerminalUi, error: &Error) -> u8 {
    if ui.json {
        // If the document cannot be written, the exit code still reports the error.
        let _ = ui.print_data(&error.to_document().to_string(), DataFormat::Json);
    } else {
        print_styled_message(&error_text(error, |hint| ui.complete_hint(hint)));
    }
    error.kind().exit_code()
}

/// Prints the error of one item; the command continues with the others.
pub(crate) fn print_error(error: &Error) {
    print_styled_message(&error_text(error, str::to_owned));
}

/// Prints an error that does not affect the result.
pub(crate) fn print_warning(ui: &TerminalUi, error: &Error) {
    if !ui.is_quiet() {
        let output = format!("{WARNING}warning:{WARNING:#} {}", safe_line(&error.full_message()));
        let hint =
            error.hint().map(|output| format!("\n{}", hint_text(&ui.complete_hint(&output))));
        print_styled_message(&format!("{output}{}", hint.unwrap_or_default()));
    }
}

/// Prints a warning about a problem that the user can prevent.
pub(crate) fn print_warning_text(sentence: &str) {
    print_styled_message(&format!("{WARNING}warning:{WARNING:#} {}", safe_line(sentence)));
}

fn error_text(error: &Error, complete_hint: impl Fn(&str) -> String) -> String {
    let mut text = format!("{ERROR}error:{ERROR:#} {}", safe_line(&error.full_message()));
    if let Some(refusal) = error.faults() {
        text.push_str(&list_faults(refusal));
    }
    if let Error::Config(error) = error {
        text.push_str(&list_problems(error.problems()));
    }
    if let Some(output) = error.hint() {
        text.push_str(&format!("\n{}", hint_text(&complete_hint(&output))));
    }
    text
}

/// A command at the end of a hint gets a line of its own.
fn hint_text(output: &str) -> String {
    let (text, command) = split_command(output);
    let command = command.map(|command| format!("\n  {}", safe_line(command)));
    format!("{HINT}hint:{HINT:#} {}{}", safe_line(text), command.unwrap_or_default())
}

/// Lists the problems; a single one is already in the sentence.
fn list_problems(problems: &[ConfigProblem]) -> String {
    let listed = problems.iter().enumerate().filter(|_| problems.len() > 1);
    listed
        .map(|(place, problem)| format!("\n{:>3}. {}", place + 1, safe_line(&problem.message)))
        .collect()
}

/// Lists the validation errors; a single one is already the sentence, so only its hint is added.
fn list_faults(refusal: &ValidationErrors) -> String {
    if let Some(fault) = refusal.single_error() {
        return format!("{}\n{}", list_candidates(fault), hint_text(fault.hint()));
    }
    let mut text = String::new();
    for (place, fault) in refusal.errors.iter().enumerate() {
        let (about, message) = (item_prefix(&fault.item), safe_line(&fault.message));
        text.push_str(&format!("\n{:>3}. {about}{message}", place + 1));
        text.push_str(&format!("\n     {}", hint_text(fault.hint())));
    }
    text.push_str("\nNothing was changed.");
    text
}

/// Lists the dialogues that a short id fits, each on a line of its own.
fn list_candidates(fault: &ValidationError) -> String {
    let candidates = fault.context.as_ref().and_then(|context| context.get("candidates"));
    let candidates = candidates.and_then(Value::as_array).into_iter().flatten();
    let text = |named: &Value, field: &str| {
        safe_line(named.get(field).and_then(Value::as_str).unwrap_or_default())
    };
    let line =
        |named: &Value| format!("\n  {}  {}", text(named, "dialogue_id"), text(named, "title"));
    candidates.map(line).collect()
}

fn item_prefix(item: &ErrorItem) -> String {
    match item {
        ErrorItem::Whole => String::new(),
        ErrorItem::Local { item_type, local_id: id }
        | ErrorItem::Source { item_type, source_id: id } => {
            let id = id.as_deref().map_or_else(String::new, |id| format!(" {}", safe_line(id)));
            format!("{item_type}{id}: ")
        }
    }
}

/// Prints the guide for a person who typed only the name of the program.
pub(crate) fn print_guide() -> u8 {
    // A closed pipe is not an error when printing help.
    let _ = write_page(GUIDE);
    0
}

/// Prints help and version to stdout with exit code 0, anything else as a usage error.
pub(crate) fn report_parse_error(error: &clap::Error, arguments: &[OsString]) -> u8 {
    if !error.use_stderr() {
        // A closed pipe is not an error when printing help.
        let _ = write_page(&error.render().ansi().to_string());
        return 0;
    }
    if !arguments.iter().any(|argument| argument == "--json") {
        // The message quotes the arguments, so escape codes in them could pass for our colours.
        match arguments.iter().any(|argument| needs_escape(&argument.to_string_lossy())) {
            true => print_message(error.render().to_string().trim_end()),
            false => print_styled_message(error.render().ansi().to_string().trim_end()),
        }
        return ErrorKind::Usage.exit_code();
    }
    let rendered = error.to_string();
    let mut paragraphs = rendered.split("\n\n").map(join_words);
    let message = paragraphs.next().unwrap_or_default();
    let message = message.trim_start_matches("error: ");
    // The tip and, after it, the command that was probably meant.
    let mut tip = paragraphs.skip_while(|text| !text.starts_with("tip: "));
    let suggestion = match (tip.next(), tip.next()) {
        (Some(tip), Some(meant)) if meant.starts_with("plenary ") => {
            format!("{}: {meant}", tip.trim_start_matches("tip: "))
        }
        (Some(tip), _) => tip.trim_start_matches("tip: ").to_owned(),
        (None, _) => "`plenary help COMMAND` lists the options of a command".to_owned(),
    };
    let document = json!({
        "status": "error",
        "error_code": "usage",
        "message": message,
        "suggestion": suggestion,
    });
    // If the document cannot be written, the exit code still reports the error.
    let _ = write_data(&document.to_string(), DataFormat::Json);
    ErrorKind::Usage.exit_code()
}

fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spinners_follow_the_color_mode() {
        for (mode, expected) in [(ColorMode::Always, true), (ColorMode::Never, false)] {
            set_color_mode(mode);
            assert_eq!(console::colors_enabled_stderr(), expected);
        }
    }

    #[test]
    fn a_document_is_indented_and_lines_are_not() {
        let expected =
            Some("{\n  \"b\": [\n    1.50\n  ],\n  \"a\": \"\u{7f}\"\n}".replace("1.50", "1.5"));
        assert_eq!(indent_json("{\"b\":[1.50],\"a\":\"\u{7f}\"}"), expected);
        assert_eq!(indent_json("{}\n{}"), None);
    }

    #[test]
    fn a_hint_to_resume_names_the_store_and_the_configuration_of_the_command() {
        let ui = |config: Option<&str>, store: Option<&str>| {
            TerminalUi::new(&GlobalArgs {
                json: false,
                config: config.map(Into::into),
                store: store.map(Into::into),
                allow: Vec::new(),
                color: ColorMode::Auto,
                no_pager: false,
                verbose: false,
                quiet: false,
            })
        };
        let hint = "free some disk space, then run `plenary resume tea`; it repeats nothing";
        assert_eq!(ui(None, None).complete_hint(hint), hint);
        assert_eq!(
            ui(Some("a.yaml"), Some("it's.db")).complete_hint(hint),
            "free some disk space, then run `plenary resume tea --config a.yaml --store 'it'\\''s.db'`; \
             it repeats nothing"
        );
        assert_eq!(ui(None, Some("x.db")).complete_hint("`plenary list`"), "`plenary list`");
    }
}
