//! Objections of the Blind Critic, and the changes that followed.

use super::difference;
use crate::domain::conclusion::{Conclusion, Objection};
use crate::export::conclusion::{Audited, Ended, field_name, objects};
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, hanging, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::wrap_text;

/// Wording of the seed specification.
const TITLE: &str = "View the objection and revision";

/// Objections to the first version; nothing if the critic passed it.
pub(super) fn of_revised(ended: &Ended, mended: &Conclusion, canvas: Canvas) -> Vec<Line> {
    first(TITLE, ended, mended, canvas)
}

/// Objections to a draft that was not revised yet.
pub(super) fn of_draft(ended: &Ended, draft: &Conclusion, canvas: Canvas) -> Vec<Line> {
    first("OBJECTIONS", ended, draft, canvas)
}

fn first(title: &str, ended: &Ended, mended: &Conclusion, canvas: Canvas) -> Vec<Line> {
    let Some(audit) = ended.audit.as_ref().filter(|audit| !audit.objections.is_empty()) else {
        return Vec::new();
    };
    let mut lines = heading(title, "", canvas);
    lines.extend(list("", &audit.objections, canvas));
    lines.extend(changes(audit, mended, canvas));
    lines
}

/// Objections of both audits, and the changes between them.
pub(super) fn of_rejected(ended: &Ended, draft: &Conclusion, canvas: Canvas) -> Vec<Line> {
    let Some(audit) = &ended.audit else { return Vec::new() };
    let mut lines = heading("OBJECTIONS", "", canvas);
    lines.extend(list("At first sight", &audit.objections, canvas));
    lines.extend(changes(audit, draft, canvas));
    lines.push(Line::blank());
    lines.extend(list("After the revision", &audit.second_objections, canvas));
    lines
}

fn list(title: &str, objections: &[Objection], canvas: Canvas) -> Vec<Line> {
    let mut lines = Vec::new();
    if !title.is_empty() {
        lines.push(Line::indented(MARGIN).styled(title, FAINT));
    }
    for objection in objections {
        let lead = Line::indented(MARGIN).styled("! ", CAUTION);
        let lead = lead.styled(field_name(objection.field), STRONG);
        let indent = MARGIN * 2;
        let room = canvas.measure() - indent;
        let told = wrap_text(&objects(objection), room);
        lines.push(lead);
        lines.extend(hanging(Line::indented(indent), &told, PLAIN));
    }
    lines
}

/// Draws the old and new text of each changed field.
fn changes(audit: &Audited, mended: &Conclusion, canvas: Canvas) -> Vec<Line> {
    let Some(original) = &audit.original else { return Vec::new() };
    let fields = original.differing(mended);
    let mut lines = vec![Line::blank(), Line::indented(MARGIN).styled("What changed", FAINT)];
    if fields.is_empty() {
        lines.push(Line::indented(MARGIN).styled("nothing", BAD));
    }
    for field in fields {
        lines.push(Line::indented(MARGIN).styled(field_name(field), STRONG));
        lines.extend(difference::draw(original, mended, field, canvas));
    }
    lines
}
