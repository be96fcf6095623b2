//! The deliberators of a review page: a row each with the verdicts of both rounds, then scores.

use anstyle::Style;

use crate::protocols::council::answers::ProviderFailure;
use crate::protocols::review::document::ReviewDocument;
use crate::protocols::review::log_row::LogRow;
use crate::protocols::review::page::draw_named;
use crate::protocols::review::phrases::{
    adjudication_text, describe_blocks, outcome_sentence, policy_sentence, score_name,
};
use crate::protocols::review::policy::ReviewVerdict;
use crate::protocols::review::seat_results::{ADJUDICATION, RoundResult, SeatResult};
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement, PriorVerdict};
use crate::report::phrases::round_name;
use crate::report::terminal::layout::{
    BAD, CAUTION, FAINT, MARGIN, PLAIN, PageCanvas, PageDetail, STRONG, StyledLine, draw_heading,
    hang_block, hang_text, indent_block, indent_prose, leaning_mark, review_mark,
};
use crate::report::terminal::wrap::{wrap_items, wrap_line, wrap_text};

/// A longer name is cut; the record has all of it.
const NAME_WIDTH_MAX: usize = 18;

/// Indent of a name, after its mark.
const NAME_INDENT: usize = MARGIN + 2;

/// Width of `revise ■` and a gap.
const CELL: usize = 10;

/// Width of `block` and a gap.
const BLOCKS: usize = 8;

/// Width of `irreducible` and a gap.
const LASTS: usize = 13;

/// Beside a verdict that blocks.
const BLOCK_MARK: &str = "■";

pub(crate) fn draw_seats(
    told: &ReviewDocument,
    positions: &[SeatResult<'_>],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let counted = told.policy.as_ref().map(|counted| counted.arithmetic);
    let note = counted.as_ref().map(describe_blocks).unwrap_or_default();
    let mut lines = draw_heading("DELIBERATORS", &note, canvas);
    let names = positions.iter().map(|one| one.seat.as_str().len());
    let column = NAME_INDENT + names.max().unwrap_or(0).min(NAME_WIDTH_MAX) + 2;
    lines.push(header_line(column, canvas));
    for position in positions {
        lines.push(draw_seat_row(position, positions, column, canvas));
        lines.extend(draw_absences(position, canvas));
        lines.extend(draw_scores(position, canvas));
    }
    lines
}

fn header_line(column: usize, canvas: PageCanvas) -> StyledLine {
    let titles =
        format!("{:<CELL$}{:<CELL$}{:<BLOCKS$}{:<LASTS$}", "R1", "R2", "block", "irreducible");
    StyledLine::with_indent(column).push_fitted(&titles, FAINT, canvas.column_count())
}

fn draw_seat_row(
    position: &SeatResult<'_>,
    all: &[SeatResult<'_>],
    column: usize,
    canvas: PageCanvas,
) -> StyledLine {
    let held = position.final_judgement();
    let (mark, style) = held.map_or(("×", BAD), |held| leaning_mark(held.verdict));
    let edge = canvas.column_count();
    let mut line = StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_fitted(position.seat.as_str(), STRONG, column - 2)
        .pad_to_column(column);
    let (no, yes) = (("no", FAINT), ("yes", BAD));
    let [block, lasting] = match held.map(DeliberatorJudgement::block_level) {
        // An absent deliberator has no verdict.
        None => [("–", FAINT); 2],
        Some(BlockLevel::None) => [no, no],
        Some(BlockLevel::Reducible) => [yes, no],
        Some(BlockLevel::Irreducible) => [yes, yes],
    };
    let (first, second) = (round_cell(&position.first), round_cell(&position.second));
    let cells = [
        (first.0.as_str(), first.1, CELL),
        (second.0.as_str(), second.1, CELL),
        (block.0, block.1, BLOCKS),
        (lasting.0, lasting.1, LASTS),
    ];
    let mut end = column;
    for (text, style, width) in cells {
        end += width;
        line = line.push_fitted(text, style, edge.min(end)).pad_to_column(end.min(edge));
    }
    line.push_fitted(seat_note(position, all), CAUTION, edge)
}

fn round_cell(part: &RoundResult<'_>) -> (String, Style) {
    match part {
        RoundResult::Open => ("–".to_owned(), FAINT),
        RoundResult::Absent(_) => ("absent".to_owned(), BAD),
        RoundResult::Judged(judgement) => {
            let block = if judgement.would_block { BLOCK_MARK } else { "" };
            (format!("{} {block}", judgement.verdict), leaning_mark(judgement.verdict).1)
        }
    }
}

/// A caution about this row.
fn seat_note(position: &SeatResult<'_>, all: &[SeatResult<'_>]) -> &'static str {
    if position.is_fallback() {
        "R1 counts"
    } else if position.is_uncited(all) {
        "uncited"
    } else {
        ""
    }
}

/// Says why each absent round failed.
fn draw_absences(position: &SeatResult<'_>, canvas: PageCanvas) -> Vec<StyledLine> {
    let parts = [&position.first, &position.second].into_iter();
    let told = parts.filter_map(|part| match part {
        RoundResult::Absent(failure) => {
            let why =
                format!("{} {}: {}", failure.round, failure.error_type, failure.error_message);
            Some(indent_block(
                &wrap_line(&why, canvas.text_width() - NAME_INDENT),
                NAME_INDENT,
                PLAIN,
            ))
        }
        RoundResult::Open | RoundResult::Judged(_) => None,
    });
    told.flatten().collect()
}

/// Draws the final scores; a changed score with its earlier value.
fn draw_scores(position: &SeatResult<'_>, canvas: PageCanvas) -> Vec<StyledLine> {
    let Some(held) = position.final_judgement() else { return Vec::new() };
    let before = position.first.judgement();
    let told = held.scores.iter().map(|(name, score)| {
        let was = before.and_then(|before| before.scores.get(name)).filter(|was| *was != score);
        let was = was.map(|was| format!("{was}→")).unwrap_or_default();
        format!("{} {was}{score}", score_name(name))
    });
    let told: Vec<String> = told.collect();
    indent_block(&wrap_items(&told, canvas.text_width() - NAME_INDENT), NAME_INDENT, FAINT)
}

/// Columns from the bar to the text.
const BRIEF_BAR_WIDTH: usize = 2;

/// Width of `adjudicator` and a gap.
const LEAD_WIDTH: usize = 13;

/// Draws the revision brief; nothing if it is empty.
pub(crate) fn draw_brief(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    if told.revision_brief.trim().is_empty() {
        return Vec::new();
    }
    let author = told.adjudicator.as_ref().map(|one| format!("by {} ({})", one.seat, one.model));
    let mut lines = draw_heading("REVISION BRIEF", &author.unwrap_or_default(), canvas);
    let (_, style) = review_mark(told.verdict);
    let bar = StyledLine::with_indent(MARGIN)
        .push_styled("┃", style)
        .pad_to_column(MARGIN + BRIEF_BAR_WIDTH);
    let words = wrap_text(&told.revision_brief, canvas.text_width() - MARGIN - BRIEF_BAR_WIDTH);
    lines.extend(words.iter().map(|line| bar.clone().push_styled(line, STRONG)));
    lines
}

pub(crate) fn draw_decision(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("DECISION", told.verdict.name(), canvas);
    let room = canvas.text_width();
    let lead = |name: &str| {
        StyledLine::with_indent(MARGIN).push_styled(name, FAINT).pad_to_column(MARGIN + LEAD_WIDTH)
    };
    if let Some(sum) = &told.policy {
        lines.extend(hang_text(lead("counted"), &policy_sentence(sum), room));
    }
    let said = told.adjudicator.as_ref().map(|one| adjudication_text(&one.adjudication));
    let said = said.unwrap_or_else(|| explain_absence(told));
    lines.extend(hang_text(lead("adjudicator"), &said, room));
    let (_, style) = review_mark(told.verdict);
    let undecided = || format!("{}: the gate stays closed", ReviewVerdict::Incomplete);
    let made =
        wrap_line(&outcome_sentence(told).unwrap_or_else(undecided), room - MARGIN - LEAD_WIDTH);
    lines.extend(hang_block(lead("the gate"), &made, style.bold()));
    let reasoning = told.adjudicator.as_ref().map(|one| one.adjudication.reasoning.trim());
    if let Some(reasoning) = reasoning.filter(|text| !text.is_empty()) {
        lines.push(StyledLine::blank());
        lines.extend(indent_prose(&wrap_text(reasoning, room - MARGIN), MARGIN));
    }
    lines
}

/// Says why the adjudicator gave no verdict.
fn explain_absence(told: &ReviewDocument) -> String {
    let of_round = |failure: &&ProviderFailure| failure.round == round_name(ADJUDICATION);
    let failed = told.panel.panel.failed.iter().find(of_round);
    failed.map_or_else(
        || "was not asked".to_owned(),
        |failure| format!("absent, {}: {}", failure.error_type, failure.error_message),
    )
}

/// Draws the earlier verdicts on this type that the adjudicator saw.
pub(crate) fn draw_prior_verdicts(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    if told.prior_verdicts.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("PRIOR VERDICTS", "shown to the adjudicator", canvas);
    lines.extend(told.prior_verdicts.iter().map(|one| draw_prior_verdict(one, canvas)));
    lines
}

fn draw_prior_verdict(one: &PriorVerdict, canvas: PageCanvas) -> StyledLine {
    let (mark, style) = review_mark(one.verdict);
    let producer = one.producer.as_ref().map(|name| format!(" (by {name})")).unwrap_or_default();
    StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(&format!("{:<8}", one.verdict.name()), style)
        .push_styled(&format!("{}  ", one.ts.utc_day()), FAINT)
        .push_fitted(&format!("{}{producer}", one.artifact), PLAIN, canvas.column_count())
}

pub(crate) fn draw_missing_context(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    if told.missing_context.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("MISSING CONTEXT", "they were told so", canvas);
    for one in &told.missing_context {
        let text = format!("{}: {}", one.path, one.reason);
        lines.extend(draw_named(&one.deliberator, &text, CAUTION, canvas));
    }
    lines
}

/// One or two screens; `show --full` prints all.
const IMPORTED_ROWS_MAX: usize = 40;

/// Width of `INCOMPLETE` and a gap.
const VERDICT: usize = 11;

pub(crate) fn draw_imported_rows(rows: &[LogRow], canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("IMPORTED VERDICTS", &count_verdicts(rows), canvas);
    let shown = match canvas.detail {
        PageDetail::Brief => rows.len().min(IMPORTED_ROWS_MAX),
        PageDetail::Full => rows.len(),
    };
    lines.extend(rows.iter().take(shown).map(|row| draw_imported_row(row, canvas)));
    if let Some(more) = rows.len().checked_sub(shown).filter(|more| *more > 0) {
        let told = format!("and {more} more; `--full` shows them");
        lines.push(StyledLine::with_indent(MARGIN).push_styled(&told, FAINT));
    }
    lines
}

/// For example `3 SHIP · 1 HOLD`.
fn count_verdicts(rows: &[LogRow]) -> String {
    let count = |verdict: ReviewVerdict| {
        let count = rows.iter().filter(|row| row.adjudicator.final_verdict == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    };
    ReviewVerdict::ALL.iter().filter_map(|verdict| count(*verdict)).collect::<Vec<_>>().join(" · ")
}

fn draw_imported_row(row: &LogRow, canvas: PageCanvas) -> StyledLine {
    let verdict = row.adjudicator.final_verdict;
    let (mark, style) = review_mark(verdict);
    let day = format!("{}  ", row.ts.utc_day());
    let rehearsal = if row.rehearsal { "REHEARSAL  " } else { "" };
    let told = format!("{rehearsal}{}  {}", row.artifact, row.artifact_type);
    StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(&format!("{:<VERDICT$}", verdict.name()), style)
        .push_styled(&day, FAINT)
        .push_fitted(&told, PLAIN, canvas.column_count())
}
