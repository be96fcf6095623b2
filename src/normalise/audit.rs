//! Parses the Blind Critic's reply: `PASS` alone, or lines of `FLAG`.
//!
//! Parsing is strict because the reply decides: any other text neither passes the conclusion nor
//! names an error in it.

use super::coerce::quoted;
use super::reading::{Normalised, Read, Unreadable};
use super::reply::{refused_or, said};
use super::think::without_closed_thinking;
use crate::domain::conclusion::{Audit, Auditor, Field, Objection};

/// Five fields allow few objections each; more lines are not a list of objections.
const FLAGS_MAX: usize = 50;

/// An objection is a sentence or two; it is shown in full and sent to the reviser.
const OBJECTION_CHARS_MAX: usize = 2_000;

/// Placeholder texts from the instructions.
const PLACEHOLDERS: [&str; 10] = [
    "exact objection",
    "objection",
    "the objection",
    "your objection",
    "the exact objection",
    "exact objection here",
    "objection here",
    "objection text",
    "n/a",
    "none",
];

const BOTH: &str = "both PASS and FLAG";

pub fn audit(reply: &str) -> Normalised<Audit> {
    let said = said(reply)?;
    let document = verdict(&said).map_err(|reason| fault(&said, reason))?;
    if document == Audit::Pass && is_flagged(reply) {
        return Err(Unreadable::new(BOTH));
    }
    Ok(Read { document, repaired: false, truncated: false })
}

/// Whether the reply flags something outside closed thinking blocks. Text before a lone closing tag
/// may be thinking, or an objection that quotes the tag; in doubt it is not a PASS.
fn is_flagged(reply: &str) -> bool {
    without_closed_thinking(reply).text.lines().any(|line| flag(line.trim()).is_ok())
}

fn fault(said: &str, reason: String) -> Unreadable {
    let is_verdict = said.starts_with("PASS") || said.starts_with("FLAG");
    if is_verdict { Unreadable::new(reason) } else { refused_or(said, reason) }
}

fn verdict(said: &str) -> Result<Audit, String> {
    if said == "PASS" {
        return Ok(Audit::Pass);
    }
    let lines: Vec<(usize, &str)> =
        said.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    let has = |word: &str| lines.iter().any(|(_, line)| line.trim().starts_with(word));
    match (has("PASS"), has("FLAG:")) {
        (true, true) => return Err(BOTH.to_owned()),
        (true, false) => return Err("PASS, but not PASS alone".to_owned()),
        (false, false) => return Err("neither PASS nor FLAG".to_owned()),
        (false, true) => {}
    }
    if lines.len() > FLAGS_MAX {
        return Err(format!("{} lines, over {FLAGS_MAX}", lines.len()));
    }
    let mut objections: Vec<Objection> = Vec::new();
    for (index, line) in lines {
        let objection =
            flag(line.trim()).map_err(|reason| format!("line {}: {reason}", index + 1))?;
        if !objections.contains(&objection) {
            objections.push(objection);
        }
    }
    Ok(Audit::Flag { objections })
}

/// Parses `FLAG: <field> - <objection>`.
fn flag(line: &str) -> Result<Objection, String> {
    let rest = line.strip_prefix("FLAG:").ok_or("no FLAG")?;
    let (field, objection) =
        rest.split_once(['-', '–', '—']).ok_or("no dash between field and objection")?;
    let field = named(field).ok_or_else(|| {
        let fields = Field::ALL.iter().map(|field| field.name()).collect::<Vec<_>>().join(", ");
        format!("{} is not one of {fields}", quoted(field))
    })?;
    let objection = objection.trim();
    if !objection.chars().any(char::is_alphanumeric) {
        return Err("no objection".to_owned());
    }
    let bare = objection.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    if PLACEHOLDERS.contains(&bare.as_str()) {
        return Err(format!("{} is no objection", quoted(objection)));
    }
    if objection.chars().nth(OBJECTION_CHARS_MAX).is_some() {
        return Err(format!("an objection of over {OBJECTION_CHARS_MAX} characters"));
    }
    Ok(Objection { field, objection: objection.to_owned(), by: Auditor::Critic })
}

/// Parses a field name in any case, with spaces, in brackets or backticks.
fn named(field: &str) -> Option<Field> {
    let plain =
        field.trim_matches(|letter: char| letter.is_whitespace() || "[]`\"'*".contains(letter));
    let words: Vec<&str> = plain.split(|c: char| c.is_whitespace() || c == '_').collect();
    Field::named(&words.join("_").to_lowercase())
}
