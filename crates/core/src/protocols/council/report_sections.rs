//! The chair's report on a council page.

use crate::protocols::council::report_types::{CouncilFinalReport, MergedFinding};
use crate::protocols::council::types::{ReportOutcome, RiskConsensus};
use crate::protocols::review::phrases::end_with_stop;
use crate::report::marks::{confidence_tone, severity_tone};
use crate::report::page::{ListItem, PageBlock, PageSection, QuoteBar, RichText, TextTone};

/// The answer first, then a section for each list of the report. Below a conclusion the answer is
/// labelled as a report.
pub(crate) fn report_sections(
    given: &CouncilFinalReport,
    has_conclusion: bool,
) -> Vec<PageSection> {
    let report = &given.report;
    let plain_list =
        |texts: &[String]| texts.iter().map(|text| ListItem::new("", text.as_str())).collect();
    vec![
        answer_section(given, has_conclusion),
        disagreements_section(given),
        list_section("Findings", report.findings.iter().map(finding_item).collect()),
        list_section("Risks", risk_items(given)),
        list_section("Uncertain", uncertainty_items(given)).with_note("confidence of the chair"),
        list_section("Alternatives", plain_list(&report.alternatives)),
        list_section("How to check", plain_list(&report.verification_plan)),
        list_section("Next", next_items(given)),
    ]
}

fn list_section(title: &str, items: Vec<ListItem>) -> PageSection {
    let blocks = (!items.is_empty()).then_some(PageBlock::List(items));
    PageSection::new(title, blocks.into_iter().collect())
}

fn answer_section(given: &CouncilFinalReport, has_conclusion: bool) -> PageSection {
    let (title, tone) = match given.report.conclusion.outcome {
        ReportOutcome::Adopt => ("Adopt", TextTone::Good),
        ReportOutcome::Reject => ("Reject", TextTone::Bad),
        ReportOutcome::NeedInfo => ("Needs information", TextTone::Caution),
        ReportOutcome::Answer => ("Answer", TextTone::Good),
    };
    let title = if has_conclusion { format!("Report: {title}") } else { title.to_owned() };
    let author = match &given.chair_provider {
        Some(chair) => format!("written by {chair}"),
        None => "not a synthesis".to_owned(),
    };
    let conclusion = &given.report.conclusion;
    let reason = conclusion.reason.as_deref().filter(|reason| !reason.is_empty());
    let statement = match reason {
        Some(reason) => format!("{}\n\n{reason}", conclusion.statement),
        None => conclusion.statement.clone(),
    };
    let mut blocks = vec![PageBlock::barred(&statement, QuoteBar { tone, is_heavy: true })];
    let disclaimer = given.disclaimer.as_deref();
    blocks.extend(disclaimer.map(|text| {
        PageBlock::Paragraph(RichText::default().push_strong(text, TextTone::Caution))
    }));
    blocks.extend(rationale_blocks(given));
    let agreed = given.report.consensus_points.iter().map(|text| ListItem::new("", text.as_str()));
    let agreed = list_section("Agreed", agreed.collect());
    PageSection::new(title, blocks).with_note(author).with_sections(vec![agreed])
}

fn rationale_blocks(given: &CouncilFinalReport) -> Vec<PageBlock> {
    let rationale = &given.report.rationale;
    let lead = |mark: &str, tone, name: &str| {
        RichText::toned(format!("{mark} "), tone).push_strong(name, TextTone::Plain)
    };
    // The summary of a selected opinion is its point, and stands above.
    let opinions = rationale.supporting_opinions.iter();
    let opinions = opinions.filter(|point| !rationale.summary.starts_with(&point.key_point));
    let opinions = opinions.map(|point| {
        let text = format!("{} ({} weight)", point.key_point, point.weight);
        ListItem::new(lead("+", TextTone::Good, &point.provider), text)
    });
    let reviews = rationale.supporting_reviews.iter().map(|point| {
        let text = format!("{} ({})", point.key_point, point.critique_type);
        ListItem::new(lead("±", TextTone::Caution, &point.reviewer), text)
    });
    let support: Vec<ListItem> = opinions.chain(reviews).collect();
    let support = (!support.is_empty()).then_some(PageBlock::List(support));
    std::iter::once(PageBlock::prose(&rationale.summary)).chain(support).collect()
}

fn disagreements_section(given: &CouncilFinalReport) -> PageSection {
    let parts = given.report.disagreements.iter().map(|dispute| {
        let position = dispute.positions.iter().map(|one| {
            let name = RichText::toned(one.provider.as_str(), TextTone::Caution);
            ListItem::new(name, one.position.as_str())
        });
        let resolution = [dispute.resolution.trim(), dispute.resolution_rationale.trim()];
        let resolution: Vec<String> =
            resolution.into_iter().filter(|text| !text.is_empty()).map(end_with_stop).collect();
        let mut blocks = vec![PageBlock::List(position.collect())];
        if !resolution.is_empty() {
            blocks.push(PageBlock::Paragraph(arrow_note(&resolution.join(" "))));
        }
        PageSection::new(dispute.topic.as_str(), blocks)
    });
    PageSection::new("Disagreements", Vec::new()).with_sections(parts.collect())
}

/// What to do about the item above.
pub(crate) fn arrow_note(text: &str) -> RichText {
    RichText::toned("→ ", TextTone::Good).push(text, TextTone::Plain)
}

fn arrow_notes(text: &str) -> Vec<RichText> {
    if text.trim().is_empty() { Vec::new() } else { vec![arrow_note(text)] }
}

fn risk_items(given: &CouncilFinalReport) -> Vec<ListItem> {
    let item = given.report.risks.iter().map(|risk| {
        let mut facts = risk.mentioned_by.clone();
        facts.extend((risk.consensus == RiskConsensus::Disputed).then(|| "disputed".to_owned()));
        let facts = match facts.is_empty() {
            true => String::new(),
            false => format!(" ({})", facts.join(", ")),
        };
        let lead = RichText::toned(risk.severity.name(), severity_tone(risk.severity));
        ListItem::new(lead, format!("{}{facts}", risk.description))
            .with_notes(arrow_notes(&risk.mitigation))
    });
    item.collect()
}

fn uncertainty_items(given: &CouncilFinalReport) -> Vec<ListItem> {
    let item = given.report.uncertainties.iter().map(|point| {
        let text = match point.reason.trim() {
            "" => point.area.clone(),
            reason => format!("{}: {reason}", point.area),
        };
        let lead = RichText::toned(point.confidence.name(), confidence_tone(point.confidence));
        ListItem::new(lead, text).with_notes(arrow_notes(&point.suggested_verification))
    });
    item.collect()
}

fn next_items(given: &CouncilFinalReport) -> Vec<ListItem> {
    let item = given.report.next_actions.iter().enumerate().map(|(place, action)| {
        let mut notes = vec![RichText::toned(action.rationale.as_str(), TextTone::Faint)];
        let criteria = action.success_criteria.as_deref().filter(|text| !text.is_empty());
        notes.extend(criteria.map(|text| {
            RichText::toned("done when: ", TextTone::Good).push(text, TextTone::Plain)
        }));
        let text = format!("{} ({} priority)", action.action, action.priority);
        ListItem::new(format!("{}.", place + 1), text).with_notes(notes)
    });
    item.collect()
}

fn finding_item(merged: &MergedFinding) -> ListItem {
    let found = &merged.finding;
    let mut notes = Vec::new();
    if !found.location.trim().is_empty() {
        let place = RichText::toned("at ", TextTone::Faint);
        notes.push(place.push(found.location.as_str(), TextTone::Plain));
    }
    notes.push(found.description.as_str().into());
    notes.extend(arrow_notes(&found.fix_approach));
    let named = [
        ("reported by", &merged.reported_by),
        ("confirmed by", &merged.confirmed_by),
        ("disputed by", &merged.disputed_by),
    ];
    let named = named.iter().filter(|(_, names)| !names.is_empty());
    let named: Vec<String> =
        named.map(|(what, names)| format!("{what} {}", names.join(", "))).collect();
    notes.push(RichText::toned(named.join("; "), TextTone::Faint));
    notes.retain(|note| !note.is_empty());
    let lead = RichText::toned(found.severity.name(), severity_tone(found.severity));
    let title = RichText::toned(format!("{} ", found.id), TextTone::Faint);
    ListItem::new(lead, title.push_strong(found.title.as_str(), TextTone::Plain)).with_notes(notes)
}
