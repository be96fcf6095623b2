//! Child processes of transports: environment, input and output, supervision, cleanup.
//!
//! A [`ProcessGroup`] is one program with all its descendants. **Invariant:** when its owner is
//! dropped or this process dies, all of them are killed and reaped, and their scratch folder is
//! removed. On Linux a supervisor process does that; elsewhere only the process group is killed.

pub mod child_environment;
pub mod cleanup;
pub mod process_group;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "supervisors use the rest"))]
pub mod scratch_folder;
pub mod supervisor;
#[cfg(target_os = "linux")]
pub mod supervisor_main;
