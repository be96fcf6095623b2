//! Redacts secrets from a row before it is written to the verdict log.
//!
//! **Invariant:** a redacted text contains no match of a pattern outside a redaction mark. A mark
//! can create a new match (text after a removed letter now starts a word), so redaction repeats
//! until no match is left.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::judgement::{Concern, Judgement};
use super::row::{AdjudicatorRow, LogRow, SeatRow};

/// Replaces redacted text.
pub const REDACTED: &str = "[redacted]";

/// Size limit of a compiled pattern; a one-line pattern needs a thousandth of it.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// A text that still has matches after this many passes is redacted whole.
const LOOKS_MAX: usize = 50;

/// Patterns to redact from the texts of a row.
#[derive(Clone, Default)]
pub struct Redaction {
    patterns: Vec<Regex>,
}

/// Omits the patterns, because they may be secrets themselves.
impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redaction({} patterns)", self.patterns.len())
    }
}

impl Redaction {
    /// Adds a pattern, or returns the problem without quoting the pattern, which may be a secret.
    pub fn add(&mut self, pattern: &str) -> Result<(), String> {
        let built = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build();
        self.patterns.push(built.map_err(|error| reason(&error))?);
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
    pub fn apply(&self, row: &LogRow) -> LogRow {
        if self.is_empty() {
            return row.clone();
        }
        let seats = |seats: &[SeatRow]| seats.iter().map(|seat| self.seat(seat)).collect();
        LogRow {
            artifact: self.text(&row.artifact),
            producer: row.producer.as_deref().map(|text| self.text(text)),
            round1: seats(&row.round1),
            round2: seats(&row.round2),
            adjudicator: AdjudicatorRow {
                reasoning: self.text(&row.adjudicator.reasoning),
                revision_brief: self.text(&row.adjudicator.revision_brief),
                ..row.adjudicator.clone()
            },
            ..row.clone()
        }
    }

    fn seat(&self, seat: &SeatRow) -> SeatRow {
        match seat {
            SeatRow::Absent { .. } => seat.clone(),
            SeatRow::Present { deliberator, judgement, fallback, uncited } => SeatRow::Present {
                deliberator: deliberator.clone(),
                judgement: self.judgement(judgement),
                fallback: *fallback,
                uncited: *uncited,
            },
        }
    }

    fn judgement(&self, judgement: &Judgement) -> Judgement {
        let texts = |texts: &[String]| texts.iter().map(|text| self.text(text)).collect();
        let concern = |concern: &Concern| Concern {
            locus: self.text(&concern.locus),
            issue: self.text(&concern.issue),
            fix: self.text(&concern.fix),
        };
        Judgement {
            scores: self.scores(&judgement.scores),
            concerns: judgement.concerns.iter().map(concern).collect(),
            revision_brief: self.text(&judgement.revision_brief),
            concessions: texts(&judgement.concessions),
            escalations: texts(&judgement.escalations),
            delta_from_r1: self.text(&judgement.delta_from_r1),
            ..judgement.clone()
        }
    }

    /// Numbers names that become equal, so that no score is lost.
    fn scores(&self, scores: &BTreeMap<String, u8>) -> BTreeMap<String, u8> {
        let mut kept = BTreeMap::new();
        for (name, score) in scores {
            let name = self.text(name);
            let names =
                (1..).map(|nth| if nth == 1 { name.clone() } else { format!("{name} {nth}") });
            if let Some(free) = names.into_iter().find(|name| !kept.contains_key(name)) {
                kept.insert(free, *score);
            }
        }
        kept
    }

    /// Redacts one text.
    pub fn text(&self, text: &str) -> String {
        let mut marked = Marked { text: text.to_owned(), marks: Vec::new() };
        for _ in 0..LOOKS_MAX {
            let found = self.matches(&marked);
            if found.is_empty() {
                return marked.text;
            }
            marked = marked.without(found);
        }
        REDACTED.to_owned()
    }

    /// Ranges where patterns match outside of marks.
    fn matches(&self, marked: &Marked) -> Vec<Range<usize>> {
        let found = self.patterns.iter().flat_map(|pattern| pattern.find_iter(&marked.text));
        found.map(|found| found.range()).filter(|found| !marked.hides(found)).collect()
    }
}

/// A text with the positions of its redaction marks.
struct Marked {
    text: String,
    marks: Vec<Range<usize>>,
}

impl Marked {
    /// Returns true if the range lies within a mark or is empty.
    fn hides(&self, found: &Range<usize>) -> bool {
        found.is_empty()
            || self.marks.iter().any(|mark| mark.start <= found.start && found.end <= mark.end)
    }

    /// Redacts these ranges too, and merges touching ranges into one mark.
    fn without(self, found: Vec<Range<usize>>) -> Self {
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
            without.text.push_str(REDACTED);
            without.marks.push(start..without.text.len());
            read = range.end;
        }
        without.text.push_str(self.text.get(read..).unwrap_or_default());
        without
    }
}

/// Describes a pattern error without quoting the pattern.
fn reason(error: &regex::Error) -> String {
    let said = error.to_string();
    match said.rsplit_once("error: ") {
        Some((_, reason)) => reason.trim().to_owned(),
        None => "it is too large".to_owned(),
    }
}

#[cfg(test)]
#[path = "redaction_tests.rs"]
mod tests;
