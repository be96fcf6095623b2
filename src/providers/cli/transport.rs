//! CLI transport: runs an agent program once per call, parses its output, and classifies its errors
//! by the server's status if known, else by known phrases.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio::time::timeout;

use super::program::{AgentProgram, InputFile, PathDelivery, ProgramInvocation};
use crate::domain::ask::CallErrorType;
use crate::providers::process::{ChildEnvironment, ProcessGroup, ScratchFolder, SupervisorBinary};
use crate::providers::provider::Provider;
use crate::providers::request::{CallError, CallReply, CallRequest};
use crate::providers::sentence::clean_output;

/// Calls a model through an agent program, run once per call.
#[derive(Debug, Clone)]
pub struct CliTransport {
    provider: Arc<Provider>,
    /// Variables the program's environment is selected from.
    ambient: ChildEnvironment,
    supervisor: Option<SupervisorBinary>,
}

impl CliTransport {
    pub fn new(provider: Arc<Provider>) -> Self {
        Self::with_environment(provider, ChildEnvironment::from_this_process())
    }

    /// Like [`Self::new`], with another environment than that of this process.
    pub fn with_environment(provider: Arc<Provider>, ambient: ChildEnvironment) -> Self {
        Self { provider, ambient, supervisor: SupervisorBinary::for_this_process() }
    }

    /// Replaces the supervisor.
    #[must_use]
    pub fn with_supervisor(self, supervisor: Option<SupervisorBinary>) -> Self {
        Self { supervisor, ..self }
    }

    /// Dropping the future kills the program and all its descendants.
    pub async fn send(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        let (program, words) = AgentProgram::for_provider(&self.provider)
            .ok_or_else(|| self.missing_program_error())?;
        let (first, leading) = words.split_first().ok_or_else(|| self.missing_program_error())?;
        let mut environment = self.build_environment(program);
        let secrets = self.secret_values();

        let invocation = program.build_invocation(&self.provider.model, &request.messages);
        let mut arguments: Vec<OsString> = leading.iter().map(OsString::from).collect();
        let scratch = prepare_scratch(&invocation, &mut arguments, &mut environment)
            .map_err(|error| folder_error(&error))?;
        let supervisor = self.supervisor.as_ref();
        let group = ProcessGroup::start(first, &arguments, &environment, scratch, supervisor)?;
        let talk = group.run_to_end(&invocation.input).await?;
        let name = Path::new(first).file_name().unwrap_or_default().to_string_lossy();
        program.parse_output(&talk).map_err(|error| CallError {
            message: format!(
                "`{}`: {}",
                clean_output(&name, &[]),
                clean_output(&error.message, &secrets)
            ),
            ..error
        })
    }

    /// Runs `--version`. Returns `None` for an unknown program, which might take the argument for a
    /// prompt.
    pub async fn read_version(&self, time_max: Duration) -> Result<Option<String>, CallError> {
        let (program, words) = AgentProgram::for_provider(&self.provider)
            .ok_or_else(|| self.missing_program_error())?;
        let (first, leading) = words.split_first().ok_or_else(|| self.missing_program_error())?;
        if program == AgentProgram::Plain {
            return Ok(None);
        }
        let arguments: Vec<OsString> =
            leading.iter().map(OsString::from).chain(["--version".into()]).collect();
        let scratch = ScratchFolder::new().map_err(|error| folder_error(&error))?;
        let environment = self.ambient.select_for(program.own_prefixes());
        let supervisor = self.supervisor.as_ref();
        let group = ProcessGroup::start(first, &arguments, &environment, scratch, supervisor)?;
        let talk = timeout(time_max, group.run_to_end("")).await.map_err(|_| {
            let message = format!("it did not tell its version within {time_max:?}");
            CallError::new(CallErrorType::Timeout, message)
        })??;
        let said =
            clean_output(&String::from_utf8_lossy(&talk.stdout), &environment.secret_values());
        if talk.succeeded {
            return Ok(Some(said));
        }
        let said = clean_output(&talk.stderr, &environment.secret_values());
        let message = format!("it cannot tell its version ({}): {said}", talk.ending);
        Err(CallError::new(CallErrorType::Unknown, message))
    }

    /// Returns values that must not appear in the record: the key, and variables that look like
    /// secrets.
    pub(in crate::providers) fn secret_values(&self) -> Vec<String> {
        let key = self.provider.key.iter().map(|key| key.expose_secret().to_owned());
        let given = AgentProgram::for_provider(&self.provider)
            .map(|(program, _)| self.build_environment(program));
        key.chain(given.iter().flat_map(ChildEnvironment::secret_values)).collect()
    }

    /// Adds the provider's key to the environment under its configured name.
    fn build_environment(&self, program: AgentProgram) -> ChildEnvironment {
        let mut environment = self.ambient.select_for(program.own_prefixes());
        if let (Some(name), Some(key)) = (&self.provider.key_variable, &self.provider.key) {
            environment.set(name, key.expose_secret());
        }
        environment
    }

    fn missing_program_error(&self) -> CallError {
        let name = &self.provider.name;
        CallError::new(
            CallErrorType::Unknown,
            format!("no program is known for the provider `{name}`"),
        )
    }
}

fn folder_error(error: &io::Error) -> CallError {
    CallError::new(CallErrorType::Unknown, format!("no folder to run a program in: {error}"))
}

/// Writes the program's files and adds their paths to arguments or variables.
fn prepare_scratch(
    invocation: &ProgramInvocation,
    arguments: &mut Vec<OsString>,
    environment: &mut ChildEnvironment,
) -> io::Result<ScratchFolder> {
    let scratch = ScratchFolder::new()?;
    arguments.extend(invocation.arguments.iter().cloned());
    for (name, value) in &invocation.variables {
        environment.set(name, value);
    }
    for InputFile { name, text, delivery: told } in &invocation.files {
        let path = scratch.write_file(name, text)?;
        match told {
            PathDelivery::Argument(flag) => arguments.extend([flag.into(), path.into()]),
            PathDelivery::Variable(variable) => environment.set(variable, path),
            PathDelivery::DefaultPath => {}
        }
    }
    Ok(scratch)
}
