//! The panel of a round: whom the rules keep, whom they add, and that its size stays.

use plenary_core::dialogue::create::parse_expert_pool;
use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{AlignmentRequest, AlignmentResult, AlignmentTest};
use super::scripted_panel::local_id;
use crate::kit::{ScriptedReply, make_pool};

/// Pool of six experts; muffin, cupcake and scone sit on the first panel.
const POOL: [&str; 6] = ["muffin", "cupcake", "scone", "eclair", "donut", "brioche"];

fn seat(slug: &str, source: &str, tensions: &[&str]) -> Value {
    json!({ "expert_slug": slug, "tensions": tensions, "reason": format!("{slug} is needed."),
        "source": source })
}

fn created(role: &str, tensions: &[&str]) -> Value {
    json!({ "role": role, "tier": "Adjacent", "focus": role, "tensions": tensions,
        "reason": "Missing.", "directive": "Find out.", "source": "created" })
}

/// Runs a dialogue in which the Judge proposes these seats for round 1.
fn run_with_seats(seats: &[Value]) -> AlignmentResult {
    run_scripted(seats, |_| None).1
}

fn run_scripted(
    seats: &[Value],
    script: impl Fn(&AlignmentRequest<'_>) -> Option<ScriptedReply> + Send + Sync + 'static,
) -> (AlignmentTest, AlignmentResult) {
    let seats = json!(seats);
    let test = AlignmentTest::new(move |asked| {
        let is_panel = asked.purpose == AskPurpose::Panel && asked.round == 1;
        let proposed = || asked.usual_with(json!({ "seats": seats }));
        script(asked).or_else(|| is_panel.then(proposed))
    });
    let test = test.with_rules(|rules| (rules.pool_only, rules.max_rounds) = (false, 2));
    let ended = test.run();
    (test, ended)
}

/// The seats of a round: expert, source, owned tensions.
fn panel_of(ended: &AlignmentResult, round: usize) -> Vec<(String, String, Vec<String>)> {
    let seats = ended.export["rounds"][round]["panel"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let owned = |seat: &Value| {
        let owned = seat.get("tensions").and_then(Value::as_array).cloned().unwrap_or_default();
        owned.iter().map(text).collect()
    };
    let result = seats.iter();
    result.map(|seat| (text(&seat["expert_slug"]), text(&seat["source"]), owned(seat))).collect()
}

fn names_of(ended: &AlignmentResult, round: usize) -> Vec<String> {
    panel_of(ended, round).into_iter().map(|(name, ..)| name).collect()
}

#[test]
fn a_seat_that_does_not_exist_owns_no_tension() {
    let ended = run_with_seats(&[
        created("Tax lawyer", &[]),
        created("Actuary", &[]),
        created("Historian", &[]),
        seat("ghost", "pool", &["T0001", "T0002"]),
    ]);
    let panel = panel_of(&ended, 1);
    let owner = |id: &str| {
        let found = panel.iter().find(|(.., owned)| owned.iter().any(|one| one == id));
        found.map(|(name, ..)| name.as_str())
    };
    assert_eq!((owner("T0001"), owner("T0002")), (Some("muffin"), Some("cupcake")), "{panel:?}");
    // The owners of the newest panel stand in the export, with the reasons of their seats.
    let tensions = ended.export["tensions"].as_array().unwrap();
    assert_eq!(tensions[0]["owner"], "muffin");
    let seats = ended.export["rounds"][1]["panel"].to_string();
    assert!(seats.contains("Raised a tension that is not settled."), "{seats}");
    assert!(!ended.export.to_string().contains("ghost"));
}

#[test]
fn a_panel_keeps_its_size_whatever_the_judge_proposes() {
    let crowd: Vec<Value> =
        (0..11).map(|nth| created(&format!("Role {nth}"), &["T0001", "T0002"])).collect();
    let ended = run_with_seats(&crowd);
    let panel = panel_of(&ended, 1);
    assert_eq!(panel.len(), 3, "{panel:?}");
    // One seat owns each tension, and the experts who were dropped are not in the record.
    let owned: Vec<&String> = panel.iter().flat_map(|(.., owned)| owned).collect();
    assert_eq!(owned, ["T0001", "T0002"]);
    let created = panel.iter().filter(|(_, source, _)| source == "created").count();
    assert_eq!(ended.export["experts"].as_array().unwrap().len(), 3 + created);
}

#[test]
fn high_scorers_and_the_core_stay_where_the_judge_drops_them() {
    // Muffin is the core, scone has the best score; the Judge seats cupcake only. No tension.
    let (_, ended) = run_scripted(&[seat("cupcake", "retained", &[])], |asked| {
        match (asked.purpose, asked.round) {
            (AskPurpose::Contribution, 0) => {
                let id = local_id(&asked.expert, 'P', 0, 1);
                let text = format!("[{id}: View]\n{} weighs income.\n", asked.expert);
                Some(ScriptedReply::Reply(text))
            }
            (AskPurpose::Reconciliation, 0) => {
                let ScriptedReply::Reply(usual) = asked.usual() else { unreachable!() };
                let mut result: Value = serde_json::from_str(&usual).unwrap();
                for score in result["scores"].as_array_mut().unwrap() {
                    let is_best = score["expert_slug"] == "scone";
                    score["wisdom"] = json!(if is_best { 90 } else { 1 });
                }
                Some(ScriptedReply::Reply(result.to_string()))
            }
            _ => None,
        }
    });
    let names = names_of(&ended, 1);
    for kept in ["cupcake", "scone", "muffin"] {
        assert!(names.iter().any(|name| name == kept), "{kept}: {names:?}");
    }
}

/// A pool of six whose first panel is drawn; returns the panels of rounds 0 to 3.
fn run_with_pool(
    script: impl Fn(&AlignmentRequest<'_>) -> Option<ScriptedReply> + Send + Sync + 'static,
) -> (Vec<Vec<String>>, AlignmentTest) {
    let test = AlignmentTest::new(script).with_rules(|rules| {
        rules.pool = Some(parse_expert_pool(&make_pool(&POOL)).unwrap());
        (rules.pool_only, rules.max_rounds) = (false, 4);
    });
    let ended = test.run();
    let rounds = ended.export["rounds"].as_array().unwrap().len();
    ((0..rounds).map(|round| names_of(&ended, round)).collect(), test)
}

/// Everyone raises a tension in round 0 and repeats a view later.
fn repeat_view(asked: &AlignmentRequest<'_>, signal: &str) -> Option<ScriptedReply> {
    match asked.purpose {
        AskPurpose::Contribution => {
            let id = |kind| local_id(&asked.expert, kind, asked.round, 1);
            let tension = match asked.round {
                0 => format!("[{}: Doubt of {}]\nIncome may stop.\n", id('T'), asked.expert),
                _ => String::new(),
            };
            let view = format!("[{}: View]\n{} weighs income.\n", id('P'), asked.expert);
            Some(ScriptedReply::Reply(format!("{view}{tension}{signal}")))
        }
        AskPurpose::Reconciliation => Some(asked.usual_with(json!({ "tension_updates": [] }))),
        _ => None,
    }
}

#[test]
fn a_consensus_over_open_tensions_brings_a_challenger_from_the_pool() {
    let (panels, test) = run_with_pool(|asked| repeat_view(asked, "\n[MOVE:CONVERGE]\n"));
    let fresh: Vec<&String> = panels[1].iter().filter(|name| !panels[0].contains(name)).collect();
    let [challenger] = &fresh[..] else { panic!("{panels:?}") };
    assert!(POOL.contains(&challenger.as_str()), "the pool comes before a created expert");
    assert_eq!(panels[1].len(), panels[0].len());
    let asked = test.requests_for(AskPurpose::Contribution);
    let result = asked.iter().find(|(round, name, _)| *round == 1 && name == *challenger).unwrap();
    assert!(result.2.user.contains("Test its common ground"), "{}", result.2.user);
}

#[test]
fn a_tension_that_nobody_moves_brings_a_voice_that_owns_it() {
    let (panels, test) = run_with_pool(|asked| repeat_view(asked, ""));
    assert!(panels.len() > 2, "{panels:?}");
    let fresh: Vec<&String> = panels[2].iter().filter(|name| !panels[1].contains(name)).collect();
    assert_eq!(fresh.len(), 1, "{panels:?}");
    let asked = test.requests_for(AskPurpose::Contribution);
    let result = asked.iter().find(|(round, name, _)| *round == 2 && name == fresh[0]).unwrap();
    let tasks = ["No expert has settled", "Test its common ground"];
    assert!(tasks.iter().any(|task| result.2.user.contains(task)), "{}", result.2.user);
}

#[test]
fn a_gap_becomes_a_task_even_if_another_seat_has_a_directive() {
    let mut first = seat("muffin", "retained", &[]);
    first["directive"] = json!("Price the covered calls for a falling market.");
    let seats = [first, seat("cupcake", "retained", &[]), seat("scone", "retained", &[])];
    let (test, _) = run_scripted(&seats, |asked| {
        let is_it = asked.purpose == AskPurpose::Reconciliation && asked.round == 0;
        is_it.then(|| {
            asked.usual_with(json!({ "gaps": [
                "Nobody examined inheritance taxes.",
                "Covered calls are not priced for falling markets.",
            ] }))
        })
    });
    let asked = test.requests_for(AskPurpose::Contribution);
    let of = |name: &str| {
        let found = asked.iter().find(|(round, one, _)| *round == 1 && one == name).unwrap();
        found.2.user.clone()
    };
    let result = ["muffin", "cupcake", "scone"].map(of);
    let count = |text: &str| result.iter().filter(|user| user.contains(text)).count();
    assert_eq!(count("has not covered this: Nobody examined inheritance taxes."), 1);
    assert_eq!(count("has not covered this: Covered calls"), 0, "the directive says it already");
}
