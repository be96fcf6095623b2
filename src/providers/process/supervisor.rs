//! How a process finds the executable that supervises agent programs: its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// First arguments that no user types; `main.rs` looks for them before anything else.
pub(super) const SUPERVISE: &str = "__supervise";
#[cfg(target_os = "linux")]
pub(super) const LAUNCH: &str = "__launch";

static OF_THIS_PROCESS: OnceLock<Supervisor> = OnceLock::new();

/// An executable whose `main` calls [`run_supervisor`](super::run_supervisor).
#[derive(Debug, Clone)]
pub struct Supervisor {
    executable: PathBuf,
}

impl Supervisor {
    /// Declares that this process's executable is one. Without a supervisor a program runs in
    /// a process group, which is weaker: see docs/agent-programs.md.
    pub fn use_this_executable() {
        if cfg!(target_os = "linux") {
            let _ = OF_THIS_PROCESS.set(Self::at(this_executable().to_owned()));
        }
    }

    /// Another executable: for tests, whose own executable is none.
    pub fn at(executable: PathBuf) -> Self {
        Self { executable }
    }

    /// The supervisor of this process, where the system has what it needs.
    pub(in crate::providers) fn of_this_process() -> Option<Self> {
        OF_THIS_PROCESS.get().filter(|one| one.executable.exists()).cloned()
    }

    pub(super) fn executable(&self) -> &Path {
        &self.executable
    }

    /// The arguments before those of the program.
    pub(super) fn leading_arguments(folder: &Path, program: &Path) -> [OsString; 3] {
        [SUPERVISE.into(), folder.into(), program.into()]
    }
}

/// The file that this process runs, also after an update put another one in its place.
pub(super) fn this_executable() -> &'static Path {
    Path::new("/proc/self/exe")
}
