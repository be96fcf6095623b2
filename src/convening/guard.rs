//! What of this run's settings must not leave with a file.

use crate::config::Settings;
use crate::material::{SecretGuard, SecretValues};

/// Every file that goes to a model, and every artifact, is held against it.
pub fn secret_guard(settings: &Settings) -> SecretGuard {
    let own_files = settings.located.file.iter().chain([&settings.located.store]);
    SecretGuard::new(SecretValues::new(&settings.secrets_in_use), own_files.cloned())
}
