//! First slips: a question without `ask`, a question without quotes, a misspelled command. The error
//! shows the command that was probably meant. Also the guide that `plenary` alone prints.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::commands::PlenaryArgs;
use crate::cli::help::{find_command_name, typed_command};
use crate::cli::terminal_text::quote_argument;

/// Printed by `plenary` without arguments.
pub(crate) const GUIDE: &str = "\
Plenary asks a panel of models and records every step.

Ask a question (without a key and a council.yaml, an offline panel answers):
  plenary ask \"Should reads go through a cache?\"

Review a document before it goes out:
  plenary review --rehearse README.md

Let experts argue about a question, round by round:
  plenary align --rehearse \"Enter the Swiss market?\"

See what was asked, and read it:
  plenary list
  plenary show latest

Check your keys and providers, and write council.yaml:
  plenary doctor
  plenary init

All commands:
  plenary --help
";

/// Adds the command that was probably meant to an error about the arguments.
pub(crate) fn suggest_command(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let words: Vec<String> =
        arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let kind = error.kind();
    let meant = if kind == ErrorKind::InvalidSubcommand {
        meant_command(&mut error, arguments, &words)
    } else {
        quoted_question(&error, &words).filter(|_| kind == ErrorKind::UnknownArgument)
    };
    if let Some(meant) = meant {
        let tip = StyledStr::from(format!("the command was probably meant as\n\n  {meant}"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Names that other programs give to our commands.
const SYNONYMS: &[(&str, &str)] = &[
    ("ls", "list"),
    ("status", "list"),
    ("history", "list"),
    ("dialogues", "list"),
    ("sessions", "list"),
    ("cat", "show"),
    ("view", "show"),
    ("open", "show"),
    ("get", "show"),
    ("query", "ask"),
    ("chat", "ask"),
    ("prompt", "ask"),
    ("check", "doctor"),
    ("providers", "doctor"),
    ("settings", "config"),
    ("logs", "log"),
    ("spend", "cost"),
    ("usage", "cost"),
    ("server", "serve"),
    ("web", "serve"),
    ("continue", "resume"),
];

/// The nearest command in place of a misspelled one, or `ask` before a question.
fn meant_command(
    error: &mut clap::Error,
    arguments: &[OsString],
    words: &[String],
) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let unknown = unknown.clone();
    let root = PlenaryArgs::command();
    let parent = typed_command(&root, arguments);
    let is_root = parent.get_name() == root.get_name();
    let synonym = SYNONYMS.iter().find(|(name, _)| is_root && *name == unknown);
    let nearest =
        synonym.map(|(_, command)| *command).or_else(|| find_command_name(parent, &unknown));
    if let Some(nearest) = nearest {
        let typed = words.iter().map(|word| if *word == unknown { nearest } else { word.as_str() });
        let meant = command_line(typed.map(str::to_owned));
        // One tip is enough.
        error.remove(ContextKind::SuggestedSubcommand);
        return Some(meant);
    }
    let is_question = is_root
        && (unknown.contains(char::is_whitespace) || unknown.ends_with('?') || words.len() > 2);
    if is_question {
        // The nearest command to the first word of a question is a guess without ground.
        error.remove(ContextKind::SuggestedSubcommand);
    }
    is_question.then(|| ask_line(words))
}

/// The question in quotes, if it was typed without.
fn quoted_question(error: &clap::Error, words: &[String]) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let question = words.strip_prefix(&["ask".to_owned()])?;
    (!unknown.starts_with('-')).then(|| ask_line(question))
}

/// `plenary ask "…"` with the words up to the first option as the question.
fn ask_line(words: &[String]) -> String {
    let end = words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len());
    let (question, options) = words.split_at_checked(end).unwrap_or((words, &[]));
    let question = question.join(" ");
    command_line(["ask".to_owned(), question].into_iter().chain(options.iter().cloned()))
}

fn command_line(words: impl Iterator<Item = String>) -> String {
    let quoted: Vec<String> = words.map(|word| quote_argument(&word)).collect();
    format!("plenary {}", quoted.join(" "))
}
