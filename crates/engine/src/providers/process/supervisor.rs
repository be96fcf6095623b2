//! [`SupervisorBinary`]: the executable that supervises agent programs, normally this one, and the
//! outcome line it reports. Transports pass it to [`ProcessGroup`](super::ProcessGroup).

use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::str::FromStr;
use std::sync::OnceLock;

/// Internal first arguments; `main.rs` checks for them before it parses the command line.
pub(crate) const SUPERVISE: &str = "__supervise";
#[cfg(target_os = "linux")]
pub(crate) const LAUNCH: &str = "__launch";

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
    pub(crate) fn for_this_process() -> Option<Self> {
        OF_THIS_PROCESS.get().filter(|one| one.executable.exists()).cloned()
    }

    pub(crate) fn executable_path(&self) -> &Path {
        &self.executable
    }

    /// Arguments that precede the program's own.
    pub(crate) fn leading_arguments(folder: &Path, program: &Path) -> [OsString; 3] {
        [SUPERVISE.into(), folder.into(), program.into()]
    }
}

/// Path of the running executable, valid even after an update replaced the file.
pub(crate) fn this_executable() -> &'static Path {
    Path::new("/proc/self/exe")
}

const ENDED: &str = "ended";
const NOT_STARTED: &str = "not-started";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramOutcome {
    Ended(ExitStatus),
    /// The system could not start the program; the value is the error number.
    NotStarted(i32),
}

impl fmt::Display for ProgramOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(status) => writeln!(f, "{ENDED} {}", status.into_raw()),
            Self::NotStarted(code) => writeln!(f, "{NOT_STARTED} {code}"),
        }
    }
}

impl FromStr for ProgramOutcome {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        // A line without a line break was not written completely.
        let (word, number) =
            line.strip_suffix('\n').and_then(|line| line.split_once(' ')).ok_or(())?;
        let number: i32 = number.parse().map_err(|_| ())?;
        match word {
            ENDED => Ok(Self::Ended(ExitStatus::from_raw(number))),
            NOT_STARTED => Ok(Self::NotStarted(number)),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_as_it_was_written() {
        let statuses = [0, 256, 127 << 8, 9, 11 | 0x80];
        let ended = statuses.map(|raw| ProgramOutcome::Ended(ExitStatus::from_raw(raw)));
        for outcome in ended.into_iter().chain([ProgramOutcome::NotStarted(2)]) {
            assert_eq!(outcome.to_string().parse(), Ok(outcome));
        }
    }

    #[test]
    fn another_line_is_no_outcome() {
        for line in ["", "\n", "ended", "ended \n", "ended 1", "ended x\n", "begun 1\n"] {
            assert_eq!(line.parse::<ProgramOutcome>(), Err(()), "{line:?}");
        }
    }
}
