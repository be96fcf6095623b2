//! Every event is documented, and each derives from the journal.

use super::*;
use crate::domain::ask::{ErrorType, Purpose, TransportKind};
use crate::domain::change::Change;
use crate::domain::conclusion::{Audit, Auditor, Field};
use crate::domain::council::words::{Mode, Outcome};
use crate::domain::dialogue::{Stage, TerminalState};
use crate::domain::gate::{Decision, GateVerdict, Leaning, Override, Policy, PolicyName};
use crate::domain::intervention::Intervention;
use crate::domain::plan::Auditing;
use crate::domain::transcript::{Document, Reading, Shortage, Shortcut, Stop, Transcript};
use crate::export::conclusion::AuditVerdict;
use crate::export::conclusion::sample::{self, Run};
use crate::export::gate::sample as reviews;
use crate::export::interventions::InterventionSeen;
use crate::protocols::conclusion::{AUDIT, DRAFT, REVISION, SECOND_AUDIT};

const PAGE: &str = include_str!("../../../../docs/events.md");

fn seen() -> AskSeen {
    AskSeen { id: 1, round: 1, seat: "ann".parse().unwrap(), purpose: Purpose::Opinion }
}

/// A new event does not compile here until it is added; add it to the list below too.
fn is_listed(event: &Event) -> bool {
    match event {
        Event::Opened { .. }
        | Event::Started { .. }
        | Event::Asked { .. }
        | Event::CallSent { .. }
        | Event::Replied { .. }
        | Event::CallFailed { .. }
        | Event::Read { .. }
        | Event::Unreadable { .. }
        | Event::NotSent { .. }
        | Event::Shortcut(_)
        | Event::RoundHeld { .. }
        | Event::Reported { .. }
        | Event::Intervened(_)
        | Event::Drafted { .. }
        | Event::Audited { .. }
        | Event::Revised { .. }
        | Event::Concluded { .. }
        | Event::Judged { .. }
        | Event::Adjudicated { .. }
        | Event::Ruled { .. }
        | Event::Logged { .. }
        | Event::Overridden(_)
        | Event::Stopped(_) => true,
    }
}

fn read(ask: AskSeen) -> Event {
    Event::Read { ask, stance: None, confidence: None, repaired: false, truncated: false }
}

fn one_of_each() -> Vec<Event> {
    vec![
        Event::Opened {
            title: String::new(),
            question: String::new(),
            mode: Mode::General,
            rehearsal: false,
            seats: Vec::new(),
        },
        Event::Started { start: 1 },
        Event::Asked { ask: seen(), stricter: None },
        Event::CallSent {
            ask: seen(),
            call: 1,
            transport: TransportKind::Http,
            attempt: 1,
            fallback: None,
            repeats: None,
        },
        Event::Replied {
            ask: seen(),
            call: 1,
            latency_ms: 1,
            tokens_in: None,
            tokens_out: None,
            cost_usd: None,
        },
        Event::CallFailed {
            ask: seen(),
            call: 1,
            error_type: ErrorType::Timeout,
            message: String::new(),
            gave_up: true,
        },
        read(seen()),
        Event::Unreadable { ask: seen(), reason: String::new(), refusal: false },
        Event::NotSent { ask: seen(), shortage: Shortage::Money },
        Event::Shortcut(Shortcut {
            round: 2,
            triggered: true,
            reason: String::new(),
            rounds_skipped: Vec::new(),
            confidence_adjustment: 0,
            shadow: true,
            would_have_been_right: Some(true),
        }),
        Event::RoundHeld { round: 1 },
        Event::Reported {
            outcome: Outcome::Adopt,
            statement: String::new(),
            chair: None,
            fallback: true,
        },
        Event::Intervened(InterventionSeen::of(1, &Intervention::Stop)),
        Event::Drafted { ask: seen(), recommendation: String::new(), repaired: false },
        Event::Audited {
            ask: seen(),
            look: Look::First,
            verdict: AuditVerdict::Pass,
            objections: Vec::new(),
        },
        Event::Revised {
            ask: seen(),
            fields: Vec::new(),
            recommendation: String::new(),
            repaired: false,
        },
        Event::Concluded { terminal_state: None, recommendation: None },
        Event::Stopped(Stop::Done),
    ]
}

/// The events that only a review has.
fn one_of_each_of_a_review() -> Vec<Event> {
    vec![
        Event::Judged {
            ask: seen(),
            judged: JudgementSeen {
                verdict: Leaning::Hold,
                would_block: true,
                irreducible: true,
                concerns: 2,
                repaired: false,
            },
        },
        Event::Adjudicated {
            ask: seen(),
            word: AdjudicationSeen {
                final_verdict: Decision::Hold,
                downgrade: false,
                repaired: false,
            },
        },
        Event::Ruled {
            verdict: Decision::Ship,
            policy: Policy { name: PolicyName::Seed, min_deliberators: 3 }.count([]),
            revision_brief: String::new(),
        },
        Event::Logged { verdict_id: None, verdict: GateVerdict::Incomplete },
        Event::Overridden(Override {
            verdict_id: String::new(),
            decision: Decision::Ship,
            why: String::new(),
        }),
    ]
}

#[test]
fn every_event_and_each_of_its_fields_is_documented() {
    for event in one_of_each().into_iter().chain(one_of_each_of_a_review()) {
        assert!(is_listed(&event));
        let document = serde_json::to_value(&event).unwrap();
        let name = document["event"].as_str().unwrap().to_owned();
        let row = PAGE.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("`{name}` is not in docs/events.md"));
        let fields = document.as_object().unwrap().keys().filter(|field| *field != "event");
        for field in fields {
            assert!(row.contains(&format!("`{field}")), "`{name}`: `{field}` is missing");
        }
    }
}

#[test]
fn every_reason_a_call_can_fail_for_is_documented() {
    for error_type in ErrorType::ALL {
        assert!(PAGE.contains(&format!("`{}`", error_type.name())), "{error_type}");
    }
}

#[test]
fn every_way_a_run_stops_is_documented() {
    let stops = [
        Stop::Done,
        Stop::Quorum { round: 1, heard: 0, needed: 2 },
        Stop::Families { heard: 1, needed: 2 },
        Stop::Partial { round: 1, seat: sample::slug("ann") },
        Stop::Budget { shortage: Shortage::Money },
        Stop::Unconcluded {
            stage: Stage::Auditing,
            seat: sample::slug("bob"),
            reason: String::new(),
        },
        Stop::Unadjudicated { seat: sample::slug("adjudicator"), reason: String::new() },
        Stop::Deadline,
        Stop::Interrupted,
    ];
    let row = PAGE.lines().find(|line| line.starts_with("| `stopped` |")).unwrap();
    for stop in stops {
        let document = serde_json::to_value(&stop).unwrap();
        let fields: Vec<&str> =
            document.as_object().unwrap().keys().skip(1).map(String::as_str).collect();
        let name = document["stop"].as_str().unwrap();
        let expected = match fields.is_empty() {
            true => format!("`{name}`"),
            false => format!("`{name} {{{}}}`", fields.join(", ")),
        };
        assert!(row.contains(&expected), "{expected} is not in: {row}");
    }
}

#[test]
fn the_rounds_of_the_ending_are_documented() {
    let rounds = [(DRAFT, "conclusion"), (AUDIT, "audit"), (REVISION, "revision")];
    for (round, purpose) in rounds {
        assert!(PAGE.contains(&format!("{round} (`{purpose}`)")), "{round}");
    }
    assert!(PAGE.contains(&format!("{SECOND_AUDIT} (`audit`, the second look)")));
}

/// The events of one change, after the run applied it.
fn after(run: &mut Run, change: Change) -> Vec<Event> {
    run.take(change.clone());
    events(&run.transcript, &[change])
}

/// The events of the newest ask's parse result.
fn of_last_reading(transcript: &Transcript) -> Vec<Event> {
    let last = transcript.asks.last().unwrap();
    let reading = last.reading.clone().unwrap();
    events(transcript, &[Change::ReplyRead { ask: last.ask.id, reading }])
}

#[test]
fn the_ending_is_told_in_events_of_its_own() {
    let mut run = Run::debated(Auditing::Audited);
    run.drafted(sample::original());
    let [Event::Drafted { ask, recommendation, .. }] = &of_last_reading(&run.transcript)[..] else {
        panic!("no draft")
    };
    assert_eq!((ask.round, recommendation), (DRAFT, &sample::original().recommendation));
    let flag = || Audit::Flag { objections: sample::FIRST.iter().map(sample::objection).collect() };
    run.audited(flag());
    let [Event::Audited { look, verdict, objections, .. }] = &of_last_reading(&run.transcript)[..]
    else {
        panic!("no audit")
    };
    assert_eq!((*look, *verdict, objections.len()), (Look::First, AuditVerdict::Flag, 2));
    assert_eq!(objections[0].by, Auditor::Count);
    run.revised(sample::conclusion());
    let [Event::Revised { fields, .. }] = &of_last_reading(&run.transcript)[..] else {
        panic!("no revision")
    };
    assert_eq!(fields[..], [Field::Recommendation, Field::KeyCondition]);
    run.audited(Audit::Pass);
    let [Event::Audited { look, verdict, .. }] = &of_last_reading(&run.transcript)[..] else {
        panic!("no second audit")
    };
    assert_eq!((*look, *verdict), (Look::Second, AuditVerdict::Pass));
}

#[test]
fn what_was_rejected_twice_is_not_told_as_a_conclusion() {
    let told = |transcript: Transcript| {
        let ending = Change::Concluded(Box::new(transcript.ending.clone().unwrap()));
        serde_json::to_value(events(&transcript, &[ending])).unwrap()
    };
    let unconverged = told(sample::unconverged());
    assert_eq!(unconverged[0]["terminal_state"], "unconverged");
    assert!(unconverged[0]["recommendation"].is_null());
    let unaudited = told(sample::unaudited());
    assert!(unaudited[0]["terminal_state"].is_null());
    assert_eq!(unaudited[0]["recommendation"], sample::conclusion().recommendation);
    assert_eq!(told(sample::clean())[0]["terminal_state"], TerminalState::Clean.name());
}

#[test]
fn an_intervention_is_told_with_its_round() {
    let mut run = Run::new(Auditing::Audited);
    let whisper =
        Intervention::Whisper { text: "quietly".to_owned(), to: Some(sample::slug("cid")) };
    let told = after(&mut run, Change::Intervened { round: 2, intervention: whisper });
    insta::assert_snapshot!(
        serde_json::to_string(&told).unwrap(),
        @r#"[{"event":"intervened","round":2,"kind":"whisper","text":"quietly","to":"cid","restated":null,"confirmed":null}]"#
    );
}

#[test]
fn an_audit_that_cannot_be_read_is_told_as_such() {
    let mut run = Run::debated(Auditing::Audited);
    run.drafted(sample::conclusion());
    run.says("bob", AUDIT, Purpose::Audit, Document::Audit(Audit::Pass));
    let ask = run.transcript.asks.last().unwrap().ask.id;
    let reading = Reading::Unreadable { reason: "neither PASS nor FLAG".into(), refusal: false };
    let told = events(&run.transcript, &[Change::ReplyRead { ask, reading }]);
    assert!(matches!(&told[..], [Event::Unreadable { .. }]), "{told:?}");
}

#[test]
fn a_review_is_told_in_events_of_its_own() {
    let transcript = reviews::revised();
    let readings = transcript.asks.iter().filter_map(|asked| {
        let reading = asked.reading.clone()?;
        Some(Change::ReplyRead { ask: asked.ask.id, reading })
    });
    let ruled = Change::Ruled(Box::new(transcript.ruling.clone().unwrap()));
    let changes: Vec<Change> = readings.chain([ruled]).collect();
    let told = serde_json::to_value(events(&transcript, &changes)).unwrap();
    let told = told.as_array().unwrap();
    insta::assert_snapshot!(told[0], @r#"
    {"event":"judged","ask":{"id":1,"round":1,"seat":"skeptic","purpose":"judgement"},"verdict":"hold","would_block":true,"irreducible":true,"concerns":2,"repaired":false}
    "#);
    insta::assert_snapshot!(told[told.len() - 2], @r#"
    {"event":"adjudicated","ask":{"id":9,"round":3,"seat":"adjudicator","purpose":"adjudication"},"final_verdict":"REVISE","downgrade":true,"repaired":false}
    "#);
    insta::assert_snapshot!(told[told.len() - 1], @r#"
    {"event":"ruled","verdict":"REVISE","policy":{"name":"seed","present":4,"blocks":3,"irreducible_blocks":1,"computed":"HOLD"},"revision_brief":"1. Cut “fastest in the world”.\n2. Give “ten times” its measurement."}
    "#);
}
