//! Stop signals for runs and servers: SIGINT, SIGTERM, SIGQUIT and SIGHUP.

use std::future::poll_fn;
use std::process::exit;
use std::task::Poll;

use plenary_engine::error::ErrorKind;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// On the first signal, asks the run to stop so that it can be resumed. On the second, exits at
/// once; this is safe because the journal is always complete.
pub(crate) async fn stop_or_exit(heard: watch::Sender<bool>) {
    let mut signals = StopSignals::subscribe_all();
    loop {
        signals.next_signal().await;
        if heard.send_replace(true) {
            exit(i32::from(ErrorKind::Interrupted.exit_code()));
        }
    }
}

/// SIGINT, SIGTERM, SIGQUIT and SIGHUP; all mean the same: stop and stay resumable. A signal that
/// cannot be received keeps its default action.
pub(crate) struct StopSignals(Vec<Signal>);

impl StopSignals {
    pub(crate) fn subscribe_all() -> Self {
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit()];
        // `nohup plenary …` must continue after its terminal closes.
        if !is_hangup_ignored() {
            kinds.push(SignalKind::hangup());
        }
        Self(kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    /// Waits for the next signal.
    pub(crate) async fn next_signal(&mut self) {
        poll_fn(|context| {
            let is_told = self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if is_told { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Whether this process was started with SIGHUP ignored.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the system's word on this process")]
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores_hangup(&status)
}

/// Other systems need unsafe code to query this. A process started by `nohup` has no terminal on
/// stderr, and without a terminal there is no SIGHUP.
#[cfg(not(target_os = "linux"))]
fn is_hangup_ignored() -> bool {
    use std::io::IsTerminal;
    !std::io::stderr().is_terminal()
}

/// `SigIgn` is a hexadecimal mask of the ignored signals; SIGHUP is its lowest bit.
#[cfg(any(target_os = "linux", test))]
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_tells_whether_a_hangup_is_ignored() {
        let check = |mask: &str, expected: bool| {
            let status = format!("Name:\tplenary\nSigBlk:\t1\nSigIgn:\t{mask}\nSigCgt:\t1\n");
            assert_eq!(ignores_hangup(&status), expected, "{mask}");
        };
        check("0000000000001000", false);
        check("0000000000001001", true);
        check("", false);
        check("no number", false);
        assert!(!ignores_hangup(""));
    }
}
