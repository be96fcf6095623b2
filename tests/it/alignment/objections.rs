//! Minority verdicts and dissents: what an expert marked is registered as marked, and the Judge only
//! chooses words of an expert who marked nothing.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{AlignmentResult, AlignmentTest};
use super::scripted_panel::usual_contribution;
use super::sources::assert_sourced;
use crate::kit::ScriptedReply;

const DISSENT: &str = "[DISSENT]\nThe deed forbids calls.\n";
const MINORITY: &str = "[MINORITY VERDICT: Keep NVAI]\nIncome comes first.\n";

/// A dialogue of three rounds. Scone adds these texts in these rounds and converges only in
/// `converges_in`; the Judge adds these fields to the verdicts.
fn run_with_scone(
    added: &'static [(u8, &'static str)],
    converges_in: Option<u8>,
    judged: &Value,
) -> AlignmentResult {
    let judged = judged.clone();
    let test = AlignmentTest::new(move |asked| match asked.purpose {
        AskPurpose::Contribution if asked.expert == "scone" => {
            let usual = usual_contribution("scone", asked.round);
            let kept = match converges_in == Some(asked.round) {
                true => usual,
                false => usual.replace("[MOVE:CONVERGE]\n", ""),
            };
            let texts = added.iter().filter(|(round, _)| *round == asked.round);
            let texts: String = texts.map(|(_, text)| format!("\n{text}")).collect();
            Some(ScriptedReply::Reply(format!("{kept}{texts}")))
        }
        AskPurpose::Verdicts => Some(asked.usual_with(judged.clone())),
        _ => None,
    });
    let ended = test.with_rules(|rules| rules.max_rounds = 3);
    let result = ended.run();
    assert_eq!(result.value_at("status"), "done");
    assert_sourced(&ended, &result);
    result
}

fn verdict(kind: &str, author: &str, text: &str) -> (String, String, String) {
    (kind.to_owned(), author.to_owned(), text.to_owned())
}

/// Type, author and recommendation of the objections.
fn objections(ended: &AlignmentResult) -> Vec<(String, String, String)> {
    let of = |kind: &'static str| {
        ended.verdicts_of(kind).into_iter().map(move |(author, text)| verdict(kind, &author, &text))
    };
    of("minority").chain(of("dissent")).collect()
}

fn stated(author: &str, supporters: &[&str], description: &str) -> Value {
    json!({ "author": author, "supporting_experts": supporters, "recommendation": "Buy more NVDA.",
        "description": description })
}

#[test]
fn the_judge_cannot_replace_what_an_expert_marked() {
    let judged =
        json!({ "minority": [stated("scone", &["scone"], "scone wants the swap at once.")] });
    let ended = run_with_scone(&[(2, DISSENT)], None, &judged);
    assert_eq!(objections(&ended), [verdict("dissent", "scone", "The deed forbids calls.")]);
    assert!(!ended.export.to_string().contains("at once"));
}

#[test]
fn a_mark_of_an_earlier_round_counts_until_its_expert_converges() {
    let none = json!({});
    let kept = run_with_scone(&[(1, DISSENT)], None, &none);
    assert_eq!(objections(&kept), [verdict("dissent", "scone", "The deed forbids calls.")]);
    let withdrawn = run_with_scone(&[(1, DISSENT)], Some(2), &none);
    assert_eq!(objections(&withdrawn), []);
    let renewed =
        run_with_scone(&[(1, DISSENT), (2, "[DISSENT]\nToo large a risk.\n")], None, &none);
    assert_eq!(objections(&renewed), [verdict("dissent", "scone", "Too large a risk.")]);
}

#[test]
fn an_expert_may_mark_a_minority_verdict_and_a_dissent() {
    let ended = run_with_scone(&[(2, MINORITY), (2, DISSENT)], None, &json!({}));
    let expected = [
        verdict("minority", "scone", "Keep NVAI"),
        verdict("dissent", "scone", "The deed forbids calls."),
    ];
    assert_eq!(objections(&ended), expected);
}

#[test]
fn for_an_expert_without_a_mark_the_judge_chooses_words_of_the_expert() {
    let invented = json!({ "dissents": [stated("scone", &[], "The swap is a crime.")] });
    assert_eq!(objections(&run_with_scone(&[], None, &invented)), []);
    let quoted = json!({ "dissents": [stated("scone", &[], "SCONE proposes\ncovered calls")] });
    let ended = run_with_scone(&[], None, &quoted);
    assert_eq!(objections(&ended), [verdict("dissent", "scone", "scone proposes covered calls")]);
    assert!(!ended.export.to_string().contains("Buy more NVDA."), "nor another recommendation");
}
