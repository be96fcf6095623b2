//! [`AccessToken`]: the secret for HTTP clients, in a file beside the store, created at first
//! start.

use std::ffi::OsStr;
use std::io;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plenary_core::model::hash::sha256_hex;
use plenary_engine::clock::System;
use plenary_engine::error::Error;
use plenary_engine::files::open_folder::OpenFolder;
use plenary_engine::files::reserved_names::TOKEN_FILE;
use plenary_engine::files::temporary_file::TemporaryFile;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::geteuid;

/// A shorter secret is not ours and may be guessed.
const CHARS_MIN: usize = 32;

/// Far more than a secret needs.
const TOKEN_BYTES_MAX: u64 = 4_096;

/// Separates the key of sessions from the digest of the token.
const SESSION_KEY_PREFIX: &[u8] = b"plenary session key\n";

/// Only the owner may read and write it.
const TOKEN_MODE: u32 = 0o600;

/// Stores only the digest: comparing digests leaks nothing about the secret through timing.
#[derive(Debug, Clone)]
pub(crate) struct AccessToken {
    digest: String,
    /// Signs the sessions of the page. A new token ends them all.
    pub session_key: String,
    pub path: PathBuf,
}

impl AccessToken {
    /// Reads the token, or creates it if there is none.
    pub(crate) fn load_or_create(store_folder: &Path, ambient: &dyn System) -> Result<Self, Error> {
        let path = store_folder.join(TOKEN_FILE);
        let unusable = |source| Error::Token { path: path.clone(), source };
        let folder = create_folder(store_folder).map_err(unusable)?;
        if folder.stat_name(OsStr::new(TOKEN_FILE)).map_err(unusable)?.is_none() {
            create_token(&folder, ambient).map_err(unusable)?;
        }
        let secret = read_token(&folder).map_err(unusable)?;
        let secret = secret.trim();
        if secret.len() < CHARS_MIN {
            return Err(unusable(invalid_token(&format!(
                "it has fewer than {CHARS_MIN} characters"
            ))));
        }
        let session_key = sha256_hex([SESSION_KEY_PREFIX, secret.as_bytes()]);
        Ok(Self { digest: sha256_hex([secret.as_bytes()]), session_key, path })
    }

    /// Whether an `Authorization` value contains the token.
    pub(crate) fn matches_header(&self, header: &[u8]) -> bool {
        let scheme = header.get(..7).unwrap_or_default();
        let given = header.get(7..).unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"bearer ") && self.matches_secret(given)
    }

    /// Whether this is the token itself.
    pub(crate) fn matches_secret(&self, given: &[u8]) -> bool {
        sha256_hex([given]) == self.digest
    }
}

#[expect(clippy::disallowed_methods, reason = "the token lies beside the store")]
fn create_folder(folder: &Path) -> io::Result<OpenFolder> {
    std::fs::create_dir_all(folder)?;
    OpenFolder::open_at(folder)
}

/// Creates the token. It is renamed into place when complete: a crash leaves no partial token, and
/// of two concurrent servers the second uses the token of the first.
fn create_token(folder: &OpenFolder, ambient: &dyn System) -> io::Result<()> {
    let mut temporary = TemporaryFile::new(folder, TOKEN_MODE)?;
    let secret: String = (0..4).map(|_| format!("{:016x}", ambient.random_u64())).collect();
    temporary.file.write_all(secret.as_bytes())?;
    temporary.file.sync_all()?;
    match temporary.persist_new(OsStr::new(TOKEN_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        named => named,
    }
}

/// Reads the secret from a file that only this user can have written. A clone or an archive may
/// contain a file of that name, and its author would know the secret.
fn read_token(folder: &OpenFolder) -> io::Result<String> {
    let file = folder.open_file(OsStr::new(TOKEN_FILE), OFlags::RDONLY, 0).map_err(|error| {
        let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
        if is_link { invalid_token("it is a link") } else { error }
    })?;
    let metadata = file.metadata()?;
    let mode = metadata.mode() & 0o7777;
    if !metadata.is_file() {
        return Err(invalid_token("it is not a regular file"));
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err(invalid_token(&format!("it belongs to another user (uid {})", metadata.uid())));
    }
    if mode & !TOKEN_MODE != 0 {
        return Err(invalid_token(&format!("others may read or write it (mode {mode:04o})")));
    }
    if metadata.nlink() != 1 {
        return Err(invalid_token("it has a second name (a hard link)"));
    }
    let mut secret = String::new();
    file.take(TOKEN_BYTES_MAX).read_to_string(&mut secret)?;
    Ok(secret)
}

fn invalid_token(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use plenary_engine::clock::RealSystem;

    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn a_token_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = AccessToken::load_or_create(folder.path(), &RealSystem).unwrap();
        let second = AccessToken::load_or_create(folder.path(), &RealSystem).unwrap();
        assert_eq!(first.digest, second.digest);
        assert_eq!(std::fs::metadata(&first.path).unwrap().mode() & 0o777, TOKEN_MODE);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn servers_that_start_at_once_share_one_token() {
        let folder = tempfile::tempdir().unwrap();
        let start = || AccessToken::load_or_create(folder.path(), &RealSystem).unwrap().digest;
        let digests: Vec<String> = std::thread::scope(|scope| {
            let servers: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            servers.into_iter().map(|server| server.join().unwrap()).collect()
        });
        assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    /// Checks that a token planted by `plant` is refused, and that the hint's advice works.
    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "a user removes the file as the hint says")]
    fn check_refused(plant: impl FnOnce(&Path), printed: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(TOKEN_FILE);
        plant(&path);
        let error = AccessToken::load_or_create(folder.path(), &RealSystem).unwrap_err();
        assert!(error.full_message().contains(printed), "{}", error.full_message());
        assert!(error.hint().is_some_and(|hint| hint.contains("remove the file")), "{error}");
        // Follow the hint.
        std::fs::remove_file(&path).unwrap();
        AccessToken::load_or_create(folder.path(), &RealSystem).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "a token is planted on purpose")]
    fn plant(path: &Path, text: &str, mode: u32) {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_token_that_others_may_read_is_refused() {
        for mode in [0o644, 0o640, 0o660, 0o606, 0o700] {
            check_refused(|path| plant(path, SECRET, mode), &format!("mode {mode:04o}"));
        }
    }

    #[test]
    fn a_token_that_is_not_a_file_of_its_own_is_refused() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("target");
        plant(&target, SECRET, TOKEN_MODE);
        check_refused(|path| symlink(&target, path).unwrap(), "it is a link");
        check_refused(|path| symlink("nothing-there", path).unwrap(), "it is a link");
        check_refused(|path| std::fs::hard_link(&target, path).unwrap(), "hard link");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(TOKEN_FILE)).unwrap();
        let error = AccessToken::load_or_create(folder.path(), &RealSystem).unwrap_err();
        assert!(error.full_message().contains("not a regular file"), "{}", error.full_message());
    }

    #[test]
    fn a_token_of_another_user_is_refused() {
        let of_another = |path: &Path| {
            plant(path, SECRET, TOKEN_MODE);
            // Only root can change the owner of a file; other users skip the check.
            let given = chown(path, Some(12_345), None);
            assert!(given.is_ok() || !geteuid().is_root());
        };
        if geteuid().is_root() {
            check_refused(of_another, "another user (uid 12345)");
        }
    }

    #[test]
    fn a_token_that_is_no_secret_is_an_error_of_its_own() {
        check_refused(|path| plant(path, "", TOKEN_MODE), "fewer than 32");
        check_refused(|path| plant(path, "short", TOKEN_MODE), "fewer than 32");
    }

    #[test]
    fn a_token_that_its_owner_wrote_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        plant(&folder.path().join(TOKEN_FILE), &format!("{SECRET}\n"), TOKEN_MODE);
        let token = AccessToken::load_or_create(folder.path(), &RealSystem).unwrap();
        assert!(token.matches_header(format!("Bearer {SECRET}").as_bytes()));
    }
}
