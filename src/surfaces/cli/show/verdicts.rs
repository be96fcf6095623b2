//! The verdicts of a dialogue page, with minority and dissenting verdicts.

use anstyle::Style;

use super::canvas::PageCanvas;
use super::layout::{MARGIN, draw_heading, hang_block};
use super::line::StyledLine;
use super::palette::{self, CAUTION, FAINT, PLAIN, STRONG};
use crate::domain::record::DialogueRecord;
use crate::domain::verdict::Verdict;
use crate::export::wording;
use crate::surfaces::cli::wrap::{wrap_items, wrap_line, wrap_text};

/// Columns from the bar to the text.
const VERDICT_BAR_WIDTH: usize = 2;

pub(super) fn draw_verdicts(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("VERDICT", "", canvas);
    let verdicts = wording::sorted_verdicts(record);
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
        let (bar, style) = palette::verdict_mark(verdict.verdict_type);
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
        let told = wrap_items(&wording::verdict_details(verdict), self.room - name.width());
        let text = |(text, own): &(String, Style)| StyledLine::blank().push_styled(text, *own);
        let lines = hang_block(name, &told, FAINT).into_iter().chain(self.lines.iter().map(text));
        lines.map(|line| bar.clone().append_line(line)).collect()
    }

    fn add_caution(&mut self) {
        if let Some((word, reason)) = wording::verdict_caution(self.verdict) {
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
        let told: Vec<String> = wording::settled_lists(self.verdict)
            .iter()
            .map(|(name, ids)| format!("{name} {ids}"))
            .collect();
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
