//! Review page: which sections it has, in which order. Called by `review` and `show`.

use anstyle::Style;

use crate::model::ids::ExpertSlug;
use crate::model::run_state::RunState;
use crate::protocols::council::page::PageFoot;
use crate::protocols::review::document::{ReviewDocument, review_document};
use crate::protocols::review::page_concerns::{draw_changes, draw_concerns};
use crate::protocols::review::page_decision::{
    draw_brief, draw_decision, draw_missing_context, draw_prior_verdicts, draw_seats,
};
use crate::protocols::review::phrases::{count_blocks, override_lines};
use crate::protocols::review::policy::ReviewVerdict;
use crate::protocols::review::seat_results::list_seat_results;
use crate::report::phrases::REHEARSAL_NOTE;
use crate::report::run_status::StopNotice;
use crate::report::safe_text::safe_line;
use crate::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, ID, MARGIN, PLAIN, PageCanvas, PageDetail, STRONG, StyledLine,
    draw_heading, draw_page_title, hang_block, hang_text, indent_block, join_sections, review_mark,
};
use crate::report::terminal::run_sections::{draw_replies, list_spending};
use crate::report::terminal::wrap::{wrap_items, wrap_line};

/// Indent of the text under a deliberator's name.
pub(crate) const SEAT_INDENT: usize = MARGIN * 2;

/// Draws a review, decided or not, with ANSI colours.
pub fn draw_review_page(transcript: &RunState, canvas: PageCanvas) -> String {
    join_sections(&review_sections(transcript, PageFoot::Hint, canvas))
}

pub(crate) fn review_sections(
    transcript: &RunState,
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let told = &review_document(transcript);
    let positions = &list_seat_results(transcript);
    let mut sections = vec![
        draw_headline(told, canvas),
        draw_brief(told, canvas),
        draw_seats(told, positions, canvas),
        draw_concerns(told, positions, canvas),
        draw_changes(told, positions, canvas),
        draw_decision(told, canvas),
        draw_prior_verdicts(told, canvas),
        draw_missing_context(told, canvas),
    ];
    if canvas.detail == PageDetail::Full {
        sections.push(draw_replies(transcript, &[], canvas));
    }
    sections.push(draw_next_steps(told, canvas));
    sections.push(draw_footer(transcript, told, foot, canvas));
    sections
}

/// Draws a deliberator and a text beside its name, or below it if the text does not fit.
pub(crate) fn draw_named(
    seat: &ExpertSlug,
    text: &str,
    style: Style,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let lead = StyledLine::with_indent(MARGIN).push_styled(seat.as_str(), STRONG).push_plain("  ");
    let line = lead.clone().push_styled(text, style);
    if line.width() <= canvas.column_count() {
        return vec![line];
    }
    let mut lines = vec![lead];
    lines.extend(indent_block(
        &wrap_line(text, canvas.text_width() - SEAT_INDENT),
        SEAT_INDENT,
        style,
    ));
    lines
}

const REVIEW_TITLE: &str = "REVIEW";

/// Characters of the digest that are shown; enough to distinguish files.
const DIGEST_CHARS_SHOWN: usize = 12;

pub(crate) fn draw_headline(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let (mark, style) = review_mark(told.verdict);
    let state = StyledLine::blank().push_styled(mark, style).push_plain(" ");
    let state = state.push_styled(told.verdict.name(), style.bold());
    let mut lines = vec![StyledLine::blank()];
    lines.extend(draw_page_title(REVIEW_TITLE, state, &list_health(told), canvas));
    let room = canvas.text_width() - MARGIN;
    lines.extend(indent_block(&wrap_line(&told.artifact, room), MARGIN, STRONG));
    lines.extend(indent_block(&wrap_items(&list_facts(told), room), MARGIN, FAINT));
    for (caution, style) in list_cautions(told) {
        lines.push(StyledLine::blank());
        lines.extend(indent_block(&wrap_line(&caution, room), MARGIN, style));
    }
    lines
}

/// Lists everything that limits the panel, so that a degraded panel is always visible.
fn list_health(told: &ReviewDocument) -> Vec<String> {
    let heard = told.policy.as_ref().map_or(0, |counted| counted.arithmetic.present);
    let mut words: Vec<String> = Vec::new();
    words.extend(told.rehearsal.then(|| "REHEARSAL".to_owned()));
    let is_abandoned = told.error.as_ref().is_some_and(StopNotice::is_abandoned);
    words.extend(is_abandoned.then(|| "ABANDONED".to_owned()));
    words.extend(told.panel.degraded.then(|| "DEGRADED".to_owned()));
    words.push(format!("{heard} of {} heard", told.round1.len()));
    // All rehearsal seats share one family; the REHEARSAL caution covers that.
    let is_told = told.panel.single_family && !told.rehearsal;
    words.extend(is_told.then(|| "one family".to_owned()));
    words
}

fn list_facts(told: &ReviewDocument) -> Vec<String> {
    let mut facts = vec![told.artifact_type.clone(), format!("tier {}", told.tier.tier_number())];
    facts.extend(told.producer.as_ref().map(|producer| format!("made by {producer}")));
    let digest =
        told.artifact_sha256.as_deref().and_then(|digest| digest.get(..DIGEST_CHARS_SHOWN));
    facts.extend(digest.map(|digest| format!("sha256 {digest}…")));
    facts
}

fn list_cautions(told: &ReviewDocument) -> Vec<(String, Style)> {
    let mut cautions = Vec::new();
    if told.rehearsal {
        cautions.push((format!("REHEARSAL: {REHEARSAL_NOTE}"), CAUTION.bold()));
    }
    if let Some(error) = &told.error {
        let message = format!("{}: {}.", told.status, error.message);
        cautions.push((message, BAD.bold()));
    }
    let said = override_lines(told).into_iter().map(|said| format!("OVERRIDDEN: {said}"));
    cautions.extend(said.map(|said| (said, CAUTION.bold())));
    cautions
}

pub(crate) fn draw_footer(
    transcript: &RunState,
    told: &ReviewDocument,
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let room = canvas.text_width() - MARGIN;
    let mut lines = draw_heading("RECORD", "", canvas);
    let facts = told.metrics.as_ref().map(|metrics| list_spending(metrics, transcript.opened_at));
    lines.extend(indent_block(&wrap_items(&facts.unwrap_or_default(), room), MARGIN, FAINT));
    for warning in &told.warnings {
        let lead = StyledLine::with_indent(MARGIN).push_styled("! ", CAUTION);
        lines.extend(hang_block(lead, &wrap_line(warning, room - MARGIN), FAINT));
    }
    let id = &transcript.opening.dialogue_id;
    let verdict = told.verdict_id.as_deref().unwrap_or_default();
    lines.push(match foot {
        PageFoot::Hint => {
            StyledLine::with_indent(MARGIN).push_styled(&format!("plenary show {id}"), GOOD)
        }
        // A verdict id contains the dialogue id.
        PageFoot::Id if !verdict.is_empty() => {
            StyledLine::with_indent(MARGIN).push_styled(verdict, ID)
        }
        PageFoot::Id => StyledLine::with_indent(MARGIN).push_styled(id.as_str(), ID),
    });
    lines
}

/// Width of `INCOMPLETE` and a gap.
const VERDICT: usize = 12;

/// Draws a review or a skipped file as one line; a skip reason goes below.
pub fn draw_review_line(told: &ReviewDocument, canvas: PageCanvas) -> String {
    let (mark, style) = review_mark(told.verdict);
    let lead = StyledLine::blank()
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(told.verdict.name(), style)
        .pad_to_column(VERDICT)
        .push_plain(" ");
    // The path has priority: the note is cut first. A skip reason is always printed in full.
    let path = lead.push_fitted(&told.artifact, PLAIN, canvas.column_count() - 2);
    match &told.skipped_because {
        Some(because) => {
            let room = canvas.text_width().saturating_sub(VERDICT + 1);
            let lines = wrap_line(&safe_line(because), room);
            let indented = lines.iter().map(|line| format!("\n{:VERDICT$} {line}", ""));
            path.to_string() + &indented.collect::<String>()
        }
        None => path
            .push_plain("  ")
            .push_fitted(&line_note(told), FAINT, canvas.column_count())
            .to_string(),
    }
}

fn line_note(told: &ReviewDocument) -> String {
    let mut words = Vec::new();
    words.extend(told.rehearsal.then(|| "REHEARSAL".to_owned()));
    words.extend(told.panel.degraded.then(|| "DEGRADED".to_owned()));
    words.extend(told.policy.as_ref().map(|counted| count_blocks(counted.arithmetic.blocks)));
    words.extend(told.error.as_ref().map(|error| error.message.clone()));
    words.extend(told.verdict_id.clone());
    words.join(" · ")
}

pub(crate) fn draw_next_steps(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let verdict = told.verdict_id.as_ref();
    let decide = verdict.map(|id| format!("plenary override {id} --as SHIP --why \"…\""));
    let go_on = told.error.as_ref().map(|error| error.suggestion.as_str());
    let steps: Vec<(&str, Option<String>)> = match told.verdict {
        ReviewVerdict::Ship | ReviewVerdict::Skipped => Vec::new(),
        ReviewVerdict::Revise | ReviewVerdict::Hold => {
            vec![
                (change_advice(told), None),
                ("A person may decide otherwise, and says why:", decide),
            ]
        }
        ReviewVerdict::Incomplete => go_on.map(|go_on| (go_on, None)).into_iter().collect(),
    };
    if steps.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("NEXT", "", canvas);
    for (what, command) in steps {
        let lead = StyledLine::with_indent(MARGIN).push_styled("· ", FAINT);
        lines.extend(hang_text(lead, what, canvas.text_width()));
        let line =
            |command: String| StyledLine::with_indent(MARGIN * 2).push_styled(&command, GOOD);
        lines.extend(command.map(line));
    }
    lines
}

/// Advice to the author of the artifact.
fn change_advice(told: &ReviewDocument) -> &'static str {
    let sum = told.policy.as_ref().map(|counted| &counted.arithmetic);
    match sum.is_some_and(|sum| sum.blocks > 0 && sum.irreducible_blocks == sum.blocks) {
        true => "No revision would lift the blocks: write another, or let it be.",
        false => "Change it by the brief, and review it again.",
    }
}
