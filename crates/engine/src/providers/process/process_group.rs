//! [`ProcessGroup`]: a running agent program or MCP server with all its descendants: how it is
//! started, how its input and output are exchanged, how it is killed and reaped.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use plenary_core::model::ask::CallErrorType;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::providers::process::child_environment::ChildEnvironment;
use crate::providers::process::cleanup::kill_marked;
use crate::providers::process::scratch_folder::ScratchFolder;
use crate::providers::process::supervisor::{ProgramOutcome, SupervisorBinary};
use crate::providers::redact::clean_output;
use crate::providers::transport::CallError;

/// The supervisor kills for at most 20 seconds and then removes a folder.
const SUPERVISOR_TIME_MAX: Duration = Duration::from_secs(60);

/// Dropping it kills the program and all its descendants.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    pub(crate) child: Option<Child>,
    guard: GroupKiller,
    scratch: Option<ScratchFolder>,
    program: String,
}

/// How the program is killed.
#[derive(Debug)]
enum GroupKiller {
    /// The child is a supervisor; it kills the program when this process releases the lock or dies.
    Supervisor,
    /// The child is the program; this process kills its group.
    Leader(GroupLeader),
}

/// Id of the process group while it is certainly ours. The system may reuse the id once the leader
/// is reaped and the group is dead.
#[derive(Debug)]
struct GroupLeader(Option<Pid>);

impl GroupLeader {
    /// Kills the whole group. An error means that it is gone already.
    fn kill_group(&mut self) {
        if let Some(leader) = self.0.take() {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl ProcessGroup {
    /// Starts a program. With a supervisor, a failure to start it is known only after
    /// [`Self::wait_for_exit`].
    pub(crate) fn start(
        program: &str,
        arguments: &[OsString],
        environment: &ChildEnvironment,
        scratch: ScratchFolder,
        supervisor: Option<&SupervisorBinary>,
    ) -> Result<Self, CallError> {
        let failed = |error: io::Error| start_error(program, &error);
        let path = resolve_program(program).map_err(failed)?;
        let mut command = match supervisor {
            Some(supervisor) => {
                let mut command = Command::new(supervisor.executable_path());
                command
                    .arg0("plenary")
                    .args(SupervisorBinary::leading_arguments(scratch.as_path(), &path));
                command
            }
            None => Command::new(&path),
        };
        command
            .args(arguments)
            .env_clear()
            .envs(environment.iter())
            .env("TERM", "dumb")
            .env("NO_COLOR", "1")
            .current_dir(scratch.work_folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if supervisor.is_none() {
            // `TMPDIR` marks descendants. The supervisor sets it for the program only.
            command.env("TMPDIR", scratch.temp_folder()).process_group(0).kill_on_drop(true);
        }
        let child = command.spawn().map_err(failed)?;
        let guard = match supervisor {
            Some(_) => GroupKiller::Supervisor,
            None => {
                let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
                GroupKiller::Leader(GroupLeader(leader))
            }
        };
        let program = program.to_owned();
        Ok(Self { child: Some(child), guard, scratch: Some(scratch), program })
    }

    /// Takes standard input and output; `None` the second time.
    pub(crate) fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        let child = self.child.as_mut()?;
        child.stdin.take().zip(child.stdout.take())
    }

    /// Takes standard error; `None` the second time.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.as_mut()?.stderr.take()
    }

    /// Waits until the program and all its descendants have ended.
    pub(crate) async fn wait_for_exit(&mut self) -> Result<ExitStatus, CallError> {
        let (Some(child), Some(scratch)) = (self.child.as_mut(), self.scratch.as_mut()) else {
            return Err(output_error(&io::Error::other("it has ended already")));
        };
        let status = child.wait().await.map_err(|error| output_error(&error))?;
        match &mut self.guard {
            GroupKiller::Leader(leader) => {
                // Descendants still running would keep the output open.
                leader.kill_group();
                Ok(status)
            }
            GroupKiller::Supervisor => match scratch.read_outcome().filter(|_| status.success()) {
                Some(ProgramOutcome::Ended(status)) => Ok(status),
                Some(ProgramOutcome::NotStarted(code)) => {
                    Err(start_error(&self.program, &io::Error::from_raw_os_error(code)))
                }
                None => {
                    // The supervisor was killed. Marked descendants would keep the output open.
                    kill_marked(&scratch.temp_folder());
                    Err(lost_supervisor_error(&self.program, status))
                }
            },
        }
    }

    /// Ends the program now, and returns an error if it was never started.
    pub(crate) async fn shut_down(mut self) -> Result<(), CallError> {
        match &mut self.guard {
            GroupKiller::Leader(leader) => leader.kill_group(),
            GroupKiller::Supervisor => {
                self.scratch.iter_mut().for_each(ScratchFolder::release_lock)
            }
        }
        // After this timeout the drop handler waits in the background.
        timeout(SUPERVISOR_TIME_MAX, self.wait_for_exit())
            .await
            .map_or(Ok(()), |ended| ended.map(drop))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let (Some(child), Some(mut scratch)) = (self.child.take(), self.scratch.take()) else {
            return;
        };
        // Reap the child, and remove the folder only after the last process could write to it.
        // Without a runtime this process is about to exit.
        match (&mut self.guard, Handle::try_current()) {
            (GroupKiller::Leader(leader), runtime) => {
                leader.kill_group();
                if let Ok(runtime) = runtime {
                    runtime.spawn(remove_after_exit(child, scratch));
                }
            }
            (GroupKiller::Supervisor, runtime) => {
                scratch.release_lock();
                if let Ok(runtime) = runtime {
                    runtime.spawn(clean_up_after_supervisor(child, scratch));
                }
            }
        }
    }
}

async fn remove_after_exit(mut child: Child, scratch: ScratchFolder) {
    let _ = child.wait().await;
    drop(scratch);
}

/// Waits for the supervisor, and cleans up itself if the supervisor did not.
async fn clean_up_after_supervisor(mut supervisor: Child, mut scratch: ScratchFolder) {
    if timeout(SUPERVISOR_TIME_MAX, supervisor.wait()).await.is_err() {
        let _ = supervisor.kill().await;
    }
    if scratch.reclaim_lock() {
        kill_marked(&scratch.temp_folder());
    }
}

/// A bare name is looked up on the PATH. A relative path is relative to our working folder, not to
/// the folder the program runs in.
fn resolve_program(program: &str) -> io::Result<PathBuf> {
    if program.contains('/') { std::path::absolute(program) } else { Ok(PathBuf::from(program)) }
}

pub(crate) fn start_error(program: &str, error: &io::Error) -> CallError {
    let program = clean_output(program, &[]);
    let message = if error.kind() == io::ErrorKind::NotFound {
        format!("the program `{program}` was not found")
    } else {
        format!("the program `{program}` could not be started: {error}")
    };
    CallError::new(CallErrorType::Unknown, message)
}

pub(crate) fn output_error(error: &io::Error) -> CallError {
    CallError::new(CallErrorType::Unknown, format!("cannot read the program's output: {error}"))
}

/// The supervisor is our own process; it ends early only if another process kills it.
pub(crate) fn lost_supervisor_error(program: &str, status: ExitStatus) -> CallError {
    let program = clean_output(program, &[]);
    let message = format!("the supervisor of `{program}` ended early: {status}");
    CallError::new(CallErrorType::Unknown, message)
}

/// Some million tokens with their events; no model writes that much in one turn.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes kept of standard error. Failing programs print the reason at the end.
const TAIL_BYTES_MAX: usize = 16 * 1024;

const READ_BYTES: usize = 8 * 1024;

/// Output and exit status of a program.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) succeeded: bool,
    /// Exit status for messages, such as `exit status: 1`.
    pub(crate) ending: String,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl ProcessGroup {
    /// Writes the input, reads the output and waits for the end. The caller sees the output as it
    /// comes.
    pub(crate) async fn run_to_end(
        mut self,
        input: &str,
        on_output: impl FnMut(&[u8]),
    ) -> Result<ProgramOutput, CallError> {
        let child =
            self.child.as_mut().ok_or_else(|| output_error(&io::Error::other("no child")))?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut tail = OutputTail::default();
        let ((), stdout, (), status) = tokio::try_join!(
            async { write_input(stdin, input).await.map_err(|error| output_error(&error)) },
            read_limited(stdout, on_output),
            async { tail.read_from(stderr).await.map_err(|error| output_error(&error)) },
            self.wait_for_exit(),
        )?;
        let ending = status.to_string();
        Ok(ProgramOutput { succeeded: status.success(), ending, stdout, stderr: tail.to_text() })
    }
}

/// A program may end without reading all of its input; that is not an error.
async fn write_input(stdin: Option<ChildStdin>, input: &str) -> io::Result<()> {
    let Some(mut stdin) = stdin else { return Ok(()) };
    match stdin.write_all(input.as_bytes()).await {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

async fn read_limited(
    source: Option<impl AsyncRead + Unpin>,
    mut on_output: impl FnMut(&[u8]),
) -> Result<Vec<u8>, CallError> {
    let mut bytes = Vec::new();
    let Some(mut source) = source else { return Ok(bytes) };
    loop {
        let before = bytes.len();
        let count = source.read_buf(&mut bytes).await.map_err(|error| output_error(&error))?;
        if count == 0 {
            return Ok(bytes);
        }
        on_output(bytes.get(before..).unwrap_or_default());
        if bytes.len() as u64 > OUTPUT_BYTES_MAX {
            let message = format!("the program wrote more than {OUTPUT_BYTES_MAX} bytes");
            return Err(CallError::new(CallErrorType::ParseError, message));
        }
    }
}

/// Last bytes of a program's standard error.
#[derive(Debug, Default)]
pub(crate) struct OutputTail {
    bytes: Vec<u8>,
}

impl OutputTail {
    pub(crate) async fn read_from(
        &mut self,
        source: Option<impl AsyncRead + Unpin>,
    ) -> io::Result<()> {
        let Some(mut source) = source else { return Ok(()) };
        let mut buffer = [0; READ_BYTES];
        loop {
            let count = source.read(&mut buffer).await?;
            if count == 0 {
                return Ok(());
            }
            self.bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let surplus = self.bytes.len().saturating_sub(TAIL_BYTES_MAX);
            self.bytes.drain(..surplus);
        }
    }

    pub(crate) fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
