//! Which files that exist are ours, and so may be replaced without `--force`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use super::workspace::Workspace;
use crate::export::{ExportShape, is_markdown_export};
use crate::prompting::alignment::is_prompt;
use crate::record::context::ContextShape;
use crate::verdict_log::is_all_ours;

/// Several times the longest dialogue there can be. A larger file is not ours.
const BYTES_MAX: u64 = 1 << 30;

/// A title has at most some hundred characters, and the table follows it.
const HEAD_BYTES: u64 = 16 * 1024;

/// The last line of an export holds a hash.
const TAIL_BYTES: u64 = 256;

/// A record as JSON or Markdown, of this or an older version.
pub(super) fn is_export(file: &File) -> bool {
    match first_byte(file) {
        Some(b'{') => {
            let shape = serde_json::from_reader::<_, ExportShape>(limited(file));
            shape.is_ok_and(|shape| shape.is_export())
        }
        Some(b'#') => ends(file).is_some_and(|(head, tail)| is_markdown_export(&head, &tail)),
        Some(_) | None => false,
    }
}

/// `prompt-EXPERT.md`.
pub(super) fn is_expert_prompt(file: &File) -> bool {
    ends(file).is_some_and(|(head, _)| is_prompt(&head))
}

/// `context-EXPERT.json`.
pub(super) fn is_expert_context(file: &File) -> bool {
    serde_json::from_reader::<_, ContextShape>(limited(file)).is_ok()
}

/// Lines that all stand in the log of this store, word for word: replacing them loses none. An
/// export without verdicts is an empty file.
pub fn is_log_export(workspace: &Workspace, file: &File) -> bool {
    is_all_ours(workspace.store.as_ref(), limited(file)).unwrap_or(false)
}

fn limited(file: &File) -> impl BufRead {
    BufReader::new(file.take(BYTES_MAX))
}

/// Leaves the file at its beginning.
fn first_byte(mut file: &File) -> Option<u8> {
    let mut first = [0];
    let read = file.read(&mut first).ok()?;
    file.seek(SeekFrom::Start(0)).ok()?;
    first.get(..read)?.first().copied()
}

/// The first and the last bytes as text; a character that is cut is replaced.
fn ends(mut file: &File) -> Option<(String, String)> {
    let bytes = file.metadata().ok()?.len();
    let mut part = |start: u64, most: u64| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start)).ok()?;
        file.take(most).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    Some((part(0, HEAD_BYTES)?, part(bytes.saturating_sub(TAIL_BYTES), TAIL_BYTES)?))
}
