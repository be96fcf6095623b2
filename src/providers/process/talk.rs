//! Exchange with a program: writes its input, reads its output within limits, waits for its end.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;

use super::ProcessGroup;
use super::message::output_error;
use crate::domain::ask::CallErrorType;
use crate::providers::request::CallError;

/// Some million tokens with their events; no model writes that much in one turn.
pub(in crate::providers) const OUTPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes kept of standard error. Failing programs print the reason at the end.
const TAIL_BYTES_MAX: usize = 16 * 1024;

const READ_BYTES: usize = 8 * 1024;

/// Output and exit status of a program.
#[derive(Debug)]
pub(in crate::providers) struct ProgramOutput {
    pub(in crate::providers) succeeded: bool,
    /// Exit status for messages, such as `exit status: 1`.
    pub(in crate::providers) ending: String,
    pub(in crate::providers) stdout: Vec<u8>,
    pub(in crate::providers) stderr: String,
}

impl ProcessGroup {
    /// Writes the input, reads the output and waits for the end.
    pub(in crate::providers) async fn run_to_end(
        mut self,
        input: &str,
    ) -> Result<ProgramOutput, CallError> {
        let child =
            self.child.as_mut().ok_or_else(|| output_error(&io::Error::other("no child")))?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut tail = OutputTail::default();
        let ((), stdout, (), status) = tokio::try_join!(
            async { write_input(stdin, input).await.map_err(|error| output_error(&error)) },
            read_limited(stdout),
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

async fn read_limited(source: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, CallError> {
    let mut bytes = Vec::new();
    let Some(source) = source else { return Ok(bytes) };
    source
        .take(OUTPUT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .await
        .map_err(|error| output_error(&error))?;
    if bytes.len() as u64 > OUTPUT_BYTES_MAX {
        let message = format!("the program wrote more than {OUTPUT_BYTES_MAX} bytes");
        return Err(CallError::new(CallErrorType::ParseError, message));
    }
    Ok(bytes)
}

/// Last bytes of a program's standard error.
#[derive(Debug, Default)]
pub(in crate::providers) struct OutputTail {
    bytes: Vec<u8>,
}

impl OutputTail {
    pub(in crate::providers) async fn read_from(
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

    pub(in crate::providers) fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
