//! `plenary align` as a user runs it: the rehearsal panel plays a whole dialogue offline.

use serde_json::{Value, json};

use crate::kit::{TestProgram, value_at};

const QUESTION: &str = "Should the trust swap NVAI for NVDA?";

const LIBRARY: &str = "\
principles:
  - {label: Evidence is citable, description: Every figure names a source.}
domains:
  - slug: fiduciary-investment
    code: FID
    label: Fiduciary Investment
    tenets:
      - {label: Fiduciary primacy, description: The beneficiaries come first., priority: 1000}
      - {label: Concentration, description: No issuer above a quarter., priority: 800}
";

fn run_align(program: &TestProgram, arguments: &[&str]) -> (i32, Value) {
    let ran =
        program.run_command(&[&["align", QUESTION, "--rehearse", "--json"], arguments].concat());
    let document = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(program.run_command(&["verify"]).code, 0);
    (ran.code, document)
}

/// Six experts, three rounds, one tension accepted, one expert created, a minority.
#[track_caller]
fn assert_whole_dialogue(program: &TestProgram, document: &Value) {
    assert_eq!(value_at(document, "rehearsal"), true);
    assert_eq!(value_at(document, "stop_reason"), "converged");
    assert_eq!(value_at(document, "rounds"), 3);
    let id = value_at(document, "dialogue_id").as_str().unwrap();
    let export: Value =
        serde_json::from_str(&program.run_command(&["export", id, "--json"]).stdout).unwrap();
    for round in export["rounds"].as_array().unwrap() {
        assert_eq!(round["panel"].as_array().unwrap().len(), 6, "{:#}", round["panel"]);
    }
    let experts = export["experts"].as_array().unwrap();
    let created = experts.iter().filter(|one| one["source"] == "created").count();
    assert_eq!(created, 1);
    let verdicts = value_at(document, "verdicts").as_array().unwrap();
    let kinds: Vec<&str> = verdicts.iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["final", "minority"]);
    assert_eq!(verdicts[0]["tensionsAccepted"].as_array().unwrap().len(), 1);
    assert!(value_at(document, "terminal_state").is_string());
    let shown = program.run_command(&["show", id]);
    assert!(shown.stdout.contains("REHEARSAL") && shown.stdout.contains("SCOREBOARD"), "{shown:?}");
}

#[test]
fn the_rehearsal_panel_plays_a_whole_alignment_dialogue() {
    // The first panel is drawn at random; the story is the same for each draw.
    for _ in 0..4 {
        let program = TestProgram::new();
        let (code, document) = run_align(&program, &[]);
        assert_eq!(code, 0);
        assert_eq!(value_at(&document, "calibration"), &Value::Null);
        assert_whole_dialogue(&program, &document);
    }
}

#[test]
fn the_rehearsal_panel_plays_a_calibrated_dialogue() {
    let program = TestProgram::new();
    program.write_text("library.yaml", LIBRARY);
    assert_eq!(program.run_command(&["ethos", "import", "library.yaml"]).code, 0);
    let (code, document) =
        run_align(&program, &["--domain", "fiduciary-investment", "--constraint", "4 % income"]);
    assert_eq!(code, 0, "{document:#}");
    assert_whole_dialogue(&program, &document);
    let block = value_at(&document, "calibration");
    assert_eq!(
        (&block["rules_count"], &block["compliance"]["fully_compliant"]),
        (&json!(4), &json!(true))
    );
    let rows = value_at(&document, "scoreboard.rounds.0.experts").as_object().unwrap();
    assert!(rows.values().any(|row| row["calibration"] == 1), "{rows:#?}");
    let id = value_at(&document, "dialogue_id").as_str().unwrap();
    let shown = program.run_command(&["show", id]);
    assert!(shown.stdout.contains("CALIBRATION") && shown.stdout.contains("RULE01"), "{shown:?}");
    let checked = program.run_command(&["ethos", "check", id, "--json"]);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert!(checked["rules"].as_array().unwrap().iter().all(|rule| rule["status"] == "compliant"));
}

#[test]
fn a_domain_may_be_named_by_its_code_and_with_a_lens() {
    let program = TestProgram::new();
    program.write_text("library.yaml", LIBRARY);
    program.run_command(&["ethos", "import", "library.yaml"]);
    let lens = json!({ "domain": "FID", "label": "Narrow", "exclude_tenets": ["FID-TN02"] });
    program.write_text("lens.json", &lens.to_string());
    let lens = program.run_command(&["ethos", "lens", "add", "--data", "lens.json"]);
    assert_eq!(lens.code, 0, "{lens:?}");
    for (domain, rules) in [("FID", 3), ("FID:FID-LN01", 2), ("fiduciary-investment:FID-LN01", 2)] {
        let (code, document) = run_align(&program, &["--domain", domain, "--no-conclusion"]);
        assert_eq!(code, 0, "{domain}: {document:#}");
        let block = value_at(&document, "calibration");
        assert_eq!(
            (&block["domain"], &block["rules_count"]),
            (&json!("fiduciary-investment"), &json!(rules)),
            "{domain}"
        );
        let id = value_at(&document, "dialogue_id").as_str().unwrap();
        let shown = program.run_command(&["show", id]);
        assert_eq!(shown.code, 0, "{domain}: {shown:?}");
    }
}

#[test]
fn a_principle_that_is_there_already_is_a_warning() {
    let program = TestProgram::new();
    program.write_text("library.yaml", LIBRARY);
    program.run_command(&["ethos", "import", "library.yaml"]);
    let same = json!({ "label": "evidence is  citable",
        "description": "Every figure names a source." });
    program.write_text("same.json", &same.to_string());
    let added =
        program.run_command(&["ethos", "principle", "add", "--json", "--data", "same.json"]);
    assert_eq!(added.code, 0, "{added:?}");
    let document: Value = serde_json::from_str(&added.stdout).unwrap();
    assert_eq!(value_at(&document, "warnings.0.type"), "same_text");
}

#[test]
fn a_budget_that_cannot_pay_for_a_verdict_is_refused_before_anyone_is_asked() {
    let program = TestProgram::new();
    let rehearse = ["align", QUESTION, "--rehearse", "--json"];
    program.write_text("council.yaml", "budget:\n  calls_max: 4\n");
    let refused = program.run_command(&rehearse);
    assert_eq!(refused.code, 5, "{refused:?}");
    assert!(refused.stdout.contains("at least 5"), "{refused:?}");
    assert!(!program.run_command(&["list"]).stdout.contains("NVAI"));
}

#[test]
fn an_empty_constraint_is_refused_before_the_run() {
    let program = TestProgram::new();
    for text in ["", "   "] {
        let ran =
            program.run_command(&["align", QUESTION, "--rehearse", "--json", "--constraint", text]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stdout.contains("missing_field"), "{ran:?}");
    }
}

#[test]
fn an_open_conflict_is_exit_3_and_resume_continues() {
    let program = TestProgram::new();
    program.write_text("library.yaml", LIBRARY);
    program.run_command(&["ethos", "import", "library.yaml"]);
    let (code, document) =
        run_align(&program, &["--constraint", "Evidence is citable", "--no-conclusion"]);
    assert_eq!(code, 3, "{document:#}");
    assert_eq!(value_at(&document, "error.error_code"), "ethos_conflict_open");
    let suggestion = value_at(&document, "error.suggestion").as_str().unwrap();
    let id = value_at(&document, "dialogue_id").as_str().unwrap();
    let ethos = format!("ethos-{id}-001");
    assert!(suggestion.contains(&format!("plenary ethos resolve {ethos} 1")), "{suggestion}");
    let block = value_at(&document, "calibration");
    assert_eq!((&block["ethos_id"], &block["ethos_status"]), (&json!(ethos), &json!("draft")));
    let shown = program.run_command(&["show", "latest"]);
    let command = format!("plenary ethos resolve {ethos} 1 --as a_supersedes");
    assert!(shown.stdout.replace('\n', " ").contains(&command), "{shown:?}");
    let shown = program.run_command(&["ethos", "show", "latest"]);
    assert!(shown.code == 0 && shown.stdout.contains(&ethos), "{shown:?}");
    let resolved = program.run_command(&[
        "ethos",
        "resolve",
        &ethos,
        "1",
        "--as",
        "a_supersedes",
        "--why",
        "The same.",
    ]);
    assert_eq!(resolved.code, 0, "{resolved:?}");
    let resumed = program.run_command(&["resume", id, "--json"]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    let document: Value = serde_json::from_str(&resumed.stdout).unwrap();
    assert_eq!(value_at(&document, "calibration.rules_count"), 1);
    assert_eq!(value_at(&document, "status"), "done");
}

#[test]
fn an_unknown_domain_is_refused_before_anything_is_asked() {
    let program = TestProgram::new();
    let ran = program.run_command(&["align", QUESTION, "--rehearse", "--domain", "nowhere"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("nowhere"), "{ran:?}");
    assert!(!program.path().join(".plenary/plenary.db").exists());
}

#[test]
fn a_plan_shows_the_calls_of_three_rounds() {
    let program = TestProgram::new();
    for panel in [2, 4, 8, 12] {
        let named = panel.to_string();
        let options = ["--dry-run", "--panel", &named, "--no-conclusion", "--json"];
        let ran = program.run_command(&[&["align", QUESTION, "--rehearse"], &options[..]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let plan: Value = serde_json::from_str(&ran.stdout).unwrap();
        // 1 + rounds × (experts + 2).
        let calls = plan.pointer("/estimate/calls").or_else(|| plan.get("calls"));
        assert_eq!(calls, Some(&json!(1 + 3 * (panel + 2))), "{plan:#}");
    }
}

#[test]
fn experts_of_a_file_replace_the_design_and_no_audit_is_said() {
    let program = TestProgram::new();
    let expert = |slug: &str| json!({ "slug": slug, "role": "Analyst", "tier": "Core" });
    let pool: Vec<Value> = ["ann", "bob", "cid"].map(expert).to_vec();
    program.write_json("experts.json", &json!(pool));
    let options = ["--experts", "experts.json", "--no-audit", "--max-rounds", "1"];
    let (code, document) = run_align(&program, &options);
    assert_eq!(code, 0, "{document:#}");
    assert_eq!(value_at(&document, "audit"), &Value::Null);
    let warnings = value_at(&document, "warnings").to_string();
    assert!(warnings.contains("unaudited: no critic checked"), "{warnings}");
    assert!(warnings.contains("several experts of the pool have the role `Analyst`"), "{warnings}");
    assert!(warnings.contains("no Wildcard"), "{warnings}");
    let id = value_at(&document, "dialogue_id").as_str().unwrap();
    let printed = program.run_command(&["export", id, "--format", "md"]);
    let printed = format!("{}{}", printed.stdout, printed.stderr);
    assert!(printed.contains("work remaining"), "{printed}");
    for wrong in ["experts: 3", "[]", "{\"experts\": \"ann\"}"] {
        program.write_text("wrong.yaml", wrong);
        let ran =
            program.run_command(&["align", QUESTION, "--rehearse", "--experts", "wrong.yaml"]);
        assert_ne!(ran.code, 0, "{wrong}: {ran:?}");
    }
}

/// `examples/trust`: the commands of its script, with the files of the repository.
#[test]
fn the_example_of_the_trust_ends_as_its_readme_says() {
    let program = TestProgram::new();
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/trust"));
    let ran = std::process::Command::new(folder.join("play"))
        .args(["--json", "--quiet"])
        .current_dir(program.path())
        .env("PLENARY", crate::kit::plenary_binary())
        .output()
        .unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    let document: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    assert_eq!(value_at(&document, "stop_reason"), "converged", "{:#}", document["verdicts"]);
    assert_eq!(value_at(&document, "rounds"), 3);
    let verdicts = value_at(&document, "verdicts").as_array().unwrap();
    assert_eq!(verdicts[0]["vote"], "3-1");
    assert_eq!(verdicts[0]["tensionsResolved"], json!(["T0001"]));
    assert_eq!(verdicts[0]["tensionsAccepted"], json!(["T0002"]));
    assert_eq!(
        (&verdicts[1]["type"], &verdicts[1]["author"]),
        (&json!("minority"), &json!("churro"))
    );
    let block = value_at(&document, "calibration");
    assert_eq!(block["rules_count"], 11);
    assert_eq!(
        block["compliance"],
        json!({ "fully_compliant": false, "exceptions": 1, "violations": 0 })
    );
    assert_eq!(block["rule_challenges"][0]["rule_id"], "RULE10");
    let rows = value_at(&document, "scoreboard.rounds.0.experts");
    let figure = |expert: &str| rows[expert]["calibration"].as_i64().unwrap();
    // The violation is challenged by a tension, so it costs nothing.
    assert_eq!(["muffin", "cupcake", "scone", "churro"].map(figure), [0, 1, 0, 1]);
    assert_eq!(
        value_at(&document, "warnings").as_array().unwrap().len(),
        0,
        "{:#}",
        document["warnings"]
    );
}
