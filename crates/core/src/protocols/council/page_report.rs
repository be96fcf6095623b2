//! Sections of the chair's report on a council page.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::protocols::council::report_types::{CouncilFinalReport, MergedFinding};
use crate::protocols::council::types::{RatingLevel, ReportOutcome, RiskConsensus};
use crate::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, MARGIN, PageCanvas, STRONG, StyledLine, draw_heading, hang_text,
    indent_block, indent_prose,
};
use crate::report::terminal::wrap::{wrap_line, wrap_text};

/// Columns from the bar to the text.
const REPORT_BAR_WIDTH: usize = 2;

/// Width of `medium` and a space.
const LEVEL_WIDTH: usize = 7;

/// Draws the report's answer. `lead` precedes the outcome in the title: below a conclusion, the
/// report is labelled as such.
pub(crate) fn draw_answer(
    given: &CouncilFinalReport,
    lead: &str,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let conclusion = &given.report.conclusion;
    let author = match &given.chair_provider {
        Some(chair) => format!("written by {chair}"),
        None => "not a synthesis".to_owned(),
    };
    let (title, style) = outcome_title(conclusion.outcome);
    let mut lines = draw_heading(&format!("{lead}{title}"), &author, canvas);
    let room = canvas.text_width() - MARGIN - REPORT_BAR_WIDTH;
    let bar = StyledLine::with_indent(MARGIN)
        .push_styled("┃", style)
        .pad_to_column(MARGIN + REPORT_BAR_WIDTH);
    let mut words = wrap_text(&conclusion.statement, room);
    if let Some(reason) = conclusion.reason.as_deref().filter(|reason| !reason.is_empty()) {
        words.push(String::new());
        words.extend(wrap_text(reason, room));
    }
    lines.extend(words.iter().map(|line| bar.clone().push_styled(line, STRONG)));
    if let Some(disclaimer) = given.disclaimer.as_deref().filter(|_| !lead.is_empty()) {
        lines.push(StyledLine::blank());
        lines.extend(indent_block(
            &wrap_line(disclaimer, canvas.text_width() - MARGIN),
            MARGIN,
            CAUTION,
        ));
    }
    lines
}

pub(crate) fn draw_reasons(given: &CouncilFinalReport, canvas: PageCanvas) -> Vec<StyledLine> {
    let rationale = &given.report.rationale;
    let room = canvas.text_width() - MARGIN;
    let mut lines = indent_prose(&wrap_text(&rationale.summary, room), MARGIN);
    if !rationale.supporting_opinions.is_empty() || !rationale.supporting_reviews.is_empty() {
        lines.push(StyledLine::blank());
    }
    let opinions = rationale.supporting_opinions.iter().map(|point| point.provider.as_str());
    let reviews = rationale.supporting_reviews.iter().map(|point| point.reviewer.as_str());
    let width = name_width(opinions.chain(reviews));
    for point in &rationale.supporting_opinions {
        let lead = StyledLine::with_indent(MARGIN).push_styled("+ ", GOOD);
        let text = format!("{} ({} weight)", point.key_point, point.weight);
        lines.extend(hang_text(add_name(lead, &point.provider, width, STRONG), &text, room));
    }
    for point in &rationale.supporting_reviews {
        let lead = StyledLine::with_indent(MARGIN).push_styled("± ", CAUTION);
        let text = format!("{} ({})", point.key_point, point.critique_type);
        lines.extend(hang_text(add_name(lead, &point.reviewer, width, STRONG), &text, room));
    }
    lines.extend(draw_points("Agreed", &given.report.consensus_points, canvas));
    lines
}

pub(crate) fn draw_disagreements(
    given: &CouncilFinalReport,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let disputes = &given.report.disagreements;
    if disputes.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("DISAGREEMENTS", "", canvas);
    let room = canvas.text_width() - MARGIN;
    for (place, dispute) in disputes.iter().enumerate() {
        if place > 0 {
            lines.push(StyledLine::blank());
        }
        let names = dispute.positions.iter().map(|position| position.provider.as_str());
        let width = name_width(names);
        lines.extend(indent_block(&wrap_line(&dispute.topic, room), MARGIN, STRONG));
        for position in &dispute.positions {
            let lead =
                add_name(StyledLine::with_indent(MARGIN * 2), &position.provider, width, CAUTION);
            lines.extend(hang_text(lead, &position.position, room));
        }
        let resolution = [dispute.resolution.as_str(), dispute.resolution_rationale.as_str()];
        let resolution: Vec<&str> =
            resolution.into_iter().filter(|text| !text.trim().is_empty()).collect();
        if !resolution.is_empty() {
            let lead = StyledLine::with_indent(MARGIN * 2).push_styled("→ ", GOOD);
            lines.extend(hang_text(lead, &resolution.join(" "), room));
        }
    }
    lines
}

pub(crate) fn draw_risks(given: &CouncilFinalReport, canvas: PageCanvas) -> Vec<StyledLine> {
    let risks = &given.report.risks;
    if risks.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("RISKS", "", canvas);
    let room = canvas.text_width();
    for risk in risks {
        let mut text = risk.description.clone();
        let mut facts = risk.mentioned_by.join(", ");
        if risk.consensus == RiskConsensus::Disputed {
            facts =
                if facts.is_empty() { "disputed".to_owned() } else { format!("{facts}; disputed") };
        }
        if !facts.is_empty() {
            text.push_str(&format!(" ({facts})"));
        }
        lines.extend(hang_text(severity_label(risk.severity), &text, room));
        if !risk.mitigation.trim().is_empty() {
            let lead = StyledLine::with_indent(MARGIN + LEVEL_WIDTH).push_styled("→ ", GOOD);
            lines.extend(hang_text(lead, &risk.mitigation, room));
        }
    }
    lines
}

pub(crate) fn draw_uncertainties(
    given: &CouncilFinalReport,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let open = &given.report.uncertainties;
    if open.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("UNCERTAIN", "how sure the chair is", canvas);
    let room = canvas.text_width();
    for point in open {
        let reason = point.reason.trim();
        let text = match reason.is_empty() {
            true => point.area.clone(),
            false => format!("{}: {reason}", point.area),
        };
        lines.extend(hang_text(confidence_label(point.confidence), &text, room));
        if !point.suggested_verification.trim().is_empty() {
            let lead = StyledLine::with_indent(MARGIN + LEVEL_WIDTH).push_styled("→ ", GOOD);
            lines.extend(hang_text(lead, &point.suggested_verification, room));
        }
    }
    lines
}

pub(crate) fn draw_next_actions(given: &CouncilFinalReport, canvas: PageCanvas) -> Vec<StyledLine> {
    let actions = &given.report.next_actions;
    if actions.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("NEXT", "", canvas);
    let room = canvas.text_width();
    for (place, action) in actions.iter().enumerate() {
        let lead = StyledLine::with_indent(MARGIN).push_plain(&format!("{}. ", place + 1));
        let indent = lead.width();
        let text = format!("{} ({} priority)", action.action, action.priority);
        lines.extend(hang_text(lead, &text, room));
        lines.extend(indent_block(&wrap_line(&action.rationale, room - indent), indent, FAINT));
        if let Some(criteria) = action.success_criteria.as_deref().filter(|text| !text.is_empty()) {
            lines.extend(hang_text(
                StyledLine::with_indent(indent).push_styled("done when: ", GOOD),
                criteria,
                room,
            ));
        }
    }
    lines
}

pub(crate) fn draw_list(title: &str, items: &[String], canvas: PageCanvas) -> Vec<StyledLine> {
    if items.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading(title, "", canvas);
    let room = canvas.text_width();
    lines.extend(items.iter().flat_map(|item| {
        hang_text(StyledLine::with_indent(MARGIN).push_styled("· ", FAINT), item, room)
    }));
    lines
}

fn draw_points(title: &str, items: &[String], canvas: PageCanvas) -> Vec<StyledLine> {
    let room = canvas.text_width();
    let mut lines = Vec::new();
    if !items.is_empty() {
        lines.push(StyledLine::blank());
        lines.push(StyledLine::with_indent(MARGIN).push_styled(title, FAINT));
    }
    lines.extend(items.iter().flat_map(|item| {
        hang_text(StyledLine::with_indent(MARGIN).push_styled("· ", FAINT), item, room)
    }));
    lines
}

/// Maximum width of the name column; a longer name shifts only its own text.
const NAME_WIDTH_MAX: usize = 16;

fn name_width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(UnicodeWidthStr::width).max().unwrap_or(0).min(NAME_WIDTH_MAX)
}

fn add_name(lead: StyledLine, name: &str, width: usize, style: Style) -> StyledLine {
    let column = lead.width() + width;
    lead.push_styled(name, style).pad_to_column(column).push_plain("  ")
}

pub(crate) fn severity_label(severity: RatingLevel) -> StyledLine {
    let style = match severity {
        RatingLevel::High => BAD,
        RatingLevel::Medium => CAUTION,
        RatingLevel::Low => FAINT,
    };
    StyledLine::with_indent(MARGIN)
        .push_styled(severity.name(), style)
        .pad_to_column(MARGIN + LEVEL_WIDTH)
}

/// Low confidence gets the strongest colour.
fn confidence_label(confidence: RatingLevel) -> StyledLine {
    let style = match confidence {
        RatingLevel::Low => BAD,
        RatingLevel::Medium => CAUTION,
        RatingLevel::High => FAINT,
    };
    StyledLine::with_indent(MARGIN)
        .push_styled(confidence.name(), style)
        .pad_to_column(MARGIN + LEVEL_WIDTH)
}

fn outcome_title(outcome: ReportOutcome) -> (&'static str, Style) {
    match outcome {
        ReportOutcome::Adopt => ("ADOPT", GOOD),
        ReportOutcome::Reject => ("REJECT", BAD),
        ReportOutcome::NeedInfo => ("NEEDS INFORMATION", CAUTION),
        ReportOutcome::Answer => ("ANSWER", GOOD),
    }
}

/// Indent of the text of a finding.
const FINDING_INDENT: usize = MARGIN + 7;

pub(crate) fn draw_findings(given: &CouncilFinalReport, canvas: PageCanvas) -> Vec<StyledLine> {
    let findings = &given.report.findings;
    if findings.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("FINDINGS", &format!("{}", findings.len()), canvas);
    for (place, merged) in findings.iter().enumerate() {
        if place > 0 {
            lines.push(StyledLine::blank());
        }
        lines.extend(draw_finding(merged, canvas.text_width()));
    }
    lines
}

fn draw_finding(merged: &MergedFinding, room: usize) -> Vec<StyledLine> {
    let found = &merged.finding;
    let title = format!("{}  {}", found.id, found.title);
    let mut lines = hang_text(severity_label(found.severity), &title, room);
    let under =
        |style, lead: &str| StyledLine::with_indent(FINDING_INDENT).push_styled(lead, style);
    if !found.location.trim().is_empty() {
        lines.extend(hang_text(under(FAINT, "at "), &found.location, room));
    }
    lines.extend(hang_text(StyledLine::with_indent(FINDING_INDENT), &found.description, room));
    if !found.fix_approach.trim().is_empty() {
        lines.extend(hang_text(under(GOOD, "→ "), &found.fix_approach, room));
    }
    let who = [
        ("reported by", &merged.reported_by),
        ("confirmed by", &merged.confirmed_by),
        ("disputed by", &merged.disputed_by),
    ];
    let who: Vec<String> = who
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what} {}", names.join(", ")))
        .collect();
    if !who.is_empty() {
        lines.extend(hang_text(StyledLine::with_indent(FINDING_INDENT), &who.join("; "), room));
    }
    lines
}
