//! `council.yaml`, the environment and the flags, as the program prints them.

use serde_json::{Value, json};

use crate::kit::{TestProgram, value_at};

fn write_settings(program: &TestProgram, yaml: &str) {
    std::fs::write(program.path().join("council.yaml"), yaml).unwrap();
}

/// Runs with variables; returns exit code, stdout and stderr.
fn run_with_variables(
    program: &TestProgram,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> (i32, String, String) {
    let mut command = program.command();
    let output = command.envs(variables.iter().copied()).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let home = program.path().canonicalize().unwrap();
    let result = text(output.stdout).replace(home.to_str().unwrap(), "HERE");
    let talk = text(output.stderr).replace(home.to_str().unwrap(), "HERE");
    (output.status.code().unwrap(), result, talk)
}

const PROVIDER_YAML: &str = "\
council:
  providers:
    - name: house
      role: [participant, chair]
      dialect: openai
      base_url: http://127.0.0.1:9/v1
      api_key_env: HOUSE_KEY
      model: m-1
  quorum: {r1_min: 1}
budget:
  usd_max: 0.5
";

const SECRET: (&str, &str) = ("HOUSE_KEY", "sk-canary");

#[test]
fn config_shows_each_setting_with_its_source() {
    let program = TestProgram::new();
    write_settings(&program, PROVIDER_YAML);
    let variables = [SECRET, ("PLENARY_STORE", "kept.db"), ("PLENARY_DEADLINE", "90s")];
    let (code, result, talk) = run_with_variables(&program, &variables, &["config"]);
    assert_eq!((code, talk.as_str()), (0, ""));
    // The column width depends on the folder's path.
    let rows = result.lines().map(|line| {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        format!("{}\n", cells.collect::<Vec<_>>().join(" | "))
    });
    let shown: String = rows.collect();
    insta::assert_snapshot!(shown, @"
    KEY | VALUE | SOURCE
    config | HERE/council.yaml | found
    storage.url | sqlite:HERE/kept.db | PLENARY_STORE
    council.transport | auto | default
    council.providers.house.role | [participant, chair] | file, line 4
    council.providers.house.model | m-1 | file, line 8
    council.providers.house.family | m | default
    council.providers.house.transports | [http] | default
    council.providers.house.base_url | http://127.0.0.1:9/v1 | file, line 6
    council.providers.house.key | set (HOUSE_KEY) | HOUSE_KEY
    council.providers.house.price | {input_per_mtok: 0.0, output_per_mtok: 0.0} | default
    council.providers.house.max_output_tokens | 8192 | default
    council.timeouts.r1_per_provider | 1m | default
    council.timeouts.r2_per_provider | 90s | default
    council.timeouts.r3_chair | 2m | default
    council.quorum.r1_min | 1 | file, line 9
    council.quorum.r2_min | 1 | default
    council.quorum.r3_required | true | default
    council.quorum.allow_partial | true | default
    council.quorum.families_min | 1 | default
    council.short_circuit.enabled | false | default
    council.short_circuit.shadow | false | default
    council.short_circuit.skip_r2_if | [high_agreement_in_r1, low_risk_topic] | default
    council.short_circuit.skip_r3_if | [r2_confirms_r1_consensus, budget_constraint] | default
    council.anonymous_review | true | default
    budget.usd_max | 0.5 | file, line 11
    budget.tokens_max | 2000000 | default
    budget.calls_max | 60 | default
    budget.wall_max | 90s | PLENARY_DEADLINE
    budget.server_usd_max | none | default
    conclusion.synthesizer | house | default
    conclusion.critic | house | default
    conclusion.reviser | house | default
    review.deliberators | [skeptic, voice_identity, evidence, strategy] | default
    review.adjudicator.provider | none | default
    review.policy.name | seed | default
    review.policy.min_deliberators | 3 | default
    review.policy.prior_verdicts | 5 | default
    review.log_path | council_log.jsonl | default
    review.redact | 0 patterns | default
    tier_classifier.type | rules | default
    tier_classifier.provider | none | default
    alignment.judge | none | default
    alignment.experts | none | default
    alignment.max_rounds | 10 | default
    alignment.convergence_percent | 100 | default
    alignment.panel_size | none | default
    retention.keep_prompts | true | default
    ");
}

#[test]
fn config_as_a_document_tells_who_set_what() {
    let program = TestProgram::new();
    write_settings(&program, PROVIDER_YAML);
    let (code, result, _) =
        run_with_variables(&program, &[SECRET], &["config", "--json", "--store", "x.db"]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&result).unwrap();
    let settings = value_at(&document, "settings").as_array().unwrap().clone();
    let setting = |key: &str| {
        let found = settings.iter().find(|setting| setting["key"] == key);
        found.unwrap_or_else(|| panic!("no {key}")).clone()
    };
    let expected = [
        ("storage.url", json!("sqlite:HERE/x.db"), json!({ "kind": "flag", "flag": "--store" })),
        ("budget.usd_max", json!(0.5), json!({ "kind": "file", "line": 11 })),
        ("budget.calls_max", json!(60), json!({ "kind": "default" })),
        (
            "council.providers.house.key",
            json!("set (HOUSE_KEY)"),
            json!({ "kind": "environment", "variable": "HOUSE_KEY" }),
        ),
    ];
    for (key, value, source) in expected {
        assert_eq!(setting(key), json!({ "key": key, "value": value, "source": source }));
    }
    assert!(!result.contains("canary"), "{result}");
}

#[test]
fn a_provider_without_its_key_is_an_error_that_names_the_variable() {
    let program = TestProgram::new();
    write_settings(&program, PROVIDER_YAML);
    let (code, result, talk) = run_with_variables(&program, &[], &["ask", "Is it so?"]);
    assert_eq!((code, result.as_str()), (5, ""));
    insta::assert_snapshot!(talk, @r"
    error: `HERE/council.yaml`: provider `house` on line 3 cannot be used: `HOUSE_KEY` is not set
    hint: set the variable, install the program, or remove the provider from the file
    ");
    // The settings can still be printed.
    let (code, result, _) = run_with_variables(&program, &[], &["config"]);
    assert_eq!(code, 0);
    assert!(result.contains("budget.usd_max"), "{result}");
    // A rehearsal needs no key.
    let (code, result, _) =
        run_with_variables(&program, &[], &["ask", "Is it so?", "--rehearse", "--quiet"]);
    assert_eq!(code, 0);
    assert!(result.contains("REHEARSAL"), "{result}");
}

#[test]
fn all_mistakes_of_a_file_are_listed() {
    let program = TestProgram::new();
    write_settings(&program, "council:\n  quorom: {}\nbudget:\n  usd_max: lots\n");
    let (code, _, talk) = run_with_variables(&program, &[], &["config"]);
    assert_eq!(code, 5);
    insta::assert_snapshot!(talk, @r"
    error: `HERE/council.yaml` has 2 problems
      1. unknown key `quorom` on line 2; did you mean `quorum`?
      2. `budget.usd_max` on line 4 must be a number from 0 to 1000000, not text
    hint: correct the file; `plenary init` writes one that explains every setting
    ");
    let (code, result, _) = run_with_variables(&program, &[], &["config", "--json"]);
    let document: Value = serde_json::from_str(&result).unwrap();
    assert_eq!((code, value_at(&document, "error_code")), (5, &json!("invalid_configuration")));
    let problem = json!({
        "key": "council.quorom",
        "line": 2,
        "message": "unknown key `quorom` on line 2; did you mean `quorum`?",
    });
    assert_eq!(value_at(&document, "problems.0"), &problem);
}

#[test]
fn a_record_can_be_read_whatever_the_providers_are() {
    let program = TestProgram::new();
    write_settings(&program, "council: {providers: [{name: nobody}], whatever: 1}\n");
    assert_eq!(run_with_variables(&program, &[], &["list"]).0, 0);
    write_settings(&program, "council: {}\n\tbudget: {}\n");
    let (code, _, talk) = run_with_variables(&program, &[], &["list"]);
    assert_eq!(code, 5);
    assert!(talk.contains("a tab cannot indent YAML; use spaces (line 2)"), "{talk}");
    write_settings(&program, "storage: {urls: x}\n");
    assert_eq!(run_with_variables(&program, &[], &["list"]).0, 5);
}

#[test]
fn a_dialogue_lies_in_the_files_store_and_asks_for_the_files_agreement() {
    let program = TestProgram::new();
    write_settings(
        &program,
        "storage: {url: \"sqlite:kept/x.db\"}\nalignment: {convergence_percent: 75}\n",
    );
    let asked = |arguments: &[&str]| {
        let (code, result, talk) = run_with_variables(
            &program,
            &[],
            &[&["dialogue", "create", "--json"], arguments].concat(),
        );
        assert_eq!(code, 0, "{talk}");
        let created: Value = serde_json::from_str(&result).unwrap();
        let id = value_at(&created, "dialogue_id").as_str().unwrap().to_owned();
        let (_, exported, _) = run_with_variables(&program, &[], &["export", &id]);
        let exported: Value = serde_json::from_str(&exported).unwrap();
        value_at(&exported, "convergencePercent").as_u64().unwrap()
    };
    assert_eq!(asked(&["One"]), 75);
    assert_eq!(asked(&["Two", "--convergence-percent", "60"]), 60);
    std::fs::write(program.path().join("d.json"), r#"{"convergence_percent": 50}"#).unwrap();
    assert_eq!(asked(&["Three", "--data", "d.json"]), 50);
    assert!(program.path().join("kept/x.db").is_file());
}

#[test]
fn init_writes_a_file_once() {
    let program = TestProgram::new();
    let (code, result, _) = run_with_variables(&program, &[], &["init"]);
    assert_eq!((code, result.as_str()), (0, "Wrote council.yaml\n"));
    let keys = [("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "b"), ("GOOGLE_API_KEY", "c")];
    assert_eq!(run_with_variables(&program, &keys, &["config"]).0, 0);

    write_settings(&program, "mine: 1\n");
    let (code, _, talk) = run_with_variables(&program, &[], &["init"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(talk, @r"
    error: `council.yaml` already exists
    hint: `--force` replaces it
    ");
    assert_eq!(std::fs::read_to_string(program.path().join("council.yaml")).unwrap(), "mine: 1\n");
    assert_eq!(run_with_variables(&program, &[], &["init", "--force"]).0, 0);
    assert_eq!(run_with_variables(&program, &keys, &["config"]).0, 0);
    assert_eq!(run_with_variables(&program, &[], &["init", "--config", "sub/other.yaml"]).0, 0);
    assert!(program.path().join("sub/other.yaml").is_file());
}
