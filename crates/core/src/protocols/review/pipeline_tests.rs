//! GitHub annotations and SARIF of a review.

use serde_json::Value;

use crate::model::run_state::RunState;
use crate::protocols::review::document::{ReviewDocument, review_document, skipped_document};
use crate::protocols::review::document_sample_tests::{
    filled_with, held, incomplete, revised, shipped,
};
use crate::protocols::review::github_annotations::{github_annotations, unreadable_annotation};
use crate::protocols::review::policy::ReviewVerdict;
use crate::protocols::review::sarif::sarif_document;
use crate::protocols::review::types::ReviewTier;

fn sample_document(state: &RunState) -> ReviewDocument {
    review_document(state)
}

#[test]
fn a_concern_is_annotated_on_its_lines() {
    insta::assert_snapshot!(github_annotations(&sample_document(&revised())), @r#"
    ::warning file=posts/launch.md,title=REVISE%2C DEGRADED::1. Cut “fastest in the world”.%0A2. Give “ten times” its measurement.%0AContext files that could not be read: voice/corpus.md of voice_identity (there is no such file)%0Apolicy seed: 4 present (3 needed), 3 blocks, 1 irreducible: HOLD; REVISE: the downgrade counts%0AVerdict posts-launch-md-7c21e0aa/1
    ::error file=posts/launch.md,line=3,endLine=3,title=skeptic-1 blocks%2C irreducible::A superlative without a benchmark: nobody can check it, and rivals will.%0AAt: “fastest council in the world”%0AFix: Name the benchmark, or cut the sentence.
    ::error file=posts/launch.md,line=5,endLine=5,title=skeptic-2 blocks%2C irreducible::“Nothing can go wrong” promises what no software keeps.
    ::warning file=posts/launch.md,title=voice_identity-1::It shouts where we speak.%0AAt: the tone as a whole (quote not found)%0AFix: One claim, said once.
    ::error file=posts/launch.md,line=4,endLine=4,title=evidence-1 blocks::No source for the figure.%0AAt: ten times faster%0AFix: Link the measurement.
    REVISE, DEGRADED: posts/launch.md: 1. Cut “fastest in the world”. 2. Give “ten times” its measurement. Context files that could not be read: voice/corpus.md of voice_identity (there is no such file) policy seed: 4 present (3 needed), 3 blocks, 1 irreducible: HOLD; REVISE: the downgrade counts Verdict posts-launch-md-7c21e0aa/1
    "#);
}

#[test]
fn what_goes_out_is_annotated_more_softly() {
    let mut kinds: Vec<String> = Vec::new();
    for line in github_annotations(&sample_document(&shipped())).lines() {
        kinds.push(line.split(' ').next().unwrap().to_owned());
    }
    assert_eq!(kinds, ["::notice", "::notice", "::notice", "SHIP:"]);
}

#[test]
fn a_skipped_file_is_told_in_the_log_alone() {
    let skipped =
        skipped_document("notes/a.md", "note", ReviewTier::Never, "tier 2 is not looked at");
    assert_eq!(github_annotations(&skipped), "SKIPPED: notes/a.md: tier 2 is not looked at");
    assert_eq!(
        unreadable_annotation("a:b,c\n.md", "it is 100% binary\nreally"),
        "::error file=a%3Ab%2Cc .md,title=Not reviewed::it is 100%25 binary%0Areally"
    );
}

#[test]
fn an_incomplete_review_is_an_error_with_its_way_on() {
    let lines = github_annotations(&sample_document(&incomplete()));
    let first = lines.lines().next().unwrap();
    insta::assert_snapshot!(first, @"::error file=posts/launch.md,title=INCOMPLETE%2C DEGRADED::round 1 needs at least 3 answers and got 2%0Afix what failed, then ask the missing seats again: `plenary resume posts-launch-md-7c21e0aa`%0AContext files that could not be read: voice/corpus.md of voice_identity (there is no such file)%0Apolicy seed: 2 present (3 needed), 1 block, irreducible: no decision%0AVerdict posts-launch-md-7c21e0aa/1");
}

/// Texts that a model, a document or a file name could contain to become a command.
const HOSTILE: [&str; 9] = [
    "\n::error file=x::owned",
    "\r\n::add-mask::secret",
    "x\r::stop-commands::pause",
    "::set-output name=a::b",
    "a,line=1::warning::b",
    "##[set-env name=A;]b",
    "%0A::error::owned",
    "\u{2028}::error::owned\u{85}::error::owned\u{b}::error::x\u{c}::error::x",
    "\u{1b}[2K\u{1b}[1G::error::owned",
];

#[test]
fn no_text_becomes_a_command() {
    for text in HOSTILE {
        for state in crate::protocols::review::document_sample_tests::all() {
            let outcome = review_document(&filled_with(state, text));
            let count = outcome.concerns.len() + 2;
            let lines = github_annotations(&outcome);
            assert_eq!(lines.lines().count(), count, "{text:?}");
            for line in lines.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}']) {
                check_line(line);
            }
            check_line(&unreadable_annotation(text, text));
        }
    }
}

/// A line must be one of our commands with our properties, or begin with a verdict.
#[track_caller]
fn check_line(line: &str) {
    assert!(!line.chars().any(char::is_control), "{line:?}");
    let Some(command) = line.strip_prefix("::") else {
        let is_verdict = |verdict: &ReviewVerdict| line.starts_with(verdict.name());
        assert!(ReviewVerdict::ALL.iter().any(is_verdict), "{line:?}");
        assert!(!line.contains("##["), "{line:?}");
        return;
    };
    let (head, _) = command.split_once("::").unwrap();
    let (name, properties) = head.split_once(' ').unwrap();
    assert!(["error", "warning", "notice"].contains(&name), "{line:?}");
    let names: Vec<&str> =
        properties.split(',').map(|property| property.split_once('=').unwrap().0).collect();
    let is_known = matches!(names[..], ["file", "title"] | ["file", "line", "endLine", "title"]);
    assert!(is_known, "{line:?}");
    let escapes = head.split('%').skip(1);
    let is_escape = |rest: &str| ["25", "3A", "2C"].iter().any(|code| rest.starts_with(code));
    assert!(escapes.into_iter().all(is_escape), "{line:?}");
}

fn sarif_run(documents: &[ReviewDocument]) -> Value {
    sarif_document(documents, &[])["runs"][0].clone()
}

#[test]
fn several_files_are_one_sarif_document() {
    let skipped =
        skipped_document("notes/a.md", "note", ReviewTier::Never, "tier 2 is not looked at");
    let documents = [sample_document(&revised()), skipped, sample_document(&shipped())];
    let whole = sarif_document(&documents, &[]);
    assert_eq!(whole["version"], "2.1.0");
    assert_eq!(whole["runs"].as_array().unwrap().len(), 1);
    let run = sarif_run(&documents);
    assert_eq!(run["artifacts"].as_array().unwrap().len(), 3);
    assert_eq!(run["properties"]["verdicts"][1]["verdict"], "SKIPPED");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["skeptic", "voice_identity", "evidence", "strategy", "gate/verdict"]);
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
}

#[test]
fn a_result_has_its_level_place_and_what_it_weighs() {
    let run = sarif_run(&[sample_document(&revised())]);
    insta::assert_snapshot!(run["results"][0], @r#"
    {"ruleId":"skeptic","ruleIndex":0,"level":"error","message":{"text":"A superlative without a benchmark: nobody can check it, and rivals will.\nAt: “fastest council in the world”\nFix: Name the benchmark, or cut the sentence."},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"posts/launch.md"},"region":{"startLine":3,"endLine":3}}}],"partialFingerprints":{"plenaryConcern/v1":"55b9ba83805c7cd349632ca22eba598b:1"},"properties":{"concern":"skeptic-1","round":2,"blocking":true,"irreducible":true,"quote_not_found":false,"scores":{"argument_soundness":2,"evidence_completeness":3,"objection_pre_emption":4},"rehearsal":false,"verdict_id":"posts-launch-md-7c21e0aa/1"}}
    "#);
    let levels: Vec<&str> = run["results"].as_array().unwrap().iter().map(level).collect();
    assert_eq!(levels, ["error", "error", "warning", "error", "warning"]);
    assert_eq!(run["results"][2]["locations"][0]["physicalLocation"].get("region"), None);
    assert_eq!(run["results"][4]["ruleId"], "gate/verdict");
}

fn level(result: &Value) -> &str {
    result["level"].as_str().unwrap()
}

#[test]
fn what_ships_leaves_notes_and_no_verdict_to_close() {
    let run = sarif_run(&[sample_document(&shipped())]);
    let levels: Vec<&str> = run["results"].as_array().unwrap().iter().map(level).collect();
    assert_eq!(levels, ["note", "note"]);
    assert_eq!(run["properties"]["verdicts"][0]["verdict"], "SHIP");
}

#[test]
fn an_incomplete_review_was_no_success() {
    let run = sarif_run(&[sample_document(&incomplete())]);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let outcome = &run["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(outcome["level"], "error");
    assert_eq!(run["results"].as_array().unwrap().last().unwrap()["level"], "error");
}

#[test]
fn a_concern_keeps_its_fingerprint_when_it_is_worded_otherwise() {
    let marks = |state| -> Vec<Value> {
        let run = sarif_run(&[review_document(&state)]);
        let results = run["results"].as_array().unwrap();
        results.iter().map(|one| one["partialFingerprints"]["plenaryConcern/v1"].clone()).collect()
    };
    let first = marks(revised());
    let again = marks(held());
    assert_eq!(first[0], again[0]);
    let mut apart = first.clone();
    apart.sort_by_key(Value::to_string);
    apart.dedup();
    assert_eq!(apart.len(), first.len());
    // Concerns with the same text and place get different numbers.
    let alike = marks(filled_with(revised(), "same"));
    let of_skeptic = [&alike[0], &alike[1]].map(|mark| mark.as_str().unwrap().to_owned());
    assert!(of_skeptic[0].ends_with(":1") && of_skeptic[1].ends_with(":2"), "{of_skeptic:?}");
}

#[test]
fn a_message_links_nowhere_and_a_path_is_a_reference() {
    let hostile = filled_with(revised(), "[click](https://e.vil) \u{202e}x");
    let run = sarif_run(&[review_document(&hostile)]);
    for result in run["results"].as_array().unwrap() {
        let text = result["message"]["text"].as_str().unwrap();
        assert!(!text.contains("](") && !text.contains('\u{202e}'), "{text}");
    }
    let mut odd = shipped();
    let gate = odd.plan.review.as_mut().map(std::sync::Arc::make_mut).unwrap();
    gate.artifact.path = "a b/é:100%#1?.md".to_owned();
    let run = sarif_run(&[review_document(&odd)]);
    assert_eq!(run["artifacts"][0]["location"]["uri"], "a%20b/%C3%A9%3A100%25%231%3F.md");
}
