//! Hostile strings in every place of a review's prompts.

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::plan::INPUT_BYTES_MAX;
use plenary_core::prompting::instructions::SYSTEM;

use super::harness::{ForeignTexts, make_review_plan, run_review};
use crate::fencing::corpus_strings;
use crate::kit::instructions::gate_role;
use crate::kit::pick_repeats;
use crate::prompt_fences::strip_fences;

#[test]
fn no_string_says_a_word_outside_its_fence() {
    let plain = "An honest text.";
    let honest = run_review(ForeignTexts::same_everywhere(plain), plain);
    let tried: Vec<usize> =
        [AskPurpose::Judgement, AskPurpose::CrossReading, AskPurpose::Adjudication]
            .map(|purpose| honest.iter().filter(|(ask, _)| ask.purpose == purpose).count())
            .to_vec();
    assert_eq!(tried, [6, 5, 2], "some place is not tried");
    let expected: Vec<String> = honest
        .iter()
        .map(|(_, prepared)| strip_fences(&prepared.messages.user_message()).0)
        .collect();
    let plan = make_review_plan(ForeignTexts::same_everywhere(plain));
    let gate = plan.review.as_deref().unwrap();
    // All strings take minutes; every sixtieth covers every corpus.
    let step = pick_repeats(60, 1) as usize;
    for (id, text) in corpus_strings().into_iter().step_by(step) {
        for ((ask, prepared), expected) in
            run_review(ForeignTexts::same_everywhere(&text), &text).iter().zip(&expected)
        {
            let (ours, faults) = strip_fences(&prepared.messages.user_message());
            assert_eq!(faults, Vec::<String>::new(), "{id} for {ask:?}");
            assert_eq!(ours, *expected, "{id} for {ask:?}");
            let role = gate_role(gate, ask.purpose, &ask.seat).unwrap();
            let system = if ask.purpose == AskPurpose::Adjudication {
                role.system_message()
            } else {
                SYSTEM.trim_end().to_owned()
            };
            assert_eq!(prepared.messages.system, system, "{id} for {ask:?}");
        }
    }
}

/// A review of long texts by seats with long answers.
#[track_caller]
fn check_budget(text: &str, message: &str) {
    for (ask, prepared) in run_review(
        ForeignTexts { about: "a", prior: "p", ..ForeignTexts::same_everywhere(text) },
        message,
    ) {
        let bytes = prepared.messages.user_message().len();
        assert!(bytes <= INPUT_BYTES_MAX, "{bytes} for {ask:?}");
        let (_, faults) = strip_fences(&prepared.messages.user_message());
        assert_eq!(faults, Vec::<String>::new());
        let cut = prepared.condensed.join("; ");
        let is_deliberator = ask.purpose != AskPurpose::Adjudication;
        let table = [
            ("the artifact was cut from ", is_deliberator),
            ("in the judgements, texts over ", ask.purpose != AskPurpose::Judgement),
            ("the context files were cut from ", ask.seat.as_str() == "evidence"),
        ];
        for (note, is_due) in table {
            assert_eq!(cut.contains(note), is_due, "{ask:?}: {cut}");
        }
        let result = "The artifact is too long to be shown whole";
        assert_eq!(prepared.messages.user_message().contains(result), is_deliberator, "{ask:?}");
    }
}

#[test]
fn no_message_is_over_its_budget() {
    check_budget(&"Once more with feeling. ".repeat(26_000), &"Well said. ".repeat(3_000));
}

#[test]
fn what_grows_when_it_is_shown_is_counted_as_it_is_shown() {
    check_budget(&"\u{1f}".repeat(110_000), &"\u{1f}".repeat(5_000));
}
