//! The conclusion part of the Markdown export: conclusion or explanation, and objections.

use super::escape::{inline, quote_lines};
use super::revision;
use crate::domain::conclusion::{CitedClaim, Conclusion, Objection, Outcome, UnresolvedPoint};
use crate::domain::time::Moment;
use crate::export::conclusion::{
    Audited, Ended, became, field_name, involved, objects, state_name, versioned, what_draft_lacks,
};
use crate::export::{Intervened, wording};

/// The conclusion or its draft; empty before there is a draft.
pub(super) fn blocks(ended: &Ended, outcomes: &[(Moment, Outcome)]) -> Vec<String> {
    let state = state_name(ended.terminal_state);
    match (&ended.conclusion, &ended.draft) {
        (Some(conclusion), _) => {
            let mut blocks = vec![format!("## Conclusion: {state}")];
            blocks.extend(fields(conclusion, outcomes));
            let audit = ended.audit.as_ref().filter(|audit| !audit.objections.is_empty());
            blocks.extend(audit.into_iter().flat_map(|audit| revised(audit, conclusion)));
            blocks
        }
        (None, Some(draft)) if ended.is_over() => {
            let mut blocks = vec![format!("## No conclusion: {state}")];
            blocks.extend(ended.explanation.as_deref().map(inline));
            blocks.extend(ended.audit.iter().flat_map(|audit| rejected(audit, draft)));
            blocks.push("### The rejected draft".to_owned());
            blocks.extend(fields(draft, outcomes));
            blocks
        }
        (None, Some(draft)) => {
            let mut blocks = vec![format!("## Draft: {}", what_draft_lacks(ended))];
            blocks.extend(fields(draft, outcomes));
            let audit = ended.audit.as_ref().filter(|audit| !audit.objections.is_empty());
            if let Some(audit) = audit {
                blocks.extend(objected("Objections", audit));
                blocks.extend(changes(audit, draft));
            }
            blocks
        }
        (None, None) => Vec::new(),
    }
}

/// The Principal's interventions, in time order.
pub(super) fn interventions(all: &[Intervened]) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let item = |one: &Intervened| {
        let (place, deed) = (wording::round_name(one.seen.round), inline(&one.seen.deed()));
        let words: Vec<String> = one.seen.words().iter().map(|text| inline(text)).collect();
        format!("- {}, {place}, **{deed}**: {}", one.at, words.join("; "))
    };
    let items: Vec<String> = all.iter().map(item).collect();
    vec!["## Interventions".to_owned(), items.join("\n")]
}

fn fields(conclusion: &Conclusion, outcomes: &[(Moment, Outcome)]) -> Vec<String> {
    let mut items = vec![format!("- **Key condition**: {}", inline(&conclusion.key_condition))];
    items.push(unresolved(&conclusion.unresolved_points));
    items.push(format!("- **Review by**: {}", conclusion.review_by));
    let who: Vec<String> =
        conclusion.participants.iter().map(|one| inline(&versioned(one))).collect();
    items.push(format!("- **Participants**: {}", who.join(" · ")));
    items.extend(outcomes.iter().map(|one| format!("- **Outcome**: {}", inline(&became(one)))));
    vec![quote_lines(&conclusion.recommendation), items.join("\n")]
}

fn unresolved(points: &[UnresolvedPoint]) -> String {
    if points.is_empty() {
        return "- **Unresolved**: none was named".to_owned();
    }
    let items: Vec<String> = points.iter().map(point).collect();
    items.join("\n")
}

fn point(point: &UnresolvedPoint) -> String {
    let told = inline(&format!("{} ({})", point.point, involved(point)));
    let claim = |cited: &CitedClaim| {
        format!("\n  - {} **{}**: {}", cited.id, inline(cited.agent.as_str()), inline(&cited.claim))
    };
    let claims: String = point.claims.iter().map(claim).collect();
    format!("- **Unresolved**: {told}{claims}")
}

/// Collapsed, because most readers want only the conclusion.
fn revised(audit: &Audited, mended: &Conclusion) -> Vec<String> {
    let summary = "<details><summary>View the objection and revision</summary>".to_owned();
    let mut blocks = vec![summary, list(&audit.objections)];
    blocks.extend(changes(audit, mended));
    blocks.push("</details>".to_owned());
    blocks
}

fn rejected(audit: &Audited, draft: &Conclusion) -> Vec<String> {
    let mut blocks = objected("Objections at first sight", audit);
    blocks.extend(changes(audit, draft));
    blocks.push("### Objections after the revision".to_owned());
    blocks.push(list(&audit.second_objections));
    blocks
}

fn objected(title: &str, audit: &Audited) -> Vec<String> {
    vec![format!("### {title}"), list(&audit.objections)]
}

fn list(objections: &[Objection]) -> String {
    let item =
        |one: &Objection| format!("- **{}**: {}", field_name(one.field), inline(&objects(one)));
    objections.iter().map(item).collect::<Vec<_>>().join("\n")
}

fn changes(audit: &Audited, mended: &Conclusion) -> Vec<String> {
    let Some(original) = &audit.original else { return Vec::new() };
    let fields = original.differing(mended);
    fields.into_iter().flat_map(|field| revision::blocks(original, mended, field)).collect()
}
