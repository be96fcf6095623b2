//! Draws a page on a terminal: headline, then each section with its blocks.

use unicode_width::UnicodeWidthStr;

use crate::report::page::{PageBlock, PageModel, PageSection, QuoteBlock, RichText, TextTone};
use crate::report::terminal::blocks::draw_block;
use crate::report::terminal::layout::{
    FAINT, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, draw_styled_heading, indent_block,
};
use crate::report::terminal::wrap::{rich_width, wrap_items, wrap_line, wrap_rich};

/// Draws the page with ANSI colours.
pub fn draw_page(page: &PageModel, canvas: PageCanvas) -> String {
    let mut lines = vec![StyledLine::blank()];
    lines.extend(draw_headline(page, canvas));
    lines.extend(draw_sections(&page.sections, canvas));
    if let Some(head) = &page.chain_head {
        lines.push(StyledLine::blank());
        let text = RichText::toned(format!("Head of this dialogue: {head}"), TextTone::Faint);
        lines.extend(shift_lines(wrap_rich(&text, FAINT, canvas.column_count() - MARGIN), MARGIN));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Draws sections with a blank line before each.
pub fn draw_sections(sections: &[PageSection], canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        lines.push(StyledLine::blank());
        lines.extend(draw_section(section, canvas));
    }
    lines
}

fn draw_headline(page: &PageModel, canvas: PageCanvas) -> Vec<StyledLine> {
    let room = canvas.text_width() - MARGIN;
    let mut lines = draw_title(page, canvas);
    if !question_repeats_title(page) {
        lines.extend(indent_block(&wrap_line(&page.title, room), MARGIN, STRONG));
    }
    let summary: Vec<RichText> =
        page.summary.iter().map(|fact| RichText::from(fact.as_str())).collect();
    lines.extend(shift_lines(wrap_items(&summary, FAINT, room), MARGIN));
    let question = page.question.iter().cloned().map(PageBlock::Quote);
    let blocks: Vec<PageBlock> = question.chain(page.intro.iter().cloned()).collect();
    if !blocks.is_empty() && lines.last().is_some_and(|last| last.width() > 0) {
        lines.push(StyledLine::blank());
    }
    lines.extend(draw_blocks(&blocks, MARGIN, canvas));
    lines
}

/// The kind of the page, its state and the health of its panel. What does not fit beside the kind
/// goes below it.
fn draw_title(page: &PageModel, canvas: PageCanvas) -> Vec<StyledLine> {
    let kind = page.kind.to_uppercase();
    let health = |note: RichText| {
        page.health.iter().fold(note, |note, word| {
            let gap = if note.is_empty() { "" } else { " · " };
            note.push(gap, TextTone::Plain).push(word.as_str(), TextTone::Plain)
        })
    };
    let note = health(page.state.clone());
    if kind.width() + MARGIN + rich_width(&note) < canvas.column_count() {
        return draw_styled_heading(&kind, to_line(&note), canvas);
    }
    let mut lines = draw_styled_heading(&kind, to_line(&page.state), canvas);
    let words: Vec<RichText> =
        page.health.iter().map(|word| RichText::from(word.as_str())).collect();
    lines.extend(shift_lines(wrap_items(&words, PLAIN, canvas.column_count() - MARGIN), MARGIN));
    lines.push(StyledLine::blank());
    lines
}

/// Whether the question already says what the title says.
fn question_repeats_title(page: &PageModel) -> bool {
    let title = page.title.trim_end_matches('…').trim();
    let begins = |question: &QuoteBlock| question.text.trim_start().starts_with(title);
    page.question.as_ref().is_some_and(begins)
}

fn draw_section(section: &PageSection, canvas: PageCanvas) -> Vec<StyledLine> {
    // The seed gives the words of the folded section, so they stay as they are.
    let title =
        if section.is_folded { section.title.clone() } else { section.title.to_uppercase() };
    let title = match &section.subject {
        Some(subject) => format!("{title} · {subject}"),
        None => title,
    };
    let fits = title.width() + MARGIN * 2 + rich_width(&section.note) <= canvas.column_count();
    let mut lines = match fits {
        true => draw_styled_heading(&title, to_line(&section.note), canvas),
        false => draw_styled_heading(&title, StyledLine::blank(), canvas),
    };
    if !fits && !section.note.is_empty() {
        let room = canvas.column_count() - MARGIN;
        lines.extend(shift_lines(wrap_rich(&section.note, FAINT, room), MARGIN));
        lines.push(StyledLine::blank());
    }
    lines.extend(draw_blocks(&section.blocks, MARGIN, canvas));
    lines.extend(draw_subsections(section, MARGIN, canvas));
    lines
}

fn draw_subsections(section: &PageSection, indent: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let mut is_first = section.blocks.is_empty();
    for part in section.sections.iter().filter(|part| !part.is_empty()) {
        if !is_first {
            lines.push(StyledLine::blank());
        }
        is_first = false;
        lines.extend(draw_subsection_title(part, indent, canvas));
        lines.extend(draw_blocks(&part.blocks, indent + MARGIN, canvas));
        lines.extend(draw_subsections(part, indent + MARGIN, canvas));
    }
    lines
}

/// The title, with its note beside it.
fn draw_subsection_title(part: &PageSection, indent: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    let title = match &part.subject {
        Some(subject) => format!("{} {subject}", part.title),
        None => part.title.clone(),
    };
    let text = RichText::strong(title).push("  ", TextTone::Plain);
    let room = canvas.text_width() - indent;
    let beside = RichText { spans: [text.spans, part.note.spans.clone()].concat() };
    if rich_width(&beside) <= room {
        let lead = StyledLine::with_indent(indent);
        return vec![lead.append_line(to_line_on(&beside, FAINT))];
    }
    let title = RichText { spans: beside.spans.into_iter().take(1).collect() };
    let mut lines = shift_lines(wrap_rich(&title, PLAIN, room), indent);
    let note = wrap_rich(&part.note, FAINT, room - MARGIN);
    lines.extend(shift_lines(note, indent + MARGIN).into_iter().filter(|line| line.width() > 0));
    lines
}

/// Draws blocks with a blank line between those that do not belong together.
pub(crate) fn draw_blocks(
    blocks: &[PageBlock],
    indent: usize,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = Vec::new();
    let mut before: Option<&PageBlock> = None;
    for block in blocks {
        let drawn = draw_block(block, indent, canvas);
        if drawn.is_empty() {
            continue;
        }
        if before.is_some_and(|before| !is_attached(before, block)) {
            lines.push(StyledLine::blank());
        }
        lines.extend(drawn);
        before = Some(block);
    }
    lines
}

/// Whether a block continues the block before it.
fn is_attached(before: &PageBlock, block: &PageBlock) -> bool {
    matches!(
        (before, block),
        (_, PageBlock::Command(_))
            | (PageBlock::Entry(_), PageBlock::Entry(_))
            | (PageBlock::Diff(_), PageBlock::Diff(_))
            | (PageBlock::Facts(_), PageBlock::Facts(_) | PageBlock::List(_))
            | (PageBlock::Facts(_), PageBlock::Quote(_))
    )
}

/// The text on one line.
pub(crate) fn to_line(text: &RichText) -> StyledLine {
    to_line_on(text, PLAIN)
}

fn to_line_on(text: &RichText, base: anstyle::Style) -> StyledLine {
    crate::report::terminal::wrap::fit_rich(text, base, usize::MAX)
}

/// The lines with an indent.
pub(crate) fn shift_lines(lines: Vec<StyledLine>, indent: usize) -> Vec<StyledLine> {
    lines.into_iter().map(|line| StyledLine::with_indent(indent).append_line(line)).collect()
}
