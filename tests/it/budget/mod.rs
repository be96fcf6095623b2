//! Hundreds of councils at once, with prices, failures and bills by chance: none spends what
//! it may not.
//!
//! The clock is real, because the journal's writer lives on a thread that a paused clock
//! would not wait for; the waits are those of retries and timeouts, all at the same time.

mod chance;
mod hall;
mod kept;
mod ledger;
