//! Colours and marks. Each colour has a word or a mark beside it that says the same.

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

/// How an entity stands, whatever its kind.
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

/// How an ending looks; nothing stands for one that nobody audited.
pub(super) fn of_ending(state: Option<TerminalState>) -> (&'static str, Style) {
    match state {
        Some(TerminalState::Clean) => ("●", GOOD),
        Some(TerminalState::Revised) => ("◐", CAUTION),
        Some(TerminalState::Unconverged) => ("▲", BAD),
        None => ("○", CAUTION),
    }
}

/// The bar beside a verdict: heavy where it takes effect, light where it objects.
pub(super) fn of_verdict(verdict_type: VerdictType) -> (&'static str, Style) {
    let style = match verdict_type {
        VerdictType::Final => GOOD,
        VerdictType::Interim => ID,
        VerdictType::Minority => CAUTION,
        VerdictType::Dissent => BAD,
    };
    (if verdict_type.takes_effect() { "┃" } else { "│" }, style)
}

/// What the gate came to.
pub(super) fn of_gate(verdict: ReviewVerdict) -> (&'static str, Style) {
    match verdict {
        ReviewVerdict::Ship => ("●", GOOD),
        ReviewVerdict::Revise => ("◐", CAUTION),
        ReviewVerdict::Hold => ("▲", BAD),
        ReviewVerdict::Incomplete => ("×", BAD),
        ReviewVerdict::Skipped => ("–", FAINT),
    }
}

/// What a deliberator would do.
pub(super) fn of_leaning(leaning: Leaning) -> (&'static str, Style) {
    of_gate(GateVerdict::from(Decision::from(leaning)).into())
}
