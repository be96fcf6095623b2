//! Hundreds of random councils at once, with random prices, failures and bills: none overspends.
//!
//! The clock is real, because the journal's writer runs on a thread that a paused clock would not
//! wait for. The waits of retries and timeouts run in parallel.

mod harness;
mod ledger;
mod limits;
mod random_runs;
