//! Colours and marks of all pages. Every colour comes with a name or a mark of the same meaning.

use anstyle::{AnsiColor, Color, Style};

use crate::domain::dialogue::{DialogueStatus, TerminalState};
use crate::domain::gate::{Decision, GateVerdict, Leaning};
use crate::domain::lifecycle::Status;
use crate::domain::verdict::VerdictType;
use crate::export::gate::ReviewVerdict;

pub(super) const PLAIN: Style = Style::new();
pub(super) const STRONG: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const ID: Style = coloured(AnsiColor::Cyan);
pub(super) const GOOD: Style = coloured(AnsiColor::Green);
pub(super) const CAUTION: Style = coloured(AnsiColor::Yellow);
pub(super) const BAD: Style = coloured(AnsiColor::Red);

const fn coloured(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Mark and colour of an entity status.
pub(super) fn of_status(status: Status) -> (&'static str, Style) {
    match status {
        Status::Open | Status::Proposed | Status::Cited | Status::Asserted => ("○", PLAIN),
        Status::Refined | Status::Amended | Status::Addressed => ("◐", CAUTION),
        Status::Resolved | Status::Adopted | Status::Confirmed | Status::Supported => ("●", GOOD),
        Status::Reopened | Status::Challenged | Status::Opposed => ("▲", BAD),
        Status::Rejected | Status::Refuted => ("×", BAD),
        Status::Conceded | Status::Merged | Status::Withdrawn => ("–", FAINT),
    }
}

pub(super) fn of_dialogue(status: DialogueStatus) -> (&'static str, Style) {
    match status {
        DialogueStatus::Open => ("○", PLAIN),
        DialogueStatus::Converging => ("◐", CAUTION),
        DialogueStatus::Converged => ("●", GOOD),
        DialogueStatus::Abandoned => ("×", BAD),
    }
}

/// Mark and colour of a terminal state; `None` is an unaudited conclusion.
pub(super) fn of_ending(state: Option<TerminalState>) -> (&'static str, Style) {
    match state {
        Some(TerminalState::Clean) => ("●", GOOD),
        Some(TerminalState::Revised) => ("◐", CAUTION),
        Some(TerminalState::Unconverged) => ("▲", BAD),
        None => ("○", CAUTION),
    }
}

/// The bar beside a verdict: heavy for verdicts that take effect, light for objections.
pub(super) fn of_verdict(verdict_type: VerdictType) -> (&'static str, Style) {
    let style = match verdict_type {
        VerdictType::Final => GOOD,
        VerdictType::Interim => ID,
        VerdictType::Minority => CAUTION,
        VerdictType::Dissent => BAD,
    };
    (if verdict_type.takes_effect() { "┃" } else { "│" }, style)
}

/// Mark and colour of a review verdict.
pub(super) fn of_gate(verdict: ReviewVerdict) -> (&'static str, Style) {
    match verdict {
        ReviewVerdict::Ship => ("●", GOOD),
        ReviewVerdict::Revise => ("◐", CAUTION),
        ReviewVerdict::Hold => ("▲", BAD),
        ReviewVerdict::Incomplete => ("×", BAD),
        ReviewVerdict::Skipped => ("–", FAINT),
    }
}

/// Mark and colour of a deliberator's own verdict.
pub(super) fn of_leaning(leaning: Leaning) -> (&'static str, Style) {
    of_gate(GateVerdict::from(Decision::from(leaning)).into())
}
