//! Building blocks of an expert's prompt: our text, quoted text and speaker headings.

use crate::model::ids::ExpertSlug;
use crate::prompting::fence::{FenceKind, FenceSet};
use crate::prompting::neutralize::neutralize_line;

/// Foreign text for a fence.
#[derive(Debug, Clone)]
pub(crate) struct QuotedText {
    pub kind: FenceKind,
    pub label: String,
    pub text: String,
}

impl QuotedText {
    pub(crate) fn request(label: &str, text: String) -> Self {
        Self { kind: FenceKind::Request, label: label.to_owned(), text }
    }

    pub(crate) fn material(label: &str, text: String) -> Self {
        Self { kind: FenceKind::Material, ..Self::request(label, text) }
    }
}

/// One or more paragraphs.
#[derive(Debug, Clone)]
pub(crate) enum PromptBlock {
    Plain(String),
    Quoted(QuotedText),
    /// The heading over an expert's contribution, which marks the reader's own.
    Speaker(ExpertSlug),
}

impl PromptBlock {
    /// What the expert is asked to do.
    pub(crate) fn request(label: &str, text: String) -> Self {
        Self::Quoted(QuotedText::request(label, text))
    }

    /// What others wrote, to be judged.
    pub(crate) fn material(label: &str, text: String) -> Self {
        Self::Quoted(QuotedText::material(label, text))
    }

    pub(crate) fn plain_text(text: impl Into<String>) -> Self {
        Self::Plain(text.into())
    }

    /// The text that goes into a fence.
    pub(crate) fn quoted_text(&self) -> Option<&str> {
        match self {
            Self::Quoted(quoted) => Some(&quoted.text),
            Self::Speaker(_) | Self::Plain(_) => None,
        }
    }
}

/// A block with its fence rendered.
#[derive(Debug, Clone)]
pub(crate) enum RenderedBlock {
    Text(String),
    Speaker(ExpertSlug),
}

pub(crate) fn render_blocks(passages: Vec<PromptBlock>, fences: &FenceSet) -> Vec<RenderedBlock> {
    let drawn = passages.into_iter().map(|stretch| match stretch {
        PromptBlock::Plain(text) => RenderedBlock::Text(text),
        // Blank lines keep Markdown from joining the fence lines with the text.
        PromptBlock::Quoted(QuotedText { kind, label, text }) => {
            RenderedBlock::Text(fences.fence_text(kind, &label, &format!("\n{text}\n")))
        }
        PromptBlock::Speaker(expert) => RenderedBlock::Speaker(expert),
    });
    drawn.collect()
}

/// Appends the blocks as this expert reads them, with a blank line before each.
pub(crate) fn write_blocks(page: &mut String, passages: &[RenderedBlock], reader: &ExpertSlug) {
    for stretch in passages {
        page.push_str("\n\n");
        match stretch {
            RenderedBlock::Text(text) => page.push_str(text),
            RenderedBlock::Speaker(expert) => {
                let you = if expert == reader { " (You)" } else { "" };
                page.push_str(&format!("#### {}{you}", expert.display_name()));
            }
        }
    }
}

/// Fills the placeholders of a template. Inserted values are not expanded again.
pub(crate) fn fill_template(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template.trim_end();
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (key, behind) = after.split_once('}').unwrap_or((after, ""));
        let value = values.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        text.push_str(value.unwrap_or_default());
        rest = behind;
    }
    text + rest
}

/// A path, safe between our backticks.
pub(crate) fn inline_path(path: &str) -> String {
    neutralize_line(path).replace('`', "\\u{60}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_a_template_is_not_filled_again() {
        let values = [("a", "{b}"), ("b", "x")];
        assert_eq!(fill_template("{a}-{b}-{c}.\n", &values), "{b}-x-.");
    }
}
