//! Why no table could be set.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ConveneError {
    #[error("there is no provider `{name}`; there are: {known}")]
    UnknownProvider { name: String, known: String },
    #[error("`{name}` was named twice")]
    NamedTwice { name: String },
    #[error("{seats} can take part, but {needed} must be heard in the first round")]
    TooFew { seats: usize, needed: usize },
    #[error("nobody can sit at the gate")]
    NobodyAtTheGate,
    #[error("a deliberator's prompt cannot be read: `{path}`: {reason}")]
    NoInstructions { path: PathBuf, reason: String },
    #[error("a deliberator's prompt is empty: `{path}`")]
    EmptyInstructions { path: PathBuf },
    #[error("a deliberator's prompt is over {max} bytes: `{path}`")]
    LongInstructions { path: PathBuf, max: usize },
    #[error("{seats} would take part; a council has room for {max}")]
    TooMany { seats: usize, max: usize },
}

impl ConveneError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::UnknownProvider { .. } | Self::NamedTwice { .. } => {
                "name providers of `council.yaml`, or those that `plenary doctor` finds"
            }
            Self::TooFew { .. } => {
                "add providers, or lower `council.quorum.r1_min`; `--rehearse` needs none"
            }
            Self::NobodyAtTheGate => {
                "set a key or name providers in council.yaml; `--rehearse` needs none"
            }
            Self::NoInstructions { .. } | Self::EmptyInstructions { .. } => {
                "correct `prompt` under `review.deliberators`"
            }
            Self::LongInstructions { .. } => {
                "what a deliberator judges by belongs into its `context_refs`"
            }
            Self::TooMany { .. } => "choose some of them with `--providers`",
        }
    }
}
