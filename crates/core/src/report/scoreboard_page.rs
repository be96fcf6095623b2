//! The scoreboard on the page of an alignment dialogue.

use crate::model::dialogue::PanelSeat;
use crate::model::record::DialogueRecord;
use crate::protocols::alignment::state::AlignmentState;
use crate::report::page::{
    ColumnKind, ListItem, PageBlock, PageSection, PageTable, RichText, TableColumn, TableRow,
    TextTone,
};
use crate::report::phrases::count_noun;
use crate::report::scoreboard::{
    DialogueScoreboard, ScoreboardRound, ScoreboardTotals, build_scoreboard, record_scoreboard,
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

/// What a judged round led to: seats with their reasons, the parts of each score if the Judge gave
/// them, what is left to do.
pub(crate) fn round_board(record: &DialogueRecord, round: u8) -> Vec<PageBlock> {
    if !record.dialogue.opening.protocol.is_judged() {
        return Vec::new();
    }
    let judged = AlignmentState::from_record(record);
    let board = build_scoreboard(&judged);
    let Some(held) = board.rounds.iter().find(|held| held.round == round) else {
        return Vec::new();
    };
    let mut blocks = Vec::new();
    let seats = record.panels.get(&round).into_iter().flatten();
    let seats: Vec<ListItem> = seats.filter_map(seat_item).collect();
    let size = record.pool.as_ref().and_then(|pool| pool.panel_reason.as_deref());
    let size = size.filter(|_| round == 0).map(|text| ListItem::new("Panel size:", text));
    let seats: Vec<ListItem> = size.into_iter().chain(seats).collect();
    blocks.extend((!seats.is_empty()).then_some(PageBlock::List(seats)));
    if held.experts.values().any(|row| row.wisdom.is_some()) {
        blocks.push(PageBlock::Table(expert_table(held)));
    }
    let counted = judged.converged_in(round);
    let signals = judged.signals.get(&round).into_iter().flatten().map(|(slug, _)| {
        match counted.contains(slug) {
            true => slug.to_string(),
            false => format!("{slug} (does not count)"),
        }
    });
    let signals: Vec<String> = signals.collect();
    let facts = [
        format!("work remaining {}", held.work_remaining),
        format!("{}% converged", held.converge_percent),
        match signals.is_empty() {
            true => "no signal".to_owned(),
            false => format!("signals: {}", signals.join(", ")),
        },
    ];
    let facts = facts.into_iter().map(|text| RichText::toned(text, TextTone::Faint));
    blocks.push(PageBlock::Facts(facts.collect()));
    let open = held.blockers.iter().map(|text| {
        ListItem::new(
            RichText::toned("!", TextTone::Caution),
            RichText::with_ids(text, TextTone::Plain),
        )
    });
    let open: Vec<ListItem> = open.collect();
    blocks.extend((!open.is_empty()).then_some(PageBlock::List(open)));
    blocks
}

/// Why an expert sits on the panel, and which tensions the seat owns.
fn seat_item(seat: &PanelSeat) -> Option<ListItem> {
    let owned: Vec<String> = seat.tensions.iter().map(ToString::to_string).collect();
    let owned = (!owned.is_empty()).then(|| format!("owns {}", owned.join(", ")));
    let result: Vec<String> = seat.reason.iter().cloned().chain(owned).collect();
    let text = RichText::with_ids(&result.join(" · "), TextTone::Plain);
    (!result.is_empty())
        .then(|| ListItem::new(format!("{}:", seat.expert_slug.display_name()), text))
}

/// The parts of each expert's score.
fn expert_table(held: &ScoreboardRound) -> PageTable {
    let is_calibrated = held.experts.values().any(|row| row.calibration.is_some());
    let names = ["Expert", "W", "C", "T", "R", "Score"];
    let names = names.into_iter().chain(is_calibrated.then_some("Calibration"));
    let columns = names.map(|name| match name {
        "Expert" => TableColumn::new(name, ColumnKind::Short),
        _ => TableColumn::new(name, ColumnKind::Number),
    });
    let rows = held.experts.iter().map(|(slug, row)| {
        let parts = [row.wisdom, row.consistency, row.truth, row.relationships];
        let number = |part: Option<i64>| part.map_or_else(|| "·".to_owned(), |n| n.to_string());
        let mut cells = vec![RichText::strong(slug.display_name())];
        cells.extend(parts.map(|part| RichText::from(number(part.map(i64::from)))));
        cells.push(RichText::strong(row.total.to_string()));
        let figure = row.calibration.map_or_else(|| "·".to_owned(), |n| format!("{n:+}"));
        cells.extend(is_calibrated.then(|| RichText::toned(figure, TextTone::Faint)));
        TableRow { cells, bar: None, is_nested: false }
    });
    PageTable { columns: columns.collect(), rows: rows.collect() }
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
