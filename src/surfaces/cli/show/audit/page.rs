//! Sections of the `audit` page, in order.

use super::{head, tables};
use crate::operations::AuditResult;
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::join_sections;

pub(crate) fn draw_audit_page(audited: &AuditResult, canvas: PageCanvas) -> String {
    let audit = &audited.audit;
    join_sections(&[
        head::draw_audit_head(audited, canvas),
        tables::draw_drift(audit, canvas),
        tables::draw_by_type(audit, canvas),
        tables::draw_by_producer(audit, canvas),
        tables::draw_by_week(audit, canvas),
        tables::draw_deliberators(audit, canvas),
        tables::draw_mind_changes(audit, canvas),
        tables::draw_scores(audit, canvas),
        tables::draw_overrides(audit, canvas),
    ])
}
