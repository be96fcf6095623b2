//! Graph and provenance as parts of a page: every reference between entities, and for every entity
//! the passage of the reply that it comes from. A file needs no script to show them.

use crate::model::entity::{Entity, EntityReference};
use crate::model::ids::{ClaimSource, EntityId};
use crate::model::record::DialogueRecord;
use crate::model::string_enum::StringEnum;
use crate::protocols::conclusion::types::ConclusionField;
use crate::report::graph::graph_document;
use crate::report::graph_drawing::nearest_part;
use crate::report::page::{
    ColumnKind, DrawnGraph, ListItem, PageBlock, PageSection, PageTable, ReplyPassage, RichText,
    TableColumn, TableRow, TextTone,
};
use crate::report::provenance::{ProvenanceInput, ProvenanceSource, ProvenanceTarget, verdict_ids};

/// Entities whose passages a file lists; a longer record would be mostly passages.
const LISTED_ENTITIES_MAX: usize = 1_000;

/// Entities that a drawing has; more boxes no eye follows.
const DRAWN_ENTITIES_MAX: usize = 120;

/// The references between entities: a drawing, and a table with one row each.
pub fn graph_section(record: &DialogueRecord) -> Option<PageSection> {
    let entities: Vec<&Entity> = record.all_entities().collect();
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
    let blocks = || drawing_blocks(record).into_iter().chain([table]).collect();
    (!is_empty).then(|| PageSection::new("Graph", blocks()).with_note(note).folded())
}

/// The drawing, and what it leaves out.
fn drawing_blocks(record: &DialogueRecord) -> Vec<PageBlock> {
    let graph = graph_document(record);
    let part = nearest_part(&graph, &named_entities(record), DRAWN_ENTITIES_MAX);
    let (drawn, all) = (part.nodes.len(), graph.nodes.len());
    let mut about =
        "A line leads from an entity to the one it refers to. It is dashed if the entity \
        opposes, questions or reopens the other."
            .to_owned();
    if drawn < all {
        about.push_str(&format!(
            " The drawing has {drawn} of {all} entities: those that the result names, and their \
             neighbours. The table has every reference."
        ));
    }
    vec![
        PageBlock::Paragraph(about.into()),
        PageBlock::Graph(DrawnGraph { first: part, all: graph }),
    ]
}

/// The entities that verdicts and conclusion name.
fn named_entities(record: &DialogueRecord) -> Vec<EntityId> {
    let verdicts = record.verdicts.iter().flat_map(|given| verdict_ids(&given.verdict)).copied();
    let conclusion = record.conclusion.iter().map(|concluded| &concluded.ending.conclusion);
    let points = conclusion.flat_map(|conclusion| &conclusion.unresolved_points);
    let cited = points.flat_map(|point| &point.claims).filter_map(|claim| match &claim.id {
        ClaimSource::Entity(id) => Some(*id),
        ClaimSource::Verdict(_) => None,
    });
    verdicts.chain(cited).collect()
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
    let is_same_reply = |one: &ProvenanceSource, other: &ProvenanceSource| {
        (one.call, &one.seat, one.round) == (other.call, &other.seat, other.round)
    };
    let blocks: Vec<PageBlock> = found
        .sources
        .chunk_by(is_same_reply)
        .flat_map(|reply| reply_blocks(input, reply))
        .collect();
    let section =
        PageSection { source_of: Some(target.to_owned()), ..PageSection::new(target, blocks) };
    (!section.blocks.is_empty()).then_some(section)
}

/// The passages of one reply, and where the reply is recorded.
fn reply_blocks(input: &ProvenanceInput<'_>, passages: &[ProvenanceSource]) -> Vec<PageBlock> {
    let Some(first) = passages.first() else { return Vec::new() };
    let call = first.call.map_or("a registered reply".to_owned(), |call| format!("call {call}"));
    let reply = format!("{} in round {}, {call}", first.seat, first.round);
    let mut fields = vec![ListItem::new("Reply", reply)];
    if let (Some(seq), Some(hash)) = (first.journal_seq, &first.hash) {
        fields.push(ListItem::new("Journal", format!("entry {seq}, {hash}")));
    }
    [PageBlock::Fields(fields)]
        .into_iter()
        .chain(passages.iter().flat_map(|passage| passage_blocks(input, passage)))
        .collect()
}

fn passage_blocks(input: &ProvenanceInput<'_>, source: &ProvenanceSource) -> Vec<PageBlock> {
    if source.quote.is_empty() {
        return vec![PageBlock::Facts(vec!["the reply says it in other words".into()])];
    }
    let place = format!("characters {} to {}", source.start, source.end);
    let [before, after] = input.context_of(source, CONTEXT_CHARS);
    let (before, after) = (cut_before(before), cut_after(after));
    let passage = ReplyPassage { before, passage: source.quote.clone(), after };
    vec![PageBlock::Facts(vec![place.into()]), PageBlock::Passage(passage)]
}

/// Text around a passage: enough to see where the reply says it.
const CONTEXT_CHARS: usize = 160;

/// A text that goes on is shown with an ellipsis.
fn cut_before(text: String) -> String {
    if text.chars().count() < CONTEXT_CHARS { text } else { format!("…{text}") }
}

fn cut_after(text: String) -> String {
    if text.chars().count() < CONTEXT_CHARS { text } else { format!("{text}…") }
}

fn id_text(id: EntityId) -> RichText {
    RichText::toned(id.to_string(), TextTone::Id)
}
