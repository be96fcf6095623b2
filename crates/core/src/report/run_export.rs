//! The part of a dialogue's export that comes from its run, or from imported verdicts.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::model::dialogue::ProtocolKind;
use crate::model::ids::DialogueId;
use crate::model::time::Moment;
use crate::protocols::council::document::CouncilDocument;
use crate::protocols::review::document::ReviewDocument;
use crate::protocols::review::log_types::LogRow;

/// Serialised under the variant's name.
#[derive(Debug)]
pub enum RunExport {
    Council(Box<CouncilDocument>),
    Review(Box<ReviewDocument>),
    /// Verdicts imported from another log, without a run.
    Imported(Vec<LogRow>),
}

/// Hex digits of a SHA-256.
const HASH_DIGITS: usize = 64;

/// The text before the hash in the last line of a Markdown export.
pub(crate) const LAST_LINE_PREFIX: &str = "Head of the chain: `";

/// The first fact of a Markdown export is within these lines: title, rehearsal note, table head.
const FACT_LINES_MAX: usize = 8;

/// The fields of every JSON export; further ones depend on the record.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "that the fields are there and have these types is all that counts")]
pub struct ExportShape {
    id: DialogueId,
    title: String,
    protocol: ProtocolKind,
    #[serde(rename = "totalRounds")]
    total_rounds: u8,
    created_at: Moment,
    experts: Vec<IgnoredAny>,
    rounds: Vec<IgnoredAny>,
    perspectives: Vec<IgnoredAny>,
    verdicts: Vec<IgnoredAny>,
    warnings: Vec<IgnoredAny>,
    #[serde(rename = "headHash")]
    head_hash: String,
}

impl ExportShape {
    /// Whether the document is an export.
    pub fn is_export(&self) -> bool {
        is_hash(&self.head_hash)
    }
}

/// Recognises a Markdown export by its first and last bytes.
pub fn is_markdown_export(head: &str, tail: &str) -> bool {
    let is_fact = |line: &str| line.starts_with("| Dialogue | `");
    let begins = head.starts_with("# ") && head.lines().take(FACT_LINES_MAX).any(is_fact);
    let last = tail.trim_end().lines().next_back().unwrap_or_default();
    let hash = last.strip_prefix(LAST_LINE_PREFIX).and_then(|rest| rest.strip_suffix('`'));
    begins && hash.is_some_and(is_hash)
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
