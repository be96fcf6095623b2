//! The verdicts of a dialogue page, with minority and dissenting verdicts.

use anstyle::Style;

use super::canvas::Canvas;
use super::layout::{MARGIN, hanging, heading};
use super::line::Line;
use super::palette::{self, CAUTION, FAINT, PLAIN, STRONG};
use crate::domain::record::Record;
use crate::domain::verdict::Verdict;
use crate::export::wording;
use crate::surfaces::cli::wrap::{wrap_items, wrap_line, wrap_text};

/// Columns from the bar to the text.
const BAR: usize = 2;

pub(super) fn draw(record: &Record, canvas: Canvas) -> Vec<Line> {
    let mut lines = heading("VERDICT", "", canvas);
    let verdicts = wording::verdicts(record);
    if verdicts.is_empty() {
        lines.push(Line::indented(MARGIN).styled("None yet.", FAINT));
        lines.push(Line::blank());
    }
    for verdict in verdicts {
        lines.extend(Framed::new(verdict, canvas).draw());
        lines.push(Line::blank());
    }
    lines
}

/// Draws one verdict with a bar at its left.
struct Framed<'a> {
    verdict: &'a Verdict,
    room: usize,
    lines: Vec<(String, Style)>,
}

impl<'a> Framed<'a> {
    fn new(verdict: &'a Verdict, canvas: Canvas) -> Self {
        Self { verdict, room: canvas.measure() - MARGIN - BAR, lines: Vec::new() }
    }

    fn draw(mut self) -> Vec<Line> {
        let verdict = self.verdict;
        self.add(wrap_line(&verdict.recommendation, self.room), STRONG);
        self.warn();
        self.paragraph(wrap_text(&verdict.description, self.room), PLAIN);
        self.conditions();
        self.paragraph(self.settled(), FAINT);
        let (bar, style) = palette::of_verdict(verdict.verdict_type);
        let bar = Line::indented(MARGIN).styled(bar, style).pad_to(MARGIN + BAR);
        let kind = verdict.verdict_type.name();
        let mut name = Line::blank().styled(&kind.to_uppercase(), style.bold());
        // Show the id, because events refer to it, unless it only repeats the type, as `final`
        // does.
        if verdict.verdict_id.as_str() != kind {
            name = name.plain(" ").plain(verdict.verdict_id.as_str());
        }
        let name = name.plain("  ");
        let told = wrap_items(&wording::circumstances(verdict), self.room - name.width());
        let text = |(text, own): &(String, Style)| Line::blank().styled(text, *own);
        let lines = hanging(name, &told, FAINT).into_iter().chain(self.lines.iter().map(text));
        lines.map(|line| bar.clone().join(line)).collect()
    }

    fn warn(&mut self) {
        if let Some((word, reason)) = wording::caution(self.verdict) {
            self.paragraph(wrap_line(&format!("{word}: {reason}"), self.room), CAUTION);
        }
    }

    fn conditions(&mut self) {
        let conditions = self.verdict.conditions.as_deref().unwrap_or_default();
        if conditions.is_empty() {
            return;
        }
        self.paragraph(vec!["Conditions".to_owned()], FAINT);
        for (place, condition) in conditions.iter().enumerate() {
            let number = format!("{}. ", place + 1);
            let blank = " ".repeat(number.len());
            let wrapped = wrap_line(condition, self.room - number.len());
            let leads = std::iter::once(number.as_str()).chain(std::iter::repeat(blank.as_str()));
            let set = leads.zip(&wrapped).map(|(lead, text)| format!("{lead}{text}")).collect();
            self.add(set, PLAIN);
        }
    }

    fn settled(&self) -> Vec<String> {
        let told: Vec<String> = wording::settled(self.verdict)
            .iter()
            .map(|(name, ids)| format!("{name} {ids}"))
            .collect();
        wrap_items(&told, self.room)
    }

    fn paragraph(&mut self, lines: Vec<String>, style: Style) {
        if !lines.is_empty() {
            self.add(vec![String::new()], PLAIN);
            self.add(lines, style);
        }
    }

    fn add(&mut self, lines: Vec<String>, style: Style) {
        self.lines.extend(lines.into_iter().map(|line| (line, style)));
    }
}
