//! CLI transport: runs an agent program once per call, parses its output, and classifies its errors
//! by the server's status if known, else by known phrases.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plenary_core::model::ask::{CallErrorType, RequestParameter};
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::time::timeout;

use crate::providers::call_progress::MaskedSink;
use crate::providers::cli::output_events::LineDecoder;
use crate::providers::cli::program::{
    AgentProgram, InputFile, OutputForm, PathDelivery, ProgramInvocation,
};
use crate::providers::pace::ProviderPace;
use crate::providers::process::child_environment::ChildEnvironment;
use crate::providers::process::process_group::{ProcessGroup, ProgramOutput};
use crate::providers::process::scratch_folder::ScratchFolder;
use crate::providers::process::supervisor::SupervisorBinary;
use crate::providers::redact::clean_output;
use crate::providers::transport::{CallError, CallReply, CallRequest, Provider};

/// Calls a model through an agent program, run once per call.
#[derive(Debug, Clone)]
pub struct CliTransport {
    provider: Arc<Provider>,
    /// Variables the program's environment is selected from.
    ambient: ChildEnvironment,
    supervisor: Option<SupervisorBinary>,
    pub(crate) pace: Arc<ProviderPace>,
    /// Set when the program does not know the options for a stream; later calls do without.
    stream_refused: Arc<AtomicBool>,
}

impl CliTransport {
    pub fn new(provider: Arc<Provider>) -> Self {
        Self::with_environment(provider, ChildEnvironment::from_this_process())
    }

    /// Like [`Self::new`], with another environment than that of this process.
    pub fn with_environment(provider: Arc<Provider>, ambient: ChildEnvironment) -> Self {
        let pace = Arc::new(ProviderPace::new(provider.max_in_flight));
        let supervisor = SupervisorBinary::for_this_process();
        Self { provider, ambient, supervisor, pace, stream_refused: Arc::default() }
    }

    /// Shares the pace of the provider with other transports of the process.
    #[must_use]
    pub(crate) fn with_pace(self, pace: Arc<ProviderPace>) -> Self {
        Self { pace, ..self }
    }

    /// Replaces the supervisor.
    #[must_use]
    pub fn with_supervisor(self, supervisor: Option<SupervisorBinary>) -> Self {
        Self { supervisor, ..self }
    }

    /// Dropping the future kills the program and all its descendants. A program that does not know
    /// the options for a stream fails, and the next call goes without them.
    pub async fn send(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        let (program, words) = AgentProgram::for_provider(&self.provider)
            .ok_or_else(|| self.missing_program_error())?;
        let (first, leading) = words.split_first().ok_or_else(|| self.missing_program_error())?;
        let leading: Vec<OsString> = leading.iter().map(OsString::from).collect();
        let output = match self.stream_refused.load(Ordering::Relaxed) {
            true => OutputForm::Whole,
            false => OutputForm::Streamed,
        };
        let talk = self.run_program(program, first, &leading, request, output).await?;
        let name = Path::new(first).file_name().unwrap_or_default().to_string_lossy();
        let parsed = if output == OutputForm::Streamed && program.rejects_stream(&talk) {
            self.stream_refused.store(true, Ordering::Relaxed);
            let error = CallError::new(CallErrorType::BadRequest, exit_error(&talk).message);
            Err(CallError { refused: Some(RequestParameter::Stream), ..error })
        } else {
            program.parse_output(&talk, output)
        };
        match &parsed {
            Ok(_) => self.pace.note_answer(),
            Err(error) if error.error_type == CallErrorType::RateLimit => {
                self.pace.note_busy(None);
            }
            Err(_) => {}
        }
        parsed.map_err(|error| CallError {
            message: format!(
                "`{}`: {}",
                clean_output(&name, &[]),
                clean_output(&error.message, &self.secret_values())
            ),
            ..error
        })
    }

    /// The stream, if the program does not know its options.
    pub(crate) fn refused_parameters(&self) -> Vec<RequestParameter> {
        let is_refused = self.stream_refused.load(Ordering::Relaxed);
        is_refused.then_some(RequestParameter::Stream).into_iter().collect()
    }

    pub(crate) fn restore_refused(&self, refused: &[RequestParameter]) {
        let is_refused = refused.contains(&RequestParameter::Stream);
        self.stream_refused.fetch_or(is_refused, Ordering::Relaxed);
    }

    /// Runs the program once. Its events are shown as they come, and each restarts the timer.
    async fn run_program(
        &self,
        program: AgentProgram,
        path: &str,
        leading: &[OsString],
        request: &CallRequest,
        output: OutputForm,
    ) -> Result<ProgramOutput, CallError> {
        let mut environment = self.build_environment(program);
        let invocation = program.build_invocation(&self.provider.model, &request.messages, output);
        let mut arguments = leading.to_vec();
        let scratch = prepare_scratch(&invocation, &mut arguments, &mut environment)
            .map_err(|error| folder_error(&error))?;
        let supervisor = self.supervisor.as_ref();
        let group = ProcessGroup::start(path, &arguments, &environment, scratch, supervisor)?;
        let mut shown = MaskedSink::new(request.partial_text.as_ref(), self.secret_values());
        let mut lines = LineDecoder::default();
        let talk = group
            .run_to_end(&invocation.input, |bytes| {
                request.timer.restart();
                for line in lines.push_bytes(bytes) {
                    let text = program.text_of_event(&line);
                    request.timer.add_text(text.len());
                    shown.push_text(&text);
                }
            })
            .await?;
        shown.finish();
        Ok(talk)
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
        let talk = timeout(time_max, group.run_to_end("", |_| {})).await.map_err(|_| {
            let message = format!("it did not report its version within {time_max:?}");
            CallError::new(CallErrorType::Timeout, message)
        })??;
        let printed =
            clean_output(&String::from_utf8_lossy(&talk.stdout), &environment.secret_values());
        if talk.succeeded {
            return Ok(Some(printed));
        }
        let printed = clean_output(&talk.stderr, &environment.secret_values());
        let message = format!("it did not report its version ({}): {printed}", talk.ending);
        Err(CallError::new(CallErrorType::Unknown, message))
    }

    /// Returns values that must not appear in the record: the key, and variables that look like
    /// secrets.
    pub(crate) fn secret_values(&self) -> Vec<String> {
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
            format!(
                "no program is known for the provider `{name}`: set its `command` in council.yaml"
            ),
        )
    }
}

fn folder_error(error: &io::Error) -> CallError {
    CallError::new(
        CallErrorType::Unknown,
        format!("cannot create a folder to run the program in: {error}"),
    )
}

/// Writes the program's files and adds their paths to arguments or variables.
fn prepare_scratch(
    invocation: &ProgramInvocation,
    arguments: &mut Vec<OsString>,
    environment: &mut ChildEnvironment,
) -> io::Result<ScratchFolder> {
    let scratch = ScratchFolder::new()?;
    arguments.extend(invocation.arguments.iter().cloned());
    for (name, value) in invocation.variables {
        environment.set(name, value);
    }
    for InputFile { name, text, delivery: result } in &invocation.files {
        let path = scratch.write_file(name, text)?;
        match result {
            PathDelivery::Argument(flag) => arguments.extend([flag.into(), path.into()]),
            PathDelivery::Variable(variable) => environment.set(variable, path),
            PathDelivery::DefaultPath => {}
        }
    }
    Ok(scratch)
}

/// Lower-case phrases; the first match decides.
const ERROR_PHRASES: [(&str, CallErrorType); 32] = [
    ("not logged in", CallErrorType::Auth),
    ("/login", CallErrorType::Auth),
    ("set an auth method", CallErrorType::Auth),
    ("api key not valid", CallErrorType::Auth),
    ("invalid api key", CallErrorType::Auth),
    ("incorrect api key", CallErrorType::Auth),
    ("missing environment variable", CallErrorType::Auth),
    ("api_key environment variable", CallErrorType::Auth),
    ("failed to authenticate", CallErrorType::Auth),
    ("authentication", CallErrorType::Auth),
    ("unauthorized", CallErrorType::Auth),
    ("usage policy", CallErrorType::Refused),
    ("prompt is too long", CallErrorType::ContextTooLong),
    ("context window", CallErrorType::ContextTooLong),
    ("maximum context length", CallErrorType::ContextTooLong),
    ("maximum number of tokens", CallErrorType::ContextTooLong),
    ("rate limit", CallErrorType::RateLimit),
    ("usage limit", CallErrorType::RateLimit),
    ("too many requests", CallErrorType::RateLimit),
    ("quota", CallErrorType::RateLimit),
    ("overloaded", CallErrorType::ServerError),
    ("high demand", CallErrorType::ServerError),
    ("server-side issue", CallErrorType::ServerError),
    ("internal server error", CallErrorType::ServerError),
    ("unable to connect", CallErrorType::Network),
    ("connection failed", CallErrorType::Network),
    ("connection error", CallErrorType::Network),
    ("connection refused", CallErrorType::Network),
    ("error sending request", CallErrorType::Network),
    ("stream disconnected", CallErrorType::Network),
    ("fetch failed", CallErrorType::Network),
    ("econnrefused", CallErrorType::Network),
];

/// Classifies an error text, with the server's status if the program reported it.
pub(crate) fn classify_error(text: &str, status: Option<u64>) -> CallError {
    let (text, inner_status) = unwrap_server_error(text);
    let status = status.or(inner_status).or_else(|| find_status(&text));
    let lower = text.to_lowercase();
    let by_clue =
        ERROR_PHRASES.iter().find(|(clue, _)| lower.contains(clue)).map(|(_, found)| *found);
    // Some servers report an invalid key as 400, so phrases take precedence there.
    let error_type = match status {
        Some(400) => by_clue.unwrap_or(CallErrorType::BadRequest),
        Some(401 | 403) => CallErrorType::Auth,
        Some(408 | 504) => CallErrorType::Timeout,
        Some(413) => CallErrorType::ContextTooLong,
        Some(404 | 405 | 409 | 422) => CallErrorType::BadRequest,
        Some(429) => CallErrorType::RateLimit,
        Some(500..=599) => CallErrorType::ServerError,
        Some(_) | None => by_clue.unwrap_or(CallErrorType::Unknown),
    };
    let message = if text.trim().is_empty() { "it failed without a message" } else { text.trim() };
    CallError::new(error_type, message)
}

/// Error of a program that failed or whose output cannot be parsed.
pub(crate) fn exit_error(talk: &ProgramOutput) -> CallError {
    let printed = talk.stderr.trim();
    if talk.succeeded {
        return unreadable_error(
            "its output does not have the form that this program is known to write",
        );
    }
    let CallError { error_type, message, .. } = classify_error(last_lines(printed), None);
    CallError::new(error_type, format!("{}: {message}", talk.ending))
}

pub(crate) fn unreadable_error(message: &str) -> CallError {
    CallError::new(CallErrorType::ParseError, message)
}

/// Returns the last lines, which contain the error; earlier lines are progress and warnings.
fn last_lines(text: &str) -> &str {
    const LINES_MAX: usize = 4;
    let start = text.rmatch_indices('\n').nth(LINES_MAX - 1).map_or(0, |(place, _)| place);
    text.get(start..).unwrap_or(text)
}

/// Extracts message and status if the text is the server's JSON error.
fn unwrap_server_error(text: &str) -> (String, Option<u64>) {
    let document: Option<Value> = serde_json::from_str(text.trim()).ok();
    let error = document.as_ref().and_then(|document| document.get("error"));
    let message = error.and_then(|error| error.get("message")).and_then(Value::as_str);
    let status = error.and_then(|error| error.get("code")).and_then(Value::as_u64);
    message.map_or_else(|| (text.to_owned(), None), |message| (message.to_owned(), status))
}

/// Finds a status in a sentence such as `unexpected status 401 Unauthorized` or `last status: 429`.
fn find_status(text: &str) -> Option<u64> {
    let lower = text.to_lowercase();
    lower.split("status").skip(1).find_map(|rest| {
        let number = rest.trim_start_matches([':', ' ']).get(..3)?;
        number.parse().ok().filter(|status| (400..=599).contains(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_understood_by_its_status_then_by_its_words() {
        let check = |text: &str, status: Option<u64>, expected: CallErrorType| {
            assert_eq!(classify_error(text, status).error_type, expected, "{text:?} {status:?}");
        };
        check("anything", Some(401), CallErrorType::Auth);
        check("anything", Some(529), CallErrorType::ServerError);
        check("anything", Some(400), CallErrorType::BadRequest);
        check("API key not valid. Please pass a valid API key.", Some(400), CallErrorType::Auth);
        check("unexpected status 401 Unauthorized: x", None, CallErrorType::Auth);
        check(
            "exceeded retry limit, last status: 429 Too Many Requests",
            None,
            CallErrorType::RateLimit,
        );
        check("unexpected status 529 <unknown status code>", None, CallErrorType::ServerError);
        check("the status of 123 things", None, CallErrorType::Unknown);
        check("status", None, CallErrorType::Unknown);
        check("Prompt is too long", None, CallErrorType::ContextTooLong);
        check(r#"{"error":{"code":503,"message":"busy"}}"#, None, CallErrorType::ServerError);
        check(
            r#"{"error":{"code":"invalid","message":"no such model"}}"#,
            None,
            CallErrorType::Unknown,
        );
        check("", None, CallErrorType::Unknown);
    }

    #[test]
    fn the_servers_own_words_are_taken_out_of_their_envelope() {
        let error = classify_error(r#"{"error":{"code":500,"message":"the cat sat on it"}}"#, None);
        assert_eq!(error.message, "the cat sat on it");
    }
}
