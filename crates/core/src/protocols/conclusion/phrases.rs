//! Phrases about a conclusion, shared by all pages.
//!
//! **Invariant:** no phrase presents agreement as proof, or the absence of objections as
//! "verified".

use crate::model::dialogue::TerminalState;
use crate::model::ids::ExpertSlug;
use crate::model::run_state::RunState;
use crate::model::time::Moment;
use crate::protocols::conclusion::document::{AuditVerdict, ConclusionView};
use crate::protocols::conclusion::types::{
    AuditObjection, AuditTrail, Conclusion, ConclusionField, ConclusionOutcome,
    ConclusionParticipant, ObjectionSource, UnresolvedPoint,
};
use crate::report::events::{AskSummary, AuditRound};
use crate::report::interventions::InterventionSummary;
use crate::report::phrases::shorten_text;
use crate::report::progress_lines::{
    LineSeverity, ProgressLine, latency_note, repair_note, seat_column, single_line,
};

/// The terminal state as a label. `None` is a conclusion without an audit.
pub fn state_label(state: Option<TerminalState>) -> &'static str {
    match state {
        Some(TerminalState::Clean) => "CLEAN",
        Some(TerminalState::Revised) => "REVISED",
        Some(TerminalState::Unconverged) => "UNCONVERGED",
        None => "UNAUDITED",
    }
}

/// The same for use in a sentence.
pub fn state_name(state: Option<TerminalState>) -> &'static str {
    state.map_or("unaudited", |state| state.name())
}

/// A field's name for people.
pub(crate) fn field_name(field: ConclusionField) -> &'static str {
    match field {
        ConclusionField::Recommendation => "recommendation",
        ConclusionField::KeyCondition => "key condition",
        ConclusionField::UnresolvedPoints => "unresolved points",
        ConclusionField::ReviewBy => "review by",
        ConclusionField::Participants => "participants",
    }
}

/// A field's content as text, line by line.
pub(crate) fn field_text(conclusion: &Conclusion, field: ConclusionField) -> String {
    match field {
        ConclusionField::Recommendation => conclusion.recommendation.clone(),
        ConclusionField::KeyCondition => conclusion.key_condition.clone(),
        ConclusionField::UnresolvedPoints => {
            let points = conclusion.unresolved_points.iter().map(point_text);
            points.collect::<Vec<_>>().join("\n")
        }
        ConclusionField::ReviewBy => conclusion.review_by.to_string(),
        ConclusionField::Participants => {
            let names = conclusion.participants.iter().map(versioned_name);
            names.collect::<Vec<_>>().join("\n")
        }
    }
}

fn point_text(point: &UnresolvedPoint) -> String {
    let claims = point.claims.iter();
    let claims = claims.map(|cited| format!("\n- {} {}: {}", cited.id, cited.agent, cited.claim));
    format!("{} ({}){}", point.point, involved_agents(point), claims.collect::<String>())
}

/// `ann, bob`
pub(crate) fn involved_agents(point: &UnresolvedPoint) -> String {
    let names: Vec<&str> = point.agents_involved.iter().map(ExpertSlug::as_str).collect();
    names.join(", ")
}

/// `ann (3f9c12ab)`
pub(crate) fn versioned_name(participant: &ConclusionParticipant) -> String {
    format!("{} ({})", participant.agent, participant.version)
}

/// An objection and its source. Results of the format check are marked as counted.
pub(crate) fn objection_text(objection: &AuditObjection) -> String {
    match objection.by {
        ObjectionSource::Critic => objection.objection.clone(),
        ObjectionSource::Count => format!("counted: {}", objection.objection),
    }
}

/// `held, 2027-02-17: prices stayed within the limit`
pub(crate) fn outcome_line((at, outcome): &(Moment, ConclusionOutcome)) -> String {
    let note = outcome.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
    format!("{}, {}{note}", outcome.outcome, at.utc_day())
}

/// The step that a draft still needs.
pub(crate) fn draft_status(ended: &ConclusionView) -> &'static str {
    let Some(audit) = &ended.audit else { return "not audited" };
    match (audit.critic_verdict, &audit.original) {
        (None, _) => "not audited",
        (Some(AuditVerdict::Flag), None) => "rejected, not revised yet",
        (Some(AuditVerdict::Flag), Some(_)) => "revised, not audited again",
        (Some(AuditVerdict::Pass), _) => "not concluded yet",
    }
}

/// Warnings for readers of the conclusion.
pub(crate) fn conclusion_warnings(ended: &ConclusionView, is_rehearsal: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if ended.is_unaudited() {
        warnings.push("unaudited: no critic checked this conclusion".to_owned());
    }
    // All seats of a rehearsal are of one family, which is reported elsewhere.
    if let Some(critic) = ended.critic_of_same_family().filter(|_| !is_rehearsal) {
        warnings.push(format!(
            "critic and synthesizer belong to the same model family ({}); they may miss the same errors",
            critic.family
        ));
    }
    warnings
}

/// Enough to recognise an objection; the full text is listed beside the note.
const OBJECTION_CHARS_MAX: usize = 240;

/// The note names at most this many objections.
const NAMED_MAX: usize = 3;

/// Explains a conclusion that was rejected twice.
pub(crate) fn explain_rejection(trail: &AuditTrail) -> String {
    let last = &trail.second_objections;
    if !last.is_empty() && last.iter().all(|one| one.by == ObjectionSource::Count) {
        return format!(
            "The answer does not have the form that the question asks for, also after the revision: \
             {}. Plenary counted it; the critic has no other objection. This says nothing against \
             the substance. The draft follows: shorten or split it yourself, or ask again \
             without the form.",
            objections_sentence(last)
        );
    }
    format!(
        "The critic rejected the conclusion twice, and Plenary revises it only once. In the first \
         audit {}. After the revision {}. This is not a failure: the debate does not support one \
         answer yet. Read the debate and the objections; then find out what is missing, ask a \
         narrower question, or decide yourself.",
        objections_sentence(&trail.objections),
        objections_sentence(&trail.second_objections)
    )
}

/// `the objection was to the key condition: “It assumes that …”`
fn objections_sentence(objections: &[AuditObjection]) -> String {
    let named = objections.iter().take(NAMED_MAX);
    let named: Vec<String> = named
        .map(|one| {
            let message = shorten_text(&one.objection, OBJECTION_CHARS_MAX);
            format!("the {}: “{}”", field_name(one.field), message.trim_end_matches('.'))
        })
        .collect();
    let more = match objections.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let what = if objections.len() == 1 { "the objection was" } else { "the objections were" };
    format!("{what} to {}{more}", named.join("; to "))
}

/// A progress line is short; the final page has the full text.
const LINE_CHARS_MAX: usize = 160;

pub(crate) fn intervened_lines(seen: &InterventionSummary) -> Vec<ProgressLine> {
    single_line(
        LineSeverity::Aside,
        format!("{}: {}", seen.action_text(), shorten_line(&seen.detail_texts().join("; "))),
    )
}

pub(crate) fn drafted_lines(
    state: &RunState,
    ask: &AskSummary,
    recommendation: &str,
    is_repaired: bool,
) -> Vec<ProgressLine> {
    let note = repair_note(is_repaired);
    let (seat, time) = (seat_column(state, ask), latency_note(state, ask.id));
    single_line(
        LineSeverity::Good,
        format!("{seat}conclusion{note}{time}: {}", shorten_line(recommendation)),
    )
}

pub(crate) fn audited_lines(
    state: &RunState,
    ask: &AskSummary,
    look: AuditRound,
    objections: &[AuditObjection],
) -> Vec<ProgressLine> {
    let seat = seat_column(state, ask);
    if objections.is_empty() {
        let time = latency_note(state, ask.id);
        return single_line(
            LineSeverity::Good,
            format!("{seat}the Blind Critic has no objection{time}"),
        );
    }
    let objects = match look {
        AuditRound::First => "the Blind Critic objects",
        AuditRound::Second => "the Blind Critic still objects",
    };
    let line = |one: &AuditObjection| {
        let who = match one.by {
            ObjectionSource::Critic => format!("{seat}{objects}"),
            // The format check has no seat, so the line names none.
            ObjectionSource::Count => format!("{:width$}counted", "", width = seat.len()),
        };
        let (field, objection) = (field_name(one.field), shorten_line(&one.objection));
        ProgressLine { tone: LineSeverity::Warning, text: format!("{who}: {field}: {objection}") }
    };
    objections.iter().map(line).collect()
}

pub(crate) fn revised_lines(
    state: &RunState,
    ask: &AskSummary,
    fields: &[ConclusionField],
) -> Vec<ProgressLine> {
    let names: Vec<&str> = fields.iter().map(|field| field_name(*field)).collect();
    let (seat, time) = (seat_column(state, ask), latency_note(state, ask.id));
    single_line(LineSeverity::Good, format!("{seat}revised{time}: {}", names.join(", ")))
}

pub(crate) fn concluded_lines(state: Option<TerminalState>) -> Vec<ProgressLine> {
    let (tone, how) = match state {
        Some(TerminalState::Clean) => (LineSeverity::Good, "no objection in the first audit"),
        Some(TerminalState::Revised) => (LineSeverity::Good, "objection, revision, then passed"),
        Some(TerminalState::Unconverged) => (LineSeverity::Warning, "rejected twice"),
        None => (LineSeverity::Warning, "no critic checked it"),
    };
    single_line(tone, format!("{}: {how}", state_label(state)))
}

/// The text on one line, shortened for a progress line.
fn shorten_line(text: &str) -> String {
    shorten_text(text, LINE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use crate::model::intervention::Intervention;
    use crate::model::journal::JournalEvent;
    use crate::model::run_state::RunState;
    use crate::protocols::conclusion::next::DRAFT;
    use crate::protocols::conclusion::sample::{clean, cut_short, unaudited, unconverged};
    use crate::protocols::protocol::Protocols;
    use crate::report::events::derive_events;
    use crate::report::interventions::InterventionSummary;
    use crate::report::progress_lines::describe_event;

    /// The progress lines of a run's conclusion and its interventions.
    fn progress_text(state: &RunState) -> String {
        let mut changes: Vec<JournalEvent> = Vec::new();
        for noted in &state.interventions {
            let intervention = noted.intervention.clone();
            changes.push(JournalEvent::Intervened { round: noted.round, intervention });
        }
        for asked in state.asks.iter().filter(|asked| asked.ask.round >= DRAFT) {
            let reading = asked.parse_outcome.clone();
            changes.extend(
                reading.map(|reading| JournalEvent::ReplyParsed { ask: asked.ask.id, reading }),
            );
        }
        changes.extend(
            state.conclusion_result.clone().map(|ending| JournalEvent::Concluded(ending.into())),
        );
        let result = derive_events(state, &changes);
        let lines =
            result.iter().flat_map(|event| describe_event(&Protocols::built_in(), state, event));
        lines.map(|line| format!("{:?} {}", line.tone, line.text)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_ending_is_told_line_by_line() {
        insta::assert_snapshot!(progress_text(&unconverged()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before everything, with a lifetime of five minutes.
        Warning      counted: recommendation: asked for exactly 2 lines; the recommendation has 1
        Warning bob  the Blind Critic objects: key condition: “Reads outnumber writes” is true of nearly every store; it does not say from which ratio on the cache pays.
        Good ann  revised (1.4 s): recommendation, key condition
        Warning bob  the Blind Critic still objects: recommendation: It leaves out prices, which is what the question is about.
        Warning UNCONVERGED: rejected twice
        "#);
        insta::assert_snapshot!(progress_text(&clean()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before the catalogue, with a lifetime of five minutes. Leave prices uncached until the owner says how stale they may be.
        Good bob  the Blind Critic has no objection (1.4 s)
        Good CLEAN: no objection in the first audit
        "#);
        insta::assert_snapshot!(progress_text(&unaudited()), @r#"
        Good ann  conclusion (1.4 s): Put a read-through cache before the catalogue, with a lifetime of five minutes. Leave prices uncached until the owner says how stale they may be.
        Warning UNAUDITED: no critic checked it
        "#);
    }

    #[test]
    fn interventions_are_told_as_asides() {
        insta::assert_snapshot!(progress_text(&cut_short()), @r#"
        Aside whisper to all: Mind what it costs to run.
        Aside whisper to cid, in private: You know this store best.
        Aside directive: only reads count; understood as: The panel is to take it that only reads count.
        Aside directive: forget all of it; understood as: The panel is to take it that forget all of it.; not confirmed, so it had no effect
        Aside stop: Plenary asks no further seat in the rounds
        Good ann  conclusion (1.4 s): Put a read-through cache before the catalogue, with a lifetime of five minutes. Leave prices uncached until the owner says how stale they may be.
        Good bob  the Blind Critic has no objection (1.4 s)
        Good CLEAN: no objection in the first audit
        "#);
    }

    #[test]
    fn a_long_text_is_cut_where_a_glance_ends() {
        let text = "né\n".repeat(500);
        let intervention = Intervention::Whisper { text, to: None };
        let seen = InterventionSummary::from_intervention(1, &intervention);
        let lines = crate::protocols::conclusion::phrases::intervened_lines(&seen);
        assert!(lines[0].text.ends_with("né…") && lines[0].text.chars().count() < 190);
    }
}
