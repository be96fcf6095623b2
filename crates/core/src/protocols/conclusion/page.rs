//! The sections of a conclusion: the conclusion or its draft, the objections, what changed. Council
//! and dialogue pages begin with them.

use crate::model::dialogue::TerminalState;
use crate::model::time::Moment;
use crate::protocols::conclusion::document::{AuditView, ConclusionView};
use crate::protocols::conclusion::phrases::{
    draft_status, field_name, field_text, involved_agents, objection_text, outcome_line,
    state_label, versioned_name,
};
use crate::protocols::conclusion::types::{
    AuditObjection, CitedClaim, Conclusion, ConclusionField, ConclusionOutcome, UnresolvedPoint,
};
use crate::report::marks::terminal_state_mark;
use crate::report::page::{
    ListItem, PageBlock, PageSection, QuoteBar, RichText, TextDiff, TextTone,
};

/// Wording of the seed specification.
const REVISION_TITLE: &str = "View the objection and revision";

/// A critic that finds nothing has not checked the facts.
const CLEAN_NOTE: &str = " · no objection by the critic; not a verification";

/// The conclusion or the current draft; nothing before there is a draft.
pub(crate) fn conclusion_sections(
    ended: &ConclusionView,
    outcomes: &[(Moment, ConclusionOutcome)],
) -> Vec<PageSection> {
    let note = state_note(ended);
    let (_, tone) = terminal_state_mark(ended.terminal_state);
    let light = QuoteBar { tone, is_heavy: false };
    match (&ended.conclusion, &ended.draft) {
        (Some(conclusion), _) => {
            let bar = QuoteBar { tone, is_heavy: true };
            let blocks = conclusion_blocks(conclusion, outcomes, bar);
            let concluded = PageSection::new("Conclusion", blocks).with_note(note);
            let revised = objections_section(REVISION_TITLE, ended, conclusion);
            std::iter::once(concluded).chain(revised.map(PageSection::folded)).collect()
        }
        (None, Some(draft)) if ended.is_over() => {
            let text = ended.explanation.as_deref().unwrap_or_default();
            let explained = vec![PageBlock::Paragraph(text.into())];
            let mut sections = vec![PageSection::new("No conclusion", explained).with_note(note)];
            sections.extend(ended.audit.as_ref().map(|audit| rejections_section(audit, draft)));
            let rejected = conclusion_blocks(draft, outcomes, light);
            sections
                .push(PageSection::new("Rejected draft", rejected).with_note("not a conclusion"));
            sections
        }
        (None, Some(draft)) => {
            let bar = QuoteBar { tone: TextTone::Caution, is_heavy: false };
            let blocks = conclusion_blocks(draft, outcomes, bar);
            let drafted = PageSection::new("Draft", blocks).with_note(draft_status(ended));
            let objections = objections_section("Objections", ended, draft);
            std::iter::once(drafted).chain(objections).collect()
        }
        (None, None) => Vec::new(),
    }
}

/// The terminal state with its mark; empty while the run is not over.
pub(crate) fn state_text(ended: &ConclusionView) -> RichText {
    if !ended.is_over() {
        return RichText::default();
    }
    RichText::marked(terminal_state_mark(ended.terminal_state), state_label(ended.terminal_state))
}

/// The terminal state, and what it does not mean.
fn state_note(ended: &ConclusionView) -> RichText {
    match ended.terminal_state {
        Some(TerminalState::Clean) => state_text(ended).push(CLEAN_NOTE, TextTone::Faint),
        Some(TerminalState::Revised | TerminalState::Unconverged) | None => state_text(ended),
    }
}

fn conclusion_blocks(
    conclusion: &Conclusion,
    outcomes: &[(Moment, ConclusionOutcome)],
    bar: QuoteBar,
) -> Vec<PageBlock> {
    let mut fields = vec![ListItem::new("Key condition", conclusion.key_condition.as_str())];
    if conclusion.unresolved_points.is_empty() {
        fields.push(ListItem::new("Unresolved", "none"));
    }
    fields.extend(conclusion.unresolved_points.iter().map(unresolved_item));
    fields.push(ListItem::new("Review by", conclusion.review_by.to_string()));
    let names: Vec<String> = conclusion.participants.iter().map(versioned_name).collect();
    fields.push(ListItem::new("Participants", RichText::joined(&names, TextTone::Plain)));
    fields.extend(outcomes.iter().map(|outcome| ListItem::new("Outcome", outcome_line(outcome))));
    let sources = ConclusionField::ALL.iter().map(|field| {
        let name = match field {
            ConclusionField::Recommendation => "Source of the recommendation",
            ConclusionField::KeyCondition => "of the key condition",
            ConclusionField::UnresolvedPoints => "of the unresolved points",
            ConclusionField::ReviewBy => "of the review date",
            ConclusionField::Participants => "of the participants",
        };
        (name, format!("conclusion.{field}"))
    });
    vec![
        PageBlock::barred(&conclusion.recommendation, bar),
        PageBlock::Fields(fields),
        PageBlock::SourceLinks(sources.collect()),
    ]
}

fn unresolved_item(point: &UnresolvedPoint) -> ListItem {
    let claim = |cited: &CitedClaim| {
        let id = RichText::toned(cited.id.to_string(), TextTone::Id);
        id.push(format!(" {}: {}", cited.agent, cited.claim), TextTone::Plain)
    };
    let text = format!("{} ({})", point.point, involved_agents(point));
    ListItem::new("Unresolved", text).with_notes(point.claims.iter().map(claim).collect())
}

/// Objections to the first version and what changed; none if there is no objection.
fn objections_section(
    title: &str,
    ended: &ConclusionView,
    revised: &Conclusion,
) -> Option<PageSection> {
    let audit = ended.audit.as_ref().filter(|audit| !audit.objections.is_empty())?;
    let section = PageSection::new(title, vec![objection_list(&audit.objections)]);
    Some(section.with_sections(changes_section(audit, revised).into_iter().collect()))
}

/// Objections of both audits, and the changes between them.
fn rejections_section(audit: &AuditView, draft: &Conclusion) -> PageSection {
    let part = |title: &str, objections: &[AuditObjection]| {
        PageSection::new(title, vec![objection_list(objections)])
    };
    let first = part("First audit", &audit.objections);
    let second = part("After the revision", &audit.second_objections);
    let parts = std::iter::once(first).chain(changes_section(audit, draft)).chain([second]);
    PageSection::new("Objections", Vec::new()).with_sections(parts.collect())
}

fn objection_list(objections: &[AuditObjection]) -> PageBlock {
    let item = |one: &AuditObjection| {
        let lead = RichText::toned("! ", TextTone::Caution);
        let lead = lead.push_strong(field_name(one.field), TextTone::Plain);
        ListItem::new(lead, objection_text(one))
    };
    PageBlock::List(objections.iter().map(item).collect())
}

/// The old and new text of each changed field; none before a revision.
fn changes_section(audit: &AuditView, revised: &Conclusion) -> Option<PageSection> {
    let original = audit.original.as_ref()?;
    let diff = |field| {
        PageBlock::Diff(TextDiff {
            label: field_name(field).to_owned(),
            old: field_text(original, field),
            new: field_text(revised, field),
        })
    };
    let mut blocks: Vec<PageBlock> =
        original.differing_fields(revised).into_iter().map(diff).collect();
    if blocks.is_empty() {
        blocks.push(PageBlock::Paragraph(RichText::toned("nothing", TextTone::Bad)));
    }
    Some(PageSection::new("What changed", blocks))
}
