//! Colours and marks of all pages. Every colour comes with a name or a mark of the same meaning.

use anstyle::{AnsiColor, Color, Style};

use crate::domain::dialogue::{DialogueStatus, TerminalState};
use crate::domain::gate::{DeliberatorVerdict, FinalVerdict, ReviewDecision};
use crate::domain::lifecycle::EntityStatus;
use crate::domain::verdict::VerdictType;
use crate::export::gate::ReviewVerdict;

pub(super) const PLAIN: Style = Style::new();
pub(super) const STRONG: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const ID: Style = foreground_style(AnsiColor::Cyan);
pub(super) const GOOD: Style = foreground_style(AnsiColor::Green);
pub(super) const CAUTION: Style = foreground_style(AnsiColor::Yellow);
pub(super) const BAD: Style = foreground_style(AnsiColor::Red);

const fn foreground_style(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Mark and colour of an entity status.
pub(super) fn status_mark(status: EntityStatus) -> (&'static str, Style) {
    match status {
        EntityStatus::Open
        | EntityStatus::Proposed
        | EntityStatus::Cited
        | EntityStatus::Asserted => ("○", PLAIN),
        EntityStatus::Refined | EntityStatus::Amended | EntityStatus::Addressed => ("◐", CAUTION),
        EntityStatus::Resolved
        | EntityStatus::Adopted
        | EntityStatus::Confirmed
        | EntityStatus::Supported => ("●", GOOD),
        EntityStatus::Reopened | EntityStatus::Challenged | EntityStatus::Opposed => ("▲", BAD),
        EntityStatus::Rejected | EntityStatus::Refuted => ("×", BAD),
        EntityStatus::Conceded | EntityStatus::Merged | EntityStatus::Withdrawn => ("–", FAINT),
    }
}

pub(super) fn dialogue_mark(status: DialogueStatus) -> (&'static str, Style) {
    match status {
        DialogueStatus::Open => ("○", PLAIN),
        DialogueStatus::Converging => ("◐", CAUTION),
        DialogueStatus::Converged => ("●", GOOD),
        DialogueStatus::Abandoned => ("×", BAD),
    }
}

/// Mark and colour of a terminal state; `None` is an unaudited conclusion.
pub(super) fn terminal_state_mark(state: Option<TerminalState>) -> (&'static str, Style) {
    match state {
        Some(TerminalState::Clean) => ("●", GOOD),
        Some(TerminalState::Revised) => ("◐", CAUTION),
        Some(TerminalState::Unconverged) => ("▲", BAD),
        None => ("○", CAUTION),
    }
}

/// The bar beside a verdict: heavy for verdicts that take effect, light for objections.
pub(super) fn verdict_mark(verdict_type: VerdictType) -> (&'static str, Style) {
    let style = match verdict_type {
        VerdictType::Final => GOOD,
        VerdictType::Interim => ID,
        VerdictType::Minority => CAUTION,
        VerdictType::Dissent => BAD,
    };
    (if verdict_type.takes_effect() { "┃" } else { "│" }, style)
}

/// Mark and colour of a review verdict.
pub(super) fn review_mark(verdict: ReviewVerdict) -> (&'static str, Style) {
    match verdict {
        ReviewVerdict::Ship => ("●", GOOD),
        ReviewVerdict::Revise => ("◐", CAUTION),
        ReviewVerdict::Hold => ("▲", BAD),
        ReviewVerdict::Incomplete => ("×", BAD),
        ReviewVerdict::Skipped => ("–", FAINT),
    }
}

/// Mark and colour of a deliberator's own verdict.
pub(super) fn leaning_mark(leaning: DeliberatorVerdict) -> (&'static str, Style) {
    review_mark(FinalVerdict::from(ReviewDecision::from(leaning)).into())
}
