//! Draws a page as one HTML file: no network, styles embedded. A page with a graph has one script,
//! which filters it; all else, and the first drawing, is there without scripts.
//!
//! **Invariant:** every text passes [`escape_html`]; the tags, the style and the script are ours
//! alone. The content security policy allows that one style and script, by their hashes, and nothing
//! else.

use std::collections::BTreeSet;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::model::ids::EntityId;
use crate::model::time::Moment;
use crate::report::graph_drawing::{draw_graph, graph_data};
use crate::report::html_sources::{render_passage, render_source_links, source_ids};
use crate::report::page::{
    BoardColumn, ColumnKind, DrawnGraph, ListItem, MarkedLines, PageBlock, PageEntry, PageModel,
    PageSection, PageTable, QuoteBlock, RichText, TableRow, TextDiff, TextSpan, TextTone, TreeNode,
    compare_words,
};
use crate::report::safe_text::{safe_line, safe_lines};

/// The style of every exported page.
const STYLE: &str = include_str!("page.css");

/// Filters of a graph, and neighbours of an entity.
const GRAPH_SCRIPT: &str = include_str!("graph.js");

/// The start of the last line of an exported page.
pub(crate) const HTML_LAST_LINE: &str = "<footer><p>Head of the chain: <code>";
pub(crate) const HTML_GENERATOR: &str = "<meta name=\"generator\" content=\"Plenary\">";

/// The same page gives the same bytes.
pub fn render_html(page: &PageModel) -> String {
    let anchors = entry_ids(&page.sections);
    let sources = source_ids(&page.sections);
    let mut html = HtmlPage { anchors, sources, level: 1, ..HtmlPage::default() };
    html.add_page(page);
    html.text
}

/// The file so far.
#[derive(Default)]
struct HtmlPage {
    text: String,
    /// The entities with an entry on this page; a mention of one is a link.
    anchors: BTreeSet<EntityId>,
    /// The parts with a section of their sources, to which the page links.
    sources: BTreeSet<String>,
    /// The number of headings so far; the last one is `#sN`.
    headings: usize,
    /// The level of the last heading.
    level: usize,
    /// Links to the sections of the first level.
    contents: Vec<String>,
}

/// HTML has no deeper headings.
const LEVEL_MAX: usize = 6;

/// A page with more sections than this begins with a list of them.
const UNLISTED_SECTIONS_MAX: usize = 6;

impl HtmlPage {
    fn add_page(&mut self, page: &PageModel) {
        let title = escape_html(&page.title);
        let graph = find_graph(&page.sections);
        let script = graph
            .map_or_else(String::new, |_| format!("script-src {}; ", hash_source(GRAPH_SCRIPT)));
        let policy = format!(
            "default-src 'none'; style-src {}; {script}base-uri 'none'; form-action 'none'",
            hash_source(STYLE)
        );
        let head = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             {HTML_GENERATOR}\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header>\n<p class=\"kind\">{}</p>\n<h1 id=\"s0\">{title}</h1>\n",
            escape_html(page.kind)
        );
        self.text.push_str(&head);
        self.add_state(page);
        self.add_facts(&page.facts);
        self.add_blocks(&page.intro);
        self.text.push_str("</header>\n");
        let place = self.text.len();
        if let Some(question) = &page.question {
            let block = PageBlock::prose(&question.text);
            self.add_section(&PageSection::new("Question", vec![block]), 2);
        }
        for section in page.sections.iter().filter(|section| !section.is_empty()) {
            self.add_section(section, 2);
        }
        if self.contents.len() > UNLISTED_SECTIONS_MAX {
            let links = self.contents.join("\n");
            let contents = format!("<nav aria-label=\"Contents\"><ol>\n{links}\n</ol></nav>\n");
            self.text.insert_str(place, &contents);
        }
        self.text.push_str("</main>\n");
        if let Some(graph) = graph {
            let data = graph_data(&graph.all);
            self.add_line(&format!(
                "<script type=\"application/json\" id=\"graph-data\">{data}</script>\n\
                 <script>{GRAPH_SCRIPT}</script>"
            ));
        }
        if let Some(head) = &page.chain_head {
            let line = format!("{HTML_LAST_LINE}{}</code></p></footer>\n", escape_html(head));
            self.text.push_str(&line);
        }
        self.text.push_str("</body>\n</html>\n");
    }

    fn add_state(&mut self, page: &PageModel) {
        let health = page.health.iter().map(|word| escape_html(word));
        let state = Some(self.to_html(&page.state)).filter(|state| !state.is_empty());
        let parts: Vec<String> = state.into_iter().chain(health).collect();
        if !parts.is_empty() {
            self.add_line(&format!("<p class=\"state\">{}</p>", parts.join(" · ")));
        }
    }

    fn add_facts(&mut self, facts: &[(&'static str, RichText)]) {
        if facts.is_empty() {
            return;
        }
        let rows: Vec<String> = facts
            .iter()
            .map(|(name, fact)| {
                format!("<div><dt>{}</dt><dd>{}</dd></div>", escape_html(name), self.to_html(fact))
            })
            .collect();
        self.add_line(&format!("<dl class=\"facts\">\n{}\n</dl>", rows.join("\n")));
    }

    fn add_section(&mut self, section: &PageSection, level: usize) {
        self.headings += 1;
        let mut title = match &section.source_of {
            Some(part) => self.link_id(part),
            None => escape_html(&section.title),
        };
        if let Some(subject) = &section.subject {
            let _ = write!(title, ": {}", escape_html(subject));
        }
        let id = format!("s{}", self.headings);
        if level == 2 {
            self.contents.push(format!("<li><a href=\"#{id}\">{title}</a></li>"));
        }
        if !section.note.is_empty() {
            let _ = write!(title, " <small>{}</small>", self.to_html(&section.note));
        }
        self.level = level.min(LEVEL_MAX);
        let heading = format!("<h{0} id=\"{id}\">{title}</h{0}>", self.level);
        let own = section.source_of.as_ref().map(|part| format!(" id=\"source-{part}\""));
        let own = own.unwrap_or_default();
        match section.is_folded {
            true => self.add_line(&format!("<details{own}>\n<summary>{heading}</summary>")),
            false => self.add_line(&format!("<section{own} aria-labelledby=\"{id}\">\n{heading}")),
        }
        self.add_blocks(&section.blocks);
        for part in section.sections.iter().filter(|part| !part.is_empty()) {
            self.add_section(part, level + 1);
        }
        self.add_line(if section.is_folded { "</details>" } else { "</section>" });
    }

    fn add_blocks(&mut self, blocks: &[PageBlock]) {
        for block in blocks {
            let html = self.render_block(block);
            if !html.is_empty() {
                self.add_line(&html);
            }
        }
    }

    fn add_line(&mut self, html: &str) {
        self.text.push_str(html);
        self.text.push('\n');
    }

    fn render_block(&self, block: &PageBlock) -> String {
        match block {
            PageBlock::Paragraph(text) if text.is_empty() => String::new(),
            PageBlock::Paragraph(text) => format!("<p>{}</p>", self.to_html(text)),
            PageBlock::Quote(quote) => render_quote(quote),
            PageBlock::Facts(facts) => self.render_facts(facts),
            PageBlock::List(items) => {
                let tag = if is_numbered(items) { "ol" } else { "ul" };
                let items: String = items.iter().map(|item| self.render_item(item, tag)).collect();
                format!("<{tag}>\n{items}</{tag}>")
            }
            PageBlock::Fields(items) => {
                let items: String = items.iter().map(|item| self.render_field(item)).collect();
                format!("<dl>\n{items}</dl>")
            }
            PageBlock::Table(table) => self.render_table(table),
            PageBlock::Entry(entry) => self.render_entry(entry),
            PageBlock::Board(columns) => self.render_board(columns),
            PageBlock::Tree(roots) => self.render_tree(roots),
            PageBlock::Diff(diff) => render_diff(diff),
            PageBlock::Graph(graph) => self.render_graph(graph),
            PageBlock::Command(command) => {
                format!("<pre><code>{}</code></pre>", escape_html(command))
            }
            PageBlock::Passage(shown) => render_passage(shown),
            PageBlock::SourceLinks(links) => render_source_links(links, &self.sources),
        }
    }

    fn render_facts(&self, facts: &[RichText]) -> String {
        let facts: Vec<String> = facts.iter().map(|fact| self.to_html(fact)).collect();
        let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
        if facts.is_empty() {
            return String::new();
        }
        format!("<p class=\"faint\">{}</p>", facts.join(" · "))
    }

    fn render_item(&self, item: &ListItem, tag: &str) -> String {
        let lead = self.to_html(&item.lead);
        let lead = match lead.is_empty() || tag == "ol" {
            true => String::new(),
            false => format!("<b>{lead}</b> "),
        };
        format!("<li>{lead}{}{}</li>\n", self.to_html(&item.text), self.render_notes(&item.notes))
    }

    fn render_field(&self, item: &ListItem) -> String {
        let (label, text) = (self.to_html(&item.lead), self.to_html(&item.text));
        let notes = self.render_notes(&item.notes);
        format!("<dt>{label}</dt><dd>{text}{notes}</dd>\n")
    }

    fn render_notes(&self, notes: &[RichText]) -> String {
        notes.iter().map(|note| format!("<br>{}", self.to_html(note))).collect()
    }

    fn render_entry(&self, entry: &PageEntry) -> String {
        let facts = entry.notes.iter().map(|facts| self.render_facts(facts));
        let links = [("Show the passage of the reply", entry.id.to_string())];
        let source = render_source_links(&links, &self.sources);
        format!(
            "<article id=\"{id}\">\n<h{level}><a class=\"id\" href=\"#{id}\">{id}</a> {} <small>{}</small></h{level}>\n{}\n{}{source}\n</article>",
            escape_html(&entry.title),
            self.to_html(&entry.state),
            render_quote(&entry.quote),
            facts.collect::<String>(),
            id = entry.id,
            level = (self.level + 1).min(LEVEL_MAX),
        )
    }

    fn render_board(&self, columns: &[BoardColumn]) -> String {
        let cards =
            columns.iter().flat_map(|column| column.cards.iter().map(move |card| (column, card)));
        let rows: Vec<Vec<String>> = cards
            .map(|(column, card)| {
                let notes: Vec<String> = card.notes.iter().map(|note| self.to_html(note)).collect();
                let (id, title) = (self.link_id(&card.id.to_string()), escape_html(&card.title));
                vec![id, title, self.to_html(&column.title), notes.join("<br>")]
            })
            .collect();
        let head = ["Id", "Label", "Status", "History"].map(|name| (name, ColumnKind::Short));
        self.render_rows(&head, 1, &rows)
    }

    fn render_tree(&self, nodes: &[TreeNode]) -> String {
        let items: String = nodes
            .iter()
            .map(|node| {
                let below = match node.children.is_empty() {
                    true => String::new(),
                    false => format!("\n{}\n", self.render_tree(&node.children)),
                };
                format!("<li>{}{below}</li>\n", self.to_html(&node.label))
            })
            .collect();
        format!("<ul>\n{items}</ul>")
    }

    /// A drawing that scrolls by itself.
    fn render_graph(&self, graph: &DrawnGraph) -> String {
        format!(
            "<div class=\"drawing\" role=\"region\" aria-labelledby=\"s{}\" tabindex=\"0\">\n{}\n</div>",
            self.headings,
            draw_graph(&graph.first, &self.anchors)
        )
    }

    fn render_table(&self, table: &PageTable) -> String {
        let head: Vec<(&str, ColumnKind)> =
            table.columns.iter().map(|column| (column.heading.as_str(), column.kind)).collect();
        let cells = |row: &TableRow| row.cells.iter().map(|cell| self.to_html(cell)).collect();
        let rows: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
        self.render_rows(&head, 0, &rows)
    }

    /// A table that scrolls by itself on a narrow screen, without its empty columns; nothing without
    /// rows. The cells of column `header` name their rows.
    fn render_rows(
        &self,
        head: &[(&str, ColumnKind)],
        header: usize,
        rows: &[Vec<String>],
    ) -> String {
        let cell = |row: &[String], place: usize| row.get(place).cloned().unwrap_or_default();
        let is_filled = |place: usize| rows.iter().any(|row| !cell(row, place).is_empty());
        let columns: Vec<_> =
            head.iter().enumerate().filter(|(place, _)| is_filled(*place)).collect();
        if columns.is_empty() {
            return String::new();
        }
        let class = |kind: ColumnKind| match kind {
            ColumnKind::Number => " class=\"number\"",
            ColumnKind::Short | ColumnKind::Whole | ColumnKind::Wrap | ColumnKind::Below => "",
        };
        let names = columns.iter().map(|(_, (name, kind))| {
            format!("<th scope=\"col\"{}>{}</th>", class(*kind), escape_html(name))
        });
        let row_html = |row: &Vec<String>| {
            let cells = columns.iter().map(|(place, (_, kind))| match *place == header {
                true => format!("<th scope=\"row\">{}</th>", cell(row, *place)),
                false => format!("<td{}>{}</td>", class(*kind), cell(row, *place)),
            });
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        format!(
            "<div class=\"table\" role=\"region\" aria-labelledby=\"s{}\" tabindex=\"0\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>",
            self.headings,
            names.collect::<String>(),
            rows.iter().map(row_html).collect::<String>()
        )
    }

    fn to_html(&self, text: &RichText) -> String {
        if text.is_empty() {
            return String::new();
        }
        text.spans.iter().map(|span| self.render_span(span)).collect::<String>().trim().to_owned()
    }

    fn render_span(&self, span: &TextSpan) -> String {
        let escaped = || escape_html(&span.text);
        let text = match span.tone {
            TextTone::Plain => render_plain(&span.text),
            TextTone::Id => self.link_id(&span.text),
            TextTone::Code => format!("<code>{}</code>", escaped()),
            TextTone::Faint => format!("<span class=\"faint\">{}</span>", escaped()),
            TextTone::Good => format!("<span class=\"good\">{}</span>", escaped()),
            TextTone::Caution => format!("<span class=\"caution\">{}</span>", escaped()),
            TextTone::Bad => format!("<span class=\"bad\">{}</span>", escaped()),
        };
        if span.is_strong { format!("<b>{text}</b>") } else { text }
    }

    /// A link to the entry of an entity, if the page has it.
    fn link_id(&self, text: &str) -> String {
        match text.parse::<EntityId>() {
            Ok(id) if self.anchors.contains(&id) => {
                format!("<a class=\"id\" href=\"#{id}\">{id}</a>")
            }
            Ok(_) | Err(_) => format!("<span class=\"id\">{}</span>", escape_html(text)),
        }
    }
}

/// Text of one line for an element or an attribute in quotes. Invisible characters are shown.
pub(crate) fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in safe_line(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{a0}' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

fn render_quote(quote: &QuoteBlock) -> String {
    let lines: Vec<String> =
        safe_lines(quote.text.trim()).iter().map(|line| escape_html(line)).collect();
    if lines.iter().all(String::is_empty) {
        return String::new();
    }
    let class = match quote.bar {
        Some(bar) if bar.is_heavy => " class=\"heavy\"",
        Some(_) | None => "",
    };
    format!("<blockquote{class}>{}</blockquote>", lines.join("\n"))
}

fn render_diff(diff: &TextDiff) -> String {
    let (old, new) = (safe_lines(&diff.old), safe_lines(&diff.new));
    let (gone, come) = compare_words(&old, &new);
    format!(
        "<p><b>{}</b>, before:</p>\n<blockquote>{}</blockquote>\n<p>after:</p>\n<blockquote>{}</blockquote>",
        escape_html(&diff.label),
        mark_lines(&gone, "del"),
        mark_lines(&come, "ins")
    )
}

fn mark_lines(lines: &MarkedLines<'_>, tag: &str) -> String {
    if lines.is_empty() {
        return "(nothing)".to_owned();
    }
    let word = |(word, is_changed): &(&str, bool)| match is_changed {
        true => format!("<{tag}>{}</{tag}>", escape_html(word)),
        false => escape_html(word),
    };
    let line = |words: &Vec<(&str, bool)>| words.iter().map(word).collect::<Vec<_>>().join(" ");
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether the leads of the items count them: `1.`, `2.` and so on.
fn is_numbered(items: &[ListItem]) -> bool {
    let is_number = |(place, item): (usize, &ListItem)| {
        let lead: String = item.lead.spans.iter().map(|span| span.text.as_str()).collect();
        lead == format!("{}.", place + 1)
    };
    items.iter().enumerate().all(is_number)
}

/// Plain text. A time of the record, which no other text looks like, is set without its fraction.
fn render_plain(text: &str) -> String {
    match text.parse::<Moment>().ok().filter(|at| at.to_string() == text) {
        Some(at) => format!("<time datetime=\"{at}\">{} UTC</time>", at.format_second()),
        None => escape_html(text),
    }
}

/// The ids of the entities with an entry in these sections.
fn entry_ids(sections: &[PageSection]) -> BTreeSet<EntityId> {
    let own = sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
        PageBlock::Entry(entry) => Some(entry.id),
        PageBlock::Paragraph(_)
        | PageBlock::Quote(_)
        | PageBlock::Facts(_)
        | PageBlock::List(_)
        | PageBlock::Fields(_)
        | PageBlock::Table(_)
        | PageBlock::Board(_)
        | PageBlock::Tree(_)
        | PageBlock::Diff(_)
        | PageBlock::Graph(_)
        | PageBlock::Command(_)
        | PageBlock::Passage(_)
        | PageBlock::SourceLinks(_) => None,
    });
    let below = sections.iter().flat_map(|section| entry_ids(&section.sections));
    own.chain(below).collect()
}

/// The graph of a page; a page has one at most.
fn find_graph(sections: &[PageSection]) -> Option<&DrawnGraph> {
    sections.iter().find_map(|section| {
        let own = section.blocks.iter().find_map(|block| {
            let PageBlock::Graph(graph) = block else { return None };
            Some(graph)
        });
        own.or_else(|| find_graph(&section.sections))
    })
}

/// Allows an element with this content.
pub(crate) fn hash_source(content: &str) -> String {
    format!("'sha256-{}'", base64_text(&Sha256::digest(content.as_bytes())))
}

/// Standard base64, for the hash in the content security policy.
fn base64_text(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter =
        |bits: u32| LETTERS.get(bits as usize & 63).map_or('=', |letter| char::from(*letter));
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3)
            .fold(0, |bits, place| bits << 8 | u32::from(group.get(place).copied().unwrap_or(0)));
        for place in 0..4 {
            text.push(if place <= group.len() { letter(bits >> (18 - 6 * place)) } else { '=' });
        }
    }
    text
}
