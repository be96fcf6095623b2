//! The rehearsal panel's conclusion, through the real prompts: it cites only what it was shown, and
//! its reviser fixes the critic's objections.

use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::{Ask, AskPurpose};
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::run_state::ReplyDocument;
use plenary_core::prompting::fence::{RenderedPrompt, restatement_messages};
use plenary_core::protocols::conclusion::format::constraint::{find_constraints, find_violations};
use plenary_core::protocols::conclusion::next::{
    AUDIT, DRAFT, REVISION, SECOND_AUDIT, add_counted_objections, audit_trail, audited_conclusion,
    draft_conclusion, revised_conclusion,
};
use plenary_core::protocols::conclusion::types::{
    AuditObjection, AuditReply, Conclusion, ConclusionField, ObjectionSource,
};
use plenary_engine::providers::rehearsal::transport::RehearsalTransport;
use plenary_engine::providers::transport::CallRequest;
use serde_json::{Map, Value};

use crate::fencing::corpus_strings;
use crate::kit::council_driver::{CouncilDriver, PLAN_SECRET, make_plan, make_seat};
use crate::kit::pick_repeats;
use crate::kit::records::council_record;

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

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

fn rehearse_reply(ask: &Ask, prepared: &RenderedPrompt) -> String {
    let request = CallRequest {
        seat: ask.seat.clone(),
        round: ask.round,
        purpose: ask.purpose,
        messages: Arc::new(prepared.messages.clone()),
        schema: None,
        time_left: Duration::from_secs(1),
    };
    block_on(RehearsalTransport::new(None).send(&request)).unwrap().text
}

/// A council that is complete up to its report, and its record.
fn council_with_report(question: &str) -> (CouncilDriver, DialogueRecord) {
    let seats =
        ["optimist", "skeptic", "pragmatist"].map(|name| make_seat(name, "rehearsal-1", "r"));
    let mut chamber = CouncilDriver::new(question, make_plan(seats.to_vec(), PLAN_SECRET));
    for _ in 0..3 {
        for (ask, prepared) in chamber.next_asks() {
            let said = rehearse_reply(&ask, &prepared);
            let document = match ask.round {
                1 => ReplyDocument::Opinion(serde_json::from_str(&said).unwrap()),
                2 => ReplyDocument::PeerReview(serde_json::from_str(&said).unwrap()),
                _ => ReplyDocument::Report(serde_json::from_str(&said).unwrap()),
            };
            chamber.record_answer(&ask, document);
        }
    }
    chamber.deliver();
    let record = council_record(&chamber.run_state);
    chamber.begin_conclusion();
    (chamber, record)
}

fn write_conclusion(chamber: &mut CouncilDriver, record: &DialogueRecord) -> Conclusion {
    let (ask, prepared) = chamber.ask_first_seat(AskPurpose::Conclusion, DRAFT, record, None);
    let written: Conclusion = serde_json::from_str(&rehearse_reply(&ask, &prepared)).unwrap();
    chamber.record_answer(&ask, ReplyDocument::Conclusion(Box::new(written.clone())));
    written
}

/// The critic's objection in one audit, parsed strictly.
fn audit_conclusion(
    chamber: &mut CouncilDriver,
    record: &DialogueRecord,
    round: u8,
) -> Option<(ConclusionField, String)> {
    let (ask, prepared) = chamber.ask_first_seat(AskPurpose::Audit, round, record, None);
    let said = rehearse_reply(&ask, &prepared);
    let flagged = (said != "PASS").then(|| {
        let (field, objection) = said.strip_prefix("FLAG: ").unwrap().split_once(" - ").unwrap();
        (ConclusionField::named(field).unwrap(), objection.to_owned())
    });
    let audit = flagged.clone().map_or(AuditReply::Pass, |(field, objection)| AuditReply::Flag {
        objections: vec![AuditObjection { field, objection, by: ObjectionSource::Critic }],
    });
    let looked_at = audited_conclusion(&chamber.run_state, round).unwrap();
    let counted = add_counted_objections(&audit, chamber.run_state.question(), looked_at);
    chamber.record_answer(&ask, ReplyDocument::Audit(counted));
    flagged
}

fn revise_conclusion(chamber: &mut CouncilDriver, record: &DialogueRecord) -> Map<String, Value> {
    let (ask, prepared) = chamber.ask_first_seat(AskPurpose::Revision, REVISION, record, None);
    let said: Map<String, Value> = serde_json::from_str(&rehearse_reply(&ask, &prepared)).unwrap();
    let draft = draft_conclusion(&chamber.run_state).unwrap();
    let mut all = serde_json::to_value(draft).unwrap();
    all.as_object_mut().unwrap().extend(said.clone());
    let mended: Conclusion = serde_json::from_value(all).unwrap();
    chamber.record_answer(&ask, ReplyDocument::Revision(Box::new(mended)));
    said
}

#[track_caller]
fn check_citations(written: &Conclusion, chamber: &CouncilDriver, record: &DialogueRecord) {
    assert_eq!(Some(&written.participants), chamber.run_state.participants.as_ref());
    assert!(written.review_by > chamber.run_state.last_entry_at.utc_day());
    for point in &written.unresolved_points {
        assert!(!point.point.is_empty() && !point.agents_involved.is_empty());
        for claim in &point.claims {
            let entity = record.find_entity(claim.id).unwrap();
            assert!(entity.contributors.contains(&claim.agent), "{claim:?}");
            assert!(point.agents_involved.contains(&claim.agent), "{claim:?}");
        }
    }
}

#[test]
fn a_rehearsed_conclusion_rests_on_the_record() {
    let mut recommendations = Vec::new();
    for question in QUESTIONS {
        let (mut chamber, record) = council_with_report(question);
        let written = write_conclusion(&mut chamber, &record);
        check_citations(&written, &chamber, &record);
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
    let (mut chamber, record) = council_with_report("Should we move the billing service to Rust?");
    let written = write_conclusion(&mut chamber, &record);
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
    let count = pick_repeats(36, 600);
    for number in 0..count {
        let (mut chamber, record) =
            council_with_report(&format!("Should we open branch {number}?"));
        write_conclusion(&mut chamber, &record);
        let Some((field, objection)) = audit_conclusion(&mut chamber, &record, AUDIT) else {
            continue;
        };
        flagged += 1;
        assert!(objection.split_whitespace().count() > 8, "vague: {objection}");
        let mended = revise_conclusion(&mut chamber, &record);
        assert_eq!(mended.keys().collect::<Vec<_>>(), [field.name()]);
        assert_eq!(audit_conclusion(&mut chamber, &record, SECOND_AUDIT), None);
    }
    assert!((count / 5..=count / 2).contains(&flagged), "{flagged} of {count}");
}

#[test]
fn the_same_question_ends_the_same_way() {
    let end = || {
        let (mut chamber, record) = council_with_report(QUESTIONS[0]);
        (write_conclusion(&mut chamber, &record), audit_conclusion(&mut chamber, &record, AUDIT))
    };
    assert_eq!(end(), end());
}

#[test]
fn any_field_that_is_flagged_is_mended_and_no_other() {
    for field in ConclusionField::ALL {
        let (mut chamber, record) = council_with_report(QUESTIONS[1]);
        let written = write_conclusion(&mut chamber, &record);
        let (ask, _) = chamber.ask_first_seat(AskPurpose::Audit, AUDIT, &record, None);
        // An objection may mention other fields; the reviser changes only its own field.
        let objection = "it contradicts `participants` and `review_by`".to_owned();
        let objections =
            vec![AuditObjection { field: *field, objection, by: ObjectionSource::Critic }];
        chamber.record_answer(&ask, ReplyDocument::Audit(AuditReply::Flag { objections }));
        let mended = revise_conclusion(&mut chamber, &record);
        assert_eq!(mended.keys().collect::<Vec<_>>(), [field.name()]);
        let before = serde_json::to_value(&written).unwrap();
        let is_same = mended[field.name()] == before[field.name()];
        assert_eq!(is_same, *field == ConclusionField::Participants, "{field}");
        assert_eq!(audit_trail(&chamber.run_state).unwrap().revised_fields, [*field]);
    }
}

#[test]
fn asked_again_the_reviser_mends_the_same() {
    let (mut chamber, record) = council_with_report(QUESTIONS[0]);
    write_conclusion(&mut chamber, &record);
    assert!(audit_conclusion(&mut chamber, &record, AUDIT).is_some());
    let first = chamber.ask_first_seat(AskPurpose::Revision, REVISION, &record, None);
    let again = chamber.ask_first_seat(AskPurpose::Revision, REVISION, &record, Some("no JSON"));
    assert_eq!(rehearse_reply(&first.0, &first.1), rehearse_reply(&again.0, &again.1));
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
        assert!(!find_constraints(&question).is_empty(), "{form} is not taken for a wish");
        let (mut chamber, record) = council_with_report(&question);
        let written = write_conclusion(&mut chamber, &record);
        assert_ne!(find_violations(&question, &written.recommendation), [], "{form}");
        audit_conclusion(&mut chamber, &record, AUDIT);
        revise_conclusion(&mut chamber, &record);
        let mended = revised_conclusion(&chamber.run_state).unwrap();
        let text = &mended.recommendation;
        assert_eq!(find_violations(&question, text), [], "{form}: {text}");
        assert_eq!(audit_conclusion(&mut chamber, &record, SECOND_AUDIT), None, "{form}");
    }
}

#[test]
fn a_form_reads_as_one() {
    let asked = "Should we open a branch? Answer in exactly 5 lines.";
    let (mut chamber, record) = council_with_report(asked);
    write_conclusion(&mut chamber, &record);
    audit_conclusion(&mut chamber, &record, AUDIT);
    let mended = revise_conclusion(&mut chamber, &record);
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
    let step = pick_repeats(90, 5) as usize;
    for (id, text) in corpus_strings().into_iter().step_by(step) {
        let (mut chamber, record) = council_with_report(&text);
        let written = write_conclusion(&mut chamber, &record);
        check_citations(&written, &chamber, &record);
        if audit_conclusion(&mut chamber, &record, AUDIT).is_some() {
            revise_conclusion(&mut chamber, &record);
            assert_eq!(audit_conclusion(&mut chamber, &record, SECOND_AUDIT), None, "{id}");
        }
    }
}

#[test]
fn a_directive_is_said_back_in_one_sentence() {
    let messages = restatement_messages(PLAN_SECRET, "Shall we?", "Think of\nthe cost.");
    let request = CallRequest {
        seat: "optimist".parse().unwrap(),
        round: 0,
        purpose: AskPurpose::Restatement,
        messages: Arc::new(messages),
        schema: None,
        time_left: Duration::from_secs(1),
    };
    let said = block_on(RehearsalTransport::new(None).send(&request)).unwrap().text;
    assert_eq!(said, "From the next round on, the panel is to take this up: “Think of the cost.”");
}
