//! A model as it was configured or found: everything needed to call it.

use secrecy::SecretString;

use crate::domain::ask::TransportKind;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{OwnTimeouts, Price, Role};
use crate::domain::words::words;

words! {
    /// The wire format a model's server speaks.
    pub enum Dialect {
        OpenAi = "openai",
        Anthropic = "anthropic",
        Gemini = "gemini",
    }
}

/// One model behind one name. Keys are here and nowhere else; `Debug` hides them.
#[derive(Debug, Clone)]
pub struct Provider {
    pub name: ExpertSlug,
    pub roles: Vec<Role>,
    pub model: String,
    pub family: String,
    pub version: Option<String>,
    /// The transports it can be reached by, in the order in which they are tried.
    pub transports: Vec<TransportKind>,
    pub dialect: Option<Dialect>,
    /// Ends with the version segment: `http://127.0.0.1:8099/v1`.
    pub base_url: Option<String>,
    /// The variable the key is read from, for error messages.
    pub key_variable: Option<String>,
    pub key: Option<SecretString>,
    /// The program and its leading arguments, for the command-line transport.
    pub command: Vec<String>,
    pub mcp: Option<McpTool>,
    pub price: Option<Price>,
    pub output_tokens_max: u32,
    pub temperature: Option<f64>,
    pub timeouts: Option<OwnTimeouts>,
}

/// A tool of an MCP server that answers prompts.
#[derive(Debug, Clone)]
pub struct McpTool {
    pub command: String,
    pub args: Vec<String>,
    /// Values may be secrets.
    pub env: Vec<(String, SecretString)>,
    pub tool: String,
    /// The tool's argument that takes the prompt.
    pub argument: String,
}
