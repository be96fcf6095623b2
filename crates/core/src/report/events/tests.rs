//! Every event is documented, and each derives from the journal.

use crate::model::ask::{AskPurpose, CallErrorType, TransportKind};
use crate::model::dialogue::{ConclusionStage, TerminalState};
use crate::model::intervention::Intervention;
use crate::model::journal::JournalEvent;
use crate::model::plan::AuditMode;
use crate::model::run_state::{
    BudgetShortage, ParseOutcome, ReplyDocument, RoundShortcut, RunState, RunStopReason,
};
use crate::model::verdict::VerdictType;
use crate::protocols::conclusion::document::AuditVerdict;
use crate::protocols::conclusion::next::{AUDIT, DRAFT, REVISION, SECOND_AUDIT};
use crate::protocols::conclusion::sample::{
    FIRST, SampleRun, clean, conclusion, objection, original, slug,
};
use crate::protocols::conclusion::types::{AuditReply, ConclusionField, ObjectionSource};
use crate::protocols::council::types::{QuestionMode, ReportOutcome};
use crate::protocols::review::policy::{
    PolicyName, ReviewDecision, ReviewPolicy, ReviewVerdict, VerdictOverride,
};
use crate::protocols::review::types::DeliberatorVerdict;
use crate::report::dialogue_events::JudgedRound;
use crate::report::events::{
    AdjudicationSummary, AskSummary, AuditRound, JudgementSummary, LimitSummary, RunEvent,
    derive_events,
};
use crate::report::interventions::InterventionSummary;

const PAGE: &str = include_str!("../../../../../docs/events.md");

fn sample_ask() -> AskSummary {
    AskSummary { id: 1, round: 1, seat: "ann".parse().unwrap(), purpose: AskPurpose::Opinion }
}

/// A new event does not compile here until it is added; add it to the list below too.
fn is_listed(event: &RunEvent) -> bool {
    match event {
        RunEvent::Opened { .. }
        | RunEvent::Started { .. }
        | RunEvent::SeatChanged { .. }
        | RunEvent::Asked { .. }
        | RunEvent::CallSent { .. }
        | RunEvent::Replied { .. }
        | RunEvent::CallFailed { .. }
        | RunEvent::Read { .. }
        | RunEvent::Unreadable { .. }
        | RunEvent::NotSent { .. }
        | RunEvent::Shortcut(_)
        | RunEvent::RoundHeld { .. }
        | RunEvent::PanelSet { .. }
        | RunEvent::VerdictGiven { .. }
        | RunEvent::SeatsAdded { .. }
        | RunEvent::Refused { .. }
        | RunEvent::Reported { .. }
        | RunEvent::Intervened(_)
        | RunEvent::Drafted { .. }
        | RunEvent::Audited { .. }
        | RunEvent::Revised { .. }
        | RunEvent::Concluded { .. }
        | RunEvent::Judged { .. }
        | RunEvent::Adjudicated { .. }
        | RunEvent::Ruled { .. }
        | RunEvent::Logged { .. }
        | RunEvent::Overridden(_)
        | RunEvent::Stopped(_) => true,
    }
}

fn read(ask: AskSummary) -> RunEvent {
    RunEvent::Read { ask, stance: None, confidence: None, repaired: false, truncated: false }
}

fn one_of_each() -> Vec<RunEvent> {
    [dialogue_samples(), run_samples()].concat()
}

fn dialogue_samples() -> Vec<RunEvent> {
    vec![
        RunEvent::RoundHeld {
            round: 1,
            judged: Some(JudgedRound { title: None, score: 1, summary: None }),
        },
        RunEvent::PanelSet { round: 0, experts: Vec::new() },
        RunEvent::VerdictGiven {
            verdict_id: "final".parse().unwrap(),
            verdict_type: VerdictType::Final,
            recommendation: String::new(),
            vote: None,
            forced: false,
        },
        RunEvent::SeatsAdded { seats: Vec::new() },
        RunEvent::Refused { ask: sample_ask(), reason: String::new() },
    ]
}

#[expect(clippy::too_many_lines, reason = "one value of each event")]
fn run_samples() -> Vec<RunEvent> {
    vec![
        RunEvent::Opened {
            title: String::new(),
            question: String::new(),
            mode: QuestionMode::General,
            rehearsal: false,
            seats: Vec::new(),
            limits: LimitSummary { usd_max: 2.0, tokens_max: 1, calls_max: 1, wall_max_ms: 1 },
        },
        RunEvent::Started { start: 1 },
        RunEvent::SeatChanged { seat: "ann".parse().unwrap(), changes: Vec::new() },
        RunEvent::Asked { ask: sample_ask(), stricter: None },
        RunEvent::CallSent {
            ask: sample_ask(),
            call: 1,
            transport: TransportKind::Http,
            attempt: 1,
            fallback: None,
            repeats: None,
            without: Vec::new(),
        },
        RunEvent::Replied {
            ask: sample_ask(),
            call: 1,
            latency_ms: 1,
            tokens_in: None,
            tokens_out: None,
            cost_usd: None,
        },
        RunEvent::CallFailed {
            ask: sample_ask(),
            call: 1,
            error_type: CallErrorType::Timeout,
            message: String::new(),
            gave_up: true,
            refused: None,
        },
        read(sample_ask()),
        RunEvent::Unreadable { ask: sample_ask(), reason: String::new(), refusal: false },
        RunEvent::NotSent { ask: sample_ask(), shortage: BudgetShortage::Money },
        RunEvent::Shortcut(RoundShortcut {
            round: 2,
            triggered: true,
            reason: String::new(),
            rounds_skipped: Vec::new(),
            confidence_adjustment: 0,
            shadow: true,
            would_have_been_right: Some(true),
        }),
        RunEvent::Reported {
            outcome: ReportOutcome::Adopt,
            statement: String::new(),
            chair: None,
            fallback: true,
        },
        RunEvent::Intervened(InterventionSummary::from_intervention(1, &Intervention::Stop)),
        RunEvent::Drafted { ask: sample_ask(), recommendation: String::new(), repaired: false },
        RunEvent::Audited {
            ask: sample_ask(),
            look: AuditRound::First,
            verdict: AuditVerdict::Pass,
            objections: Vec::new(),
        },
        RunEvent::Revised {
            ask: sample_ask(),
            fields: Vec::new(),
            recommendation: String::new(),
            repaired: false,
        },
        RunEvent::Concluded { terminal_state: None, recommendation: None },
        RunEvent::Stopped(RunStopReason::Done),
    ]
}

/// The events that only a review has.
fn one_of_each_of_a_review() -> Vec<RunEvent> {
    vec![
        RunEvent::Judged {
            ask: sample_ask(),
            judged: JudgementSummary {
                verdict: DeliberatorVerdict::Hold,
                would_block: true,
                irreducible: true,
                concerns: 2,
                repaired: false,
            },
        },
        RunEvent::Adjudicated {
            ask: sample_ask(),
            word: AdjudicationSummary {
                final_verdict: ReviewDecision::Hold,
                downgrade: false,
                repaired: false,
            },
        },
        RunEvent::Ruled {
            verdict: ReviewDecision::Ship,
            policy: ReviewPolicy { name: PolicyName::Seed, min_deliberators: 3 }.count_blocks([]),
            revision_brief: String::new(),
        },
        RunEvent::Logged { verdict_id: None, verdict: ReviewVerdict::Incomplete },
        RunEvent::Overridden(VerdictOverride {
            verdict_id: String::new(),
            decision: ReviewDecision::Ship,
            why: String::new(),
            by: None,
            decided_at: None,
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
    for error_type in CallErrorType::ALL {
        assert!(PAGE.contains(&format!("`{}`", error_type.name())), "{error_type}");
    }
}

#[test]
fn every_way_a_run_stops_is_documented() {
    let stops = [
        RunStopReason::Done,
        RunStopReason::Quorum { round: 1, heard: 0, needed: 2 },
        RunStopReason::Families { heard: 1, needed: 2 },
        RunStopReason::Partial { round: 1, seat: slug("ann") },
        RunStopReason::Budget { shortage: BudgetShortage::Money },
        RunStopReason::Unconcluded {
            stage: ConclusionStage::Auditing,
            seat: slug("bob"),
            reason: String::new(),
        },
        RunStopReason::Unadjudicated { seat: slug("adjudicator"), reason: String::new() },
        RunStopReason::Unjudged { seat: slug("the-judge"), reason: String::new() },
        RunStopReason::Stopped,
        RunStopReason::Uncalibrated { ethos: "ethos-talk-001".parse().unwrap(), conflicts: 1 },
        RunStopReason::Deadline,
        RunStopReason::Interrupted,
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
    assert!(PAGE.contains(&format!("{SECOND_AUDIT} (`audit`, the second)")));
}

/// The events of one change, after the run applied it.
fn events_after(run: &mut SampleRun, change: JournalEvent) -> Vec<RunEvent> {
    run.take(change.clone());
    derive_events(&run.state, &[change])
}

/// The events of the newest ask's parse result.
fn events_of_last_ask(state: &RunState) -> Vec<RunEvent> {
    let last = state.asks.last().unwrap();
    let reading = last.parse_outcome.clone().unwrap();
    derive_events(state, &[JournalEvent::ReplyParsed { ask: last.ask.id, reading }])
}

#[test]
fn the_ending_is_told_in_events_of_its_own() {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(original());
    let [RunEvent::Drafted { ask, recommendation, .. }] = &events_of_last_ask(&run.state)[..]
    else {
        panic!("no draft")
    };
    assert_eq!((ask.round, recommendation), (DRAFT, &original().recommendation));
    let flag = || AuditReply::Flag { objections: FIRST.iter().map(objection).collect() };
    run.audited(flag());
    let [RunEvent::Audited { look, verdict, objections, .. }] = &events_of_last_ask(&run.state)[..]
    else {
        panic!("no audit")
    };
    assert_eq!((*look, *verdict, objections.len()), (AuditRound::First, AuditVerdict::Flag, 2));
    assert_eq!(objections[0].by, ObjectionSource::Count);
    run.revised(conclusion());
    let [RunEvent::Revised { fields, .. }] = &events_of_last_ask(&run.state)[..] else {
        panic!("no revision")
    };
    assert_eq!(fields[..], [ConclusionField::Recommendation, ConclusionField::KeyCondition]);
    run.audited(AuditReply::Pass);
    let [RunEvent::Audited { look, verdict, .. }] = &events_of_last_ask(&run.state)[..] else {
        panic!("no second audit")
    };
    assert_eq!((*look, *verdict), (AuditRound::Second, AuditVerdict::Pass));
}

#[test]
fn what_was_rejected_twice_is_not_told_as_a_conclusion() {
    let result = |state: RunState| {
        let ending = JournalEvent::Concluded(Box::new(state.conclusion_result.clone().unwrap()));
        serde_json::to_value(derive_events(&state, &[ending])).unwrap()
    };
    let unconverged = result(crate::protocols::conclusion::sample::unconverged());
    assert_eq!(unconverged[0]["terminal_state"], "unconverged");
    assert!(unconverged[0]["recommendation"].is_null());
    let unaudited = result(crate::protocols::conclusion::sample::unaudited());
    assert!(unaudited[0]["terminal_state"].is_null());
    assert_eq!(unaudited[0]["recommendation"], conclusion().recommendation);
    assert_eq!(result(clean())[0]["terminal_state"], TerminalState::Clean.name());
}

#[test]
fn an_intervention_is_told_with_its_round() {
    let mut run = SampleRun::new(AuditMode::Audited);
    let whisper = Intervention::Whisper { text: "quietly".to_owned(), to: Some(slug("cid")) };
    let result =
        events_after(&mut run, JournalEvent::Intervened { round: 2, intervention: whisper });
    insta::assert_snapshot!(
        serde_json::to_string(&result).unwrap(),
        @r#"[{"event":"intervened","round":2,"kind":"whisper","text":"quietly","to":"cid","restated":null,"confirmed":null}]"#
    );
}

#[test]
fn an_audit_that_cannot_be_read_is_told_as_such() {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(conclusion());
    run.says("bob", AUDIT, AskPurpose::Audit, ReplyDocument::Audit(AuditReply::Pass));
    let ask = run.state.asks.last().unwrap().ask.id;
    let reading =
        ParseOutcome::Unreadable { reason: "neither PASS nor FLAG".into(), refusal: false };
    let result = derive_events(&run.state, &[JournalEvent::ReplyParsed { ask, reading }]);
    assert!(matches!(&result[..], [RunEvent::Unreadable { .. }]), "{result:?}");
}

#[test]
fn a_review_is_told_in_events_of_its_own() {
    let state = crate::protocols::review::document_sample_tests::revised();
    let readings = state.asks.iter().filter_map(|asked| {
        let reading = asked.parse_outcome.clone()?;
        Some(JournalEvent::ReplyParsed { ask: asked.ask.id, reading })
    });
    let ruled = JournalEvent::ReviewDecided(Box::new(state.review_outcome.clone().unwrap()));
    let changes: Vec<JournalEvent> = readings.chain([ruled]).collect();
    let result = serde_json::to_value(derive_events(&state, &changes)).unwrap();
    let result = result.as_array().unwrap();
    insta::assert_snapshot!(result[0], @r#"
    {"event":"judged","ask":{"id":1,"round":1,"seat":"skeptic","purpose":"judgement"},"verdict":"hold","would_block":true,"irreducible":true,"concerns":2,"repaired":false}
    "#);
    insta::assert_snapshot!(result[result.len() - 2], @r#"
    {"event":"adjudicated","ask":{"id":9,"round":3,"seat":"adjudicator","purpose":"adjudication"},"final_verdict":"REVISE","downgrade":true,"repaired":false}
    "#);
    insta::assert_snapshot!(result[result.len() - 1], @r#"
    {"event":"ruled","verdict":"REVISE","policy":{"name":"seed","present":4,"blocks":3,"irreducible_blocks":1,"computed":"HOLD"},"revision_brief":"1. Cut “fastest in the world”.\n2. Give “ten times” its measurement."}
    "#);
}
