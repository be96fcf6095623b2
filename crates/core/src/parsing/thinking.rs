//! Strips thinking blocks from a reply, because they may contain drafts of the answer.

const THINKING_TAGS: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// Returns the reply without its thinking.
///
/// An unclosed block removes the rest of the reply only if the reply begins with it. A closing tag
/// without an opening one ends thinking that the chat template opened before the reply.
pub(crate) fn strip_thinking(reply: &str) -> String {
    let VisibleText { text, open } = strip_closed_thinking(reply);
    let before = open.and_then(|open| text.get(..open));
    match before {
        Some(before) if before.trim().is_empty() => String::new(),
        // An unclosed tag in the middle is ordinary text about tags.
        Some(_) | None => strip_orphan_close(text),
    }
}

/// A reply without its closed thinking blocks.
pub(crate) struct VisibleText {
    pub(crate) text: String,
    /// Start of an unclosed thinking block.
    pub(crate) open: Option<usize>,
}

/// Removes closed thinking blocks only; a lone tag may be a quotation.
pub(crate) fn strip_closed_thinking(reply: &str) -> VisibleText {
    let lower = reply.to_ascii_lowercase();
    let mut kept = String::with_capacity(reply.len());
    let mut from = 0;
    while let Some((open, tag, inside)) = find_opening(&lower, from) {
        kept.push_str(reply.get(from..open).unwrap_or_default());
        match find_closing(&lower, tag, inside) {
            Some(end) => from = end,
            None => {
                let begins = kept.len();
                kept.push_str(reply.get(open..).unwrap_or_default());
                return VisibleText { text: kept, open: Some(begins) };
            }
        }
    }
    kept.push_str(reply.get(from..).unwrap_or_default());
    VisibleText { text: kept, open: None }
}

/// Returns the start of the next block, its tag, and the start of its content. A tag inside a
/// document is text, so a block must open at the start of the reply or of a line.
fn find_opening(lower: &str, from: usize) -> Option<(usize, &'static str, usize)> {
    let mut place = from;
    for line in lower.get(from..)?.split_inclusive('\n') {
        let start = line.trim_start();
        let open = place + (line.len() - start.len());
        let tag = THINKING_TAGS.into_iter().find(|tag| {
            let after = start.strip_prefix('<').and_then(|rest| rest.strip_prefix(tag));
            after.is_some_and(|after| after.starts_with('>'))
        });
        if let Some(tag) = tag {
            return Some((open, tag, open + tag.len() + "<>".len()));
        }
        place += line.len();
    }
    None
}

fn find_closing(lower: &str, tag: &str, inside: usize) -> Option<usize> {
    let close = format!("</{tag}>");
    lower.get(inside..)?.find(&close).map(|place| inside + place + close.len())
}

fn strip_orphan_close(text: String) -> String {
    let lower = text.to_ascii_lowercase();
    let end = THINKING_TAGS.into_iter().filter_map(|tag| {
        let close = format!("</{tag}>");
        let place = lower.rfind(&close)?;
        let before = lower.get(..place)?;
        // Inside an open JSON string the tag is text of a document.
        (!before.contains(&format!("<{tag}>")) && is_outside_string(before))
            .then(|| place + close.len())
    });
    match end.max() {
        Some(end) => text.get(end..).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// Whether no JSON string is open on the line before a closing tag.
fn is_outside_string(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.matches('"').count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: &str) {
        assert_eq!(strip_thinking(reply), expected);
    }

    #[test]
    fn thinking_is_dropped() {
        check("<think>{\"a\":1}</think>{\"b\":2}", "{\"b\":2}");
        check("<Thinking>\nhm\n</Thinking>\nanswer", "\nanswer");
        check("<reasoning>x</reasoning><think>y</think>z", "z");
        check("before\n<think>x</think>\nafter", "before\n\nafter");
    }

    #[test]
    fn thinking_that_never_ends_is_all_there_is() {
        check("<think>on and on {\"a\":1}", "");
        check("answer\n<think>on and on", "answer\n<think>on and on");
    }

    #[test]
    fn thinking_that_never_began_ends_at_its_tag() {
        check("so I think {\"a\":1}\n</think>\n{\"b\":2}", "\n{\"b\":2}");
    }

    #[test]
    fn tags_inside_a_document_are_text() {
        let document = r#"{"summary":"drop <think>x</think> and </think> first"}"#;
        check(document, document);
    }
}
