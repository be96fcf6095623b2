//! Everyday use: short ids, lists, the gate, the first five minutes.

mod follow_ups;
mod gate;
mod interrupts;
mod lists;
mod refusals;
mod settings;
mod short_ids;
mod store_errors;
