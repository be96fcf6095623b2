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

use crate::dialogue::json_writer::{JsonResult, JsonWriter};
use crate::dialogue::round_reminders::{RoundAnswers, RoundStatement, build_round_context};
use crate::ethos::calibration_block::CalibrationContext;
use crate::model::dialogue::{DialogueStatus, ExpertTier, PanelSeatSource};
use crate::model::entity::{Entity, EntityReference, ExpertMove, MoveType};
use crate::model::ids::{DialogueId, EntityId, EntityKind, ExpertSlug};
use crate::model::lifecycle::{ACTIVE_TENSION_STATUSES, EntityStatus};
use crate::model::record::{DialogueRecord, EntityView, Expert, RoundRecord};
use crate::model::verdict::Verdict;

#[derive(Debug, Serialize)]
struct ContextDialogue<'a> {
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
    dialogue: ContextDialogueShape,
    prior_rounds: Vec<IgnoredAny>,
    active_tensions: Vec<IgnoredAny>,
    experts: BTreeMap<ExpertSlug, IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "that the fields are there and have these types is all that counts")]
struct ContextDialogueShape {
    id: DialogueId,
    status: DialogueStatus,
    current_round: u8,
    total_alignment: i64,
}

#[derive(Debug, Serialize)]
struct ContextTension<'a> {
    id: EntityId,
    label: &'a str,
    expert: Option<&'a ExpertSlug>,
    contributors: &'a [ExpertSlug],
    status: EntityStatus,
    description: &'a str,
    references: &'a [EntityReference],
}

#[derive(Debug, Serialize)]
struct TensionRow<'a> {
    id: EntityId,
    label: &'a str,
    status: EntityStatus,
}

#[derive(Debug, Serialize)]
struct ContextExpert<'a> {
    slug: &'a ExpertSlug,
    role: &'a str,
    tier: ExpertTier,
    source: PanelSeatSource,
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
struct ExpertContributions {
    perspectives: JsonWriter,
    tensions_raised: JsonWriter,
    recommendations: JsonWriter,
    evidence: JsonWriter,
    claims: JsonWriter,
}

impl ExpertContributions {
    fn list_of_kind(&mut self, kind: EntityKind) -> &mut JsonWriter {
        match kind {
            EntityKind::Perspective => &mut self.perspectives,
            EntityKind::Recommendation => &mut self.recommendations,
            EntityKind::Tension => &mut self.tensions_raised,
            EntityKind::Evidence => &mut self.evidence,
            EntityKind::Claim => &mut self.claims,
        }
    }

    fn is_empty(&mut self) -> bool {
        EntityKind::ALL.iter().all(|kind| self.list_of_kind(*kind).is_empty())
    }

    fn drain_into(&mut self, expert: &Expert, text: &mut JsonWriter) -> JsonResult {
        text.open_bracket(b'{');
        text.write_field("expert", &expert.profile.expert_slug)?;
        text.write_field("role", &expert.profile.role)?;
        text.write_list("perspectives", &mut self.perspectives);
        text.write_list("tensions_raised", &mut self.tensions_raised);
        text.write_list("recommendations", &mut self.recommendations);
        text.write_list("evidence", &mut self.evidence);
        text.write_list("claims", &mut self.claims);
        text.close_bracket(b'}');
        Ok(())
    }
}

/// Builds the context of a round from the record of the earlier rounds.
#[derive(Debug)]
pub struct ContextBuilder {
    round: u8,
    text: JsonWriter,
    /// Number of prior rounds already written.
    written: usize,
    /// One per expert, in the order of `Record::experts`.
    shelves: Vec<ExpertContributions>,
    answers: RoundAnswers,
}

impl ContextBuilder {
    pub fn new(round: u8) -> Self {
        let (text, shelves, answers) = Default::default();
        Self { round, text, written: 0, shelves, answers }
    }

    /// Adds an entity. Entities must arrive in the order of their rounds.
    pub fn add_entity(&mut self, record: &DialogueRecord, shown: &EntityView<'_>) -> JsonResult {
        self.begin_document(record)?;
        self.write_finished_rounds(record, |held| held.round < shown.id.round)?;
        let mut places = shown.contributors.iter().filter_map(|name| expert_index(record, name));
        let Some(first) = places.next() else { return Ok(()) };
        self.answers.add_owners(shown.id, [first].into_iter().chain(places));
        if let Some(made) = shown.references.filter(|_| is_last_round(record, shown.id)) {
            let (label, references) = (shown.label.to_owned(), serde_json::from_str(made)?);
            self.answers.add_statement(RoundStatement {
                id: shown.id,
                speaker: first,
                label,
                references,
            });
        }
        let Some(shelf) = self.shelves.get_mut(first) else { return Ok(()) };
        add_item(shelf.list_of_kind(shown.id.kind), shown)
    }

    /// Returns the document. Call after the last entity.
    pub fn build_document(
        mut self,
        record: &DialogueRecord,
    ) -> Result<ContextDocument, serde_json::Error> {
        self.begin_document(record)?;
        self.write_finished_rounds(record, |_| true)?;
        self.text.close_bracket(b']');
        let (active, resolved) = list_tensions(record);
        self.text.write_field("active_tensions", &active)?;
        self.text.write_field("resolved_tensions", &resolved)?;
        self.text.write_field("requests", &list_requests(record))?;
        self.text.write_field("verdicts", &list_verdicts(record))?;
        self.answers.sort_entries();
        let mut seats = Vec::new();
        for participant in list_experts(record, self.round, &self.answers) {
            let own = serde_json::to_string(&participant)?;
            let ContextExpert { slug, round_context, .. } = participant;
            seats.push(SeatContext { expert_slug: slug.clone(), round_context, own });
        }
        Ok(ContextDocument { shared: self.text.into_string()?, seats })
    }

    fn begin_document(&mut self, record: &DialogueRecord) -> JsonResult {
        if !self.text.is_empty() {
            return Ok(());
        }
        let opening = &record.dialogue.opening;
        self.shelves.resize_with(record.experts.len(), ExpertContributions::default);
        for tension in &record.tensions {
            self.add_tension(record, tension);
        }
        self.text.open_bracket(b'{');
        self.text.write_field(
            "dialogue",
            &ContextDialogue {
                id: &opening.dialogue_id,
                title: &opening.title,
                question: opening.question.as_deref(),
                status: record.dialogue.status,
                current_round: self.round,
                total_alignment: record.dialogue.total_alignment,
                background: opening.background.as_ref(),
            },
        )?;
        if let Some(ethos) = record.approved_ethos() {
            self.text.write_field("calibration", &CalibrationContext::new(ethos))?;
        }
        self.text.write_name("prior_rounds");
        self.text.open_bracket(b'[');
        Ok(())
    }

    fn add_tension(&mut self, record: &DialogueRecord, tension: &Entity) {
        let names = tension.contributors.iter().map(ExpertSlug::as_str);
        let places: Vec<usize> = names.filter_map(|name| expert_index(record, name)).collect();
        self.answers.add_owners(tension.id, places.iter().copied());
        if let Some(speaker) = places.first().copied().filter(|_| is_last_round(record, tension.id))
        {
            let (id, label) = (tension.id, tension.label.clone());
            self.answers.add_statement(RoundStatement {
                id,
                speaker,
                label,
                references: tension.references.clone(),
            });
        }
    }

    /// Writes the rounds for which no more entities can arrive.
    fn write_finished_rounds(
        &mut self,
        record: &DialogueRecord,
        is_over: impl Fn(&RoundRecord) -> bool,
    ) -> JsonResult {
        while let Some(held) = record.rounds.get(self.written).filter(|held| is_over(held)) {
            self.write_round(record, held)?;
            self.written += 1;
            // Rounds have similar sizes, so the first one predicts the total size.
            if self.written == 1 {
                self.text.reserve_copies(record.rounds.len());
            }
        }
        Ok(())
    }

    fn write_round(&mut self, record: &DialogueRecord, held: &RoundRecord) -> JsonResult {
        let tensions = record.entities_of_round(EntityKind::Tension, held.round);
        for tension in tensions {
            let first = tension.contributors.first();
            let place = first.and_then(|expert| expert_index(record, expert.as_str()));
            if let Some(shelf) = place.and_then(|place| self.shelves.get_mut(place)) {
                shelf.tensions_raised.write_value(&tension.id)?;
            }
        }
        let text = &mut self.text;
        text.open_bracket(b'{');
        text.write_field("round", &held.round)?;
        text.write_field("title", &held.title)?;
        text.write_field("score", &held.score)?;
        text.write_name("expert_contributions");
        text.open_bracket(b'[');
        // Experts without a contribution are left out.
        for (expert, shelf) in record.experts.iter().zip(&mut self.shelves) {
            if !shelf.is_empty() {
                shelf.drain_into(expert, text)?;
            }
        }
        text.close_bracket(b']');
        text.write_field("tensions", &tensions.iter().map(to_context_tension).collect::<Vec<_>>())?;
        let moves = record.moves.iter().filter(|made| made.round == held.round);
        text.write_field("moves", &moves.collect::<Vec<_>>())?;
        text.write_field("judge_synthesis", &held.summary)?;
        text.close_bracket(b'}');
        Ok(())
    }
}

/// The finished context, available whole or for one expert.
#[derive(Debug)]
pub struct ContextDocument {
    /// Everything before the `experts` field. The closing bracket of the document is still missing.
    shared: String,
    pub seats: Vec<SeatContext>,
}

/// The part of the document for one expert.
#[derive(Debug)]
pub struct SeatContext {
    pub expert_slug: ExpertSlug,
    pub round_context: Option<String>,
    /// JSON text.
    own: String,
}

impl ContextDocument {
    /// Adds a field.
    pub fn with_field(
        mut self,
        name: &str,
        value: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        self.shared.push_str(&format!(",\"{name}\":{}", serde_json::to_string(value)?));
        Ok(self)
    }

    pub fn into_json(mut self) -> String {
        self.shared.push_str(&experts_json(&self.seats));
        self.shared
    }

    /// Writes the shared part and the part of this expert only.
    pub fn write_for_seat(&self, seat: &SeatContext, text: &mut String) {
        text.push_str(&self.shared);
        text.push_str(&experts_json(std::slice::from_ref(seat)));
    }
}

/// The `experts` field and the bracket that closes the document.
fn experts_json(seats: &[SeatContext]) -> String {
    let own = seats.iter().map(|seat| format!("\"{}\":{}", seat.expert_slug, seat.own));
    format!(",\"experts\":{{{}}}}}", own.collect::<Vec<_>>().join(","))
}

/// Writes an entity into the list of its first contributor.
fn add_item(list: &mut JsonWriter, shown: &EntityView<'_>) -> JsonResult {
    list.open_bracket(b'{');
    list.write_field("id", &shown.id)?;
    list.write_field("label", shown.label)?;
    list.write_field("status", &shown.status)?;
    list.write_field("content", shown.text)?;
    list.write_field("contributors", &shown.contributors)?;
    if let Some(parameters) = shown.parameters {
        list.write_raw_json("parameters", parameters);
    }
    list.write_raw_json("references", shown.references.unwrap_or("[]"));
    list.close_bracket(b'}');
    Ok(())
}

/// Index of an expert in `Record::experts`.
fn expert_index(record: &DialogueRecord, name: &str) -> Option<usize> {
    record.experts.iter().position(|expert| expert.profile.expert_slug.as_str() == name)
}

fn is_last_round(record: &DialogueRecord, id: EntityId) -> bool {
    record.rounds.last().is_some_and(|last| last.round == id.round)
}

fn to_context_tension(tension: &Entity) -> ContextTension<'_> {
    ContextTension {
        id: tension.id,
        label: &tension.label,
        expert: tension.contributors.first(),
        contributors: &tension.contributors,
        status: tension.status,
        description: &tension.text,
        references: &tension.references,
    }
}

/// The tensions that are active, and those that are settled.
fn list_tensions(record: &DialogueRecord) -> (Vec<TensionRow<'_>>, Vec<TensionRow<'_>>) {
    let rows = record.tensions.iter().map(|tension| TensionRow {
        id: tension.id,
        label: &tension.label,
        status: tension.status,
    });
    rows.partition(|row| ACTIVE_TENSION_STATUSES.contains(&row.status))
}

/// What experts asked the panel for in the last round.
fn list_requests(record: &DialogueRecord) -> Vec<&ExpertMove> {
    let last = record.rounds.last().map(|held| held.round);
    let is_asked =
        |made: &&ExpertMove| made.move_type == MoveType::Request && Some(made.round) == last;
    record.moves.iter().filter(is_asked).collect()
}

fn list_verdicts(record: &DialogueRecord) -> Vec<&Verdict> {
    record.verdicts.iter().map(|given| &given.verdict).collect()
}

fn list_experts<'a>(
    record: &'a DialogueRecord,
    round: u8,
    answers: &RoundAnswers,
) -> Vec<ContextExpert<'a>> {
    let seats = record.panel_of(round).into_iter().filter_map(|seat| {
        let place = expert_index(record, seat.expert_slug.as_str())?;
        let expert = record.experts.get(place)?;
        let computed = match seat.source {
            PanelSeatSource::Retained => build_round_context(record, answers, place),
            // A new expert has no history to be reminded of.
            PanelSeatSource::Pool | PanelSeatSource::Created => None,
        };
        Some(ContextExpert {
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
