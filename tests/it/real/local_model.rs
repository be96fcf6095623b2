//! A council of three seats with a real small model on this machine.

use serde_json::Value;

use super::model_process::{start_local_model, with_short_replies};
use crate::kit::{TestProgram, value_at};

#[test]
#[ignore = "needs the model that `./check real` installs"]
fn a_council_before_a_real_small_model_comes_to_an_end_with_typed_opinions() {
    let (_served, yaml) = start_local_model(&[]);
    let program = TestProgram::new();
    std::fs::write(program.path().join("council.yaml"), with_short_replies(&yaml, 400)).unwrap();

    let question = "Is tea or coffee better in the morning?";
    let ran = program.run_command(&["ask", question, "--no-conclusion", "--json"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!((ran.code, value_at(&result, "status").as_str()), (0, Some("done")), "{result:#}");
    assert_eq!(value_at(&result, "rehearsal"), false);
    let opinions = value_at(&result, "rounds.r1.opinions").as_array().unwrap();
    assert_eq!(opinions.len(), 3, "{result:#}");
    for opinion in opinions {
        assert!(
            value_at(opinion, "details.recommendation")
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        assert!(
            value_at(opinion, "token_usage.output_tokens").as_u64().is_some_and(|count| count > 0)
        );
    }
    assert!(!value_at(&result, "rounds.r2.reviews").as_array().unwrap().is_empty(), "{result:#}");
    assert!(value_at(&result, "report.conclusion.statement").is_string());

    // Such a weak model seldom writes a valid conclusion. The result must never be Clean without an
    // audit, and a stopped run must report its reason.
    let id = value_at(&result, "dialogue_id").as_str().unwrap();
    let ran = program.run_command(&["conclude", id, "--deadline", "3m", "--json"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let state = value_at(&result, "terminal_state");
    match ran.code {
        0 => assert!(state.is_string() && value_at(&result, "audit.critic_verdict").is_string()),
        3 => assert!(state.is_null() && value_at(&result, "error.suggestion").is_string()),
        code => panic!("exit {code}: {result:#}"),
    }

    let verified = program.run_command(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
#[ignore = "needs the model that `./check real` installs"]
fn an_alignment_dialogue_of_a_real_small_model_ends_in_a_stated_result() {
    let (_served, yaml) = start_local_model(&[]);
    let program = TestProgram::new();
    std::fs::write(program.path().join("council.yaml"), with_short_replies(&yaml, 300)).unwrap();
    let experts = "[{role: Cook, tier: Core}, {role: Doctor, tier: Wildcard}]";
    std::fs::write(program.path().join("experts.yaml"), experts).unwrap();

    let question = "Is tea or coffee better in the morning?";
    let limits = ["--max-rounds", "1", "--no-conclusion", "--deadline", "5m", "--json"];
    let ran = program
        .run_command(&[&["align", question, "--experts", "experts.yaml"], &limits[..]].concat());
    let result: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(value_at(&result, "protocol"), "alignment");
    // Such a weak model seldom writes markers or valid verdicts. The result must say what happened.
    let reason = value_at(&result, "stop_reason").as_str().unwrap_or_default();
    match ran.code {
        0 => {
            assert!(["converged", "max_rounds"].contains(&reason), "{result:#}");
            assert!(value_at(&result, "verdicts.0.recommendation").is_string(), "{result:#}");
        }
        3 => {
            assert!(["quorum", "deadline", "budget"].contains(&reason), "{result:#}");
            assert!(value_at(&result, "error.suggestion").is_string(), "{result:#}");
        }
        code => panic!("exit {code}: {result:#}"),
    }
    let verified = program.run_command(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}
