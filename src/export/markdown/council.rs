//! The council part of the Markdown export: report, panel, disagreements.

use super::escape::{inline, quote};
use super::table::table;
use crate::domain::council::report::CouncilFinalReport;
use crate::export::council::Deliberated;

pub(super) fn blocks(told: &Deliberated) -> Vec<String> {
    let mut blocks = Vec::new();
    if let Some(error) = &told.error {
        blocks.push(format!("**{}**: {}", told.status, inline(&error.message)));
    }
    if let Some(report) = &told.report {
        blocks.extend(answer(report));
    }
    blocks.extend(panel(told));
    if let Some(report) = &told.report {
        blocks.extend(disagreements(report));
        blocks.extend(lists(report));
    }
    if !told.warnings.is_empty() {
        blocks.push(items("Worth knowing", told.warnings.iter().map(|text| inline(text))));
    }
    blocks
}

fn answer(given: &CouncilFinalReport) -> Vec<String> {
    let report = &given.report;
    let author = given.chair_provider.as_ref().map_or_else(
        || "not a synthesis".to_owned(),
        |chair| format!("written by {}", inline(chair.as_str())),
    );
    let mut blocks = vec![format!("## The report: {} ({author})", report.conclusion.outcome)];
    blocks.extend(given.disclaimer.as_deref().map(|text| format!("**{}**", inline(text))));
    blocks.push(quote(&report.conclusion.statement));
    blocks.extend(report.conclusion.reason.as_deref().map(inline));
    blocks.push(inline(&report.rationale.summary));
    blocks
}

fn panel(told: &Deliberated) -> Vec<String> {
    let rows: Vec<Vec<String>> = told
        .rounds
        .r1
        .opinions
        .iter()
        .map(|opinion| {
            let said = &opinion.opinion;
            let cut = if opinion.truncated { " **(cut off)**" } else { "" };
            vec![
                inline(opinion.provider.as_str()),
                said.stance.to_string(),
                said.confidence.to_string(),
                format!("{}{cut}", inline(&said.summary)),
            ]
        })
        .collect();
    let mut blocks = vec!["## How they stood".to_owned()];
    blocks.push(table(&["Seat", "Stance", "Confidence", "In short"], &rows));
    let absent = told.panel.failed.iter().map(|failure| {
        let (seat, message) = (inline(failure.provider.as_str()), inline(&failure.error_message));
        format!("{seat}, {} {}: {message}", failure.round, failure.error_type)
    });
    let absent: Vec<String> = absent.collect();
    if !absent.is_empty() {
        blocks.push(items("Absent", absent.into_iter()));
    }
    blocks
}

fn disagreements(given: &CouncilFinalReport) -> Vec<String> {
    let mut blocks = Vec::new();
    for dispute in &given.report.disagreements {
        let positions = dispute.positions.iter().map(|position| {
            format!("- **{}**: {}", inline(&position.provider), inline(&position.position))
        });
        let positions: Vec<String> = positions.collect();
        blocks.push(format!("### Disagreement: {}", inline(&dispute.topic)));
        blocks.push(positions.join("\n"));
        blocks.push(inline(&format!("{} {}", dispute.resolution, dispute.resolution_rationale)));
    }
    blocks
}

fn lists(given: &CouncilFinalReport) -> Vec<String> {
    let report = &given.report;
    let risks = report.risks.iter().map(|risk| {
        format!("{} ({}): {}", inline(&risk.description), risk.severity, inline(&risk.mitigation))
    });
    let uncertain = report.uncertainties.iter().map(|point| {
        format!(
            "{} (confidence {}): {}",
            inline(&point.area),
            point.confidence,
            inline(&point.reason)
        )
    });
    let next = report.next_actions.iter().map(|action| {
        format!(
            "{} ({} priority): {}",
            inline(&action.action),
            action.priority,
            inline(&action.rationale)
        )
    });
    let findings = report.findings.iter().map(|merged| {
        let found = &merged.finding;
        format!(
            "{} {} ({}, {}): {}",
            inline(&found.id),
            inline(&found.title),
            found.severity,
            inline(&found.location),
            inline(&found.description)
        )
    });
    let plain = |texts: &[String]| texts.iter().map(|text| inline(text)).collect::<Vec<_>>();
    let sections = [
        ("Agreed", plain(&report.consensus_points)),
        ("Findings", findings.collect()),
        ("Risks", risks.collect()),
        ("Uncertain", uncertain.collect()),
        ("Alternatives", plain(&report.alternatives)),
        ("How to check", plain(&report.verification_plan)),
        ("Next", next.collect()),
    ];
    let due = sections.into_iter().filter(|(_, texts)| !texts.is_empty());
    due.map(|(title, texts)| items(title, texts.into_iter())).collect()
}

fn items(title: &str, texts: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = texts.map(|text| format!("- {text}")).collect();
    format!("### {title}\n\n{}", lines.join("\n"))
}
