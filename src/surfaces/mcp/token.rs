//! What whoever calls by HTTP must know: a secret beside the store, made at the first start.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::ambient::Ambient;
use crate::domain::digest::sha256_hex;
use crate::domain::store_files::TOKEN;
use crate::error::Error;

/// Anything shorter was not made by us, and may be guessed.
const CHARS_MIN: usize = 32;

/// For its owner's eyes only.
const MODE: u32 = 0o600;

/// Known by its digest: comparing that tells nothing of the secret, however long it takes.
#[derive(Debug, Clone)]
pub(super) struct Token {
    digest: String,
    pub path: PathBuf,
    /// What its owner should know of it.
    pub warning: Option<String>,
}

impl Token {
    /// Reads it, or makes it.
    #[expect(clippy::disallowed_methods, reason = "the token lies beside the store")]
    pub(super) fn of_folder(store_folder: &Path, ambient: &dyn Ambient) -> Result<Self, Error> {
        let path = store_folder.join(TOKEN);
        let unusable = |source| Error::Token { path: path.clone(), source };
        if !path.try_exists().map_err(unusable)? {
            make(&path, ambient).map_err(unusable)?;
        }
        let warning = tightened(&path).map_err(unusable)?;
        let secret = std::fs::read_to_string(&path).map_err(unusable)?;
        let secret = secret.trim();
        if secret.len() < CHARS_MIN {
            let message = format!("it has fewer than {CHARS_MIN} characters");
            return Err(unusable(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        Ok(Self { digest: sha256_hex([secret.as_bytes()]), path, warning })
    }

    /// Whether a header's value carries it.
    pub(super) fn is_in(&self, header: &[u8]) -> bool {
        let scheme = header.get(..7).unwrap_or_default();
        let given = header.get(7..).unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"bearer ") && sha256_hex([given]) == self.digest
    }
}

/// Writes a new one. It gets its name when it is whole: a server that dies here leaves none, and
/// of two that start at once the second takes what the first has made.
#[expect(clippy::disallowed_methods, reason = "the token lies beside the store")]
fn make(path: &Path, ambient: &dyn Ambient) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".{TOKEN}-{:016x}.tmp", ambient.chance()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&temporary)?;
    let secret: String = (0..4).map(|_| format!("{:016x}", ambient.chance())).collect();
    let written = file.write_all(secret.as_bytes()).and_then(|()| file.sync_all());
    let named = written.and_then(|()| match std::fs::hard_link(&temporary, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // Some file systems have no links.
        Err(_) => std::fs::rename(&temporary, path),
        Ok(()) => Ok(()),
    });
    // The secret is nobody's under this name.
    let _ = std::fs::remove_file(&temporary);
    named
}

/// Takes from others what only its owner may read; says so, where there was something to take.
fn tightened(path: &Path) -> io::Result<Option<String>> {
    let mode = std::fs::metadata(path)?.permissions().mode() & 0o777;
    if mode & !MODE == 0 {
        return Ok(None);
    }
    std::fs::set_permissions(path, Permissions::from_mode(MODE))?;
    Ok(Some(format!(
        "others could read the token in {}, and cannot any more; if somebody may have, remove it and start again",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ambient::Machine;

    #[test]
    fn a_token_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = Token::of_folder(folder.path(), &Machine).unwrap();
        let second = Token::of_folder(folder.path(), &Machine).unwrap();
        assert_eq!((&first.digest, &first.warning), (&second.digest, &None));
        let mode = std::fs::metadata(&first.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_token_that_others_could_read_is_closed_and_said() {
        let folder = tempfile::tempdir().unwrap();
        let made = Token::of_folder(folder.path(), &Machine).unwrap();
        std::fs::set_permissions(&made.path, Permissions::from_mode(0o644)).unwrap();
        let read = Token::of_folder(folder.path(), &Machine).unwrap();
        assert_eq!(read.digest, made.digest);
        assert!(read.warning.is_some_and(|said| said.contains("others could read")));
        let mode = std::fs::metadata(&made.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "half a token is written on purpose")]
    fn a_token_that_is_no_secret_is_an_error_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(TOKEN), "").unwrap();
        let error = Token::of_folder(folder.path(), &Machine).unwrap_err();
        assert!(error.sentence().contains("token"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("remove")), "{error}");
    }
}
