//! Objections of the Blind Critic, and the changes that followed.

use super::difference;
use crate::domain::conclusion::{AuditObjection, Conclusion};
use crate::export::conclusion::{AuditView, ConclusionView, field_name, objection_text};
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, hang_block};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::wrap_text;

/// Wording of the seed specification.
const REVISION_TITLE: &str = "View the objection and revision";

/// Objections to the first version; nothing if the critic passed it.
pub(super) fn draw_revision(
    ended: &ConclusionView,
    mended: &Conclusion,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    draw_first_objections(REVISION_TITLE, ended, mended, canvas)
}

/// Objections to a draft that was not revised yet.
pub(super) fn draw_draft_objections(
    ended: &ConclusionView,
    draft: &Conclusion,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    draw_first_objections("OBJECTIONS", ended, draft, canvas)
}

fn draw_first_objections(
    title: &str,
    ended: &ConclusionView,
    mended: &Conclusion,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let Some(audit) = ended.audit.as_ref().filter(|audit| !audit.objections.is_empty()) else {
        return Vec::new();
    };
    let mut lines = draw_heading(title, "", canvas);
    lines.extend(list_objections("", &audit.objections, canvas));
    lines.extend(draw_changes(audit, mended, canvas));
    lines
}

/// Objections of both audits, and the changes between them.
pub(super) fn draw_rejections(
    ended: &ConclusionView,
    draft: &Conclusion,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let Some(audit) = &ended.audit else { return Vec::new() };
    let mut lines = draw_heading("OBJECTIONS", "", canvas);
    lines.extend(list_objections("At first sight", &audit.objections, canvas));
    lines.extend(draw_changes(audit, draft, canvas));
    lines.push(StyledLine::blank());
    lines.extend(list_objections("After the revision", &audit.second_objections, canvas));
    lines
}

fn list_objections(
    title: &str,
    objections: &[AuditObjection],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    if !title.is_empty() {
        lines.push(StyledLine::with_indent(MARGIN).push_styled(title, FAINT));
    }
    for objection in objections {
        let lead = StyledLine::with_indent(MARGIN).push_styled("! ", CAUTION);
        let lead = lead.push_styled(field_name(objection.field), STRONG);
        let indent = MARGIN * 2;
        let room = canvas.text_width() - indent;
        let told = wrap_text(&objection_text(objection), room);
        lines.push(lead);
        lines.extend(hang_block(StyledLine::with_indent(indent), &told, PLAIN));
    }
    lines
}

/// Draws the old and new text of each changed field.
fn draw_changes(audit: &AuditView, mended: &Conclusion, canvas: PageCanvas) -> Vec<StyledLine> {
    let Some(original) = &audit.original else { return Vec::new() };
    let fields = original.differing_fields(mended);
    let mut lines = vec![
        StyledLine::blank(),
        StyledLine::with_indent(MARGIN).push_styled("What changed", FAINT),
    ];
    if fields.is_empty() {
        lines.push(StyledLine::with_indent(MARGIN).push_styled("nothing", BAD));
    }
    for field in fields {
        lines.push(StyledLine::with_indent(MARGIN).push_styled(field_name(field), STRONG));
        lines.extend(difference::draw_difference(original, mended, field, canvas));
    }
    lines
}
