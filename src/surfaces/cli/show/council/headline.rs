//! Start and foot of a council page: question, panel health and cautions; then cost and authors.

use anstyle::Style;

use super::page::PageFoot;
use crate::domain::conclusion::SeatAuthor;
use crate::domain::transcript::RunState;
use crate::export::conclusion::ConclusionView;
use crate::export::council::{CompletionStatus, CouncilDocument, is_cut_short, truncation_note};
use crate::export::wording;
use crate::surfaces::cli::show::canvas::{PageCanvas, PageDetail};
use crate::surfaces::cli::show::ending;
use crate::surfaces::cli::show::layout::{
    MARGIN, draw_heading, draw_page_title, hang_block, indent_block, indent_prose,
};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, FAINT, GOOD, ID, PLAIN};
use crate::surfaces::cli::show::spending::list_spending;
use crate::surfaces::cli::wrap::{cut_lines, wrap_items, wrap_line, wrap_text};

/// The reader knows the question; `show --full` prints all of a longer one.
const QUESTION_LINES_MAX: usize = 12;

const COUNCIL_TITLE: &str = "COUNCIL";

pub(super) fn draw_headline(
    transcript: &RunState,
    told: &CouncilDocument,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut lines = vec![StyledLine::blank()];
    let state = ending::state_line(&told.ended);
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
        cautions.push((format!("REHEARSAL: {}", wording::REHEARSAL_NOTE), CAUTION.bold()));
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

pub(super) fn draw_footer(
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
