//! Start and foot of a council page: question, panel health and cautions; then cost and authors.

use anstyle::Style;

use super::page::Foot;
use crate::domain::conclusion::Author;
use crate::domain::transcript::Transcript;
use crate::export::conclusion::Ended;
use crate::export::council::{Deliberated, Status, is_cut_short, truncation_words};
use crate::export::wording;
use crate::surfaces::cli::show::canvas::{Canvas, Detail};
use crate::surfaces::cli::show::ending;
use crate::surfaces::cli::show::layout::{MARGIN, block, hanging, heading, prose, titled};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, FAINT, GOOD, ID, PLAIN};
use crate::surfaces::cli::show::spending::spent;
use crate::surfaces::cli::wrap::{cut, wrap_items, wrap_line, wrap_text};

/// The reader knows the question; `show --full` prints all of a longer one.
const QUESTION_LINES_MAX: usize = 12;

const TITLE: &str = "COUNCIL";

pub(super) fn draw(transcript: &Transcript, told: &Deliberated, canvas: Canvas) -> Vec<Line> {
    let mut lines = vec![Line::blank()];
    let state = ending::state(&told.ended);
    lines.extend(titled(TITLE, state, &health(transcript, told), canvas));
    let room = canvas.measure() - MARGIN;
    let question = wrap_text(transcript.question(), room);
    let question = match canvas.detail {
        Detail::Brief => cut(question, QUESTION_LINES_MAX, room),
        Detail::Full => question,
    };
    lines.extend(prose(&question, MARGIN));
    for (caution, style) in cautions(told) {
        lines.push(Line::blank());
        lines.extend(block(&wrap_line(&caution, canvas.measure() - MARGIN), MARGIN, style));
    }
    lines
}

/// Lists everything that limits the panel, so that a degraded panel is always visible.
fn health(transcript: &Transcript, told: &Deliberated) -> Vec<String> {
    let seats = transcript.plan.participants().count();
    let status = match told.status {
        Status::Done => None,
        Status::Incomplete => Some("INCOMPLETE".to_owned()),
        Status::Failed => Some("FAILED".to_owned()),
    };
    let mut words: Vec<String> = status.into_iter().collect();
    let is_degraded = told.flags.degraded && told.status != Status::Failed;
    words.extend(is_degraded.then(|| "DEGRADED".to_owned()));
    words.extend(is_cut_short(transcript).then(|| "CUT SHORT".to_owned()));
    words.push(format!("{} of {seats} heard", told.rounds.r1.opinions.len()));
    words.extend(truncation_words(transcript));
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

fn cautions(told: &Deliberated) -> Vec<(String, Style)> {
    let mut cautions = Vec::new();
    if told.rehearsal {
        cautions.push((format!("REHEARSAL: {}", wording::REHEARSAL), CAUTION.bold()));
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

pub(super) fn footer(
    transcript: &Transcript,
    told: &Deliberated,
    foot: Foot,
    canvas: Canvas,
) -> Vec<Line> {
    let mut facts = spent(&told.metrics, transcript.opened_at);
    facts.extend(hands(&told.ended));
    let room = canvas.measure() - MARGIN;
    let mut lines = heading("RECORD", "", canvas);
    lines.extend(block(&wrap_items(&facts, room), MARGIN, FAINT));
    for warning in &told.warnings {
        let lead = Line::indented(MARGIN).styled("! ", CAUTION);
        lines.extend(hanging(lead, &wrap_line(warning, room - MARGIN), FAINT));
    }
    let id = &transcript.opening.dialogue_id;
    let hint = || Line::blank().styled(&format!("plenary show {id}"), GOOD);
    match (foot, &told.ended.conclusion) {
        (Foot::Hint, Some(_)) => lines.extend(where_more_is(told, hint(), canvas)),
        (Foot::Hint, None) => lines.push(Line::indented(MARGIN).join(hint())),
        (Foot::Id, _) => lines.push(Line::indented(MARGIN).styled(id.as_str(), ID)),
    }
    lines
}

/// Says what a brief page omits and which command shows it, on one line if it fits.
fn where_more_is(told: &Deliberated, hint: Line, canvas: Canvas) -> Vec<Line> {
    let what = if told.report.is_some() { "Report and debate:" } else { "The debate:" };
    let more = Line::indented(MARGIN).styled(what, FAINT);
    if more.width() + 1 + hint.width() <= canvas.columns() {
        return vec![more.plain(" ").join(hint)];
    }
    vec![more, Line::indented(MARGIN).join(hint)]
}

/// Lists who wrote, audited and revised the conclusion.
fn hands(ended: &Ended) -> Vec<String> {
    let named = |what: &str, author: Option<&Author>| {
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
