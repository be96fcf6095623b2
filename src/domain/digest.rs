//! SHA-256 digests as hex, and a random number generator seeded from them.

use sha2::{Digest, Sha256};

/// Hashes the concatenated parts.
pub fn sha256_hex<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    parts.into_iter().for_each(|part| hasher.update(part));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
