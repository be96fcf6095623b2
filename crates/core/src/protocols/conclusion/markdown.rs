//! The conclusion part of the Markdown export: conclusion or explanation, and objections.

use crate::model::time::Moment;
use crate::protocols::conclusion::document::{AuditView, ConclusionView};
use crate::protocols::conclusion::phrases::{
    draft_status, field_name, field_text, involved_agents, objection_text, outcome_line,
    state_name, versioned_name,
};
use crate::protocols::conclusion::types::{
    AuditObjection, CitedClaim, Conclusion, ConclusionField, ConclusionOutcome, UnresolvedPoint,
};
use crate::protocols::conclusion::word_diff::{MarkedLines, changed_words};
use crate::report::interventions::TimedIntervention;
use crate::report::markdown::escape::{escape_inline, quote_lines};
use crate::report::phrases::round_name;
use crate::report::safe_text::safe_lines;

/// The conclusion or its draft; empty before there is a draft.
pub(crate) fn conclusion_blocks(
    ended: &ConclusionView,
    outcomes: &[(Moment, ConclusionOutcome)],
) -> Vec<String> {
    let state = state_name(ended.terminal_state);
    match (&ended.conclusion, &ended.draft) {
        (Some(conclusion), _) => {
            let mut blocks = vec![format!("## Conclusion: {state}")];
            blocks.extend(field_blocks(conclusion, outcomes));
            let audit = ended.audit.as_ref().filter(|audit| !audit.objections.is_empty());
            blocks.extend(audit.into_iter().flat_map(|audit| revision_details(audit, conclusion)));
            blocks
        }
        (None, Some(draft)) if ended.is_over() => {
            let mut blocks = vec![format!("## No conclusion: {state}")];
            blocks.extend(ended.explanation.as_deref().map(escape_inline));
            blocks.extend(ended.audit.iter().flat_map(|audit| rejection_blocks(audit, draft)));
            blocks.push("### The rejected draft".to_owned());
            blocks.extend(field_blocks(draft, outcomes));
            blocks
        }
        (None, Some(draft)) => {
            let mut blocks = vec![format!("## Draft: {}", draft_status(ended))];
            blocks.extend(field_blocks(draft, outcomes));
            let audit = ended.audit.as_ref().filter(|audit| !audit.objections.is_empty());
            if let Some(audit) = audit {
                blocks.extend(objection_blocks("Objections", audit));
                blocks.extend(changed_fields(audit, draft));
            }
            blocks
        }
        (None, None) => Vec::new(),
    }
}

/// The Principal's interventions, in time order.
pub(crate) fn intervention_blocks(all: &[TimedIntervention]) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let item = |one: &TimedIntervention| {
        let (place, deed) = (round_name(one.seen.round), escape_inline(&one.seen.action_text()));
        let words: Vec<String> =
            one.seen.detail_texts().iter().map(|text| escape_inline(text)).collect();
        format!("- {}, {place}, **{deed}**: {}", one.at, words.join("; "))
    };
    let items: Vec<String> = all.iter().map(item).collect();
    vec!["## Interventions".to_owned(), items.join("\n")]
}

fn field_blocks(conclusion: &Conclusion, outcomes: &[(Moment, ConclusionOutcome)]) -> Vec<String> {
    let mut items =
        vec![format!("- **Key condition**: {}", escape_inline(&conclusion.key_condition))];
    items.push(unresolved_items(&conclusion.unresolved_points));
    items.push(format!("- **Review by**: {}", conclusion.review_by));
    let who: Vec<String> =
        conclusion.participants.iter().map(|one| escape_inline(&versioned_name(one))).collect();
    items.push(format!("- **Participants**: {}", who.join(" · ")));
    items.extend(
        outcomes.iter().map(|one| format!("- **Outcome**: {}", escape_inline(&outcome_line(one)))),
    );
    vec![quote_lines(&conclusion.recommendation), items.join("\n")]
}

fn unresolved_items(points: &[UnresolvedPoint]) -> String {
    if points.is_empty() {
        return "- **Unresolved**: none was named".to_owned();
    }
    let items: Vec<String> = points.iter().map(unresolved_item).collect();
    items.join("\n")
}

fn unresolved_item(point: &UnresolvedPoint) -> String {
    let told = escape_inline(&format!("{} ({})", point.point, involved_agents(point)));
    let claim = |cited: &CitedClaim| {
        format!(
            "\n  - {} **{}**: {}",
            cited.id,
            escape_inline(cited.agent.as_str()),
            escape_inline(&cited.claim)
        )
    };
    let claims: String = point.claims.iter().map(claim).collect();
    format!("- **Unresolved**: {told}{claims}")
}

/// Collapsed, because most readers want only the conclusion.
fn revision_details(audit: &AuditView, mended: &Conclusion) -> Vec<String> {
    let summary = "<details><summary>View the objection and revision</summary>".to_owned();
    let mut blocks = vec![summary, objection_list(&audit.objections)];
    blocks.extend(changed_fields(audit, mended));
    blocks.push("</details>".to_owned());
    blocks
}

fn rejection_blocks(audit: &AuditView, draft: &Conclusion) -> Vec<String> {
    let mut blocks = objection_blocks("Objections at first sight", audit);
    blocks.extend(changed_fields(audit, draft));
    blocks.push("### Objections after the revision".to_owned());
    blocks.push(objection_list(&audit.second_objections));
    blocks
}

fn objection_blocks(title: &str, audit: &AuditView) -> Vec<String> {
    vec![format!("### {title}"), objection_list(&audit.objections)]
}

fn objection_list(objections: &[AuditObjection]) -> String {
    let item = |one: &AuditObjection| {
        format!("- **{}**: {}", field_name(one.field), escape_inline(&objection_text(one)))
    };
    objections.iter().map(item).collect::<Vec<_>>().join("\n")
}

fn changed_fields(audit: &AuditView, mended: &Conclusion) -> Vec<String> {
    let Some(original) = &audit.original else { return Vec::new() };
    let fields = original.differing_fields(mended);
    fields.into_iter().flat_map(|field| field_change(original, mended, field)).collect()
}

pub(crate) fn field_change(
    original: &Conclusion,
    mended: &Conclusion,
    field: ConclusionField,
) -> Vec<String> {
    let (old, new) = (field_lines(original, field), field_lines(mended, field));
    let (gone, come) = changed_words(&old, &new);
    vec![
        format!("**{}**, before:", field_name(field)),
        quote_marked(&gone, "~~"),
        "after:".to_owned(),
        quote_marked(&come, "**"),
    ]
}

/// Escaped before the comparison, so that a mark never separates a character from its escape.
fn field_lines(conclusion: &Conclusion, field: ConclusionField) -> Vec<String> {
    let text = field_text(conclusion, field);
    safe_lines(&text).iter().map(|line| escape_inline(line)).collect()
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
    let alike = |one: &(&str, bool), other: &(&str, bool)| one.1 == other.1;
    let runs = words.chunk_by(alike).map(|run| {
        let text = run.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let is_changed = run.first().is_some_and(|(_, is_changed)| *is_changed);
        if is_changed { format!("{mark}{text}{mark}") } else { text }
    });
    runs.collect::<Vec<_>>().join(" ")
}
