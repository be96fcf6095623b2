//! Draws the five fields of a conclusion: [`ConclusionBlock`].

use anstyle::Style;

use crate::domain::conclusion::{CitedClaim, Conclusion, ConclusionOutcome, UnresolvedPoint};
use crate::domain::time::Moment;
use crate::export::conclusion::{involved_agents, outcome_line, versioned_name};
use crate::export::safe_text;
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, hang_block};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{FAINT, ID, PLAIN};
use crate::surfaces::cli::wrap::{wrap_items, wrap_line, wrap_text};

/// Columns from the bar to the text.
const CONCLUSION_BAR_WIDTH: usize = 2;

/// Width of `Key condition` and two spaces.
const FIELD_LABEL_WIDTH: usize = 15;

/// Below this text width a label is on its own line.
const SIDE_LABEL_WIDTH_MIN: usize = 56;

/// Indent of wrapped continuation lines, so that the author's own line breaks remain visible.
const HANG: usize = 2;

/// A conclusion or draft, drawn with a bar at its left.
pub(super) struct ConclusionBlock {
    pub bar: &'static str,
    pub style: Style,
    /// Style of the recommendation; a draft must not look like a conclusion.
    pub text_style: Style,
    pub canvas: PageCanvas,
}

impl ConclusionBlock {
    pub(super) fn draw_fields(
        &self,
        conclusion: &Conclusion,
        outcomes: &[(Moment, ConclusionOutcome)],
    ) -> Vec<StyledLine> {
        let mut lines = self.draw_recommendation(&conclusion.recommendation);
        lines.push(StyledLine::blank());
        let room = self.text_width();
        lines.extend(
            self.add_label(
                "Key condition",
                plain_lines(&wrap_text(&conclusion.key_condition, room)),
            ),
        );
        lines.extend(
            self.add_label("Unresolved", self.draw_unresolved(&conclusion.unresolved_points)),
        );
        lines.extend(self.add_label(
            "Review by",
            vec![StyledLine::blank().push_plain(&conclusion.review_by.to_string())],
        ));
        let who: Vec<String> = conclusion.participants.iter().map(versioned_name).collect();
        lines.extend(self.add_label("Participants", plain_lines(&wrap_items(&who, room))));
        let became = outcomes.iter().flat_map(|outcome| wrap_line(&outcome_line(outcome), room));
        lines.extend(self.add_label("Outcome", plain_lines(&became.collect::<Vec<_>>())));
        lines
    }

    fn draw_recommendation(&self, text: &str) -> Vec<StyledLine> {
        let bar = StyledLine::with_indent(MARGIN)
            .push_styled(self.bar, self.style)
            .pad_to_column(MARGIN + CONCLUSION_BAR_WIDTH);
        let room = self.canvas.text_width() - MARGIN - CONCLUSION_BAR_WIDTH;
        let set = wrap_keeping_breaks(text, room);
        set.iter().map(|line| bar.clone().push_styled(line, self.text_style)).collect()
    }

    fn draw_unresolved(&self, points: &[UnresolvedPoint]) -> Vec<StyledLine> {
        if points.is_empty() {
            return vec![StyledLine::blank().push_styled("none was named", FAINT)];
        }
        points.iter().flat_map(|point| self.draw_point(point)).collect()
    }

    fn draw_point(&self, point: &UnresolvedPoint) -> Vec<StyledLine> {
        let told = format!("{} ({})", point.point, involved_agents(point));
        let mut lines = plain_lines(&wrap_line(&told, self.text_width()));
        lines.extend(point.claims.iter().flat_map(|claim| self.draw_claim(claim)));
        lines
    }

    /// For example `P0101 ann: A price that is a minute old harms readers.`
    fn draw_claim(&self, cited: &CitedClaim) -> Vec<StyledLine> {
        let lead =
            StyledLine::with_indent(HANG).push_styled(&cited.id.to_string(), ID).push_plain(" ");
        let who = format!("{}: {}", cited.agent, cited.claim);
        let room = self.text_width().saturating_sub(lead.width());
        hang_block(lead, &wrap_line(&who, room), PLAIN)
    }

    /// Draws lines beside their label, or below it on a narrow page; nothing if there are none.
    fn add_label(&self, label: &str, lines: Vec<StyledLine>) -> Vec<StyledLine> {
        let mut set = Vec::new();
        let is_beside = self.has_side_labels();
        for (place, line) in lines.into_iter().enumerate() {
            let lead = StyledLine::with_indent(MARGIN);
            if place > 0 {
                set.push(lead.pad_to_column(self.text_indent()).append_line(line));
            } else if is_beside {
                set.push(
                    lead.push_styled(label, FAINT)
                        .pad_to_column(self.text_indent())
                        .append_line(line),
                );
            } else {
                set.push(lead.push_styled(label, FAINT));
                set.push(StyledLine::with_indent(self.text_indent()).append_line(line));
            }
        }
        set
    }

    fn has_side_labels(&self) -> bool {
        self.canvas.text_width() >= SIDE_LABEL_WIDTH_MIN
    }

    fn text_indent(&self) -> usize {
        MARGIN + if self.has_side_labels() { FIELD_LABEL_WIDTH } else { HANG }
    }

    fn text_width(&self) -> usize {
        self.canvas.text_width() - self.text_indent()
    }
}

fn plain_lines(lines: &[String]) -> Vec<StyledLine> {
    lines.iter().map(|line| StyledLine::blank().push_plain(line)).collect()
}

/// Wraps a text and keeps its own line breaks; continuation lines are indented.
fn wrap_keeping_breaks(text: &str, room: usize) -> Vec<String> {
    let own = safe_text::safe_lines(text.trim_end());
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
