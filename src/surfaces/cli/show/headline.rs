//! The first lines of a dialogue page: title, status, score, facts and question.

use std::iter;

use super::canvas::Canvas;
use super::layout::{MARGIN, block, prose};
use super::line::Line;
use super::palette::{self, CAUTION, FAINT, STRONG};
use crate::domain::dialogue::Dialogue;
use crate::domain::record::Record;
use crate::domain::time::Moment;
use crate::export::wording;
use crate::surfaces::cli::wrap::{wrap_items, wrap_line, wrap_text};

/// Columns between the title and the status at the right edge.
const GAP: usize = 3;

pub(super) fn draw(record: &Record, canvas: Canvas) -> Vec<Line> {
    let dialogue = &record.dialogue;
    let mut lines = vec![Line::blank()];
    lines.extend(title(dialogue, canvas));
    let room = canvas.columns() - MARGIN;
    lines.extend(block(&wrap_items(&facts(record), room), MARGIN, FAINT));
    if dialogue.opening.rehearsal {
        let told = format!("REHEARSAL: {}", wording::REHEARSAL);
        lines.extend(block(&wrap_line(&told, room), MARGIN, CAUTION.bold()));
    }
    lines
}

pub(super) fn question(record: &Record, canvas: Canvas) -> Vec<Line> {
    let Some(question) = &record.dialogue.opening.question else { return Vec::new() };
    let mut lines = prose(&wrap_text(question, canvas.measure() - MARGIN), MARGIN);
    lines.push(Line::blank());
    lines
}

/// The title, with the status and the score at the right edge.
fn title(dialogue: &Dialogue, canvas: Canvas) -> Vec<Line> {
    let (mark, style) = palette::of_dialogue(dialogue.status);
    let status = Line::blank().styled(mark, style).plain(" ").styled(dialogue.status.name(), style);
    let score = match dialogue.opening.protocol.is_judged() {
        true => Line::blank()
            .styled("ALIGNMENT ", FAINT)
            .styled(&dialogue.total_alignment.to_string(), STRONG),
        false => Line::blank(),
    };
    let room = canvas.columns() - MARGIN - GAP - status.width().max(score.width());
    let mut left = block(&wrap_line(&dialogue.opening.title, room), MARGIN, STRONG);
    left.extend(block(&wrap_line(dialogue.id().as_str(), room), MARGIN, FAINT));
    let right = [status, score].into_iter().chain(iter::repeat_with(Line::blank));
    let join = |(left, right): (Line, Line)| left.flush_right(right, canvas.columns());
    left.into_iter().zip(right).map(join).collect()
}

fn facts(record: &Record) -> Vec<String> {
    let dialogue = &record.dialogue;
    let opened = dialogue.created_at.day();
    let closed = dialogue.converged_at.map(Moment::day).filter(|day| *day != opened);
    let rounds = wording::count(dialogue.total_rounds.into(), "round");
    let dates = closed.map_or_else(|| opened.to_string(), |closed| format!("{opened} – {closed}"));
    let protocol = format!("{} protocol", dialogue.opening.protocol);
    let audited = wording::how_concluded(record).map(|state| format!("conclusion {state}"));
    [protocol, rounds, dates].into_iter().chain(audited).collect()
}
