//! What whoever calls by HTTP must know: a secret beside the store, made at the first start.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::ambient::Ambient;
use crate::domain::digest::sha256_hex;
use crate::files::TOKEN;

/// Anything shorter was not made by us, and may be guessed.
const CHARS_MIN: usize = 32;

/// Known by its digest: comparing that tells nothing of the secret, however long it takes.
#[derive(Debug, Clone)]
pub(super) struct Token {
    digest: String,
    pub path: PathBuf,
}

impl Token {
    /// Reads it, or makes it, for its owner's eyes only.
    #[expect(clippy::disallowed_methods, reason = "the token lies beside the store")]
    pub(super) fn of_folder(store_folder: &Path, ambient: &dyn Ambient) -> io::Result<Self> {
        let path = store_folder.join(TOKEN);
        std::fs::create_dir_all(store_folder)?;
        let mut fresh = OpenOptions::new();
        match fresh.write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                let secret: String = (0..4).map(|_| format!("{:016x}", ambient.chance())).collect();
                file.write_all(secret.as_bytes())?;
                file.sync_all()?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let secret = std::fs::read_to_string(&path)?;
        let secret = secret.trim();
        if secret.len() < CHARS_MIN {
            let message = format!("the token has fewer than {CHARS_MIN} characters");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(Self { digest: sha256_hex([secret.as_bytes()]), path })
    }

    /// Whether a header's value carries it.
    pub(super) fn is_in(&self, header: &[u8]) -> bool {
        let scheme = header.get(..7).unwrap_or_default();
        let given = header.get(7..).unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"bearer ") && sha256_hex([given]) == self.digest
    }
}
