//! How references, moves and updates change the entities they target.

use serde_json::{Value, json};

use crate::kit::{TestProject, make_batch, make_item, open_dialogue, value_at};

/// Three rounds of `talk`: round 0 is fixed, then `rounds` follow.
///
/// Round 0: ann's P0001, bob's P0002 (opposing P0001), ann's T0001, ann's R0001, ann's E0001, ann's
/// C0001.
fn register_rounds(rounds: &[Value]) -> (TestProject, Vec<Value>) {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob", "cid"]);
    let opening = json!({
        "perspectives": [make_item("ANN-P0001", ""), make_item("BOB-P0001", "oppose ANN-P0001")],
        "recommendations": [make_item("ANN-R0001", "")],
        "tensions": [make_item("ANN-T0001", "")],
        "evidence": [make_item("ANN-E0001", "")],
        "claims": [make_item("ANN-C0001", "")],
    });
    bench.run_ok("register", &make_batch(0, opening));
    let answers = rounds
        .iter()
        .zip(1..)
        .map(|(fields, round)| bench.run_ok("register", &make_batch(round, fields.clone())))
        .collect();
    (bench, answers)
}

/// Registers the rounds and describes an entity: status, then its events.
#[track_caller]
fn check_history(rounds: &[Value], id: &str, expected: &str) {
    let (bench, _) = register_rounds(rounds);
    assert_eq!(describe_history(&bench, id), expected);
    bench.assert_verified();
}

fn describe_history(bench: &TestProject, id: &str) -> String {
    let export = bench.export_dialogue("talk");
    let sections = ["perspectives", "recommendations", "tensions", "evidence", "claims"];
    let mut entities =
        sections.iter().flat_map(|section| value_at(&export, section).as_array().unwrap());
    let entity = entities.find(|entity| value_at(entity, "id") == id).expect("the entity exists");
    let events: Vec<String> =
        value_at(entity, "events").as_array().unwrap().iter().map(describe_event).collect();
    format!("{}: {}", value_at(entity, "status").as_str().unwrap(), events.join(", "))
}

/// `refined@1 by ann -> P0101 (R0001)`: type, round, actors, result, reference.
fn describe_event(event: &Value) -> String {
    let by: Vec<&str> =
        value_at(event, "by").as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut text = format!(
        "{}@{} by {}",
        value_at(event, "type").as_str().unwrap(),
        value_at(event, "round"),
        by.join("+")
    );
    if let Some(result) = event.get("result").and_then(Value::as_str) {
        text.push_str(&format!(" -> {result}"));
    }
    if let Some(reference) = event.get("reference").and_then(Value::as_str) {
        text.push_str(&format!(" ({reference})"));
    }
    text
}

fn make_perspective(local_id: &str, references: &str) -> Value {
    json!({ "perspectives": [make_item(local_id, references)] })
}

#[test]
fn refining_changes_what_is_refined() {
    check_history(
        &[make_perspective("ANN-P0101", "refine P0001")],
        "P0001",
        "refined: created@0 by ann, refined@1 by ann -> P0101",
    );
    check_history(
        &[json!({"recommendations": [make_item("BOB-R0101", "refine R0001")]})],
        "R0001",
        "amended: created@0 by ann, amended@1 by bob -> R0101",
    );
}

#[test]
fn refining_twice_is_a_refinement_and_a_comment() {
    check_history(
        &[
            make_perspective("ANN-P0101", "refine P0001"),
            make_perspective("BOB-P0201", "refine P0001"),
        ],
        "P0001",
        "refined: created@0 by ann, refined@1 by ann -> P0101, commented@2 by bob -> P0201",
    );
}

#[test]
fn a_reference_addresses_a_tension_but_never_resolves_it() {
    check_history(
        &[make_perspective("BOB-P0101", "address T0001")],
        "T0001",
        "addressed: created@0 by ann, addressed@1 by bob (P0101)",
    );
    check_history(
        &[make_perspective("ANN-P0101", "resolve T0001")],
        "T0001",
        "addressed: created@0 by ann, addressed@1 by ann (P0101)",
    );
}

#[test]
fn a_tension_is_resolved_by_update_and_reopened_by_reference() {
    let update = |by: &str| json!({"tension_updates": [{"id": "T0001", "status": "resolved", "by": [by], "via": "P0001"}]});
    check_history(
        &[update("ann"), make_perspective("BOB-P0201", "reopen T0001"), update("judge")],
        "T0001",
        "resolved: created@0 by ann, resolved@1 by ann (P0001), reopened@2 by bob (P0201), resolved@3 by judge (P0001)",
    );
}

#[test]
fn a_stranger_cannot_resolve_a_tension() {
    let (bench, _) = register_rounds(&[]);
    let update = json!({"tension_updates": [{"id": "T0001", "status": "resolved", "by": ["bob"]}]});
    let refusal = bench.expect_error("register", &make_batch(1, update));
    assert_eq!(value_at(&refusal, "errors.0.error_code"), "not_authorized");
    assert_eq!(value_at(&refusal, "errors.0.valid_options"), &json!(["ann", "judge"]));
}

#[test]
fn an_addressed_tension_can_be_opened_again() {
    check_history(
        &[
            make_perspective("BOB-P0101", "address T0001"),
            json!({"tension_updates": [{"id": "T0001", "status": "open", "by": "ann", "reason": "no"}]}),
        ],
        "T0001",
        "open: created@0 by ann, addressed@1 by bob (P0101), opened@2 by ann",
    );
}

#[test]
fn claims_are_supported_and_opposed_by_anyone() {
    check_history(
        &[
            make_perspective("ANN-P0101", "support C0001"),
            make_perspective("BOB-P0201", "oppose C0001"),
        ],
        "C0001",
        "opposed: asserted@0 by ann, supported@1 by ann (P0101), opposed@2 by bob (P0201)",
    );
}

#[test]
fn evidence_is_confirmed_and_challenged_only_by_others() {
    check_history(
        &[make_perspective("ANN-P0101", "support E0001")],
        "E0001",
        "cited: cited@0 by ann",
    );
    check_history(
        &[
            make_perspective("BOB-P0101", "support E0001"),
            make_perspective("CID-P0201", "oppose E0001"),
        ],
        "E0001",
        "challenged: cited@0 by ann, confirmed@1 by bob (P0101), challenged@2 by cid (P0201)",
    );
    let both = json!({"perspectives": [{"local_id": "ANN-P0101", "label": "l", "content": "c", "contributors": ["ann", "bob"], "references": [{"type": "support", "target": "E0001"}]}]});
    check_history(&[both], "E0001", "confirmed: cited@0 by ann, confirmed@1 by bob (P0101)");
}

fn make_concession(expert: &str, target: &str) -> Value {
    json!({"moves": [{"expert": expert, "type": "concede", "target": target}]})
}

#[test]
fn conceding_ones_own_item_withdraws_it() {
    check_history(
        &[make_concession("ann", "P0001")],
        "P0001",
        "conceded: created@0 by ann, conceded@1 by ann",
    );
    check_history(
        &[make_concession("ann", "C0001")],
        "C0001",
        "withdrawn: asserted@0 by ann, withdrawn@1 by ann",
    );
    check_history(&[make_concession("ann", "R0001")], "R0001", "proposed: created@0 by ann");
}

#[test]
fn conceding_to_anothers_item_gives_up_ones_opposition_to_it() {
    check_history(
        &[make_concession("bob", "P0001")],
        "P0002",
        "conceded: created@0 by bob, conceded@1 by bob -> P0001",
    );
    check_history(
        &[make_concession("bob", "ANN-P0001")],
        "P0002",
        "conceded: created@0 by bob, conceded@1 by bob -> P0001",
    );
    check_history(
        &[make_concession("bob", "@ann")],
        "P0002",
        "conceded: created@0 by bob, conceded@1 by bob -> P0001",
    );
    check_history(&[make_concession("cid", "P0001")], "P0002", "open: created@0 by bob");
    check_history(&[make_concession("bob", "P0001")], "P0001", "open: created@0 by ann");
}

#[test]
fn explicit_updates_move_every_kind() {
    let update = |id: &str, status: &str, via: Value| json!({"updates": [{"id": id, "status": status, "by": ["judge"], "via": via}]});
    check_history(
        &[update("P0001", "merged", json!("P0002"))],
        "P0001",
        "merged: created@0 by ann, merged@1 by judge -> P0002",
    );
    check_history(
        &[update("R0001", "rejected", json!("P0002"))],
        "R0001",
        "rejected: created@0 by ann, rejected@1 by judge (P0002)",
    );
    check_history(
        &[update("E0001", "refuted", Value::Null)],
        "E0001",
        "refuted: cited@0 by ann, refuted@1 by judge",
    );
    check_history(
        &[update("C0001", "adopted", Value::Null)],
        "C0001",
        "adopted: asserted@0 by ann, adopted@1 by judge",
    );
}

#[test]
fn an_illegal_update_is_refused_and_says_what_is_legal() {
    let (bench, _) = register_rounds(&[make_concession("ann", "P0001")]);
    let update = json!({"updates": [{"id": "P0001", "status": "refined", "by": "ann"}]});
    let refusal = bench.expect_error("register", &make_batch(2, update));
    assert_eq!(
        value_at(&refusal, "errors.0.message"),
        "Cannot transition P0001 from 'conceded' to 'refined' (valid transitions: none)"
    );
    let update = json!({"tension_updates": [{"id": "T0001", "status": "reopened", "by": "ann"}]});
    let refusal = bench.expect_error("register", &make_batch(2, update));
    assert_eq!(
        value_at(&refusal, "errors.0.message"),
        "Cannot transition T0001 from 'open' to 'reopened' (valid transitions: addressed, resolved)"
    );
}

#[test]
fn an_illegal_step_by_reference_is_kept_without_effect() {
    let (bench, answers) = register_rounds(&[
        make_concession("ann", "P0001"),
        make_perspective("BOB-P0201", "refine P0001, reopen T0001"),
    ]);
    let warnings: Vec<&str> = value_at(&answers[1], "warnings")
        .as_array()
        .unwrap()
        .iter()
        .map(|w| value_at(w, "message").as_str().unwrap())
        .collect();
    assert_eq!(
        warnings,
        [
            "'refine' by P0201 has no effect on P0001: its status conceded cannot change to refined",
            "'reopen' by P0201 has no effect on T0001: its status open cannot change to reopened",
        ]
    );
    let references = value_at(&bench.export_dialogue("talk"), "perspectives.2.references").clone();
    assert_eq!(
        references,
        json!([{"type": "refine", "target": "P0001"}, {"type": "reopen", "target": "T0001"}])
    );
}

#[test]
fn effects_come_in_order_entities_updates_references_moves() {
    // The update resolves first, so the addressing reference comes too late.
    let (bench, answers) = register_rounds(&[json!({
        "perspectives": [make_item("BOB-P0101", "address T0001")],
        "tension_updates": [{"id": "T0001", "status": "resolved", "by": "ann"}],
    })]);
    assert_eq!(describe_history(&bench, "T0001"), "resolved: created@0 by ann, resolved@1 by ann");
    assert_eq!(value_at(&answers[0], "warnings.0.type"), "no_effect");
    // An opposition made in this batch is conceded in this batch, by the later move.
    check_history(
        &[
            json!({"perspectives": [make_item("CID-P0101", "oppose R0001")], "moves": [{"expert": "cid", "type": "concede", "target": "R0001"}]}),
        ],
        "P0101",
        "conceded: created@1 by cid, conceded@1 by cid -> R0001",
    );
}

#[test]
fn updates_take_ids_of_their_own_batch() {
    let (bench, answers) = register_rounds(&[json!({
        "perspectives": [make_item("BOB-P0101", "")],
        "tensions": [make_item("BOB-T0101", "")],
        "tension_updates": [{"id": "BOB-T0101", "status": "addressed", "by": ["cid"], "via": "BOB-P0101"}],
    })]);
    assert_eq!(
        value_at(&answers[0], "tension_updates"),
        &json!([{"id": "T0101", "status": "addressed", "via": "P0101"}])
    );
    assert_eq!(
        describe_history(&bench, "T0101"),
        "addressed: created@1 by bob, addressed@1 by cid (P0101)"
    );
}

#[test]
fn references_resolve_in_any_order_and_merge() {
    let fields = json!({
        "perspectives": [make_item("ANN-P0101", "depend BOB-P0101, depend BOB-P0101, support @bob, support ANN-C0001"), make_item("BOB-P0101", "")],
        "claims": [make_item("BOB-C0101", "depend @ann")],
        "refs": [
            {"source_id": "ANN-P0101", "ref_type": "depend", "target_id": "BOB-P0101"},
            {"source_type": "P", "source_id": "P0001", "ref_type": "question", "target_type": "T", "target_id": "ANN-T0001"},
            {"source_id": "P0002", "ref_type": "oppose", "target_id": "P0001"},
        ],
    });
    let (bench, _) = register_rounds(&[fields]);
    let export = bench.export_dialogue("talk");
    assert_eq!(
        value_at(&export, "perspectives.2.references"),
        &json!([{"type": "depend", "target": "P0102"}, {"type": "support", "target": "P0102"}, {"type": "support", "target": "C0001"}])
    );
    assert_eq!(
        value_at(&export, "claims.1.references"),
        &json!([{"type": "depend", "target": "P0101"}])
    );
    assert_eq!(
        value_at(&export, "perspectives.0.references"),
        &json!([{"type": "question", "target": "T0001"}])
    );
    assert_eq!(
        value_at(&export, "perspectives.1.references"),
        &json!([{"type": "oppose", "target": "P0001"}])
    );
    bench.assert_verified();
}

#[test]
fn nobody_means_the_very_thing_they_are_saying() {
    check_history(
        &[
            json!({"perspectives": [make_item("ANN-P0101", "refine @ann"), make_item("ANN-P0102", "refine @ann")]}),
        ],
        "P0101",
        "refined: created@1 by ann, refined@1 by ann -> P0102",
    );
    check_history(
        &[make_perspective("ANN-P0101", "refine @ann")],
        "P0001",
        "refined: created@0 by ann, refined@1 by ann -> P0101",
    );
}

#[test]
fn an_expert_without_a_position_cannot_be_pointed_at() {
    let (bench, _) = register_rounds(&[]);
    let refusal = bench
        .expect_error("register", &make_batch(1, make_perspective("ANN-P0101", "support @cid")));
    assert_eq!(value_at(&refusal, "errors.0.error_code"), "target_not_found");
    assert_eq!(
        value_at(&refusal, "errors.0.message"),
        "target_id '@cid' not found in dialogue 'talk'"
    );
}

#[test]
fn the_seeds_other_name_for_merged_is_understood() {
    let update =
        json!({"updates": [{"id": "P0001", "status": "resolved", "by": "judge", "via": "P0002"}]});
    check_history(&[update], "P0001", "merged: created@0 by ann, merged@1 by judge -> P0002");
}

#[test]
fn conceding_what_is_no_position_is_kept_without_effect() {
    let (_, answers) = register_rounds(&[make_concession("ann", "R0001")]);
    assert_eq!(value_at(&answers[0], "warnings.0.type"), "no_effect");
}
