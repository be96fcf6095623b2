//! The page of one verdict of the log, which may come from another store.

use crate::protocols::review::log_row::{LogRow, RecordedOverride, SeatRow};
use crate::report::marks::{deliberator_mark, review_mark};
use crate::report::page::{
    ColumnKind, PageBlock, PageModel, PageSection, PageTable, RichText, TableColumn, TableRow,
    TextTone,
};
use crate::report::record_page::caution_block;

/// The decision in force comes first, then the brief and each deliberator's last judgement.
pub fn verdict_page(row: &LogRow, overridden: Option<&RecordedOverride>) -> PageModel {
    let gate = row.adjudicator.final_verdict;
    let standing = overridden.map_or(gate, |word| word.decision.into());
    let mut health = Vec::new();
    health.extend(overridden.map(|_| format!("OVERRIDDEN, the gate said {gate}")));
    health.extend(row.rehearsal.then(|| "REHEARSAL".to_owned()));
    health.extend(row.imported.then(|| "IMPORTED".to_owned()));
    let mut summary = vec![row.artifact_type.clone(), row.ts.format_minute()];
    summary.extend(row.producer.as_ref().map(|producer| format!("made by {producer}")));
    summary.extend(row.verdict_id.clone());
    let by = |word: &RecordedOverride| {
        let person = word.by.as_deref().unwrap_or("a person");
        caution_block(&format!("{person} decided {}: {}", word.decision, word.why))
    };
    let prose = |title: &str, text: &str| {
        let is_given = !text.trim().is_empty();
        PageSection::new(title, is_given.then(|| PageBlock::prose(text)).into_iter().collect())
    };
    PageModel {
        kind: "Verdict",
        title: row.artifact.clone(),
        state: RichText::marked(review_mark(standing), standing.name()),
        health,
        summary,
        intro: overridden.map(by).into_iter().collect(),
        sections: vec![
            prose("Revision brief", &row.adjudicator.revision_brief),
            prose("Reasoning", &row.adjudicator.reasoning),
            deliberators_section(row),
        ],
        ..PageModel::default()
    }
}

fn deliberators_section(row: &LogRow) -> PageSection {
    let last_of = |first: &SeatRow| {
        let second = row.round2.iter().find(|seat| seat.deliberator() == first.deliberator());
        seat_row(second.filter(|seat| seat.judgement().is_some()).unwrap_or(first))
    };
    let rows: Vec<TableRow> = row.round1.iter().map(last_of).collect();
    let columns = [
        ("Deliberator", ColumnKind::Short),
        ("verdict", ColumnKind::Short),
        ("blocks", ColumnKind::Short),
        ("brief", ColumnKind::Below),
    ];
    let columns = columns.map(|(heading, kind)| TableColumn::new(heading, kind)).into();
    let table = (!rows.is_empty()).then_some(PageBlock::Table(PageTable { columns, rows }));
    PageSection::new("Deliberators", table.into_iter().collect())
}

fn seat_row(seat: &SeatRow) -> TableRow {
    let name = seat.deliberator().into();
    let Some(judged) = seat.judgement() else {
        let absent = RichText::toned("absent", TextTone::Bad);
        return TableRow::new(vec![name, absent, RichText::default(), RichText::default()]);
    };
    let verdict = RichText::marked(deliberator_mark(judged.verdict), judged.verdict.name());
    let blocks = if judged.would_block { "yes" } else { "no" };
    TableRow::new(vec![name, verdict, blocks.into(), judged.revision_brief.as_str().into()])
}
