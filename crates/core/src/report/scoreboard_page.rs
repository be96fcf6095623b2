//! The scoreboard on the page of an alignment dialogue.

use crate::model::record::DialogueRecord;
use crate::report::page::{
    ColumnKind, ListItem, PageBlock, PageSection, PageTable, RichText, TableColumn, TableRow,
    TextTone,
};
use crate::report::phrases::count_noun;
use crate::report::scoreboard::{
    DialogueScoreboard, ScoreboardRound, ScoreboardTotals, record_scoreboard,
};

const COLUMNS: [&str; 11] =
    ["Round", "W", "C", "T", "R", "Score", "Sum", "Velocity", "Open", "New", "Converge"];

/// The rounds with their scores, what blocks after the last one, and the totals. None before the
/// first round, or if no Judge leads the dialogue.
pub(crate) fn scoreboard_section(record: &DialogueRecord) -> Option<PageSection> {
    let board = record_scoreboard(record)?;
    let last = board.rounds.last()?;
    let mut blocks = vec![PageBlock::Table(rounds_table(&board))];
    let is_over = record.dialogue.status.is_closed();
    if !last.blockers.is_empty() && !is_over {
        let items = last
            .blockers
            .iter()
            .map(|text| ListItem::new(RichText::toned("!", TextTone::Caution), text.as_str()));
        blocks.push(PageBlock::List(items.collect()));
    }
    blocks.push(PageBlock::Facts(total_facts(&board.totals)));
    let note = count_noun(board.rounds.len(), "round");
    Some(PageSection::new("Scoreboard", blocks).with_note(note))
}

fn rounds_table(board: &DialogueScoreboard) -> PageTable {
    let kind = |name: &&str| match *name {
        "Round" => ColumnKind::Short,
        _ => ColumnKind::Number,
    };
    let columns = COLUMNS.iter().map(|name| TableColumn::new(*name, kind(name))).collect();
    let rows = board.rounds.iter().map(|round| TableRow {
        cells: round_cells(round),
        bar: None,
        is_nested: false,
    });
    PageTable { columns, rows: rows.collect() }
}

fn round_cells(round: &ScoreboardRound) -> Vec<RichText> {
    let sum = |pick: fn(&crate::report::scoreboard::ScoreRow) -> Option<u32>| {
        let parts: Vec<u32> = round.experts.values().filter_map(pick).collect();
        match parts.is_empty() {
            true => "·".to_owned(),
            false => parts.iter().map(|part| u64::from(*part)).sum::<u64>().to_string(),
        }
    };
    let parts = [
        sum(|row| row.wisdom),
        sum(|row| row.consistency),
        sum(|row| row.truth),
        sum(|row| row.relationships),
    ];
    let mut cells = vec![RichText::strong(format!("r{}", round.round))];
    cells.extend(parts.map(|text| RichText::toned(text, TextTone::Faint)));
    cells.push(RichText::strong(round.score.to_string()));
    cells.extend(
        [
            round.cumulative.to_string(),
            format!("{:+}", round.velocity),
            round.open_tensions.to_string(),
            round.new_perspectives.to_string(),
            format!("{}%", round.converge_percent),
        ]
        .map(RichText::from),
    );
    cells
}

fn total_facts(totals: &ScoreboardTotals) -> Vec<RichText> {
    let mut facts = vec![
        format!("ALIGNMENT {}", totals.alignment.total),
        count_noun(totals.experts_consulted, "expert"),
        format!("{} of {} tensions resolved", totals.tensions_resolved, totals.tensions_total),
    ];
    facts.extend(totals.convergence_reason.clone());
    facts.into_iter().map(|text| RichText::toned(text, TextTone::Faint)).collect()
}
