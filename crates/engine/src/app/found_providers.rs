//! [`FoundProvider`]: what `init` writes about a provider that a run without a file would use.

use tokio::runtime::Builder;

use crate::app::provider_probe::probe_all;
use crate::config::discover::installed_models;
use crate::config::environment::EnvVariables;
use crate::config::load::discover_candidates;
use crate::config::resolve_provider::{FoundBy, ProviderCandidate};
use crate::error::Error;

/// A provider that was found on this machine.
#[derive(Debug)]
pub struct FoundProvider {
    candidate: ProviderCandidate,
    /// Why a test call to its program failed.
    pub failure: Option<String>,
}

/// Finds the providers as a run without a file does.
pub fn find_providers(environment: &EnvVariables) -> Vec<FoundProvider> {
    let candidates = discover_candidates(environment, &installed_models);
    candidates.into_iter().map(|candidate| FoundProvider { candidate, failure: None }).collect()
}

/// Calls each program that a provider depends on, as `doctor` does: an installed program may not be
/// logged in.
pub fn test_programs(found: &mut [FoundProvider]) -> Result<(), Error> {
    let programs: Vec<&mut FoundProvider> =
        found.iter_mut().filter(|one| one.program().is_some()).collect();
    let candidates: Vec<ProviderCandidate> =
        programs.iter().map(|one| one.candidate.clone()).collect();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
    let probed = runtime.block_on(probe_all(&candidates));
    // Do not wait for programs that are still being killed.
    runtime.shutdown_background();
    for (provider, probed) in programs.into_iter().zip(probed) {
        let call = probed.replies.into_iter().find_map(|(_, reply)| reply.err());
        let failure = call.or_else(|| probed.version?.err());
        provider.failure = failure.map(|error| error.message);
    }
    Ok(())
}

impl FoundProvider {
    pub fn name(&self) -> &str {
        self.candidate.provider.name.as_str()
    }

    /// The model that it would use.
    pub fn model(&self) -> &str {
        &self.candidate.provider.model
    }

    /// Whether it uses the newest model of its line, as all providers do that are known by name.
    pub fn takes_latest(&self) -> bool {
        self.base_url().is_none()
    }

    /// The program without which it cannot be called.
    pub fn program(&self) -> Option<&str> {
        match &self.candidate.found_by {
            FoundBy::Program { name } => Some(name),
            FoundBy::Key { .. } | FoundBy::Ollama | FoundBy::File { .. } => None,
        }
    }

    /// The address of a server that no name implies.
    pub fn base_url(&self) -> Option<&str> {
        let is_local = self.candidate.found_by == FoundBy::Ollama;
        self.candidate.provider.base_url.as_deref().filter(|_| is_local)
    }

    /// `key ANTHROPIC_API_KEY`, `program codex` or the address of a local server.
    pub fn found_by(&self) -> String {
        match &self.candidate.found_by {
            FoundBy::Key { variable } => format!("key {variable}"),
            FoundBy::Program { name } => format!("program {name}"),
            FoundBy::Ollama => format!("Ollama at {}", self.base_url().unwrap_or_default()),
            FoundBy::File { line } => format!("line {line}"),
        }
    }
}
