//! One line per situation: what happened so far, and so what comes next. `check` and
//! the small language of its scripts are the only code that knows the API.

use super::next;
use crate::domain::ask::{
    Ask, Cost, CostSource, ErrorType, Failure, Finish, Purpose, Reply, Reservation, Sending,
    TransportKind,
};
use crate::domain::change::Change;
use crate::domain::council::opinion::{Details, Opinion, Risk};
use crate::domain::council::report::{Conclusion, Rationale, Report};
use crate::domain::council::review::{Critique, Review, Target};
use crate::domain::council::words::{CritiqueType, Level, Mode, Outcome, Stance};
use crate::domain::dialogue::{Opening, Protocol};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{
    Caps, ContextPack, Delivery, Plan, Quorum, Role, Seat, ShortCircuit, Stakes, Timeouts,
};
use crate::domain::time::Moment;
use crate::domain::transcript::{Document, Reading, Shortage, Stop, Transcript};
use crate::protocols::Step;
use crate::protocols::council::Letters;

/// Three participants, of whom `ann` and `bob` may chair.
fn plan() -> Plan {
    let seat = |name: &str, roles: &[Role]| Seat {
        name: name.parse().unwrap(),
        provider: name.parse().unwrap(),
        model: "m".to_owned(),
        family: name.to_owned(),
        version: "1".to_owned(),
        roles: roles.to_vec(),
        transports: vec![TransportKind::Http],
        endpoint: None,
        price: None,
        output_tokens_max: 100,
        temperature: None,
        timeouts: None,
    };
    let both = [Role::Participant, Role::Chair];
    Plan {
        mode: Mode::General,
        seats: vec![seat("ann", &both), seat("bob", &both), seat("cid", &[Role::Participant])],
        chairs: ["ann", "bob"].map(|name| name.parse().unwrap()).to_vec(),
        timeouts: Timeouts::default(),
        quorum: Quorum::default(),
        conclusion: None,
        short_circuit: ShortCircuit::default(),
        stakes: Stakes::Normal,
        delivery: Delivery::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: Caps::default(),
        secret: "0123".to_owned(),
        context: ContextPack::default().into(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}

fn moment() -> Moment {
    "2026-02-02T09:00:00Z".parse().unwrap()
}

fn begin(plan: Plan) -> Transcript {
    let opening = Opening {
        dialogue_id: "q-00000000".parse().unwrap(),
        title: "Q".to_owned(),
        question: Some("Q?".to_owned()),
        background: None,
        protocol: Protocol::Council,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: String::new(),
    };
    let changes = [
        Change::DialogueOpened(opening),
        Change::RunPlanned(Box::new(plan)),
        Change::RunStarted { owner: "1".to_owned() },
    ];
    Transcript::begin(moment(), &changes).unwrap()
}

/// Plays a script. `ann1+` heard, `ann1-` heard and against it, `ann1!` failed, `ann1?`
/// unreadable, `ann1x` refused, `ann1$` not affordable, `ann1…` asked and in flight; `held1` a
/// round in the record; `weigh` notes whatever is due; `again` another process takes it up;
/// `short` the run stopped for want of voices.
fn play(mut transcript: Transcript, script: &str) -> Transcript {
    for word in script.split_whitespace() {
        let changes = match word {
            "again" => vec![Change::RunStarted { owner: "2".to_owned() }],
            "short" => {
                let stop = Stop::Quorum { round: 1, heard: 0, needed: 2 };
                vec![Change::RunStopped(stop)]
            }
            "weigh" => {
                let step = next(&transcript);
                let Step::Weigh(shortcut) = step else { panic!("{}", describe(&step)) };
                vec![Change::ShortcutWeighed(shortcut)]
            }
            held if held.starts_with("held") => {
                let round = held["held".len()..].parse().unwrap();
                vec![Change::RoundHeld { round, title: None, score: 0, summary: None }]
            }
            said => spoken(&transcript, said),
        };
        transcript.add(moment(), &changes);
    }
    transcript
}

fn spoken(transcript: &Transcript, word: &str) -> Vec<Change> {
    let (seat, rest) = word.split_at(3);
    let (round, mark) = rest.split_at(1);
    let (seat, round): (ExpertSlug, u8) = (seat.parse().unwrap(), round.parse().unwrap());
    let purpose = [Purpose::Opinion, Purpose::Review, Purpose::Synthesis][usize::from(round) - 1];
    let stricter = transcript.last_ask(round, &seat).map(|_| "it was unreadable".to_owned());
    let id = transcript.next_ask_id();
    let call = transcript.next_call_id();
    let ask = Ask { id, round, seat: seat.clone(), purpose, stricter };
    let mut changes = vec![Change::AskPrepared {
        ask,
        messages: None,
        messages_sha256: None,
        condensed: Vec::new(),
    }];
    if mark == "$" {
        changes.push(Change::AskNotSent { ask: id, shortage: Shortage::Money });
        return changes;
    }
    changes.push(Change::CallSent(Sending {
        call,
        ask: id,
        transport: TransportKind::Http,
        attempt: 1,
        reserved: Reservation::default(),
        fallback: None,
        repeats: None,
    }));
    let failure =
        || Failure { error_type: ErrorType::Network, message: String::new(), latency_ms: 1 };
    let unreadable = |refusal| Reading::Unreadable { reason: "no JSON".to_owned(), refusal };
    let reading = match mark {
        "…" => return changes,
        "!" => {
            changes.push(Change::CallFailed { call, failure: failure(), gave_up: true });
            return changes;
        }
        "?" => unreadable(false),
        "x" => unreadable(true),
        "+" | "-" => {
            let document = document(transcript, &seat, round, mark == "+");
            Reading::Read { document, repaired: false }
        }
        other => panic!("no mark {other}"),
    };
    changes.push(Change::ReplyKept { call, reply: reply() });
    changes.push(Change::ReplyRead { ask: id, reading });
    changes
}

fn reply() -> Reply {
    Reply {
        text: String::new(),
        usage: None,
        model: None,
        finish: Finish::Stop,
        cost: Cost { usd_micros: None, source: CostSource::Unknown },
        latency_ms: 1,
        structured: false,
    }
}

/// In favour, or against with a grave critique.
fn document(transcript: &Transcript, seat: &ExpertSlug, round: u8, in_favour: bool) -> Document {
    match round {
        1 => Document::Opinion(Box::new(opinion(seat, in_favour))),
        2 => {
            let letters = Letters::of(&transcript.plan);
            let others = letters.others(&transcript.plan, seat);
            let critique = Critique {
                critique_type: CritiqueType::Error,
                message: "wrong".to_owned(),
                severity: Level::Medium,
                location: None,
                suggested_correction: None,
            };
            let target = |letter: char| Target {
                letter: letter.to_string(),
                rating: 5,
                critiques: if in_favour { Vec::new() } else { vec![critique.clone()] },
                agreement_points: Vec::new(),
                disagreement_points: Vec::new(),
                finding_positions: Vec::new(),
            };
            let targets = others.iter().map(|(letter, _)| target(*letter)).collect();
            Document::Review(Box::new(Review { targets, would_change_my_opinion: Vec::new() }))
        }
        _ => Document::Report(Box::new(report(in_favour))),
    }
}

fn opinion(seat: &ExpertSlug, in_favour: bool) -> Opinion {
    Opinion {
        summary: format!("{seat} thinks so"),
        details: Details {
            understanding: String::new(),
            key_considerations: Vec::new(),
            recommendation: format!("what {seat} wants"),
            rationale: String::new(),
        },
        risks: Vec::new(),
        assumptions: Vec::new(),
        questions: Vec::new(),
        confidence: Level::High,
        stance: if in_favour { Stance::Approve } else { Stance::Reject },
        findings: Vec::new(),
    }
}

fn report(in_favour: bool) -> Report {
    Report {
        conclusion: Conclusion {
            outcome: if in_favour { Outcome::Adopt } else { Outcome::Reject },
            statement: "so be it".to_owned(),
            reason: None,
        },
        rationale: Rationale {
            summary: "because".to_owned(),
            supporting_opinions: Vec::new(),
            supporting_reviews: Vec::new(),
        },
        disagreements: Vec::new(),
        uncertainties: Vec::new(),
        risks: Vec::new(),
        next_actions: Vec::new(),
        consensus_points: Vec::new(),
        alternatives: Vec::new(),
        verification_plan: Vec::new(),
        findings: Vec::new(),
    }
}

fn describe(step: &Step) -> String {
    match step {
        Step::Ask(asks) => {
            let one = |ask: &Ask| {
                let strict = if ask.stricter.is_some() { " strictly" } else { "" };
                format!("{}{strict}", ask.seat)
            };
            let who: Vec<String> = asks.iter().map(one).collect();
            format!("ask {} in round {}", who.join(", "), asks[0].round)
        }
        Step::Hold(round) => format!("hold {round}"),
        Step::Weigh(weighed) => {
            let how = match (weighed.triggered, weighed.shadow, weighed.would_have_been_right) {
                (false, ..) => "held",
                (true, false, _) => "skipped",
                (true, true, None) => "skipped in shadow",
                (true, true, Some(true)) => "rightly skipped in shadow",
                (true, true, Some(false)) => "wrongly skipped in shadow",
            };
            format!("weigh {}: {how}", weighed.round)
        }
        Step::Deliver(report) => {
            let chair = report.chair_provider.as_ref().map_or("nobody", ExpertSlug::as_str);
            let fallback = if report.fallback { ", a fallback" } else { "" };
            format!("deliver `{}` of {chair}{fallback}", report.report.conclusion.statement)
        }
        Step::Stop(Stop::Quorum { round, heard, needed }) => {
            format!("stop: {heard} of {needed} in round {round}")
        }
        Step::Stop(stop) => format!("stop: {stop:?}"),
    }
}

#[track_caller]
fn check_with(change: impl FnOnce(&mut Plan), script: &str, expected: &str) {
    let mut plan = plan();
    change(&mut plan);
    let transcript = play(begin(plan), script);
    assert_eq!(describe(&next(&transcript)), expected, "after: {script}");
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
    let select = |plan: &mut Plan| plan.delivery = Delivery::Selection;
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
        plan.stakes = Stakes::Low;
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
        plan.stakes = Stakes::Low;
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
        plan.stakes = Stakes::Low;
    };
    let mut plan = plan();
    low(&mut plan);
    for spoil in [
        (|opinion: &mut Opinion| opinion.confidence = Level::Low) as fn(&mut Opinion),
        |opinion| {
            let description = "it may burn".to_owned();
            opinion.risks = vec![Risk { description, severity: Level::High, mitigation: None }];
        },
        |opinion| opinion.stance = Stance::None,
    ] {
        let mut transcript = play(begin(plan.clone()), HEARD);
        if let Some(Reading::Read { document: Document::Opinion(opinion), .. }) =
            &mut transcript.asks[0].reading
        {
            spoil(opinion);
        }
        assert_eq!(describe(&next(&transcript)), "weigh 2: held");
    }
}

#[test]
fn letters_are_one_map_and_orders_are_each_readers_own() {
    let plan = plan();
    let letters = Letters::of(&plan);
    assert_eq!(letters, Letters::of(&plan));
    let all: Vec<char> = letters.iter().map(|(letter, _)| letter).collect();
    assert_eq!(all, ['A', 'B', 'C']);
    assert_eq!(letters.seat("B"), letters.iter().nth(1).map(|(_, name)| name));
    for written in ["", "D", "AB", "b", "Anna", "Opinion B", "A and B", "A, B"] {
        assert_eq!(letters.seat(written), None, "{written}");
    }
    let ann: ExpertSlug = "ann".parse().unwrap();
    assert!(letters.others(&plan, &ann).iter().all(|(_, name)| **name != ann));
}
