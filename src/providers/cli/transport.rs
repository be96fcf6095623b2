//! CLI transport: runs an agent program once per call, parses its output, and classifies its errors
//! by the server's status if known, else by known phrases.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio::time::timeout;

use super::program::{Attachment, Invocation, Program, Told};
use crate::domain::ask::ErrorType;
use crate::providers::process::{Environment, Group, Scratch, Supervisor};
use crate::providers::provider::Provider;
use crate::providers::request::{CallError, Received, Request};
use crate::providers::sentence::saying;

/// Calls a model through an agent program, run once per call.
#[derive(Debug, Clone)]
pub struct CliTransport {
    provider: Arc<Provider>,
    /// Variables the program's environment is selected from.
    ambient: Environment,
    supervisor: Option<Supervisor>,
}

impl CliTransport {
    pub fn new(provider: Arc<Provider>) -> Self {
        Self::with_environment(provider, Environment::of_this_process())
    }

    /// Like [`Self::new`], with another environment than that of this process.
    pub fn with_environment(provider: Arc<Provider>, ambient: Environment) -> Self {
        Self { provider, ambient, supervisor: Supervisor::of_this_process() }
    }

    /// Replaces the supervisor.
    #[must_use]
    pub fn supervised_by(self, supervisor: Option<Supervisor>) -> Self {
        Self { supervisor, ..self }
    }

    /// Dropping the future kills the program and all its descendants.
    pub async fn send(&self, request: &Request) -> Result<Received, CallError> {
        let (program, words) = Program::of(&self.provider).ok_or_else(|| self.no_program())?;
        let (first, leading) = words.split_first().ok_or_else(|| self.no_program())?;
        let mut environment = self.environment(program);
        let secrets = self.secrets();

        let invocation = program.invocation(&self.provider.model, &request.messages);
        let mut arguments: Vec<OsString> = leading.iter().map(OsString::from).collect();
        let scratch = prepare(&invocation, &mut arguments, &mut environment)
            .map_err(|error| no_folder(&error))?;
        let supervisor = self.supervisor.as_ref();
        let group = Group::start(first, &arguments, &environment, scratch, supervisor)?;
        let talk = group.converse(&invocation.input).await?;
        let name = Path::new(first).file_name().unwrap_or_default().to_string_lossy();
        program.read(&talk).map_err(|error| CallError {
            message: format!("`{}`: {}", saying(&name, &[]), saying(&error.message, &secrets)),
            ..error
        })
    }

    /// Runs `--version`. Returns `None` for an unknown program, which might take the argument for a
    /// prompt.
    pub async fn version(&self, time_max: Duration) -> Result<Option<String>, CallError> {
        let (program, words) = Program::of(&self.provider).ok_or_else(|| self.no_program())?;
        let (first, leading) = words.split_first().ok_or_else(|| self.no_program())?;
        if program == Program::Plain {
            return Ok(None);
        }
        let arguments: Vec<OsString> =
            leading.iter().map(OsString::from).chain(["--version".into()]).collect();
        let scratch = Scratch::new().map_err(|error| no_folder(&error))?;
        let environment = self.ambient.narrowed(program.own_prefixes());
        let supervisor = self.supervisor.as_ref();
        let group = Group::start(first, &arguments, &environment, scratch, supervisor)?;
        let talk = timeout(time_max, group.converse("")).await.map_err(|_| {
            let message = format!("it did not tell its version within {time_max:?}");
            CallError::new(ErrorType::Timeout, message)
        })??;
        let said = saying(&String::from_utf8_lossy(&talk.stdout), &environment.secrets());
        if talk.succeeded {
            return Ok(Some(said));
        }
        let said = saying(&talk.stderr, &environment.secrets());
        let message = format!("it cannot tell its version ({}): {said}", talk.ending);
        Err(CallError::new(ErrorType::Unknown, message))
    }

    /// Returns values that must not appear in the record: the key, and variables that look like
    /// secrets.
    pub(in crate::providers) fn secrets(&self) -> Vec<String> {
        let key = self.provider.key.iter().map(|key| key.expose_secret().to_owned());
        let given = Program::of(&self.provider).map(|(program, _)| self.environment(program));
        key.chain(given.iter().flat_map(Environment::secrets)).collect()
    }

    /// Adds the provider's key to the environment under its configured name.
    fn environment(&self, program: Program) -> Environment {
        let mut environment = self.ambient.narrowed(program.own_prefixes());
        if let (Some(name), Some(key)) = (&self.provider.key_variable, &self.provider.key) {
            environment.set(name, key.expose_secret());
        }
        environment
    }

    fn no_program(&self) -> CallError {
        let name = &self.provider.name;
        CallError::new(ErrorType::Unknown, format!("no program is known for the provider `{name}`"))
    }
}

fn no_folder(error: &io::Error) -> CallError {
    CallError::new(ErrorType::Unknown, format!("no folder to run a program in: {error}"))
}

/// Writes the program's files and adds their paths to arguments or variables.
fn prepare(
    invocation: &Invocation,
    arguments: &mut Vec<OsString>,
    environment: &mut Environment,
) -> io::Result<Scratch> {
    let scratch = Scratch::new()?;
    arguments.extend(invocation.arguments.iter().cloned());
    for (name, value) in &invocation.variables {
        environment.set(name, value);
    }
    for Attachment { name, text, told } in &invocation.files {
        let path = scratch.file(name, text)?;
        match told {
            Told::Argument(flag) => arguments.extend([flag.into(), path.into()]),
            Told::Variable(variable) => environment.set(variable, path),
            Told::Place => {}
        }
    }
    Ok(scratch)
}
