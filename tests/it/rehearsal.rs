//! The rehearsal panel's conclusion, through the real prompts: it cites only what it was shown, and
//! its reviser fixes the critic's objections.

use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::{Ask, AskPurpose};
use plenary_core::model::ids::ClaimSource;
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::run_state::ReplyDocument;
use plenary_core::prompting::layout::{RenderedPrompt, restatement_messages};
use plenary_core::protocols::conclusion::format::constraint::{find_constraints, find_violations};
use plenary_core::protocols::conclusion::next::{
    AUDIT, DRAFT, REVISION, SECOND_AUDIT, add_counted_objections, audit_trail, audited_conclusion,
    draft_conclusion, revised_conclusion,
};
use plenary_core::protocols::conclusion::types::{
    AuditObjection, AuditReply, Conclusion, ConclusionField, ObjectionSource,
};
use plenary_core::protocols::council::parse::parse_opinion;
use plenary_core::protocols::council::types::QuestionMode;
use plenary_engine::providers::call_progress::SilenceTimer;
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
        timer: SilenceTimer::start(Duration::from_secs(1)),
        partial_text: None,
        is_stricter: false,
    };
    block_on(RehearsalTransport::new(None).send(&request)).unwrap().text
}

/// A council that is complete up to its report, and its record.
fn council_with_report(question: &str) -> (CouncilDriver, DialogueRecord) {
    let seats =
        ["optimist", "skeptic", "pragmatist"].map(|name| make_seat(name, "rehearsal-1", "r"));
    let mut driver = CouncilDriver::new(question, make_plan(seats.to_vec(), PLAN_SECRET));
    for _ in 0..3 {
        for (ask, prepared) in driver.next_asks() {
            let message = rehearse_reply(&ask, &prepared);
            let document = match ask.round {
                1 => {
                    let parsed = parse_opinion(&message, QuestionMode::General).unwrap();
                    ReplyDocument::Opinion(Box::new(parsed.document))
                }
                2 => ReplyDocument::PeerReview(serde_json::from_str(&message).unwrap()),
                _ => ReplyDocument::Report(serde_json::from_str(&message).unwrap()),
            };
            driver.record_answer(&ask, document);
        }
    }
    driver.deliver();
    let record = council_record(&driver.run_state);
    driver.begin_conclusion();
    (driver, record)
}

fn write_conclusion(driver: &mut CouncilDriver, record: &DialogueRecord) -> Conclusion {
    let (ask, prepared) = driver.ask_first_seat(AskPurpose::Conclusion, DRAFT, record, None);
    let written: Conclusion = serde_json::from_str(&rehearse_reply(&ask, &prepared)).unwrap();
    driver.record_answer(&ask, ReplyDocument::Conclusion(Box::new(written.clone())));
    written
}

/// The critic's objection in one audit, parsed strictly.
fn audit_conclusion(
    driver: &mut CouncilDriver,
    record: &DialogueRecord,
    round: u8,
) -> Option<(ConclusionField, String)> {
    let (ask, prepared) = driver.ask_first_seat(AskPurpose::Audit, round, record, None);
    let message = rehearse_reply(&ask, &prepared);
    let flagged = (message != "PASS").then(|| {
        let (field, objection) = message.strip_prefix("FLAG: ").unwrap().split_once(" - ").unwrap();
        (ConclusionField::named(field).unwrap(), objection.to_owned())
    });
    let audit = flagged.clone().map_or(AuditReply::Pass, |(field, objection)| AuditReply::Flag {
        objections: vec![AuditObjection { field, objection, by: ObjectionSource::Critic }],
    });
    let looked_at = audited_conclusion(&driver.run_state, round).unwrap();
    let counted = add_counted_objections(&audit, driver.run_state.question(), looked_at);
    driver.record_answer(&ask, ReplyDocument::Audit(counted));
    flagged
}

fn revise_conclusion(driver: &mut CouncilDriver, record: &DialogueRecord) -> Map<String, Value> {
    let (ask, prepared) = driver.ask_first_seat(AskPurpose::Revision, REVISION, record, None);
    let message: Map<String, Value> =
        serde_json::from_str(&rehearse_reply(&ask, &prepared)).unwrap();
    let draft = draft_conclusion(&driver.run_state).unwrap();
    let mut all = serde_json::to_value(draft).unwrap();
    all.as_object_mut().unwrap().extend(message.clone());
    let revised: Conclusion = serde_json::from_value(all).unwrap();
    driver.record_answer(&ask, ReplyDocument::Revision(Box::new(revised)));
    message
}

#[track_caller]
fn check_citations(written: &Conclusion, driver: &CouncilDriver, record: &DialogueRecord) {
    assert_eq!(Some(&written.participants), driver.run_state.participants.as_ref());
    assert!(written.review_by > driver.run_state.last_entry_at.utc_day());
    for point in &written.unresolved_points {
        assert!(!point.point.is_empty() && !point.agents_involved.is_empty());
        for claim in &point.claims {
            let ClaimSource::Entity(id) = &claim.id else { panic!("{claim:?}") };
            let entity = record.find_entity(*id).unwrap();
            assert!(entity.contributors.contains(&claim.agent), "{claim:?}");
            assert!(point.agents_involved.contains(&claim.agent), "{claim:?}");
        }
    }
}

#[test]
fn a_rehearsed_conclusion_rests_on_the_record() {
    for question in QUESTIONS {
        let (mut driver, record) = council_with_report(question);
        let written = write_conclusion(&mut driver, &record);
        check_citations(&written, &driver, &record);
        let first = &written.unresolved_points[0];
        assert!(first.agents_involved.len() > 1 && first.claims.len() > 1, "{first:?}");
        assert!(written.recommendation.contains(&format!("“{question}”")), "{written:?}");
    }
}

#[test]
fn a_rehearsed_conclusion_reads_as_one() {
    let (mut driver, record) = council_with_report("Should we move the billing service to Rust?");
    let written = write_conclusion(&mut driver, &record);
    insta::assert_snapshot!(serde_json::to_string_pretty(&written).unwrap(), @r###"
    {
      "recommendation": "Rehearsed answer to “Should we move the billing service to Rust?”: start with a small trial that can be undone, agree on one measure of success beforehand, and decide when the result is in.",
      "key_condition": "The trial can be stopped at any time without lasting harm.",
      "unresolved_points": [
        {
          "point": "How much evidence is needed before the start",
          "agents_involved": [
            "optimist",
            "skeptic"
          ],
          "claims": [
            {
              "id": "R0101",
              "agent": "optimist",
              "claim": "Start a trial of two weeks with one team and one measure of success."
            },
            {
              "id": "R0102",
              "agent": "skeptic",
              "claim": "Wait until one independent source confirms the benefit and the cost of going back is written down."
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
fn the_critic_flags_one_field_and_passes_its_revision() {
    for question in QUESTIONS {
        let (mut driver, record) = council_with_report(question);
        write_conclusion(&mut driver, &record);
        let (field, objection) = audit_conclusion(&mut driver, &record, AUDIT).unwrap();
        assert!(objection.split_whitespace().count() > 8, "vague: {objection}");
        let revised = revise_conclusion(&mut driver, &record);
        assert_eq!(revised.keys().collect::<Vec<_>>(), [field.name()]);
        assert_eq!(audit_conclusion(&mut driver, &record, SECOND_AUDIT), None);
    }
}

#[test]
fn the_same_question_ends_the_same_way() {
    let end = || {
        let (mut driver, record) = council_with_report(QUESTIONS[0]);
        (write_conclusion(&mut driver, &record), audit_conclusion(&mut driver, &record, AUDIT))
    };
    assert_eq!(end(), end());
}

#[test]
fn any_flagged_field_is_revised_and_no_other() {
    for field in ConclusionField::ALL {
        let (mut driver, record) = council_with_report(QUESTIONS[1]);
        let written = write_conclusion(&mut driver, &record);
        let (ask, _) = driver.ask_first_seat(AskPurpose::Audit, AUDIT, &record, None);
        // An objection may mention other fields; the reviser changes only its own field.
        let objection = "it contradicts `participants` and `review_by`".to_owned();
        let objections =
            vec![AuditObjection { field: *field, objection, by: ObjectionSource::Critic }];
        driver.record_answer(&ask, ReplyDocument::Audit(AuditReply::Flag { objections }));
        let revised = revise_conclusion(&mut driver, &record);
        assert_eq!(revised.keys().collect::<Vec<_>>(), [field.name()]);
        let before = serde_json::to_value(&written).unwrap();
        let is_same = revised[field.name()] == before[field.name()];
        assert_eq!(is_same, *field == ConclusionField::Participants, "{field}");
        assert_eq!(audit_trail(&driver.run_state).unwrap().revised_fields, [*field]);
    }
}

#[test]
fn the_reviser_revises_the_same_again() {
    let (mut driver, record) = council_with_report(QUESTIONS[0]);
    write_conclusion(&mut driver, &record);
    assert!(audit_conclusion(&mut driver, &record, AUDIT).is_some());
    let first = driver.ask_first_seat(AskPurpose::Revision, REVISION, &record, None);
    let again = driver.ask_first_seat(AskPurpose::Revision, REVISION, &record, Some("no JSON"));
    assert_eq!(rehearse_reply(&first.0, &first.1), rehearse_reply(&again.0, &again.1));
}

#[test]
fn a_requested_format_is_met_in_the_end() {
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
        assert!(!find_constraints(&question).is_empty(), "{form} is not read as a constraint");
        let (mut driver, record) = council_with_report(&question);
        write_conclusion(&mut driver, &record);
        audit_conclusion(&mut driver, &record, AUDIT);
        revise_conclusion(&mut driver, &record);
        let revised = revised_conclusion(&driver.run_state).unwrap();
        let text = &revised.recommendation;
        assert_eq!(find_violations(&question, text), [], "{form}: {text}");
        assert_eq!(audit_conclusion(&mut driver, &record, SECOND_AUDIT), None, "{form}");
    }
}

#[test]
fn a_form_reads_as_one() {
    let asked = "Should we open a branch? Answer in exactly 5 lines.";
    let (mut driver, record) = council_with_report(asked);
    write_conclusion(&mut driver, &record);
    audit_conclusion(&mut driver, &record, AUDIT);
    let revised = revise_conclusion(&mut driver, &record);
    insta::assert_snapshot!(revised["recommendation"].as_str().unwrap(), @r###"
    Start with a small trial that can be undone.
    Name one owner.
    Agree on one measure of success.
    Test the way back before the start.
    Write down the first result.
    "###);
}

#[test]
fn the_council_ends_for_any_question() {
    let step = pick_repeats(90, 5) as usize;
    for (id, text) in corpus_strings().into_iter().step_by(step) {
        let (mut driver, record) = council_with_report(&text);
        let written = write_conclusion(&mut driver, &record);
        check_citations(&written, &driver, &record);
        if audit_conclusion(&mut driver, &record, AUDIT).is_some() {
            revise_conclusion(&mut driver, &record);
            assert_eq!(audit_conclusion(&mut driver, &record, SECOND_AUDIT), None, "{id}");
        }
    }
}

#[test]
fn a_directive_is_said_back_in_one_sentence() {
    let messages = restatement_messages(
        PLAN_SECRET,
        "Shall we?",
        "Think of\nthe cost.",
        "2026-02-02".parse().unwrap(),
    );
    let request = CallRequest {
        seat: "optimist".parse().unwrap(),
        round: 0,
        purpose: AskPurpose::Restatement,
        messages: Arc::new(messages),
        schema: None,
        timer: SilenceTimer::start(Duration::from_secs(1)),
        partial_text: None,
        is_stricter: false,
    };
    let message = block_on(RehearsalTransport::new(None).send(&request)).unwrap().text;
    assert_eq!(
        message,
        "From the next round on, the panel considers this directive: “Think of the cost.”"
    );
}
