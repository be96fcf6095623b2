//! Council page: which sections it has, in which order. Called by `ask` and `show`. A batch prints
//! one line about each result instead.

use anstyle::Style;

use crate::model::dialogue::TerminalState;
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::model::time::Moment;
use crate::protocols::conclusion::document::ConclusionView;
use crate::protocols::conclusion::page::{draw_conclusion, state_line};
use crate::protocols::conclusion::phrases::state_label;
use crate::protocols::conclusion::types::{ConclusionOutcome, SeatAuthor};
use crate::protocols::council::document::{
    CouncilDocument, council_document, is_cut_short, truncation_note,
};
use crate::protocols::council::page_panel::{
    draw_opinions, draw_panel, draw_panel_brief, draw_peer_reviews,
};
use crate::protocols::council::page_report::{
    draw_answer, draw_disagreements, draw_findings, draw_list, draw_next_actions, draw_reasons,
    draw_risks, draw_uncertainties,
};
use crate::report::phrases::REHEARSAL_NOTE;
use crate::report::run_status::CompletionStatus;
use crate::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, ID, MARGIN, PLAIN, PageCanvas, PageDetail, StyledLine, draw_heading,
    draw_page_title, hang_block, indent_block, indent_prose, join_sections,
};
use crate::report::terminal::run_sections::{draw_interventions, draw_replies, list_spending};
use crate::report::terminal::wrap::{cut_lines, wrap_items, wrap_line, wrap_text};

/// The last line of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageFoot {
    /// The command that shows more.
    Hint,
    /// The id alone, because more follows.
    Id,
}

/// Draws the page that a run ends with, with what became of its conclusion.
pub fn draw_result(record: &DialogueRecord, transcript: &RunState, canvas: PageCanvas) -> String {
    let concluded = record.conclusion.as_ref().filter(|_| transcript.conclusion_result.is_some());
    let outcomes = concluded.map_or(&[][..], |concluded| &concluded.outcomes);
    draw_council_page(transcript, outcomes, canvas)
}

/// Draws a run, finished or not, with ANSI colours and the recorded outcomes.
pub(crate) fn draw_council_page(
    transcript: &RunState,
    outcomes: &[(Moment, ConclusionOutcome)],
    canvas: PageCanvas,
) -> String {
    join_sections(&council_sections(transcript, outcomes, PageFoot::Hint, canvas))
}

pub(crate) fn council_sections(
    transcript: &RunState,
    outcomes: &[(Moment, ConclusionOutcome)],
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let told = &council_document(transcript);
    let mut sections = vec![draw_headline(transcript, told, canvas)];
    sections.extend(draw_conclusion(&told.ended, outcomes, StyledLine::blank(), canvas));
    match told.ended.conclusion {
        // With a conclusion, the brief page omits the debate; `show` prints it.
        Some(_) if foot == PageFoot::Hint => sections.push(draw_panel_brief(told, canvas)),
        Some(_) | None => sections.extend(background_sections(transcript, told, foot, canvas)),
    }
    if !shows_replies(told, canvas) {
        sections.push(draw_interventions(&told.interventions, canvas));
    }
    sections.push(draw_footer(transcript, told, foot, canvas));
    sections
}

/// The report and the panel; all replies too if the run is unconverged.
fn background_sections(
    transcript: &RunState,
    told: &CouncilDocument,
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let mut sections = Vec::new();
    if let Some(given) = &told.report {
        let is_ending = told.ended.conclusion.is_some() || told.ended.draft.is_some();
        let lead = if is_ending { "REPORT: " } else { "" };
        sections.push(draw_answer(given, lead, canvas));
        sections.push(draw_reasons(given, canvas));
    }
    sections.push(draw_panel(told, canvas));
    if let Some(given) = &told.report {
        sections.push(draw_disagreements(given, canvas));
        sections.push(draw_findings(given, canvas));
        sections.push(draw_risks(given, canvas));
        sections.push(draw_uncertainties(given, canvas));
        sections.push(draw_list("ALTERNATIVES", &given.report.alternatives, canvas));
        sections.push(draw_list("HOW TO CHECK", &given.report.verification_plan, canvas));
        sections.push(draw_next_actions(given, canvas));
    }
    // `show` prints the record below, whose rounds have the same content.
    if is_unconverged(told) && foot == PageFoot::Hint {
        sections.push(draw_opinions(told, canvas));
        sections.push(draw_peer_reviews(told, canvas));
    }
    if shows_replies(told, canvas) {
        sections.push(draw_replies(transcript, &told.interventions, canvas));
    }
    sections
}

/// Replies are shown on a full page and in unconverged runs.
fn shows_replies(told: &CouncilDocument, canvas: PageCanvas) -> bool {
    canvas.detail == PageDetail::Full || is_unconverged(told)
}

fn is_unconverged(told: &CouncilDocument) -> bool {
    told.ended.terminal_state == Some(TerminalState::Unconverged)
}

/// The reader knows the question; `show --full` prints all of a longer one.
const QUESTION_LINES_MAX: usize = 12;

const COUNCIL_TITLE: &str = "COUNCIL";

pub(crate) fn draw_headline(
    transcript: &RunState,
    told: &CouncilDocument,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut lines = vec![StyledLine::blank()];
    let state = state_line(&told.ended);
    lines.extend(draw_page_title(COUNCIL_TITLE, state, &list_health(transcript, told), canvas));
    let room = canvas.text_width() - MARGIN;
    let question = wrap_text(transcript.question(), room);
    let question = match canvas.detail {
        PageDetail::Brief => cut_lines(question, QUESTION_LINES_MAX, room),
        PageDetail::Full => question,
    };
    lines.extend(indent_prose(&question, MARGIN));
    for (caution, style) in list_cautions(told) {
        lines.push(StyledLine::blank());
        lines.extend(indent_block(
            &wrap_line(&caution, canvas.text_width() - MARGIN),
            MARGIN,
            style,
        ));
    }
    lines
}

/// Lists everything that limits the panel, so that a degraded panel is always visible.
fn list_health(transcript: &RunState, told: &CouncilDocument) -> Vec<String> {
    let seats = transcript.plan.participant_seats().count();
    let status = match told.status {
        CompletionStatus::Done => None,
        CompletionStatus::Incomplete => Some("INCOMPLETE".to_owned()),
        CompletionStatus::Failed => Some("FAILED".to_owned()),
    };
    let mut words: Vec<String> = status.into_iter().collect();
    let is_degraded = told.flags.degraded && told.status != CompletionStatus::Failed;
    words.extend(is_degraded.then(|| "DEGRADED".to_owned()));
    words.extend(is_cut_short(transcript).then(|| "CUT SHORT".to_owned()));
    words.push(format!("{} of {seats} heard", told.rounds.r1.opinions.len()));
    words.extend(truncation_note(transcript));
    let skipped = transcript.shortcuts.iter().filter(|shortcut| shortcut.is_taken());
    words.extend(skipped.map(|shortcut| format!("R{} SKIPPED", shortcut.round)));
    words.extend(told.flags.single_family.then(|| "one family".to_owned()));
    let is_kin = told.ended.critic_of_same_family().is_some();
    // All rehearsal seats share one family; the REHEARSAL caution covers that.
    words.extend((is_kin && !told.rehearsal).then(|| "critic of the same family".to_owned()));
    let is_unpriced = transcript.plan.seats.iter().any(|seat| seat.price.is_none());
    words.extend(is_unpriced.then(|| "price unknown".to_owned()));
    words
}

fn list_cautions(told: &CouncilDocument) -> Vec<(String, Style)> {
    let mut cautions = Vec::new();
    if told.rehearsal {
        cautions.push((format!("REHEARSAL: {REHEARSAL_NOTE}"), CAUTION.bold()));
    }
    if let Some(error) = &told.error {
        cautions.push((format!("{}: {}.", told.status, error.message), BAD.bold()));
        cautions.push((error.suggestion.clone(), PLAIN));
    }
    if told.flags.false_consensus {
        let message = "FALSE CONSENSUS: the opinions were split, and the report does not say so";
        cautions.push((message.to_owned(), CAUTION.bold()));
    }
    let disclaimer = told.report.as_ref().and_then(|report| report.disclaimer.clone());
    // With a conclusion above, the disclaimer is printed beside the report instead.
    if let Some(disclaimer) = disclaimer.filter(|_| told.ended.conclusion.is_none()) {
        cautions.push((disclaimer, CAUTION.bold()));
    }
    cautions
}

pub(crate) fn draw_footer(
    transcript: &RunState,
    told: &CouncilDocument,
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut facts = list_spending(&told.metrics, transcript.opened_at);
    facts.extend(list_authors(&told.ended));
    let room = canvas.text_width() - MARGIN;
    let mut lines = draw_heading("RECORD", "", canvas);
    lines.extend(indent_block(&wrap_items(&facts, room), MARGIN, FAINT));
    for warning in &told.warnings {
        let lead = StyledLine::with_indent(MARGIN).push_styled("! ", CAUTION);
        lines.extend(hang_block(lead, &wrap_line(warning, room - MARGIN), FAINT));
    }
    let id = &transcript.opening.dialogue_id;
    let hint = || StyledLine::blank().push_styled(&format!("plenary show {id}"), GOOD);
    match (foot, &told.ended.conclusion) {
        (PageFoot::Hint, Some(_)) => lines.extend(draw_hint(told, hint(), canvas)),
        (PageFoot::Hint, None) => lines.push(StyledLine::with_indent(MARGIN).append_line(hint())),
        (PageFoot::Id, _) => {
            lines.push(StyledLine::with_indent(MARGIN).push_styled(id.as_str(), ID))
        }
    }
    lines
}

/// Says what a brief page omits and which command shows it, on one line if it fits.
fn draw_hint(told: &CouncilDocument, hint: StyledLine, canvas: PageCanvas) -> Vec<StyledLine> {
    let what = if told.report.is_some() { "Report and debate:" } else { "The debate:" };
    let more = StyledLine::with_indent(MARGIN).push_styled(what, FAINT);
    if more.width() + 1 + hint.width() <= canvas.column_count() {
        return vec![more.push_plain(" ").append_line(hint)];
    }
    vec![more, StyledLine::with_indent(MARGIN).append_line(hint)]
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
        named("mended", audit.and_then(|audit| audit.reviser.as_ref())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Labels that a headline must show.
pub fn result_labels(told: &CouncilDocument) -> String {
    let labels = [
        (told.ended.is_over(), state_label(told.ended.terminal_state)),
        (told.rehearsal, "REHEARSAL"),
        (told.flags.degraded, "DEGRADED"),
        (told.flags.truncated, "TRUNCATED"),
        (told.flags.false_consensus, "FALSE CONSENSUS"),
    ];
    let due = labels.iter().filter(|(is_due, _)| *is_due);
    due.map(|(_, label)| format!("[{label}] ")).collect()
}

/// The result in a sentence: the conclusion, why there is none, or the report.
pub fn result_sentence(told: &CouncilDocument) -> String {
    let ended = &told.ended;
    let ending = ended.conclusion.as_ref().map(|given| &given.recommendation);
    if let Some(said) = ending.or(ended.explanation.as_ref()) {
        return said.clone();
    }
    match (&told.error, &told.report) {
        (Some(error), None) => format!("{}: {}", told.status, error.message),
        // The report of a run that stopped while concluding is not a conclusion.
        (Some(error), Some(_)) if ended.stage.is_some() => {
            format!("{}: {}", told.status, error.message)
        }
        (_, Some(report)) => {
            let conclusion = &report.report.conclusion;
            format!("{}: {}", conclusion.outcome, conclusion.statement)
        }
        (None, None) => told.status.to_string(),
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
    fn a_line_of_a_batch_says_how_it_ended() {
        let line = |transcript: &RunState| {
            let told = council_document(transcript);
            result_labels(&told) + &result_sentence(&told)
        };
        let cases = [
            (clean(), "[CLEAN] Put a read-through cache before the catalogue,"),
            (unaudited(), "[UNAUDITED] Put a read-through cache"),
            (unconverged(), "[UNCONVERGED] No conclusion came out"),
            (cut_short(), "[CLEAN] [DEGRADED] Put a"),
            (critic_failed(), "incomplete: the conclusion could not be audited: bob"),
        ];
        for (transcript, start) in cases {
            let line = line(&transcript);
            assert!(line.starts_with(start), "{line}");
        }
    }
}
