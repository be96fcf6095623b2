//! The record as JSON lines for the synthesizer: one line per round, entity, move and verdict.
//!
//! A round can be rendered in less detail. **Invariant:** at every level of detail, each open
//! tension is named.

use serde_json::{Value, json};

use crate::model::entity::{Entity, ExpertMove};
use crate::model::ids::EntityKind;
use crate::model::lifecycle::ACTIVE_TENSION_STATUSES;
use crate::model::record::{DialogueRecord, RecordedVerdict, RoundRecord};
use crate::prompting::condense::{map_texts, truncate_to_fit};
use crate::prompting::neutralize::neutralize_text;

/// How much of a round is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetailLevel {
    Whole,
    /// Each text cut to head and tail, with this limit in bytes.
    Texts(usize),
    /// Ids and labels, without texts.
    Labels,
    /// Open tensions only, with labels cut to this length.
    OpenTensions {
        label_chars: usize,
    },
}

#[derive(Debug)]
pub(crate) struct RecordDigest<'a> {
    record: &'a DialogueRecord,
    rounds: Vec<DigestPart>,
    verdicts: DigestPart,
}

/// Some lines, with their length after escaping.
#[derive(Debug)]
struct DigestPart {
    text: String,
    escaped_bytes: usize,
}

impl DigestPart {
    fn new(lines: &[String]) -> Self {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Self { escaped_bytes: neutralize_text(&text).len(), text }
    }
}

impl DetailLevel {
    /// The note on rounds that were rendered at this level.
    pub(crate) fn describe_cut(self, rounds: &[u8]) -> String {
        let rounds = match rounds {
            [] => String::new(),
            [one] => format!("round {one} was cut"),
            [first, .., last] => format!("rounds {first} to {last} were cut"),
        };
        match self {
            Self::Whole => rounds,
            Self::Texts(bytes) => format!("texts over {bytes} bytes were cut, head and tail kept"),
            Self::Labels => format!("{rounds} to labels"),
            Self::OpenTensions { label_chars } => format!(
                "{rounds} to their open tensions, with {label_chars} characters of each label"
            ),
        }
    }
}

impl<'a> RecordDigest<'a> {
    pub(crate) fn from_record(record: &'a DialogueRecord) -> Self {
        let rounds =
            record.rounds.iter().map(|round| render_round(record, round, DetailLevel::Whole));
        let verdicts = DigestPart::new(&verdict_lines(&record.verdicts, None));
        Self { record, rounds: rounds.collect(), verdicts }
    }

    pub(crate) fn full_text(&self) -> String {
        let text: String = self.all_parts().map(|part| part.text.as_str()).collect();
        text.trim_end().to_owned()
    }

    /// Whether the digest takes at most this many bytes after escaping.
    pub(crate) fn fits_bytes(&self, room: usize) -> bool {
        self.all_parts().map(|part| part.escaped_bytes).sum::<usize>() <= room
    }

    /// Length before escaping.
    pub(crate) fn plain_bytes(&self) -> usize {
        self.all_parts().map(|part| part.text.len()).sum()
    }

    fn all_parts(&self) -> impl Iterator<Item = &DigestPart> {
        self.rounds.iter().chain([&self.verdicts])
    }

    /// The round numbers: the newest round with entities, and all others.
    pub(crate) fn newest_and_older(&self) -> (Option<u8>, Vec<u8>) {
        let rounds = self.record.rounds.iter().map(|round| round.round);
        let has_entities = |round: &u8| {
            EntityKind::ALL
                .iter()
                .any(|kind| !self.record.entities_of_round(*kind, *round).is_empty())
        };
        let newest = rounds.clone().filter(has_entities).max();
        (newest, rounds.filter(|round| Some(*round) != newest).collect())
    }

    /// Renders a round again at another level of detail.
    pub(crate) fn rerender_round(&mut self, round: u8, detail: DetailLevel) {
        let rounds = self.record.rounds.iter().zip(&mut self.rounds);
        for (held, part) in rounds.filter(|(held, _)| held.round == round) {
            *part = render_round(self.record, held, detail);
        }
    }

    /// Cuts longer texts of the verdicts.
    pub(crate) fn shorten_verdicts(&mut self, bytes_max: usize) {
        self.verdicts = DigestPart::new(&verdict_lines(&self.record.verdicts, Some(bytes_max)));
    }
}

fn render_round(record: &DialogueRecord, round: &RoundRecord, detail: DetailLevel) -> DigestPart {
    let entities: Vec<&Entity> = EntityKind::ALL
        .iter()
        .flat_map(|kind| record.entities_of_round(*kind, round.round))
        .collect();
    let kept: Vec<&Entity> = match detail {
        DetailLevel::Whole | DetailLevel::Texts(_) | DetailLevel::Labels => entities.clone(),
        DetailLevel::OpenTensions { .. } => {
            entities.iter().copied().filter(|entity| is_open(entity)).collect()
        }
    };
    let left_out = entities.len() - kept.len();
    let mut lines = vec![round_line(round, detail, left_out)];
    lines.extend(kept.into_iter().map(|entity| entity_line(entity, detail)));
    if matches!(detail, DetailLevel::Whole | DetailLevel::Texts(_)) {
        let moves = record.moves.iter().filter(|made| made.round == round.round);
        lines.extend(moves.map(|made| move_line(made, detail)));
    }
    DigestPart::new(&lines)
}

fn is_open(entity: &Entity) -> bool {
    entity.id.kind == EntityKind::Tension && ACTIVE_TENSION_STATUSES.contains(&entity.status)
}

fn round_line(round: &RoundRecord, detail: DetailLevel, left_out: usize) -> String {
    // Tells the reader that parts were cut, so that they are not taken for missing.
    let condensed = match detail {
        DetailLevel::Whole | DetailLevel::Texts(_) => None,
        DetailLevel::Labels => Some("labels only".to_owned()),
        DetailLevel::OpenTensions { .. } => {
            Some(format!("open tensions only, {left_out} other entities left out"))
        }
    };
    to_json_line(json!({
        "round": round.round,
        "title": round.title,
        "summary": round.summary.as_deref().and_then(|text| text_at_detail(text, detail)),
        "condensed": condensed,
    }))
}

fn entity_line(entity: &Entity, detail: DetailLevel) -> String {
    let is_full = matches!(detail, DetailLevel::Whole | DetailLevel::Texts(_));
    let (kind, label_chars) = match detail {
        DetailLevel::Whole | DetailLevel::Texts(_) | DetailLevel::Labels => {
            (Some(entity.id.kind.type_name()), usize::MAX)
        }
        // The round's line already says that these are tensions.
        DetailLevel::OpenTensions { label_chars } => (None, label_chars),
    };
    let label: String = entity.label.chars().take(label_chars).collect();
    let references = Some(&entity.references).filter(|made| is_full && !made.is_empty());
    to_json_line(json!({
        "id": entity.id,
        "kind": kind,
        "agents": entity.contributors,
        "status": entity.status,
        "label": Some(label).filter(|label| !label.is_empty()),
        "text": text_at_detail(&entity.text, detail),
        "parameters": entity.parameters.as_ref().filter(|_| is_full),
        "references": references,
    }))
}

fn move_line(made: &ExpertMove, detail: DetailLevel) -> String {
    to_json_line(json!({
        "move": made.move_type,
        "agent": made.expert,
        "targets": made.targets,
        "context": made.context.as_deref().and_then(|text| text_at_detail(text, detail)),
    }))
}

fn verdict_lines(verdicts: &[RecordedVerdict], bytes_max: Option<usize>) -> Vec<String> {
    let lines = verdicts.iter().map(|given| {
        let mut verdict = serde_json::to_value(&given.verdict).unwrap_or_default();
        if let Some(bytes_max) = bytes_max {
            map_texts(&mut verdict, &|text| truncate_to_fit(text, bytes_max));
        }
        to_json_line(verdict)
    });
    lines.collect()
}

fn text_at_detail(text: &str, detail: DetailLevel) -> Option<String> {
    match detail {
        DetailLevel::Whole => Some(text.to_owned()),
        DetailLevel::Texts(bytes_max) if text.len() <= bytes_max => Some(text.to_owned()),
        DetailLevel::Texts(bytes_max) => Some(truncate_to_fit(text, bytes_max)),
        DetailLevel::Labels | DetailLevel::OpenTensions { .. } => None,
    }
}

/// One line of JSON without empty fields.
pub(crate) fn to_json_line(mut line: Value) -> String {
    if let Value::Object(fields) = &mut line {
        fields.retain(|_, value| !value.is_null());
    }
    line.to_string()
}
