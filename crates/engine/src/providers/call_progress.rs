//! Progress of one call: its silence timeout, and the text that arrives before the reply is whole.

use std::fmt::{Debug, Formatter, Result as FmtResult};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::providers::redact::{mask_secrets, secret_end_start};

/// Ends a call after a silence: the time to the first byte, and the time between two chunks. A
/// server that does not stream has this time for its whole answer. It also knows what arrived, so
/// that a call that breaks off can be estimated.
#[derive(Debug, Clone)]
pub struct SilenceTimer {
    silence: Duration,
    state: Arc<Mutex<TimerState>>,
}

#[derive(Debug, Clone, Copy)]
struct TimerState {
    deadline: Instant,
    sent_at: Instant,
    first_byte: Option<Duration>,
    text_bytes: usize,
}

impl TimerState {
    fn at_sending(now: Instant, deadline: Instant) -> Self {
        Self { deadline, sent_at: now, first_byte: None, text_bytes: 0 }
    }
}

impl SilenceTimer {
    pub fn start(silence: Duration) -> Self {
        let now = Instant::now();
        let state = TimerState::at_sending(now, now + silence);
        Self { silence, state: Arc::new(Mutex::new(state)) }
    }

    pub fn silence(&self) -> Duration {
        self.silence
    }

    /// A call is sent: nothing of its reply has arrived. The time left is not changed.
    pub(crate) fn mark_sent(&self) {
        self.change_state(|state| {
            *state = TimerState::at_sending(Instant::now(), state.deadline);
        });
    }

    /// Gives the server the whole time again, because a chunk arrived.
    pub(crate) fn restart(&self) {
        let now = Instant::now();
        self.change_state(|state| {
            state.deadline = now + self.silence;
            state.first_byte.get_or_insert(now - state.sent_at);
        });
    }

    /// Counts text of the reply that arrived.
    pub(crate) fn add_text(&self, bytes: usize) {
        self.change_state(|state| state.text_bytes += bytes);
    }

    /// Time from sending to the first byte of the answer.
    pub(crate) fn first_byte(&self) -> Option<Duration> {
        self.read_state().first_byte
    }

    /// Bytes of the reply that arrived.
    pub(crate) fn text_bytes(&self) -> usize {
        self.read_state().text_bytes
    }

    /// `sent nothing for 3 s`, of a server that was silent for too long.
    pub(crate) fn describe_silence(&self) -> String {
        let seconds = self.silence.as_secs_f64();
        match self.text_bytes() {
            0 => format!("sent nothing for {seconds} s"),
            bytes => format!("wrote {bytes} bytes, then nothing for {seconds} s"),
        }
    }

    /// Adds time that the call spent waiting for its budget or its turn.
    pub(crate) fn extend(&self, waited: Duration) {
        self.change_state(|state| state.deadline += waited);
    }

    pub(crate) fn time_left(&self) -> Duration {
        self.deadline().saturating_duration_since(Instant::now())
    }

    /// Returns when the server has been silent for too long.
    pub(crate) async fn expired(&self) {
        loop {
            let deadline = self.deadline();
            sleep_until(deadline).await;
            if self.deadline() <= deadline {
                return;
            }
        }
    }

    fn deadline(&self) -> Instant {
        self.read_state().deadline
    }

    fn read_state(&self) -> TimerState {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change_state(&self, change: impl FnOnce(&mut TimerState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Receives the parts of a reply as they arrive. They are shown and never journalled.
#[derive(Clone)]
pub struct PartialTextSink(Arc<dyn Fn(&str) + Send + Sync>);

impl PartialTextSink {
    pub fn new(receive: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(receive))
    }
}

impl Debug for PartialTextSink {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("PartialTextSink")
    }
}

/// Passes partial text on without secrets. A server may echo its key, also in two chunks, so an end
/// that is a part of a secret waits for the next chunk.
#[derive(Debug)]
pub(crate) struct MaskedSink<'a> {
    sink: Option<&'a PartialTextSink>,
    secrets: Vec<String>,
    waiting: String,
}

impl<'a> MaskedSink<'a> {
    pub(crate) fn new(sink: Option<&'a PartialTextSink>, secrets: Vec<String>) -> Self {
        Self { sink, secrets, waiting: String::new() }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        let Some(sink) = self.sink else { return };
        self.waiting.push_str(text);
        let kept = self.waiting.split_off(secret_end_start(&self.waiting, &self.secrets));
        let ready = mask_secrets(std::mem::replace(&mut self.waiting, kept), &self.secrets);
        if !ready.is_empty() {
            (sink.0)(&ready);
        }
    }

    /// Passes the rest on at the end of the reply.
    pub(crate) fn finish(self) {
        if let Some(sink) = self.sink.filter(|_| !self.waiting.is_empty()) {
            (sink.0)(&mask_secrets(self.waiting, &self.secrets));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_chunk_gives_the_server_the_whole_time_again() {
        let timer = SilenceTimer::start(Duration::from_millis(50));
        let (began, restarting) = (Instant::now(), timer.clone());
        let chunk = async move {
            tokio::time::sleep(Duration::from_millis(30)).await;
            restarting.restart();
        };
        tokio::join!(timer.expired(), chunk);
        assert!(began.elapsed() >= Duration::from_millis(80), "{:?}", began.elapsed());
    }

    /// What is shown after each chunk, and at the end.
    fn show_chunks(secret: &str, chunks: &[&str]) -> Vec<String> {
        let shown = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&shown);
        let sink = PartialTextSink::new(move |text| kept.lock().unwrap().push_str(text));
        let mut masked = MaskedSink::new(Some(&sink), vec![secret.to_owned()]);
        let take = || std::mem::take(&mut *shown.lock().unwrap());
        let mut parts: Vec<String> = chunks
            .iter()
            .map(|chunk| {
                masked.push_text(chunk);
                take()
            })
            .collect();
        masked.finish();
        parts.push(take());
        parts
    }

    #[test]
    fn a_secret_in_several_chunks_is_masked() {
        let secret = "sk-secret-123456";
        let check = |chunks: &[&str], expected: &str| {
            assert_eq!(show_chunks(secret, chunks).concat(), expected, "{chunks:?}");
        };
        check(
            &["The key is sk-se", "cret-123456, and", " the rest."],
            "The key is ***, and the rest.",
        );
        check(&["x sk-", "secret", "-123456"], "x ***");
        // Half of it, cut within, and a placeholder that is no secret.
        check(&["from within: cret-", "1234 and more"], "from within: *** and more");
        check(&["only sk-se", "ven"], "only sk-seven");
        for cut in 1..secret.len() {
            let (one, two) = secret.split_at(cut);
            check(&[one, two], "***");
        }
    }

    #[test]
    fn text_does_not_wait_for_the_length_of_a_secret() {
        let secret = format!("sk-proj-{}", "0A1b2C3d4E5f6".repeat(12));
        let chunks = ["Keep the plan: ", "it is cheaper, ", "and safe."];
        let shown = show_chunks(&secret, &chunks);
        let late = |part: &(usize, &&str)| chunks[part.0].len() - part.1.len();
        let parts: Vec<&str> = shown.iter().map(String::as_str).collect();
        assert_eq!(parts.concat(), chunks.concat());
        assert!(parts[..3].iter().enumerate().all(|part| late(&part) <= 2), "{parts:?}");
    }
}
