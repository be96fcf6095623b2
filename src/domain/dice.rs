//! Chance that can be repeated: from a recorded seed the same draws follow, on every
//! machine, for ever.

use sha2::{Digest, Sha256};

/// SplitMix64: tiny, and fixed for all time, which is what matters here.
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Dice of their own for each purpose that a recorded secret serves.
    pub fn from_secret(secret: &str, purpose: &str) -> Self {
        let digest = Sha256::digest(format!("{secret}\n{purpose}").as_bytes());
        Self(digest.iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte)))
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Puts the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.roll() % (last as u64 + 1)) as usize);
        }
    }
}
