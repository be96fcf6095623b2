//! The page of a council: which sections it has, in which order. A batch prints one line about each
//! result instead.

use std::collections::{BTreeSet, VecDeque};

use crate::model::dialogue::TerminalState;
use crate::model::plan::{DeliveryMode, Plan};
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::protocols::conclusion::document::ConclusionView;
use crate::protocols::conclusion::page::{conclusion_sections, state_text};
use crate::protocols::conclusion::phrases::state_label;
use crate::protocols::conclusion::types::SeatAuthor;
use crate::protocols::council::document::{
    CouncilDocument, council_document, is_cut_short, truncation_note,
};
use crate::protocols::council::panel_sections::{
    describe_tally, opinions_section, peer_reviews_section, positions_section,
};
use crate::protocols::council::report_sections::report_sections;
use crate::report::page::{PageDetail, PageModel, PageScope, PageSection};
use crate::report::record_page::{
    add_record_facts, background_section, base_page, caution_block, dialogue_page, record_sections,
    recorded_outcomes, stop_blocks,
};
use crate::report::run_sections::{
    files_section, interventions_section, list_spending, replies_section, run_record_section,
};
use crate::report::run_status::{CompletionStatus, status_word};

/// The page of a run, finished or not, on its record.
pub fn council_page(record: &DialogueRecord, state: &RunState, scope: PageScope) -> PageModel {
    if scope.round.is_some() {
        return dialogue_page(record, None, scope);
    }
    let result = &council_document(state);
    let mut page = base_page(&state.opening, "Council", scope);
    add_record_facts(&mut page, record, scope.detail);
    page.state = state_text(&result.ended);
    page.health.extend(list_health(state, result));
    if let Some(error) = &result.error {
        let message = format!("{}: {}.", status_word(state), error.message);
        page.intro.extend(stop_blocks(message, &error.suggestion));
    }
    if result.flags.false_consensus {
        let message = "FALSE CONSENSUS: the opinions were split, but the report does not say so";
        page.intro.push(caution_block(message));
    }
    page.sections.extend(background_section(record, scope));
    let mut report = list_report_sections(result);
    if state.plan.delivery == DeliveryMode::Selection {
        page.sections.extend(take_selected(result, &mut report));
    }
    page.sections.extend(conclusion_sections(&result.ended, recorded_outcomes(record)));
    let is_result = scope.detail == PageDetail::Result;
    if is_result && result.ended.conclusion.is_some() {
        page.sections.push(positions_section(result, scope.detail));
    } else {
        page.sections.extend(debate_sections(state, result, report, scope.detail));
    }
    if !shows_replies(result, scope.detail) {
        page.sections.push(interventions_section(&result.interventions));
    }
    if !is_result {
        page.sections.extend(record_sections(record, scope));
        page.sections.push(files_section(&state.plan.context));
    }
    page.sections.push(record_section(state, result, scope.detail));
    page
}

fn list_report_sections(result: &CouncilDocument) -> VecDeque<PageSection> {
    let has_ending = result.ended.conclusion.is_some() || result.ended.draft.is_some();
    let sections = result.report.as_ref().map(|given| report_sections(given, has_ending));
    sections.unwrap_or_default().into()
}

/// The opinion that `--select` delivers, in place of the chair's answer.
fn take_selected(
    result: &CouncilDocument,
    report: &mut VecDeque<PageSection>,
) -> Option<PageSection> {
    let author = result.peer_choice.as_ref().map(|choice| choice.provider.to_string());
    let answer = report.pop_front()?.with_subject(author);
    Some(PageSection { title: "Selected opinion".to_owned(), ..answer })
}

/// The report and the panel. An unconverged result has every opinion and reply too, because the
/// reader has no conclusion.
fn debate_sections(
    state: &RunState,
    result: &CouncilDocument,
    mut report: VecDeque<PageSection>,
    detail: PageDetail,
) -> Vec<PageSection> {
    // The panel follows the answer, which a page of `--select` has above.
    let is_selected = state.plan.delivery == DeliveryMode::Selection;
    let answer = if is_selected { None } else { report.pop_front() };
    let mut sections: Vec<PageSection> = answer.into_iter().collect();
    sections.push(positions_section(result, detail));
    sections.extend(report);
    // `show` prints the rounds of the record, which have the same content.
    if is_unconverged(result) && detail == PageDetail::Result {
        sections.push(opinions_section(result));
        sections.push(peer_reviews_section(result));
    }
    if shows_replies(result, detail) {
        sections.push(replies_section(state, &result.interventions));
    }
    sections
}

/// Replies are on a full page and on the screens of an unconverged run.
fn shows_replies(result: &CouncilDocument, detail: PageDetail) -> bool {
    detail == PageDetail::Full || is_unconverged(result) && detail != PageDetail::Export
}

fn is_unconverged(result: &CouncilDocument) -> bool {
    result.ended.terminal_state == Some(TerminalState::Unconverged)
}

/// Lists everything that limits the panel, so that a degraded panel is always visible.
fn list_health(state: &RunState, result: &CouncilDocument) -> Vec<String> {
    let seats = state.plan.participant_seats().count();
    let status = match result.status {
        CompletionStatus::Done => None,
        CompletionStatus::Incomplete if state.is_running => Some("RUNNING".to_owned()),
        CompletionStatus::Incomplete => Some("INCOMPLETE".to_owned()),
        CompletionStatus::Failed => Some("FAILED".to_owned()),
    };
    let mut words: Vec<String> = status.into_iter().collect();
    let is_degraded = result.flags.degraded && result.status != CompletionStatus::Failed;
    words.extend(is_degraded.then(|| "DEGRADED".to_owned()));
    words.extend(is_cut_short(state).then(|| "CUT SHORT".to_owned()));
    words.push(format!("{} of {seats} answered", result.rounds.r1.opinions.len()));
    let split = result.tally.is_split().then(|| describe_tally(result.tally).replace(" · ", ", "));
    words.extend(split.map(|stances| format!("SPLIT: {stances}")));
    words.extend(truncation_note(state));
    let skipped = state.shortcuts.iter().filter(|shortcut| shortcut.is_taken());
    words.extend(skipped.map(|shortcut| format!("R{} SKIPPED", shortcut.round)));
    words.extend(result.flags.single_family.then(|| "one family".to_owned()));
    words.extend(describe_lenses(&state.plan));
    let is_kin = result.ended.critic_of_same_family().is_some();
    // All rehearsal seats share one family; the REHEARSAL caution covers that.
    words.extend((is_kin && !result.rehearsal).then(|| "critic of the same family".to_owned()));
    let is_unpriced = state.plan.seats.iter().any(|seat| seat.price.is_none());
    words.extend(is_unpriced.then(|| "price unknown".to_owned()));
    words
}

/// `one model, three lenses`, if models take several seats and look at the question differently.
fn describe_lenses(plan: &Plan) -> Option<String> {
    let lenses: BTreeSet<&str> =
        plan.participant_seats().filter_map(|seat| seat.lens.as_deref()).collect();
    let models: BTreeSet<&str> = plan.participant_seats().map(|seat| seat.model.as_str()).collect();
    let is_repeated = models.len() < plan.participant_seats().count();
    (is_repeated && !lenses.is_empty()).then(|| {
        let number = |count: usize| match count {
            1 => "one".to_owned(),
            2 => "two".to_owned(),
            3 => "three".to_owned(),
            more => more.to_string(),
        };
        let (model, lens) = (
            if models.len() == 1 { "model" } else { "models" },
            if lenses.len() == 1 { "lens" } else { "lenses" },
        );
        format!("{} {model}, {} {lens}", number(models.len()), number(lenses.len()))
    })
}

fn record_section(state: &RunState, result: &CouncilDocument, detail: PageDetail) -> PageSection {
    let mut facts = list_spending(&result.metrics, state.opened_at);
    facts.extend(list_authors(&result.ended));
    let hint = match (&result.ended.conclusion, &result.report) {
        (None, _) => "The record:",
        (Some(_), Some(_)) => "Report and debate:",
        (Some(_), None) => "The debate:",
    };
    let command = format!("plenary show {}", state.opening.dialogue_id);
    run_record_section(facts, &result.warnings, (hint, command), detail)
}

/// Lists who wrote, audited and revised the conclusion.
fn list_authors(ended: &ConclusionView) -> Vec<String> {
    let named = |what: &str, author: Option<&SeatAuthor>| {
        author.map(|author| format!("{what} by {} ({})", author.seat, author.model))
    };
    let audit = ended.audit.as_ref();
    let written = ended.draft.as_ref().or(ended.conclusion.as_ref());
    let audited = audit.filter(|audit| audit.critic_verdict.is_some());
    [
        named("concluded", written.and(ended.synthesizer.as_ref())),
        named("audited blind", audited.and_then(|audit| audit.critic.as_ref())),
        named("revised", audit.and_then(|audit| audit.reviser.as_ref())),
    ]
    .into_iter()
    .flatten()
    .collect()
}
/// Labels that a headline must show.
pub fn result_labels(result: &CouncilDocument) -> String {
    let labels = [
        (result.ended.is_over(), state_label(result.ended.terminal_state)),
        (result.rehearsal, "REHEARSAL"),
        (result.flags.degraded, "DEGRADED"),
        (result.flags.truncated, "TRUNCATED"),
        (result.tally.is_split(), "SPLIT"),
        (result.flags.false_consensus, "FALSE CONSENSUS"),
    ];
    let due = labels.iter().filter(|(is_due, _)| *is_due);
    due.map(|(_, label)| format!("[{label}] ")).collect()
}

/// The result in a sentence: the conclusion, why there is none, or the report.
pub fn result_sentence(result: &CouncilDocument) -> String {
    let ended = &result.ended;
    let ending = ended.conclusion.as_ref().map(|given| &given.recommendation);
    if let Some(text) = ending.or(ended.explanation.as_ref()) {
        return text.clone();
    }
    match (&result.error, &result.report) {
        (Some(error), None) => format!("{}: {}", result.status, error.message),
        // The report of a run that stopped while concluding is not a conclusion.
        (Some(error), Some(_)) if ended.stage.is_some() => {
            format!("{}: {}", result.status, error.message)
        }
        (_, Some(report)) => {
            let conclusion = &report.report.conclusion;
            format!("{}: {}", conclusion.outcome, conclusion.statement)
        }
        (None, None) => result.status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::run_state::RunState;
    use crate::protocols::conclusion::sample::{
        clean, critic_failed, cut_short, unaudited, unconverged,
    };
    use crate::protocols::council::document::council_document;

    use super::*;

    #[test]
    fn one_model_on_three_seats_is_named_with_its_lenses() {
        let mut plan = clean().plan;
        assert_eq!(describe_lenses(&plan), None);
        for (seat, lens) in plan.seats.iter_mut().zip(["pragmatist", "skeptic", "optimist"]) {
            (seat.model, seat.lens) = ("m".to_owned(), Some(lens.to_owned()));
        }
        assert_eq!(describe_lenses(&plan).as_deref(), Some("one model, three lenses"));
        "other".clone_into(&mut plan.seats[1].model);
        plan.seats[1].lens = None;
        assert_eq!(describe_lenses(&plan).as_deref(), Some("two models, two lenses"));
    }

    #[test]
    fn a_line_of_a_batch_says_how_it_ended() {
        let line = |state: &RunState| {
            let result = council_document(state);
            result_labels(&result) + &result_sentence(&result)
        };
        let cases = [
            (clean(), "[CLEAN] [SPLIT] Put a read-through cache before the catalogue,"),
            (unaudited(), "[UNAUDITED] [SPLIT] Put a read-through cache"),
            (unconverged(), "[UNCONVERGED] [SPLIT] The critic rejected the conclusion twice"),
            (cut_short(), "[CLEAN] [DEGRADED] [SPLIT] Put a"),
            (critic_failed(), "[SPLIT] incomplete: the conclusion could not be audited: bob"),
        ];
        for (state, start) in cases {
            let line = line(&state);
            assert!(line.starts_with(start), "{line}");
        }
    }
}
