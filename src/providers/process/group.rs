//! A foreign program with everything it starts, in a process group of its own.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;

use super::Environment;

/// A folder of the program's own: an empty one to work in, and beside it room for what it must
/// read or leaves behind. All of it goes when the program has ended.
#[derive(Debug)]
pub(in crate::providers) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    #[expect(clippy::disallowed_methods, reason = "in a fresh folder of our own")]
    pub(in crate::providers) fn new() -> io::Result<Self> {
        let scratch = Self { folder: tempfile::Builder::new().prefix("plenary-").tempdir()? };
        std::fs::create_dir_all(scratch.work())?;
        std::fs::create_dir_all(scratch.temporary())?;
        Ok(scratch)
    }

    /// Where the program runs.
    pub(in crate::providers) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Its `TMPDIR`: reports of crashes hold prompts and belong in no shared folder.
    fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// A file for the program to read, by a path relative to the scratch folder.
    #[expect(clippy::disallowed_methods, reason = "in a fresh folder of our own")]
    pub(in crate::providers) fn file(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

/// Dropping it ends the program and all that it started.
#[derive(Debug)]
pub(in crate::providers) struct Group {
    pub(super) child: Option<Child>,
    pub(super) leader: Leader,
    scratch: Option<Scratch>,
}

/// The group's number, for as long as it is surely ours: once its leader is reaped and the rest
/// is killed, the system may give the number to somebody else.
#[derive(Debug)]
pub(super) struct Leader(Option<Pid>);

impl Leader {
    /// Ends the whole group. One that is gone already is as it should be.
    pub(super) fn kill(&mut self) {
        if let Some(leader) = self.0.take() {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Group {
    pub(in crate::providers) fn start(
        program: &str,
        arguments: &[OsString],
        environment: &Environment,
        scratch: Scratch,
    ) -> io::Result<Self> {
        let mut command = Command::new(located(program)?);
        command
            .args(arguments)
            .env_clear()
            .envs(environment.iter())
            .env("TERM", "dumb")
            .env("NO_COLOR", "1")
            .env("TMPDIR", scratch.temporary())
            .current_dir(scratch.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let child = command.spawn()?;
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self { child: Some(child), leader: Leader(leader), scratch: Some(scratch) })
    }

    /// Its standard input and output, once.
    pub(in crate::providers) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        let child = self.child.as_mut()?;
        child.stdin.take().zip(child.stdout.take())
    }

    /// Its standard error, once.
    pub(in crate::providers) fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.as_mut()?.stderr.take()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.leader.kill();
        let (Some(mut child), scratch) = (self.child.take(), self.scratch.take()) else { return };
        // Somebody has to wait for the dead, and the folder is removed after the last of them
        // could write to it. Without a runtime the process is about to end anyway.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                let _ = child.wait().await;
                drop(scratch);
            });
        }
    }
}

/// A bare name is looked up on the PATH; a relative path is meant from where we are, not from the
/// folder the program will run in.
fn located(program: &str) -> io::Result<PathBuf> {
    if program.contains('/') { std::path::absolute(program) } else { Ok(PathBuf::from(program)) }
}
