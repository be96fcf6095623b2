//! The rounds of a dialogue page: the Judge's summary and each expert's contributions.

use serde_json::Value;

use super::canvas::{PageCanvas, PageDetail};
use super::layout::{MARGIN, draw_heading, hang_block, indent_block, indent_prose};
use super::line::StyledLine;
use super::palette::{self, FAINT, ID, PLAIN, STRONG};
use crate::domain::entity::Entity;
use crate::domain::record::{DialogueRecord, Expert, RoundRecord};
use crate::export::contributions::RoundContributions;
use crate::export::wording;
use crate::surfaces::cli::wrap::{cut_lines, wrap_items, wrap_line, wrap_text};

/// Lines of a contribution on a brief page.
const BRIEF_LINES_MAX: usize = 3;
/// Indent of an expert's contributions.
const CONTRIBUTION_INDENT: usize = 4;
/// Indent of their text, after the id.
const TEXT_INDENT: usize = CONTRIBUTION_INDENT + 7;
/// Columns between a label and its status.
const STATUS_GAP: usize = 2;

/// Draws each round as its own section.
pub(super) fn draw_rounds(record: &DialogueRecord, canvas: PageCanvas) -> Vec<Vec<StyledLine>> {
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
        let mut about = vec![wording::entity_relations(entity)];
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
        let (mark, style) = palette::status_mark(entity.status);
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
    entity.events.iter().skip(1).map(|event| wording::event_phrase(entity.id.kind, event)).collect()
}
