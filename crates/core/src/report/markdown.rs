//! Draws a page as Markdown, readable as a file and on GitHub.
//!
//! **Invariant:** headings, tables and lists are ours alone. Text of others is quoted or escaped,
//! so it cannot add to them.

use crate::report::dialogue_json::LAST_LINE_PREFIX;
use crate::report::markdown_escape::{escape_code, escape_inline, quote_lines, quote_text};
use crate::report::page::{
    BoardColumn, ColumnKind, HARD_SPACE, ListItem, MarkedLines, PageBlock, PageEntry, PageModel,
    PageSection, PageTable, QuoteBlock, RichText, TextDiff, TextSpan, TextTone, TreeNode,
    compare_words,
};
use crate::report::safe_text::safe_lines;

/// The same page gives the same bytes.
pub fn render_markdown(page: &PageModel) -> String {
    let mut blocks = vec![format!("# {}", escape_inline(&page.title).trim())];
    blocks.push(render_state(page));
    let facts: Vec<Vec<String>> =
        page.facts.iter().map(|(name, fact)| vec![(*name).to_owned(), render_text(fact)]).collect();
    blocks.push(render_rows(&["", ""], &[":---", ":---"], &facts));
    blocks.extend(page.intro.iter().map(render_block));
    if let Some(question) = &page.question {
        blocks.push("## Question".to_owned());
        blocks.push(quote_text(&question.text));
    }
    for section in page.sections.iter().filter(|section| !section.is_empty()) {
        blocks.extend(render_section(section, 2));
    }
    if let Some(head) = &page.chain_head {
        blocks.push(format!("---\n\n{LAST_LINE_PREFIX}{}`", escape_code(head)));
    }
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n") + "\n"
}

/// The state and the health of the panel on one line.
fn render_state(page: &PageModel) -> String {
    let state = Some(render_text(&page.state)).filter(|state| !state.is_empty());
    let health = page.health.iter().map(|word| escape_inline(word));
    state.into_iter().chain(health).collect::<Vec<_>>().join(" · ")
}

fn render_section(section: &PageSection, level: usize) -> Vec<String> {
    let mut title = escape_inline(&section.title);
    if let Some(subject) = &section.subject {
        title.push_str(&format!(": {}", escape_inline(subject).trim()));
    }
    if !section.note.is_empty() {
        title.push_str(&format!(" ({})", render_text(&section.note)));
    }
    let mut blocks = match section.is_folded {
        true => vec![format!("<details><summary>{title}</summary>")],
        false => vec![format!("{} {title}", "#".repeat(level))],
    };
    blocks.extend(section.blocks.iter().map(render_block));
    let parts = section.sections.iter().filter(|part| !part.is_empty());
    blocks.extend(parts.flat_map(|part| render_section(part, level + 1)));
    if section.is_folded {
        blocks.push("</details>".to_owned());
    }
    blocks
}

fn render_block(block: &PageBlock) -> String {
    match block {
        PageBlock::Paragraph(text) => render_text(text),
        PageBlock::Quote(quote) => render_quote(quote),
        PageBlock::Facts(facts) => render_facts(facts),
        PageBlock::List(items) => {
            items.iter().map(|item| render_item(item, " ")).collect::<Vec<_>>().join("\n")
        }
        PageBlock::Fields(items) => {
            items.iter().map(|item| render_item(item, ": ")).collect::<Vec<_>>().join("\n")
        }
        PageBlock::Table(table) => render_table(table),
        PageBlock::Entry(entry) => render_entry(entry),
        PageBlock::Board(columns) => render_board(columns),
        PageBlock::Tree(roots) => render_tree(roots, 0).join("\n"),
        PageBlock::Diff(diff) => render_diff(diff),
        PageBlock::Graph(_) => String::new(),
        PageBlock::Command(command) => format!("`{}`", escape_code(command)),
        PageBlock::Passage(shown) => quote_lines(&shown.passage),
        PageBlock::SourceLinks(_) => String::new(),
    }
}

/// A quote with a bar keeps every line break, because a question may ask for a number of lines.
fn render_quote(quote: &QuoteBlock) -> String {
    match quote.bar {
        Some(_) => quote_lines(&quote.text),
        None => quote_text(&quote.text),
    }
}

fn render_facts(facts: &[RichText]) -> String {
    let facts: Vec<String> =
        facts.iter().map(render_text).filter(|fact| !fact.is_empty()).collect();
    facts.join(" · ")
}

fn render_item(item: &ListItem, joiner: &str) -> String {
    let lead = render_text(&item.lead);
    let lead = match (lead.is_empty(), joiner) {
        (true, _) => String::new(),
        (false, " ") => format!("{lead} "),
        (false, _) => format!("**{lead}**{joiner}"),
    };
    let notes = item.notes.iter().map(|note| format!("<br>{}", render_text(note)));
    let line = format!("- {lead}{}{}", render_text(&item.text), notes.collect::<String>());
    line.trim_end().to_owned()
}

fn render_entry(entry: &PageEntry) -> String {
    let title = format!("**{} {}**", entry.id, escape_inline(&entry.title).trim());
    let first = [title, render_text(&entry.state)];
    let facts = entry.notes.iter().map(|facts| render_facts(facts));
    let blocks = [first.join(" · "), render_quote(&entry.quote)].into_iter().chain(facts);
    blocks.filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn render_board(columns: &[BoardColumn]) -> String {
    let mut rows = Vec::new();
    for column in columns {
        for card in &column.cards {
            let notes: Vec<String> = card.notes.iter().map(render_text).collect();
            let title = escape_inline(&card.title).trim().to_owned();
            rows.push(vec![
                card.id.to_string(),
                title,
                render_text(&column.title),
                notes.join("<br>"),
            ]);
        }
    }
    render_rows(&["Id", "Label", "Status", "History"], &["---"; 4], &rows)
}

fn render_tree(nodes: &[TreeNode], depth: usize) -> Vec<String> {
    let lines = nodes.iter().flat_map(|node| {
        let line = format!("{}- {}", "  ".repeat(depth), render_text(&node.label));
        std::iter::once(line).chain(render_tree(&node.children, depth + 1))
    });
    lines.collect()
}

fn render_table(table: &PageTable) -> String {
    let columns: Vec<&str> = table.columns.iter().map(|column| column.heading.as_str()).collect();
    let rules: Vec<&str> = table
        .columns
        .iter()
        .map(|column| if column.kind == ColumnKind::Number { "---:" } else { "---" })
        .collect();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.cells.iter().map(render_text).collect()).collect();
    render_rows(&columns, &rules, &rows)
}

/// A table; empty without rows.
fn render_rows(head: &[&str], rules: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        cells.fold("|".to_owned(), |line, cell| format!("{line} {cell} |"))
    };
    let head = [line(&mut head.iter().copied()), line(&mut rules.iter().copied())];
    let rows = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    head.into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn render_diff(diff: &TextDiff) -> String {
    // Escaped before the comparison, so that a mark never separates a character from its escape.
    let escape = |text: &str| -> Vec<String> {
        safe_lines(text).iter().map(|line| escape_inline(line)).collect()
    };
    let (old, new) = (escape(&diff.old), escape(&diff.new));
    let (gone, come) = compare_words(&old, &new);
    let label = escape_inline(&diff.label);
    let (gone, come) = (quote_marked(&gone, "~~"), quote_marked(&come, "**"));
    format!("**{}**, before:\n\n{gone}\n\nafter:\n\n{come}", label.trim())
}

fn quote_marked(lines: &MarkedLines<'_>, mark: &str) -> String {
    if lines.is_empty() {
        return "> (nothing)".to_owned();
    }
    let set =
        lines.iter().map(|words| format!("> {}", mark_runs(words, mark)).trim_end().to_owned());
    // Two spaces keep a line break.
    set.collect::<Vec<_>>().join("  \n")
}

/// Adjacent changed words share one pair of marks.
fn mark_runs(words: &[(&str, bool)], mark: &str) -> String {
    let runs = words.chunk_by(|one, other| one.1 == other.1).map(|run| {
        let text = run.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let is_changed = run.first().is_some_and(|(_, is_changed)| *is_changed);
        if is_changed { format!("{mark}{text}{mark}") } else { text }
    });
    runs.collect::<Vec<_>>().join(" ")
}

/// The text on one line: strong text is bold, names are code.
fn render_text(text: &RichText) -> String {
    let text: String = text.spans.iter().map(render_span).collect();
    text.trim().replace(HARD_SPACE, " ")
}

fn render_span(span: &TextSpan) -> String {
    let words = span.text.trim();
    if words.is_empty() {
        return span.text.replace(['\n', '\r', '\t'], " ");
    }
    let text = match span.tone {
        TextTone::Code => format!("`{}`", escape_code(words)),
        TextTone::Plain
        | TextTone::Faint
        | TextTone::Id
        | TextTone::Good
        | TextTone::Caution
        | TextTone::Bad => escape_inline(words),
    };
    let text = if span.is_strong { format!("**{text}**") } else { text };
    let gap = |is_gap: bool| if is_gap { " " } else { "" };
    let starts = span.text.starts_with(char::is_whitespace);
    let ends = span.text.ends_with(char::is_whitespace);
    format!("{}{text}{}", gap(starts), gap(ends))
}
