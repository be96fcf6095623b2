//! The council part of the Markdown export: report, panel, disagreements.

use crate::protocols::council::document::CouncilDocument;
use crate::protocols::council::report_types::CouncilFinalReport;
use crate::report::markdown::escape::{escape_inline, quote_text, render_table};

pub(crate) fn council_blocks(told: &CouncilDocument) -> Vec<String> {
    let mut blocks = Vec::new();
    if let Some(error) = &told.error {
        blocks.push(format!("**{}**: {}", told.status, escape_inline(&error.message)));
    }
    if let Some(report) = &told.report {
        blocks.extend(report_blocks(report));
    }
    blocks.extend(panel_blocks(told));
    if let Some(report) = &told.report {
        blocks.extend(disagreement_blocks(report));
        blocks.extend(report_lists(report));
    }
    if !told.warnings.is_empty() {
        blocks.push(bullet_list(
            "Worth knowing",
            told.warnings.iter().map(|text| escape_inline(text)),
        ));
    }
    blocks
}

fn report_blocks(given: &CouncilFinalReport) -> Vec<String> {
    let report = &given.report;
    let author = given.chair_provider.as_ref().map_or_else(
        || "not a synthesis".to_owned(),
        |chair| format!("written by {}", escape_inline(chair.as_str())),
    );
    let mut blocks = vec![format!("## The report: {} ({author})", report.conclusion.outcome)];
    blocks.extend(given.disclaimer.as_deref().map(|text| format!("**{}**", escape_inline(text))));
    blocks.push(quote_text(&report.conclusion.statement));
    blocks.extend(report.conclusion.reason.as_deref().map(escape_inline));
    blocks.push(escape_inline(&report.rationale.summary));
    blocks
}

fn panel_blocks(told: &CouncilDocument) -> Vec<String> {
    let rows: Vec<Vec<String>> = told
        .rounds
        .r1
        .opinions
        .iter()
        .map(|opinion| {
            let said = &opinion.opinion;
            let cut = if opinion.truncated { " **(cut off)**" } else { "" };
            vec![
                escape_inline(opinion.provider.as_str()),
                said.stance.to_string(),
                said.confidence.to_string(),
                format!("{}{cut}", escape_inline(&said.summary)),
            ]
        })
        .collect();
    let mut blocks = vec!["## How they stood".to_owned()];
    blocks.push(render_table(&["Seat", "Stance", "Confidence", "In short"], &rows));
    let absent = told.panel.failed.iter().map(|failure| {
        let (seat, message) =
            (escape_inline(failure.provider.as_str()), escape_inline(&failure.error_message));
        format!("{seat}, {} {}: {message}", failure.round, failure.error_type)
    });
    let absent: Vec<String> = absent.collect();
    if !absent.is_empty() {
        blocks.push(bullet_list("Absent", absent.into_iter()));
    }
    blocks
}

fn disagreement_blocks(given: &CouncilFinalReport) -> Vec<String> {
    let mut blocks = Vec::new();
    for dispute in &given.report.disagreements {
        let positions = dispute.positions.iter().map(|position| {
            format!(
                "- **{}**: {}",
                escape_inline(&position.provider),
                escape_inline(&position.position)
            )
        });
        let positions: Vec<String> = positions.collect();
        blocks.push(format!("### Disagreement: {}", escape_inline(&dispute.topic)));
        blocks.push(positions.join("\n"));
        blocks.push(escape_inline(&format!(
            "{} {}",
            dispute.resolution, dispute.resolution_rationale
        )));
    }
    blocks
}

fn report_lists(given: &CouncilFinalReport) -> Vec<String> {
    let report = &given.report;
    let risks = report.risks.iter().map(|risk| {
        format!(
            "{} ({}): {}",
            escape_inline(&risk.description),
            risk.severity,
            escape_inline(&risk.mitigation)
        )
    });
    let uncertain = report.uncertainties.iter().map(|point| {
        format!(
            "{} (confidence {}): {}",
            escape_inline(&point.area),
            point.confidence,
            escape_inline(&point.reason)
        )
    });
    let next = report.next_actions.iter().map(|action| {
        format!(
            "{} ({} priority): {}",
            escape_inline(&action.action),
            action.priority,
            escape_inline(&action.rationale)
        )
    });
    let findings = report.findings.iter().map(|merged| {
        let found = &merged.finding;
        format!(
            "{} {} ({}, {}): {}",
            escape_inline(&found.id),
            escape_inline(&found.title),
            found.severity,
            escape_inline(&found.location),
            escape_inline(&found.description)
        )
    });
    let plain = |texts: &[String]| texts.iter().map(|text| escape_inline(text)).collect::<Vec<_>>();
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
    due.map(|(title, texts)| bullet_list(title, texts.into_iter())).collect()
}

fn bullet_list(title: &str, texts: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = texts.map(|text| format!("- {text}")).collect();
    format!("### {title}\n\n{}", lines.join("\n"))
}
