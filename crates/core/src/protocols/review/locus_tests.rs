//! One line per way in which a model names a place.

use proptest::prelude::*;

use crate::protocols::review::locus::{LineRange, lacks_quote, resolve_locus};
use crate::protocols::review::types::ReviewConcern;

const TEXT: &str = "# We’re live\n\
    \n\
    Plenary is the *fastest* council there is — ten times\n\
    faster than  anything else.\n\
    \n\
    Our customers said “finally” and left at 9:30.\n\
    Nothing can go wrong. Nothing at all.\n\
    See line 2 of the terms, café included.\n";

#[track_caller]
fn check(locus: &str, expected: Option<(usize, usize)>) {
    let found = resolve_locus(locus, TEXT).map(|LineRange { start, end }| (start, end));
    assert_eq!(found, expected, "locus: {locus}");
}

#[test]
fn a_line_is_named_by_its_number() {
    for locus in ["L3", "l3", "line 3", "Line 3.", "lines 3", "(L3)", "L3:7", "3:7", "L3C7", "3"] {
        check(locus, Some((3, 3)));
    }
    for locus in ["L3-L4", "L3-4", "lines 3-4", "lines 3–4", "lines 3 to 4", "3:1-4:9", "l3..l4"]
    {
        check(locus, Some((3, 4)));
    }
    check("post.md:6", Some((6, 6)));
    check("posts/launch.md:6:12", Some((6, 6)));
    check("second paragraph, line 6", Some((6, 6)));
    check("the opening (L3-L4)", Some((3, 4)));
}

#[test]
fn a_line_that_is_not_there_is_none() {
    for locus in ["L0", "L9", "lines 3-9", "lines 4-3", "L99999999999999999999", "9:1", "post.md:9"]
    {
        check(locus, None);
    }
}

#[test]
fn words_are_found_as_they_stand() {
    check("Nothing can go wrong.", Some((7, 7)));
    check("Nothing", Some((7, 7)));
    check("  customers said “finally” ", Some((6, 6)));
    check("ten times\nfaster than", Some((3, 4)));
    check("9:30", Some((6, 6)));
    check("line 2 of the terms", Some((8, 8)));
}

#[test]
fn words_are_found_as_people_quote_them() {
    check("“Nothing can go wrong”", Some((7, 7)));
    check("\"customers said 'finally'", Some((6, 6)));
    check("customers said \"finally\"", Some((6, 6)));
    check("we're live", Some((1, 1)));
    check("the fastest council there is - ten times faster than anything else", Some((3, 4)));
    check("the fastest council there is -- TEN TIMES", Some((3, 3)));
    check("Plenary is … anything else", Some((3, 4)));
    check("\"Plenary is [...] anything else\"", Some((3, 4)));
    check("…faster than anything else…", Some((4, 4)));
    check("Nothing can go wrong!", Some((7, 7)));
    check("The claim \"Nothing can go wrong\" in the third paragraph", Some((7, 7)));
    check("`NOTHING AT ALL`", Some((7, 7)));
    check("CAFÉ INCLUDED", Some((8, 8)));
}

#[test]
fn what_stands_twice_is_the_first_and_as_it_is_written_before_otherwise() {
    check("nothing", Some((7, 7)));
    let text = "the pricing\nThe Pricing\n";
    assert_eq!(resolve_locus("“The Pricing”", text), Some(LineRange { start: 2, end: 2 }));
    assert_eq!(resolve_locus("THE PRICING", text), Some(LineRange { start: 1, end: 1 }));
}

#[test]
fn what_is_not_there_has_no_lines() {
    for locus in ["", " ", "…", "\"\"", "the whole document", "thing", "in", "We … it", "§ 4"]
    {
        check(locus, None);
    }
    check("Nothing can go right", None);
    check("anything else … Plenary is", None);
    assert_eq!(resolve_locus("anything", ""), None);
    assert_eq!(resolve_locus("L1", ""), None);
}

#[test]
fn a_quote_that_is_not_in_the_text_is_recognised() {
    for locus in [
        "Nothing can go right",
        "L7 “Nothing can go right”",
        "the tone as a whole",
        "The claim \"we never fail\" in line 3",
        "“fastest” and “seldom if ever”",
        "L99",
        "the table in line 99",
    ] {
        assert!(lacks_quote(&concern(locus, "It is wrong."), TEXT), "{locus}");
    }
    for locus in [
        "",
        "L3",
        "lines 3-4",
        "whole text",
        "the table in line 3",
        "L7 “Nothing can go wrong”",
        "ten times   faster\n than",
        "\\Nothing can go wrong",
        "the words “at”",
        "“fastest” and “Nothing”",
        "合",
    ] {
        assert!(!lacks_quote(&concern(locus, "It is wrong."), TEXT), "{locus}");
    }
}

#[test]
fn a_long_quote_in_the_words_of_a_concern_is_looked_up_too() {
    let lacks = |issue: &str| lacks_quote(&concern("L1", issue), TEXT);
    assert!(lacks("It says \"we guarantee 100 percent uptime forever\"."));
    assert!(!lacks("“Nothing can go wrong” is a promise."));
    assert!(!lacks("Say \"seldom if ever\" instead."), "three words may be a better wording");
}

fn concern(locus: &str, issue: &str) -> ReviewConcern {
    let (locus, issue) = (locus.to_owned(), issue.to_owned());
    ReviewConcern { locus, issue, fix: String::new(), code: String::new() }
}

/// A text of words in several scripts, in lines.
fn any_text() -> impl Strategy<Value = String> {
    let word = "[a-zA-Zäöüé]{1,9}|[0-9]{1,3}|“[a-z]{2,5}”|[а-я]{3,8}|[-–*.,’]";
    let line = proptest::collection::vec(word, 0..9).prop_map(|words| words.join(" "));
    proptest::collection::vec(line, 1..12).prop_map(|lines| lines.join("\n"))
}

/// A text, and a part of it with at least twelve letters.
fn any_part() -> impl Strategy<Value = (String, String)> {
    (any_text(), any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_filter_map(
        "too short",
        |(text, one, other)| {
            let letters: Vec<char> = text.chars().collect();
            let (one, other) = (one.index(letters.len() + 1), other.index(letters.len() + 1));
            let part: String = letters[one.min(other)..one.max(other)].iter().collect();
            let is_long = part.chars().filter(|letter| letter.is_alphabetic()).count() >= 12;
            is_long.then_some((text, part))
        },
    )
}

/// The same words with other quotation marks, case and spaces.
fn requote_words(part: &str) -> String {
    let words: Vec<String> = part.split_whitespace().map(str::to_uppercase).collect();
    format!("“{}”", words.join("  ").replace(['“', '”'], "\"").replace('–', "-"))
}

proptest! {
    #[test]
    fn any_part_of_a_text_is_found_at_its_line((text, part) in any_part()) {
        let words = part.trim();
        let at = text.find(words).unwrap();
        let start = text[..at].matches('\n').count() + 1;
        let end = start + words.matches('\n').count();
        prop_assert_eq!(resolve_locus(&part, &text), Some(LineRange { start, end }));
    }

    #[test]
    fn a_part_that_was_requoted_is_found_where_its_words_stand((text, part) in any_part()) {
        let LineRange { start, end } = resolve_locus(&requote_words(&part), &text).unwrap();
        let found: Vec<&str> = text.lines().skip(start - 1).take(end + 1 - start).collect();
        let plain = |text: &str| -> String {
            text.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect()
        };
        prop_assert!(plain(&found.concat()).contains(&plain(&part)), "{found:?}");
    }

    #[test]
    fn no_locus_breaks_it(locus in "\\PC{0,60}", text in "\\PC{0,80}\n\\PC{0,80}") {
        if let Some(LineRange { start, end }) = resolve_locus(&locus, &text) {
            prop_assert!(1 <= start && start <= end && end <= 2);
        }
    }
}
