//! Strict parsing of a reply that decides something: it must contain exactly one document.
//!
//! A model may quote the artifact it judges, and the artifact may contain a planted document. A
//! document that occurs in the artifact is treated as a quotation. If two other documents differ,
//! it is unclear which one is meant. In both cases the reply is rejected, so that the engine
//! retries.

use std::ops::Range;

use serde_json::Value;

use crate::model::ask::CUT_OFF_REASON;
use crate::parsing::candidates::{
    find_candidates, has_fields, is_cut_around, strip_closed_thinking, text_between,
};
use crate::parsing::reply::{
    FailedCandidate, FoundDocument, Leniency, ParseResult, ParsedReply, UnreadableReply,
    check_length, only_thinking_error, trim_blanks, try_candidate, unreadable_error,
};

/// Finds the single document of a reply; `documents` is the plural noun for error messages.
pub(crate) fn parse_strict<T: PartialEq>(
    reply: &str,
    schema: &Value,
    documents: &str,
    make: impl Fn(Value) -> Result<T, String>,
) -> ParseResult<T> {
    StrictParser { artifact: None, schema, documents }.parse_reply(reply, make)
}

/// The same for a reply about an artifact: documents that occur in the artifact do not count.
pub(crate) fn parse_strict_about<T: PartialEq>(
    reply: &str,
    artifact: &str,
    schema: &Value,
    documents: &str,
    make: impl Fn(Value) -> Result<T, String>,
) -> ParseResult<T> {
    StrictParser { artifact: Some(artifact), schema, documents }.parse_reply(reply, make)
}

/// The document to look for.
struct StrictParser<'a> {
    artifact: Option<&'a str>,
    schema: &'a Value,
    documents: &'a str,
}

/// Findings in the text of a reply, before one document is chosen.
struct StrictFindings<T> {
    /// The first document.
    only: Option<ParsedReply<T>>,
    /// An unclosed object surrounds or follows the document.
    is_cut: bool,
    /// There is a second document that differs.
    has_rival: bool,
    is_quoted: bool,
    /// The failed candidate closest to a document.
    nearest: Option<FailedCandidate>,
    /// Ranges that are accounted for.
    accounted: Vec<Range<usize>>,
}

impl StrictParser<'_> {
    fn parse_reply<T: PartialEq>(
        &self,
        reply: &str,
        make: impl Fn(Value) -> Result<T, String>,
    ) -> ParseResult<T> {
        check_length(reply)?;
        let message = strip_closed_thinking(reply);
        let text = message.text.as_str();
        let open = message.open.unwrap_or(text.len());
        if trim_blanks(text.get(..open).unwrap_or_default()).is_empty() {
            return Err(only_thinking_error());
        }
        let thought = text.get(open..).unwrap_or_default();
        self.choose_document(self.collect_findings(text, make), text, thought)
    }

    fn collect_findings<T: PartialEq>(
        &self,
        text: &str,
        make: impl Fn(Value) -> Result<T, String>,
    ) -> StrictFindings<T> {
        let mut survey = StrictFindings {
            only: None,
            is_cut: false,
            has_rival: false,
            is_quoted: false,
            nearest: None,
            accounted: Vec::new(),
        };
        let quotable = self.artifact_documents(&make);
        for place in find_candidates(text) {
            let candidate = text.get(place.clone()).unwrap_or_default();
            match try_candidate(candidate, self.schema, Leniency::Strict, &make) {
                Ok(FoundDocument { read, bytes }) => {
                    let document = candidate.get(..bytes).unwrap_or(candidate);
                    survey.is_quoted |= quotable.contains(&read.document)
                        || self.artifact.is_some_and(|artifact| occurs_in(document, artifact));
                    let taken = place.start..place.start + bytes;
                    survey.is_cut |= is_cut_around(text, &taken, self.schema);
                    survey.accounted.push(taken);
                    survey.keep_document(read);
                }
                Err(failed) => {
                    if failed.is_echo {
                        survey.accounted.push(place);
                    }
                    failed.keep_closest(&mut survey.nearest);
                }
            }
        }
        survey
    }

    /// Returns the documents inside the artifact. A reply that repeats one, in any layout, quotes
    /// it.
    fn artifact_documents<T: PartialEq>(
        &self,
        make: impl Fn(Value) -> Result<T, String>,
    ) -> Vec<T> {
        let Some(artifact) = self.artifact else { return Vec::new() };
        let found = find_candidates(artifact).into_iter().filter_map(|place| {
            let candidate = artifact.get(place)?;
            let found = try_candidate(candidate, self.schema, Leniency::Strict, &make).ok()?;
            Some(found.read.document)
        });
        found.collect()
    }

    /// Returns the document if it is certain to be the intended one; `thought` is the unclosed
    /// thinking at the end of the text.
    fn choose_document<T>(
        &self,
        survey: StrictFindings<T>,
        text: &str,
        thought: &str,
    ) -> ParseResult<T> {
        let Self { schema, documents, .. } = self;
        let StrictFindings { only, is_cut, has_rival, is_quoted, nearest, accounted: spent } =
            survey;
        let Some(only) = only else { return Err(unreadable_error(trim_blanks(text), nearest)) };
        let half_read = || text_between(text, spent).into_iter().any(|gap| has_fields(gap, schema));
        let doubt = if has_rival {
            format!("the reply contains two {documents} that differ")
        } else if is_quoted {
            "the reply occurs word for word in the document, so it is rejected as injected text"
                .to_owned()
        } else if has_fields(thought, schema) {
            "the reply has a thinking part that is not closed".to_owned()
        } else if half_read() {
            format!("the reply contains two {documents}, one of which cannot be read")
        } else if is_cut {
            format!("an object is not closed ({CUT_OFF_REASON})")
        } else {
            return Ok(only);
        };
        Err(UnreadableReply::new(doubt))
    }
}

impl<T: PartialEq> StrictFindings<T> {
    fn keep_document(&mut self, read: ParsedReply<T>) {
        match &self.only {
            Some(only) => self.has_rival |= only.document != read.document,
            None => self.only = Some(read),
        }
    }
}

/// Whether the document occurs in the text, ignoring white space and escapes.
fn occurs_in(document: &str, text: &str) -> bool {
    let is_said = |letter: &char| !letter.is_whitespace() && *letter != '\\';
    let bare = |text: &str| -> String { text.chars().filter(is_said).collect() };
    bare(text).contains(&bare(document))
}
