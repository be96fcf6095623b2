//! The file of `ask --batch`: one question per line, as a string or an object.

use std::path::{Path, PathBuf};

use plenary_core::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};
use plenary_core::protocols::council::types::QuestionMode;
use plenary_engine::app::dialogues::parse_arguments;
use plenary_engine::app::prepare_run::check_question;
use plenary_engine::error::Error;
use plenary_engine::files::read_write::read_request_text;
use serde::Deserialize;
use serde_json::Value;

/// A line of the batch file that is not only a string.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchQuestion {
    pub id: Option<Value>,
    pub question: String,
    pub mode: Option<QuestionMode>,
    #[serde(default)]
    pub context: Vec<PathBuf>,
}

/// Reads the whole file before a model is called; every malformed line is reported. `context` is
/// for questions without files of their own.
pub(crate) fn read_questions(
    file: &Path,
    context: &[PathBuf],
) -> Result<Vec<BatchQuestion>, Error> {
    let text = read_request_text(file)?;
    let (mut questions, mut errors) = (Vec::new(), Vec::new());
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match read_line(line, context) {
            Ok(question) if is_known(&questions, &question) => {
                let message = format!("line {}: an earlier line has the same `id`", place + 1);
                let fault = ValidationError::new(ErrorCode::InvalidJson, message);
                errors.push(fault.with_suggestion("give each question another `id`, or none"));
            }
            Ok(question) => questions.push(question),
            Err(fault) => {
                let message = format!("line {}: {}", place + 1, fault.message);
                errors.push(ValidationError { message, ..fault });
            }
        }
    }
    if !errors.is_empty() {
        return Err(ValidationErrors::new(errors).into());
    }
    if questions.is_empty() {
        let message = "the batch file has no question";
        let error = ValidationError::new(ErrorCode::MissingField, message);
        return Err(error.with_suggestion("write one question per line, as a JSON string").into());
    }
    Ok(questions)
}

/// Whether an earlier question has the same id: a program could not tell the answers apart.
fn is_known(earlier: &[BatchQuestion], asked: &BatchQuestion) -> bool {
    asked.id.is_some() && earlier.iter().any(|one| one.id == asked.id)
}

fn read_line(line: &str, context: &[PathBuf]) -> Result<BatchQuestion, ValidationError> {
    let malformed = |text: String| {
        ValidationError::new(ErrorCode::InvalidJson, text).with_suggestion(LINE_SHAPE)
    };
    let value = parse_arguments(line).map_err(|_| malformed("it is not JSON".to_owned()))?;
    let mut asked = match value {
        Value::String(question) => {
            BatchQuestion { id: None, question, mode: None, context: Vec::new() }
        }
        Value::Object(fields) => {
            check_mode(fields.get("mode"))?;
            serde_json::from_value::<BatchQuestion>(Value::Object(fields))
                .map_err(|error| malformed(describe_fault(&error)))?
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(malformed("it is neither a JSON string nor an object".to_owned()));
        }
    };
    asked.question = check_question(&asked.question)?;
    if asked.context.is_empty() {
        asked.context = context.to_vec();
    }
    Ok(asked)
}

const LINE_SHAPE: &str =
    "each line is a question as a JSON string, or {id?, question, mode?, context?}";

/// Rejects an unknown mode and lists the modes.
fn check_mode(mode: Option<&Value>) -> Result<(), ValidationError> {
    let Some(Value::String(typed)) = mode else { return Ok(()) };
    if QuestionMode::named(typed).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = QuestionMode::ALL.iter().map(|mode| mode.name()).collect();
    let message = format!("`{typed}` is not a mode; use {}", known.join(", "));
    Err(ValidationError::new(ErrorCode::InvalidEnum, message)
        .with_field("mode")
        .with_value(typed.as_str()))
}

/// The fault without the words of our code: serde names the type for a value of another shape.
fn describe_fault(error: &serde_json::Error) -> String {
    let printed = error.to_string();
    let is_ours = printed.starts_with("unknown field") || printed.starts_with("missing field");
    if is_ours { printed } else { "a field has a value of the wrong type".to_owned() }
}
