//! Draws the blocks of a page on a terminal.

use anstyle::Style;

use crate::report::page::{
    ListItem, MarkedLines, PageBlock, PageEntry, QuoteBar, QuoteBlock, RichText, TextDiff,
    TextTone, TreeNode, compare_words,
};
use crate::report::terminal::board::draw_board;
use crate::report::terminal::layout::{
    BAD, FAINT, GOOD, ID, PLAIN, PageCanvas, STRONG, StyledLine, hang_block, indent_block,
};
use crate::report::terminal::page::shift_lines;
use crate::report::terminal::table::draw_table;
use crate::report::terminal::wrap::{
    cut_lines, fit_rich, rich_width, wrap_hanging, wrap_items, wrap_line, wrap_rich, wrap_text,
};

/// Columns from the bar to the text, and from the indent to a text below its label.
const STEP: usize = 2;

/// Width of an entity id and the space after it.
pub(crate) const ID_WIDTH: usize = 7;

/// With less space than this beside its lead, the text of an item goes below it.
const ITEM_TEXT_WIDTH_MIN: usize = 24;

/// Fields have long values, so they go below their labels earlier.
const FIELD_TEXT_WIDTH_MIN: usize = 40;

/// Columns between a label and its status at the right edge.
const STATUS_GAP: usize = 2;

pub(crate) fn draw_block(block: &PageBlock, indent: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    let room = canvas.text_width() - indent;
    match block {
        PageBlock::Paragraph(text) if text.is_empty() => Vec::new(),
        PageBlock::Paragraph(text) => shift_lines(wrap_rich(text, PLAIN, room), indent),
        PageBlock::Quote(quote) => shift_lines(draw_quote(quote, room), indent),
        PageBlock::Facts(facts) => shift_lines(wrap_items(facts, FAINT, room), indent),
        PageBlock::List(items) => shift_lines(draw_list(items, room), indent),
        PageBlock::Fields(items) => shift_lines(draw_fields(items, room), indent),
        PageBlock::Table(table) => draw_table(table, indent, canvas),
        PageBlock::Entry(entry) => shift_lines(draw_entry(entry, room), indent),
        PageBlock::Board(columns) => draw_board(columns, indent, canvas),
        PageBlock::Tree(roots) => {
            shift_lines(draw_tree(roots, canvas.column_count() - indent), indent)
        }
        PageBlock::Diff(diff) => shift_lines(draw_diff(diff, room), indent),
        PageBlock::Graph(_) => Vec::new(),
        // The reader copies a command, so it is never wrapped.
        PageBlock::Command(command) => {
            vec![StyledLine::with_indent(indent).push_styled(command, GOOD)]
        }
        PageBlock::Passage(_) | PageBlock::SourceLinks(_) => Vec::new(),
    }
}

fn draw_quote(quote: &QuoteBlock, room: usize) -> Vec<StyledLine> {
    let (lead, style, hang) = match quote.bar {
        None => (StyledLine::blank(), PLAIN, 0),
        Some(QuoteBar { tone, is_heavy }) => {
            let (sign, style) = if is_heavy { ("┃ ", STRONG) } else { ("│ ", PLAIN) };
            let is_broken = quote.text.trim_end().lines().count() > 1;
            let hang = if is_broken { STEP } else { 0 };
            (StyledLine::blank().push_styled(sign, tone.to_style()), style, hang)
        }
    };
    let width = room.saturating_sub(lead.width());
    let mut lines = wrap_hanging(&quote.text, width, hang);
    if let Some(lines_max) = quote.lines_max {
        lines = cut_lines(lines, lines_max, width);
    }
    lines.iter().map(|line| lead.clone().push_styled(line, style)).collect()
}

fn draw_list(items: &[ListItem], room: usize) -> Vec<StyledLine> {
    let widest = items.iter().map(|item| rich_width(&item.lead)).max().unwrap_or(0);
    // A sign or a number is close to its text; a name needs more space.
    let column = if widest <= STEP { widest.max(1) + 1 } else { widest + STEP };
    let is_beside = room.saturating_sub(column) >= ITEM_TEXT_WIDTH_MIN;
    let bullet = RichText::toned("·", TextTone::Faint);
    let items = items.iter().map(|item| {
        let lead = if item.lead.is_empty() { &bullet } else { &item.lead };
        draw_item(item, lead, if is_beside { column } else { 0 }, room)
    });
    items.flatten().collect()
}

/// Labels are faint, and said once for several values.
fn draw_fields(items: &[ListItem], room: usize) -> Vec<StyledLine> {
    let widest = items.iter().map(|item| rich_width(&item.lead) + STEP).max().unwrap_or(0);
    let is_beside = room.saturating_sub(widest) >= FIELD_TEXT_WIDTH_MIN;
    let mut lines = Vec::new();
    let mut before: Option<&RichText> = None;
    for item in items {
        let is_new = before != Some(&item.lead);
        let label = if is_new { item.lead.clone() } else { RichText::default() };
        lines.extend(draw_item(item, &label, if is_beside { widest } else { 0 }, room));
        before = Some(&item.lead);
    }
    lines
}

/// Draws an item with its text at `column`, or below its lead if the column is zero.
fn draw_item(item: &ListItem, lead: &RichText, column: usize, room: usize) -> Vec<StyledLine> {
    let text_at = if column == 0 { STEP } else { column };
    let text = wrap_rich(&item.text, PLAIN, room.saturating_sub(text_at));
    let text: Vec<StyledLine> = if item.text.is_empty() { Vec::new() } else { text };
    let notes = item.notes.iter().flat_map(|note| draw_note(note, room.saturating_sub(text_at)));
    let mut rest = text.into_iter().chain(notes);
    let mut lines = Vec::new();
    if column == 0 {
        let lead = wrap_rich(lead, FAINT, room).into_iter().filter(|line| line.width() > 0);
        lines.extend(lead);
    } else {
        let lead = fit_rich(lead, FAINT, usize::MAX).pad_to_column(column);
        lines.push(lead.append_line(rest.next().unwrap_or_default()));
    }
    lines.extend(shift_lines(rest.collect(), text_at));
    lines
}

/// A note below an item; its continuation lines are indented.
fn draw_note(note: &RichText, room: usize) -> Vec<StyledLine> {
    let lines = wrap_rich(note, PLAIN, room.saturating_sub(STEP));
    let indents = std::iter::once(0).chain(std::iter::repeat(STEP));
    lines
        .into_iter()
        .zip(indents)
        .map(|(line, indent)| StyledLine::with_indent(indent).append_line(line))
        .collect()
}

/// For example `P0001  Income mandate mismatch              ◐ refined`, then its text.
fn draw_entry(entry: &PageEntry, room: usize) -> Vec<StyledLine> {
    let state = fit_rich(&entry.state, PLAIN, room);
    let title_room = room.saturating_sub(ID_WIDTH + STATUS_GAP + state.width());
    let id = StyledLine::blank().push_styled(&entry.id.to_string(), ID).pad_to_column(ID_WIDTH);
    let mut lines = hang_block(id, &wrap_line(&entry.title, title_room), STRONG);
    if let Some(first) = lines.first_mut() {
        *first = std::mem::take(first).append_right(state, room);
    }
    let text_room = room.saturating_sub(ID_WIDTH);
    lines.extend(shift_lines(draw_quote(&entry.quote, text_room), ID_WIDTH));
    for facts in &entry.notes {
        lines.extend(shift_lines(wrap_items(facts, FAINT, text_room), ID_WIDTH));
    }
    lines
}

fn draw_tree(roots: &[TreeNode], room: usize) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    for root in roots {
        lines.push(fit_rich(&root.label, PLAIN, room));
        draw_branches(&root.children, "", room, &mut lines);
    }
    lines
}

/// `rails` is the text left of the branches: three columns per level.
fn draw_branches(nodes: &[TreeNode], rails: &str, room: usize, lines: &mut Vec<StyledLine>) {
    for (place, node) in nodes.iter().enumerate() {
        let is_last = place + 1 == nodes.len();
        let (elbow, rail) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let start = StyledLine::blank().push_styled(&format!("{rails}{elbow}"), FAINT);
        let left = room.saturating_sub(start.width());
        lines.push(start.append_line(fit_rich(&node.label, PLAIN, left)));
        draw_branches(&node.children, &format!("{rails}{rail}"), room, lines);
    }
}

/// The old and the new text with the changed words marked. The wrapped lines are compared, so that
/// the marks match the words on the screen.
fn draw_diff(diff: &TextDiff, room: usize) -> Vec<StyledLine> {
    let width = room.saturating_sub(2 * STEP);
    let (old, new) = (wrap_text(&diff.old, width), wrap_text(&diff.new, width));
    let (gone, come) = compare_words(&old, &new);
    let mut lines = indent_block(&wrap_line(&diff.label, room), 0, STRONG);
    lines.extend(draw_side(("- ", BAD, FAINT), &gone));
    lines.extend(draw_side(("+ ", GOOD.bold(), PLAIN), &come));
    lines
}

fn draw_side(
    (sign, changed, kept): (&str, Style, Style),
    lines: &MarkedLines<'_>,
) -> Vec<StyledLine> {
    let start = || StyledLine::with_indent(STEP).push_styled(sign, changed);
    if lines.is_empty() {
        return vec![start().push_styled("(nothing)", FAINT)];
    }
    let draw = |words: &Vec<(&str, bool)>| {
        words.iter().enumerate().fold(start(), |line, (place, (word, is_changed))| {
            let gap = if place == 0 { "" } else { " " };
            let style = if *is_changed { changed } else { kept };
            line.push_plain(gap).push_styled(word, style)
        })
    };
    lines.iter().map(draw).collect()
}
