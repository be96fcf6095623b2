//! Draws the five fields of a conclusion: [`ConclusionBlock`].

use anstyle::Style;

use crate::domain::conclusion::{CitedClaim, Conclusion, Outcome, UnresolvedPoint};
use crate::domain::time::Moment;
use crate::export::conclusion::{became, involved, versioned};
use crate::export::safe_text;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, hanging};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{FAINT, ID, PLAIN};
use crate::surfaces::cli::wrap::{wrap_items, wrap_line, wrap_text};

/// Columns from the bar to the text.
const BAR: usize = 2;

/// Width of `Key condition` and two spaces.
const LABEL: usize = 15;

/// Below this text width a label is on its own line.
const BESIDE_MIN: usize = 56;

/// Indent of wrapped continuation lines, so that the author's own line breaks remain visible.
const HANG: usize = 2;

/// A conclusion or draft, drawn with a bar at its left.
pub(super) struct Framed {
    pub bar: &'static str,
    pub style: Style,
    /// Style of the recommendation; a draft must not look like a conclusion.
    pub words: Style,
    pub canvas: Canvas,
}

impl Framed {
    pub(super) fn draw(
        &self,
        conclusion: &Conclusion,
        outcomes: &[(Moment, Outcome)],
    ) -> Vec<Line> {
        let mut lines = self.recommendation(&conclusion.recommendation);
        lines.push(Line::blank());
        let room = self.room();
        lines.extend(
            self.beside("Key condition", plain(&wrap_text(&conclusion.key_condition, room))),
        );
        lines.extend(self.beside("Unresolved", self.unresolved(&conclusion.unresolved_points)));
        lines.extend(
            self.beside("Review by", vec![Line::blank().plain(&conclusion.review_by.to_string())]),
        );
        let who: Vec<String> = conclusion.participants.iter().map(versioned).collect();
        lines.extend(self.beside("Participants", plain(&wrap_items(&who, room))));
        let became = outcomes.iter().flat_map(|outcome| wrap_line(&became(outcome), room));
        lines.extend(self.beside("Outcome", plain(&became.collect::<Vec<_>>())));
        lines
    }

    fn recommendation(&self, text: &str) -> Vec<Line> {
        let bar = Line::indented(MARGIN).styled(self.bar, self.style).pad_to(MARGIN + BAR);
        let room = self.canvas.measure() - MARGIN - BAR;
        let set = kept_lines(text, room);
        set.iter().map(|line| bar.clone().styled(line, self.words)).collect()
    }

    fn unresolved(&self, points: &[UnresolvedPoint]) -> Vec<Line> {
        if points.is_empty() {
            return vec![Line::blank().styled("none was named", FAINT)];
        }
        points.iter().flat_map(|point| self.point(point)).collect()
    }

    fn point(&self, point: &UnresolvedPoint) -> Vec<Line> {
        let told = format!("{} ({})", point.point, involved(point));
        let mut lines = plain(&wrap_line(&told, self.room()));
        lines.extend(point.claims.iter().flat_map(|claim| self.claim(claim)));
        lines
    }

    /// For example `P0101 ann: A price that is a minute old harms readers.`
    fn claim(&self, cited: &CitedClaim) -> Vec<Line> {
        let lead = Line::indented(HANG).styled(&cited.id.to_string(), ID).plain(" ");
        let who = format!("{}: {}", cited.agent, cited.claim);
        let room = self.room().saturating_sub(lead.width());
        hanging(lead, &wrap_line(&who, room), PLAIN)
    }

    /// Draws lines beside their label, or below it on a narrow page; nothing if there are none.
    fn beside(&self, label: &str, lines: Vec<Line>) -> Vec<Line> {
        let mut set = Vec::new();
        let is_beside = self.is_beside();
        for (place, line) in lines.into_iter().enumerate() {
            let lead = Line::indented(MARGIN);
            if place > 0 {
                set.push(lead.pad_to(self.indent()).join(line));
            } else if is_beside {
                set.push(lead.styled(label, FAINT).pad_to(self.indent()).join(line));
            } else {
                set.push(lead.styled(label, FAINT));
                set.push(Line::indented(self.indent()).join(line));
            }
        }
        set
    }

    fn is_beside(&self) -> bool {
        self.canvas.measure() >= BESIDE_MIN
    }

    fn indent(&self) -> usize {
        MARGIN + if self.is_beside() { LABEL } else { HANG }
    }

    fn room(&self) -> usize {
        self.canvas.measure() - self.indent()
    }
}

fn plain(lines: &[String]) -> Vec<Line> {
    lines.iter().map(|line| Line::blank().plain(line)).collect()
}

/// Wraps a text and keeps its own line breaks; continuation lines are indented.
fn kept_lines(text: &str, room: usize) -> Vec<String> {
    let own = safe_text::lines(text.trim_end());
    if own.len() < 2 {
        return wrap_text(text, room);
    }
    let mut set = Vec::new();
    for line in &own {
        let mut parts = wrap_text(line, room - HANG).into_iter();
        set.push(parts.next().unwrap_or_default());
        set.extend(parts.map(|part| format!("{:HANG$}{part}", "")));
    }
    set
}
