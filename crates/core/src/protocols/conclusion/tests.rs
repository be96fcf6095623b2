//! One line per situation of an ending.

use crate::model::plan::{AuditMode, ConclusionPlan};
use crate::protocols::sample::{begin, describe, next, plan, play};

/// `ann` writes and mends, `bob` audits.
fn ending(auditing: AuditMode) -> ConclusionPlan {
    let name = |name: &str| name.parse().unwrap();
    let (synthesizer, critic, reviser) = (name("ann"), name("bob"), name("ann"));
    ConclusionPlan { synthesizer, critic, reviser, auditing }
}

#[track_caller]
fn check_with(auditing: AuditMode, script: &str, expected: &str) {
    let mut plan = plan();
    plan.conclusion = Some(ending(auditing));
    let rounds = "ann1+ bob1+ cid1+ held1 ann2+ bob2+ cid2+ held2 ann3+ report";
    let state = play(begin(plan), &format!("{rounds} {script}"));
    assert_eq!(describe(&next(&state)), expected, "after: {script}");
}

#[track_caller]
fn check(script: &str, expected: &str) {
    check_with(AuditMode::Audited, script, expected);
}

#[test]
fn a_conclusion_that_passes_at_first_sight_is_clean() {
    check("", "conclude");
    check("begun", "ask ann in round 4");
    check("begun ann4+", "ask bob in round 5");
    check("begun ann4+ bob5+", "end clean: Yes.");
}

#[test]
fn what_is_flagged_is_mended_once_and_looked_at_again() {
    check("begun ann4+ bob5-", "ask ann in round 6");
    check("begun ann4+ bob5- ann6+", "ask bob in round 7");
    check("begun ann4+ bob5- ann6+ bob7+", "end revised: Yes, but slowly.");
    check("begun ann4+ bob5- ann6+ bob7-", "end unconverged: Yes, but slowly.");
}

#[test]
fn whoever_cannot_be_read_is_asked_once_more_and_then_it_stops_where_it_is() {
    check("begun ann4?", "ask ann strictly in round 4");
    check("begun ann4? ann4?", "stop concluding: ann: no JSON");
    check("begun ann4+ bob5?", "ask bob strictly in round 5");
    check("begun ann4+ bob5? bob5?", "stop auditing: bob: no JSON");
    check("begun ann4+ bob5? bob5+", "end clean: Yes.");
    check("begun ann4+ bob5- ann6?", "ask ann strictly in round 6");
    check("begun ann4+ bob5- ann6? ann6?", "stop revising: ann: no JSON");
    check("begun ann4+ bob5- ann6+ bob7? bob7?", "stop revising: bob: no JSON");
}

#[test]
fn whoever_refuses_is_asked_once_more_too() {
    check("begun ann4x", "ask ann strictly in round 4");
    check("begun ann4+ bob5x", "ask bob strictly in round 5");
    check("begun ann4+ bob5x bob5x", "stop auditing: bob: no JSON");
}

#[test]
fn a_critic_who_is_down_leaves_nothing_clean() {
    check("begun ann4+ bob5!", "stop auditing: bob: it is down");
    check("begun ann4+ bob5- ann6+ bob7!", "stop revising: bob: it is down");
}

#[test]
fn what_stopped_for_want_of_somebody_asks_them_again() {
    check("begun ann4! short again", "ask ann in round 4");
    check("begun ann4+ bob5? bob5? short again", "ask bob in round 5");
    check("begun ann4+ bob5- ann6! short again", "ask ann in round 6");
    check("begun ann4+ bob5- ann6+ bob7! short again bob7+", "end revised: Yes, but slowly.");
}

#[test]
fn what_was_in_flight_is_asked_for_again() {
    check("begun ann4… again", "ask ann in round 4");
    check("begun ann4+ bob5… again", "ask bob in round 5");
}

#[test]
fn without_a_budget_it_stops_where_it_is() {
    check("begun ann4$", "stop: Budget { shortage: Money }");
    check("begun ann4+ bob5$ again", "ask bob in round 5");
}

#[test]
fn without_an_auditor_no_state_is_given() {
    check_with(AuditMode::Unaudited, "begun ann4+", "end unaudited: Yes.");
}

#[test]
fn a_stop_during_the_ending_changes_nothing() {
    check("begun ann4+ bob5… stop again", "ask bob in round 5");
    check("begun ann4+ stop bob5+", "end clean: Yes.");
}
