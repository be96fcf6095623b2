//! A run, whatever its protocol: what it runs in, how it is drawn while it goes on, going on
//! with it, watching it, playing it back. Councils and the gate both stand on this.

pub(super) mod hall;
pub(super) mod keeping;
pub(super) mod outlets;
pub(super) mod presenting;
pub(super) mod progress;
pub(super) mod replay;
pub(super) mod resume;
mod since;
pub(super) mod typed;
pub(super) mod watch;
