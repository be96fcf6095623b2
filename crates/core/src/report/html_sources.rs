//! The sources of an exported page: passages of replies, marked in the text around them, and the
//! links that lead to them. [`crate::report::html`] draws the rest of the page.

use std::collections::BTreeSet;

use crate::report::html::escape_html;
use crate::report::page::{PageSection, ReplyPassage};
use crate::report::safe_text::safe_lines;

/// The parts whose sources these sections have.
pub(crate) fn source_ids(sections: &[PageSection]) -> BTreeSet<String> {
    let own = sections.iter().filter_map(|section| section.source_of.clone());
    let below = sections.iter().flat_map(|section| source_ids(&section.sections));
    own.chain(below).collect()
}

/// Links to the sections that this page has; nothing if it has none of them.
pub(crate) fn render_source_links(
    links: &[(&'static str, String)],
    known: &BTreeSet<String>,
) -> String {
    let links = links.iter().filter(|(_, part)| known.contains(part));
    let links: Vec<String> = links
        .map(|(label, part)| {
            format!("<a href=\"#source-{}\">{}</a>", escape_html(part), escape_html(label))
        })
        .collect();
    if links.is_empty() { String::new() } else { format!("<p>{}</p>", links.join(" · ")) }
}

pub(crate) fn render_passage(shown: &ReplyPassage) -> String {
    let text = |text: &str| -> String {
        let lines: Vec<String> = safe_lines(text).iter().map(|line| escape_html(line)).collect();
        lines.join("\n")
    };
    let mark = text(&shown.passage);
    format!(
        "<blockquote class=\"passage\" tabindex=\"0\">{}<mark>{mark}</mark>{}</blockquote>",
        text(&shown.before),
        text(&shown.after)
    )
}
