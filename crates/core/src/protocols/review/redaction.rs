//! Redacts secrets from a row before it is written to the verdict log.
//!
//! **Invariant:** a redacted text contains no match of a pattern outside a redaction mark. A mark
//! can create a new match (text after a removed letter now starts a word), so redaction repeats
//! until no match is left.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use regex::{Regex, RegexBuilder};

use crate::protocols::review::log_row::{AdjudicatorRow, LogRow, SeatRow};
use crate::protocols::review::types::{DeliberatorJudgement, ReviewConcern};

/// Replaces redacted text.
pub const REDACTION_MARK: &str = "[redacted]";

/// Size limit of a compiled pattern; a one-line pattern needs a thousandth of it.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// A text that still has matches after this many passes is redacted whole.
const PASSES_MAX: usize = 50;

/// Patterns to redact from the texts of a row.
#[derive(Clone, Default)]
pub struct LogRedaction {
    patterns: Vec<Regex>,
}

/// Omits the patterns, because they may be secrets themselves.
impl fmt::Debug for LogRedaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redaction({} patterns)", self.patterns.len())
    }
}

impl LogRedaction {
    /// Adds a pattern, or returns the problem without quoting the pattern, which may be a secret.
    pub fn add_pattern(&mut self, pattern: &str) -> Result<(), String> {
        let built = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build();
        self.patterns.push(built.map_err(|error| describe_pattern_error(&error))?);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Redacts the texts of a row. Ids, types, moments and hashes stay, because the log is searched
    /// by them.
    #[must_use]
    pub fn redact_row(&self, row: &LogRow) -> LogRow {
        if self.is_empty() {
            return row.clone();
        }
        let seats = |seats: &[SeatRow]| seats.iter().map(|seat| self.redact_seat(seat)).collect();
        LogRow {
            artifact: self.redact_text(&row.artifact),
            producer: row.producer.as_deref().map(|text| self.redact_text(text)),
            round1: seats(&row.round1),
            round2: seats(&row.round2),
            adjudicator: AdjudicatorRow {
                reasoning: self.redact_text(&row.adjudicator.reasoning),
                revision_brief: self.redact_text(&row.adjudicator.revision_brief),
                ..row.adjudicator.clone()
            },
            ..row.clone()
        }
    }

    fn redact_seat(&self, seat: &SeatRow) -> SeatRow {
        match seat {
            SeatRow::Absent { .. } => seat.clone(),
            SeatRow::Present { deliberator, judgement, fallback, uncited } => SeatRow::Present {
                deliberator: deliberator.clone(),
                judgement: self.redact_judgement(judgement),
                fallback: *fallback,
                uncited: *uncited,
            },
        }
    }

    fn redact_judgement(&self, judgement: &DeliberatorJudgement) -> DeliberatorJudgement {
        let texts = |texts: &[String]| texts.iter().map(|text| self.redact_text(text)).collect();
        let concern = |concern: &ReviewConcern| ReviewConcern {
            locus: self.redact_text(&concern.locus),
            issue: self.redact_text(&concern.issue),
            fix: self.redact_text(&concern.fix),
            code: concern.code.clone(),
        };
        DeliberatorJudgement {
            scores: self.redact_scores(&judgement.scores),
            concerns: judgement.concerns.iter().map(concern).collect(),
            revision_brief: self.redact_text(&judgement.revision_brief),
            concessions: texts(&judgement.concessions),
            escalations: texts(&judgement.escalations),
            delta_from_r1: self.redact_text(&judgement.delta_from_r1),
            ..judgement.clone()
        }
    }

    /// Numbers names that become equal, so that no score is lost.
    fn redact_scores(&self, scores: &BTreeMap<String, u8>) -> BTreeMap<String, u8> {
        let mut kept = BTreeMap::new();
        for (name, score) in scores {
            let name = self.redact_text(name);
            let names =
                (1..).map(|nth| if nth == 1 { name.clone() } else { format!("{name} {nth}") });
            if let Some(free) = names.into_iter().find(|name| !kept.contains_key(name)) {
                kept.insert(free, *score);
            }
        }
        kept
    }

    /// Redacts one text.
    pub fn redact_text(&self, text: &str) -> String {
        let mut marked = RedactedText { text: text.to_owned(), marks: Vec::new() };
        for _ in 0..PASSES_MAX {
            let found = self.find_matches(&marked);
            if found.is_empty() {
                return marked.text;
            }
            marked = marked.redact_ranges(found);
        }
        REDACTION_MARK.to_owned()
    }

    /// Ranges where patterns match outside of marks.
    fn find_matches(&self, marked: &RedactedText) -> Vec<Range<usize>> {
        let found = self.patterns.iter().flat_map(|pattern| pattern.find_iter(&marked.text));
        found.map(|found| found.range()).filter(|found| !marked.is_redacted(found)).collect()
    }
}

/// A text with the positions of its redaction marks.
struct RedactedText {
    text: String,
    marks: Vec<Range<usize>>,
}

impl RedactedText {
    /// Returns true if the range lies within a mark or is empty.
    fn is_redacted(&self, found: &Range<usize>) -> bool {
        found.is_empty()
            || self.marks.iter().any(|mark| mark.start <= found.start && found.end <= mark.end)
    }

    /// Redacts these ranges too, and merges touching ranges into one mark.
    fn redact_ranges(self, found: Vec<Range<usize>>) -> Self {
        let mut taken: Vec<Range<usize>> = found.into_iter().chain(self.marks).collect();
        taken.sort_by_key(|range| range.start);
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in taken {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                Some(_) | None => apart.push(range),
            }
        }
        let mut without = Self { text: String::new(), marks: Vec::new() };
        let mut read = 0;
        for range in apart {
            without.text.push_str(self.text.get(read..range.start).unwrap_or_default());
            let start = without.text.len();
            without.text.push_str(REDACTION_MARK);
            without.marks.push(start..without.text.len());
            read = range.end;
        }
        without.text.push_str(self.text.get(read..).unwrap_or_default());
        without
    }
}

/// Describes a pattern error without quoting the pattern.
fn describe_pattern_error(error: &regex::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once("error: ") {
        Some((_, reason)) => reason.trim().to_owned(),
        None => "it is too large".to_owned(),
    }
}

#[cfg(test)]
#[path = "redaction_tests.rs"]
mod tests;
