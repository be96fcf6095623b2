//! What decides whether a text may leave: its file, and what it holds.

use std::path::{Path, PathBuf};

use super::credential_names;
use super::secrets::{SecretValues, exclusion_reason};

/// The values and files of this run that must not leave, beside what its names and its text say
/// of any file.
#[derive(Debug, Clone, Default)]
pub struct SecretGuard {
    values: SecretValues,
    /// Without links in them.
    own_files: Vec<PathBuf>,
}

impl SecretGuard {
    /// `own_files` are files of this program, however they are called: its configuration, the
    /// store.
    pub fn new(values: SecretValues, own_files: impl IntoIterator<Item = PathBuf>) -> Self {
        let own_files = own_files.into_iter().filter_map(|path| path.canonicalize().ok());
        Self { values, own_files: own_files.collect() }
    }

    /// Why a file is never sent, by its name and its place.
    pub(super) fn refuses_file(&self, path: &Path) -> Option<String> {
        let by_name = credential_names::own_configuration(path)
            .or_else(|| credential_names::credential(path));
        by_name.or_else(|| {
            let real = path.canonicalize().ok()?;
            let is_own = self.own_files.contains(&real);
            is_own.then(|| credential_names::OWN_CONFIGURATION.to_owned())
        })
    }

    /// Why a text is not sent, by what it holds. A text without a file has an empty path.
    pub(super) fn refuses_text(&self, path: &Path, text: &str) -> Option<String> {
        exclusion_reason(&path.to_string_lossy(), text, &self.values)
    }
}
