//! The experts of a dialogue page, highest score first, with their scores by round.

use unicode_width::UnicodeWidthStr;

use crate::markers::extraction::{MarkerContent, ReplyExtraction};
use crate::model::ids::{EntityKind, EntityTarget};
use crate::model::record::{DialogueRecord, Expert};
use crate::report::phrases::count_noun;
use crate::report::terminal::layout::{
    FAINT, GOOD, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, TextTable, draw_bar, draw_heading,
};
use crate::report::terminal::wrap::fit_width;

/// Maximum width of a name; with the longest total it still fits forty columns.
const NAME_WIDTH_MAX: usize = 14;
const ROLE_WIDTH_MAX: usize = 36;
const TIER_WIDTH: usize = 8;
const BAR_WIDTH: usize = 10;
const COLUMN_GAP: usize = 2;
/// With less space than this, the role gets its own line instead of being cut.
const ROLE_WIDTH_MIN: usize = 12;

pub(crate) fn draw_scoreboard(record: &DialogueRecord, canvas: PageCanvas) -> Vec<StyledLine> {
    if record.experts.is_empty() {
        return Vec::new();
    }
    let mut experts: Vec<&Expert> = record.experts.iter().collect();
    experts.sort_by_key(|expert| std::cmp::Reverse(expert.total));
    let table = ScoreTable::new(record, &experts, canvas);
    let mut lines = draw_heading("EXPERTS", &count_noun(experts.len(), "expert"), canvas);
    lines.push(table.header_line());
    for expert in experts {
        lines.extend(table.draw_expert(expert));
    }
    lines.push(StyledLine::blank());
    lines
}

/// Column widths, computed once for all rows.
struct ScoreTable {
    name: usize,
    /// `None` if the role is on its own line.
    role: Option<usize>,
    rounds: Vec<u8>,
    score: usize,
    total: usize,
    best: i64,
    columns: usize,
}

impl ScoreTable {
    fn new(record: &DialogueRecord, experts: &[&Expert], canvas: PageCanvas) -> Self {
        let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let name = widest(&mut experts.iter().map(|e| expert_name(e).width())).min(NAME_WIDTH_MAX);
        let role =
            widest(&mut experts.iter().map(|e| fit_width(&e.profile.role, ROLE_WIDTH_MAX).width()));
        let scores = experts.iter().flat_map(|e| e.scores.values()).map(|s| s.to_string().len());
        let score = widest(&mut scores.chain([3])) + 1;
        let total = widest(&mut experts.iter().map(|e| e.total.to_string().len()).chain([5]));
        let best = experts.iter().map(|e| e.total).max().unwrap_or(0);
        let rounds: Vec<u8> = record.rounds.iter().map(|round| round.round).collect();
        let mut table =
            Self { name, role: None, rounds, score, total, best, columns: canvas.column_count() };
        table.fit_columns(role);
        table
    }

    /// Gives the role the space that the numbers leave, then drops the oldest rounds until all
    /// fits.
    fn fit_columns(&mut self, role: usize) {
        let wanted = role + TIER_WIDTH + 2 * COLUMN_GAP;
        let left = self.columns.saturating_sub(self.numbers_width());
        if left >= wanted {
            self.role = Some(role);
        } else if left >= ROLE_WIDTH_MIN + TIER_WIDTH + 2 * COLUMN_GAP {
            self.role = Some(left - TIER_WIDTH - 2 * COLUMN_GAP);
        }
        while self.numbers_width() > self.columns && !self.rounds.is_empty() {
            self.rounds.remove(0);
        }
    }

    /// Width of everything except role and tier.
    fn numbers_width(&self) -> usize {
        MARGIN
            + self.name
            + self.rounds.len() * self.score
            + COLUMN_GAP
            + self.total
            + COLUMN_GAP
            + BAR_WIDTH
    }

    fn header_line(&self) -> StyledLine {
        let mut line = self.add_role(StyledLine::with_indent(MARGIN), "", "");
        for round in &self.rounds {
            line = line.push_styled(&format!("{:>1$}", format!("r{round}"), self.score), FAINT);
        }
        line.push_styled(&format!("{:>1$}", "total", COLUMN_GAP + self.total), FAINT)
    }

    fn draw_expert(&self, expert: &Expert) -> Vec<StyledLine> {
        let profile = &expert.profile;
        let start = StyledLine::with_indent(MARGIN).push_fitted(
            &expert_name(expert),
            STRONG,
            MARGIN + self.name,
        );
        let mut line = self.add_role(start, &profile.role, profile.tier.name());
        for round in &self.rounds {
            let score = expert.scores.get(round).map_or_else(|| "·".to_owned(), i64::to_string);
            line = line.push_styled(&format!("{score:>0$}", self.score), FAINT);
        }
        line = line.push_styled(&format!("{:>1$}", expert.total, COLUMN_GAP + self.total), STRONG);
        line =
            line.push_plain("  ").push_styled(&draw_bar(expert.total, self.best, BAR_WIDTH), GOOD);
        let mut lines = vec![line];
        if self.role.is_none() {
            let told = format!("{} · {}", profile.role, profile.tier);
            lines.push(StyledLine::with_indent(2 * MARGIN).push_fitted(&told, FAINT, self.columns));
        }
        lines
    }

    fn add_role(&self, start: StyledLine, role: &str, tier: &str) -> StyledLine {
        let named = start.pad_to_column(MARGIN + self.name);
        let Some(width) = self.role else { return named };
        let role_from = MARGIN + self.name + COLUMN_GAP;
        let tier_from = role_from + width + COLUMN_GAP;
        let with_role = named.pad_to_column(role_from).push_fitted(role, PLAIN, role_from + width);
        with_role
            .pad_to_column(tier_from)
            .push_styled(tier, FAINT)
            .pad_to_column(tier_from + TIER_WIDTH)
    }
}

fn expert_name(expert: &Expert) -> String {
    expert.profile.expert_slug.display_name()
}

/// Draws a line of counts and a row per marker.
pub fn draw_marker_table(reply: &ReplyExtraction, width: usize) -> String {
    let head = format!("{}, round {}: {}\n", reply.expert, reply.round, count_markers(reply));
    if reply.markers.is_empty() {
        return head;
    }
    let mut table = TextTable::new(&["LINE", "MARKER", "OF", "SAYS"]);
    for marker in &reply.markers {
        let [what, of, says] = marker_cells(&marker.content);
        table.add_row([marker.line.to_string(), what, of, says]);
    }
    format!("{head}\n{}", table.draw_table(width))
}

fn count_markers(reply: &ReplyExtraction) -> String {
    let entities = EntityKind::ALL.iter().map(|kind| match (reply.of_kind(*kind).count(), *kind) {
        // `evidence` has no plural.
        (0, _) => String::new(),
        (count, EntityKind::Evidence) => format!("{count} evidence"),
        (count, kind) => count_noun(count, kind.type_name()),
    });
    let references = reply.contributions.iter().map(|item| item.references.len()).sum();
    let others =
        [(references, "reference"), (reply.moves.len(), "move"), (reply.verdicts.len(), "verdict")];
    let others = others.into_iter().map(|(count, noun)| match count {
        0 => String::new(),
        count => count_noun(count, noun),
    });
    let said: Vec<String> = entities.chain(others).filter(|said| !said.is_empty()).collect();
    if said.is_empty() { "nothing marked".to_owned() } else { said.join(", ") }
}

fn marker_cells(said: &MarkerContent) -> [String; 3] {
    let ids = |targets: &[EntityTarget]| {
        targets.iter().map(EntityTarget::to_string).collect::<Vec<_>>().join(" ")
    };
    match said {
        MarkerContent::Entity { id, label } => {
            [id.kind.type_name().to_owned(), id.to_string(), label.clone()]
        }
        MarkerContent::Reference { source, ref_type, targets } => {
            [ref_type.to_string(), source.to_string(), ids(targets)]
        }
        MarkerContent::Move { move_type, targets, topic } => {
            let says = topic.clone().unwrap_or_else(|| ids(targets));
            [move_type.to_string(), "move".to_owned(), says]
        }
        MarkerContent::Verdict { verdict_type, label } => {
            [verdict_type.to_string(), "verdict".to_owned(), label.clone().unwrap_or_default()]
        }
    }
}
