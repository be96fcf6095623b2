//! `conclude`, killed in each stage of its conclusion.

use serde_json::{Value, json};

use super::harness::{ResumeProject, ResumedCouncil, stable_document};
use super::scripted_seats::CouncilFinale;
use crate::kit::value_at;

/// The seats that write, in order.
const HELD_SEATS: [&str; 4] = ["conclusion-ann", "audit-bob", "revision-ann", "second-audit-bob"];

/// A council that ended with its report.
fn council_with_report<'a>(house: &'a ResumeProject, question: &str) -> ResumedCouncil<'a> {
    let mut council = ResumedCouncil::new(house, question);
    council.run_to_end();
    council.finale = CouncilFinale::Revised;
    council
}

/// A dialogue led by a Judge, with one round.
fn led_dialogue<'a>(house: &'a ResumeProject, question: &str) -> ResumedCouncil<'a> {
    let expert = |slug: &str| json!({ "role": "Expert", "tier": "Core", "slug": slug });
    let pool = json!({ "domain": "d", "experts": [expert("muffin"), expert("scone")] });
    let created = json!({ "title": question, "question": question, "expert_pool": pool });
    let (code, created) = house.program.run_operation("create", &created);
    assert_eq!(code, 0, "{created:#}");
    let council = ResumedCouncil::with_finale(house, question, CouncilFinale::Revised);
    register_round(house, &council, 0);
    council
}

#[track_caller]
fn register_round(house: &ResumeProject, council: &ResumedCouncil<'_>, round: u8) {
    let message = |slug: &str| {
        json!({ "local_id": format!("{slug}-P{round:02}01"), "label": "Steps",
                "content": "Small ones.", "contributors": [slug.to_lowercase()] })
    };
    let (id, message) =
        (council.find_dialogue_id().unwrap(), [message("MUFFIN"), message("SCONE")]);
    let batch = json!({ "dialogue_id": id, "round": round, "score": 1, "perspectives": message });
    let (code, registered) = house.program.run_operation("register", &batch);
    assert_eq!(code, 0, "{registered:#}");
}

/// Each process dies while the next seat writes; the result must equal an undisturbed run.
#[track_caller]
fn check_kills(begin: impl for<'a> Fn(&'a ResumeProject, &str) -> ResumedCouncil<'a>) {
    let house = ResumeProject::new();
    let mut undisturbed = begin(&house, "undisturbed");
    let end = undisturbed.start_conclude(&[]).wait_result();
    let (code, expected) = undisturbed.record_stop(end);
    assert_eq!((code, value_at(&expected, "terminal_state")), (0, &json!("revised")));
    let mut council = begin(&house, "killed");
    for (place, held) in HELD_SEATS.into_iter().enumerate() {
        let mut process = match place {
            0 => council.start_conclude(&[held]),
            _ => council.start_process(&[held]),
        };
        // The unfinished call of the previous process, and the next.
        process.wait_until_asked(if place == 0 { 1 } else { 2 }, 1);
        let dead = process.kill_process();
        council.record_kill(dead);
    }
    let document = council.run_to_end();
    assert_eq!(stable_document(&document), stable_document(&expected));
    assert_eq!(value_at(&document, "metrics.session.repeated_calls"), 4);
    assert_eq!(
        value_at(&document, "conclusion.participants"),
        value_at(&expected, "conclusion.participants")
    );
    assert_ne!(value_at(&document, "conclusion.participants"), &Value::Array(Vec::new()));
}

#[test]
fn a_council_that_ended_with_its_report_is_concluded_once_however_often_it_is_killed() {
    check_kills(council_with_report);
}

#[test]
fn a_dialogue_that_somebody_leads_is_concluded_once_however_often_it_is_killed() {
    check_kills(led_dialogue);
}
