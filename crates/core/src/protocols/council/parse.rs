//! Parses the three documents of a council and checks the rules that a schema cannot express.

use std::cell::Cell;

use crate::parsing::coerce::quote_safely;
use crate::parsing::reply::{ParseResult, ParsedReply, parse_document};
use crate::parsing::schema::{OPINION_SCHEMA, PEER_REVIEW_SCHEMA, REPORT_SCHEMA};
use crate::protocols::council::report_types::ChairReport;
use crate::protocols::council::types::{
    OpinionAssessment, OpinionReply, PeerReview, QuestionMode, ReportOutcome,
};

/// Nouns that may precede a letter, as in `Opinion A`.
const LETTER_NOUNS: [&str; 9] = [
    "opinion",
    "reviewer",
    "review",
    "participant",
    "provider",
    "model",
    "seat",
    "expert",
    "letter",
];

pub fn parse_opinion(reply: &str, mode: QuestionMode) -> ParseResult<OpinionReply> {
    parse_document(reply, &OPINION_SCHEMA, |opinion: &mut OpinionReply| {
        require_text("summary", &opinion.summary)?;
        require_text("details.recommendation", &opinion.details.recommendation)?;
        match mode {
            QuestionMode::Review => {}
            // Without files under review there are no findings.
            QuestionMode::General | QuestionMode::Architecture => opinion.findings.clear(),
        }
        Ok(())
    })
}

/// Parses a peer review; `letters` are the opinions that the reviewer saw.
pub fn parse_peer_review(reply: &str, letters: &[char]) -> ParseResult<PeerReview> {
    let is_merged = Cell::new(false);
    let parsed = parse_document(reply, &PEER_REVIEW_SCHEMA, |review: &mut PeerReview| {
        if review.targets.is_empty() {
            return Err("targets: the list is empty, but at least one item is required".to_owned());
        }
        let is_shown = |target: &OpinionAssessment| match_letter(&target.letter, letters).is_some();
        if !review.targets.iter().any(is_shown) {
            let given = review.targets.first().map_or("", |target| &target.letter);
            let (given, shown) = (quote_safely(given), join_letters(letters));
            return Err(format!("targets[0].letter: {given} was not shown; shown: {shown}"));
        }
        // Drop comments on opinions the reviewer did not see, usually its own.
        review.targets.retain(is_shown);
        for target in &mut review.targets {
            if let Some(letter) = match_letter(&target.letter, letters) {
                target.letter = letter.to_string();
            }
        }
        is_merged.set(merge_targets(&mut review.targets));
        Ok(())
    });
    parsed.map(|read| ParsedReply { repaired: read.repaired || is_merged.get(), ..read })
}

/// Joins what a reviewer wrote about one opinion in several entries, with the lowest rating. Returns
/// whether there was such an opinion.
fn merge_targets(targets: &mut Vec<OpinionAssessment>) -> bool {
    let before = targets.len();
    let mut merged: Vec<OpinionAssessment> = Vec::new();
    for target in targets.drain(..) {
        match merged.iter_mut().find(|known| known.letter == target.letter) {
            Some(known) => known.absorb_entry(target),
            None => merged.push(target),
        }
    }
    *targets = merged;
    targets.len() < before
}

impl OpinionAssessment {
    fn absorb_entry(&mut self, other: Self) {
        self.rating = self.rating.min(other.rating);
        add_missing(&mut self.critiques, other.critiques);
        add_missing(&mut self.agreement_points, other.agreement_points);
        add_missing(&mut self.disagreement_points, other.disagreement_points);
        add_missing(&mut self.finding_positions, other.finding_positions);
    }
}

fn add_missing<T: PartialEq>(known: &mut Vec<T>, items: Vec<T>) {
    for item in items {
        if !known.contains(&item) {
            known.push(item);
        }
    }
}

/// Parses a report; `letters` are the opinions that the chair saw.
pub fn parse_report(reply: &str, letters: &[char]) -> ParseResult<ChairReport> {
    parse_document(reply, &REPORT_SCHEMA, |report: &mut ChairReport| {
        require_text("conclusion.statement", &report.conclusion.statement)?;
        require_text("rationale.summary", &report.rationale.summary)?;
        if report.conclusion.outcome == ReportOutcome::NeedInfo {
            let reason = report.conclusion.reason.as_deref().unwrap_or_default();
            require_text("conclusion.reason", reason)
                .map_err(|fault| format!("{fault}; need-info needs it"))?;
        }
        report.participant_names_mut().for_each(|text| {
            if let Some(letter) = match_letter(text, letters) {
                *text = letter.to_string();
            }
        });
        Ok(())
    })
}

fn require_text(path: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("{path}: empty")) } else { Ok(()) }
}

/// Returns the letter meant by `A`, `a`, `[A]` or `Opinion A`, if it was shown.
pub(crate) fn match_letter(text: &str, shown: &[char]) -> Option<char> {
    let is_wrapping = |letter: char| !letter.is_alphanumeric();
    let lower = text.trim_matches(is_wrapping).to_lowercase();
    let noun = LETTER_NOUNS
        .iter()
        .find_map(|noun| lower.strip_prefix(noun).filter(|rest| rest.starts_with(is_wrapping)));
    let mut letters = noun.unwrap_or(&lower).trim_matches(is_wrapping).chars();
    let (only, None) = (letters.next()?, letters.next()) else { return None };
    shown.iter().copied().find(|letter| letter.eq_ignore_ascii_case(&only))
}

fn join_letters(letters: &[char]) -> String {
    letters.iter().map(char::to_string).collect::<Vec<_>>().join(", ")
}
