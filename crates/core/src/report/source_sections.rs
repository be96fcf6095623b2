//! Graph and provenance as parts of a page: every reference between entities, and for every entity
//! the passage of the reply that it comes from. A file needs no script to show them.

use crate::model::entity::{Entity, EntityReference};
use crate::model::ids::EntityId;
use crate::model::string_enum::StringEnum;
use crate::protocols::conclusion::types::ConclusionField;
use crate::report::page::{
    ColumnKind, ListItem, PageBlock, PageSection, PageTable, QuoteBar, RichText, TableColumn,
    TableRow, TextTone,
};
use crate::report::provenance::{ProvenanceInput, ProvenanceSource, ProvenanceTarget};

/// Entities whose passages a file lists; a longer record would be mostly passages.
const LISTED_ENTITIES_MAX: usize = 1_000;

/// The references between entities, one row each.
pub fn graph_section(entities: &[&Entity]) -> Option<PageSection> {
    let row = |source: EntityId, made: &EntityReference| {
        TableRow::new(vec![id_text(source), made.ref_type.name().into(), id_text(made.target)])
    };
    let rows: Vec<TableRow> = entities
        .iter()
        .flat_map(|entity| entity.references.iter().map(|made| row(entity.id, made)))
        .collect();
    let columns = ["From", "Reference", "To"];
    let columns = columns.map(|heading| TableColumn::new(heading, ColumnKind::Short)).to_vec();
    let note = rows.len().to_string();
    let table = PageBlock::Table(PageTable { columns, rows });
    let is_empty = note == "0";
    (!is_empty).then(|| PageSection::new("Graph", vec![table]).with_note(note).folded())
}

/// The passages of conclusion and entities, with call and journal entry.
pub fn provenance_section(input: &ProvenanceInput<'_>) -> Option<PageSection> {
    let fields = ConclusionField::options().into_iter().map(|field| format!("conclusion.{field}"));
    let entities = input.record.all_entities().map(|entity| entity.id.to_string());
    let targets: Vec<String> = fields.chain(entities).take(LISTED_ENTITIES_MAX).collect();
    let sections: Vec<PageSection> =
        targets.iter().filter_map(|target| target_section(input, target)).collect();
    let note = sections.len().to_string();
    let all = PageSection::new("Sources", Vec::new()).with_note(note).folded();
    (!sections.is_empty()).then(|| all.with_sections(sections))
}

fn target_section(input: &ProvenanceInput<'_>, target: &str) -> Option<PageSection> {
    let found = input.find(&ProvenanceTarget::parse(target)?)?;
    let blocks: Vec<PageBlock> = found.sources.iter().flat_map(source_blocks).collect();
    (!blocks.is_empty()).then(|| PageSection::new(target, blocks))
}

fn source_blocks(source: &ProvenanceSource) -> Vec<PageBlock> {
    let call = source.call.map_or("a registered reply".to_owned(), |call| format!("call {call}"));
    let place = format!("characters {} to {}", source.start, source.end);
    let mut fields = vec![
        ListItem::new("Reply", format!("{} in round {}, {call}", source.seat, source.round)),
        ListItem::new(
            "Passage",
            if source.quote.is_empty() { "not word by word".to_owned() } else { place },
        ),
    ];
    if let (Some(seq), Some(hash)) = (source.journal_seq, &source.hash) {
        fields.push(ListItem::new("Journal", format!("entry {seq}, {hash}")));
    }
    let quote =
        PageBlock::barred(&source.quote, QuoteBar { tone: TextTone::Faint, is_heavy: false });
    let quote = (!source.quote.is_empty()).then_some(quote);
    [PageBlock::Fields(fields)].into_iter().chain(quote).collect()
}

fn id_text(id: EntityId) -> RichText {
    RichText::toned(id.to_string(), TextTone::Id)
}
