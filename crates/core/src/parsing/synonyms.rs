//! Maps a model's choice of words to the options of a schema.

/// A word and its possible meanings; the first that is an option is used.
const SYNONYMS: [(&str, &[&str]); 64] = [
    ("moderate", &["medium"]),
    ("med", &["medium"]),
    ("mid", &["medium"]),
    ("average", &["medium"]),
    ("critical", &["high"]),
    ("severe", &["high"]),
    ("major", &["high"]),
    ("significant", &["high"]),
    ("very-high", &["high"]),
    ("blocker", &["high"]),
    ("minor", &["low"]),
    ("minimal", &["low"]),
    ("negligible", &["low"]),
    ("trivial", &["low"]),
    ("very-low", &["low"]),
    ("info", &["low"]),
    ("approved", &["approve", "adopt"]),
    ("approve", &["adopt"]),
    ("accept", &["approve", "adopt", "confirm"]),
    ("accepted", &["approve", "adopt"]),
    ("support", &["approve", "confirm"]),
    ("in-favor", &["approve"]),
    ("in-favour", &["approve"]),
    ("for", &["approve"]),
    ("agree", &["approve", "confirm", "agreed"]),
    ("yes", &["approve"]),
    ("adopted", &["adopt"]),
    ("rejected", &["reject"]),
    ("oppose", &["reject", "dispute"]),
    ("against", &["reject"]),
    ("disagree", &["reject", "dispute", "disputed"]),
    ("no", &["reject"]),
    ("reject", &["dispute"]),
    ("conditional-approval", &["conditional"]),
    ("conditionally-approve", &["conditional"]),
    ("approve-with-conditions", &["conditional"]),
    ("approve-conditionally", &["conditional"]),
    ("abstained", &["abstain"]),
    ("neutral", &["abstain"]),
    ("n/a", &["none"]),
    ("na", &["none"]),
    ("not-applicable", &["none"]),
    ("factual-error", &["error"]),
    ("logical-error", &["error"]),
    ("mistake", &["error"]),
    ("contradiction", &["inconsistency"]),
    ("inconsistencies", &["inconsistency"]),
    ("missing", &["omission"]),
    ("gap", &["omission"]),
    ("confirmed", &["confirm"]),
    ("disputed", &["dispute"]),
    ("contested", &["disputed", "dispute"]),
    ("consensus", &["agreed"]),
    ("unanimous", &["agreed"]),
    ("needs-info", &["need-info"]),
    ("need-more-info", &["need-info"]),
    ("needs-more-information", &["need-info"]),
    ("answered", &["answer"]),
    ("ship-it", &["ship"]),
    ("shipped", &["ship"]),
    ("revision", &["revise"]),
    ("needs-revision", &["revise"]),
    ("block", &["hold"]),
    ("on-hold", &["hold"]),
];

/// Returns the option that a model's word means, if any.
pub(crate) fn match_option<'a>(word: &str, options: &[&'a str]) -> Option<&'a str> {
    let word = fold_word(word);
    let is_option = |name: &str| options.iter().copied().find(|option| fold_word(option) == name);
    let plain = is_option(&word).or_else(|| is_option(word.strip_suffix('s')?));
    plain.or_else(|| {
        let (_, meanings) = SYNONYMS.iter().find(|(synonym, _)| *synonym == word)?;
        meanings.iter().find_map(|meaning| is_option(meaning))
    })
}

/// Lower case, with hyphens between words.
fn fold_word(word: &str) -> String {
    let words = word.split(|letter: char| letter.is_whitespace() || "_-".contains(letter));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, options: &[&str], expected: Option<&str>) {
        assert_eq!(match_option(word, options), expected, "{word}");
    }

    #[test]
    fn a_word_is_one_of_the_options_however_it_is_written() {
        let levels = ["low", "medium", "high"];
        check("high", &levels, Some("high"));
        check(" HIGH ", &levels, Some("high"));
        check("Moderate", &levels, Some("medium"));
        check("very high", &levels, Some("high"));
        check("rather high", &levels, None);
        check("", &levels, None);
        let outcomes = ["adopt", "reject", "need-info", "answer"];
        check("Need Info", &outcomes, Some("need-info"));
        check("need_info", &outcomes, Some("need-info"));
        check("approve", &outcomes, Some("adopt"));
        check("rejects", &outcomes, Some("reject"));
        check("agree", &["agreed", "disputed"], Some("agreed"));
        check("agree", &["confirm", "dispute"], Some("confirm"));
    }

    #[test]
    fn a_synonym_stands_for_a_word_of_ours() {
        let known = [
            "low",
            "medium",
            "high",
            "approve",
            "reject",
            "conditional",
            "abstain",
            "none",
            "error",
            "inconsistency",
            "omission",
            "confirm",
            "dispute",
            "adopt",
            "need-info",
            "answer",
            "agreed",
            "disputed",
            "ship",
            "revise",
            "hold",
        ];
        for (word, meanings) in SYNONYMS {
            assert_eq!(fold_word(word), word);
            assert!(meanings.iter().all(|meaning| known.contains(meaning)), "{word}");
        }
    }
}
