//! One line per situation of a council's rounds.

use crate::model::ids::ExpertSlug;
use crate::model::plan::{AuditMode, ConclusionPlan, DeliveryMode, Plan, StakesLevel};
use crate::model::run_state::{ParseOutcome, ReplyDocument};
use crate::protocols::council::answers::SeatLetters;
use crate::protocols::council::types::{OpinionReply, OpinionRisk, OpinionStance, RatingLevel};
use crate::protocols::sample::{begin, describe, next, plan, play};

fn ending(auditing: AuditMode) -> ConclusionPlan {
    let name = |name: &str| name.parse().unwrap();
    let (synthesizer, critic, reviser) = (name("ann"), name("bob"), name("ann"));
    ConclusionPlan { synthesizer, critic, reviser, auditing }
}

#[track_caller]
fn check_with(change: impl FnOnce(&mut Plan), script: &str, expected: &str) {
    let mut plan = plan();
    change(&mut plan);
    let state = play(begin(plan), script);
    assert_eq!(describe(&next(&state)), expected, "after: {script}");
}

#[track_caller]
fn check(script: &str, expected: &str) {
    check_with(|_| {}, script, expected);
}

const HEARD: &str = "ann1+ bob1+ cid1+ held1 ";
const REVIEWED: &str = "ann1+ bob1+ cid1+ held1 ann2+ bob2+ cid2+ held2 ";

fn after(begin: &str, script: &str) -> String {
    format!("{begin}{script}")
}

#[test]
fn everybody_is_asked_at_once() {
    check("", "ask ann, bob, cid in round 1");
    check("ann1+", "ask bob, cid in round 1");
    check("ann1+ bob1!", "ask cid in round 1");
    check("ann1+ bob1+ cid1+", "hold 1");
    check(HEARD, "ask ann, bob, cid in round 2");
    check(&after(HEARD, "ann2+ bob2+ cid2+"), "hold 2");
    check(REVIEWED, "ask ann in round 3");
    check(&after(REVIEWED, "ann3+"), "deliver `so be it` of ann");
}

#[test]
fn one_absence_does_not_stop_a_council_and_a_lone_voice_is_none() {
    check("ann1+ bob1+ cid1!", "hold 1");
    check("ann1+ bob1! cid1!", "stop: 1 of 2 in round 1");
    check("ann1! bob1! cid1!", "stop: 0 of 2 in round 1");
    check(&after(HEARD, "ann2+ bob2! cid2!"), "hold 2");
    check(&after(HEARD, "ann2! bob2! cid2!"), "stop: 0 of 1 in round 2");
    check_with(|plan| plan.quorum.r2_min = 0, &after(HEARD, "ann2! bob2! cid2!"), "hold 2");
}

#[test]
fn where_partial_panels_are_not_wanted_one_absence_ends_it() {
    let whole = |plan: &mut Plan| plan.quorum.allow_partial = false;
    let stop = "stop: Partial { round: 1, seat: ExpertSlug(\"cid\") }";
    check_with(whole, "ann1+ bob1+ cid1!", stop);
    check_with(whole, "ann1+ bob1+ cid1+", "hold 1");
}

#[test]
fn families_can_be_demanded() {
    let two = |plan: &mut Plan| {
        plan.quorum.families_min = 2;
        plan.seats.iter_mut().for_each(|seat| "one".clone_into(&mut seat.family));
    };
    check_with(two, "ann1+ bob1+ cid1+", "stop: Families { heard: 1, needed: 2 }");
}

#[test]
fn who_failed_in_the_first_round_still_reviews() {
    check("ann1+ bob1+ cid1! held1", "ask ann, bob, cid in round 2");
}

#[test]
fn nobody_reviews_nothing_but_themselves() {
    let one = |plan: &mut Plan| plan.quorum.r1_min = 1;
    check_with(one, "ann1+ bob1! cid1! held1", "ask bob, cid in round 2");
}

#[test]
fn a_panel_of_one_seat_needs_no_review() {
    let lone = |plan: &mut Plan| {
        plan.quorum.r1_min = 1;
        plan.seats.truncate(1);
    };
    check_with(lone, "ann1+ held1", "hold 2");
    check_with(lone, "ann1+ held1 held2", "ask ann in round 3");
}

#[test]
fn what_cannot_be_read_is_asked_for_once_more_and_then_absent() {
    check("ann1? bob1+ cid1+", "ask ann strictly in round 1");
    check("ann1? ann1+ bob1+ cid1+", "hold 1");
    check("ann1? ann1? bob1+ cid1+", "hold 1");
    check("ann1? ann1? bob1? bob1? cid1+", "stop: 1 of 2 in round 1");
    check("ann1x bob1+ cid1+", "hold 1");
    check(&after(REVIEWED, "ann3?"), "ask ann strictly in round 3");
}

#[test]
fn a_chair_that_fails_is_followed_by_another_and_then_by_the_best_opinion() {
    check(&after(REVIEWED, "ann3!"), "ask bob in round 3");
    check(&after(REVIEWED, "ann3? ann3?"), "ask bob in round 3");
    check(&after(REVIEWED, "ann3! bob3+"), "deliver `so be it` of bob");
    let fallback = "deliver `what ann wants` of nobody, a fallback";
    check(&after(REVIEWED, "ann3! bob3!"), fallback);
}

#[test]
fn a_selection_asks_no_chair() {
    let select = |plan: &mut Plan| plan.delivery = DeliveryMode::Selection;
    check_with(select, REVIEWED, "deliver `what ann wants` of nobody");
}

#[test]
fn what_cannot_be_paid_for_stops_the_run_once_the_others_have_spoken() {
    check("ann1$ bob1+", "ask cid in round 1");
    check("ann1$ bob1+ cid1+", "stop: Budget { shortage: Money }");
    check(&after(REVIEWED, "ann3$"), "stop: Budget { shortage: Money }");
}

#[test]
fn a_run_that_is_taken_up_again_goes_on_where_it_was() {
    check("ann1+ bob1… again", "ask bob, cid in round 1");
    check("ann1$ bob1+ cid1+ again", "ask ann in round 1");
    check("ann1! bob1+ cid1… again", "ask cid in round 1");
    check("ann1! bob1? bob1? cid1+ short again", "ask ann, bob in round 1");
    check(&after(REVIEWED, "ann3! bob3… again"), "ask bob in round 3");
}

#[test]
fn rounds_are_skipped_only_when_asked_for_and_all_criteria_hold() {
    let on = |plan: &mut Plan| plan.short_circuit.enabled = true;
    let low = |plan: &mut Plan| {
        plan.short_circuit.enabled = true;
        plan.stakes = StakesLevel::Low;
    };
    check_with(on, HEARD, "weigh 2: held");
    check_with(on, &after(HEARD, "weigh"), "ask ann, bob, cid in round 2");
    check_with(low, HEARD, "weigh 2: skipped");
    check_with(low, &after(HEARD, "weigh"), "hold 2");
    check_with(low, "ann1+ bob1- cid1+ held1", "weigh 2: held");
    check_with(low, &after(HEARD, "weigh held2"), "weigh 3: held");
}

#[test]
fn the_chair_is_skipped_when_reviews_confirm_or_the_budget_is_gone() {
    let on = |plan: &mut Plan| plan.short_circuit.enabled = true;
    let reviewed = "ann1+ bob1+ cid1+ held1 weigh ann2+ bob2+ cid2+ held2 ";
    check_with(on, reviewed, "weigh 3: skipped");
    check_with(on, &after(reviewed, "weigh"), "deliver `what ann wants` of nobody");
    let doubted = "ann1+ bob1+ cid1+ held1 weigh ann2- bob2+ cid2+ held2 ";
    check_with(on, doubted, "weigh 3: held");
    check_with(on, &after(doubted, "weigh ann3$"), "weigh 3: skipped");
}

#[test]
fn in_shadow_the_round_is_held_and_shows_whether_it_was_needed() {
    let shadow = |plan: &mut Plan| {
        plan.short_circuit.shadow = true;
        plan.stakes = StakesLevel::Low;
    };
    check_with(shadow, HEARD, "weigh 2: skipped in shadow");
    check_with(shadow, &after(HEARD, "weigh"), "ask ann, bob, cid in round 2");
    let right = after(HEARD, "weigh ann2+ bob2+ cid2+ held2 ");
    check_with(shadow, &right, "weigh 2: rightly skipped in shadow");
    let wrong = after(HEARD, "weigh ann2- bob2+ cid2+ held2 ");
    check_with(shadow, &wrong, "weigh 2: wrongly skipped in shadow");
    check_with(shadow, &after(&right, "weigh"), "weigh 3: skipped in shadow");
    let reported = after(&right, "weigh weigh ann3+");
    check_with(shadow, &reported, "weigh 3: rightly skipped in shadow");
    check_with(shadow, &after(&reported, " weigh"), "deliver `so be it` of ann");
}

#[test]
fn a_high_risk_or_low_confidence_is_no_agreement() {
    let low = |plan: &mut Plan| {
        plan.short_circuit.enabled = true;
        plan.stakes = StakesLevel::Low;
    };
    let mut plan = plan();
    low(&mut plan);
    for spoil in [
        (|opinion: &mut OpinionReply| opinion.confidence = RatingLevel::Low)
            as fn(&mut OpinionReply),
        |opinion| {
            let description = "it may burn".to_owned();
            opinion.risks =
                vec![OpinionRisk { description, severity: RatingLevel::High, mitigation: None }];
        },
        |opinion| opinion.stance = OpinionStance::None,
    ] {
        let mut state = play(begin(plan.clone()), HEARD);
        if let Some(ParseOutcome::Parsed { document: ReplyDocument::Opinion(opinion), .. }) =
            &mut state.asks[0].parse_outcome
        {
            spoil(opinion);
        }
        assert_eq!(describe(&next(&state)), "weigh 2: held");
    }
}

#[test]
fn letters_are_one_map_and_orders_are_each_readers_own() {
    let plan = plan();
    let letters = SeatLetters::from_plan(&plan);
    assert_eq!(letters, SeatLetters::from_plan(&plan));
    let all: Vec<char> = letters.iter().map(|(letter, _)| letter).collect();
    assert_eq!(all, ['A', 'B', 'C']);
    assert_eq!(letters.seat_of("B"), letters.iter().nth(1).map(|(_, name)| name));
    for written in ["", "D", "AB", "b", "Anna", "Opinion B", "A and B", "A, B"] {
        assert_eq!(letters.seat_of(written), None, "{written}");
    }
    let ann: ExpertSlug = "ann".parse().unwrap();
    assert!(letters.other_seats(&plan, &ann).iter().all(|(_, name)| **name != ann));
}

#[test]
fn a_principal_who_has_had_enough_gets_what_there_is() {
    let with = |plan: &mut Plan| plan.conclusion = Some(ending(AuditMode::Audited));
    check_with(with, "ann1+ bob1+ cid1… stop", "hold 1");
    check_with(with, "ann1+ bob1+ stop held1", "conclude");
    check_with(with, "ann1+ bob1+ cid1+ held1 ann2+ bob2… stop", "hold 2");
    check_with(with, "ann1+ bob1+ held1 ann2… bob2… stop", "conclude");
    check_with(with, "ann1+ bob1+ held1 ann2+ held2 ann3… stop", "conclude");
    check_with(with, "ann1+ bob1+ held1 ann2+ held2 ann3+ stop", "deliver `so be it` of ann");
}

#[test]
fn one_opinion_is_not_concluded_on_even_if_that_is_enough_for_the_principal() {
    let with = |plan: &mut Plan| plan.conclusion = Some(ending(AuditMode::Audited));
    check_with(with, "ann1+ bob1… cid1… stop", "stop: 1 of 2 in round 1");
    // A resumed run is meant to go further.
    check_with(with, "ann1+ bob1… cid1… stop short again", "ask bob, cid in round 1");
    let unreviewed = "ann1+ bob1+ cid1+ held1 ann2! bob2! cid2! short";
    check_with(with, &format!("{unreviewed} again"), "ask ann, bob, cid in round 2");
    check_with(with, &format!("{unreviewed} stop again"), "conclude");
    check_with(with, "ann1+ bob1+ cid1… stop again", "hold 1");
}

#[test]
fn a_stopped_council_that_was_to_end_with_a_report_delivers_the_best_opinion() {
    check("ann1+ bob1+ cid1… stop held1", "hold 2");
    check("ann1+ bob1+ cid1… stop held1 held2", "deliver `what ann wants` of nobody, a fallback");
}
