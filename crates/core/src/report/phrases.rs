//! Phrases about facts of the record, shared by all pages.

use crate::model::ask::CallErrorType;
use crate::model::entity::{Entity, EntityEvent, EntityReference, ReferenceType};
use crate::model::ids::{EntityId, EntityKind, EventActor, ExpertSlug};
use crate::model::lifecycle::EntityEventType;
use crate::model::record::DialogueRecord;
use crate::model::text::to_one_line;
use crate::model::verdict::{Verdict, VerdictType};
use crate::protocols::conclusion::next::{AUDIT, DRAFT, REVISION, SECOND_AUDIT, plain_round};
use crate::protocols::conclusion::phrases::state_name;

/// Shown with every rehearsed dialogue.
pub(crate) const REHEARSAL_NOTE: &str = "answers of the offline demo panel; no model was called";

/// `R2`, or the step of the conclusion.
pub(crate) fn round_name(round: u8) -> String {
    match plain_round(round) {
        DRAFT => "conclusion".to_owned(),
        AUDIT | SECOND_AUDIT => "audit".to_owned(),
        REVISION => "revision".to_owned(),
        held => format!("R{held}"),
    }
}

/// The same; it also tells the two audits apart.
pub fn stage_name(round: u8) -> String {
    match plain_round(round) {
        SECOND_AUDIT => "second audit".to_owned(),
        _ => round_name(round),
    }
}

/// `in R2`, `in the audit`.
pub(crate) fn in_round(round: u8) -> String {
    let article = if round < DRAFT { "" } else { "the " };
    format!("in {article}{}", round_name(round))
}

/// The text on one line, cut after a complete word if it is longer; an ellipsis marks the cut.
pub(crate) fn shorten_text(text: &str, chars_max: usize) -> String {
    let flat = to_one_line(text);
    let Some((end, _)) = flat.char_indices().nth(chars_max) else { return flat };
    let head = flat.get(..end).unwrap_or_default();
    let head = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    format!("{head}…")
}

/// Why a call failed, in plain words; JSON has the codes.
pub(crate) fn call_error_text(error_type: CallErrorType) -> &'static str {
    match error_type {
        CallErrorType::Timeout => "no answer in time",
        CallErrorType::Auth => "key rejected",
        CallErrorType::RateLimit => "rate limit",
        CallErrorType::Network => "no connection",
        CallErrorType::ParseError => "unreadable reply",
        CallErrorType::ServerError => "server error",
        CallErrorType::BadRequest => "request rejected",
        CallErrorType::Refused => "refused to answer",
        CallErrorType::ContextTooLong => "question too long",
        CallErrorType::Unknown => "unknown error",
    }
}

/// A length such as `950 B`, `1.2 kB` or `3.4 MB`.
pub fn format_bytes(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `11,872`.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let lead = digits.len() % 3;
    let is_break = |place: usize| place > 0 && place % 3 == lead;
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if is_break(place) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `Muffin, Cupcake`.
pub(crate) fn join_experts(experts: &[ExpertSlug]) -> String {
    let names: Vec<String> = experts.iter().map(ExpertSlug::display_name).collect();
    names.join(", ")
}

/// `1 round`, `3 rounds`.
pub fn count_noun(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The verb for a reference of this type.
pub fn reference_verb(ref_type: ReferenceType) -> &'static str {
    match ref_type {
        ReferenceType::Support => "supports",
        ReferenceType::Oppose => "opposes",
        ReferenceType::Refine => "refines",
        ReferenceType::Address => "addresses",
        ReferenceType::Resolve => "resolves",
        ReferenceType::Reopen => "reopens",
        ReferenceType::Question => "questions",
        ReferenceType::Depend => "depends on",
    }
}

/// `resolved r2 by Muffin via P0201`.
pub fn event_phrase(kind: EntityKind, event: &EntityEvent) -> String {
    let mut outcome = format!("{} r{}", event_verb(kind, event.event_type), event.round);
    if !event.actors.is_empty() {
        let actors: Vec<String> = event.actors.iter().map(actor_name).collect();
        outcome += &format!(" by {}", actors.join(", "));
    }
    if let Some(reference) = &event.reference {
        outcome += &format!(" via {reference}");
    }
    if let Some(result) = event.result {
        outcome += &format!(" → {result}");
    }
    outcome
}

fn event_verb(kind: EntityKind, event_type: EntityEventType) -> &'static str {
    if kind == EntityKind::Tension && event_type == EntityEventType::Created {
        "raised"
    } else {
        event_type.name()
    }
}

fn actor_name(actor: &EventActor) -> String {
    match actor {
        EventActor::Judge => "the Judge".to_owned(),
        EventActor::Expert(slug) => slug.display_name(),
    }
}

/// Verdicts in reading order: final, minority, dissent, interim.
pub(crate) fn sorted_verdicts(record: &DialogueRecord) -> Vec<&Verdict> {
    let rank = |verdict: &&Verdict| match verdict.verdict_type {
        VerdictType::Final => 0,
        VerdictType::Minority => 1,
        VerdictType::Dissent => 2,
        VerdictType::Interim => 3,
    };
    let mut verdicts: Vec<&Verdict> = record.verdicts.iter().map(|given| &given.verdict).collect();
    verdicts.sort_by_key(rank);
    verdicts
}

/// `by the Judge`, `round 2`, `vote 4-1`, `strong`, `with Churro, Eclair`
pub(crate) fn verdict_details(verdict: &Verdict) -> Vec<String> {
    let judge = || "the Judge".to_owned();
    let author = verdict.author_expert.as_ref().map_or_else(judge, ExpertSlug::display_name);
    let mut outcome = vec![format!("by {author}"), format!("round {}", verdict.round)];
    outcome.extend(verdict.vote.map(|vote| format!("vote {vote}")));
    outcome.extend(verdict.confidence.map(|confidence| confidence.name().to_owned()));
    let supporters = verdict.supporting_experts.as_deref().unwrap_or_default();
    if !supporters.is_empty() {
        outcome.push(format!("with {}", join_experts(supporters)));
    }
    outcome
}

/// The terminal state or `unaudited`; `None` before the conclusion.
pub(crate) fn conclusion_state(record: &DialogueRecord) -> Option<&'static str> {
    match &record.conclusion {
        Some(concluded) => Some(state_name(concluded.ending.terminal_state)),
        None => record.dialogue.terminal_state.map(|state| state.name()),
    }
}

/// The label and reason of a forced or doubtful verdict.
pub(crate) fn verdict_caution(verdict: &Verdict) -> Option<(&'static str, &str)> {
    match (verdict.forced, verdict.warning.as_deref()) {
        (true, warning) => {
            Some(("FORCED", warning.unwrap_or("the conditions of a final verdict were not met")))
        }
        (false, Some(warning)) => Some(("WARNING", warning)),
        (false, None) => None,
    }
}

/// The entities that a verdict settles, as named lists; empty lists are omitted.
pub(crate) fn settled_lists(verdict: &Verdict) -> Vec<(&'static str, String)> {
    // A minority verdict or dissent has no effect.
    let [resolves, accepts, adopts] = match verdict.verdict_type.takes_effect() {
        true => ["resolves", "accepts", "adopts"],
        false => ["would resolve", "would accept", "would adopt"],
    };
    let lists = [
        (resolves, &verdict.tensions_resolved),
        (accepts, &verdict.tensions_accepted),
        (adopts, &verdict.recommendations_adopted),
        ("evidence", &verdict.key_evidence),
        ("claims", &verdict.key_claims),
    ];
    let joined = |ids: &Vec<_>| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    lists
        .into_iter()
        .filter_map(|(name, ids)| Some((name, ids.as_ref().map(joined)?)))
        .filter(|(_, ids)| !ids.is_empty())
        .collect()
}

/// `with Cupcake`, `refines P0001`, `depends on E0001 C0001`
pub(crate) fn entity_relations(entity: &Entity) -> Vec<String> {
    let companions = entity.contributors.get(1..).unwrap_or_default();
    let with = (!companions.is_empty()).then(|| format!("with {}", join_experts(companions)));
    let alike = |one: &EntityReference, other: &EntityReference| one.ref_type == other.ref_type;
    with.into_iter().chain(entity.references.chunk_by(alike).map(reference_phrase)).collect()
}

fn reference_phrase(alike: &[EntityReference]) -> String {
    let verb = alike.first().map_or("", |reference| reference_verb(reference.ref_type));
    alike
        .iter()
        .fold(verb.to_owned(), |outcome, reference| format!("{outcome} {}", reference.target))
}

/// `accepted by final`: the verdict that accepts an open tension.
pub(crate) fn accepting_verdict(record: &DialogueRecord, tension: EntityId) -> Option<String> {
    let accepts = |verdict: &&&Verdict| {
        let named = verdict.tensions_accepted.as_ref().is_some_and(|ids| ids.contains(&tension));
        named && verdict.verdict_type.takes_effect()
    };
    let given = sorted_verdicts(record);
    let verdict = given.iter().find(accepts)?;
    Some(format!("accepted by {}", verdict.verdict_id))
}

#[cfg(test)]
mod tests {
    use crate::report::phrases::{group_digits, shorten_text};

    #[test]
    fn thousands_are_set_apart() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (11_872, "11,872")];
        for (number, expected) in cases {
            assert_eq!(group_digits(number), expected);
        }
        assert_eq!(group_digits(1_234_567), "1,234,567");
    }

    #[test]
    fn a_text_is_cut_after_a_word() {
        assert_eq!(shorten_text("one\n two", 7), "one two");
        assert_eq!(shorten_text("one two", 6), "one…");
        assert_eq!(shorten_text("né né", 4), "né…");
        assert_eq!(shorten_text("unbroken", 4), "unbr…");
    }
}
