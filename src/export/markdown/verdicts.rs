//! The verdicts of an alignment dialogue in the Markdown export.

use super::escape::{escape_inline, quote_text};
use crate::domain::record::DialogueRecord;
use crate::domain::verdict::{Verdict, VerdictType};
use crate::export::wording;

pub(super) fn verdicts_blocks(record: &DialogueRecord) -> Vec<String> {
    let verdicts = wording::sorted_verdicts(record);
    if verdicts.is_empty() {
        return Vec::new();
    }
    let heading = std::iter::once("## Verdicts".to_owned());
    heading.chain(verdicts.into_iter().flat_map(verdict_blocks)).collect()
}

fn verdict_blocks(verdict: &Verdict) -> Vec<String> {
    let mut blocks = vec![
        format!("### {} `{}`", verdict_title(verdict.verdict_type), verdict.verdict_id),
        format!("**{}**", escape_inline(&verdict.recommendation)),
        escape_inline(&wording::verdict_details(verdict).join(" · ")),
    ];
    if let Some((word, reason)) = wording::verdict_caution(verdict) {
        blocks.push(format!("**{word}**: {}", escape_inline(reason)));
    }
    blocks.push(quote_text(&verdict.description));
    blocks.extend(condition_blocks(verdict));
    let settled = wording::settled_lists(verdict);
    let settled: Vec<String> =
        settled.iter().map(|(name, ids)| format!("- {name} {ids}")).collect();
    blocks.push(settled.join("\n"));
    blocks
}

fn verdict_title(verdict_type: VerdictType) -> &'static str {
    match verdict_type {
        VerdictType::Final => "Final verdict",
        VerdictType::Interim => "Interim verdict",
        VerdictType::Minority => "Minority verdict",
        VerdictType::Dissent => "Dissent",
    }
}

fn condition_blocks(verdict: &Verdict) -> Vec<String> {
    let conditions = verdict.conditions.as_deref().unwrap_or_default();
    if conditions.is_empty() {
        return Vec::new();
    }
    let numbered = |(place, condition): (usize, &String)| {
        format!("{}. {}", place + 1, escape_inline(condition))
    };
    let items: Vec<String> = conditions.iter().enumerate().map(numbered).collect();
    vec!["Conditions:".to_owned(), items.join("\n")]
}
