//! The verdicts of an alignment dialogue in the Markdown export.

use super::escape::{inline, quote};
use crate::domain::record::Record;
use crate::domain::verdict::{Verdict, VerdictType};
use crate::export::wording;

pub(super) fn blocks(record: &Record) -> Vec<String> {
    let verdicts = wording::verdicts(record);
    if verdicts.is_empty() {
        return Vec::new();
    }
    let heading = std::iter::once("## Verdicts".to_owned());
    heading.chain(verdicts.into_iter().flat_map(verdict)).collect()
}

fn verdict(verdict: &Verdict) -> Vec<String> {
    let mut blocks = vec![
        format!("### {} `{}`", title(verdict.verdict_type), verdict.verdict_id),
        format!("**{}**", inline(&verdict.recommendation)),
        inline(&wording::circumstances(verdict).join(" · ")),
    ];
    if let Some((word, reason)) = wording::caution(verdict) {
        blocks.push(format!("**{word}**: {}", inline(reason)));
    }
    blocks.push(quote(&verdict.description));
    blocks.extend(conditions(verdict));
    let settled = wording::settled(verdict);
    let settled: Vec<String> =
        settled.iter().map(|(name, ids)| format!("- {name} {ids}")).collect();
    blocks.push(settled.join("\n"));
    blocks
}

fn title(verdict_type: VerdictType) -> &'static str {
    match verdict_type {
        VerdictType::Final => "Final verdict",
        VerdictType::Interim => "Interim verdict",
        VerdictType::Minority => "Minority verdict",
        VerdictType::Dissent => "Dissent",
    }
}

fn conditions(verdict: &Verdict) -> Vec<String> {
    let conditions = verdict.conditions.as_deref().unwrap_or_default();
    if conditions.is_empty() {
        return Vec::new();
    }
    let numbered =
        |(place, condition): (usize, &String)| format!("{}. {}", place + 1, inline(condition));
    let items: Vec<String> = conditions.iter().enumerate().map(numbered).collect();
    vec!["Conditions:".to_owned(), items.join("\n")]
}
