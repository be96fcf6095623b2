//! What may be asked.

use crate::domain::limits::TEXT_CHARS_MAX;
use crate::domain::refusal::{Code, Fault};

/// A question is not empty, and not a book.
pub fn check_question(text: &str) -> Result<String, Fault> {
    let text = text.trim();
    let (code, message, hint) = if text.is_empty() {
        let hint = "say in a sentence or two what is to be decided";
        (Code::MissingField, "the question is empty".to_owned(), hint)
    } else if text.contains('\0') {
        let message = "the question holds a NUL character".to_owned();
        (Code::InvalidType, message, "check where the text comes from")
    } else if text.chars().count() > TEXT_CHARS_MAX {
        let message = format!("the question is over the limit of {TEXT_CHARS_MAX} characters");
        let hint = "put the material into files and give them as `context`";
        (Code::FieldTooLong, message, hint)
    } else {
        return Ok(text.to_owned());
    };
    Err(Fault::new(code, message).field("question").suggest(hint))
}
