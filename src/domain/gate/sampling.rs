//! Which artifacts of tier 3 are looked at: one in five, the same everywhere.

use crate::domain::digest::sha256_hex;

const ONE_IN: u64 = 5;

/// Hex digits that are drawn from: enough that fives come out even.
const DIGITS: usize = 15;

/// Whether this file is among those that are looked at. Path and content decide, so that it is
/// the same on every machine, and neither a rerun nor a rename alone is a way around it.
pub fn is_sampled(path: &str, text: &str) -> bool {
    let digest = sha256_hex([path.as_bytes(), b"\0", text.as_bytes()]);
    let drawn = digest.get(..DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    drawn.is_some_and(|drawn| drawn.is_multiple_of(ONE_IN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::dice::SplitMix;

    /// Noted once, so that a change of the rule is seen: a log that was sampled by one rule
    /// cannot be compared with one that was sampled by another.
    #[test]
    fn the_same_file_gives_the_same_answer_everywhere() {
        let sampled: Vec<usize> = (0..20)
            .filter(|day| is_sampled(&format!("briefings/{day}.md"), "All is well.\n"))
            .collect();
        assert_eq!(sampled, [6, 10, 11, 14, 18]);
    }

    #[test]
    fn one_in_five_of_ten_thousand_paths_is_looked_at() {
        let mut dice = SplitMix::new(2026);
        let sampled =
            (0..10_000).filter(|_| is_sampled(&format!("{:x}.md", dice.roll()), "x")).count();
        assert!((1_800..=2_200).contains(&sampled), "{sampled}");
    }

    #[test]
    fn path_and_content_both_count() {
        let paths = (0..100).filter(|n| is_sampled(&format!("{n}"), "x")).count();
        let texts = (0..100).filter(|n| is_sampled("x", &format!("{n}"))).count();
        assert!(paths > 5 && texts > 5, "{paths} {texts}");
        // The boundary between the two is part of what is hashed.
        let moved = (0..100)
            .filter(|n| is_sampled("ab", &format!("{n}")) != is_sampled("a", &format!("b{n}")));
        assert!(moved.count() > 5);
    }
}
