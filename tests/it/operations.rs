//! Creating dialogues, drawing panels, and queries across the store.

use serde_json::{Value, json};

use crate::kit::{TestProject, make_batch, make_item, make_pool, open_dialogue, value_at};

#[test]
fn titles_become_ids_and_repeat_with_a_number() {
    let bench = TestProject::new();
    let create = |title: &str| bench.run_operation("create", &json!({ "title": title }));
    let check = |title: &str, expected: &str| {
        assert_eq!(value_at(&create(title).unwrap(), "dialogue_id"), expected, "title: {title}");
    };
    check("NVIDIA Investment Decision", "nvidia-investment-decision");
    check("NVIDIA: Investment, Decision!", "nvidia-investment-decision-2");
    check("Ærøskøbing", "aeroskobing");
    check("…", "dialogue");
    check("dialogue", "dialogue-2");
}

#[test]
fn the_hundredth_dialogue_of_a_title_is_refused() {
    let bench = TestProject::new();
    for _ in 1..=99 {
        bench.run_ok("create", &json!({ "title": "Again" }));
    }
    let refusal = bench.expect_error("create", &json!({ "title": "Again" }));
    assert_eq!(value_at(&refusal, "error_code"), "too_many_similar_titles");
}

#[test]
fn experts_without_a_name_get_a_pastry_that_is_free() {
    let bench = TestProject::new();
    let mut experts = vec![json!({"role": "R", "tier": "Core", "slug": "cupcake"})];
    experts.extend((0..21).map(|_| json!({"role": "R", "tier": "Wildcard"})));
    let created = bench.run_ok(
        "create",
        &json!({ "title": "Talk", "expert_pool": {"domain": "d", "experts": experts} }),
    );
    let slugs: Vec<&str> = value_at(&created, "panel")
        .as_array()
        .unwrap()
        .iter()
        .map(|seat| value_at(seat, "expert_slug").as_str().unwrap())
        .collect();
    assert_eq!(slugs[..3], ["cupcake", "muffin", "scone"]);
    assert_eq!(slugs[19..], ["religieuse", "pastry21", "pastry22"]);
}

#[test]
fn a_smaller_panel_is_drawn_and_everyone_stays_an_expert() {
    let bench = TestProject::new();
    let slugs: Vec<String> = (0..12).map(|n| format!("e{n}")).collect();
    let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
    let created = bench.run_ok(
        "create",
        &json!({ "title": "Talk", "expert_pool": make_pool(&slugs), "panel_size": 6 }),
    );
    assert_eq!(value_at(&created, "panel").as_array().unwrap().len(), 6);
    assert_eq!(value_at(&created, "panel.0.source"), "pool");
    let context = bench.run_ok("context", &json!({ "dialogue_id": "talk" }));
    assert_eq!(value_at(&context, "experts").as_object().unwrap().len(), 6);
    assert_eq!(value_at(&bench.export_dialogue("talk"), "experts").as_array().unwrap().len(), 12);
    // An expert who was not drawn can still contribute.
    let drawn = value_at(&context, "experts").as_object().unwrap();
    let idle = slugs.iter().find(|slug| !drawn.contains_key(**slug)).unwrap();
    let local_id = format!("{}-P0001", idle.to_uppercase());
    bench.run_ok("register", &make_batch(0, json!({ "perspectives": [make_item(&local_id, "")] })));
}

#[test]
fn a_pool_without_a_wildcard_is_worth_a_warning() {
    let bench = TestProject::new();
    let created = bench
        .run_ok("create", &json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) }));
    assert_eq!(value_at(&created, "warnings.0.type"), "no_wildcard");
}

#[test]
fn two_dialogues_never_share_a_folder() {
    let bench = TestProject::new();
    let first = bench.run_ok("create", &json!({ "title": "One", "output_dir": "out" }));
    let second = bench.run_ok("create", &json!({ "title": "Two", "output_dir": "./out/" }));
    assert_ne!(value_at(&first, "output_dir"), value_at(&second, "output_dir"));
    assert_eq!(value_at(&second, "warnings.0.type"), "output_dir_taken");
    assert!(value_at(&second, "output_dir").as_str().unwrap().ends_with("out/two"));
}

#[test]
fn a_panel_is_kept_until_another_is_recorded() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob", "cid"]);
    bench.run_ok("register", &make_batch(0, json!({})));
    let seats = json!([{"expert_slug": "ann", "source": "retained"}, {"expert_slug": "cid", "source": "retained", "round_context": "Look again."}]);
    bench.run_ok("panel", &json!({ "dialogue_id": "talk", "round": 1, "panel": seats }));
    let context = bench.run_ok("context", &json!({ "dialogue_id": "talk", "round": 1 }));
    assert_eq!(value_at(&context, "experts.cid.round_context"), "Look again.");
    assert!(value_at(&context, "experts").get("bob").is_none());
    bench.run_ok("register", &make_batch(1, json!({})));
    let context = bench.run_ok("context", &json!({ "dialogue_id": "talk" }));
    assert_eq!(value_at(&context, "experts").as_object().unwrap().len(), 2);
    assert_eq!(
        value_at(&context, "experts.cid"),
        &json!({"slug": "cid", "role": "Expert", "tier": "Wildcard", "source": "retained", "focus": null, "description": null, "your_score": 0, "round_context": null})
    );
    bench.assert_verified();
}

#[test]
fn a_panel_can_be_corrected_until_its_round_is_held() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob", "cid"]);
    let panel = |round: u8, expert: &str| json!({ "dialogue_id": "talk", "round": round, "panel": [{"expert_slug": expert, "source": "pool"}] });
    bench.run_ok("panel", &panel(0, "ann"));
    bench.run_ok("panel", &panel(0, "bob"));
    bench.run_ok("register", &make_batch(0, json!({})));
    assert_eq!(
        value_at(&bench.expect_error("panel", &panel(0, "cid")), "error_code"),
        "round_already_registered"
    );
    assert_eq!(
        value_at(&bench.expect_error("panel", &panel(2, "cid")), "error_code"),
        "invalid_round"
    );
    let export = bench.export_dialogue("talk");
    assert_eq!(
        value_at(&export, "warnings.0"),
        &json!({"type": "missing_score", "expert": "bob", "round": 0, "message": "Expert in panel but no score registered"})
    );
    bench.assert_verified();
}

#[test]
fn progress_follows_the_scores_and_the_work() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let progress = || bench.run_ok("progress", &json!({ "dialogue_id": "talk" }));
    assert_eq!(
        (value_at(&progress(), "round"), value_at(&progress(), "converging")),
        (&Value::Null, &json!(false))
    );
    let round = |round: u8, score: i64, more: Value| {
        let mut fields = make_batch(round, more);
        fields["score"] = json!(score);
        bench.run_ok("register", &fields)
    };
    round(
        0,
        100,
        json!({"expert_scores": {"ann": 7, "bob": 9}, "perspectives": [make_item("ANN-P0001", "")], "tensions": [make_item("ANN-T0001", ""), make_item("BOB-T0001", "")]}),
    );
    round(
        1,
        40,
        json!({"tension_updates": [{"id": "T0001", "status": "resolved", "by": "ann"}], "perspectives": [make_item("BOB-P0101", "")], "converge": ["ann"]}),
    );
    let now = progress();
    assert_eq!(value_at(&now, "velocity"), -60);
    assert_eq!(
        (value_at(&now, "open_tensions"), value_at(&now, "work_remaining")),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        (value_at(&now, "converge_percent"), value_at(&now, "status")),
        (&json!(50), &json!("open"))
    );
    // One of two was resolved in two rounds, so the other takes two more.
    assert_eq!(value_at(&now, "estimated_rounds_remaining"), 2);
    assert_eq!(
        value_at(&now, "leaderboard"),
        &json!([{"expert_slug": "bob", "total": 9}, {"expert_slug": "ann", "total": 7}])
    );
    round(2, 41, json!({"perspectives": [make_item("ANN-P0201", "")]}));
    assert_eq!(
        (value_at(&progress(), "converging"), value_at(&progress(), "status")),
        (&json!(false), &json!("open"))
    );
    round(3, 44, json!({"perspectives": [make_item("ANN-P0301", "")]}));
    assert_eq!(
        (value_at(&progress(), "converging"), value_at(&progress(), "status")),
        (&json!(true), &json!("converging"))
    );
    assert_eq!(value_at(&progress(), "estimated_rounds_remaining"), 1);
    round(4, 90, json!({"perspectives": [make_item("ANN-P0401", "")]}));
    assert_eq!(value_at(&progress(), "status"), "open");
    bench.assert_verified();
}

#[test]
fn citations_expand_and_bad_ones_stand_beside_the_good() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let mut recommendation = make_item("ANN-R0001", "depend BOB-P0001");
    recommendation["parameters"] = json!({"delta": "0.25", "a": 1});
    bench.run_ok(
        "register",
        &make_batch(
            0,
            json!({"perspectives": [make_item("BOB-P0001", "")], "recommendations": [recommendation]}),
        ),
    );
    let cited = bench.run_ok("cite", &json!({ "dialogue_id": "talk", "ids": ["R0001", "talk/P0001", "P0099", "nope/P0001", "xyz"] }));
    assert_eq!(value_at(&cited, "citations.0.parameters"), &json!({"delta": "0.25", "a": 1}));
    assert_eq!(
        value_at(&cited, "citations.0.references"),
        &json!([{"type": "depend", "target": "P0001", "label": "Label of BOB-P0001"}])
    );
    assert_eq!(
        value_at(&cited, "citations.1.referenced_by"),
        &json!([{"type": "depend", "source": "R0001", "label": "Label of ANN-R0001"}])
    );
    let codes: Vec<&Value> = value_at(&cited, "errors")
        .as_array()
        .unwrap()
        .iter()
        .map(|e| value_at(e, "error_code"))
        .collect();
    assert_eq!(codes, ["target_not_found", "dialogue_not_found", "invalid_display_id"]);
}

#[test]
fn similar_dialogues_are_found_by_their_words() {
    let bench = TestProject::new();
    bench.run_ok(
        "create",
        &json!({ "title": "Pension income", "question": "Can options pay a 4 % mandate?" }),
    );
    bench.run_ok("create", &json!({ "title": "Lunch", "question": "Where?" }));
    open_dialogue(&bench, &["ann"]);
    let mut tension = make_item("ANN-T0001", "");
    tension["label"] = json!("Income mandates versus growth");
    bench.run_ok("register", &make_batch(0, json!({ "tensions": [tension] })));
    let found = |query: &str| -> Vec<String> {
        let matched = bench.run_ok("similar", &json!({ "query": query }));
        value_at(&matched, "results")
            .as_array()
            .unwrap()
            .iter()
            .map(|r| value_at(r, "dialogue_id").as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(found("income mandate"), ["pension-income", "talk"]);
    assert_eq!(found("growth"), ["talk"]);
    // Many newer texts with a common word do not hide an old one with a rare word, although no text
    // has both.
    for round in [1, 2] {
        let claim = |number: usize| {
            let mut claim = make_item(&format!("ANN-C{round:02}{number:02}"), "");
            claim["label"] = json!("Income again");
            claim
        };
        let claims: Vec<Value> = (1..=60).map(claim).collect();
        bench.run_ok("register", &make_batch(round, json!({ "claims": claims })));
    }
    assert!(found("options income").contains(&"pension-income".to_owned()));
    assert_eq!(found("\"NEAR( * OR"), Vec::<String>::new());
}

#[test]
fn statistics_count_everything_once() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    bench.run_ok("register", &make_batch(0, json!({"expert_scores": {"bob": 5}, "perspectives": [make_item("ANN-P0001", ""), make_item("BOB-P0001", "")]})));
    bench.run_ok("create", &json!({ "title": "Other" }));
    let stats = bench.run_ok("stats", &json!({}));
    assert_eq!(value_at(&stats, "dialogues"), 2);
    assert_eq!(value_at(&stats, "by_status"), &json!({"open": 2}));
    assert_eq!(value_at(&stats, "entities.perspectives"), 2);
    assert_eq!(value_at(&stats, "averages.perspectives"), 1.0);
    assert_eq!(
        value_at(&stats, "top_experts.0"),
        &json!({"expert_slug": "bob", "total": 5, "dialogues": 1})
    );
}

#[test]
fn lists_filter_and_page() {
    let bench = TestProject::new();
    for title in ["A", "B", "C"] {
        bench.run_ok("create", &json!({ "title": title }));
    }
    bench.run_ok("abandon", &json!({ "dialogue_id": "b", "reason": "no longer needed" }));
    let page = bench.run_ok("list", &json!({ "limit": 2 }));
    assert_eq!(
        (value_at(&page, "dialogues.0.dialogue_id"), value_at(&page, "next")),
        (&json!("c"), &json!("b"))
    );
    let rest = bench.run_ok("list", &json!({ "limit": 2, "after": "b" }));
    assert_eq!(
        (value_at(&rest, "dialogues.0.dialogue_id"), value_at(&rest, "next")),
        (&json!("a"), &Value::Null)
    );
    let abandoned = bench.run_ok("list", &json!({ "status": "abandoned" }));
    assert_eq!(value_at(&abandoned, "dialogues").as_array().unwrap().len(), 1);
    assert_eq!(
        value_at(&bench.expect_error("list", &json!({ "after": "zzz" })), "error_code"),
        "dialogue_not_found"
    );
    assert_eq!(
        value_at(&bench.expect_error("list", &json!({ "status": "done" })), "error_code"),
        "invalid_enum"
    );
}

#[test]
fn rounds_and_items_have_their_limits() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let claims: Vec<Value> =
        (1..=99).map(|seq| make_item(&format!("ANN-C00{seq:02}"), "")).collect();
    let mut too_many = claims.clone();
    too_many.push(make_item("BOB-C0001", ""));
    let refusal = bench.expect_error("register", &make_batch(0, json!({ "claims": too_many })));
    assert_eq!(value_at(&refusal, "errors.0.error_code"), "round_capacity_exceeded");
    bench.run_ok("register", &make_batch(0, json!({ "claims": claims })));
    for round in 1..=99 {
        bench.run_ok("register", &make_batch(round, json!({})));
    }
    let refusal = bench.expect_error("register", &make_batch(100, json!({})));
    assert_eq!(value_at(&refusal, "errors.0.error_code"), "round_capacity_exceeded");
    let refusal = bench.expect_error("register", &make_batch(101, json!({})));
    assert_eq!(value_at(&refusal, "errors.0.error_code"), "invalid_round");
    assert_eq!(value_at(&bench.export_dialogue("talk"), "totalRounds"), 100);
}

#[test]
fn a_slip_in_a_fields_name_is_refused_by_every_operation() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    let cases = [
        ("create", json!({"titel": "T"})),
        ("panel", json!({"dialogue_id": "talk", "round": 0, "pannel": []})),
        ("expert", json!({"dialogue_id": "talk", "expert_slg": "bo"})),
        ("register", json!({"dialogue_id": "talk", "round": 0, "score": 1, "claim": []})),
        ("verdict", json!({"dialogue_id": "talk", "verdict_ids": "x"})),
        ("context", json!({"dialogue_id": "talk", "rond": 0})),
        ("export", json!({"dialogue_id": "talk", "fromat": "json"})),
        ("progress", json!({"dialogueid": "talk"})),
        ("abandon", json!({"dialogue_id": "talk", "reasn": "x"})),
        ("list", json!({"statuss": "open"})),
        ("cite", json!({"idss": ["talk/P0001"]})),
        ("similar", json!({"query": "x", "limitt": 1})),
    ];
    for (operation, arguments) in cases {
        let refusal = bench.expect_error(operation, &arguments);
        assert!(refusal.to_string().contains("not_supported"), "{operation}: {refusal:#}");
    }
    assert_eq!(value_at(&bench.export_dialogue("talk"), "status"), "open");
}

#[test]
fn who_was_there_is_kept_when_nobody_recorded_a_panel() {
    let bench = TestProject::new();
    bench.run_ok("create", &json!({ "title": "Talk" }));
    let expert = |slug: &str| json!({"dialogue_id": "talk", "expert_slug": slug, "role": "R", "tier": "Core", "reason": "r"});
    bench.run_ok("expert", &expert("ann"));
    bench.run_ok("expert", &expert("bob"));
    let opening = json!({
        "expert_scores": {"ann": 1, "bob": 2}, "converge": ["ann", "bob"],
        "perspectives": [make_item("ANN-P0001", "")], "tensions": [make_item("BOB-T0001", "oppose ANN-P0001")],
    });
    bench.run_ok("register", &make_batch(0, opening));
    bench.run_ok("expert", &expert("cy"));
    let progress = bench.run_ok("progress", &json!({"dialogue_id": "talk"}));
    assert_eq!(value_at(&progress, "converge_percent"), 100);
    assert_eq!(value_at(&bench.export_dialogue("talk"), "warnings"), &json!([]));
    let context = bench.run_ok("context", &json!({"dialogue_id": "talk"}));
    assert_eq!(value_at(&context, "experts.bob.source"), "retained");
    assert_eq!(
        value_at(&context, "experts.bob.round_context"),
        "In round 0, you raised T0001 (Label of BOB-T0001), which is open."
    );
    assert_eq!(
        value_at(&context, "experts.ann.round_context"),
        "In the last round Bob opposed your P0001 with T0001 (Label of BOB-T0001)."
    );
    assert!(value_at(&context, "experts").get("cy").is_none(), "cy sits when a panel says so");
    bench.assert_verified();
}

#[test]
fn the_context_of_a_past_round_knows_nothing_of_what_came_later() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let first = json!({"expert_scores": {"ann": 5}, "tensions": [make_item("ANN-T0001", "")], "perspectives": [make_item("ANN-P0001", "")]});
    bench.run_ok("register", &make_batch(0, first));
    let before = bench.run_ok("context", &json!({"dialogue_id": "talk", "round": 1}));
    let second = json!({
        "expert_scores": {"ann": 7}, "perspectives": [make_item("BOB-P0101", "refine P0001")],
        "tension_updates": [{"id": "T0001", "status": "resolved", "by": "ann"}],
        "refs": [{"source_id": "T0001", "ref_type": "depend", "target_id": "BOB-P0101"}],
    });
    bench.run_ok("register", &make_batch(1, second));
    let after = bench.run_ok("context", &json!({"dialogue_id": "talk", "round": 1}));
    assert_eq!(before, after);
    let next = bench.run_ok("context", &json!({"dialogue_id": "talk"}));
    assert_eq!(value_at(&next, "experts.ann.your_score"), 12);
}

#[test]
fn an_expert_joins_when_they_first_take_part() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    bench.run_ok("expert", &json!({"dialogue_id": "talk", "expert_slug": "cid", "role": "R", "tier": "Core", "reason": "r", "first_round": 5}));
    bench.run_ok("register", &make_batch(0, json!({"perspectives": [make_item("CID-P0001", "")]})));
    bench.run_ok("register", &make_batch(1, json!({"expert_scores": {"bob": 1}})));
    let experts = value_at(&bench.export_dialogue("talk"), "experts").clone();
    let first: Vec<&Value> =
        experts.as_array().unwrap().iter().map(|expert| value_at(expert, "firstRound")).collect();
    assert_eq!(first, [&Value::Null, &json!(1), &json!(0)]);
}

#[test]
fn after_the_hundredth_round_nothing_is_prepared_either() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    for round in 0..=99 {
        bench.run_ok("register", &make_batch(round, json!({})));
    }
    let panel = json!({"dialogue_id": "talk", "round": 100, "panel": [{"expert_slug": "ann", "source": "retained"}]});
    assert_eq!(
        value_at(&bench.expect_error("panel", &panel), "error_code"),
        "round_capacity_exceeded"
    );
    let expert = json!({"dialogue_id": "talk", "expert_slug": "bo", "role": "R", "tier": "Core", "reason": "r"});
    assert_eq!(
        value_at(&bench.expect_error("expert", &expert), "error_code"),
        "round_capacity_exceeded"
    );
}

#[test]
fn one_fault_is_one_error() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let codes = |fields: Value| -> Vec<String> {
        let refusal = bench.expect_error("register", &make_batch(0, fields));
        value_at(&refusal, "errors")
            .as_array()
            .unwrap()
            .iter()
            .map(|e| value_at(e, "error_code").as_str().unwrap().to_owned())
            .collect()
    };
    let mut unlabelled = make_item("ANN-P0001", "");
    unlabelled["label"] = Value::Null;
    assert_eq!(
        codes(json!({"perspectives": [unlabelled, make_item("BOB-P0001", "support @ann")]})),
        ["missing_field"]
    );
    let crowd: Vec<Value> = (1..=99)
        .map(|n| make_item(&format!("ANN-P00{n:02}"), ""))
        .chain([make_item("BOB-P0001", "")])
        .collect();
    assert_eq!(
        codes(
            json!({"perspectives": crowd, "claims": [make_item("ANN-C0001", "depend BOB-P0001")]})
        ),
        ["round_capacity_exceeded"]
    );
    assert_eq!(
        codes(
            json!({"tensions": [make_item("ANN-T0001", "")], "tension_updates": [{"id": "ANN-T0001", "status": "addressed", "by": []}]})
        ),
        ["missing_field"]
    );
    let bridge = json!({"perspectives": [make_item("ANN-P0001", "")], "moves": [{"expert": "bob", "type": "bridge", "targets": ["ANN-P0001", "@ann"]}]});
    assert_eq!(codes(bridge), ["missing_field"]);
}

#[test]
fn folders_stay_apart_however_they_are_named() {
    let bench = TestProject::new();
    let folder = |title: &str, dir: Value| {
        let created = bench.run_ok("create", &json!({ "title": title, "output_dir": dir }));
        value_at(&created, "output_dir").as_str().unwrap().to_owned()
    };
    let folders = [
        folder("A", json!(".plenary/dialogues/b")),
        folder("B", Value::Null),
        folder("C", json!("out")),
        folder("D", json!("out/e")),
        folder("E", json!("out")),
    ];
    let different: std::collections::BTreeSet<&String> = folders.iter().collect();
    assert_eq!(different.len(), folders.len(), "{folders:?}");
}

#[test]
fn a_round_tells_what_references_changed_and_who_had_no_seat() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let panel = json!([{"expert_slug": "ann", "source": "pool"}]);
    bench.run_ok("panel", &json!({ "dialogue_id": "talk", "round": 0, "panel": panel }));
    let answer = bench.run_ok(
        "register",
        &make_batch(
            0,
            json!({
                "perspectives": [make_item("BOB-P0001", "address ANN-T0001, address ANN-T0001")],
                "tensions": [make_item("ANN-T0001", "")],
            }),
        ),
    );
    assert_eq!(
        value_at(&answer, "effects"),
        &json!([{"id": "T0001", "status": "addressed", "via": "P0001"}])
    );
    let warning = json!({"type": "off_panel", "experts": ["bob"], "message": "not on the panel of round 0: bob"});
    assert_eq!(value_at(&answer, "warnings"), &json!([warning]));
}

#[test]
fn why_a_dialogue_was_abandoned_is_told() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    bench.run_ok("abandon", &json!({ "dialogue_id": "talk", "reason": "overtaken by events" }));
    let export = bench.export_dialogue("talk");
    assert_eq!(
        (value_at(&export, "status"), value_at(&export, "closedBecause")),
        (&json!("abandoned"), &json!("overtaken by events"))
    );
    let again = bench.expect_error("abandon", &json!({ "dialogue_id": "talk" }));
    assert_eq!(value_at(&again, "error_code"), "dialogue_closed");
    bench.assert_verified();
}

#[test]
fn a_citation_tells_its_history() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    bench.run_ok("register", &make_batch(0, json!({ "claims": [make_item("ANN-C0001", "")], "perspectives": [make_item("BOB-P0001", "oppose ANN-C0001")] })));
    let cited = bench.run_ok("cite", &json!({ "ids": ["talk/C0001"] }));
    assert_eq!(
        value_at(&cited, "citations.0.events"),
        &json!([{"type": "asserted", "round": 0, "by": ["ann"]}, {"type": "opposed", "round": 0, "by": ["bob"], "reference": "P0001"}])
    );
}
