//! Prints errors and warnings: a sentence and a hint for people, a JSON document for programs.

use std::ffi::OsString;

use anstyle::{AnsiColor, Style};
use serde_json::json;

use super::terminal_text::{DataFormat, needs_escape};
use super::ui::{self, TerminalUi, print_message, print_styled_message};
use crate::config::ConfigProblem;
use crate::domain::refusal::{ErrorItem, ValidationErrors};
use crate::error::{Error, ErrorKind};
use crate::export::safe_text;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

pub(super) fn report_error(ui: &TerminalUi, error: &Error) -> u8 {
    if ui.json {
        // If the document cannot be written, the exit code still reports the error.
        let _ = ui.print_data(&error.to_document().to_string(), DataFormat::Json);
    } else {
        print_error(error);
    }
    error.kind().exit_code()
}

/// Prints the error of one item; the command continues with the others.
pub(super) fn print_error(error: &Error) {
    print_styled_message(&error_text(error));
}

/// Prints an error that does not affect the result.
pub(super) fn print_warning(ui: &TerminalUi, error: &Error) {
    if !ui.is_quiet() {
        let said =
            format!("{WARNING}warning:{WARNING:#} {}", safe_text::safe_line(&error.full_message()));
        let hint = error.hint().map(|said| format!("\n{}", hint_text(&said)));
        print_styled_message(&format!("{said}{}", hint.unwrap_or_default()));
    }
}

/// Prints a warning about a problem that the user can prevent.
pub(super) fn print_warning_text(sentence: &str) {
    print_styled_message(&format!(
        "{WARNING}warning:{WARNING:#} {}",
        safe_text::safe_line(sentence)
    ));
}

fn error_text(error: &Error) -> String {
    let mut text =
        format!("{ERROR}error:{ERROR:#} {}", safe_text::safe_line(&error.full_message()));
    if let Error::Refused(refusal) = error {
        text.push_str(&list_faults(refusal));
    }
    if let Error::Config(error) = error {
        text.push_str(&list_problems(error.problems()));
    }
    if let Some(said) = error.hint() {
        text.push_str(&format!("\n{}", hint_text(&said)));
    }
    text
}

fn hint_text(said: &str) -> String {
    format!("{HINT}hint:{HINT:#} {}", safe_text::safe_line(said))
}

/// Lists the problems; a single one is already in the sentence.
fn list_problems(problems: &[ConfigProblem]) -> String {
    let listed = problems.iter().enumerate().filter(|_| problems.len() > 1);
    listed
        .map(|(place, problem)| {
            format!("\n{:>3}. {}", place + 1, safe_text::safe_line(&problem.message))
        })
        .collect()
}

/// Lists the validation errors; a single one is already the sentence, so only its hint is added.
fn list_faults(refusal: &ValidationErrors) -> String {
    if let Some(fault) = refusal.single_error() {
        return format!("\n{}", hint_text(fault.hint()));
    }
    let mut text = String::new();
    for (place, fault) in refusal.errors.iter().enumerate() {
        let (about, message) = (item_prefix(&fault.item), safe_text::safe_line(&fault.message));
        text.push_str(&format!("\n{:>3}. {about}{message} [{}]", place + 1, fault.code));
        text.push_str(&format!("\n     {}", hint_text(fault.hint())));
    }
    text.push_str("\nNothing was changed.");
    text
}

fn item_prefix(item: &ErrorItem) -> String {
    match item {
        ErrorItem::Whole => String::new(),
        ErrorItem::Local { item_type, local_id: id }
        | ErrorItem::Source { item_type, source_id: id } => {
            let id = id
                .as_deref()
                .map_or_else(String::new, |id| format!(" {}", safe_text::safe_line(id)));
            format!("{item_type}{id}: ")
        }
    }
}

/// Prints help and version to stdout with exit code 0, anything else as a usage error.
pub(super) fn report_parse_error(error: &clap::Error, arguments: &[OsString]) -> u8 {
    if !error.use_stderr() {
        // A closed pipe is not an error when printing help.
        let _ = ui::write_page(&error.render().ansi().to_string());
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
    let said = error.to_string();
    let said: Vec<&str> =
        said.split("\n\n").next().unwrap_or_default().split_whitespace().collect();
    let said = said.join(" ");
    let message = said.trim_start_matches("error: ");
    let document = json!({
        "status": "error",
        "error_code": "usage",
        "message": message,
        "suggestion": "`--help` shows what the command takes",
    });
    // If the document cannot be written, the exit code still reports the error.
    let _ = ui::write_data(&document.to_string(), DataFormat::Json);
    ErrorKind::Usage.exit_code()
}
