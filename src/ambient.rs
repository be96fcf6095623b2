//! Time and chance, from outside the core, so that a test can hold both still.

use std::fmt::Debug;

use crate::domain::time::Moment;

/// What a decision takes from the world around it.
pub trait Ambient: Debug + Send + Sync {
    fn now(&self) -> Moment;

    /// Sixty-four random bits.
    fn chance(&self) -> u64;
}

/// The machine's clock and randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Ambient for Machine {
    #[expect(clippy::disallowed_methods, reason = "the one clock")]
    fn now(&self) -> Moment {
        Moment::new(jiff::Timestamp::now())
    }

    fn chance(&self) -> u64 {
        // Without a source of randomness the clock must do: a seed has to differ, not to be secret.
        getrandom::u64().unwrap_or_else(|_| {
            self.now()
                .to_string()
                .bytes()
                .fold(0, |seed: u64, byte| seed.rotate_left(7) ^ u64::from(byte))
        })
    }
}
