//! The markers that `extract` found in a reply, as a table.

use crate::markers::extraction::{MarkerContent, ReplyExtraction};
use crate::model::ids::{EntityKind, EntityTarget};
use crate::report::phrases::count_noun;
use crate::report::terminal::layout::TextTable;

/// Draws a line of counts and a row per marker.
pub fn draw_marker_table(reply: &ReplyExtraction, width: usize) -> String {
    let head = format!("{}, round {}: {}\n", reply.expert, reply.round, count_markers(reply));
    if reply.markers.is_empty() {
        return head;
    }
    let mut table = TextTable::new(&["LINE", "MARKER", "OF", "SAYS"]);
    for marker in &reply.markers {
        let [what, of, says] = marker_cells(&marker.content);
        table.add_row([marker.line.to_string(), what, of, says]);
    }
    format!("{head}\n{}", table.draw_table(width))
}

fn count_markers(reply: &ReplyExtraction) -> String {
    let entities = EntityKind::ALL.iter().map(|kind| match (reply.of_kind(*kind).count(), *kind) {
        // `evidence` has no plural.
        (0, _) => String::new(),
        (count, EntityKind::Evidence) => format!("{count} evidence"),
        (count, kind) => count_noun(count, kind.type_name()),
    });
    let references = reply.contributions.iter().map(|item| item.references.len()).sum();
    let others =
        [(references, "reference"), (reply.moves.len(), "move"), (reply.verdicts.len(), "verdict")];
    let others = others.into_iter().map(|(count, noun)| match count {
        0 => String::new(),
        count => count_noun(count, noun),
    });
    let said: Vec<String> = entities.chain(others).filter(|said| !said.is_empty()).collect();
    if said.is_empty() { "nothing marked".to_owned() } else { said.join(", ") }
}

fn marker_cells(said: &MarkerContent) -> [String; 3] {
    let ids = |targets: &[EntityTarget]| {
        targets.iter().map(EntityTarget::to_string).collect::<Vec<_>>().join(" ")
    };
    match said {
        MarkerContent::Entity { id, label, .. } => {
            [id.kind.type_name().to_owned(), id.to_string(), label.clone()]
        }
        MarkerContent::Reference { source, ref_type, targets } => {
            [ref_type.to_string(), source.to_string(), ids(targets)]
        }
        MarkerContent::Move { move_type, targets, topic } => {
            let says = topic.clone().unwrap_or_else(|| ids(targets));
            [move_type.to_string(), "move".to_owned(), says]
        }
        MarkerContent::Verdict { verdict_type, label } => {
            [verdict_type.to_string(), "verdict".to_owned(), label.clone().unwrap_or_default()]
        }
    }
}
