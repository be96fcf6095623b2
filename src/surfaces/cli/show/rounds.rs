//! The rounds of a dialogue page: the Judge's summary and each expert's contributions.

use serde_json::Value;

use super::canvas::{Canvas, Detail};
use super::layout::{MARGIN, block, hanging, heading, prose};
use super::line::Line;
use super::palette::{self, FAINT, ID, PLAIN, STRONG};
use crate::domain::entity::Entity;
use crate::domain::record::{Expert, Record, Round};
use crate::export::contributions::Contributions;
use crate::export::wording;
use crate::surfaces::cli::wrap::{cut, wrap_items, wrap_line, wrap_text};

/// Lines of a contribution on a brief page.
const BRIEF_LINES: usize = 3;
/// Indent of an expert's contributions.
const INDENT: usize = 4;
/// Indent of their text, after the id.
const WORDS: usize = INDENT + 7;
/// Columns between a label and its status.
const GAP: usize = 2;

/// Draws each round as its own section.
pub(super) fn draw(record: &Record, canvas: Canvas) -> Vec<Vec<Line>> {
    let brought = Contributions::of(record);
    let rounds = record.rounds.iter().filter(|round| canvas.shows_round(round.round));
    rounds.map(|round| Drawn { record, canvas, round, brought: &brought }.draw()).collect()
}

struct Drawn<'a> {
    record: &'a Record,
    canvas: Canvas,
    round: &'a Round,
    brought: &'a Contributions<'a>,
}

impl Drawn<'_> {
    fn draw(&self) -> Vec<Line> {
        let number = self.round.round;
        let title = match &self.round.title {
            Some(title) => format!("ROUND {number} · {title}"),
            None => format!("ROUND {number}"),
        };
        let mut lines = heading(&title, &self.score(), self.canvas);
        lines.extend(self.summary());
        for expert in &self.record.experts {
            lines.extend(self.expert(expert));
        }
        lines.extend(self.unseated());
        lines.extend(self.only_scored());
        lines
    }

    /// Only alignment rounds have a score.
    fn score(&self) -> String {
        match self.record.dialogue.opening.protocol.is_judged() {
            true => format!("ALIGNMENT {}", self.round.score),
            false => String::new(),
        }
    }

    fn summary(&self) -> Vec<Line> {
        let Some(summary) = &self.round.summary else { return Vec::new() };
        let judge = match self.record.dialogue.opening.protocol.is_judged() {
            true => Line::indented(MARGIN).styled("Judge", STRONG).plain("  "),
            false => Line::indented(MARGIN),
        };
        let set = wrap_text(summary, self.room(judge.width()));
        let mut lines = hanging(judge, &set, PLAIN);
        lines.push(Line::blank());
        lines
    }

    fn expert(&self, expert: &Expert) -> Vec<Line> {
        let slug = &expert.profile.expert_slug;
        let reply = expert.replies.get(&self.round.round);
        let words = match (self.brought.by(self.round.round, slug), reply) {
            ([], None) => return Vec::new(),
            ([], Some(reply)) => self.words(reply, INDENT),
            (entities, _) => entities.iter().flat_map(|entity| self.entity(entity)).collect(),
        };
        let score = expert.scores.get(&self.round.round);
        let score = score.map(|score| format!("{score:+}")).unwrap_or_default();
        let edge = self.canvas.measure();
        let end = edge.saturating_sub(GAP + score.len());
        let who = Line::indented(MARGIN)
            .fitted(&slug.display_name(), STRONG, end.saturating_sub(GAP))
            .plain("  ")
            .fitted(&expert.profile.role, FAINT, end);
        let mut lines = vec![who.flush_right(Line::blank().styled(&score, STRONG), edge)];
        lines.extend(words);
        lines.push(Line::blank());
        lines
    }

    fn only_scored(&self) -> Vec<Line> {
        let items = self.brought.only_scored(self.record, self.round.round);
        if items.is_empty() {
            return Vec::new();
        }
        let lead = Line::indented(MARGIN).styled("Also scored", FAINT).plain("  ");
        let set = wrap_items(&items, self.room(lead.width()));
        let mut lines = hanging(lead, &set, FAINT);
        lines.push(Line::blank());
        lines
    }

    fn unseated(&self) -> Vec<Line> {
        let entities = self.brought.unseated(self.round.round);
        if entities.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![Line::indented(MARGIN).styled("From no seat", FAINT)];
        lines.extend(entities.iter().flat_map(|entity| self.entity(entity)));
        lines.push(Line::blank());
        lines
    }

    fn entity(&self, entity: &Entity) -> Vec<Line> {
        let mut lines = self.label(entity);
        lines.extend(self.words(beyond_label(entity), WORDS));
        let mut about = vec![wording::relations(entity)];
        if self.canvas.detail == Detail::Full {
            about.extend([parameters(entity), history(entity)]);
        }
        for items in about {
            lines.extend(block(&wrap_items(&items, self.room(WORDS)), WORDS, FAINT));
        }
        lines
    }

    /// For example `P0001  Income mandate mismatch              ◐ refined`.
    fn label(&self, entity: &Entity) -> Vec<Line> {
        let (mark, style) = palette::of_status(entity.status);
        let status =
            Line::blank().styled(mark, style).plain(" ").styled(entity.status.name(), style);
        let edge = self.canvas.measure();
        let room = edge.saturating_sub(WORDS + GAP + status.width());
        let id = Line::indented(INDENT).styled(&entity.id.to_string(), ID).pad_to(WORDS);
        let mut lines = hanging(id, &wrap_line(&entity.label, room), STRONG);
        if let Some(first) = lines.first_mut() {
            *first = std::mem::take(first).flush_right(status, edge);
        }
        lines
    }

    fn room(&self, indent: usize) -> usize {
        self.canvas.measure() - indent
    }

    /// Draws the text of a contribution, cut on a brief page.
    fn words(&self, text: &str, indent: usize) -> Vec<Line> {
        let room = self.room(indent);
        let lines = wrap_text(text, room);
        let wanted = match self.canvas.detail {
            Detail::Brief => cut(lines, BRIEF_LINES, room),
            Detail::Full => lines,
        };
        prose(&wanted, indent)
    }
}

/// The text without the label at its start. A label with an ellipsis is cut, so the text keeps it.
fn beyond_label(entity: &Entity) -> &str {
    let said = entity.label.trim_end_matches('…').trim();
    let is_cut = said.len() < entity.label.trim().len();
    match entity.text.trim_start().strip_prefix(said) {
        Some(rest) if !is_cut && (rest.is_empty() || rest.starts_with('\n')) => rest.trim_start(),
        Some(_) | None => &entity.text,
    }
}

/// For example `steps 6` and `delta 0.20-0.25`.
fn parameters(entity: &Entity) -> Vec<String> {
    let Some(parameters) = &entity.parameters else { return Vec::new() };
    let Some(fields) = parameters.as_object() else { return vec![parameters.to_string()] };
    let told = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) => format!("{name} {text}"),
        None => format!("{name} {value}"),
    };
    fields.iter().map(told).collect()
}

/// The events after the first. The first is implied: the entity is listed under its author.
fn history(entity: &Entity) -> Vec<String> {
    entity.events.iter().skip(1).map(|event| wording::happened(entity.id.kind, event)).collect()
}
