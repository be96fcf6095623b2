//! Sections of the `audit` page, in order.

use super::{head, tables};
use crate::operations::Audited;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::text_of;

pub(crate) fn draw(audited: &Audited, canvas: Canvas) -> String {
    let audit = &audited.audit;
    text_of(&[
        head::draw(audited, canvas),
        tables::drift(audit, canvas),
        tables::by_type(audit, canvas),
        tables::by_producer(audit, canvas),
        tables::by_week(audit, canvas),
        tables::deliberators(audit, canvas),
        tables::change(audit, canvas),
        tables::scores(audit, canvas),
        tables::overrides(audit, canvas),
    ])
}
