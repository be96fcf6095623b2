//! How the journal keeps messages: it does not write again what it has.
//!
//! The shared block is kept once per run. The lines of a file stand in it as a reference to the
//! plan, which has the file. Each long section of the messages (an opinion in its fence, a role, a
//! format) is a block, too, and later messages refer to it.
//!
//! Earlier versions kept the record as a block, and the messages of a second seat as a difference
//! from those of the first: [`OmittedRecord`] and [`CommonText`] are only read.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::ask::{AskMessages, SharedBlock};
use crate::model::plan::ContextPack;

/// A difference that saves less is not worth a reference.
const SAVED_BYTES_MIN: usize = 200;

/// The numbered lines of a file of the plan, which the stored text of a block leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedFile {
    /// Where the lines belong in the stored text.
    pub at: usize,
    /// Place of the file in the plan.
    pub file: usize,
}

/// A text that the user message of an ask leaves out because a block of the run has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedRecord {
    /// Where the text belongs in the stored message, in bytes.
    pub at: usize,
    pub sha256: String,
}

/// A text that the user message of an ask leaves out because a block of the run has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedText {
    /// Where the text belongs in the stored message, in bytes.
    pub at: usize,
    /// Place of the block in the run.
    pub block: usize,
}

/// A shorter section is not worth a block.
const SECTION_BYTES_MIN: usize = 300;

/// Where the format of the reply begins in our text.
const FORMAT_START: &str = "\n\n## Reply\n";

/// What the user message of an ask has in common with that of an earlier ask of the same entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommonText {
    pub ask: u32,
    /// Bytes at the beginning and at the end.
    pub start: usize,
    pub end: usize,
}

impl SharedBlock {
    /// The block as the journal keeps it beside a plan with these files.
    #[must_use]
    pub fn without_files(&self, context: &ContextPack) -> Self {
        let (mut text, mut omitted) = (String::with_capacity(self.text.len()), Vec::new());
        let mut rest: &str = &self.text;
        for (file, known) in context.files.iter().enumerate() {
            let lines = numbered_lines(&known.text);
            let is_long = lines.len() >= SAVED_BYTES_MIN;
            let Some(at) = rest.find(lines.as_str()).filter(|_| is_long) else { continue };
            let (before, after) = rest.split_at(at);
            text.push_str(before);
            omitted.push(OmittedFile { at: text.len(), file });
            rest = after.get(lines.len()..).unwrap_or_default();
        }
        if omitted.is_empty() {
            return self.clone();
        }
        text.push_str(rest);
        Self { text: text.into(), omitted, ..self.clone() }
    }

    /// The block with the lines of the plan's files.
    #[must_use]
    pub fn with_files(&self, context: &ContextPack) -> Self {
        let mut text = String::new();
        let mut from = 0;
        for OmittedFile { at, file } in &self.omitted {
            text.push_str(self.text.get(from..*at).unwrap_or_default());
            text.extend(context.files.get(*file).map(|file| numbered_lines(&file.text)));
            from = *at;
        }
        text.push_str(self.text.get(from..).unwrap_or_default());
        Self { text: text.into(), omitted: Vec::new(), ..self.clone() }
    }
}

/// The lines of a file as a block shows them, if nothing in them had to be changed.
fn numbered_lines(text: &str) -> String {
    let lines = text.trim_end().split('\n').enumerate();
    let lines: Vec<String> = lines.map(|(at, line)| format!("{} | {line}", at + 1)).collect();
    lines.join("\n")
}

impl AskMessages {
    /// The messages as the journal keeps them: each long section is in one of these blocks of the
    /// run. Those that are not yet among them are added.
    #[must_use]
    pub fn to_sections(&self, blocks: &mut Vec<Arc<SharedBlock>>) -> Self {
        let mut place_of = |text: &str| {
            blocks.iter().position(|block| *block.text == *text).unwrap_or_else(|| {
                let block = SharedBlock::new(text.to_owned(), Vec::new());
                blocks.push(Arc::new(SharedBlock { section: true, ..block }));
                blocks.len() - 1
            })
        };
        let is_long = self.system.len() >= SECTION_BYTES_MIN;
        let system_block = is_long.then(|| place_of(&self.system));
        let (mut user, mut texts) = (String::new(), Vec::new());
        for section in split_sections(&self.user) {
            match section.len() >= SECTION_BYTES_MIN {
                true => texts.push(OmittedText { at: user.len(), block: place_of(section) }),
                false => user.push_str(section),
            }
        }
        let system = if is_long { String::new() } else { self.system.clone() };
        Self { system, user, texts, system_block, ..self.clone() }
    }

    /// The whole messages; `None` without the block or the earlier messages that they refer to.
    pub fn to_whole(&self, blocks: &[Arc<SharedBlock>], earlier: Option<&Self>) -> Option<Self> {
        let mut whole = self.with_shared(blocks)?.with_texts(blocks)?;
        if let Some(OmittedRecord { at, sha256 }) = whole.record.take() {
            let block = blocks.iter().find(|block| block.sha256 == sha256)?;
            let (before, after) = whole.user.split_at_checked(at)?;
            whole.user = [before, &block.text, after].concat();
        }
        let Some(CommonText { start, end, .. }) = whole.common else { return Some(whole) };
        let earlier = earlier?;
        let tail = earlier.user.len().checked_sub(end)?;
        let parts = [earlier.user.get(..start)?, &self.user, earlier.user.get(tail..)?];
        Some(Self { system: earlier.system.clone(), user: parts.concat(), common: None, ..whole })
    }
}

impl AskMessages {
    /// The messages with the texts of the blocks that they refer to.
    fn with_texts(mut self, blocks: &[Arc<SharedBlock>]) -> Option<Self> {
        if let Some(place) = self.system_block.take() {
            self.system = blocks.get(place)?.text.to_string();
        }
        let (mut user, mut from) = (String::new(), 0);
        for OmittedText { at, block } in std::mem::take(&mut self.texts) {
            user.push_str(self.user.get(from..at)?);
            user.push_str(&blocks.get(block)?.text);
            from = at;
        }
        user.push_str(self.user.get(from..)?);
        Some(Self { user, ..self })
    }
}

/// A message in pieces: the lines of the fences, what stands in each fence, and our text between
/// them, its format apart. Text of others cannot imitate the lines.
fn split_sections(text: &str) -> Vec<&str> {
    let is_boundary = |line: &str| {
        let line = line.trim_end_matches('\n');
        let is_opening = line.starts_with("===== BEGIN ") || line.starts_with("===== END ");
        is_opening && line.ends_with(" =====")
    };
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    let mut push = |from: usize, to: usize| pieces.extend(text.get(from..to));
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if is_boundary(line) {
            push(from, at);
            push(at, end);
            from = end;
        }
        at = end;
    }
    push(from, at);
    let with_format = |piece| match str::find(piece, FORMAT_START) {
        Some(at) => <[&str; 2]>::from(piece.split_at(at)),
        None => [piece, ""],
    };
    pieces.into_iter().flat_map(with_format).filter(|piece| !piece.is_empty()).collect()
}

/// Writes the digest of a shared block in place of the block. A block that was read has no text
/// until the run state fills it in.
pub(crate) mod shared_digest {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::ask::SharedBlock;

    pub(crate) fn serialize<S: Serializer>(
        shared: &Option<Arc<SharedBlock>>,
        target: S,
    ) -> Result<S::Ok, S::Error> {
        shared.as_ref().map(|block| &block.sha256).serialize(target)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Option<Arc<SharedBlock>>, D::Error> {
        let digest = Option::<String>::deserialize(source)?;
        let unfilled = |sha256| SharedBlock {
            sha256,
            text: Arc::from(""),
            condensed: Vec::new(),
            extends: None,
            omitted: Vec::new(),
            section: false,
        };
        Ok(digest.map(|sha256| Arc::new(unfilled(sha256))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plan::ContextFile;

    fn pack(texts: &[&str]) -> ContextPack {
        let file = |text: &&str| ContextFile {
            path: "a.md".to_owned(),
            sha256: String::new(),
            text: (*text).to_owned(),
        };
        ContextPack { files: texts.iter().map(file).collect(), ..ContextPack::default() }
    }

    #[test]
    fn a_block_leaves_out_the_files_of_the_plan() {
        let long = "Ein Satz mit ä und \"Anführung\".\n".repeat(40);
        let other = "Another file.\n".repeat(60);
        let context = pack(&[&long, "short", &other]);
        let body = |text: &str| numbered_lines(text);
        let text = format!(
            "Today.\n\nBEGIN\n{}\nEND\n\nBEGIN\n{}\nEND\n\nBEGIN\n{}\nEND\n",
            body(&long),
            body("short"),
            body(&other)
        );
        let block = SharedBlock::new(text.clone(), vec!["a note".to_owned()]);
        let stored = block.without_files(&context);
        assert_eq!(stored.omitted.len(), 2);
        assert!(stored.text.len() < 100, "{}", stored.text);
        assert_eq!(stored.sha256, block.sha256);
        assert_eq!(stored.with_files(&context), block);
        // A file that was cut or had to be changed stays in the block.
        let changed = SharedBlock::new(text.replace("20 | ", "20 | \\"), Vec::new());
        let stored = changed.without_files(&context);
        assert_eq!(stored.with_files(&context), changed);
        assert_eq!(block.without_files(&pack(&[])), block);
    }

    #[test]
    fn a_section_is_kept_once_and_read_back() {
        let opinion = "{\"summary\": \"Ja, mit ä.\"}\n".repeat(30);
        let role = "You are a reviewer.\n\n".to_owned() + &"Read each one. ".repeat(40);
        let format = format!("{FORMAT_START}\n{}", "Reply with JSON. ".repeat(40));
        let message = |letters: &str, round: u8| {
            let fenced = letters.chars().map(|letter| {
                format!("\n\n===== BEGIN material OPINION {letter} f{round} =====\n{letter}{opinion}===== END material OPINION {letter} f{round} =====")
            });
            let fenced = fenced.collect::<String>();
            AskMessages::new("The rules. ".repeat(40), format!("{role}{fenced}{format}"))
        };
        let mut blocks = vec![Arc::new(SharedBlock::new("The question.".to_owned(), Vec::new()))];
        let sent = [message("AB", 2), message("BA", 2), message("ABC", 3)];
        let stored = sent.each_ref().map(|one| one.to_sections(&mut blocks));
        // The rules, the role, three opinions and the format.
        assert_eq!(blocks.len(), 1 + 6);
        for (sent, stored) in sent.iter().zip(&stored) {
            let json = serde_json::to_string(stored).unwrap();
            assert!(json.len() < 900, "{json}");
            let read: AskMessages = serde_json::from_str(&json).unwrap();
            assert_eq!(read.to_whole(&blocks, None).as_ref(), Some(sent));
            assert_eq!(read.to_whole(&[], None), None);
        }
        let short = AskMessages::new("The rules.", "A question?");
        assert_eq!(short.to_sections(&mut Vec::new()), short);
    }

    #[test]
    fn messages_of_earlier_versions_are_read() {
        let record = "{\"id\":\"P0101\",\"text\":\"ä\"}\n".repeat(60);
        let block = Arc::new(SharedBlock::new(record.clone(), Vec::new()));
        let read =
            |value: serde_json::Value| -> AskMessages { serde_json::from_value(value).unwrap() };
        let omitted = serde_json::json!({ "at": 4, "sha256": block.sha256 });
        let stored =
            read(serde_json::json!({ "system": "s", "user": "ROLE TAIL", "record": omitted }));
        let whole = AskMessages::new("s", format!("ROLE{record} TAIL"));
        assert_eq!(stored.to_whole(&[block], None).as_ref(), Some(&whole));
        assert_eq!(stored.to_whole(&[], None), None);
        let first = AskMessages::new("The rules.", "You are B. Reply.");
        let common = serde_json::json!({ "ask": 1, "start": 8, "end": 8 });
        let stored = read(serde_json::json!({ "user": "C", "common": common }));
        let second = AskMessages::new("The rules.", "You are C. Reply.");
        assert_eq!(stored.to_whole(&[], Some(&first)), Some(second));
        assert_eq!(stored.to_whole(&[], None), None);
    }
}
