//! Which seat of a review may read which text.

use plenary_core::model::ask::AskPurpose;
use plenary_core::prompting::instructions::instructions_digest;
use plenary_core::protocols::review::messages::{adjudicator_digest, deliberator_digest};

use super::harness::{ForeignTexts, INSTRUCTIONS, SEATS, find_prompt, run_review};

const TEXTS: ForeignTexts<'_> = ForeignTexts {
    artifact: "canary-artifact",
    about: "canary-about",
    context: "canary-context",
    prior: "canary-prior",
};

/// Which text each seat is shown, in which reading.
#[test]
fn each_reads_what_is_theirs_and_nothing_else() {
    for (ask, prepared) in run_review(TEXTS, "canary-said") {
        let user = &prepared.messages.user_message();
        let is_adjudicator = ask.purpose == AskPurpose::Adjudication;
        let is_first = ask.purpose == AskPurpose::Judgement;
        let again = ask.retry_reason.is_some();
        let table = [
            ("canary-artifact", !is_adjudicator),
            ("canary-about", true),
            // Only its own files.
            ("canary-context", ask.seat.as_str() == "evidence"),
            ("canary-prior", is_adjudicator),
            // No text of the first reading reaches a first reading.
            ("canary-said", !is_first || again),
            ("\"producer\"", is_adjudicator),
        ];
        for (canary, is_due) in table {
            assert_eq!(user.contains(canary), is_due, "{canary} for {ask:?}");
        }
        assert!(!prepared.messages.system.contains("canary"), "{ask:?}");
    }
}

#[test]
fn the_first_reading_is_alone() {
    let all = run_review(TEXTS, "said");
    for (ask, prepared) in all.iter().filter(|(ask, _)| ask.purpose == AskPurpose::Judgement) {
        assert!(!prepared.messages.user_message().contains("BEGIN material JUDGEMENT"), "{ask:?}");
        assert!(!prepared.messages.user_message().contains("YOUR FIRST JUDGEMENT"), "{ask:?}");
    }
}

#[test]
fn at_the_second_reading_each_sees_the_others_and_its_own() {
    let all = run_review(TEXTS, "said");
    let shown = |seat: &str| -> Vec<String> {
        let user = &find_prompt(&all, seat, AskPurpose::CrossReading).messages.user_message();
        let labels = user.lines().filter_map(|line| line.strip_prefix("===== BEGIN material "));
        let labels = labels.map(|label| label.rsplitn(3, ' ').last().unwrap().to_owned());
        labels.filter(|label| label != "REASON").collect()
    };
    let before = ["ARTIFACT", "ABOUT THE ARTIFACT"];
    let after = |own: &str| -> Vec<String> {
        let others = SEATS.iter().filter(|seat| **seat != own && **seat != "evidence");
        others.map(|seat| format!("JUDGEMENT {seat}")).collect()
    };
    for seat in ["skeptic", "legal", "strategy"] {
        let expected =
            [&before.map(str::to_owned)[..], &["YOUR FIRST JUDGEMENT".to_owned()], &after(seat)];
        assert_eq!(shown(seat), expected.concat());
    }
    // It did not answer in the first reading, and is told so.
    let context = ["CONTEXT 1", "CONTEXT 2"];
    let expected =
        [&before.map(str::to_owned)[..], &context.map(str::to_owned), &after("evidence")];
    assert_eq!(shown("evidence"), expected.concat());
    let user = &find_prompt(&all, "evidence", AskPurpose::CrossReading).messages.user_message();
    assert!(user.contains("You gave no judgement at the first reading"), "{user}");
    let user = &find_prompt(&all, "skeptic", AskPurpose::CrossReading).messages.user_message();
    assert!(user.contains("`evidence` gave no judgement at the first reading."), "{user}");
}

#[test]
fn a_file_that_is_missing_is_named_with_its_reason() {
    let all = run_review(TEXTS, "said");
    let user = &find_prompt(&all, "evidence", AskPurpose::Judgement).messages.user_message();
    assert!(
        user.contains("{\"path\":\"canary-context\"}\n[could not be read: canary-context]"),
        "{user}"
    );
    assert!(user.contains("CONTEXT 2 could not be read: "), "{user}");
    assert!(!user.contains("CONTEXT 1 could not be read"), "{user}");
}

#[test]
fn an_operators_words_are_instructions() {
    let all = run_review(TEXTS, "said");
    for purpose in [AskPurpose::Judgement, AskPurpose::CrossReading] {
        let messages = &find_prompt(&all, "legal", purpose).messages;
        assert!(messages.user.contains(INSTRUCTIONS));
        assert!(
            messages.user.starts_with("You are the deliberator `legal` of an artifact gate, at ")
        );
        assert!(!messages.shared_text().contains(INSTRUCTIONS));
    }
}

#[test]
fn versions_follow_what_a_seat_is_told() {
    let skeptic = deliberator_digest("skeptic", None, &[]);
    assert_eq!(skeptic, deliberator_digest("skeptic", None, &[]));
    let others = [
        deliberator_digest("evidence", None, &[]),
        deliberator_digest("skeptic", Some(INSTRUCTIONS), &[]),
        deliberator_digest("legal", Some(INSTRUCTIONS), &[]),
        deliberator_digest("legal", Some("Your part: the law."), &[]),
        adjudicator_digest(),
        instructions_digest(),
    ];
    for (place, other) in others.iter().enumerate() {
        assert_ne!(skeptic, *other);
        assert!(!others[..place].contains(other));
    }
}
