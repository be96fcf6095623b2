//! Parsing the replies of a conclusion, from the journal to typed values.

use plenary::domain::ask::{
    Ask, Cost, CostSource, Finish, Purpose, Reply, Reservation, Sending, TransportKind,
};
use plenary::domain::change::Change;
use plenary::domain::dialogue::Protocol;
use plenary::domain::transcript::{Document, Reading};
use plenary::engine::due_readings;
use plenary::protocols::conclusion::{AUDIT, DRAFT, REVISION};
use plenary::protocols::council::Letters;
use serde_json::{Value, json};

use crate::kit::council_driver::{Chamber, SECRET, plan, seat};

/// A council of three in which Ann contributed.
fn chamber(question: &str) -> Chamber {
    let seats = ["ann", "bob", "cid"].map(|name| seat(name, "m", name));
    let mut chamber = Chamber::new(question, plan(seats.to_vec(), SECRET));
    chamber.conclude();
    let said = ["ann".parse().unwrap()].to_vec();
    chamber.transcript.entities.insert("P0101".parse().unwrap(), said);
    chamber
}

/// Parses a reply to an ask of this purpose at this time.
fn answer(
    chamber: &mut Chamber,
    purpose: Purpose,
    text: &str,
    finish: Finish,
    at: &str,
) -> Reading {
    let round = match purpose {
        Purpose::Conclusion => DRAFT,
        Purpose::Audit => AUDIT,
        Purpose::Revision => REVISION,
        Purpose::Opinion
        | Purpose::Review
        | Purpose::Synthesis
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => {
            panic!("{purpose} is no part of an ending")
        }
    };
    let id = chamber.transcript.next_ask_id();
    let seat = chamber.transcript.plan.seats[0].name.clone();
    let ask = Ask { id, round, seat, purpose, stricter: None };
    let sending = Sending {
        call: id,
        ask: id,
        transport: TransportKind::Rehearsal,
        attempt: 1,
        reserved: Reservation::default(),
        fallback: None,
        repeats: None,
    };
    let reply = Reply {
        text: text.to_owned(),
        usage: None,
        model: None,
        finish,
        cost: Cost { usd_micros: None, source: CostSource::Unknown },
        latency_ms: 1,
        structured: false,
    };
    let prepared =
        Change::AskPrepared { ask, messages: None, messages_sha256: None, condensed: Vec::new() };
    let changes = [prepared, Change::CallSent(sending), Change::ReplyKept { call: id, reply }];
    chamber.transcript.add(at.parse().unwrap(), &changes);
    // The result depends on the time of the reply, not of the parsing.
    chamber.transcript.add("2030-01-01T00:00:00Z".parse().unwrap(), &[]);
    let due = due_readings(&plenary::protocols::Protocols::built_in(), &chamber.transcript);
    let [Change::ReplyRead { reading, .. }] = due.as_slice() else { panic!("{due:?}") };
    let reading = reading.clone();
    chamber.take_in(Change::ReplyRead { ask: id, reading: reading.clone() });
    reading
}

const MORNING: &str = "2026-05-01T09:00:00Z";

fn conclusion() -> Value {
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

fn reason(reading: &Reading) -> &str {
    match reading {
        Reading::Read { .. } => "read",
        Reading::Unreadable { reason, .. } => reason,
    }
}

#[test]
fn what_was_cut_off_is_no_ending() {
    let text = conclusion().to_string();
    let flag = "FLAG: key_condition - Too vague.";
    let cases = [
        (Purpose::Conclusion, text.as_str()),
        (Purpose::Audit, "PASS"),
        (Purpose::Audit, flag),
        (Purpose::Revision, r#"{"key_condition":"All tests pass."}"#),
    ];
    for (purpose, text) in cases {
        for (finish, expected) in [
            (Finish::Stop, "read"),
            (Finish::Length, "the reply was cut off before it ended"),
            (Finish::Refusal, "the model refused to answer"),
        ] {
            let mut chamber = chamber("Q?");
            if purpose == Purpose::Revision {
                let draft = conclusion().to_string();
                answer(&mut chamber, Purpose::Conclusion, &draft, Finish::Stop, MORNING);
                answer(&mut chamber, Purpose::Audit, flag, Finish::Stop, MORNING);
            }
            let read = answer(&mut chamber, purpose, text, finish, MORNING);
            assert_eq!(reason(&read), expected, "{purpose} {finish}");
        }
    }
}

#[test]
fn a_conclusion_is_held_against_the_record() {
    let read = |chamber: &mut Chamber, text: &Value, at: &str| {
        let read = answer(chamber, Purpose::Conclusion, &text.to_string(), Finish::Stop, at);
        reason(&read).to_owned()
    };
    let mut chamber = chamber("Q?");
    let letter = Letters::of(&chamber.transcript.plan).letter(&"ann".parse().unwrap()).unwrap();
    let mut text = conclusion();
    text["unresolved_points"][0]["agents_involved"] = json!([letter]);
    assert_eq!(read(&mut chamber, &text, MORNING), "read");
    // In a dialogue without letters a letter names no expert.
    chamber.transcript.opening.protocol = Protocol::Alignment;
    let expected = format!(
        "unresolved_points[0].agents_involved[0]: `{letter}` took no part (took part: ann, bob, cid)"
    );
    assert_eq!(read(&mut chamber, &text, MORNING), expected);
    // The date must be after the day of the reply.
    assert_eq!(read(&mut chamber, &conclusion(), "2026-05-31T23:59:59Z"), "read");
    assert_eq!(
        read(&mut chamber, &conclusion(), "2026-06-01T00:00:00Z"),
        "review_by: 2026-06-01 is not later than today, 2026-06-01"
    );
    let mut invented = conclusion();
    invented["unresolved_points"][0]["claims"][0]["id"] = json!("P0102");
    assert_eq!(
        read(&mut chamber, &invented, MORNING),
        "unresolved_points[0].claims[0].id: `P0102` is not in the record: invented"
    );
}

#[test]
fn a_revision_mends_what_was_counted_and_what_the_critic_flagged() {
    let mut chamber = chamber("Should we ship? Answer in exactly 2 lines.");
    let mended = json!({"recommendation": "Ship it.\nWatch it.", "key_condition": "None."});
    let mended = mended.to_string();
    let early = answer(&mut chamber, Purpose::Revision, &mended, Finish::Stop, MORNING);
    assert_eq!(reason(&early), "there is nothing to revise");
    let draft = conclusion().to_string();
    answer(&mut chamber, Purpose::Conclusion, &draft, Finish::Stop, MORNING);
    answer(&mut chamber, Purpose::Audit, "PASS", Finish::Stop, MORNING);
    let read = answer(&mut chamber, Purpose::Revision, &mended, Finish::Stop, MORNING);
    let Reading::Read { document: Document::Revision(revised), .. } = read else {
        panic!("{read:?}")
    };
    assert_eq!(revised.recommendation, "Ship it.\nWatch it.");
    assert_eq!(revised.key_condition, "The tests pass.");
    // The participants come from the record, not from the reply.
    let versions: Vec<_> = revised.participants.iter().map(|one| one.version.as_str()).collect();
    assert_eq!(versions, ["1", "1", "1"]);
}
