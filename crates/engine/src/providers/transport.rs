//! [`Transport`]: one enum over all ways to call a model, with the [`Provider`](super::Provider) it
//! calls, its request, reply and error. Config builds providers; the engine calls
//! [`Transport::send`].

use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::{
    AskMessages, AskPurpose, CallErrorType, FinishReason, RequestParameter, TokenUsage,
    TransportKind,
};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{EffortLevel, SeatRole, SeatTimeouts, TokenPrice};
use plenary_core::model::string_enum::words;
use secrecy::SecretString;
use serde_json::Value;

use crate::providers::call_progress::{PartialTextSink, SilenceTimer};
use crate::providers::cli::transport::CliTransport;
use crate::providers::http::HttpTransport;
use crate::providers::mcp::McpTransport;
use crate::providers::pace::ProviderPace;
use crate::providers::redact::mask_secrets;
use crate::providers::rehearsal::transport::RehearsalTransport;

#[derive(Debug)]
pub enum Transport {
    Http(HttpTransport),
    Cli(CliTransport),
    Mcp(McpTransport),
    /// One instance for all seats of a run: a script counts calls across seats.
    Rehearsal(Arc<RehearsalTransport>),
}

impl Transport {
    pub fn kind(&self) -> TransportKind {
        match self {
            Self::Http(_) => TransportKind::Http,
            Self::Cli(_) => TransportKind::Cli,
            Self::Mcp(_) => TransportKind::Mcp,
            Self::Rehearsal(_) => TransportKind::Rehearsal,
        }
    }

    /// The parameters that the server refused; the next call leaves them out.
    pub(crate) fn refused_parameters(&self) -> Vec<RequestParameter> {
        match self {
            Self::Http(transport) => transport.refused_parameters(),
            Self::Cli(transport) => transport.refused_parameters(),
            Self::Mcp(_) | Self::Rehearsal(_) => Vec::new(),
        }
    }

    /// Leaves out what the server refused before the run was resumed.
    pub(crate) fn restore_refused(&self, refused: &[RequestParameter]) {
        match self {
            Self::Http(transport) => transport.restore_refused(refused),
            Self::Cli(transport) => transport.restore_refused(refused),
            Self::Mcp(_) | Self::Rehearsal(_) => {}
        }
    }

    /// The pace of the provider; none for rehearsals.
    pub(crate) fn pace(&self) -> Option<&Arc<ProviderPace>> {
        match self {
            Self::Http(transport) => Some(&transport.pace),
            Self::Cli(transport) => Some(&transport.pace),
            Self::Mcp(_) | Self::Rehearsal(_) => None,
        }
    }

    /// Makes one call, without retry and without writing to the journal.
    ///
    /// The engine records what this returns, and a server may echo the key it received, so secrets
    /// are masked here in replies and errors.
    pub async fn send(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        let (sent, secrets) = match self {
            Self::Http(transport) => (transport.send(request).await, transport.secret_values()),
            // Boxed: these futures are large and rare, and would enlarge every HTTP call.
            Self::Cli(transport) => {
                (Box::pin(transport.send(request)).await, transport.secret_values())
            }
            Self::Mcp(transport) => {
                (Box::pin(transport.send(request)).await, transport.secret_values())
            }
            Self::Rehearsal(transport) => return transport.send(request).await,
        };
        let hide = |text: String| mask_secrets(text, &secrets);
        match sent {
            Ok(received) => Ok(CallReply {
                text: hide(received.text),
                model: received.model.map(hide),
                ..received
            }),
            Err(error) => Err(CallError { message: hide(error.message), ..error }),
        }
    }
}

impl Transport {
    /// Makes a call and repeats it without what the server refuses, for a call that the journal
    /// does not list.
    pub async fn send_until_accepted(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        loop {
            match self.send(request).await {
                // A server refuses each parameter at most twice.
                Err(error) if error.refused.is_some() => {}
                sent => return sent,
            }
        }
    }
}

words! {
    /// Wire format of a model's server.
    pub enum Dialect {
        OpenAi = "openai",
        Anthropic = "anthropic",
        Gemini = "gemini",
    }
}

/// One model under one name. `Debug` hides the key, and no other type stores it.
#[derive(Debug, Clone)]
pub struct Provider {
    pub name: ExpertSlug,
    pub roles: Vec<SeatRole>,
    pub model: String,
    pub family: String,
    pub version: Option<String>,
    /// Transports in the order of attempts.
    pub transports: Vec<TransportKind>,
    pub dialect: Option<Dialect>,
    /// Ends with the version segment: `http://127.0.0.1:8099/v1`.
    pub base_url: Option<String>,
    /// Variable the key comes from, for error messages.
    pub key_variable: Option<String>,
    pub key: Option<SecretString>,
    /// Program and leading arguments of the CLI transport.
    pub command: Vec<String>,
    pub mcp: Option<McpTool>,
    pub price: Option<TokenPrice>,
    pub output_tokens_max: u32,
    pub temperature: Option<f64>,
    /// Tokens that the messages may have.
    pub input_tokens_max: Option<u64>,
    pub effort: Option<EffortLevel>,
    /// Where its seat looks first when it gives an opinion.
    pub lens: Option<String>,
    /// It takes a seat for each of these lenses; none: one seat.
    pub lenses: Vec<String>,
    pub timeouts: Option<SeatTimeouts>,
    pub wire_schema: WireSchema,
    /// Calls of this process in flight at once; `None`: no limit.
    pub max_in_flight: Option<u32>,
}

words! {
    /// Whether requests carry the JSON schema of the reply.
    pub enum WireSchema {
        /// Unless the part that all requests share is long: a schema that differs by role would
        /// defeat the provider's cache.
        Auto = "auto",
        Always = "always",
        Never = "never",
    }
}

/// Tool of an MCP server that answers prompts.
#[derive(Debug, Clone)]
pub struct McpTool {
    pub command: String,
    pub args: Vec<String>,
    /// Values may be secrets.
    pub env: Vec<(String, SecretString)>,
    pub tool: String,
    /// Name of the tool's argument that takes the prompt.
    pub argument: String,
}

/// One call, ready to be sent.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// Seat, round and purpose are never sent. The rehearsal panel uses them.
    pub seat: ExpertSlug,
    pub round: u8,
    pub purpose: AskPurpose,
    pub messages: Arc<AskMessages>,
    /// JSON schema of the reply, for transports that can send one.
    pub schema: Option<Arc<Value>>,
    /// Whether the seat's last reply could not be read, so that the schema is worth its price.
    pub is_stricter: bool,
    /// Ends the call after a silence. The caller enforces it by dropping the call.
    pub timer: SilenceTimer,
    /// Receives the text of the reply as it arrives.
    pub partial_text: Option<PartialTextSink>,
}

/// Reply of a model, before the engine journals it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallReply {
    pub text: String,
    pub usage: Option<TokenUsage>,
    /// Model name from the reply.
    pub model: Option<String>,
    pub finish: FinishReason,
    /// Cost of the call in dollars, if the provider reports it.
    pub cost_usd: Option<f64>,
    /// Whether the request contained the schema.
    pub structured: bool,
}

impl CallReply {
    /// A complete reply of which only the text is known.
    pub(crate) fn from_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            usage: None,
            model: None,
            finish: FinishReason::Stop,
            cost_usd: None,
            structured: false,
        }
    }
}

/// Reason of a failed call. The message contains no key, prompt or header.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    pub error_type: CallErrorType,
    pub message: String,
    /// Wait the server asks for.
    pub retry_after: Option<Duration>,
    /// The parameter that the server refused. The next call leaves it out.
    pub refused: Option<RequestParameter>,
    /// No repetition over the same transport helps: the account has no credit left.
    pub is_final: bool,
    /// The server takes no more calls now.
    pub is_busy: bool,
    /// The server did no work that it can charge: it was not reached, or it answered with an error.
    pub is_unserved: bool,
}

impl CallError {
    pub fn new(error_type: CallErrorType, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            error_type,
            message,
            retry_after: None,
            refused: None,
            is_final: false,
            is_busy: false,
            is_unserved: false,
        }
    }
}
