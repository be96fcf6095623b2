//! Sections of a conclusion. Called by council and dialogue pages.

use anstyle::Style;

use crate::model::dialogue::TerminalState;
use crate::model::time::Moment;
use crate::protocols::conclusion::document::{AuditView, ConclusionView};
use crate::protocols::conclusion::phrases::{
    draft_status, field_name, field_text, involved_agents, objection_text, outcome_line,
    state_label, versioned_name,
};
use crate::protocols::conclusion::types::{
    AuditObjection, CitedClaim, Conclusion, ConclusionField, ConclusionOutcome, UnresolvedPoint,
};
use crate::protocols::conclusion::word_diff::{MarkedLines, changed_words};
use crate::report::safe_text::safe_lines;
use crate::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, ID, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, draw_heading,
    draw_styled_heading, hang_block, indent_prose, terminal_state_mark,
};
use crate::report::terminal::wrap::{wrap_items, wrap_line, wrap_text};

/// Draws the conclusion or the current draft; nothing before there is a draft. `note` goes beside
/// the title.
pub(crate) fn draw_conclusion(
    ended: &ConclusionView,
    outcomes: &[(Moment, ConclusionOutcome)],
    note: StyledLine,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    match (&ended.conclusion, &ended.draft) {
        (Some(conclusion), _) => {
            let (_, style) = terminal_state_mark(ended.terminal_state);
            let mut lines = draw_styled_heading("CONCLUSION", note, canvas);
            lines.extend(
                ConclusionBlock { bar: "┃", style, text_style: STRONG, canvas }
                    .draw_fields(conclusion, outcomes),
            );
            vec![lines, draw_revision(ended, conclusion, canvas)]
        }
        (None, Some(draft)) if ended.is_over() => {
            let (_, style) = terminal_state_mark(ended.terminal_state);
            let mut rejected = draw_heading("REJECTED DRAFT", "not a conclusion", canvas);
            rejected.extend(
                ConclusionBlock { bar: "│", style, text_style: PLAIN, canvas }
                    .draw_fields(draft, outcomes),
            );
            vec![
                draw_explanation(ended, note, canvas),
                draw_rejections(ended, draft, canvas),
                rejected,
            ]
        }
        (None, Some(draft)) => {
            let mut lines = draw_heading("DRAFT", draft_status(ended), canvas);
            lines.extend(
                ConclusionBlock { bar: "│", style: CAUTION, text_style: PLAIN, canvas }
                    .draw_fields(draft, outcomes),
            );
            vec![lines, draw_draft_objections(ended, draft, canvas)]
        }
        (None, None) => Vec::new(),
    }
}

/// The terminal state with mark and colour; blank while the run is not over.
pub(crate) fn state_line(ended: &ConclusionView) -> StyledLine {
    if !ended.is_over() {
        return StyledLine::blank();
    }
    let state: Option<TerminalState> = ended.terminal_state;
    let (mark, style) = terminal_state_mark(state);
    StyledLine::blank()
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(state_label(state), style.bold())
}

fn draw_explanation(
    ended: &ConclusionView,
    note: StyledLine,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let Some(explanation) = &ended.explanation else { return Vec::new() };
    let mut lines = draw_styled_heading("NO CONCLUSION", note, canvas);
    lines.extend(indent_prose(&wrap_text(explanation, canvas.text_width() - MARGIN), MARGIN));
    lines
}

/// Indent of the text, after the sign.
const DIFF_INDENT: usize = MARGIN + 4;

pub(crate) fn draw_difference(
    original: &Conclusion,
    mended: &Conclusion,
    field: ConclusionField,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let room = canvas.text_width() - DIFF_INDENT;
    let set = |conclusion: &Conclusion| wrap_text(&field_text(conclusion, field), room);
    let (old, new) = (set(original), set(mended));
    // Compare the wrapped lines, so that the marks match the words on the screen.
    let (gone, come) = changed_words(&old, &new);
    let (before, after) = (
        DiffSide { sign: "-", changed: BAD, kept: FAINT },
        DiffSide { sign: "+", changed: GOOD.bold(), kept: PLAIN },
    );
    let mut lines = before.draw_side(&old, &gone);
    lines.extend(after.draw_side(&new, &come));
    lines
}

/// Sign and styles of the old or the new version.
struct DiffSide {
    sign: &'static str,
    changed: Style,
    kept: Style,
}

impl DiffSide {
    fn draw_side(&self, lines: &[String], marked: &MarkedLines<'_>) -> Vec<StyledLine> {
        if lines.is_empty() {
            return vec![self.start_line().push_styled("(nothing)", FAINT)];
        }
        let set = lines.iter().zip(marked).map(|(text, words)| {
            let indent = text.len() - text.trim_start().len();
            let mut line = self.start_line().pad_to_column(DIFF_INDENT + indent);
            for (place, (word, is_changed)) in words.iter().enumerate() {
                let gap = if place == 0 { "" } else { " " };
                let style = if *is_changed { self.changed } else { self.kept };
                line = line.push_plain(gap).push_styled(word, style);
            }
            line
        });
        set.collect()
    }

    fn start_line(&self) -> StyledLine {
        StyledLine::with_indent(MARGIN * 2)
            .push_styled(self.sign, self.changed)
            .pad_to_column(DIFF_INDENT)
    }
}

/// Columns from the bar to the text.
const CONCLUSION_BAR_WIDTH: usize = 2;

/// Width of `Key condition` and two spaces.
const FIELD_LABEL_WIDTH: usize = 15;

/// Below this text width a label is on its own line.
const SIDE_LABEL_WIDTH_MIN: usize = 56;

/// Indent of wrapped continuation lines, so that the author's own line breaks remain visible.
const HANG: usize = 2;

/// A conclusion or draft, drawn with a bar at its left.
pub(crate) struct ConclusionBlock {
    pub bar: &'static str,
    pub style: Style,
    /// Style of the recommendation; a draft must not look like a conclusion.
    pub text_style: Style,
    pub canvas: PageCanvas,
}

impl ConclusionBlock {
    pub(crate) fn draw_fields(
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
    let own = safe_lines(text.trim_end());
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

/// Wording of the seed specification.
const REVISION_TITLE: &str = "View the objection and revision";

/// Objections to the first version; nothing if the critic passed it.
pub(crate) fn draw_revision(
    ended: &ConclusionView,
    mended: &Conclusion,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    draw_first_objections(REVISION_TITLE, ended, mended, canvas)
}

/// Objections to a draft that was not revised yet.
pub(crate) fn draw_draft_objections(
    ended: &ConclusionView,
    draft: &Conclusion,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    draw_first_objections("OBJECTIONS", ended, draft, canvas)
}

fn draw_first_objections(
    title: &str,
    ended: &ConclusionView,
    mended: &Conclusion,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let Some(audit) = ended.audit.as_ref().filter(|audit| !audit.objections.is_empty()) else {
        return Vec::new();
    };
    let mut lines = draw_heading(title, "", canvas);
    lines.extend(list_objections("", &audit.objections, canvas));
    lines.extend(draw_changes(audit, mended, canvas));
    lines
}

/// Objections of both audits, and the changes between them.
pub(crate) fn draw_rejections(
    ended: &ConclusionView,
    draft: &Conclusion,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let Some(audit) = &ended.audit else { return Vec::new() };
    let mut lines = draw_heading("OBJECTIONS", "", canvas);
    lines.extend(list_objections("At first sight", &audit.objections, canvas));
    lines.extend(draw_changes(audit, draft, canvas));
    lines.push(StyledLine::blank());
    lines.extend(list_objections("After the revision", &audit.second_objections, canvas));
    lines
}

fn list_objections(
    title: &str,
    objections: &[AuditObjection],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    if !title.is_empty() {
        lines.push(StyledLine::with_indent(MARGIN).push_styled(title, FAINT));
    }
    for objection in objections {
        let lead = StyledLine::with_indent(MARGIN).push_styled("! ", CAUTION);
        let lead = lead.push_styled(field_name(objection.field), STRONG);
        let indent = MARGIN * 2;
        let room = canvas.text_width() - indent;
        let told = wrap_text(&objection_text(objection), room);
        lines.push(lead);
        lines.extend(hang_block(StyledLine::with_indent(indent), &told, PLAIN));
    }
    lines
}

/// Draws the old and new text of each changed field.
fn draw_changes(audit: &AuditView, mended: &Conclusion, canvas: PageCanvas) -> Vec<StyledLine> {
    let Some(original) = &audit.original else { return Vec::new() };
    let fields = original.differing_fields(mended);
    let mut lines = vec![
        StyledLine::blank(),
        StyledLine::with_indent(MARGIN).push_styled("What changed", FAINT),
    ];
    if fields.is_empty() {
        lines.push(StyledLine::with_indent(MARGIN).push_styled("nothing", BAD));
    }
    for field in fields {
        lines.push(StyledLine::with_indent(MARGIN).push_styled(field_name(field), STRONG));
        lines.extend(draw_difference(original, mended, field, canvas));
    }
    lines
}
