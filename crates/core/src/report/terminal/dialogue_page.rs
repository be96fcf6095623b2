//! Dialogue pages for `show`, `ask` and `conclude`: which sections a page has, in which order.

use std::iter;

use anstyle::Style;

use crate::model::dialogue::{Dialogue, TerminalState};
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::protocols::conclusion::document::ConclusionView;
use crate::protocols::conclusion::page::{draw_conclusion, state_line};
use crate::protocols::conclusion::types::ConclusionOutcome;
use crate::protocols::council::page::{PageFoot, council_sections};
use crate::protocols::review::log_row::LogRow;
use crate::protocols::review::page::review_sections;
use crate::protocols::review::page_decision::draw_imported_rows;
use crate::report::interventions::list_interventions;
use crate::report::phrases::{
    REHEARSAL_NOTE, conclusion_state, count_noun, settled_lists, sorted_verdicts, verdict_caution,
    verdict_details,
};
use crate::report::run_status::stop_notice;
use crate::report::terminal::entities::{draw_reference_tree, draw_tension_board};
use crate::report::terminal::experts::draw_scoreboard;
use crate::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, MARGIN, PLAIN, PageCanvas, PageDetail, STRONG, StyledLine,
    dialogue_mark, draw_heading, hang_block, indent_block, indent_prose, join_sections,
    verdict_mark,
};
use crate::report::terminal::rounds::{draw_moves, draw_rounds};
use crate::report::terminal::run_sections::draw_interventions;
use crate::report::terminal::wrap::{wrap_items, wrap_line, wrap_text};

/// Draws the dialogue, or one round of it, with ANSI colours. `run` is the run on it, if any.
pub fn draw_dialogue(
    record: &DialogueRecord,
    run: Option<&RunState>,
    canvas: PageCanvas,
) -> String {
    let sections = match canvas.round {
        None => all_sections(record, run, canvas),
        Some(_) => round_sections(record, canvas),
    };
    join_sections(&sections)
}

/// Draws a Judge-led dialogue after `conclude`: the conclusion and a hint to `show`. Draws the
/// whole record if the run is unconverged.
pub fn draw_concluded_dialogue(
    record: &DialogueRecord,
    run: &RunState,
    canvas: PageCanvas,
) -> String {
    let ended = conclusion_view(record, Some(run));
    if ended.terminal_state == Some(TerminalState::Unconverged) {
        return draw_dialogue(record, Some(run), canvas);
    }
    let mut sections = opening_sections(record, Some(run), canvas);
    sections.extend(draw_conclusion_sections(record, &ended, canvas));
    sections.push(draw_interventions(&list_interventions(run), canvas));
    let hint = format!("plenary show {}", record.dialogue.id());
    sections.push(vec![StyledLine::with_indent(MARGIN).push_styled(&hint, GOOD)]);
    join_sections(&sections)
}

/// Draws a council: its page, then the record. The page has the report, so the record's verdict is
/// left out.
pub fn draw_council_record(
    record: &DialogueRecord,
    transcript: &RunState,
    canvas: PageCanvas,
) -> String {
    if canvas.round.is_some() {
        return draw_dialogue(record, None, canvas);
    }
    let mut sections =
        council_sections(transcript, recorded_outcomes(record), PageFoot::Id, canvas);
    sections.push(draw_tension_board(record, canvas));
    sections.extend(draw_rounds(record, canvas));
    sections.push(draw_moves(record, canvas));
    sections.push(draw_reference_tree(record, canvas));
    join_sections(&sections)
}

/// Draws a review: its page, then the record.
pub fn draw_review_record(
    record: &DialogueRecord,
    transcript: &RunState,
    canvas: PageCanvas,
) -> String {
    if canvas.round.is_some() {
        return draw_dialogue(record, None, canvas);
    }
    let mut sections = review_sections(transcript, PageFoot::Id, canvas);
    sections.push(draw_tension_board(record, canvas));
    sections.extend(draw_rounds(record, canvas));
    sections.push(draw_reference_tree(record, canvas));
    join_sections(&sections)
}

/// Draws the verdicts imported from another log.
pub fn draw_imported_log(record: &DialogueRecord, rows: &[LogRow], canvas: PageCanvas) -> String {
    join_sections(&[draw_headline(record, canvas), draw_imported_rows(rows, canvas)])
}

fn all_sections(
    record: &DialogueRecord,
    run: Option<&RunState>,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let ended = conclusion_view(record, run);
    // Without a conclusion, show the full text of every contribution.
    let canvas = match ended.terminal_state {
        Some(TerminalState::Unconverged) => PageCanvas { detail: PageDetail::Full, ..canvas },
        Some(TerminalState::Clean | TerminalState::Revised) | None => canvas,
    };
    let mut sections = opening_sections(record, run, canvas);
    sections.extend(draw_conclusion_sections(record, &ended, canvas));
    sections.push(draw_verdicts(record, canvas));
    sections.push(draw_scoreboard(record, canvas));
    sections.push(draw_tension_board(record, canvas));
    sections.extend(draw_rounds(record, canvas));
    sections.push(draw_moves(record, canvas));
    sections.push(draw_reference_tree(record, canvas));
    sections
}

/// Headline, question, and the reason if the run stopped early.
fn opening_sections(
    record: &DialogueRecord,
    run: Option<&RunState>,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let mut sections = vec![draw_headline(record, canvas), draw_question(record, canvas)];
    if let Some(stopped) = run.and_then(stop_notice) {
        let room = canvas.text_width() - MARGIN;
        let mut lines = indent_block(&wrap_line(&stopped.message, room), MARGIN, BAD.bold());
        lines.extend(indent_prose(&wrap_line(&stopped.suggestion, room), MARGIN));
        lines.push(StyledLine::blank());
        sections.push(lines);
    }
    sections
}

/// The conclusion in the record; otherwise that of the run, finished or not.
fn conclusion_view(record: &DialogueRecord, run: Option<&RunState>) -> ConclusionView {
    match (&record.conclusion, run) {
        (Some(concluded), _) => ConclusionView::from_result(&concluded.ending),
        (None, Some(run)) => ConclusionView::from_state(run),
        (None, None) => ConclusionView::default(),
    }
}

fn draw_conclusion_sections(
    record: &DialogueRecord,
    ended: &ConclusionView,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let note = state_line(ended);
    let mut sections = draw_conclusion(ended, recorded_outcomes(record), note, canvas);
    let drawn = sections.iter_mut().filter(|lines| !lines.is_empty());
    drawn.for_each(|lines| lines.push(StyledLine::blank()));
    sections
}

/// The outcomes recorded with `due record`.
fn recorded_outcomes(record: &DialogueRecord) -> &[(Moment, ConclusionOutcome)] {
    record.conclusion.as_ref().map_or(&[], |concluded| &concluded.outcomes)
}

fn round_sections(record: &DialogueRecord, canvas: PageCanvas) -> Vec<Vec<StyledLine>> {
    let mut sections = vec![draw_headline(record, canvas)];
    sections.extend(draw_rounds(record, canvas));
    sections.push(draw_moves(record, canvas));
    sections.push(draw_reference_tree(record, canvas));
    sections
}

/// Columns between the title and the status at the right edge.
const TITLE_GAP: usize = 3;

pub(crate) fn draw_headline(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let dialogue = &record.dialogue;
    let mut lines = vec![StyledLine::blank()];
    lines.extend(draw_title(dialogue, canvas));
    let room = canvas.column_count() - MARGIN;
    lines.extend(indent_block(&wrap_items(&list_facts(record), room), MARGIN, FAINT));
    if dialogue.opening.rehearsal {
        let told = format!("REHEARSAL: {REHEARSAL_NOTE}");
        lines.extend(indent_block(&wrap_line(&told, room), MARGIN, CAUTION.bold()));
    }
    lines
}

pub(crate) fn draw_question(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let Some(question) = &record.dialogue.opening.question else { return Vec::new() };
    let mut lines = indent_prose(&wrap_text(question, canvas.text_width() - MARGIN), MARGIN);
    lines.push(StyledLine::blank());
    lines
}

/// The title, with the status and the score at the right edge.
fn draw_title(dialogue: &Dialogue, canvas: PageCanvas) -> Vec<StyledLine> {
    let (mark, style) = dialogue_mark(dialogue.status);
    let status = StyledLine::blank()
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(dialogue.status.name(), style);
    let score = match dialogue.opening.protocol.is_judged() {
        true => StyledLine::blank()
            .push_styled("ALIGNMENT ", FAINT)
            .push_styled(&dialogue.total_alignment.to_string(), STRONG),
        false => StyledLine::blank(),
    };
    let room = canvas.column_count() - MARGIN - TITLE_GAP - status.width().max(score.width());
    let mut left = indent_block(&wrap_line(&dialogue.opening.title, room), MARGIN, STRONG);
    left.extend(indent_block(&wrap_line(dialogue.id().as_str(), room), MARGIN, FAINT));
    let right = [status, score].into_iter().chain(iter::repeat_with(StyledLine::blank));
    let join =
        |(left, right): (StyledLine, StyledLine)| left.append_right(right, canvas.column_count());
    left.into_iter().zip(right).map(join).collect()
}

fn list_facts(record: &DialogueRecord) -> Vec<String> {
    let dialogue = &record.dialogue;
    let opened = dialogue.created_at.utc_day();
    let closed = dialogue.converged_at.map(Moment::utc_day).filter(|day| *day != opened);
    let rounds = count_noun(dialogue.total_rounds.into(), "round");
    let dates = closed.map_or_else(|| opened.to_string(), |closed| format!("{opened} – {closed}"));
    let protocol = format!("{} protocol", dialogue.opening.protocol);
    let audited = conclusion_state(record).map(|state| format!("conclusion {state}"));
    [protocol, rounds, dates].into_iter().chain(audited).collect()
}

/// Columns from the bar to the text.
const VERDICT_BAR_WIDTH: usize = 2;

pub(crate) fn draw_verdicts(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("VERDICT", "", canvas);
    let verdicts = sorted_verdicts(record);
    if verdicts.is_empty() {
        lines.push(StyledLine::with_indent(MARGIN).push_styled("None yet.", FAINT));
        lines.push(StyledLine::blank());
    }
    for verdict in verdicts {
        lines.extend(VerdictBlock::new(verdict, canvas).draw_verdict());
        lines.push(StyledLine::blank());
    }
    lines
}

/// Draws one verdict with a bar at its left.
struct VerdictBlock<'a> {
    verdict: &'a Verdict,
    room: usize,
    lines: Vec<(String, Style)>,
}

impl<'a> VerdictBlock<'a> {
    fn new(verdict: &'a Verdict, canvas: PageCanvas) -> Self {
        Self { verdict, room: canvas.text_width() - MARGIN - VERDICT_BAR_WIDTH, lines: Vec::new() }
    }

    fn draw_verdict(mut self) -> Vec<StyledLine> {
        let verdict = self.verdict;
        self.add_lines(wrap_line(&verdict.recommendation, self.room), STRONG);
        self.add_caution();
        self.add_paragraph(wrap_text(&verdict.description, self.room), PLAIN);
        self.add_conditions();
        self.add_paragraph(self.settled_lines(), FAINT);
        let (bar, style) = verdict_mark(verdict.verdict_type);
        let bar = StyledLine::with_indent(MARGIN)
            .push_styled(bar, style)
            .pad_to_column(MARGIN + VERDICT_BAR_WIDTH);
        let kind = verdict.verdict_type.name();
        let mut name = StyledLine::blank().push_styled(&kind.to_uppercase(), style.bold());
        // Show the id, because events refer to it, unless it only repeats the type, as `final`
        // does.
        if verdict.verdict_id.as_str() != kind {
            name = name.push_plain(" ").push_plain(verdict.verdict_id.as_str());
        }
        let name = name.push_plain("  ");
        let told = wrap_items(&verdict_details(verdict), self.room - name.width());
        let text = |(text, own): &(String, Style)| StyledLine::blank().push_styled(text, *own);
        let lines = hang_block(name, &told, FAINT).into_iter().chain(self.lines.iter().map(text));
        lines.map(|line| bar.clone().append_line(line)).collect()
    }

    fn add_caution(&mut self) {
        if let Some((word, reason)) = verdict_caution(self.verdict) {
            self.add_paragraph(wrap_line(&format!("{word}: {reason}"), self.room), CAUTION);
        }
    }

    fn add_conditions(&mut self) {
        let conditions = self.verdict.conditions.as_deref().unwrap_or_default();
        if conditions.is_empty() {
            return;
        }
        self.add_paragraph(vec!["Conditions".to_owned()], FAINT);
        for (place, condition) in conditions.iter().enumerate() {
            let number = format!("{}. ", place + 1);
            let blank = " ".repeat(number.len());
            let wrapped = wrap_line(condition, self.room - number.len());
            let leads = std::iter::once(number.as_str()).chain(std::iter::repeat(blank.as_str()));
            let set = leads.zip(&wrapped).map(|(lead, text)| format!("{lead}{text}")).collect();
            self.add_lines(set, PLAIN);
        }
    }

    fn settled_lines(&self) -> Vec<String> {
        let told: Vec<String> =
            settled_lists(self.verdict).iter().map(|(name, ids)| format!("{name} {ids}")).collect();
        wrap_items(&told, self.room)
    }

    fn add_paragraph(&mut self, lines: Vec<String>, style: Style) {
        if !lines.is_empty() {
            self.add_lines(vec![String::new()], PLAIN);
            self.add_lines(lines, style);
        }
    }

    fn add_lines(&mut self, lines: Vec<String>, style: Style) {
        self.lines.extend(lines.into_iter().map(|line| (line, style)));
    }
}
