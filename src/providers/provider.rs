//! [`Provider`]: a configured or discovered model with all that is needed to call it. Config builds
//! it; transports use it.

use secrecy::SecretString;

use crate::domain::ask::TransportKind;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{SeatRole, SeatTimeouts, TokenPrice};
use crate::domain::words::words;

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
    pub timeouts: Option<SeatTimeouts>,
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
