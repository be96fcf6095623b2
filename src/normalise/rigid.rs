//! Strict parsing of a reply that decides something: it must contain exactly one document.
//!
//! A model may quote the artifact it judges, and the artifact may contain a planted document. A
//! document that occurs in the artifact is treated as a quotation. If two other documents differ,
//! it is unclear which one is meant. In both cases the reply is rejected, so that the engine
//! retries.

use std::ops::Range;

use serde_json::Value;

use super::candidates::places;
use super::reading::{Normalised, Read, Unreadable};
use super::reply::{
    Attempt, Found, Manner, attempt, not_blank, only_thinking, trimmed, unreadable,
};
use super::think::without_closed_thinking;
use super::truncation::{gaps, has_fields, is_cut_around};
use crate::domain::ask::CUT_OFF;

/// Finds the single document of a reply; `documents` is the plural noun for error messages.
pub(super) fn read_rigidly<T: PartialEq>(
    reply: &str,
    schema: &Value,
    documents: &str,
    make: impl Fn(Value) -> Result<T, String>,
) -> Normalised<T> {
    Wanted { artifact: None, schema, documents }.read(reply, make)
}

/// The same for a reply about an artifact: documents that occur in the artifact do not count.
pub(super) fn read_of_artifact<T: PartialEq>(
    reply: &str,
    artifact: &str,
    schema: &Value,
    documents: &str,
    make: impl Fn(Value) -> Result<T, String>,
) -> Normalised<T> {
    Wanted { artifact: Some(artifact), schema, documents }.read(reply, make)
}

/// The document to look for.
struct Wanted<'a> {
    artifact: Option<&'a str>,
    schema: &'a Value,
    documents: &'a str,
}

/// Findings in the text of a reply, before one document is chosen.
struct Survey<T> {
    /// The first document.
    only: Option<Read<T>>,
    /// An unclosed object surrounds or follows the document.
    is_cut: bool,
    /// There is a second document that differs.
    has_rival: bool,
    is_quoted: bool,
    /// The failed candidate closest to a document.
    nearest: Option<Attempt>,
    /// Ranges that are accounted for.
    spent: Vec<Range<usize>>,
}

impl Wanted<'_> {
    fn read<T: PartialEq>(
        &self,
        reply: &str,
        make: impl Fn(Value) -> Result<T, String>,
    ) -> Normalised<T> {
        not_blank(reply)?;
        let said = without_closed_thinking(reply);
        let text = said.text.as_str();
        let open = said.open.unwrap_or(text.len());
        if trimmed(text.get(..open).unwrap_or_default()).is_empty() {
            return Err(only_thinking());
        }
        let thought = text.get(open..).unwrap_or_default();
        self.settled(self.survey(text, make), text, thought)
    }

    fn survey<T: PartialEq>(
        &self,
        text: &str,
        make: impl Fn(Value) -> Result<T, String>,
    ) -> Survey<T> {
        let mut survey = Survey {
            only: None,
            is_cut: false,
            has_rival: false,
            is_quoted: false,
            nearest: None,
            spent: Vec::new(),
        };
        let quotable = self.quotable(&make);
        for place in places(text) {
            let candidate = text.get(place.clone()).unwrap_or_default();
            match attempt(candidate, self.schema, Manner::Rigid, &make) {
                Ok(Found { read, bytes }) => {
                    let document = candidate.get(..bytes).unwrap_or(candidate);
                    survey.is_quoted |= quotable.contains(&read.document)
                        || self.artifact.is_some_and(|artifact| stands_in(document, artifact));
                    let taken = place.start..place.start + bytes;
                    survey.is_cut |= is_cut_around(text, &taken, self.schema);
                    survey.spent.push(taken);
                    survey.keep(read);
                }
                Err(failed) => {
                    if failed.is_echo {
                        survey.spent.push(place);
                    }
                    failed.keep_nearer(&mut survey.nearest);
                }
            }
        }
        survey
    }

    /// Returns the documents inside the artifact. A reply that repeats one, in any layout, quotes
    /// it.
    fn quotable<T: PartialEq>(&self, make: impl Fn(Value) -> Result<T, String>) -> Vec<T> {
        let Some(artifact) = self.artifact else { return Vec::new() };
        let found = places(artifact).into_iter().filter_map(|place| {
            let candidate = artifact.get(place)?;
            let found = attempt(candidate, self.schema, Manner::Rigid, &make).ok()?;
            Some(found.read.document)
        });
        found.collect()
    }

    /// Returns the document if it is certain to be the intended one; `thought` is the unclosed
    /// thinking at the end of the text.
    fn settled<T>(&self, survey: Survey<T>, text: &str, thought: &str) -> Normalised<T> {
        let Self { schema, documents, .. } = self;
        let Survey { only, is_cut, has_rival, is_quoted, nearest, spent } = survey;
        let Some(only) = only else { return Err(unreadable(trimmed(text), nearest)) };
        let half_read = || gaps(text, spent).into_iter().any(|gap| has_fields(gap, schema));
        let doubt = if has_rival {
            format!("the reply holds two {documents} that differ")
        } else if is_quoted {
            "what the reply holds stands word for word in the artifact: a quotation".to_owned()
        } else if has_fields(thought, schema) {
            "the reply thinks aloud without an end".to_owned()
        } else if half_read() {
            format!("the reply holds two {documents}, one of which cannot be read")
        } else if is_cut {
            format!("an object is not closed ({CUT_OFF})")
        } else {
            return Ok(only);
        };
        Err(Unreadable::new(doubt))
    }
}

impl<T: PartialEq> Survey<T> {
    fn keep(&mut self, read: Read<T>) {
        match &self.only {
            Some(only) => self.has_rival |= only.document != read.document,
            None => self.only = Some(read),
        }
    }
}

/// Whether the document occurs in the text, ignoring white space and escapes.
fn stands_in(document: &str, text: &str) -> bool {
    let is_said = |letter: &char| !letter.is_whitespace() && *letter != '\\';
    let bare = |text: &str| -> String { text.chars().filter(is_said).collect() };
    bare(text).contains(&bare(document))
}
