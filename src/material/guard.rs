//! `SecretGuard` decides whether a file or text may be sent to a model.

use std::path::{Path, PathBuf};

use super::credential_names;
use super::secrets::{SecretValues, exclusion_reason};

/// Secret values and files of this run, in addition to the general rules on names and texts.
#[derive(Debug, Clone, Default)]
pub struct SecretGuard {
    values: SecretValues,
    /// Paths without links.
    own_files: Vec<PathBuf>,
}

impl SecretGuard {
    /// `own_files` are files of this program under any name: its configuration and the store.
    pub fn new(values: SecretValues, own_files: impl IntoIterator<Item = PathBuf>) -> Self {
        let own_files = own_files.into_iter().filter_map(|path| path.canonicalize().ok());
        Self { values, own_files: own_files.collect() }
    }

    /// The reason for not sending a file, by its name and path.
    pub(super) fn file_refusal(&self, path: &Path) -> Option<String> {
        let by_name = credential_names::own_configuration_reason(path)
            .or_else(|| credential_names::credential_reason(path));
        by_name.or_else(|| {
            let real = path.canonicalize().ok()?;
            let is_own = self.own_files.contains(&real);
            is_own.then(|| credential_names::OWN_CONFIGURATION.to_owned())
        })
    }

    /// The reason for not sending a text, by its content. A text without a file has an empty path.
    pub(super) fn text_refusal(&self, path: &Path, text: &str) -> Option<String> {
        exclusion_reason(&path.to_string_lossy(), text, &self.values)
    }
}
