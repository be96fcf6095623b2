//! Replies of the rehearsal panel's Synthesizer, Blind Critic and reviser, from their messages
//! alone.
//!
//! The critic passes most conclusions. For about a third of the questions it flags a field once,
//! and passes the revision.

use plenary_core::model::ask::AskMessages;
use plenary_core::model::entity::EntityReference;
use plenary_core::model::ids::{EntityId, EntityKind, ExpertSlug};
use plenary_core::model::lifecycle::{ACTIVE_TENSION_STATUSES, EntityStatus};
use plenary_core::model::time::Day;
use plenary_core::protocols::conclusion::format::constraint::{find_constraints, find_violations};
use plenary_core::protocols::conclusion::types::{
    CitedClaim, Conclusion, ConclusionField, ConclusionParticipant, UnresolvedPoint,
};
use plenary_core::protocols::council::types::ReportOutcome;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::providers::rehearsal::prompt::{
    find_part, find_remark, is_decision, shape_draft, to_plain_line,
};
use crate::providers::rehearsal::transport::ReplyVariation;

/// Two disputes are enough in a conclusion; the record has the rest.
const POINTS_MAX: usize = 2;

/// Days until the review date.
const REVIEW_DAYS: [u32; 3] = [30, 60, 90];

pub(crate) fn write_conclusion(
    subject: &str,
    messages: &AskMessages,
    mut variation: ReplyVariation,
) -> Conclusion {
    let user = &messages.user;
    let recommendation = match read_outcome(user) {
        Some(ReportOutcome::Reject) => variation.pick_one(&REASONS_AGAINST),
        Some(ReportOutcome::Adopt) => variation.pick_one(&REASONS_FOR),
        Some(ReportOutcome::Answer | ReportOutcome::NeedInfo) => variation.pick_one(&ANSWERS),
        None if is_decision(subject) => variation.pick_one(&REASONS_FOR),
        None => variation.pick_one(&ANSWERS),
    };
    let days = REVIEW_DAYS.get(variation.number_below(REVIEW_DAYS.len())).copied().unwrap_or(30);
    Conclusion {
        recommendation: recommendation.to_owned(),
        key_condition: variation.pick_one(&CONDITIONS).to_owned(),
        unresolved_points: list_unresolved_points(user, POINTS_MAX),
        review_by: date_in_days(user, days),
        participants: read_participants(user),
    }
}

const REASONS_FOR: [&str; 3] = [
    "Begin with a pilot of limited scope, because a step that can be taken back costs less than another quarter of waiting. Try the way back before the start.",
    "Go ahead in steps, the first of which can be undone within a day. The second follows only on what the first has shown, because nobody has a figure for the whole.",
    "Go ahead on written conditions: an owner, a measure of success and a way back that was tried. They carry the risk; the rest is a matter of order.",
];
const REASONS_AGAINST: [&str; 2] = [
    "Do not begin now, because nothing that was shown would bear the cost of a return. Ask first those who would have to pay it.",
    "Leave it as it is until there is evidence from somebody with nothing to gain. What is easy to begin here is hard to leave.",
];
const ANSWERS: [&str; 3] = [
    "Take the simplest answer that the people at hand can maintain, because it is the one whose failure would teach the most. Try it on one real case first.",
    "Use the workable answer within limits now, and collect what is missing for the better one. Waiting for it would cost more than changing later.",
    "Test the one assumption that every answer rests on, which takes a week, and then take the more direct route.",
];
const CONDITIONS: [&str; 3] = [
    "A full return stays possible at a cost that somebody has agreed to bear.",
    "A small trial says something about the whole.",
    "Those who would carry the change have the time to do it.",
];

pub(crate) fn date_in_days(user: &str, days: u32) -> Day {
    // Only a foreign prompt has no date; then use the last possible day.
    read_today(user).map_or(Day::LAST, |today| today.plus_days(days))
}

/// Returns open tensions with the agents and claims behind them: those with two sides, else those
/// raised by one agent.
pub(crate) fn list_unresolved_points(user: &str, points_max: usize) -> Vec<UnresolvedPoint> {
    let entities = read_entities(user);
    let open = entities.iter().filter(|told| told.is_open_tension() && !told.label.is_empty());
    let mut points: Vec<UnresolvedPoint> = Vec::new();
    for tension in open {
        // Reviewers of one opinion often raise the same point.
        if !points.iter().any(|known| known.point == tension.label) {
            points.push(to_unresolved_point(tension, &entities));
        }
    }
    let has_sides = |point: &UnresolvedPoint| point.agents_involved.len() > 1;
    if points.iter().any(has_sides) {
        points.retain(has_sides);
    }
    points.retain(|point| !point.claims.is_empty());
    points.truncate(points_max);
    points
}

/// Collects the agents who raised the tension and those behind linked entities.
fn to_unresolved_point(tension: &RecordEntity, entities: &[RecordEntity]) -> UnresolvedPoint {
    let points_at = |from: &RecordEntity, to: &RecordEntity| {
        from.references.iter().any(|made| made.target == to.id)
    };
    let behind =
        entities.iter().filter(|told| points_at(tension, told) || points_at(told, tension));
    let mut agents_involved: Vec<ExpertSlug> = Vec::new();
    for agent in std::iter::once(tension).chain(behind).flat_map(|told| &told.agents) {
        if !agents_involved.contains(agent) {
            agents_involved.push(agent.clone());
        }
    }
    let is_alone = agents_involved.len() < 2;
    let claims = agents_involved.iter().filter_map(|agent| {
        let own = entities.iter().find(|told| is_position(told) && told.agents.contains(agent));
        // A single agent is cited with the tension itself.
        let cited = own.filter(|_| !is_alone).or(Some(tension))?;
        let claim = cited.label.clone();
        cited.agents.contains(agent).then(|| CitedClaim {
            id: cited.id,
            agent: agent.clone(),
            claim,
        })
    });
    UnresolvedPoint { point: tension.label.clone(), claims: claims.collect(), agents_involved }
}

/// Whether the entity is a labelled recommendation, which shows an agent's position best.
fn is_position(told: &RecordEntity) -> bool {
    told.id.kind == EntityKind::Recommendation && !told.label.is_empty()
}

/// A sentence the critic misses in a field.
pub(crate) struct CriticDemand {
    pub(crate) field: ConclusionField,
    objection: &'static str,
    /// Sentence whose presence shows that the field was revised.
    pub(crate) revised_by: &'static str,
}

/// The first concerns a field whose format no question constrains.
pub(crate) const CRITIC_DEMANDS: [CriticDemand; 2] = [
    CriticDemand {
        field: ConclusionField::KeyCondition,
        objection: "it names no sign by which anybody could tell that the condition no longer holds",
        revised_by: "The sign that it no longer holds is a return that was tried and took longer than a week.",
    },
    CriticDemand {
        field: ConclusionField::Recommendation,
        objection: "it says how to begin, but not who may end it, so nobody can act on it when it goes wrong",
        revised_by: "One person is named who may stop it at any time.",
    },
];

pub(crate) fn audit_conclusion(subject: &str, messages: &AskMessages) -> String {
    let shown = find_part(&messages.user, "CONCLUSION").unwrap_or_default();
    let mut variation = ReplyVariation::from_texts(&[subject, "audit"]);
    let is_strict = variation.number_below(3) == 0;
    // Do not flag a field where another sentence would violate a format constraint.
    let question = find_part(&messages.user, "QUESTION").unwrap_or_default();
    let kinds = if find_constraints(question).is_empty() { CRITIC_DEMANDS.len() } else { 1 };
    let want = CRITIC_DEMANDS.get(variation.number_below(kinds));
    match want.filter(|want| is_strict && !shown.contains(want.revised_by)) {
        Some(want) => format!("FLAG: {} - {}", want.field, want.objection),
        None => "PASS".to_owned(),
    }
}

/// Restates the Principal's directive in one sentence.
pub(crate) fn restate_directive(messages: &AskMessages) -> String {
    let said = find_part(&messages.user, "DIRECTIVE").unwrap_or_default();
    let said = to_plain_line(&said.lines().collect::<Vec<_>>().join(" "));
    format!("From the next round on, the panel is to take this up: “{said}”")
}

/// An entity in the record digest.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RecordEntity {
    pub(crate) id: EntityId,
    pub(crate) agents: Vec<ExpertSlug>,
    status: EntityStatus,
    #[serde(default)]
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) references: Vec<EntityReference>,
}

impl RecordEntity {
    pub(crate) fn is_open_tension(&self) -> bool {
        self.id.kind == EntityKind::Tension && ACTIVE_TENSION_STATUSES.contains(&self.status)
    }
}

/// Parses the entities; lines that neutralizing made invalid are skipped.
pub(crate) fn read_entities(user: &str) -> Vec<RecordEntity> {
    let lines = find_part(user, "RECORD").unwrap_or_default().lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(crate) fn read_participants(user: &str) -> Vec<ConclusionParticipant> {
    let lines = find_part(user, "PARTICIPANTS").unwrap_or_default().lines();
    let listed = lines.filter_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |field: &str| line.get(field)?.as_str();
        Some(ConclusionParticipant {
            agent: text("agent")?.parse().ok()?,
            version: text("version")?.into(),
        })
    });
    listed.collect()
}

/// Returns the outcome of the chair's report, if any.
pub(crate) fn read_outcome(user: &str) -> Option<ReportOutcome> {
    let report: Value = serde_json::from_str(find_part(user, "REPORT")?).ok()?;
    ReportOutcome::named(report.pointer("/conclusion/outcome")?.as_str()?)
}

/// Returns the fields named by our own prompt text, ignoring fields an objection mentions.
pub(crate) fn flagged_fields(user: &str) -> impl Iterator<Item = ConclusionField> {
    let named = find_remark(user, "Flagged, and to be mended: ").unwrap_or_default();
    let is_named = move |field: &ConclusionField| named.contains(&format!("`{field}`"));
    ConclusionField::ALL.iter().copied().filter(is_named)
}

/// Returns the current date from the messages.
pub(crate) fn read_today(user: &str) -> Option<Day> {
    find_remark(user, "Today is ")?.strip_suffix('.')?.parse().ok()
}

/// Earlier than the review date of any draft.
const SOON_DAYS: u32 = 14;

/// For an objection that our critic did not raise.
const FURTHER: &str = "What would count as a failure is written down beforehand.";

/// Revises each flagged field.
pub(crate) fn write_revision(
    subject: &str,
    messages: &AskMessages,
    variation: ReplyVariation,
) -> Value {
    let user = &messages.user;
    let shown = find_part(user, "CONCLUSION").and_then(|text| serde_json::from_str(text).ok());
    // If neutralizing made the draft invalid JSON, write it again.
    let draft = shown.unwrap_or_else(|| write_conclusion(subject, messages, variation));
    let flagged = flagged_fields(user);
    let mended = flagged.map(|field| (field.name().to_owned(), revise_field(field, &draft, user)));
    Value::Object(mended.collect::<Map<_, _>>())
}

fn revise_field(field: ConclusionField, draft: &Conclusion, user: &str) -> Value {
    match field {
        ConclusionField::Recommendation => {
            revise_recommendation(&draft.recommendation, user).into()
        }
        ConclusionField::KeyCondition => add_sentence(field, &draft.key_condition).into(),
        ConclusionField::UnresolvedPoints => {
            // Either a point is missing, or there is one too many.
            let count = draft.unresolved_points.len().checked_sub(1).unwrap_or(1);
            json!(list_unresolved_points(user, count))
        }
        ConclusionField::ReviewBy => json!(date_in_days(user, SOON_DAYS)),
        ConclusionField::Participants => json!(read_participants(user)),
    }
}

/// Applies the format constraint if the draft violates it, else adds the critic's sentence.
fn revise_recommendation(draft: &str, user: &str) -> String {
    let question = find_part(user, "QUESTION").unwrap_or_default();
    if find_violations(question, draft).is_empty() {
        return add_sentence(ConclusionField::Recommendation, draft);
    }
    shape_draft(question, draft).unwrap_or_else(|| draft.to_owned())
}

/// Adds the sentence the critic misses.
fn add_sentence(field: ConclusionField, text: &str) -> String {
    let missing =
        CRITIC_DEMANDS.iter().find(|want| want.field == field && !text.contains(want.revised_by));
    let sentence = missing.map_or(FURTHER, |want| want.revised_by);
    format!("{} {sentence}", text.trim_end())
}
