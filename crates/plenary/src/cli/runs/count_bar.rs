//! [`CountBar`]: progress of several runs at once, as one line with count, cost and remaining time.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::ui::TerminalUi;

/// Interval between two drawings of the elapsed time.
const TICK: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct CountBar {
    bar: ProgressBar,
    noun: &'static str,
    usd: f64,
}

impl CountBar {
    /// A bar on standard error; hidden if no person watches.
    pub(crate) fn new(ui: &TerminalUi, total: usize, noun: &'static str) -> Self {
        let target = match ui.is_watched() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        bar.set_style(bar_style(noun, ""));
        bar.set_message("$0.00");
        bar.enable_steady_tick(TICK);
        Self { bar, noun, usd: 0.0 }
    }

    /// Counts one finished item.
    pub(crate) fn add_finished(&mut self, usd: Option<f64>) {
        self.usd += usd.unwrap_or(0.0);
        self.bar.set_message(format!("${:.2}", self.usd));
        self.bar.inc(1);
        // Before the first item ends, nothing is known about the time of the others.
        self.bar.set_style(bar_style(self.noun, ", {eta} left"));
    }

    /// Prints while the bar is off the screen.
    pub(crate) fn print_above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// A bar that fits 60 columns.
fn bar_style(noun: &str, remaining: &str) -> ProgressStyle {
    let template =
        format!("  {{bar:10.cyan}} {{pos}} of {{len}} {noun} · {{msg}} · {{elapsed}}{remaining}");
    ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
