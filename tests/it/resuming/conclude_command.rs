//! `conclude`, killed in each stage of its conclusion.

use serde_json::{Value, json};

use super::harness::{Council, House, essence};
use super::scripted_seats::Finale;
use crate::kit::at;

/// The seats that write, in order.
const HELD: [&str; 4] = ["conclusion-ann", "audit-bob", "revision-ann", "second-audit-bob"];

/// A council that ended with its report.
fn reported<'a>(house: &'a House, question: &str) -> Council<'a> {
    let mut council = Council::new(house, question);
    council.finish();
    council.finale = Finale::Revised;
    council
}

/// A dialogue led by a Judge, with one round.
fn led<'a>(house: &'a House, question: &str) -> Council<'a> {
    let expert = |slug: &str| json!({ "role": "Expert", "tier": "Core", "slug": slug });
    let pool = json!({ "domain": "d", "experts": [expert("muffin"), expert("scone")] });
    let created = json!({ "title": question, "question": question, "expert_pool": pool });
    let (code, created) = house.program.operation("create", &created);
    assert_eq!(code, 0, "{created:#}");
    let council = Council::ending(house, question, Finale::Revised);
    register(house, &council, 0);
    council
}

#[track_caller]
fn register(house: &House, council: &Council<'_>, round: u8) {
    let said = |slug: &str| {
        json!({ "local_id": format!("{slug}-P{round:02}01"), "label": "Steps",
                "content": "Small ones.", "contributors": [slug.to_lowercase()] })
    };
    let (id, said) = (council.id().unwrap(), [said("MUFFIN"), said("SCONE")]);
    let batch = json!({ "dialogue_id": id, "round": round, "score": 1, "perspectives": said });
    let (code, registered) = house.program.operation("register", &batch);
    assert_eq!(code, 0, "{registered:#}");
}

/// Each process dies while the next seat writes; the result must equal an undisturbed run.
#[track_caller]
fn check(begin: impl for<'a> Fn(&'a House, &str) -> Council<'a>) {
    let house = House::new();
    let mut undisturbed = begin(&house, "undisturbed");
    let end = undisturbed.conclude(&[]).end();
    let (code, expected) = undisturbed.stopped(end);
    assert_eq!((code, at(&expected, "terminal_state")), (0, &json!("revised")));
    let mut council = begin(&house, "killed");
    for (place, held) in HELD.into_iter().enumerate() {
        let mut process = match place {
            0 => council.conclude(&[held]),
            _ => council.start(&[held]),
        };
        // The unfinished call of the previous process, and the next.
        process.wait_until_asked(if place == 0 { 1 } else { 2 }, 1);
        let dead = process.kill();
        council.died(dead);
    }
    let document = council.finish();
    assert_eq!(essence(&document), essence(&expected));
    assert_eq!(at(&document, "metrics.session.repeated_calls"), 4);
    assert_eq!(at(&document, "conclusion.participants"), at(&expected, "conclusion.participants"));
    assert_ne!(at(&document, "conclusion.participants"), &Value::Array(Vec::new()));
}

#[test]
fn a_council_that_ended_with_its_report_is_concluded_once_however_often_it_is_killed() {
    check(reported);
}

#[test]
fn a_dialogue_that_somebody_leads_is_concluded_once_however_often_it_is_killed() {
    check(led);
}
