//! Markdown of others as a tree that a page draws: no HTML, no address that a browser follows.
//!
//! **Invariant:** every text of the tree is safe to show (`report/safe_text.rs`). Raw HTML is text,
//! and a link is its words and its address.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use schemars::JsonSchema;
use serde::Serialize;

use crate::report::safe_text::{safe_line, safe_lines};

/// A deeper part is drawn at this depth: the text may nest thousands of quotes.
const DEPTH_MAX: usize = 12;

/// A block of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MarkdownBlock {
    Heading { level: u8, spans: Vec<MarkdownSpan> },
    Paragraph { spans: Vec<MarkdownSpan> },
    List { ordered: bool, start: u64, items: Vec<Vec<MarkdownBlock>> },
    Quote { blocks: Vec<MarkdownBlock> },
    Code { language: String, text: String },
    Table { head: Vec<Vec<MarkdownSpan>>, rows: Vec<Vec<Vec<MarkdownSpan>>> },
    Rule,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MarkdownSpan {
    Text {
        text: String,
    },
    Emphasis {
        spans: Vec<MarkdownSpan>,
    },
    Strong {
        spans: Vec<MarkdownSpan>,
    },
    Strike {
        spans: Vec<MarkdownSpan>,
    },
    Code {
        text: String,
    },
    /// The words of a link or an image, and its address as text.
    Link {
        spans: Vec<MarkdownSpan>,
        address: String,
    },
    Break,
}

impl MarkdownBlock {
    /// A paragraph of plain text.
    pub fn from_text(text: &str) -> Self {
        Self::Paragraph { spans: vec![MarkdownSpan::Text { text: safe_line(text) }] }
    }

    /// A heading of plain text.
    pub fn from_heading(level: u8, text: &str) -> Self {
        Self::Heading { level, spans: vec![MarkdownSpan::Text { text: safe_line(text) }] }
    }
}

/// Parses Markdown.
pub fn parse_markdown(text: &str) -> Vec<MarkdownBlock> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut builder = TreeBuilder { whole: OpenPart::default(), open: Vec::new(), flattened: 0 };
    for event in Parser::new_ext(text, options) {
        builder.add_event(event);
    }
    builder.whole.end_paragraph();
    builder.whole.blocks
}

/// A part of the text whose end is not read yet.
#[derive(Debug, Default)]
struct OpenPart {
    blocks: Vec<MarkdownBlock>,
    spans: Vec<MarkdownSpan>,
    items: Vec<Vec<MarkdownBlock>>,
    head: Vec<Vec<MarkdownSpan>>,
    cells: Vec<Vec<MarkdownSpan>>,
    rows: Vec<Vec<Vec<MarkdownSpan>>>,
    /// The language of code, or the address of a link.
    label: String,
    /// The number of a list.
    start: Option<u64>,
    is_code: bool,
}

impl OpenPart {
    /// Makes a paragraph of the spans so far: the text of a tight list has none of its own.
    fn end_paragraph(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        if !spans.is_empty() {
            self.blocks.push(MarkdownBlock::Paragraph { spans });
        }
    }

    fn add_block(&mut self, block: MarkdownBlock) {
        self.end_paragraph();
        self.blocks.push(block);
    }
}

struct TreeBuilder {
    whole: OpenPart,
    /// The open parts, outermost first.
    open: Vec<OpenPart>,
    /// Open parts that are too deep to have a place of their own.
    flattened: usize,
}

impl TreeBuilder {
    fn add_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open_part(&tag),
            Event::End(end) => self.close_part(end),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.add_text(&text),
            Event::Code(text) => self.add_span(MarkdownSpan::Code { text: safe_line(&text) }),
            Event::SoftBreak => self.add_text(" "),
            Event::HardBreak => self.add_span(MarkdownSpan::Break),
            Event::Rule => self.top().add_block(MarkdownBlock::Rule),
            Event::TaskListMarker(_) => {}
        }
    }

    /// The innermost open part.
    fn top(&mut self) -> &mut OpenPart {
        self.open.last_mut().unwrap_or(&mut self.whole)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's tags; most have no label")]
    fn open_part(&mut self, tag: &Tag<'_>) {
        if self.flattened > 0 || self.open.len() >= DEPTH_MAX {
            self.flattened += 1;
            return;
        }
        let mut part = OpenPart::default();
        match tag {
            Tag::CodeBlock(kind) => {
                part.is_code = true;
                if let CodeBlockKind::Fenced(language) = kind {
                    part.label = safe_line(language);
                }
            }
            Tag::List(start) => part.start = *start,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                part.label = safe_line(dest_url);
            }
            _ => {}
        }
        self.open.push(part);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's tags; some are switched off")]
    fn close_part(&mut self, end: TagEnd) {
        if self.flattened > 0 {
            self.flattened -= 1;
            self.add_text(" ");
            return;
        }
        let Some(mut part) = self.open.pop() else { return };
        let top = self.top();
        match end {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                part.end_paragraph();
                part.blocks.into_iter().for_each(|block| top.add_block(block));
            }
            TagEnd::Heading(level) => {
                top.add_block(MarkdownBlock::Heading { level: level as u8, spans: part.spans });
            }
            TagEnd::BlockQuote(_) => {
                part.end_paragraph();
                top.add_block(MarkdownBlock::Quote { blocks: part.blocks });
            }
            TagEnd::CodeBlock => top.add_block(code_block(part)),
            TagEnd::List(ordered) => {
                let (start, items) = (part.start.unwrap_or(1), part.items);
                top.add_block(MarkdownBlock::List { ordered, start, items });
            }
            TagEnd::Item => {
                part.end_paragraph();
                top.items.push(part.blocks);
            }
            TagEnd::Table => {
                top.add_block(MarkdownBlock::Table { head: part.head, rows: part.rows });
            }
            TagEnd::TableHead => top.head = part.cells,
            TagEnd::TableRow => top.rows.push(part.cells),
            TagEnd::TableCell => top.cells.push(part.spans),
            TagEnd::Emphasis => top.spans.push(MarkdownSpan::Emphasis { spans: part.spans }),
            TagEnd::Strong => top.spans.push(MarkdownSpan::Strong { spans: part.spans }),
            TagEnd::Strikethrough => top.spans.push(MarkdownSpan::Strike { spans: part.spans }),
            TagEnd::Link | TagEnd::Image => {
                top.spans.push(MarkdownSpan::Link { spans: part.spans, address: part.label });
            }
            // Parts that the options do not enable keep their text.
            _ => {
                top.spans.append(&mut part.spans);
                part.blocks.into_iter().for_each(|block| top.add_block(block));
            }
        }
    }

    fn add_span(&mut self, span: MarkdownSpan) {
        self.top().spans.push(span);
    }

    /// Adds text; adjacent texts become one.
    fn add_text(&mut self, text: &str) {
        let top = self.top();
        let shown = if top.is_code { text.to_owned() } else { safe_line(text) };
        if let Some(MarkdownSpan::Text { text: last }) = top.spans.last_mut() {
            last.push_str(&shown);
        } else if !shown.is_empty() {
            top.spans.push(MarkdownSpan::Text { text: shown });
        }
    }
}

fn code_block(part: OpenPart) -> MarkdownBlock {
    let texts = part
        .spans
        .into_iter()
        .filter_map(|span| if let MarkdownSpan::Text { text } = span { Some(text) } else { None });
    let text: String = texts.collect();
    MarkdownBlock::Code { language: part.label, text: safe_lines(&text).join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(serde_json::to_string(&parse_markdown(text)).unwrap(), expected, "{text}");
    }

    #[test]
    fn prose_keeps_its_structure() {
        check(
            "# A *b*\nc `d`",
            r#"[{"type":"heading","level":1,"spans":[{"type":"text","text":"A "},{"type":"emphasis","spans":[{"type":"text","text":"b"}]}]},{"type":"paragraph","spans":[{"type":"text","text":"c "},{"type":"code","text":"d"}]}]"#,
        );
        check(
            "1. a\n   - b\n2. c",
            r#"[{"type":"list","ordered":true,"start":1,"items":[[{"type":"paragraph","spans":[{"type":"text","text":"a"}]},{"type":"list","ordered":false,"start":1,"items":[[{"type":"paragraph","spans":[{"type":"text","text":"b"}]}]]}],[{"type":"paragraph","spans":[{"type":"text","text":"c"}]}]]}]"#,
        );
        check(
            "|a|\n|-|\n|b|",
            r#"[{"type":"table","head":[[{"type":"text","text":"a"}]],"rows":[[[{"type":"text","text":"b"}]]]}]"#,
        );
        check(
            "> q\n\n```rs\nlet x;\n```\n---",
            r#"[{"type":"quote","blocks":[{"type":"paragraph","spans":[{"type":"text","text":"q"}]}]},{"type":"code","language":"rs","text":"let x;"},{"type":"rule"}]"#,
        );
    }

    #[test]
    fn html_and_addresses_are_text() {
        check(
            "<script>alert(1)</script>",
            r#"[{"type":"paragraph","spans":[{"type":"text","text":"<script>alert(1)</script>"}]}]"#,
        );
        check(
            "[a](javascript:x)",
            r#"[{"type":"paragraph","spans":[{"type":"link","spans":[{"type":"text","text":"a"}],"address":"javascript:x"}]}]"#,
        );
        check(
            "a \u{202e}b <b>c",
            r#"[{"type":"paragraph","spans":[{"type":"text","text":"a \\u{202e}b <b>c"}]}]"#,
        );
    }

    /// The depth of a document that a model wrote must not decide how deep our own calls go.
    #[test]
    fn a_deep_text_becomes_a_shallow_tree() {
        let deep = format!("{}x", "> ".repeat(5_000));
        let text = serde_json::to_string(&parse_markdown(&deep)).unwrap();
        assert!(text.contains('x') && text.matches("quote").count() <= DEPTH_MAX, "{text}");
    }
}
