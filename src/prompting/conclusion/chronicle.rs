//! The record as JSON lines for the synthesizer: one line per round, entity, move and verdict.
//!
//! A round can be rendered in less detail. **Invariant:** at every level of detail, each open
//! tension is named.

use std::cell::OnceCell;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::entity::Entity;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{ACTIVE_TENSION, Status};
use crate::domain::record::{GivenVerdict, Record, Round};
use crate::domain::reference::{Move, MoveType, Reference};
use crate::prompting::condense::{change_texts, fitting};
use crate::prompting::harmless::harmless;

/// How much of a round is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
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
pub(super) struct Chronicle<'a> {
    record: &'a Record,
    rounds: Vec<Told>,
    verdicts: Told,
}

/// Some lines, with their length after escaping, computed on demand.
#[derive(Debug)]
struct Told {
    text: String,
    shown_bytes: OnceCell<usize>,
}

impl Told {
    fn new(lines: &[String]) -> Self {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Self { text, shown_bytes: OnceCell::new() }
    }

    fn shown_bytes(&self) -> usize {
        *self.shown_bytes.get_or_init(|| harmless(&self.text).len())
    }
}

impl<'a> Chronicle<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let rounds = record.rounds.iter().map(|round| told(record, round, Detail::Whole));
        let verdicts = Told::new(&verdict_lines(&record.verdicts, None));
        Self { record, rounds: rounds.collect(), verdicts }
    }

    pub(super) fn text(&self) -> String {
        let text: String = self.told().map(|told| told.text.as_str()).collect();
        text.trim_end().to_owned()
    }

    /// Whether the digest takes at most this many bytes after escaping.
    pub(super) fn fits(&self, room: usize) -> bool {
        // The plain length is a lower bound and cheaper to compute.
        self.plain_bytes() <= room && self.shown_bytes() <= room
    }

    /// Length before escaping.
    pub(super) fn plain_bytes(&self) -> usize {
        self.told().map(|told| told.text.len()).sum()
    }

    fn shown_bytes(&self) -> usize {
        self.told().map(Told::shown_bytes).sum()
    }

    fn told(&self) -> impl Iterator<Item = &Told> {
        self.rounds.iter().chain([&self.verdicts])
    }

    /// The round numbers: the newest round with entities, and all others.
    pub(super) fn newest_and_older(&self) -> (Option<u8>, Vec<u8>) {
        let rounds = self.record.rounds.iter().map(|round| round.round);
        let has_entities = |round: &u8| {
            EntityKind::ALL.iter().any(|kind| !self.record.entities_of(*kind, *round).is_empty())
        };
        let newest = rounds.clone().filter(has_entities).max();
        (newest, rounds.filter(|round| Some(*round) != newest).collect())
    }

    /// Renders a round again at another level of detail.
    pub(super) fn retell(&mut self, round: u8, detail: Detail) {
        let rounds = self.record.rounds.iter().zip(&mut self.rounds);
        for (held, told) in rounds.filter(|(held, _)| held.round == round) {
            *told = self::told(self.record, held, detail);
        }
    }

    /// Cuts longer texts in these rounds and in the verdicts; returns whether anything was cut.
    pub(super) fn shorten(&mut self, rounds: &[u8], bytes_max: usize) -> bool {
        let before = self.plain_bytes();
        let is_long = |round: &&u8| longest_text(self.record, **round) > bytes_max;
        for round in rounds.iter().filter(is_long).copied().collect::<Vec<_>>() {
            self.retell(round, Detail::Texts(bytes_max));
        }
        self.verdicts = Told::new(&verdict_lines(&self.record.verdicts, Some(bytes_max)));
        self.plain_bytes() < before
    }
}

fn told(record: &Record, round: &Round, detail: Detail) -> Told {
    let entities: Vec<&Entity> =
        EntityKind::ALL.iter().flat_map(|kind| record.entities_of(*kind, round.round)).collect();
    let kept: Vec<&Entity> = match detail {
        Detail::Whole | Detail::Texts(_) | Detail::Labels => entities.clone(),
        Detail::OpenTensions { .. } => {
            entities.iter().copied().filter(|entity| is_open(entity)).collect()
        }
    };
    let left_out = entities.len() - kept.len();
    let mut lines = vec![round_line(round, detail, left_out)];
    lines.extend(kept.into_iter().map(|entity| entity_line(entity, detail)));
    if matches!(detail, Detail::Whole | Detail::Texts(_)) {
        let moves = record.moves.iter().filter(|made| made.round == round.round);
        lines.extend(moves.map(|made| move_line(made, detail)));
    }
    Told::new(&lines)
}

fn longest_text(record: &Record, round: u8) -> usize {
    let entities = EntityKind::ALL.iter().flat_map(|kind| record.entities_of(*kind, round));
    let summaries = record.rounds.iter().filter(|held| held.round == round);
    let moves = record.moves.iter().filter(|made| made.round == round);
    let texts = entities.map(|entity| entity.text.len());
    let texts = texts.chain(summaries.filter_map(|held| Some(held.summary.as_ref()?.len())));
    texts.chain(moves.filter_map(|made| Some(made.context.as_ref()?.len()))).max().unwrap_or(0)
}

fn is_open(entity: &Entity) -> bool {
    entity.id.kind == EntityKind::Tension && ACTIVE_TENSION.contains(&entity.status)
}

#[derive(Serialize)]
struct RoundLine<'a> {
    round: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// Tells the reader that parts were cut, so that they are not taken for missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    condensed: Option<String>,
}

fn round_line(round: &Round, detail: Detail, left_out: usize) -> String {
    let condensed = match detail {
        Detail::Whole | Detail::Texts(_) => None,
        Detail::Labels => Some("labels only".to_owned()),
        Detail::OpenTensions { .. } => {
            Some(format!("open tensions only, {left_out} other entities left out"))
        }
    };
    let summary = round.summary.as_deref().and_then(|text| text_in(text, detail));
    line(&RoundLine { round: round.round, title: round.title.as_deref(), summary, condensed })
}

#[derive(Serialize)]
struct EntityLine<'a> {
    id: EntityId,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    agents: &'a [ExpertSlug],
    status: Status,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a Value>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    references: &'a [Reference],
}

fn entity_line(entity: &Entity, detail: Detail) -> String {
    let (parameters, references) = match detail {
        Detail::Whole | Detail::Texts(_) => {
            (entity.parameters.as_ref(), entity.references.as_slice())
        }
        Detail::Labels | Detail::OpenTensions { .. } => (None, &[][..]),
    };
    let (kind, label) = match detail {
        Detail::Whole | Detail::Texts(_) | Detail::Labels => {
            (Some(entity.id.kind.noun()), entity.label.clone())
        }
        // The round's line already says that these are tensions.
        Detail::OpenTensions { label_chars } => {
            (None, entity.label.chars().take(label_chars).collect())
        }
    };
    line(&EntityLine {
        id: entity.id,
        kind,
        agents: &entity.contributors,
        status: entity.status,
        label,
        text: text_in(&entity.text, detail),
        parameters,
        references,
    })
}

#[derive(Serialize)]
struct MoveLine<'a> {
    #[serde(rename = "move")]
    move_type: MoveType,
    agent: &'a ExpertSlug,
    targets: &'a [EntityId],
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
}

fn move_line(made: &Move, detail: Detail) -> String {
    let context = made.context.as_deref().and_then(|text| text_in(text, detail));
    let Move { expert, move_type, targets, .. } = made;
    line(&MoveLine { move_type: *move_type, agent: expert, targets, context })
}

/// Verdicts as given, without empty fields.
fn verdict_lines(verdicts: &[GivenVerdict], bytes_max: Option<usize>) -> Vec<String> {
    let lines = verdicts.iter().map(|given| {
        let mut fields = match serde_json::to_value(&given.verdict) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) | Err(_) => Map::new(),
        };
        fields.retain(|_, value| !value.is_null());
        let mut verdict = Value::Object(fields);
        if let Some(bytes_max) = bytes_max {
            change_texts(&mut verdict, &|text| fitting(text, bytes_max));
        }
        line(&verdict)
    });
    lines.collect()
}

fn text_in(text: &str, detail: Detail) -> Option<String> {
    match detail {
        Detail::Whole => Some(text.to_owned()),
        Detail::Texts(bytes_max) if text.len() <= bytes_max => Some(text.to_owned()),
        Detail::Texts(bytes_max) => Some(fitting(text, bytes_max)),
        Detail::Labels | Detail::OpenTensions { .. } => None,
    }
}

fn line(told: &impl Serialize) -> String {
    serde_json::to_string(told).unwrap_or_default()
}
