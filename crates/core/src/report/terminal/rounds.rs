//! The rounds of a dialogue page: the Judge's summary and each expert's contributions.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::model::entity::{Entity, ExpertMove, MoveType};
use crate::model::record::{DialogueRecord, Expert, RoundRecord};
use crate::report::dialogue_facts::RoundContributions;
use crate::report::phrases::{count_noun, entity_relations, event_phrase};
use crate::report::terminal::layout::{
    FAINT, ID, MARGIN, PLAIN, PageCanvas, PageDetail, STRONG, StyledLine, draw_heading, hang_block,
    indent_block, indent_prose, status_mark,
};
use crate::report::terminal::wrap::{cut_lines, wrap_items, wrap_line, wrap_text};

/// Lines of a contribution on a brief page.
const BRIEF_LINES_MAX: usize = 3;
/// Indent of an expert's contributions.
const CONTRIBUTION_INDENT: usize = 4;
/// Indent of their text, after the id.
const TEXT_INDENT: usize = CONTRIBUTION_INDENT + 7;
/// Columns between a label and its status.
const STATUS_GAP: usize = 2;

/// Draws each round as its own section.
pub(crate) fn draw_rounds(record: &DialogueRecord, canvas: PageCanvas) -> Vec<Vec<StyledLine>> {
    let brought = RoundContributions::from_record(record);
    let rounds = record.rounds.iter().filter(|round| canvas.shows_round(round.round));
    rounds
        .map(|round| RoundRenderer { record, canvas, round, contributions: &brought }.draw_round())
        .collect()
}

struct RoundRenderer<'a> {
    record: &'a DialogueRecord,
    canvas: PageCanvas,
    round: &'a RoundRecord,
    contributions: &'a RoundContributions<'a>,
}

impl RoundRenderer<'_> {
    fn draw_round(&self) -> Vec<StyledLine> {
        let number = self.round.round;
        let title = match &self.round.title {
            Some(title) => format!("ROUND {number} · {title}"),
            None => format!("ROUND {number}"),
        };
        let mut lines = draw_heading(&title, &self.score_note(), self.canvas);
        lines.extend(self.draw_summary());
        for expert in &self.record.experts {
            lines.extend(self.draw_expert(expert));
        }
        lines.extend(self.draw_unseated());
        lines.extend(self.draw_only_scored());
        lines
    }

    /// Only alignment rounds have a score.
    fn score_note(&self) -> String {
        match self.record.dialogue.opening.protocol.is_judged() {
            true => format!("ALIGNMENT {}", self.round.score),
            false => String::new(),
        }
    }

    fn draw_summary(&self) -> Vec<StyledLine> {
        let Some(summary) = &self.round.summary else { return Vec::new() };
        let judge = match self.record.dialogue.opening.protocol.is_judged() {
            true => StyledLine::with_indent(MARGIN).push_styled("Judge", STRONG).push_plain("  "),
            false => StyledLine::with_indent(MARGIN),
        };
        let set = wrap_text(summary, self.width_after(judge.width()));
        let mut lines = hang_block(judge, &set, PLAIN);
        lines.push(StyledLine::blank());
        lines
    }

    fn draw_expert(&self, expert: &Expert) -> Vec<StyledLine> {
        let slug = &expert.profile.expert_slug;
        let reply = expert.replies.get(&self.round.round);
        let words = match (self.contributions.by_expert(self.round.round, slug), reply) {
            ([], None) => return Vec::new(),
            ([], Some(reply)) => self.draw_words(reply, CONTRIBUTION_INDENT),
            (entities, _) => entities.iter().flat_map(|entity| self.draw_entity(entity)).collect(),
        };
        let score = expert.scores.get(&self.round.round);
        let score = score.map(|score| format!("{score:+}")).unwrap_or_default();
        let edge = self.canvas.text_width();
        let end = edge.saturating_sub(STATUS_GAP + score.len());
        let who = StyledLine::with_indent(MARGIN)
            .push_fitted(&slug.display_name(), STRONG, end.saturating_sub(STATUS_GAP))
            .push_plain("  ")
            .push_fitted(&expert.profile.role, FAINT, end);
        let mut lines =
            vec![who.append_right(StyledLine::blank().push_styled(&score, STRONG), edge)];
        lines.extend(words);
        lines.push(StyledLine::blank());
        lines
    }

    fn draw_only_scored(&self) -> Vec<StyledLine> {
        let items = self.contributions.only_scored(self.record, self.round.round);
        if items.is_empty() {
            return Vec::new();
        }
        let lead =
            StyledLine::with_indent(MARGIN).push_styled("Also scored", FAINT).push_plain("  ");
        let set = wrap_items(&items, self.width_after(lead.width()));
        let mut lines = hang_block(lead, &set, FAINT);
        lines.push(StyledLine::blank());
        lines
    }

    fn draw_unseated(&self) -> Vec<StyledLine> {
        let entities = self.contributions.without_expert(self.round.round);
        if entities.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![StyledLine::with_indent(MARGIN).push_styled("From no seat", FAINT)];
        lines.extend(entities.iter().flat_map(|entity| self.draw_entity(entity)));
        lines.push(StyledLine::blank());
        lines
    }

    fn draw_entity(&self, entity: &Entity) -> Vec<StyledLine> {
        let mut lines = self.draw_label(entity);
        lines.extend(self.draw_words(text_beyond_label(entity), TEXT_INDENT));
        let mut about = vec![entity_relations(entity)];
        if self.canvas.detail == PageDetail::Full {
            about.extend([list_parameters(entity), list_history(entity)]);
        }
        for items in about {
            lines.extend(indent_block(
                &wrap_items(&items, self.width_after(TEXT_INDENT)),
                TEXT_INDENT,
                FAINT,
            ));
        }
        lines
    }

    /// For example `P0001  Income mandate mismatch              ◐ refined`.
    fn draw_label(&self, entity: &Entity) -> Vec<StyledLine> {
        let (mark, style) = status_mark(entity.status);
        let status = StyledLine::blank()
            .push_styled(mark, style)
            .push_plain(" ")
            .push_styled(entity.status.name(), style);
        let edge = self.canvas.text_width();
        let room = edge.saturating_sub(TEXT_INDENT + STATUS_GAP + status.width());
        let id = StyledLine::with_indent(CONTRIBUTION_INDENT)
            .push_styled(&entity.id.to_string(), ID)
            .pad_to_column(TEXT_INDENT);
        let mut lines = hang_block(id, &wrap_line(&entity.label, room), STRONG);
        if let Some(first) = lines.first_mut() {
            *first = std::mem::take(first).append_right(status, edge);
        }
        lines
    }

    fn width_after(&self, indent: usize) -> usize {
        self.canvas.text_width() - indent
    }

    /// Draws the text of a contribution, cut on a brief page.
    fn draw_words(&self, text: &str, indent: usize) -> Vec<StyledLine> {
        let room = self.width_after(indent);
        let lines = wrap_text(text, room);
        let wanted = match self.canvas.detail {
            PageDetail::Brief => cut_lines(lines, BRIEF_LINES_MAX, room),
            PageDetail::Full => lines,
        };
        indent_prose(&wanted, indent)
    }
}

/// The text without the label at its start. A label with an ellipsis is cut, so the text keeps it.
fn text_beyond_label(entity: &Entity) -> &str {
    let said = entity.label.trim_end_matches('…').trim();
    let is_cut = said.len() < entity.label.trim().len();
    match entity.text.trim_start().strip_prefix(said) {
        Some(rest) if !is_cut && (rest.is_empty() || rest.starts_with('\n')) => rest.trim_start(),
        Some(_) | None => &entity.text,
    }
}

/// For example `steps 6` and `delta 0.20-0.25`.
fn list_parameters(entity: &Entity) -> Vec<String> {
    let Some(parameters) = &entity.parameters else { return Vec::new() };
    let Some(fields) = parameters.as_object() else { return vec![parameters.to_string()] };
    let told = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) => format!("{name} {text}"),
        None => format!("{name} {value}"),
    };
    fields.iter().map(told).collect()
}

/// The events after the first. The first is implied: the entity is listed under its author.
fn list_history(entity: &Entity) -> Vec<String> {
    entity.events.iter().skip(1).map(|event| event_phrase(entity.id.kind, event)).collect()
}

const MOVE_NAME_MAX: usize = 14;
/// Width of the longest move name, `challenge`.
const MOVE_WIDTH: usize = 9;
/// Width of two ids and their joiner; more targets wrap.
const TARGETS_WIDTH: usize = 13;
const MOVE_GAP: usize = 2;
/// With less space than this beside the move, its context goes below.
const CONTEXT_WIDTH_MIN: usize = 28;

pub(crate) fn draw_moves(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let moves: Vec<&ExpertMove> =
        record.moves.iter().filter(|made| canvas.shows_round(made.round)).collect();
    if moves.is_empty() {
        return Vec::new();
    }
    let table = MoveTable::new(&moves, canvas);
    let mut lines = draw_heading("MOVES", &count_noun(moves.len(), "move"), canvas);
    for made in moves {
        lines.extend(table.draw_move(made));
    }
    lines.push(StyledLine::blank());
    lines
}

/// The column at which each cell starts.
struct MoveTable {
    name: usize,
    made: usize,
    targets: usize,
    context: usize,
    measure: usize,
}

impl MoveTable {
    fn new(moves: &[&ExpertMove], canvas: PageCanvas) -> Self {
        let widths = moves.iter().map(|made| made.expert.as_str().width());
        let name = MARGIN + "r0".len() + MOVE_GAP;
        let made = name + widths.max().unwrap_or(0).min(MOVE_NAME_MAX) + MOVE_GAP;
        let targets = made + MOVE_WIDTH + MOVE_GAP;
        Self {
            name,
            made,
            targets,
            context: targets + TARGETS_WIDTH + MOVE_GAP,
            measure: canvas.text_width(),
        }
    }

    fn draw_move(&self, made: &ExpertMove) -> Vec<StyledLine> {
        let context = made.context.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let room = self.measure.saturating_sub(self.context);
        if room >= CONTEXT_WIDTH_MIN {
            let context = context.map(|text| wrap_line(text, room)).unwrap_or_default();
            self.draw_cells(self.start_line(made), &wrap_targets(made, TARGETS_WIDTH), &context)
        } else {
            let ids = wrap_targets(made, self.measure.saturating_sub(self.targets));
            let mut lines = self.draw_cells(self.start_line(made), &ids, &[]);
            let below = context.map(|text| wrap_line(text, self.measure - self.name));
            lines.extend(indent_block(&below.unwrap_or_default(), self.name, PLAIN));
            lines
        }
    }

    /// For example `r1  Donut  bridge`.
    fn start_line(&self, made: &ExpertMove) -> StyledLine {
        StyledLine::with_indent(MARGIN)
            .push_styled(&format!("r{}", made.round), FAINT)
            .pad_to_column(self.name)
            .push_fitted(&made.expert.display_name(), STRONG, self.made - MOVE_GAP)
            .pad_to_column(self.made)
            .push_plain(made.move_type.name())
    }

    fn draw_cells(
        &self,
        start: StyledLine,
        targets: &[String],
        context: &[String],
    ) -> Vec<StyledLine> {
        let height = targets.len().max(context.len()).max(1);
        let cell = |column: &[String], row: usize| column.get(row).cloned().unwrap_or_default();
        let mut starts = Some(start).into_iter();
        let row = |row: usize| {
            let line = starts.next().unwrap_or_default().pad_to_column(self.targets);
            let line = line.push_styled(&cell(targets, row), ID);
            if context.is_empty() {
                line
            } else {
                line.pad_to_column(self.context).push_plain(&cell(context, row))
            }
        };
        (0..height).map(row).collect()
    }
}

fn wrap_targets(made: &ExpertMove, width: usize) -> Vec<String> {
    let ids: Vec<String> = made.targets.iter().map(ToString::to_string).collect();
    wrap_line(&ids.join(if made.move_type == MoveType::Bridge { " + " } else { " " }), width)
}
