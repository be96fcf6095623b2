//! Selects the tier 3 artifacts to review: one in five, the same on every machine.

use crate::domain::digest::sha256_hex;

const SAMPLE_ONE_IN: u64 = 5;

/// Number of hash digits used; enough for an even distribution.
const HASH_DIGITS: usize = 15;

/// Returns true if this file is selected. The hash covers path and content, so the answer is the
/// same on every machine and in every rerun.
pub fn is_sampled(path: &str, text: &str) -> bool {
    let digest = sha256_hex([path.as_bytes(), b"\0", text.as_bytes()]);
    let drawn = digest.get(..HASH_DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    drawn.is_some_and(|drawn| drawn.is_multiple_of(SAMPLE_ONE_IN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::dice::SeededRandom;

    /// Pins the rule: logs sampled by different rules cannot be compared.
    #[test]
    fn the_same_file_gives_the_same_answer_everywhere() {
        let sampled: Vec<usize> = (0..20)
            .filter(|day| is_sampled(&format!("briefings/{day}.md"), "All is well.\n"))
            .collect();
        assert_eq!(sampled, [6, 10, 11, 14, 18]);
    }

    #[test]
    fn one_in_five_of_ten_thousand_paths_is_looked_at() {
        let mut dice = SeededRandom::new(2026);
        let sampled =
            (0..10_000).filter(|_| is_sampled(&format!("{:x}.md", dice.next_u64()), "x")).count();
        assert!((1_800..=2_200).contains(&sampled), "{sampled}");
    }

    #[test]
    fn path_and_content_both_count() {
        let paths = (0..100).filter(|n| is_sampled(&format!("{n}"), "x")).count();
        let texts = (0..100).filter(|n| is_sampled("x", &format!("{n}"))).count();
        assert!(paths > 5 && texts > 5, "{paths} {texts}");
        // The separator between path and content is part of the hash input.
        let moved = (0..100)
            .filter(|n| is_sampled("ab", &format!("{n}")) != is_sampled("a", &format!("b{n}")));
        assert!(moved.count() > 5);
    }
}
