//! SHA-256 digests as hex, and a random number generator seeded from them.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Hashes the concatenated parts.
pub fn sha256_hex<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    parts.into_iter().for_each(|part| hasher.update(part));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of a JSON document, independent of the order of its keys.
pub fn canonical_sha256(document: &Value) -> String {
    sha256_hex([canonical(document).to_string().as_bytes()])
}

fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut sorted: Vec<_> = map.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            sorted.into_iter().map(|(key, value)| (key.clone(), canonical(value))).collect()
        }
        Value::Array(list) => list.iter().map(canonical).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The SplitMix64 generator. It is small, and its algorithm never changes.
#[derive(Debug, Clone)]
pub struct SeededRandom(u64);

impl SeededRandom {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Derives a separate generator for each purpose from one recorded secret.
    pub fn from_secret(secret: &str, purpose: &str) -> Self {
        let digest = Sha256::digest(format!("{secret}\n{purpose}").as_bytes());
        Self(digest.iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte)))
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Shuffles the items (Fisher-Yates).
    pub fn shuffle_items<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.next_u64() % (last as u64 + 1)) as usize);
        }
    }
}
