//! Prints errors and warnings: a sentence and a hint for people, a JSON document for programs.

use std::ffi::OsString;

use anstyle::{AnsiColor, Style};
use serde_json::json;

use super::terminal_text::{DataForm, is_hostile};
use super::ui::{self, Ui, talk, talk_in_colour};
use crate::config::Problem;
use crate::domain::refusal::{Item, Refusal};
use crate::error::{Error, Kind};
use crate::export::safe_text;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

pub(super) fn of_error(ui: &Ui, error: &Error) -> u8 {
    if ui.json {
        // If the document cannot be written, the exit code still reports the error.
        let _ = ui.print_data(&error.document().to_string(), DataForm::Json);
    } else {
        tell(error);
    }
    error.kind().exit_code()
}

/// Prints the error of one item; the command continues with the others.
pub(super) fn tell(error: &Error) {
    talk_in_colour(&text_of(error));
}

/// Prints an error that does not affect the result.
pub(super) fn warn(ui: &Ui, error: &Error) {
    if !ui.is_quiet() {
        let said = format!("{WARNING}warning:{WARNING:#} {}", safe_text::line(&error.sentence()));
        let hint = error.hint().map(|said| format!("\n{}", hint(&said)));
        talk_in_colour(&format!("{said}{}", hint.unwrap_or_default()));
    }
}

/// Prints a warning about a problem that the user can prevent.
pub(super) fn warn_of(sentence: &str) {
    talk_in_colour(&format!("{WARNING}warning:{WARNING:#} {}", safe_text::line(sentence)));
}

fn text_of(error: &Error) -> String {
    let mut text = format!("{ERROR}error:{ERROR:#} {}", safe_text::line(&error.sentence()));
    if let Error::Refused(refusal) = error {
        text.push_str(&faults(refusal));
    }
    if let Error::Config(error) = error {
        text.push_str(&problems(error.problems()));
    }
    if let Some(said) = error.hint() {
        text.push_str(&format!("\n{}", hint(&said)));
    }
    text
}

fn hint(said: &str) -> String {
    format!("{HINT}hint:{HINT:#} {}", safe_text::line(said))
}

/// Lists the problems; a single one is already in the sentence.
fn problems(problems: &[Problem]) -> String {
    let listed = problems.iter().enumerate().filter(|_| problems.len() > 1);
    listed
        .map(|(place, problem)| {
            format!("\n{:>3}. {}", place + 1, safe_text::line(&problem.message))
        })
        .collect()
}

/// Lists the validation errors; a single one is already the sentence, so only its hint is added.
fn faults(refusal: &Refusal) -> String {
    if let Some(fault) = refusal.lone() {
        return format!("\n{}", hint(fault.hint()));
    }
    let mut text = String::new();
    for (place, fault) in refusal.faults.iter().enumerate() {
        let (about, message) = (subject(&fault.item), safe_text::line(&fault.message));
        text.push_str(&format!("\n{:>3}. {about}{message} [{}]", place + 1, fault.code));
        text.push_str(&format!("\n     {}", hint(fault.hint())));
    }
    text.push_str("\nNothing was changed.");
    text
}

fn subject(item: &Item) -> String {
    match item {
        Item::Whole => String::new(),
        Item::Local { item_type, local_id: id } | Item::Source { item_type, source_id: id } => {
            let id =
                id.as_deref().map_or_else(String::new, |id| format!(" {}", safe_text::line(id)));
            format!("{item_type}{id}: ")
        }
    }
}

/// Prints help and version to stdout with exit code 0, anything else as a usage error.
pub(super) fn of_parsing(error: &clap::Error, arguments: &[OsString]) -> u8 {
    if !error.use_stderr() {
        // A closed pipe is not an error when printing help.
        let _ = ui::print(&error.render().ansi().to_string());
        return 0;
    }
    if !arguments.iter().any(|argument| argument == "--json") {
        // The message quotes the arguments, so escape codes in them could pass for our colours.
        match arguments.iter().any(|argument| is_hostile(&argument.to_string_lossy())) {
            true => talk(error.render().to_string().trim_end()),
            false => talk_in_colour(error.render().ansi().to_string().trim_end()),
        }
        return Kind::Usage.exit_code();
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
    let _ = ui::print_data(&document.to_string(), DataForm::Json);
    Kind::Usage.exit_code()
}
