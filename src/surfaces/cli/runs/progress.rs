//! [`ProgressDisplay`]: shows a run on standard error while it runs. On a terminal each seat has a
//! line with a spinner; elsewhere each event is a plain line.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::domain::change::Change;
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;
use crate::domain::transcript::Transcript;
use crate::engine::RunObserver;
use crate::export::council::{AskSeen, Event, events};
use crate::export::safe_text;
use crate::export::telling::{Told, Tone, name_of_round, seat, tell};
use crate::protocols::Protocols;
use crate::surfaces::cli::session::Session;
use crate::surfaces::cli::ui::Voice;

/// Interval between two frames of a spinner.
const TURN: Duration = Duration::from_millis(120);

/// Observes one run and draws it.
#[derive(Debug)]
pub(in crate::surfaces::cli) struct ProgressDisplay {
    protocols: Protocols,
    voice: Voice,
    screen: MultiProgress,
    is_live: bool,
    seen: Mutex<DisplayState>,
}

#[derive(Debug, Default)]
struct DisplayState {
    transcript: Option<Transcript>,
    spinners: BTreeMap<u32, ProgressBar>,
    round: u8,
}

impl ProgressDisplay {
    pub(in crate::surfaces::cli) fn new(session: &Session<'_>) -> Self {
        let ui = session.ui;
        let is_live = ui.is_watched();
        let target =
            if is_live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self {
            protocols: session.loader.protocols.clone(),
            voice: ui.voice,
            screen: MultiProgress::with_draw_target(target),
            is_live,
            seen: Mutex::default(),
        }
    }

    /// Starts with the state that was journalled before.
    pub(in crate::surfaces::cli) fn with_history(
        session: &Session<'_>,
        transcript: &Transcript,
    ) -> Self {
        let progress = Self::new(session);
        let seen = DisplayState { transcript: Some(transcript.clone()), ..DisplayState::default() };
        *progress.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        progress
    }

    /// Takes the spinners off the screen.
    pub(in crate::surfaces::cli) fn clear(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for spinner in std::mem::take(&mut seen.spinners).into_values() {
            spinner.finish_and_clear();
        }
    }

    fn show(&self, seen: &mut DisplayState, event: &Event) {
        if let Event::Asked { ask, .. } | Event::CallSent { ask, .. } = event
            && ask.round != seen.round
        {
            seen.round = ask.round;
            let text = name_of_round(&self.protocols, ask).to_owned();
            self.print(&Told { tone: Tone::Heading, text });
        }
        if let Event::CallSent { ask, .. } = event {
            self.start(seen, ask);
        }
        if let Some(id) = settled(event)
            && let Some(spinner) = seen.spinners.remove(&id)
        {
            spinner.finish_and_clear();
        }
        let lines =
            seen.transcript.as_ref().map(|transcript| tell(&self.protocols, transcript, event));
        for told in lines.unwrap_or_default() {
            self.print(&told);
        }
    }

    fn start(&self, seen: &mut DisplayState, ask: &AskSeen) {
        if !self.is_live || seen.spinners.contains_key(&ask.id) {
            return;
        }
        let Some(transcript) = &seen.transcript else { return };
        let message = format!("{}thinking", seat(transcript, ask));
        let spinner = self.screen.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("  {spinner:.cyan} {msg} {elapsed:.dim}");
        spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        spinner.set_message(safe_text::line(&message));
        spinner.enable_steady_tick(TURN);
        seen.spinners.insert(ask.id, spinner);
    }

    fn print(&self, told: &Told) {
        let wanted = match told.tone {
            Tone::Quiet => self.voice == Voice::Verbose || self.is_live,
            Tone::Heading | Tone::Aside | Tone::Good | Tone::Warning | Tone::Bad => {
                self.voice != Voice::Quiet
            }
        };
        if !wanted {
            return;
        }
        let (mark, style) = look(told.tone);
        let line = format!("{style}{mark}{style:#} {}", safe_text::line(&told.text));
        // The spinners are suspended while a line is printed above them.
        self.screen.suspend(|| crate::surfaces::cli::ui::talk_in_colour(&line));
    }
}

impl RunObserver for ProgressDisplay {
    fn on_entry(&self, _: &DialogueId, at: Moment, changes: &[Change]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut seen.transcript {
            Some(transcript) => transcript.add(at, changes),
            None => seen.transcript = Transcript::begin(at, changes),
        }
        let Some(transcript) = &seen.transcript else { return };
        for event in events(transcript, changes) {
            self.show(&mut seen, &event);
        }
    }
}

/// The ask whose spinner can go, if the event settles one.
fn settled(event: &Event) -> Option<u32> {
    match event {
        Event::Read { ask, .. }
        | Event::Drafted { ask, .. }
        | Event::Audited { ask, .. }
        | Event::Revised { ask, .. }
        | Event::Judged { ask, .. }
        | Event::Adjudicated { ask, .. }
        | Event::Unreadable { ask, .. }
        | Event::NotSent { ask, .. }
        | Event::CallFailed { ask, gave_up: true, .. } => Some(ask.id),
        Event::Opened { .. }
        | Event::Started { .. }
        | Event::Asked { .. }
        | Event::CallSent { .. }
        | Event::Replied { .. }
        | Event::CallFailed { .. }
        | Event::Shortcut(_)
        | Event::RoundHeld { .. }
        | Event::Reported { .. }
        | Event::Intervened(_)
        | Event::Concluded { .. }
        | Event::Ruled { .. }
        | Event::Logged { .. }
        | Event::Overridden(_)
        | Event::Stopped(_) => None,
    }
}

fn look(tone: Tone) -> (&'static str, Style) {
    match tone {
        Tone::Heading => ("─", AnsiColor::Cyan.on_default().bold()),
        Tone::Aside => ("  »", AnsiColor::Cyan.on_default()),
        Tone::Good => ("  ●", AnsiColor::Green.on_default()),
        Tone::Warning => ("  ▲", AnsiColor::Yellow.on_default()),
        Tone::Bad => ("  ×", AnsiColor::Red.on_default()),
        Tone::Quiet => ("  ·", Style::new().dimmed()),
    }
}
