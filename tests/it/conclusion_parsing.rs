//! Parsing the replies of a conclusion, from the journal to typed values.

use plenary_core::model::ask::{
    Ask, AskPurpose, BudgetReservation, CallCost, CallDispatch, CostSource, FinishReason,
    ModelReply, TransportKind,
};
use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::run_state::{ParseOutcome, ReplyDocument};
use plenary_core::protocols::conclusion::next::{AUDIT, DRAFT, REVISION};
use plenary_core::protocols::council::answers::SeatLetters;
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::engine::parse_replies::parse_pending_replies as due_readings;
use serde_json::{Value, json};

use crate::kit::council_driver::{CouncilDriver, PLAN_SECRET, make_plan, make_seat};

/// A council of three in which Ann contributed.
fn concluded_council(question: &str) -> CouncilDriver {
    let seats = ["ann", "bob", "cid"].map(|name| make_seat(name, "m", name));
    let mut driver = CouncilDriver::new(question, make_plan(seats.to_vec(), PLAN_SECRET));
    driver.begin_conclusion();
    let message = ["ann".parse().unwrap()].to_vec();
    driver.run_state.entities.insert("P0101".parse().unwrap(), message);
    driver
}

/// Parses a reply to an ask of this purpose at this time.
fn parse_answer(
    driver: &mut CouncilDriver,
    purpose: AskPurpose,
    text: &str,
    finish: FinishReason,
    at: &str,
) -> ParseOutcome {
    let round = match purpose {
        AskPurpose::Conclusion => DRAFT,
        AskPurpose::Audit => AUDIT,
        AskPurpose::Revision => REVISION,
        AskPurpose::Opinion
        | AskPurpose::PeerReview
        | AskPurpose::Synthesis
        | AskPurpose::Restatement
        | AskPurpose::Other(_)
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication => {
            panic!("{purpose} is no part of an ending")
        }
    };
    let id = driver.run_state.next_ask_id();
    let seat = driver.run_state.plan.seats[0].name.clone();
    let ask = Ask { id, round, seat, purpose, retry_reason: None };
    let sending = CallDispatch {
        call: id,
        ask: id,
        transport: TransportKind::Rehearsal,
        attempt: 1,
        reserved: BudgetReservation::default(),
        fallback: None,
        repeats: None,
        without: Vec::new(),
    };
    let reply = ModelReply {
        text: text.to_owned(),
        usage: None,
        model: None,
        finish,
        cost: CallCost { usd_micros: None, source: CostSource::Unknown },
        latency_ms: 1,
        structured: false,
        first_byte_ms: None,
    };
    let prepared = JournalEvent::AskPrepared {
        ask,
        messages: None,
        messages_sha256: None,
        condensed: Vec::new(),
    };
    let changes =
        [prepared, JournalEvent::CallSent(sending), JournalEvent::ReplyKept { call: id, reply }];
    driver.run_state.apply_events(at.parse().unwrap(), &changes);
    // The result depends on the time of the reply, not of the parsing.
    driver.run_state.apply_events("2030-01-01T00:00:00Z".parse().unwrap(), &[]);
    let due = due_readings(&Protocols::built_in(), &driver.run_state);
    let [JournalEvent::ReplyParsed { reading, .. }] = due.as_slice() else { panic!("{due:?}") };
    let reading = reading.clone();
    driver.append_event(JournalEvent::ReplyParsed { ask: id, reading: reading.clone() });
    reading
}

const REPLY_TIME: &str = "2026-05-01T09:00:00Z";

fn conclusion_json() -> Value {
    json!({
        "recommendation": "Ship it.",
        "key_condition": "The tests pass.",
        "unresolved_points": [{
            "point": "When.",
            "agents_involved": ["ann"],
            "claims": [{"id": "P0101", "agent": "ann", "claim": "Now."}],
        }],
        "review_by": "2026-06-01",
        "participants": [{"agent": "ann", "version": "9"}],
    })
}

fn unreadable_reason(reading: &ParseOutcome) -> &str {
    match reading {
        ParseOutcome::Parsed { .. } => "read",
        ParseOutcome::Unreadable { reason, .. } => reason,
    }
}

#[test]
fn what_was_cut_off_is_no_ending() {
    let text = conclusion_json().to_string();
    let flag = "FLAG: key_condition - \"cheap\" has no figure; name the amount.";
    let cases = [
        (AskPurpose::Conclusion, text.as_str()),
        (AskPurpose::Audit, "PASS"),
        (AskPurpose::Audit, flag),
        (AskPurpose::Revision, r#"{"key_condition":"All tests pass."}"#),
    ];
    for (purpose, text) in cases {
        for (finish, expected) in [
            (FinishReason::Stop, "read"),
            (FinishReason::Length, "the reply was cut off before it ended"),
            (FinishReason::Refusal, "the model refused to answer"),
        ] {
            let mut driver = concluded_council("Q?");
            if purpose == AskPurpose::Revision {
                let draft = conclusion_json().to_string();
                parse_answer(
                    &mut driver,
                    AskPurpose::Conclusion,
                    &draft,
                    FinishReason::Stop,
                    REPLY_TIME,
                );
                parse_answer(&mut driver, AskPurpose::Audit, flag, FinishReason::Stop, REPLY_TIME);
            }
            let read = parse_answer(&mut driver, purpose, text, finish, REPLY_TIME);
            assert_eq!(unreadable_reason(&read), expected, "{purpose} {finish}");
        }
    }
}

#[test]
fn a_conclusion_is_held_against_the_record() {
    let read = |driver: &mut CouncilDriver, text: &Value, at: &str| {
        let read =
            parse_answer(driver, AskPurpose::Conclusion, &text.to_string(), FinishReason::Stop, at);
        unreadable_reason(&read).to_owned()
    };
    let mut driver = concluded_council("Q?");
    let letter =
        SeatLetters::from_plan(&driver.run_state.plan).letter_of(&"ann".parse().unwrap()).unwrap();
    let mut text = conclusion_json();
    text["unresolved_points"][0]["agents_involved"] = json!([letter]);
    assert_eq!(read(&mut driver, &text, REPLY_TIME), "read");
    // In a dialogue without letters a letter names no expert.
    driver.run_state.opening.protocol = ProtocolKind::Alignment;
    let expected = format!(
        "unresolved_points[0].agents_involved[0]: `{letter}` is not a participant (participants: ann, bob, cid)"
    );
    assert_eq!(read(&mut driver, &text, REPLY_TIME), expected);
    // The date must be after the day of the reply.
    assert_eq!(read(&mut driver, &conclusion_json(), "2026-05-31T23:59:59Z"), "read");
    assert_eq!(
        read(&mut driver, &conclusion_json(), "2026-06-01T00:00:00Z"),
        "review_by: 2026-06-01 is not later than today, 2026-06-01"
    );
    let mut invented = conclusion_json();
    invented["unresolved_points"][0]["claims"][0]["id"] = json!("P0102");
    assert_eq!(
        read(&mut driver, &invented, REPLY_TIME),
        "unresolved_points[0].claims[0].id: `P0102` is not an id of the record"
    );
}

#[test]
fn a_revision_mends_what_was_counted_and_what_the_critic_flagged() {
    let mut driver = concluded_council("Should we ship? Answer in exactly 2 lines.");
    let repaired = json!({"recommendation": "Ship it.\nWatch it.", "key_condition": "None."});
    let repaired = repaired.to_string();
    let early =
        parse_answer(&mut driver, AskPurpose::Revision, &repaired, FinishReason::Stop, REPLY_TIME);
    assert_eq!(unreadable_reason(&early), "no field has an objection");
    let draft = conclusion_json().to_string();
    parse_answer(&mut driver, AskPurpose::Conclusion, &draft, FinishReason::Stop, REPLY_TIME);
    parse_answer(&mut driver, AskPurpose::Audit, "PASS", FinishReason::Stop, REPLY_TIME);
    let read =
        parse_answer(&mut driver, AskPurpose::Revision, &repaired, FinishReason::Stop, REPLY_TIME);
    let ParseOutcome::Parsed { document: ReplyDocument::Revision(revised), .. } = read else {
        panic!("{read:?}")
    };
    assert_eq!(revised.recommendation, "Ship it.\nWatch it.");
    assert_eq!(revised.key_condition, "The tests pass.");
    // The participants come from the record, not from the reply.
    let versions: Vec<_> = revised.participants.iter().map(|one| one.version.as_str()).collect();
    assert_eq!(versions, ["1", "1", "1"]);
}
