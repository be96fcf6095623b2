//! Replies of the rehearsal panel's Synthesizer, Blind Critic and reviser, from their messages
//! alone.
//!
//! The critic passes most conclusions. For about a third of the questions it flags a field once,
//! and passes the revision.

use crate::domain::ask::AskMessages;
use crate::domain::conclusion::{CitedClaim, Conclusion, UnresolvedPoint};
use crate::domain::council::words::ReportOutcome;
use crate::domain::ids::{EntityKind, ExpertSlug};
use crate::domain::time::Day;

use super::docket::{self, RecordEntity};
use super::prompt;
use super::variation::ReplyVariation;

/// Two disputes are enough in a conclusion; the record has the rest.
const POINTS_MAX: usize = 2;

/// Days until the review date.
const REVIEW_DAYS: [u32; 3] = [30, 60, 90];

pub(super) fn write_conclusion(
    subject: &str,
    messages: &AskMessages,
    mut variation: ReplyVariation,
) -> Conclusion {
    let user = &messages.user;
    let recommendation = match docket::read_outcome(user) {
        Some(ReportOutcome::Reject) => variation.pick_one(&REASONS_AGAINST),
        Some(ReportOutcome::Adopt) => variation.pick_one(&REASONS_FOR),
        Some(ReportOutcome::Answer | ReportOutcome::NeedInfo) => variation.pick_one(&ANSWERS),
        None if prompt::is_decision(subject) => variation.pick_one(&REASONS_FOR),
        None => variation.pick_one(&ANSWERS),
    };
    let days = REVIEW_DAYS.get(variation.number_below(REVIEW_DAYS.len())).copied().unwrap_or(30);
    Conclusion {
        recommendation: recommendation.to_owned(),
        key_condition: variation.pick_one(&CONDITIONS).to_owned(),
        unresolved_points: list_unresolved_points(user, POINTS_MAX),
        review_by: date_in_days(user, days),
        participants: docket::read_participants(user),
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

pub(super) fn date_in_days(user: &str, days: u32) -> Day {
    // Only a foreign prompt has no date; then use the last possible day.
    docket::read_today(user).map_or(Day::LAST, |today| today.plus_days(days))
}

/// Returns open tensions with the agents and claims behind them: those with two sides, else those
/// raised by one agent.
pub(super) fn list_unresolved_points(user: &str, points_max: usize) -> Vec<UnresolvedPoint> {
    let entities = docket::read_entities(user);
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
