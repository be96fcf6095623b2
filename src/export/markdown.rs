//! The dialogue as Markdown.

use crate::domain::record::Record;

pub fn markdown(record: &Record) -> String {
    format!("# {}\n", record.dialogue.opening.title)
}
