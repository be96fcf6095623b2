//! Parses the three documents of a council and checks the rules that a schema cannot express.

use super::coerce::quoted;
use super::reading::Normalised;
use super::reply::read;
use super::schema::{opinion_schema, report_schema, review_schema};
use crate::domain::council::opinion::Opinion;
use crate::domain::council::report::Report;
use crate::domain::council::review::{Review, Target};
use crate::domain::council::words::{Mode, Outcome};

/// Nouns that may precede a letter, as in `Opinion A`.
const LETTER_NOUNS: [&str; 8] =
    ["opinion", "reviewer", "review", "participant", "provider", "model", "seat", "expert"];

pub fn opinion(reply: &str, mode: Mode) -> Normalised<Opinion> {
    read(reply, opinion_schema(), |opinion: &mut Opinion| {
        filled("summary", &opinion.summary)?;
        filled("details.recommendation", &opinion.details.recommendation)?;
        match mode {
            Mode::Review => {}
            // Without files under review there are no findings.
            Mode::General | Mode::Architecture => opinion.findings.clear(),
        }
        Ok(())
    })
}

/// Parses a peer review; `letters` are the opinions that the reviewer saw.
pub fn review(reply: &str, letters: &[char]) -> Normalised<Review> {
    read(reply, review_schema(), |review: &mut Review| {
        if review.targets.is_empty() {
            return Err("targets: empty, at least one is due".to_owned());
        }
        let is_shown = |target: &Target| letter(&target.letter, letters).is_some();
        if !review.targets.iter().any(is_shown) {
            let given = review.targets.first().map_or("", |target| &target.letter);
            let (given, shown) = (quoted(given), listed(letters));
            return Err(format!("targets[0].letter: {given} was not shown; shown: {shown}"));
        }
        // Drop comments on opinions the reviewer did not see, usually its own.
        review.targets.retain(is_shown);
        let mut seen = Vec::new();
        for (index, target) in review.targets.iter_mut().enumerate() {
            let Some(letter) = letter(&target.letter, letters) else { continue };
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
pub fn report(reply: &str, letters: &[char]) -> Normalised<Report> {
    read(reply, report_schema(), |report: &mut Report| {
        filled("conclusion.statement", &report.conclusion.statement)?;
        filled("rationale.summary", &report.rationale.summary)?;
        if report.conclusion.outcome == Outcome::NeedInfo {
            let reason = report.conclusion.reason.as_deref().unwrap_or_default();
            filled("conclusion.reason", reason)
                .map_err(|fault| format!("{fault}; need-info needs it"))?;
        }
        report.names_mut().for_each(|text| {
            if let Some(letter) = letter(text, letters) {
                *text = letter.to_string();
            }
        });
        Ok(())
    })
}

fn filled(path: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("{path}: empty")) } else { Ok(()) }
}

/// Returns the letter meant by `A`, `a`, `[A]` or `Opinion A`, if it was shown.
pub(super) fn letter(text: &str, shown: &[char]) -> Option<char> {
    let is_wrapping = |letter: char| !letter.is_alphanumeric();
    let lower = text.trim_matches(is_wrapping).to_lowercase();
    let noun = LETTER_NOUNS
        .iter()
        .find_map(|noun| lower.strip_prefix(noun).filter(|rest| rest.starts_with(is_wrapping)));
    let mut letters = noun.unwrap_or(&lower).trim_matches(is_wrapping).chars();
    let (only, None) = (letters.next()?, letters.next()) else { return None };
    shown.iter().copied().find(|letter| letter.eq_ignore_ascii_case(&only))
}

fn listed(letters: &[char]) -> String {
    letters.iter().map(char::to_string).collect::<Vec<_>>().join(", ")
}
