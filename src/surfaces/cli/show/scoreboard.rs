//! The experts of a dialogue page, highest score first, with their scores by round.

use unicode_width::UnicodeWidthStr;

use super::bar::bar;
use super::canvas::Canvas;
use super::layout::{MARGIN, heading};
use super::line::Line;
use super::palette::{FAINT, GOOD, PLAIN, STRONG};
use crate::domain::record::{Expert, Record};
use crate::export::wording;
use crate::surfaces::cli::wrap::fit;

/// Maximum width of a name; with the longest total it still fits forty columns.
const NAME_MAX: usize = 14;
const ROLE_MAX: usize = 36;
const TIER: usize = 8;
const BAR: usize = 10;
const GAP: usize = 2;
/// With less space than this, the role gets its own line instead of being cut.
const ROLE_MIN: usize = 12;

pub(super) fn draw(record: &Record, canvas: Canvas) -> Vec<Line> {
    if record.experts.is_empty() {
        return Vec::new();
    }
    let mut experts: Vec<&Expert> = record.experts.iter().collect();
    experts.sort_by_key(|expert| std::cmp::Reverse(expert.total));
    let table = Table::new(record, &experts, canvas);
    let mut lines = heading("EXPERTS", &wording::count(experts.len(), "expert"), canvas);
    lines.push(table.header());
    for expert in experts {
        lines.extend(table.row(expert));
    }
    lines.push(Line::blank());
    lines
}

/// Column widths, computed once for all rows.
struct Table {
    name: usize,
    /// `None` if the role is on its own line.
    role: Option<usize>,
    rounds: Vec<u8>,
    score: usize,
    total: usize,
    best: i64,
    columns: usize,
}

impl Table {
    fn new(record: &Record, experts: &[&Expert], canvas: Canvas) -> Self {
        let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let name = widest(&mut experts.iter().map(|e| name(e).width())).min(NAME_MAX);
        let role = widest(&mut experts.iter().map(|e| fit(&e.profile.role, ROLE_MAX).width()));
        let scores = experts.iter().flat_map(|e| e.scores.values()).map(|s| s.to_string().len());
        let score = widest(&mut scores.chain([3])) + 1;
        let total = widest(&mut experts.iter().map(|e| e.total.to_string().len()).chain([5]));
        let best = experts.iter().map(|e| e.total).max().unwrap_or(0);
        let rounds: Vec<u8> = record.rounds.iter().map(|round| round.round).collect();
        let mut table =
            Self { name, role: None, rounds, score, total, best, columns: canvas.columns() };
        table.settle(role);
        table
    }

    /// Gives the role the space that the numbers leave, then drops the oldest rounds until all
    /// fits.
    fn settle(&mut self, role: usize) {
        let wanted = role + TIER + 2 * GAP;
        let left = self.columns.saturating_sub(self.numbers_width());
        if left >= wanted {
            self.role = Some(role);
        } else if left >= ROLE_MIN + TIER + 2 * GAP {
            self.role = Some(left - TIER - 2 * GAP);
        }
        while self.numbers_width() > self.columns && !self.rounds.is_empty() {
            self.rounds.remove(0);
        }
    }

    /// Width of everything except role and tier.
    fn numbers_width(&self) -> usize {
        MARGIN + self.name + self.rounds.len() * self.score + GAP + self.total + GAP + BAR
    }

    fn header(&self) -> Line {
        let mut line = self.beside(Line::indented(MARGIN), "", "");
        for round in &self.rounds {
            line = line.styled(&format!("{:>1$}", format!("r{round}"), self.score), FAINT);
        }
        line.styled(&format!("{:>1$}", "total", GAP + self.total), FAINT)
    }

    fn row(&self, expert: &Expert) -> Vec<Line> {
        let profile = &expert.profile;
        let start = Line::indented(MARGIN).fitted(&name(expert), STRONG, MARGIN + self.name);
        let mut line = self.beside(start, &profile.role, profile.tier.name());
        for round in &self.rounds {
            let score = expert.scores.get(round).map_or_else(|| "·".to_owned(), i64::to_string);
            line = line.styled(&format!("{score:>0$}", self.score), FAINT);
        }
        line = line.styled(&format!("{:>1$}", expert.total, GAP + self.total), STRONG);
        line = line.plain("  ").styled(&bar(expert.total, self.best, BAR), GOOD);
        let mut lines = vec![line];
        if self.role.is_none() {
            let told = format!("{} · {}", profile.role, profile.tier);
            lines.push(Line::indented(2 * MARGIN).fitted(&told, FAINT, self.columns));
        }
        lines
    }

    fn beside(&self, start: Line, role: &str, tier: &str) -> Line {
        let named = start.pad_to(MARGIN + self.name);
        let Some(width) = self.role else { return named };
        let role_from = MARGIN + self.name + GAP;
        let tier_from = role_from + width + GAP;
        let with_role = named.pad_to(role_from).fitted(role, PLAIN, role_from + width);
        with_role.pad_to(tier_from).styled(tier, FAINT).pad_to(tier_from + TIER)
    }
}

fn name(expert: &Expert) -> String {
    expert.profile.expert_slug.display_name()
}
