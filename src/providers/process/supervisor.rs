//! [`SupervisorBinary`]: the executable that supervises agent programs, normally this one, and the
//! outcome line it reports. Transports pass it to [`ProcessGroup`](super::ProcessGroup).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Internal first arguments; `main.rs` checks for them before it parses the command line.
pub(super) const SUPERVISE: &str = "__supervise";
#[cfg(target_os = "linux")]
pub(super) const LAUNCH: &str = "__launch";

static OF_THIS_PROCESS: OnceLock<SupervisorBinary> = OnceLock::new();

/// An executable whose `main` calls [`run_supervisor`](super::run_supervisor).
#[derive(Debug, Clone)]
pub struct SupervisorBinary {
    executable: PathBuf,
}

impl SupervisorBinary {
    /// Declares that this executable can act as supervisor. Without one, a program runs in a plain
    /// process group, which is weaker: see docs/agent-programs.md.
    pub fn use_this_executable() {
        if cfg!(target_os = "linux") {
            let _ = OF_THIS_PROCESS.set(Self::from_path(this_executable().to_owned()));
        }
    }

    /// Uses another executable. For tests, whose own executable is not a supervisor.
    pub fn from_path(executable: PathBuf) -> Self {
        Self { executable }
    }

    /// Returns this process's supervisor if its executable exists.
    pub(in crate::providers) fn for_this_process() -> Option<Self> {
        OF_THIS_PROCESS.get().filter(|one| one.executable.exists()).cloned()
    }

    pub(super) fn executable_path(&self) -> &Path {
        &self.executable
    }

    /// Arguments that precede the program's own.
    pub(super) fn leading_arguments(folder: &Path, program: &Path) -> [OsString; 3] {
        [SUPERVISE.into(), folder.into(), program.into()]
    }
}

/// Path of the running executable, valid even after an update replaced the file.
pub(super) fn this_executable() -> &'static Path {
    Path::new("/proc/self/exe")
}
