//! A text built to a constraint has no violation; one unit more has one.

use proptest::prelude::*;

use crate::protocols::conclusion::format::constraint::{
    FormatAmount, FormatUnit, find_constraints, find_violations,
};
use crate::protocols::conclusion::format::count::count_units;

/// A text with this many units.
fn build_text(measure: FormatUnit, number: usize) -> String {
    let (piece, joint) = match measure {
        FormatUnit::Lines => ("Ship it on Monday", "\n"),
        FormatUnit::Bullets => ("- ship it", "\n"),
        FormatUnit::Sentences => ("Ship it, e.g. on Monday at 3.5 Hz.", " "),
        FormatUnit::Words => ("ship-it!", " "),
        FormatUnit::Paragraphs => ("Ship it. Watch it.", "\n\n"),
    };
    vec![piece; number].join(joint)
}

fn any_unit() -> impl Strategy<Value = FormatUnit> {
    prop::sample::select(FormatUnit::ALL)
}

/// Wordings of a bound for which more than the number is too many.
fn any_bound() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["exactly ", "at most ", "no more than ", "max. ", "up to ", "only "])
}

proptest! {
    #[test]
    fn a_text_built_to_a_constraint_has_no_violation(
        measure in any_unit(), bound in any_bound(), number in 2..40_usize,
    ) {
        let question = format!("Should we ship? Answer in {bound}{number} {measure}.");
        prop_assert_eq!(find_constraints(&question).len(), 1, "{}", question);
        prop_assert_eq!(find_violations(&question, &build_text(measure, number)), vec![]);
        let more = find_violations(&question, &build_text(measure, number + 1));
        prop_assert_eq!(more.len(), 1);
        let counted = format!("; the recommendation has {}", number + 1);
        prop_assert!(more[0].objection.ends_with(&counted), "{}", more[0].objection);
    }

    #[test]
    fn a_constraint_accepts_its_bounds_only(
        measure in any_unit(), least in 1..30_usize, more in 0..9_usize,
    ) {
        for amount in [
            FormatAmount::Exactly(least),
            FormatAmount::AtLeast(least),
            FormatAmount::AtMost(least),
            FormatAmount::Between(least, least + more),
            FormatAmount::About(least),
        ] {
            let counted = |number| count_units(measure, &build_text(measure, number)).unwrap();
            prop_assert!(amount.is_met_by(counted(amount.min_count())));
            prop_assert!(amount.max_count().is_none_or(|most| amount.is_met_by(counted(most))));
            prop_assert!(amount.max_count().is_none_or(|most| !amount.is_met_by(counted(most + 1))));
            prop_assert!(!amount.is_met_by(counted(amount.min_count() - 1)));
        }
    }

    #[test]
    fn blank_lines_change_no_count(measure in any_unit(), number in 1..20_usize) {
        let airy = build_text(measure, number).replace('\n', "\n\n \n");
        prop_assert_eq!(count_units(measure, &airy), Some(number));
        let escaped = build_text(measure, number).replace('\n', "\\n");
        prop_assert_eq!(count_units(measure, &escaped), Some(number));
    }

    #[test]
    fn any_question_and_any_text_are_checked(
        question in any::<String>(), message in any::<String>(),
    ) {
        find_violations(&question, &message);
    }

    #[test]
    fn any_mixture_of_words_is_checked(words in prop::collection::vec(any_word(), 0..40)) {
        let question = words.join(" ");
        find_violations(&question, &question);
    }
}

fn any_word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "answer", "in", "5", "lines", "3", "bullets", "one", "sentence", "words", "at", "most",
        "a", "-", ",", ".", "?", ":", "(", ")", "\n", "- ", "not", "each", "or", "to", "between",
        "and", "your", "must", "be", "exactly", "give", "me", "keep", "it", "under", "summary",
        "\"", "'", "```", "should", "we", "ship", "format", "no", "more", "than", "—", "within",
        "per",
    ])
}

#[test]
fn an_objection_has_both_numbers() {
    let result = |question: &str, message: &str| {
        let objections = find_violations(question, message).into_iter();
        objections.map(|one| format!("{}: {}", one.field, one.objection)).collect::<Vec<_>>()
    };
    let question = "Should we ship? In exactly 5 lines.";
    assert_eq!(
        result(question, "a\nb\nc"),
        ["recommendation: asked for exactly 5 lines; the recommendation has 3"]
    );
    assert_eq!(result(question, "a\\nb\\nc\\nd\\ne"), [""; 0]);
    assert_eq!(
        result("Answer in 3 sentences, max 50 words.", &"word ".repeat(60)),
        [
            "recommendation: asked for exactly 3 sentences; the recommendation has 1",
            "recommendation: asked for at most 50 words; the recommendation has 60",
        ]
    );
    // A text that cannot be counted causes no objection.
    assert_eq!(result("Answer in 3 words.", "เราควรปล่อย"), [""; 0]);
}

#[test]
fn long_questions_are_checked_quickly() {
    let pieces = ["answer in 5 lines, ", "Answer in 5 lines. ", "Explain. ", "5 ", "in ", "- a\n"];
    let signs = [". ", "… ", "\"", "do not ", "a-", "( "];
    for piece in pieces.into_iter().chain(signs) {
        let long = piece.repeat(100_000 / piece.len());
        find_violations(&long, &long);
    }
}
