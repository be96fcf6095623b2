//! The exact messages of a review.

use std::collections::BTreeMap;

use plenary_core::model::ask::{Ask, AskPurpose};
use plenary_core::model::run_state::ReplyDocument;
use plenary_core::prompting::instructions::{RoleParts, SYSTEM};
use plenary_core::prompting::layout::RenderedPrompt;
use plenary_core::protocols::review::policy::PolicyName;
use plenary_core::protocols::review::types::{
    DeliberatorJudgement, DeliberatorVerdict, ReviewConcern, score_names,
};

use super::harness::{ForeignTexts, find_prompt, make_review_plan, review_driver};
use crate::kit::instructions::{gate_role, join_parts, show_layout};

const TEXTS: ForeignTexts<'_> = ForeignTexts {
    artifact: "# We launch\n\nOur cache is the fastest there is.",
    about: "posts/launch.md",
    context: "voice/guide.md",
    prior: "Too loud.",
};

fn make_judgement(seat: &str, would_block: bool, concerns: &[[&str; 2]]) -> DeliberatorJudgement {
    let scores = score_names(seat).map_or(vec!["lawfulness"], |names| names.to_vec());
    DeliberatorJudgement {
        verdict: if would_block { DeliberatorVerdict::Hold } else { DeliberatorVerdict::Revise },
        scores: scores.into_iter().map(|name| (name.to_owned(), 3)).collect::<BTreeMap<_, _>>(),
        would_block,
        irreducible: false,
        concerns: concerns
            .iter()
            .map(|[locus, issue]| ReviewConcern {
                locus: (*locus).to_owned(),
                issue: (*issue).to_owned(),
                fix: "Say so.".to_owned(),
                ..ReviewConcern::default()
            })
            .collect(),
        revision_brief: "Mend it.".to_owned(),
        concessions: Vec::new(),
        escalations: Vec::new(),
        delta_from_r1: String::new(),
    }
}

/// In the first reading the skeptic blocks for two reasons; in the second it drops one and finds
/// another. `evidence` answers in the first, `strategy` in the second, `legal` never.
fn run_sample_review() -> Vec<(Ask, RenderedPrompt)> {
    let mut driver = review_driver(make_review_plan(TEXTS));
    let mut all = Vec::new();
    while let asked @ [_, ..] = driver.next_asks().as_slice() {
        for (ask, _) in asked {
            let message = match (ask.seat.as_str(), ask.purpose) {
                ("skeptic", AskPurpose::Judgement) => make_judgement(
                    "skeptic",
                    true,
                    &[["the fastest", "Than what?"], ["launch", "When?"]],
                ),
                ("skeptic", AskPurpose::CrossReading) => DeliberatorJudgement {
                    escalations: vec!["evidence-1: nobody measured it.".to_owned()],
                    delta_from_r1: "evidence-1 is right.".to_owned(),
                    ..make_judgement(
                        "skeptic",
                        false,
                        &[["Launch", "On which day?"], ["cache", "Of what?"]],
                    )
                },
                ("evidence", AskPurpose::Judgement) => {
                    make_judgement("evidence", true, &[["the fastest", "Nobody measured it."]])
                }
                ("strategy", AskPurpose::CrossReading) => make_judgement("strategy", true, &[]),
                _ => {
                    driver.record_refusal(ask);
                    continue;
                }
            };
            driver.record_answer(ask, ReplyDocument::Judgement(Box::new(message)));
        }
        all.extend(asked.iter().cloned());
    }
    all
}

fn role_parts_of(seat: &str, purpose: AskPurpose) -> RoleParts {
    let plan = make_review_plan(TEXTS);
    gate_role(plan.review.as_deref().unwrap(), purpose, &seat.parse().unwrap()).unwrap()
}

fn role_of(seat: &str, purpose: AskPurpose) -> String {
    join_parts(&role_parts_of(seat, purpose))
}

/// The user message, after a check of the system message.
fn layout_for(seat: &str, purpose: AskPurpose) -> String {
    let (all, role) = (run_sample_review(), role_parts_of(seat, purpose));
    let messages = &find_prompt(&all, seat, purpose).messages;
    if purpose == AskPurpose::Adjudication {
        assert_eq!(messages.system, role.system_message());
    } else {
        assert_eq!(messages.system, SYSTEM.trim_end());
    }
    show_layout(messages, &role)
}

#[test]
fn a_deliberator_is_told_this() {
    insta::assert_snapshot!(role_of("skeptic", AskPurpose::Judgement));
}

#[test]
fn an_operators_deliberator_is_told_this_at_the_second_reading() {
    insta::assert_snapshot!(role_of("legal", AskPurpose::CrossReading));
}

#[test]
fn a_deliberator_is_shown_the_artifact_and_what_it_judges_by() {
    insta::assert_snapshot!(layout_for("evidence", AskPurpose::Judgement));
}

#[test]
fn at_the_second_reading_it_is_shown_what_was_held_at_the_first() {
    insta::assert_snapshot!(layout_for("skeptic", AskPurpose::CrossReading));
}

#[test]
fn the_adjudicator_is_told_this() {
    insta::assert_snapshot!(role_of("adjudicator", AskPurpose::Adjudication));
}

#[test]
fn the_adjudicator_is_shown_what_they_hold_and_what_was_counted() {
    insta::assert_snapshot!(layout_for("adjudicator", AskPurpose::Adjudication));
}

/// Every placeholder is filled for each seat, round and policy.
#[test]
fn no_instructions_have_a_gap() {
    let mut plan = make_review_plan(TEXTS);
    for policy in PolicyName::ALL {
        let gate = std::sync::Arc::make_mut(plan.review.as_mut().unwrap());
        gate.policy.name = *policy;
        let voice = "voice_identity".parse().unwrap();
        gate.deliberators[2].seat = voice;
        gate.deliberators[2].instructions = None;
        for seat in ["skeptic", "voice_identity", "evidence", "strategy"] {
            for purpose in [AskPurpose::Judgement, AskPurpose::CrossReading] {
                let system = join_parts(&gate_role(gate, purpose, &seat.parse().unwrap()).unwrap());
                assert!(system.contains("\n\nYour part: "), "{seat}");
                for name in score_names(seat).unwrap() {
                    // The definition, the list of names, and the schema.
                    assert!(system.matches(name).count() >= 3, "{name} of {seat}");
                }
                assert!(!system.contains("{scores}") && !system.contains("{names}"), "{seat}");
            }
        }
        let adjudicator = "adjudicator".parse().unwrap();
        let system = join_parts(&gate_role(gate, AskPurpose::Adjudication, &adjudicator).unwrap());
        assert!(
            system.contains(&format!("The policy is `{policy}`")) && !system.contains("{policy}")
        );
        assert!(gate_role(gate, AskPurpose::Opinion, &adjudicator).is_none());
        assert!(gate_role(gate, AskPurpose::Judgement, &adjudicator).is_none());
    }
}
