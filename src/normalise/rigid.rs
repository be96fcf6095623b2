//! A reply that decides, and so must hold one document and no second.
//!
//! Whoever judges a text may quote it, and the text may hold a document of its own that was
//! put there to be taken for the judge's. One that stands in the text is a quotation; of two
//! others it cannot be told which is meant. Then none is taken, and the model is asked again.

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

/// Finds the one object in a reply of which a document can be made; `documents` is what a
/// fault calls several of them.
pub(super) fn read_rigidly<T: PartialEq>(
    reply: &str,
    schema: &Value,
    documents: &str,
    make: impl Fn(Value) -> Result<T, String>,
) -> Normalised<T> {
    Wanted { artifact: None, schema, documents }.read(reply, make)
}

/// The same, of a reply about an artifact: what stands in that is no document of the reply's.
pub(super) fn read_of_artifact<T: PartialEq>(
    reply: &str,
    artifact: &str,
    schema: &Value,
    documents: &str,
    make: impl Fn(Value) -> Result<T, String>,
) -> Normalised<T> {
    Wanted { artifact: Some(artifact), schema, documents }.read(reply, make)
}

/// What is looked for.
struct Wanted<'a> {
    artifact: Option<&'a str>,
    schema: &'a Value,
    documents: &'a str,
}

/// What was found in a text, before any of it is taken.
struct Survey<T> {
    /// The first document.
    only: Option<Read<T>>,
    /// It stands inside an object that never ends, or before one.
    is_cut: bool,
    /// There is another, and it says something else.
    has_rival: bool,
    is_quoted: bool,
    /// The failed attempt that comes nearest to a document.
    nearest: Option<Attempt>,
    /// What was looked at and is accounted for.
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

    /// The documents that stand in the artifact: in whatever words they come back, they are its.
    fn quotable<T: PartialEq>(&self, make: impl Fn(Value) -> Result<T, String>) -> Vec<T> {
        let Some(artifact) = self.artifact else { return Vec::new() };
        let found = places(artifact).into_iter().filter_map(|place| {
            let candidate = artifact.get(place)?;
            let found = attempt(candidate, self.schema, Manner::Rigid, &make).ok()?;
            Some(found.read.document)
        });
        found.collect()
    }

    /// The one document, where nothing puts in doubt that it is the one that was meant; `thought`
    /// is the end of the text in which the model thinks aloud.
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

/// Whether a document stands in the text, however it is broken into lines or escaped there.
fn stands_in(document: &str, text: &str) -> bool {
    let is_said = |letter: &char| !letter.is_whitespace() && *letter != '\\';
    let bare = |text: &str| -> String { text.chars().filter(is_said).collect() };
    bare(text).contains(&bare(document))
}
