//! Stub until the reader of endings is merged.
use super::reading::{Normalised, Read, Unreadable};
use crate::domain::conclusion::{Audit, Auditor, Conclusion, Field, Grounds, Objection};
pub fn restatement(reply: &str) -> Normalised<String> {
    Ok(Read { document: reply.trim().to_owned(), repaired: false })
}
pub fn audit(reply: &str) -> Normalised<Audit> {
    let text = reply.trim();
    if text == "PASS" {
        return Ok(Read { document: Audit::Pass, repaired: false });
    }
    let mut objections = Vec::new();
    for line in text.lines() {
        let parsed = line.strip_prefix("FLAG: ").and_then(|rest| rest.split_once(" - "));
        let Some((field, objection)) = parsed.and_then(|(f, o)| Some((Field::named(f)?, o))) else {
            return Err(Unreadable::new("neither PASS nor FLAG"));
        };
        objections.push(Objection { field, objection: objection.to_owned(), by: Auditor::Critic });
    }
    Ok(Read { document: Audit::Flag { objections }, repaired: false })
}
pub fn conclusion(reply: &str, grounds: &Grounds<'_>) -> Normalised<Conclusion> {
    let mut document: Conclusion =
        serde_json::from_str(reply).map_err(|e| Unreadable::new(e.to_string()))?;
    document.participants = grounds.participants.to_vec();
    Ok(Read { document, repaired: false })
}
pub fn revision(
    reply: &str,
    original: &Conclusion,
    fields: &[Field],
    grounds: &Grounds<'_>,
) -> Normalised<Conclusion> {
    let read = conclusion(reply, grounds)?;
    Ok(Read { document: original.with(fields, &read.document), repaired: false })
}
