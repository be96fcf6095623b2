//! Output of runs: the result as JSON or as a page, the exit status, the verdict log.
//!
//! [`ProgressDisplay`] shows a run on standard error while it runs. On a terminal each seat has a
//! line with a spinner; elsewhere each event is a plain line.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::ask::AskPurpose;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::time::Moment;
use plenary_core::protocols::protocol::{Protocol, Protocols, RunFinding, ShownRun};
use plenary_core::report::events::{AskSummary, RunEvent, derive_events};
use plenary_core::report::page::{PageDetail, PageScope};
use plenary_core::report::phrases::format_bytes;
use plenary_core::report::progress_lines::{
    LineSeverity, ProgressLine, describe_dialogue_event, describe_event, round_title, seat_column,
};
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::page::draw_page;
use plenary_core::report::terminal::wrap::wrap_line;
use plenary_engine::app::project::Project;
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::engine::live_text::WritingEvent;
use plenary_engine::engine::run::RunObserver;
use plenary_engine::error::Error;
use plenary_engine::store::traits::Store;
use unicode_width::UnicodeWidthStr;

use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::{MessageLevel, TerminalUi, print_styled_message, print_warning};

/// Prints the result of a run, as JSON or as a page.
pub(crate) fn print_result(
    session: &CliSession<'_>,
    store: &dyn Store,
    state: &RunState,
) -> Result<(), Error> {
    let (ui, id) = (session.ui, &state.opening.dialogue_id);
    let protocol = session.loader.protocols.of_run(state)?;
    if ui.json {
        let document = protocol.run_document(state).map_err(Error::Document)?;
        return ui.print_result(&document, |_| String::new());
    }
    let record = store.load_record(id)?.ok_or_else(|| dialogue_not_found(id.as_str()))?;
    let shown = ShownRun { record: &record, journal: &[], state: Some(state) };
    let page = protocol.page(&shown, PageScope::new(PageDetail::Result));
    ui.print_page(&draw_page(&page, ui.page_canvas()))
}

/// Exit status for the way a run stopped; the protocol says what a completed run found.
pub(crate) fn run_exit(
    protocol: &dyn Protocol,
    stop: &RunStopReason,
    state: &RunState,
) -> ExitStatus {
    if stop.is_incomplete() {
        return ExitStatus::Incomplete;
    }
    if *stop == RunStopReason::Interrupted {
        return ExitStatus::Interrupted;
    }
    match protocol.run_finding(state) {
        RunFinding::Passed => ExitStatus::Ok,
        RunFinding::Findings => ExitStatus::WithFindings,
        RunFinding::Hold => ExitStatus::Hold,
        RunFinding::Undecided => ExitStatus::Incomplete,
    }
}

/// Repairs the log file after a crash, for a command that calls no model. Commands that need the
/// settings report mistakes in them.
pub(crate) fn repair_project_log(session: &CliSession<'_>, project: &Project) {
    if let Ok(settings) = session.loader.load_offline_settings(&BudgetOverrides::default()) {
        sync_log(session.ui, project.store.as_ref(), &settings.review.log_path);
    }
}

/// Synchronises the log file with the store. The verdicts are stored already: a failure to write is
/// reported and changes no verdict.
pub(crate) fn sync_log(ui: &TerminalUi, store: &dyn Store, path: &Path) {
    match plenary_engine::verdict_log::sync::sync_log(store, path) {
        Ok(synced) => synced.to_sentences(path).iter().for_each(|printed| ui.print_note(printed)),
        Err(error) => print_warning(ui, &error.into()),
    }
}

/// Indent of further lines of a message, under the text of its first line.
const LINE_INDENT: usize = 4;

/// Interval between two frames of a spinner.
const TURN: Duration = Duration::from_millis(120);

/// Observes one run and draws it.
#[derive(Debug)]
pub(crate) struct ProgressDisplay {
    protocols: Protocols,
    voice: MessageLevel,
    screen: MultiProgress,
    is_live: bool,
    /// Width of the terminal, where lines break at words.
    width: usize,
    seen: Mutex<DisplayState>,
}

#[derive(Debug, Default)]
struct DisplayState {
    state: Option<RunState>,
    spinners: BTreeMap<u32, WritingSpinner>,
    round: u8,
    purpose: Option<AskPurpose>,
}

impl DisplayState {
    /// Whether an ask begins something that has a heading: a round, or a step of the built-in
    /// Judge's dialogue.
    fn starts_phase(&self, ask: &AskSummary) -> bool {
        let is_led = self.state.as_ref().is_some_and(|run| run.alignment.is_some());
        ask.round != self.round || (is_led && self.purpose != Some(ask.purpose))
    }
}

impl ProgressDisplay {
    pub(crate) fn new(session: &CliSession<'_>) -> Self {
        let ui = session.ui;
        let is_live = ui.is_watched();
        let target =
            if is_live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self {
            protocols: session.loader.protocols.clone(),
            voice: ui.level,
            screen: MultiProgress::with_draw_target(target),
            is_live,
            width: ui.terminal_width(),
            seen: Mutex::default(),
        }
    }

    /// Starts with the state that was journalled before.
    pub(crate) fn with_history(session: &CliSession<'_>, state: &RunState) -> Self {
        let progress = Self::new(session);
        let seen = DisplayState { state: Some(state.clone()), ..DisplayState::default() };
        *progress.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        progress
    }

    /// Takes the spinners off the screen.
    pub(crate) fn clear_spinners(&self) {
        clear_rows(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Shows events of a dialogue that an agent or a person leads.
    pub(crate) fn show_dialogue_events(&self, events: &[RunEvent]) {
        events.iter().flat_map(describe_dialogue_event).for_each(|result| self.print_line(&result));
    }

    fn show_event(&self, seen: &mut DisplayState, event: &RunEvent) {
        if let RunEvent::Asked { ask, .. } | RunEvent::CallSent { ask, .. } = event
            && seen.starts_phase(ask)
        {
            (seen.round, seen.purpose) = (ask.round, Some(ask.purpose));
            // A seat of an earlier round was cancelled if it still has a line.
            clear_rows(seen);
            let text = round_title(&self.protocols, ask).to_owned();
            self.print_line(&ProgressLine { tone: LineSeverity::Heading, text });
        }
        if let RunEvent::CallSent { ask, .. } = event {
            self.start_spinner(seen, ask);
        }
        if let Some(id) = settled_ask(event)
            && let Some(spinner) = seen.spinners.remove(&id)
        {
            spinner.bar.finish_and_clear();
        }
        if matches!(event, RunEvent::Stopped(_)) {
            clear_rows(seen);
        }
        let lines = seen.state.as_ref().map(|state| describe_event(&self.protocols, state, event));
        for result in lines.unwrap_or_default() {
            self.print_line(&result);
        }
    }

    fn start_spinner(&self, seen: &mut DisplayState, ask: &AskSummary) {
        if !self.is_live || seen.spinners.contains_key(&ask.id) {
            return;
        }
        let Some(state) = &seen.state else { return };
        let seat_column = seat_column(state, ask);
        let message = format!("{seat_column}asked");
        let spinner = self.screen.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("  {spinner:.cyan} {msg} {elapsed:.dim}");
        spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        spinner.set_message(safe_line(&message));
        spinner.enable_steady_tick(TURN);
        let spinner = WritingSpinner { bar: spinner, seat_column, tail: String::new() };
        seen.spinners.insert(ask.id, spinner);
    }

    fn print_line(&self, result: &ProgressLine) {
        let is_wanted = match self.voice {
            MessageLevel::Quiet => false,
            MessageLevel::Normal => result.tone != LineSeverity::Quiet || self.is_live,
            MessageLevel::Verbose => true,
        };
        if !is_wanted {
            return;
        }
        let (mark, style) = line_style(result.tone);
        let text = match self.is_live {
            true => wrap_message(&result.text, self.width),
            false => safe_line(&result.text),
        };
        let line = format!("{style}{mark}{style:#} {text}");
        // The spinners are suspended while a line is printed above them.
        self.screen.suspend(|| print_styled_message(&line));
    }
}

impl RunObserver for ProgressDisplay {
    fn on_entry(&self, _: &DialogueId, at: Moment, changes: &[JournalEvent]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut seen.state {
            Some(state) => state.apply_events(at, changes),
            None => seen.state = RunState::from_first_entry(at, changes),
        }
        let Some(state) = &seen.state else { return };
        for event in derive_events(state, changes) {
            self.show_event(&mut seen, &event);
        }
    }

    fn on_writing(&self, part: &WritingEvent) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spinner) = seen.spinners.get_mut(&part.ask) {
            spinner.show_part(part, self.voice == MessageLevel::Verbose);
        }
    }
}

/// Takes the lines of all seats off the screen.
fn clear_rows(seen: &mut DisplayState) {
    for spinner in std::mem::take(&mut seen.spinners).into_values() {
        spinner.bar.finish_and_clear();
    }
}

/// Characters of the reply's end that `--verbose` shows while a seat writes.
const TAIL_CHARS: usize = 48;

/// A reply that a seat is writing.
#[derive(Debug)]
struct WritingSpinner {
    bar: ProgressBar,
    seat_column: String,
    /// The end of the text so far.
    tail: String,
}

impl WritingSpinner {
    fn show_part(&mut self, part: &WritingEvent, is_verbose: bool) {
        let mut message = format!("{}writing, {}", self.seat_column, format_bytes(part.bytes));
        if is_verbose {
            self.tail.push_str(&part.text);
            let cut = self.tail.char_indices().rev().nth(TAIL_CHARS - 1).map_or(0, |(at, _)| at);
            self.tail.drain(..cut);
            let left_out = if self.tail.len() < part.bytes { "…" } else { "" };
            message = format!("{message}  {left_out}{}", self.tail);
        }
        self.bar.set_message(safe_line(&message));
    }
}

/// Breaks a long message at words. Further lines begin under the text behind the seat's column.
fn wrap_message(text: &str, width: usize) -> String {
    let text = safe_line(text);
    if text.width() + LINE_INDENT <= width {
        return text;
    }
    let gap = text.find("  ").map_or(0, |start| {
        let rest = text.get(start..).unwrap_or_default();
        start + rest.len() - rest.trim_start().len()
    });
    let (column, printed) = text.split_at_checked(gap).unwrap_or(("", &text));
    let indent = LINE_INDENT + column.width();
    let lines = wrap_line(printed, width.saturating_sub(indent));
    format!("{column}{}", lines.join(&format!("\n{}", " ".repeat(indent))))
}

/// The ask whose spinner can go, if the event settles one.
fn settled_ask(event: &RunEvent) -> Option<u32> {
    if let RunEvent::Read { ask, .. }
    | RunEvent::Drafted { ask, .. }
    | RunEvent::Audited { ask, .. }
    | RunEvent::Revised { ask, .. }
    | RunEvent::Judged { ask, .. }
    | RunEvent::Adjudicated { ask, .. }
    | RunEvent::Unreadable { ask, .. }
    | RunEvent::NotSent { ask, .. }
    | RunEvent::CallFailed { ask, gave_up: true, .. } = event
    {
        return Some(ask.id);
    }
    None
}

fn line_style(tone: LineSeverity) -> (&'static str, Style) {
    match tone {
        LineSeverity::Heading => ("─", AnsiColor::Cyan.on_default().bold()),
        LineSeverity::Aside => ("  »", AnsiColor::Cyan.on_default()),
        LineSeverity::Good => ("  ●", AnsiColor::Green.on_default()),
        LineSeverity::Warning => ("  ▲", AnsiColor::Yellow.on_default()),
        LineSeverity::Bad => ("  ×", AnsiColor::Red.on_default()),
        LineSeverity::Quiet => ("  ·", Style::new().dimmed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_breaks_at_words_under_its_text() {
        assert_eq!(wrap_message("skeptic     reject", 60), "skeptic     reject");
        let wrapped = wrap_message("skeptic     the critic objects to the key condition", 40);
        assert_eq!(wrapped, "skeptic     the critic objects to\n                the key condition");
    }
}
