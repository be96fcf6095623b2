//! `context`: builds the JSON document that every expert of a round reads before answering.
//!
//! All experts get the same prior rounds, with full content and global ids. Raw replies are left
//! out, because they use local ids.
//!
//! The document of a long dialogue is large, so `ContextBuilder` writes it while the store streams
//! the entities and keeps only the current round in memory.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::brief::{self, Answers, Said};
use super::json_text::{JsonText, Written};
use crate::domain::dialogue::DialogueStatus;
use crate::domain::entity::Entity;
use crate::domain::expert::{SeatSource, Tier};
use crate::domain::ids::{DialogueId, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{ACTIVE_TENSION, Status};
use crate::domain::record::{Expert, Record, Round};
use crate::domain::reference::Reference;
use crate::domain::shown::Shown;

#[derive(Debug, Serialize)]
struct Subject<'a> {
    id: &'a DialogueId,
    title: &'a str,
    question: Option<&'a str>,
    status: DialogueStatus,
    current_round: u8,
    total_alignment: i64,
    background: Option<&'a Value>,
}

/// The fields that every context document has. Used to recognise a file that Plenary wrote.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "that the fields are there and have these types is all that counts")]
pub struct ContextShape {
    dialogue: SubjectShape,
    prior_rounds: Vec<IgnoredAny>,
    active_tensions: Vec<IgnoredAny>,
    experts: BTreeMap<ExpertSlug, IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "that the fields are there and have these types is all that counts")]
struct SubjectShape {
    id: DialogueId,
    status: DialogueStatus,
    current_round: u8,
    total_alignment: i64,
}

#[derive(Debug, Serialize)]
struct Raised<'a> {
    id: EntityId,
    label: &'a str,
    expert: Option<&'a ExpertSlug>,
    contributors: &'a [ExpertSlug],
    status: Status,
    description: &'a str,
    references: &'a [Reference],
}

#[derive(Debug, Serialize)]
struct ActiveTension<'a> {
    id: EntityId,
    label: &'a str,
    status: Status,
}

#[derive(Debug, Serialize)]
struct Participant<'a> {
    slug: &'a ExpertSlug,
    role: &'a str,
    tier: Tier,
    source: SeatSource,
    focus: Option<&'a str>,
    description: Option<&'a str>,
    your_score: i64,
    round_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_reason: Option<&'a str>,
}

/// Contributions of one expert to the current round, one JSON list per entity kind.
#[derive(Debug, Default)]
struct Shelf {
    perspectives: JsonText,
    tensions_raised: JsonText,
    recommendations: JsonText,
    evidence: JsonText,
    claims: JsonText,
}

impl Shelf {
    fn of_kind(&mut self, kind: EntityKind) -> &mut JsonText {
        match kind {
            EntityKind::Perspective => &mut self.perspectives,
            EntityKind::Recommendation => &mut self.recommendations,
            EntityKind::Tension => &mut self.tensions_raised,
            EntityKind::Evidence => &mut self.evidence,
            EntityKind::Claim => &mut self.claims,
        }
    }

    fn is_empty(&mut self) -> bool {
        EntityKind::ALL.iter().all(|kind| self.of_kind(*kind).is_empty())
    }

    fn clear_into(&mut self, expert: &Expert, text: &mut JsonText) -> Written {
        text.open(b'{');
        text.field("expert", &expert.profile.expert_slug)?;
        text.field("role", &expert.profile.role)?;
        text.list("perspectives", &mut self.perspectives);
        text.list("tensions_raised", &mut self.tensions_raised);
        text.list("recommendations", &mut self.recommendations);
        text.list("evidence", &mut self.evidence);
        text.list("claims", &mut self.claims);
        text.close(b'}');
        Ok(())
    }
}

/// Builds the context of a round from the record of the earlier rounds.
#[derive(Debug)]
pub struct Context {
    round: u8,
    text: JsonText,
    /// Number of prior rounds already written.
    written: usize,
    /// One per expert, in the order of `Record::experts`.
    shelves: Vec<Shelf>,
    answers: Answers,
}

impl Context {
    pub fn new(round: u8) -> Self {
        let (text, shelves, answers) = Default::default();
        Self { round, text, written: 0, shelves, answers }
    }

    /// Adds an entity. Entities must arrive in the order of their rounds.
    pub fn add(&mut self, record: &Record, shown: &Shown<'_>) -> Written {
        self.begin(record)?;
        self.end_rounds(record, |held| held.round < shown.id.round)?;
        let mut places = shown.contributors.iter().filter_map(|name| place_of(record, name));
        let Some(first) = places.next() else { return Ok(()) };
        self.answers.note_owners(shown.id, [first].into_iter().chain(places));
        if let Some(made) = shown.references.filter(|_| is_last(record, shown.id)) {
            let (label, references) = (shown.label.to_owned(), serde_json::from_str(made)?);
            self.answers.note(Said { id: shown.id, speaker: first, label, references });
        }
        let Some(shelf) = self.shelves.get_mut(first) else { return Ok(()) };
        add_item(shelf.of_kind(shown.id.kind), shown)
    }

    /// Returns the document. Call after the last entity.
    pub fn finish(mut self, record: &Record) -> Result<Document, serde_json::Error> {
        self.begin(record)?;
        self.end_rounds(record, |_| true)?;
        self.text.close(b']');
        self.text.field("active_tensions", &active_tensions(record))?;
        self.answers.sort();
        let mut seats = Vec::new();
        for participant in participants(record, self.round, &self.answers) {
            let own = serde_json::to_string(&participant)?;
            let Participant { slug, round_context, .. } = participant;
            seats.push(Seat { expert_slug: slug.clone(), round_context, own });
        }
        Ok(Document { shared: self.text.finish()?, seats })
    }

    fn begin(&mut self, record: &Record) -> Written {
        if !self.text.is_empty() {
            return Ok(());
        }
        let opening = &record.dialogue.opening;
        self.shelves.resize_with(record.experts.len(), Shelf::default);
        for tension in &record.tensions {
            self.note_tension(record, tension);
        }
        self.text.open(b'{');
        self.text.field(
            "dialogue",
            &Subject {
                id: &opening.dialogue_id,
                title: &opening.title,
                question: opening.question.as_deref(),
                status: record.dialogue.status,
                current_round: self.round,
                total_alignment: record.dialogue.total_alignment,
                background: opening.background.as_ref(),
            },
        )?;
        self.text.name("prior_rounds");
        self.text.open(b'[');
        Ok(())
    }

    fn note_tension(&mut self, record: &Record, tension: &Entity) {
        let names = tension.contributors.iter().map(ExpertSlug::as_str);
        let places: Vec<usize> = names.filter_map(|name| place_of(record, name)).collect();
        self.answers.note_owners(tension.id, places.iter().copied());
        if let Some(speaker) = places.first().copied().filter(|_| is_last(record, tension.id)) {
            let (id, label) = (tension.id, tension.label.clone());
            self.answers.note(Said { id, speaker, label, references: tension.references.clone() });
        }
    }

    /// Writes the rounds for which no more entities can arrive.
    fn end_rounds(&mut self, record: &Record, is_over: impl Fn(&Round) -> bool) -> Written {
        while let Some(held) = record.rounds.get(self.written).filter(|held| is_over(held)) {
            self.end_round(record, held)?;
            self.written += 1;
            // Rounds have similar sizes, so the first one predicts the total size.
            if self.written == 1 {
                self.text.expect_more(record.rounds.len());
            }
        }
        Ok(())
    }

    fn end_round(&mut self, record: &Record, held: &Round) -> Written {
        let tensions = record.entities_of(EntityKind::Tension, held.round);
        for tension in tensions {
            let first = tension.contributors.first();
            let place = first.and_then(|expert| place_of(record, expert.as_str()));
            if let Some(shelf) = place.and_then(|place| self.shelves.get_mut(place)) {
                shelf.tensions_raised.value(&tension.id)?;
            }
        }
        let text = &mut self.text;
        text.open(b'{');
        text.field("round", &held.round)?;
        text.field("title", &held.title)?;
        text.field("score", &held.score)?;
        text.name("expert_contributions");
        text.open(b'[');
        // Experts without a contribution are left out.
        for (expert, shelf) in record.experts.iter().zip(&mut self.shelves) {
            if !shelf.is_empty() {
                shelf.clear_into(expert, text)?;
            }
        }
        text.close(b']');
        text.field("tensions", &tensions.iter().map(raised).collect::<Vec<_>>())?;
        text.field("judge_synthesis", &held.summary)?;
        text.close(b'}');
        Ok(())
    }
}

/// The finished context, available whole or for one expert.
#[derive(Debug)]
pub struct Document {
    /// Everything before the `experts` field. The closing bracket of the document is still missing.
    shared: String,
    pub seats: Vec<Seat>,
}

/// The part of the document for one expert.
#[derive(Debug)]
pub struct Seat {
    pub expert_slug: ExpertSlug,
    pub round_context: Option<String>,
    /// JSON text.
    own: String,
}

impl Document {
    /// Adds a field.
    pub fn with(mut self, name: &str, value: &impl Serialize) -> Result<Self, serde_json::Error> {
        self.shared.push_str(&format!(",\"{name}\":{}", serde_json::to_string(value)?));
        Ok(self)
    }

    pub fn whole(mut self) -> String {
        self.shared.push_str(&closing(&self.seats));
        self.shared
    }

    /// Writes the shared part and the part of this expert only.
    pub fn write_of(&self, seat: &Seat, text: &mut String) {
        text.push_str(&self.shared);
        text.push_str(&closing(std::slice::from_ref(seat)));
    }
}

/// The `experts` field and the bracket that closes the document.
fn closing(seats: &[Seat]) -> String {
    let own = seats.iter().map(|seat| format!("\"{}\":{}", seat.expert_slug, seat.own));
    format!(",\"experts\":{{{}}}}}", own.collect::<Vec<_>>().join(","))
}

/// Writes an entity into the list of its first contributor.
fn add_item(list: &mut JsonText, shown: &Shown<'_>) -> Written {
    list.open(b'{');
    list.field("id", &shown.id)?;
    list.prose("label", shown.label);
    list.field("status", &shown.status)?;
    list.prose("content", shown.text);
    list.field("contributors", &shown.contributors)?;
    if let Some(parameters) = shown.parameters {
        list.json("parameters", parameters);
    }
    list.json("references", shown.references.unwrap_or("[]"));
    list.close(b'}');
    Ok(())
}

/// Index of an expert in `Record::experts`.
fn place_of(record: &Record, name: &str) -> Option<usize> {
    record.experts.iter().position(|expert| expert.profile.expert_slug.as_str() == name)
}

fn is_last(record: &Record, id: EntityId) -> bool {
    record.rounds.last().is_some_and(|last| last.round == id.round)
}

fn raised(tension: &Entity) -> Raised<'_> {
    Raised {
        id: tension.id,
        label: &tension.label,
        expert: tension.contributors.first(),
        contributors: &tension.contributors,
        status: tension.status,
        description: &tension.text,
        references: &tension.references,
    }
}

fn active_tensions(record: &Record) -> Vec<ActiveTension<'_>> {
    let active = record.tensions.iter().filter(|tension| ACTIVE_TENSION.contains(&tension.status));
    active
        .map(|tension| ActiveTension {
            id: tension.id,
            label: &tension.label,
            status: tension.status,
        })
        .collect()
}

fn participants<'a>(record: &'a Record, round: u8, answers: &Answers) -> Vec<Participant<'a>> {
    let seats = record.panel(round).into_iter().filter_map(|seat| {
        let place = place_of(record, seat.expert_slug.as_str())?;
        let expert = record.experts.get(place)?;
        let computed = match seat.source {
            SeatSource::Retained => brief::round_context(record, answers, place),
            // A new expert has no history to be reminded of.
            SeatSource::Pool | SeatSource::Created => None,
        };
        Some(Participant {
            slug: &expert.profile.expert_slug,
            role: &expert.profile.role,
            tier: expert.profile.tier,
            source: seat.source,
            focus: expert.profile.focus.as_deref(),
            description: expert.profile.description.as_deref(),
            your_score: expert.total,
            round_context: seat.round_context.or(computed),
            mandate: seat.mandate,
            creation_reason: expert.profile.creation_reason.as_deref(),
        })
    });
    seats.collect()
}
