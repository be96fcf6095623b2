//! The rehearsal panel's conclusion, through the real prompts: it cites only what it was shown, and
//! its reviser fixes the critic's objections.

use std::sync::Arc;
use std::time::Duration;

use plenary::domain::ask::{Ask, Purpose};
use plenary::domain::conclusion::{
    Audit, Auditor, Conclusion, Field, Objection, miscounts, wishes,
};
use plenary::domain::record::Record;
use plenary::domain::transcript::Document;
use plenary::prompting::{Prepared, restatement};
use plenary::protocols::conclusion::{
    AUDIT, DRAFT, REVISION, SECOND_AUDIT, counted, draft, looked_at, revised, trail,
};
use plenary::providers::Request;
use plenary::providers::rehearsal::RehearsalTransport;
use serde_json::{Map, Value};

use crate::fencing::strings;
use crate::kit::council_driver::{Chamber, SECRET, plan, seat};
use crate::kit::records::council_record;
use crate::kit::times;

const QUESTIONS: [&str; 12] = [
    "Should we move the billing service to Rust?",
    "Should we hire in Lisbon?",
    "How do we keep the archive small?",
    "What is the best way to test a compiler?",
    "Shall the choir sing in the open?",
    "May we cache it?",
    "Which of the two schools should Mia go to?",
    "Should the council sell the old mill?",
    "Is it wise to drop the old API this year?",
    "How many beds does the ward need?",
    "Should trams be free?",
    "Why do our builds take so long?",
];

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

fn reply(ask: &Ask, prepared: &Prepared) -> String {
    let request = Request {
        seat: ask.seat.clone(),
        round: ask.round,
        purpose: ask.purpose,
        messages: Arc::new(prepared.messages.clone()),
        schema: None,
        time_left: Duration::from_secs(1),
    };
    wait(RehearsalTransport::new(None).send(&request)).unwrap().text
}

/// A council that is complete up to its report, and its record.
fn held(question: &str) -> (Chamber, Record) {
    let seats = ["optimist", "skeptic", "pragmatist"].map(|name| seat(name, "rehearsal-1", "r"));
    let mut chamber = Chamber::new(question, plan(seats.to_vec(), SECRET));
    for _ in 0..3 {
        for (ask, prepared) in chamber.ask() {
            let said = reply(&ask, &prepared);
            let document = match ask.round {
                1 => Document::Opinion(serde_json::from_str(&said).unwrap()),
                2 => Document::Review(serde_json::from_str(&said).unwrap()),
                _ => Document::Report(serde_json::from_str(&said).unwrap()),
            };
            chamber.answer(&ask, document);
        }
    }
    chamber.deliver();
    let record = council_record(&chamber.transcript);
    chamber.conclude();
    (chamber, record)
}

fn conclude(chamber: &mut Chamber, record: &Record) -> Conclusion {
    let (ask, prepared) = chamber.ask_for(Purpose::Conclusion, DRAFT, record, None);
    let written: Conclusion = serde_json::from_str(&reply(&ask, &prepared)).unwrap();
    chamber.answer(&ask, Document::Conclusion(Box::new(written.clone())));
    written
}

/// The critic's objection in one audit, parsed strictly.
fn audit(chamber: &mut Chamber, record: &Record, round: u8) -> Option<(Field, String)> {
    let (ask, prepared) = chamber.ask_for(Purpose::Audit, round, record, None);
    let said = reply(&ask, &prepared);
    let flagged = (said != "PASS").then(|| {
        let (field, objection) = said.strip_prefix("FLAG: ").unwrap().split_once(" - ").unwrap();
        (Field::named(field).unwrap(), objection.to_owned())
    });
    let audit = flagged.clone().map_or(Audit::Pass, |(field, objection)| Audit::Flag {
        objections: vec![Objection { field, objection, by: Auditor::Critic }],
    });
    let looked_at = looked_at(&chamber.transcript, round).unwrap();
    let counted = counted(&audit, chamber.transcript.question(), looked_at);
    chamber.answer(&ask, Document::Audit(counted));
    flagged
}

fn revise(chamber: &mut Chamber, record: &Record) -> Map<String, Value> {
    let (ask, prepared) = chamber.ask_for(Purpose::Revision, REVISION, record, None);
    let said: Map<String, Value> = serde_json::from_str(&reply(&ask, &prepared)).unwrap();
    let draft = draft(&chamber.transcript).unwrap();
    let mut all = serde_json::to_value(draft).unwrap();
    all.as_object_mut().unwrap().extend(said.clone());
    let mended: Conclusion = serde_json::from_value(all).unwrap();
    chamber.answer(&ask, Document::Revision(Box::new(mended)));
    said
}

#[track_caller]
fn check_grounds(written: &Conclusion, chamber: &Chamber, record: &Record) {
    assert_eq!(Some(&written.participants), chamber.transcript.participants.as_ref());
    assert!(written.review_by > chamber.transcript.last_entry_at.day());
    for point in &written.unresolved_points {
        assert!(!point.point.is_empty() && !point.agents_involved.is_empty());
        for claim in &point.claims {
            let entity = record.entity(claim.id).unwrap();
            assert!(entity.contributors.contains(&claim.agent), "{claim:?}");
            assert!(point.agents_involved.contains(&claim.agent), "{claim:?}");
        }
    }
}

#[test]
fn a_rehearsed_conclusion_rests_on_the_record() {
    let mut recommendations = Vec::new();
    for question in QUESTIONS {
        let (mut chamber, record) = held(question);
        let written = conclude(&mut chamber, &record);
        check_grounds(&written, &chamber, &record);
        // The optimist and the skeptic never agree on when to start.
        let first = &written.unresolved_points[0];
        assert!(first.agents_involved.len() > 1 && first.claims.len() > 1, "{first:?}");
        recommendations.push(written.recommendation);
    }
    recommendations.sort();
    recommendations.dedup();
    assert!(recommendations.len() > 3, "{recommendations:?}");
}

#[test]
fn a_rehearsed_conclusion_reads_as_one() {
    let (mut chamber, record) = held("Should we move the billing service to Rust?");
    let written = conclude(&mut chamber, &record);
    insta::assert_snapshot!(serde_json::to_string_pretty(&written).unwrap(), @r###"
    {
      "recommendation": "Go ahead in steps, the first of which can be undone within a day. The second follows only on what the first has shown, because nobody has a figure for the whole.",
      "key_condition": "Those who would carry the change have the time to do it.",
      "unresolved_points": [
        {
          "point": "When to begin",
          "agents_involved": [
            "optimist",
            "skeptic"
          ],
          "claims": [
            {
              "id": "R0101",
              "agent": "optimist",
              "claim": "Decide in favour, limited to what can be undone within a day, and review after the first month."
            },
            {
              "id": "R0102",
              "agent": "skeptic",
              "claim": "Hold until there is one piece of evidence from outside the circle of those who want it."
            }
          ]
        }
      ],
      "review_by": "2026-03-04",
      "participants": [
        {
          "agent": "optimist",
          "version": "1"
        },
        {
          "agent": "skeptic",
          "version": "1"
        },
        {
          "agent": "pragmatist",
          "version": "1"
        }
      ]
    }
    "###);
}

#[test]
fn about_a_third_is_flagged_mended_and_then_passed() {
    let mut flagged = 0;
    let count = times(36, 600);
    for number in 0..count {
        let (mut chamber, record) = held(&format!("Should we open branch {number}?"));
        conclude(&mut chamber, &record);
        let Some((field, objection)) = audit(&mut chamber, &record, AUDIT) else { continue };
        flagged += 1;
        assert!(objection.split_whitespace().count() > 8, "vague: {objection}");
        let mended = revise(&mut chamber, &record);
        assert_eq!(mended.keys().collect::<Vec<_>>(), [field.name()]);
        assert_eq!(audit(&mut chamber, &record, SECOND_AUDIT), None);
    }
    assert!((count / 5..=count / 2).contains(&flagged), "{flagged} of {count}");
}

#[test]
fn the_same_question_ends_the_same_way() {
    let end = || {
        let (mut chamber, record) = held(QUESTIONS[0]);
        (conclude(&mut chamber, &record), audit(&mut chamber, &record, AUDIT))
    };
    assert_eq!(end(), end());
}

#[test]
fn any_field_that_is_flagged_is_mended_and_no_other() {
    for field in Field::ALL {
        let (mut chamber, record) = held(QUESTIONS[1]);
        let written = conclude(&mut chamber, &record);
        let (ask, _) = chamber.ask_for(Purpose::Audit, AUDIT, &record, None);
        // An objection may mention other fields; the reviser changes only its own field.
        let objection = "it contradicts `participants` and `review_by`".to_owned();
        let objections = vec![Objection { field: *field, objection, by: Auditor::Critic }];
        chamber.answer(&ask, Document::Audit(Audit::Flag { objections }));
        let mended = revise(&mut chamber, &record);
        assert_eq!(mended.keys().collect::<Vec<_>>(), [field.name()]);
        let before = serde_json::to_value(&written).unwrap();
        let is_same = mended[field.name()] == before[field.name()];
        assert_eq!(is_same, *field == Field::Participants, "{field}");
        assert_eq!(trail(&chamber.transcript).unwrap().revised_fields, [*field]);
    }
}

#[test]
fn asked_again_the_reviser_mends_the_same() {
    let (mut chamber, record) = held(QUESTIONS[0]);
    conclude(&mut chamber, &record);
    assert!(audit(&mut chamber, &record, AUDIT).is_some());
    let first = chamber.ask_for(Purpose::Revision, REVISION, &record, None);
    let again = chamber.ask_for(Purpose::Revision, REVISION, &record, Some("no JSON"));
    assert_eq!(reply(&first.0, &first.1), reply(&again.0, &again.1));
}

#[test]
fn a_form_that_is_asked_for_is_missed_first_and_then_met() {
    for form in [
        "in exactly 5 lines",
        "in 3 bullet points",
        "in exactly one sentence",
        "in four sentences",
        "in at most 10 words",
        "in exactly 100 words",
        "in at least 200 words",
        "in 3 lines and at most 20 words",
        "in 7 bullets",
        "in exactly 40 lines",
        "in about 80 words",
    ] {
        let question = format!("Should we open a branch in Lisbon? Answer {form}.");
        assert!(!wishes(&question).is_empty(), "{form} is not taken for a wish");
        let (mut chamber, record) = held(&question);
        let written = conclude(&mut chamber, &record);
        assert_ne!(miscounts(&question, &written.recommendation), [], "{form}");
        audit(&mut chamber, &record, AUDIT);
        revise(&mut chamber, &record);
        let mended = revised(&chamber.transcript).unwrap();
        let text = &mended.recommendation;
        assert_eq!(miscounts(&question, text), [], "{form}: {text}");
        assert_eq!(audit(&mut chamber, &record, SECOND_AUDIT), None, "{form}");
    }
}

#[test]
fn a_form_reads_as_one() {
    let asked = "Should we open a branch? Answer in exactly 5 lines.";
    let (mut chamber, record) = held(asked);
    conclude(&mut chamber, &record);
    audit(&mut chamber, &record, AUDIT);
    let mended = revise(&mut chamber, &record);
    insta::assert_snapshot!(mended["recommendation"].as_str().unwrap(), @r###"
    Go ahead on written conditions: an owner, a measure of success and a way back that was tried.
    They carry the risk; the rest is a matter of order.
    Keep the way back open.
    Agree on one measure of success.
    Try the way back before you start.
    "###);
}

#[test]
fn it_ends_whatever_the_question_says() {
    let step = times(90, 5) as usize;
    for (id, text) in strings().into_iter().step_by(step) {
        let (mut chamber, record) = held(&text);
        let written = conclude(&mut chamber, &record);
        check_grounds(&written, &chamber, &record);
        if audit(&mut chamber, &record, AUDIT).is_some() {
            revise(&mut chamber, &record);
            assert_eq!(audit(&mut chamber, &record, SECOND_AUDIT), None, "{id}");
        }
    }
}

#[test]
fn a_directive_is_said_back_in_one_sentence() {
    let messages = restatement(SECRET, "Shall we?", "Think of\nthe cost.");
    let request = Request {
        seat: "optimist".parse().unwrap(),
        round: 0,
        purpose: Purpose::Restatement,
        messages: Arc::new(messages),
        schema: None,
        time_left: Duration::from_secs(1),
    };
    let said = wait(RehearsalTransport::new(None).send(&request)).unwrap().text;
    assert_eq!(said, "From the next round on, the panel is to take this up: “Think of the cost.”");
}
