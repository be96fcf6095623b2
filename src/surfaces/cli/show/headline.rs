//! The first lines of a dialogue page: title, status, score, facts and question.

use std::iter;

use super::canvas::PageCanvas;
use super::layout::{MARGIN, indent_block, indent_prose};
use super::line::StyledLine;
use super::palette::{self, CAUTION, FAINT, STRONG};
use crate::domain::dialogue::Dialogue;
use crate::domain::record::DialogueRecord;
use crate::domain::time::Moment;
use crate::export::wording;
use crate::surfaces::cli::wrap::{wrap_items, wrap_line, wrap_text};

/// Columns between the title and the status at the right edge.
const TITLE_GAP: usize = 3;

pub(super) fn draw_headline(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let dialogue = &record.dialogue;
    let mut lines = vec![StyledLine::blank()];
    lines.extend(draw_title(dialogue, canvas));
    let room = canvas.column_count() - MARGIN;
    lines.extend(indent_block(&wrap_items(&list_facts(record), room), MARGIN, FAINT));
    if dialogue.opening.rehearsal {
        let told = format!("REHEARSAL: {}", wording::REHEARSAL_NOTE);
        lines.extend(indent_block(&wrap_line(&told, room), MARGIN, CAUTION.bold()));
    }
    lines
}

pub(super) fn draw_question(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let Some(question) = &record.dialogue.opening.question else { return Vec::new() };
    let mut lines = indent_prose(&wrap_text(question, canvas.text_width() - MARGIN), MARGIN);
    lines.push(StyledLine::blank());
    lines
}

/// The title, with the status and the score at the right edge.
fn draw_title(dialogue: &Dialogue, canvas: PageCanvas) -> Vec<StyledLine> {
    let (mark, style) = palette::dialogue_mark(dialogue.status);
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
    let rounds = wording::count_noun(dialogue.total_rounds.into(), "round");
    let dates = closed.map_or_else(|| opened.to_string(), |closed| format!("{opened} – {closed}"));
    let protocol = format!("{} protocol", dialogue.opening.protocol);
    let audited = wording::conclusion_state(record).map(|state| format!("conclusion {state}"));
    [protocol, rounds, dates].into_iter().chain(audited).collect()
}
