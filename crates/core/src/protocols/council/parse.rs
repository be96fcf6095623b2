//! Parses the three documents of a council and checks the rules that a schema cannot express.

use crate::parsing::coerce::quote_safely;
use crate::parsing::reply::{ParseResult, parse_document};
use crate::parsing::schema::{OPINION_SCHEMA, PEER_REVIEW_SCHEMA, REPORT_SCHEMA};
use crate::protocols::council::report_types::ChairReport;
use crate::protocols::council::types::{
    OpinionAssessment, OpinionReply, PeerReview, QuestionMode, ReportOutcome,
};

/// Nouns that may precede a letter, as in `Opinion A`.
const LETTER_NOUNS: [&str; 8] =
    ["opinion", "reviewer", "review", "participant", "provider", "model", "seat", "expert"];

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
    parse_document(reply, &PEER_REVIEW_SCHEMA, |review: &mut PeerReview| {
        if review.targets.is_empty() {
            return Err("targets: empty, at least one is due".to_owned());
        }
        let is_shown = |target: &OpinionAssessment| match_letter(&target.letter, letters).is_some();
        if !review.targets.iter().any(is_shown) {
            let given = review.targets.first().map_or("", |target| &target.letter);
            let (given, shown) = (quote_safely(given), join_letters(letters));
            return Err(format!("targets[0].letter: {given} was not shown; shown: {shown}"));
        }
        // Drop comments on opinions the reviewer did not see, usually its own.
        review.targets.retain(is_shown);
        let mut seen = Vec::new();
        for (index, target) in review.targets.iter_mut().enumerate() {
            let Some(letter) = match_letter(&target.letter, letters) else { continue };
            if seen.contains(&letter) {
                return Err(format!("targets[{index}].letter: `{letter}` is given twice"));
            }
            seen.push(letter);
            target.letter = letter.to_string();
        }
        Ok(())
    })
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
