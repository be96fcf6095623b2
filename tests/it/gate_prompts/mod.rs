//! What the seats of a gate are sent, and that what others wrote stays in its fence.

mod house;
mod messages;
mod readers;
mod sealed;
