//! Says what went wrong: a sentence and a hint for people, a document for programs.

use anstyle::{AnsiColor, Style};

use super::ui::{Ui, talk};
use crate::domain::refusal::{Fault, Item, Refusal};
use crate::error::{Error, Kind};
use crate::export::safe_text;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

pub(super) fn of_error(ui: &Ui, error: &Error) -> u8 {
    if ui.json {
        // If even the document cannot be written, the exit code still tells.
        let _ = ui.print(&error.document().to_string());
    } else {
        talk(&text_of(error));
    }
    error.kind().exit_code()
}

fn text_of(error: &Error) -> String {
    let mut text = format!("{ERROR}error:{ERROR:#} {}", safe_text::line(&error.sentence()));
    if let Error::Refused(refusal) = error {
        text.push_str(&faults(refusal));
    }
    if let Some(hint) = error.hint() {
        text.push_str(&format!("\n{HINT}hint:{HINT:#} {hint}"));
    }
    text
}

/// A lone fault is its own message; several are listed.
fn faults(refusal: &Refusal) -> String {
    let described = |fault: &Fault| {
        let hint = fault.suggestion.as_ref().map_or_else(String::new, |hint| {
            format!("\n     {HINT}hint:{HINT:#} {}", safe_text::line(hint))
        });
        format!(
            "{}{} [{}]{hint}",
            subject(&fault.item),
            safe_text::line(&fault.message),
            fault.code
        )
    };
    match refusal.faults.as_slice() {
        [fault] if refusal.message() == fault.message => {
            fault.suggestion.as_ref().map_or_else(String::new, |hint| {
                format!("\n{HINT}hint:{HINT:#} {}", safe_text::line(hint))
            })
        }
        faults => {
            let numbered = faults
                .iter()
                .enumerate()
                .map(|(place, fault)| format!("\n{:>3}. {}", place + 1, described(fault)));
            numbered.chain(["\nNothing was changed.".to_owned()]).collect()
        }
    }
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

/// Help and version are answers; anything else is a mistake of usage.
pub(super) fn of_parsing(error: &clap::Error) -> u8 {
    // Printing help to a closed pipe is not worth a complaint.
    let _ = error.print();
    if error.use_stderr() { Kind::Usage.exit_code() } else { 0 }
}
