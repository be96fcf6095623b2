//! How the journal keeps messages: it does not write again what it has.
//!
//! The shared block is kept once per run. The lines of a file stand in it as a reference to the
//! plan, which has the file. The record that Synthesizer and reviser are shown is a block, too. The
//! messages that one entry prepares for several seats are kept whole for the first seat, and as a
//! difference from it for the others.

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

/// The fence of the record, which the Synthesizer and the reviser are both shown.
const RECORD_START: &str = "\n===== BEGIN material RECORD ";
const RECORD_END: &str = "\n===== END material RECORD ";

/// A shorter record is not worth a block.
const RECORD_BYTES_MIN: usize = 1_000;

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
    /// The record in the message as a block, if it is long. Text of others cannot imitate the fence.
    pub fn record_block(&self) -> Option<SharedBlock> {
        let (_, after) = self.user.split_once(RECORD_START)?;
        let (_, body) = after.split_once('\n')?;
        let (record, _) = body.split_once(RECORD_END)?;
        let is_long = record.len() >= RECORD_BYTES_MIN;
        is_long.then(|| SharedBlock {
            is_record: true,
            ..SharedBlock::new(record.to_owned(), Vec::new())
        })
    }

    /// The messages as the journal keeps them beside a block that has the record.
    #[must_use]
    pub fn without_record(&self, block: &SharedBlock) -> Self {
        let Some((before, after)) = self.user.split_once(&*block.text) else { return self.clone() };
        Self {
            user: [before, after].concat(),
            record: Some(OmittedRecord { at: before.len(), sha256: block.sha256.clone() }),
            ..self.clone()
        }
    }

    /// The messages as the journal keeps them after those of an earlier ask of the same entry.
    #[must_use]
    pub fn to_difference(&self, ask: u32, earlier: &Self) -> Self {
        let start = common_bytes(self.user.bytes(), earlier.user.bytes());
        let start = self.user.floor_char_boundary(start);
        let most = self.user.len().min(earlier.user.len()) - start;
        let end = common_bytes(self.user.bytes().rev(), earlier.user.bytes().rev()).min(most);
        let middle = start..self.user.ceil_char_boundary(self.user.len() - end);
        let end = self.user.len() - middle.end;
        if self.system != earlier.system || start + end < SAVED_BYTES_MIN {
            return self.clone();
        }
        Self {
            system: String::new(),
            shared: self.shared.clone(),
            user: self.user.get(middle).unwrap_or_default().to_owned(),
            common: Some(CommonText { ask, start, end }),
            record: None,
        }
    }

    /// The whole messages; `None` without the block or the earlier messages that they refer to.
    pub fn to_whole(&self, blocks: &[Arc<SharedBlock>], earlier: Option<&Self>) -> Option<Self> {
        let mut whole = self.with_shared(blocks)?;
        if let Some(OmittedRecord { at, sha256 }) = whole.record.take() {
            let block = blocks.iter().find(|block| block.sha256 == sha256)?;
            let (before, after) = whole.user.split_at_checked(at)?;
            whole.user = [before, &block.text, after].concat();
        }
        let Some(CommonText { start, end, .. }) = self.common else { return Some(whole) };
        let earlier = earlier?;
        let tail = earlier.user.len().checked_sub(end)?;
        let parts = [earlier.user.get(..start)?, &self.user, earlier.user.get(tail..)?];
        Some(Self { system: earlier.system.clone(), user: parts.concat(), common: None, ..whole })
    }
}

fn common_bytes(a: impl Iterator<Item = u8>, b: impl Iterator<Item = u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
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
    fn a_record_is_kept_as_a_block_of_its_own() {
        let record = "{\"id\":\"P0101\",\"text\":\"ä\"}\n".repeat(60);
        let fenced = |role: &str, record: &str| {
            let fence = format!("{RECORD_START}f00 =====\n{record}{RECORD_END}f00 =====");
            AskMessages::new("The rules.", format!("{role}\n{fence}\nReply in JSON."))
        };
        let writer = fenced("You are the Synthesizer.", &record);
        let block = writer.record_block().unwrap();
        assert_eq!(*block.text, record);
        let blocks = [Arc::new(block.clone())];
        for messages in [writer, fenced("You revise.", &record)] {
            assert_eq!(messages.record_block().unwrap().sha256, block.sha256);
            let stored = messages.without_record(&block);
            assert!(stored.user.len() < 150, "{}", stored.user);
            let json = serde_json::to_string(&stored).unwrap();
            let read: AskMessages = serde_json::from_str(&json).unwrap();
            assert_eq!(read.to_whole(&blocks, None), Some(messages));
            assert_eq!(read.to_whole(&[], None), None);
        }
        assert_eq!(fenced("", "short").record_block(), None);
        assert_eq!(AskMessages::new("", record).record_block(), None);
    }

    #[test]
    fn messages_are_kept_as_a_difference_and_read_back() {
        let role = "You are a reviewer. ".repeat(30);
        let format = "Reply with JSON. ".repeat(30);
        let messages = |own: &str| AskMessages::new("The rules.", format!("{role}{own}{format}"));
        let first = messages("My opinion: ja.");
        for own in ["My opinion: nein.", "", "ü", "My opinion: ja.", "Mehr ä als ö"] {
            let second = messages(own);
            let stored = second.to_difference(4, &first);
            assert!(stored.user.len() < 40, "{own}: {}", stored.user);
            let json = serde_json::to_string(&stored).unwrap();
            let read: AskMessages = serde_json::from_str(&json).unwrap();
            assert_eq!(read.to_whole(&[], Some(&first)), Some(second), "{own}");
            assert_eq!(read.to_whole(&[], None), None);
        }
        let other = AskMessages::new("Other rules.", first.user.clone());
        assert_eq!(other.to_difference(4, &first), other);
        assert_eq!(first.to_whole(&[], None), Some(first.clone()));
    }
}
