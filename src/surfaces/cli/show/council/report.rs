//! Sections of the chair's report on a council page.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::domain::council::report::CouncilFinalReport;
use crate::domain::council::words::{Level, Outcome, RiskConsensus};
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, beside, block, heading, prose};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, FAINT, GOOD, STRONG};
use crate::surfaces::cli::wrap::{wrap_line, wrap_text};

/// Columns from the bar to the text.
const BAR: usize = 2;

/// Width of `medium` and a space.
const LEVEL: usize = 7;

/// Draws the report's answer. `lead` precedes the outcome in the title: below a conclusion, the
/// report is labelled as such.
pub(super) fn answer(given: &CouncilFinalReport, lead: &str, canvas: Canvas) -> Vec<Line> {
    let conclusion = &given.report.conclusion;
    let author = match &given.chair_provider {
        Some(chair) => format!("written by {chair}"),
        None => "not a synthesis".to_owned(),
    };
    let (title, style) = of_outcome(conclusion.outcome);
    let mut lines = heading(&format!("{lead}{title}"), &author, canvas);
    let room = canvas.measure() - MARGIN - BAR;
    let bar = Line::indented(MARGIN).styled("┃", style).pad_to(MARGIN + BAR);
    let mut words = wrap_text(&conclusion.statement, room);
    if let Some(reason) = conclusion.reason.as_deref().filter(|reason| !reason.is_empty()) {
        words.push(String::new());
        words.extend(wrap_text(reason, room));
    }
    lines.extend(words.iter().map(|line| bar.clone().styled(line, STRONG)));
    if let Some(disclaimer) = given.disclaimer.as_deref().filter(|_| !lead.is_empty()) {
        lines.push(Line::blank());
        lines.extend(block(&wrap_line(disclaimer, canvas.measure() - MARGIN), MARGIN, CAUTION));
    }
    lines
}

pub(super) fn reasons(given: &CouncilFinalReport, canvas: Canvas) -> Vec<Line> {
    let rationale = &given.report.rationale;
    let room = canvas.measure() - MARGIN;
    let mut lines = prose(&wrap_text(&rationale.summary, room), MARGIN);
    if !rationale.supporting_opinions.is_empty() || !rationale.supporting_reviews.is_empty() {
        lines.push(Line::blank());
    }
    let opinions = rationale.supporting_opinions.iter().map(|point| point.provider.as_str());
    let reviews = rationale.supporting_reviews.iter().map(|point| point.reviewer.as_str());
    let width = name_width(opinions.chain(reviews));
    for point in &rationale.supporting_opinions {
        let lead = Line::indented(MARGIN).styled("+ ", GOOD);
        let text = format!("{} ({} weight)", point.key_point, point.weight);
        lines.extend(beside(named(lead, &point.provider, width, STRONG), &text, room));
    }
    for point in &rationale.supporting_reviews {
        let lead = Line::indented(MARGIN).styled("± ", CAUTION);
        let text = format!("{} ({})", point.key_point, point.critique_type);
        lines.extend(beside(named(lead, &point.reviewer, width, STRONG), &text, room));
    }
    lines.extend(points("Agreed", &given.report.consensus_points, canvas));
    lines
}

pub(super) fn disagreements(given: &CouncilFinalReport, canvas: Canvas) -> Vec<Line> {
    let disputes = &given.report.disagreements;
    if disputes.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("DISAGREEMENTS", "", canvas);
    let room = canvas.measure() - MARGIN;
    for (place, dispute) in disputes.iter().enumerate() {
        if place > 0 {
            lines.push(Line::blank());
        }
        let names = dispute.positions.iter().map(|position| position.provider.as_str());
        let width = name_width(names);
        lines.extend(block(&wrap_line(&dispute.topic, room), MARGIN, STRONG));
        for position in &dispute.positions {
            let lead = named(Line::indented(MARGIN * 2), &position.provider, width, CAUTION);
            lines.extend(beside(lead, &position.position, room));
        }
        let resolution = [dispute.resolution.as_str(), dispute.resolution_rationale.as_str()];
        let resolution: Vec<&str> =
            resolution.into_iter().filter(|text| !text.trim().is_empty()).collect();
        if !resolution.is_empty() {
            let lead = Line::indented(MARGIN * 2).styled("→ ", GOOD);
            lines.extend(beside(lead, &resolution.join(" "), room));
        }
    }
    lines
}

pub(super) fn risks(given: &CouncilFinalReport, canvas: Canvas) -> Vec<Line> {
    let risks = &given.report.risks;
    if risks.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("RISKS", "", canvas);
    let room = canvas.measure();
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
        lines.extend(beside(level(risk.severity), &text, room));
        if !risk.mitigation.trim().is_empty() {
            let lead = Line::indented(MARGIN + LEVEL).styled("→ ", GOOD);
            lines.extend(beside(lead, &risk.mitigation, room));
        }
    }
    lines
}

pub(super) fn uncertainties(given: &CouncilFinalReport, canvas: Canvas) -> Vec<Line> {
    let open = &given.report.uncertainties;
    if open.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("UNCERTAIN", "how sure the chair is", canvas);
    let room = canvas.measure();
    for point in open {
        let reason = point.reason.trim();
        let text = match reason.is_empty() {
            true => point.area.clone(),
            false => format!("{}: {reason}", point.area),
        };
        lines.extend(beside(sureness(point.confidence), &text, room));
        if !point.suggested_verification.trim().is_empty() {
            let lead = Line::indented(MARGIN + LEVEL).styled("→ ", GOOD);
            lines.extend(beside(lead, &point.suggested_verification, room));
        }
    }
    lines
}

pub(super) fn next_actions(given: &CouncilFinalReport, canvas: Canvas) -> Vec<Line> {
    let actions = &given.report.next_actions;
    if actions.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("NEXT", "", canvas);
    let room = canvas.measure();
    for (place, action) in actions.iter().enumerate() {
        let lead = Line::indented(MARGIN).plain(&format!("{}. ", place + 1));
        let indent = lead.width();
        let text = format!("{} ({} priority)", action.action, action.priority);
        lines.extend(beside(lead, &text, room));
        lines.extend(block(&wrap_line(&action.rationale, room - indent), indent, FAINT));
        if let Some(criteria) = action.success_criteria.as_deref().filter(|text| !text.is_empty()) {
            lines.extend(beside(
                Line::indented(indent).styled("done when: ", GOOD),
                criteria,
                room,
            ));
        }
    }
    lines
}

pub(super) fn list(title: &str, items: &[String], canvas: Canvas) -> Vec<Line> {
    if items.is_empty() {
        return Vec::new();
    }
    let mut lines = heading(title, "", canvas);
    let room = canvas.measure();
    lines.extend(
        items
            .iter()
            .flat_map(|item| beside(Line::indented(MARGIN).styled("· ", FAINT), item, room)),
    );
    lines
}

fn points(title: &str, items: &[String], canvas: Canvas) -> Vec<Line> {
    let room = canvas.measure();
    let mut lines = Vec::new();
    if !items.is_empty() {
        lines.push(Line::blank());
        lines.push(Line::indented(MARGIN).styled(title, FAINT));
    }
    lines.extend(
        items
            .iter()
            .flat_map(|item| beside(Line::indented(MARGIN).styled("· ", FAINT), item, room)),
    );
    lines
}

/// Maximum width of the name column; a longer name shifts only its own text.
const NAME_MAX: usize = 16;

fn name_width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(UnicodeWidthStr::width).max().unwrap_or(0).min(NAME_MAX)
}

fn named(lead: Line, name: &str, width: usize, style: Style) -> Line {
    let column = lead.width() + width;
    lead.styled(name, style).pad_to(column).plain("  ")
}

pub(super) fn level(severity: Level) -> Line {
    let style = match severity {
        Level::High => BAD,
        Level::Medium => CAUTION,
        Level::Low => FAINT,
    };
    Line::indented(MARGIN).styled(severity.name(), style).pad_to(MARGIN + LEVEL)
}

/// Low confidence gets the strongest colour.
fn sureness(confidence: Level) -> Line {
    let style = match confidence {
        Level::Low => BAD,
        Level::Medium => CAUTION,
        Level::High => FAINT,
    };
    Line::indented(MARGIN).styled(confidence.name(), style).pad_to(MARGIN + LEVEL)
}

fn of_outcome(outcome: Outcome) -> (&'static str, Style) {
    match outcome {
        Outcome::Adopt => ("ADOPT", GOOD),
        Outcome::Reject => ("REJECT", BAD),
        Outcome::NeedInfo => ("NEEDS INFORMATION", CAUTION),
        Outcome::Answer => ("ANSWER", GOOD),
    }
}
