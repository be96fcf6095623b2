//! Foreign programs: what they inherit, how they are spoken to, how they end.
//!
//! A [`Group`] is one program with everything it starts. **Invariant:** when the
//! group's owner is dropped or its process dies, all of it is killed and reaped, and its
//! folder is removed. On Linux a supervisor does that, elsewhere the process group.

#[cfg(target_os = "linux")]
mod descendants;
mod environment;
mod group;
mod marked;
mod message;
mod outcome;
mod remove;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "supervisors use the rest"))]
mod scratch;
#[cfg(target_os = "linux")]
mod supervise;
mod supervisor;
mod talk;

pub use environment::Environment;
pub(super) use group::Group;
pub(super) use scratch::Scratch;
pub use scratch::sweep_scratch_folders;
#[cfg(target_os = "linux")]
pub use supervise::run_supervisor;
pub use supervisor::Supervisor;
pub(super) use talk::{OUTPUT_BYTES_MAX, Tail, Talk};
