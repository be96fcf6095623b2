//! Child processes of transports: environment, input and output, supervision, cleanup.
//!
//! A [`ProcessGroup`] is one program with all its descendants. **Invariant:** when its owner is
//! dropped or this process dies, all of them are killed and reaped, and their scratch folder is
//! removed. On Linux a supervisor process does that; elsewhere only the process group is killed.

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

pub use environment::ChildEnvironment;
pub(super) use group::ProcessGroup;
pub(super) use scratch::ScratchFolder;
pub use scratch::sweep_scratch_folders;
#[cfg(target_os = "linux")]
pub use supervise::run_supervisor;
pub use supervisor::SupervisorBinary;
pub(super) use talk::{OUTPUT_BYTES_MAX, OutputTail, ProgramOutput};
