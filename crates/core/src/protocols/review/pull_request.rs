//! Results of reviews as a comment on a pull request, in Markdown.

use crate::protocols::review::document::{OverrideMark, PlacedConcern, ReviewDocument};
use crate::protocols::review::phrases::{block_label, concern_text, explain_shipped_blocks};
use crate::protocols::review::policy::ReviewVerdict;
use crate::report::markdown_escape::{escape_inline, quote_lines};
use crate::report::phrases::count_noun;

/// A line that a workflow finds its own comment by.
const COMMENT_MARK: &str = "<!-- plenary review -->";

/// Concerns of a file in the comment; GitHub limits a comment to 65,536 characters.
const CONCERNS_MAX: usize = 20;

/// One comment for all files; `unread` has the paths and errors of files without a review.
pub fn pull_request_comment(reviewed: &[ReviewDocument], unread: &[(String, String)]) -> String {
    let all = count_noun(reviewed.len() + unread.len(), "file");
    let count = |verdict| {
        reviewed.iter().filter(|result: &&ReviewDocument| result.verdict == verdict).count()
    };
    let (passed, skipped) = (count(ReviewVerdict::Ship), count(ReviewVerdict::Skipped));
    let skipped =
        if skipped == 0 { String::new() } else { format!(", {skipped} skipped without a review") };
    let mut text = format!(
        "{COMMENT_MARK}\n## Plenary review: {passed} of {all} passed{skipped}\n\n| File | Verdict | Note |\n|---|---|---|\n",
    );
    reviewed.iter().for_each(|result| text.push_str(&summary_row(result)));
    for (path, error) in unread {
        text.push_str(&format!("| {} | **not reviewed** | {} |\n", cell(path), cell(error)));
    }
    let uncovered: Vec<String> = reviewed
        .iter()
        .filter(|result| result.not_covered)
        .map(|result| cell(&result.found_at))
        .collect();
    if !uncovered.is_empty() {
        text.push_str(&format!("\nNot covered by any rule: {}\n", uncovered.join(", ")));
    }
    reviewed.iter().for_each(|result| text.push_str(&review_section(result)));
    text
}

fn summary_row(result: &ReviewDocument) -> String {
    let rehearsal = if result.rehearsal { "REHEARSAL · " } else { "" };
    let blocks = result.policy.as_ref().map(|sum| count_noun(sum.arithmetic.blocks, "block"));
    let blocks = explain_shipped_blocks(result).or(blocks);
    let earlier = result.decided_before.as_ref();
    let earlier = earlier.map(|mark| format!("decided on {} by {}", mark.at.utc_day(), mark.by));
    let person = result.overridden.as_ref().map(OverrideMark::sentence);
    let blocks = blocks.filter(|_| person.is_none() && result.skipped_because.is_none());
    let stopped = result.error.iter().flat_map(|error| [&error.message, &error.suggestion]);
    let stopped = stopped.filter(|text| !text.is_empty()).cloned();
    let notes = [result.skipped_because.clone(), person, earlier, blocks];
    let note = notes.into_iter().flatten().chain(stopped).collect::<Vec<_>>().join(" · ");
    format!(
        "| {} | **{}** | {rehearsal}{} |\n",
        cell(&result.found_at),
        result.verdict,
        cell(&note)
    )
}

/// The brief and the concerns of a file that did not pass.
fn review_section(result: &ReviewDocument) -> String {
    let brief = result.revision_brief.trim();
    if result.concerns.is_empty() && brief.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n<details>\n<summary>{}: {}</summary>\n\n",
        cell(&result.found_at),
        result.verdict
    );
    if !brief.is_empty() {
        text.push_str(&format!("{}\n\n", quote_lines(brief)));
    }
    for placed in result.concerns.iter().take(CONCERNS_MAX) {
        text.push_str(&concern_item(placed));
    }
    if let Some(more @ 1..) = result.concerns.len().checked_sub(CONCERNS_MAX) {
        text.push_str(&format!("- and {more} more\n"));
    }
    let id = result.dialogue_id.as_ref().map(|id| format!("\n`plenary show {id}`\n"));
    format!("{text}{}\n</details>\n", id.unwrap_or_default())
}

fn concern_item(placed: &PlacedConcern) -> String {
    let line = placed.line.map(|line| format!(" line {line}")).unwrap_or_default();
    let block = block_label(placed.block_kind()).map(|block| format!(" **{block}**"));
    // Two spaces end a line in Markdown.
    let printed: Vec<String> = concern_text(placed).lines().map(escape_inline).collect();
    let printed = printed.join("  \n  ");
    format!("- `{}`{line}{}: {printed}\n", placed.id, block.unwrap_or_default())
}

/// Text in a cell of a table: one line without a bar.
fn cell(text: &str) -> String {
    escape_inline(text).replace('\n', " ").replace('|', "\\|")
}
