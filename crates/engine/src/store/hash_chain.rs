//! Hash chain of the journal: the hash of each entry covers the entry before it.
//!
//! `hash = SHA-256(prev, seq, kind, ts, SHA-256(payload))` per dialogue, and `global = SHA-256(prev
//! global, hash)` over all dialogues. The parts are joined by newlines, which only the payload can
//! contain.

use sha2::{Digest, Sha256};

/// Previous hash of the first entry of a chain.
pub(crate) const GENESIS_HASH: &str =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// Scope name of the chain over all dialogues.
pub(crate) const GLOBAL_SCOPE: &str = "*";

pub(crate) fn digest_text(payload: &str) -> String {
    digest_bytes(payload.as_bytes())
}

/// Digest of bytes that may not be valid UTF-8.
pub(crate) fn digest_bytes(payload: &[u8]) -> String {
    to_hex(Sha256::digest(payload).as_slice())
}

pub(crate) fn hash_entry(
    prev: &str,
    seq: u64,
    kind: &str,
    ts: &str,
    payload_sha256: &str,
) -> String {
    digest_text(&format!("{prev}\n{seq}\n{kind}\n{ts}\n{payload_sha256}"))
}

pub(crate) fn hash_global(prev: &str, entry: &str) -> String {
    digest_text(&format!("{prev}\n{entry}"))
}

fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_entry_is_sealed() {
        let sealed = hash_entry(
            GENESIS_HASH,
            1,
            "round_registered",
            "2026-02-02T00:00:00.000000Z",
            &digest_text("[]"),
        );
        let others = [
            hash_entry(
                &digest_text("x"),
                1,
                "round_registered",
                "2026-02-02T00:00:00.000000Z",
                &digest_text("[]"),
            ),
            hash_entry(
                GENESIS_HASH,
                2,
                "round_registered",
                "2026-02-02T00:00:00.000000Z",
                &digest_text("[]"),
            ),
            hash_entry(
                GENESIS_HASH,
                1,
                "round_registere",
                "2026-02-02T00:00:00.000000Z",
                &digest_text("[]"),
            ),
            hash_entry(
                GENESIS_HASH,
                1,
                "round_registered",
                "2026-02-02T00:00:00.000001Z",
                &digest_text("[]"),
            ),
            hash_entry(
                GENESIS_HASH,
                1,
                "round_registered",
                "2026-02-02T00:00:00.000000Z",
                &digest_text("[ ]"),
            ),
        ];
        assert!(others.iter().all(|other| *other != sealed));
        assert_eq!(
            digest_text(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
