//! From arguments to a batch. Reading never stops at the first fault.

mod batch;
mod items;
mod moves;
mod references;
mod updates;

pub use batch::read;
