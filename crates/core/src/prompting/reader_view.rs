//! What each seat of a council reads after the shared block, as a value.
//!
//! A participant sees nothing more. A reviewer sees the others' opinions, and its own apart from
//! them. The chair sees all opinions and reviews, under the same letters. The views of synthesizer
//! and critic are in `protocols/conclusion`. The Principal's additions come last.

use serde_json::Value;

use crate::model::ask::Ask;
use crate::model::ids::ExpertSlug;
use crate::model::intervention::{Intervention, InterventionEntry};
use crate::model::plan::Plan;
use crate::model::run_state::RunState;
use crate::prompting::fence::FencedSection;
use crate::protocols::council::answers::{
    SeatAnswer, SeatLetters, list_opinions, list_peer_reviews,
};
use crate::protocols::council::types::{OpinionReply, PeerReview};
use crate::protocols::pending_asks::{InterventionScope, visible_interventions};

#[derive(Debug, Clone, Default)]
pub(crate) struct ReaderView {
    /// The reader's own opinion, which it does not review.
    pub own_opinion: Option<OpinionReply>,
    pub opinions: Vec<LabeledReply<OpinionReply>>,
    pub reviews: Vec<LabeledReply<PeerReview>>,
    /// The Principal's interventions that this seat may see.
    pub additions: Vec<FencedSection>,
}

/// A reply under the name that its reader knows.
#[derive(Debug, Clone)]
pub(crate) struct LabeledReply<T> {
    pub name: String,
    pub content: T,
    /// Whether the reply was truncated.
    pub is_cut: bool,
}

impl<T: serde::Serialize> LabeledReply<T> {
    fn to_section(&self, kind: &str) -> FencedSection {
        let cut = if self.is_cut { " (cut off, its end is missing)" } else { "" };
        let label = format!("{kind} {}{cut}", self.name);
        FencedSection::material(&label, to_pretty_json(&without_empty_lists(&self.content)))
    }
}

impl ReaderView {
    /// The interventions alone.
    pub(crate) fn of_participant(state: &RunState, ask: &Ask, scope: InterventionScope) -> Self {
        let additions = visible_interventions(state, ask, scope);
        let additions = additions.into_iter().flat_map(intervention_sections).collect();
        Self { additions, ..Self::default() }
    }

    /// The same, and the opinions.
    pub(crate) fn of_reviewer(state: &RunState, ask: &Ask) -> Self {
        let (plan, letters) = (&state.plan, SeatLetters::from_plan(&state.plan));
        let answers = list_opinions(state);
        let own = answers.iter().find(|answer| *answer.seat == ask.seat);
        // In an order of its own for each reader.
        let peers = letters.other_seats(plan, &ask.seat);
        Self {
            own_opinion: own.map(|answer| answer.content.clone()),
            opinions: label_replies(plan, peers, &answers),
            ..Self::of_participant(state, ask, InterventionScope::OwnAndPublic)
        }
    }

    /// The same, and all opinions and reviews.
    pub(crate) fn of_chair(state: &RunState, ask: &Ask) -> Self {
        let (plan, letters) = (&state.plan, SeatLetters::from_plan(&state.plan));
        Self {
            opinions: label_replies(plan, letters.iter(), &list_opinions(state)),
            reviews: label_replies(plan, letters.iter(), &list_peer_reviews(state)),
            ..Self::of_participant(state, ask, InterventionScope::OwnAndPublic)
        }
    }

    /// All fenced sections, in reading order.
    pub(crate) fn all_sections(&self) -> Vec<FencedSection> {
        let own = self.own_opinion.as_ref().map(|content| {
            let content = to_pretty_json(&without_empty_lists(content));
            FencedSection::material("YOUR OPINION, DO NOT REVIEW IT", content)
        });
        let opinions = self.opinions.iter().map(|shown| shown.to_section("OPINION"));
        let reviews = self.reviews.iter().map(|shown| shown.to_section("REVIEW BY"));
        let additions = self.additions.iter().cloned();
        own.into_iter().chain(opinions).chain(reviews).chain(additions).collect()
    }
}

/// Labels the replies of these seats with their letters, and with their names if reviews are not
/// anonymous.
fn label_replies<'a, T: Clone>(
    plan: &Plan,
    seats: impl IntoIterator<Item = (char, &'a ExpertSlug)>,
    answers: &[SeatAnswer<'_, T>],
) -> Vec<LabeledReply<T>> {
    let labeled = seats.into_iter().filter_map(|(letter, seat)| {
        let answer = answers.iter().find(|answer| answer.seat == seat)?;
        let name = match plan.anonymous_review {
            true => letter.to_string(),
            false => format!("{letter} - {seat}"),
        };
        let is_cut = answer.asked.is_truncated();
        Some(LabeledReply { name, content: answer.content.clone(), is_cut })
    });
    labeled.collect()
}

/// An intervention; empty for a stop. A model wrote the restatement, and with `--yes` no person read
/// it, so it explains the directive and asks for nothing.
fn intervention_sections(noted: &InterventionEntry) -> Vec<FencedSection> {
    match &noted.intervention {
        Intervention::Whisper { text, to } => {
            let label = if to.is_some() { "WHISPER TO YOU ALONE" } else { "WHISPER" };
            vec![FencedSection::request(label, text.clone())]
        }
        Intervention::Directive { text, restatement, .. } => {
            let restated = restatement.as_ref().map(|restated| {
                FencedSection::material("DIRECTIVE RESTATED", restated.sentence.clone())
            });
            let own = FencedSection::request("DIRECTIVE", text.clone());
            std::iter::once(own).chain(restated).collect()
        }
        Intervention::Stop => Vec::new(),
    }
}

/// Lists that only mode review asks for.
const REVIEW_LISTS: [&str; 2] = ["findings", "finding_positions"];

/// The reply without the lists that its author was not asked for or left empty.
fn without_empty_lists(content: &impl serde::Serialize) -> Value {
    let mut content = serde_json::to_value(content).unwrap_or_default();
    drop_empty_lists(&mut content);
    content
}

fn drop_empty_lists(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
            fields.retain(|name, held| !(REVIEW_LISTS.contains(&name.as_str()) && is_empty(held)));
            fields.values_mut().for_each(drop_empty_lists);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty_lists),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Indented JSON, so that a reader can tell the fields apart.
pub(crate) fn to_pretty_json(content: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(content).unwrap_or_default()
}
