//! [`name_options`]: errors on the terminal name the options of the command, not the fields of the
//! request that the options set.

use std::ffi::OsString;

use clap::{Command, CommandFactory};
use plenary_core::model::validation_error::{ErrorCode, ErrorItem, ValidationError};
use plenary_engine::error::Error;

use crate::cli::commands::PlenaryArgs;
use crate::cli::help::typed_command;

/// Options and arguments that do not have the name of their field.
const OPTION_NAMES: [(&str, &str); 14] = [
    ("author_expert", "--author"),
    ("description", "--text"),
    ("dialogue_id", "ID"),
    ("expert_slug", "SLUG"),
    ("ids", "IDS"),
    ("output_path", "--output"),
    ("panel", "--seat"),
    ("query", "QUERY"),
    ("recommendations_adopted", "--adopts"),
    ("supporting_experts", "--supporter"),
    ("tensions_accepted", "--accepts"),
    ("tensions_resolved", "--resolves"),
    ("title", "TITLE"),
    ("verdict_type", "--type"),
];

/// Replaces the names of fields in an error. A caller who writes or reads JSON knows the fields, so
/// errors keep them with `--data` and `--json`.
pub(crate) fn name_options(mut error: Error, arguments: &[OsString]) -> Error {
    let knows_fields = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text == "--json" || text == "--data" || text.starts_with("--data=")
    };
    if let Error::Refused(refusal) = &mut error
        && !arguments.iter().any(knows_fields)
    {
        let root = PlenaryArgs::command();
        let command = typed_command(&root, arguments);
        refusal.errors.iter_mut().for_each(|fault| name_option(fault, command));
    }
    error
}

fn name_option(fault: &mut ValidationError, command: &Command) {
    name_target(fault);
    let Some(field) = fault.field.clone().filter(|_| fault.item == ErrorItem::Whole) else {
        return;
    };
    let option = find_option(command, &field);
    if fault.code == ErrorCode::MissingField && fault.suggestion.is_none() {
        fault.suggestion = Some(match &option {
            Some(_) if takes_data(command) => {
                "`--help` explains the options; `--data FILE` reads them as JSON".to_owned()
            }
            Some(option) => format!("give a text for {option}; `--help` explains the options"),
            None => "give the fields as JSON with `--data FILE`".to_owned(),
        });
    }
    let Some(option) = option else { return };
    let quoted = format!("field '{field}'");
    fault.message = fault.message.replace(&format!("required {quoted}"), &option);
    fault.message = fault.message.replace(&quoted, &option);
    if field.contains('_') {
        fault.message = fault.message.replace(&field, &option);
    } else if let Some(rest) = fault.message.strip_prefix(&format!("{field} is ")) {
        fault.message = format!("{option} is {rest}");
    }
}

/// The seed's message for an unknown id begins with the name of a field.
pub(crate) fn name_target(fault: &mut ValidationError) {
    fault.message = fault.message.replacen("target_id '", "'", 1);
}

fn takes_data(command: &Command) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some("data"))
}

/// The option or argument of the command that sets a field.
fn find_option(command: &Command, field: &str) -> Option<String> {
    let others = OPTION_NAMES.iter().filter(|(known, _)| *known == field);
    let others = others.map(|(_, name)| (*name).to_owned());
    let is_named = |name: &str, argument: &clap::Arg| match name.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => argument.is_positional() && argument.get_id().as_str().eq_ignore_ascii_case(name),
    };
    let is_option = |name: &String| command.get_arguments().any(|own| is_named(name, own));
    others.chain([format!("--{}", field.replace('_', "-"))]).find(is_option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, field: &str, message: &str, expected: &str) {
        let arguments: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
        let fault = ValidationError::new(ErrorCode::MissingField, message).with_field(field);
        let Error::Refused(named) = name_options(fault.into(), &arguments) else {
            panic!("{typed}: another error");
        };
        let fault = &named.errors[0];
        assert_eq!(format!("{} | {}", fault.message, fault.hint()), expected, "{typed}");
    }

    #[test]
    fn an_error_names_the_option_of_the_command() {
        let help = "`--help` explains the options; `--data FILE` reads them as JSON";
        let title = "required field 'title' is missing";
        check("plenary dialogue create", "title", title, &format!("TITLE is missing | {help}"));
        check(
            "plenary dialogue create --data x",
            "title",
            title,
            &format!("{title} | add the field"),
        );
        check(
            "plenary dialogue create --json",
            "title",
            title,
            &format!("{title} | add the field"),
        );
        let verdict = "field 'verdict_type' must be a string";
        check(
            "plenary dialogue verdict tea",
            "verdict_type",
            verdict,
            &format!("--type must be a string | {help}"),
        );
        let outside = "output_path is not allowed: it is outside the allowed folders";
        check(
            "plenary export tea",
            "output_path",
            outside,
            &format!("--output is not allowed: it is outside the allowed folders | {help}"),
        );
        check(
            "plenary override x --as SHIP --why y",
            "why",
            "required field 'why' is missing",
            "--why is missing | give a text for --why; `--help` explains the options",
        );
        let round = "required field 'round' is missing";
        check(
            "plenary dialogue register tea",
            "round",
            round,
            &format!("{round} | give the fields as JSON with `--data FILE`"),
        );
        let text = "required field 'description' is missing";
        check(
            "plenary ethos tenet add FID x",
            "description",
            text,
            &format!("--text is missing | {help}"),
        );
        check(
            "plenary dialogue verdict tea",
            "description",
            text,
            &format!("--description is missing | {help}"),
        );
        let target = "target_id 'R0109' not found in dialogue 'tea'";
        check(
            "plenary dialogue verdict tea",
            "recommendations_adopted",
            target,
            &format!("'R0109' not found in dialogue 'tea' | {help}"),
        );
    }
}
