//! Ctrl-C, and whoever ends the process kindly.

use std::process::exit;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::error::Kind;

/// The first signal asks the run to stop where it can be taken up again; the second ends
/// the process, which is no worse: the journal is whole at every moment.
pub(super) async fn stop_or_exit(heard: watch::Sender<bool>) {
    let mut signals = Signals::open();
    loop {
        signals.next().await;
        if heard.send_replace(true) {
            exit(i32::from(Kind::Interrupted.exit_code()));
        }
    }
}

/// Both ways of saying stop; nothing, where the system does not let us hear them.
pub(super) struct Signals(Option<(Signal, Signal)>);

impl Signals {
    pub(super) fn open() -> Self {
        let interrupt = signal(SignalKind::interrupt()).ok();
        Self(interrupt.zip(signal(SignalKind::terminate()).ok()))
    }

    /// Waits until somebody says stop.
    pub(super) async fn next(&mut self) {
        let Some((interrupt, terminate)) = &mut self.0 else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
