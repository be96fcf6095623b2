//! Pace of calls to one provider, over all runs of a process: how many are in flight, and the common
//! pause after the provider said that it is busy.
//!
//! Calls that may not be sent yet wait in a queue, in the order in which they first came: a call that
//! is repeated keeps its place. After a pause one call is sent; each answer then doubles the number
//! of calls in flight, up to the limit. **Invariant:** while calls wait and no pause is on, a call is
//! in flight, and its end serves the queue.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use plenary_core::model::ask::TransportKind;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};

use crate::providers::transport::Provider;

/// Calls to one provider that are in flight at once, unless `max_in_flight` says otherwise.
pub const IN_FLIGHT_DEFAULT: u32 = 8;

/// The longest pause, and the longest time that one ask waits for pauses. A provider that wants more
/// is not waited for.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(60);

/// First pause after an answer that does not say how long to wait; it doubles while the provider
/// stays busy.
const PAUSE_BASE: Duration = Duration::from_secs(1);

/// The paces of a process, one for each provider and transport.
#[derive(Debug, Default)]
pub struct ProviderPaces(Mutex<BTreeMap<String, Arc<ProviderPace>>>);

impl ProviderPaces {
    /// The pace of a provider. A changed limit has a pace of its own: runs that began with the old
    /// one keep it.
    pub(crate) fn for_provider(
        &self,
        provider: &Provider,
        kind: TransportKind,
    ) -> Arc<ProviderPace> {
        let address = provider.base_url.as_deref().unwrap_or_default();
        let limit = provider.max_in_flight.unwrap_or_default();
        let key = format!("{} {kind} {address} {limit}", provider.name);
        let mut paces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(ProviderPace::new(provider.max_in_flight));
        Arc::clone(paces.entry(key).or_insert_with(new))
    }
}

/// Pace of one provider.
#[derive(Debug)]
pub struct ProviderPace {
    in_flight_max: usize,
    /// First pause and longest pause.
    pauses: (Duration, Duration),
    state: Mutex<PaceState>,
}

#[derive(Debug)]
struct PaceState {
    in_flight: usize,
    /// Calls that may be in flight now; less than the limit after a pause.
    width: usize,
    pause: Option<ProviderPause>,
    /// Duration of all earlier pauses.
    paused: Duration,
    /// Pauses in a row that the provider did not name.
    streak: u32,
    next_ticket: u64,
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
}

#[derive(Debug, Clone, Copy)]
struct ProviderPause {
    since: Instant,
    until: Instant,
}

/// Place of a call in the queue; it keeps the place when it is repeated.
#[derive(Debug, Default)]
pub(crate) struct PaceTicket(Option<u64>);

/// A call that may be in flight. Dropping it serves the queue.
#[derive(Debug)]
pub(crate) struct PacePermit(Arc<ProviderPace>);

impl Drop for PacePermit {
    fn drop(&mut self) {
        self.0.leave_flight();
    }
}

impl ProviderPace {
    /// `None`: no limit.
    pub(crate) fn new(in_flight_max: Option<u32>) -> Self {
        let most = in_flight_max.map_or(usize::MAX, |most| most as usize);
        let state = PaceState {
            in_flight: 0,
            width: most,
            pause: None,
            paused: Duration::ZERO,
            streak: 0,
            next_ticket: 0,
            waiting: BTreeMap::new(),
        };
        let pauses = (PAUSE_BASE, PAUSE_MAX);
        Self { in_flight_max: most, pauses, state: Mutex::new(state) }
    }

    pub(crate) fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    /// A permit without waiting; `None` if the call must wait.
    pub(crate) fn try_enter(self: &Arc<Self>) -> Option<PacePermit> {
        let mut state = self.lock();
        let is_free = state.waiting.is_empty() && state.is_open(Instant::now());
        is_free.then(|| {
            state.in_flight += 1;
            PacePermit(Arc::clone(self))
        })
    }

    /// Waits for a permit. Pauses delay a call for at most [`PAUSE_MAX`]; then it is sent, and the
    /// provider's own answer says what is wrong. So it is at once if the pause outlasts `time_left`.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        ticket: &mut PaceTicket,
        time_left: Duration,
    ) -> PacePermit {
        let (mut place, paused_before) = self.join_queue(ticket);
        if self.lock().pause_left(Instant::now()) >= time_left {
            return place.leave_and_go();
        }
        loop {
            let paused = self.lock().paused_time(Instant::now()).saturating_sub(paused_before);
            let Some(left) = self.pauses.1.checked_sub(paused).filter(|left| !left.is_zero())
            else {
                return place.leave_and_go();
            };
            if timeout(left, &mut place.served).await.is_ok() {
                return place.take_permit();
            }
        }
    }

    fn join_queue(self: &Arc<Self>, ticket: &mut PaceTicket) -> (QueuePlace, Duration) {
        let mut state = self.lock();
        let now = Instant::now();
        let number = *ticket.0.get_or_insert_with(|| {
            state.next_ticket += 1;
            state.next_ticket
        });
        let (answer, served) = oneshot::channel();
        state.waiting.insert(number, answer);
        let paused = state.paused_time(now);
        state.serve_queue(now);
        (QueuePlace { pace: Arc::clone(self), number, served, is_over: false }, paused)
    }

    /// The provider answered: more calls may be in flight.
    pub(crate) fn note_answer(&self) {
        let mut state = self.lock();
        state.streak = 0;
        state.width = state.width.saturating_mul(2).min(self.in_flight_max);
        state.serve_queue(Instant::now());
    }

    /// The provider is busy. Calls that are not sent yet wait as long as it says; if it does not
    /// say, longer each time. A wait over [`PAUSE_MAX`] is not worth it.
    pub(crate) fn note_busy(self: &Arc<Self>, named: Option<Duration>) {
        let (base, longest) = self.pauses;
        if named.is_some_and(|wait| wait > longest) {
            return;
        }
        let now = Instant::now();
        let mut state = self.lock();
        state.width = 1;
        let pause = match named {
            Some(wait) => wait,
            // Calls that were in flight together get the same answer.
            None if state.is_paused(now) => return,
            None => {
                let pause = base.saturating_mul(2_u32.saturating_pow(state.streak));
                state.streak = state.streak.saturating_add(1);
                pause.min(longest)
            }
        };
        self.begin_pause(&mut state, now, pause);
    }

    /// The provider answered, and has nothing left until a reset.
    pub(crate) fn note_exhausted(self: &Arc<Self>, reset: Duration) {
        if reset <= self.pauses.1 {
            self.begin_pause(&mut self.lock(), Instant::now(), reset);
        }
    }

    fn begin_pause(self: &Arc<Self>, state: &mut PaceState, now: Instant, pause: Duration) {
        let until = now + pause;
        state.extend_pause(now, until);
        // Without a runtime nothing waits.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(serve_after(Arc::downgrade(self), until));
        }
    }

    fn leave_flight(&self) {
        let mut state = self.lock();
        state.in_flight = state.in_flight.saturating_sub(1);
        state.serve_queue(Instant::now());
    }

    fn lock(&self) -> MutexGuard<'_, PaceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve_after(pace: Weak<ProviderPace>, until: Instant) {
    sleep_until(until).await;
    if let Some(pace) = pace.upgrade() {
        pace.lock().serve_queue(Instant::now());
    }
}

impl PaceState {
    fn pause_left(&self, now: Instant) -> Duration {
        let until = self.pause.map(|pause| pause.until.saturating_duration_since(now));
        until.unwrap_or_default()
    }

    fn is_paused(&self, now: Instant) -> bool {
        self.pause.is_some_and(|pause| now < pause.until)
    }

    fn is_open(&self, now: Instant) -> bool {
        self.in_flight < self.width && !self.is_paused(now)
    }

    /// Duration of all pauses so far.
    fn paused_time(&self, now: Instant) -> Duration {
        let current = self.pause.map(|pause| pause.until.min(now).duration_since(pause.since));
        self.paused + current.unwrap_or_default()
    }

    fn extend_pause(&mut self, now: Instant, until: Instant) {
        match &mut self.pause {
            Some(pause) if now < pause.until => pause.until = pause.until.max(until),
            _ => {
                self.paused = self.paused_time(now);
                self.pause = Some(ProviderPause { since: now, until });
            }
        }
    }

    fn serve_queue(&mut self, now: Instant) {
        while self.is_open(now) {
            let Some((_, first)) = self.waiting.pop_first() else { return };
            if first.send(()).is_ok() {
                self.in_flight += 1;
            }
        }
    }
}

/// A waiting call. Dropping it leaves the queue.
#[derive(Debug)]
struct QueuePlace {
    pace: Arc<ProviderPace>,
    number: u64,
    served: oneshot::Receiver<()>,
    is_over: bool,
}

impl QueuePlace {
    fn take_permit(mut self) -> PacePermit {
        self.is_over = true;
        PacePermit(Arc::clone(&self.pace))
    }

    /// Goes although a pause is on.
    fn leave_and_go(mut self) -> PacePermit {
        let mut state = self.pace.lock();
        if state.waiting.remove(&self.number).is_some() {
            state.in_flight += 1;
        }
        drop(state);
        self.is_over = true;
        PacePermit(Arc::clone(&self.pace))
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.pace.lock();
        // Permits are given under this lock, so none can arrive after this check.
        if state.waiting.remove(&self.number).is_none() && self.served.try_recv().is_ok() {
            state.in_flight = state.in_flight.saturating_sub(1);
        }
        state.serve_queue(Instant::now());
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
