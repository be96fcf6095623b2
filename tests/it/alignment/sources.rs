//! Nothing is in the record that no reply contains.

use std::collections::{BTreeMap, BTreeSet};

use plenary_core::model::ask::{AskPurpose, AskState};
use plenary_core::model::run_state::RunState;
use plenary_core::model::text::contains_quote;
use serde_json::Value;

use super::harness::{AlignmentResult, AlignmentTest};

/// Every reply of an expert by round and slug: the last one counts.
fn expert_replies(ended: &AlignmentResult) -> BTreeMap<(u64, String), String> {
    let state = RunState::from_entries(&ended.journal).unwrap();
    let mut replies = BTreeMap::new();
    for asked in &state.asks {
        if asked.ask.purpose != AskPurpose::Contribution {
            continue;
        }
        if let Some((reply, _)) = asked.last_reply() {
            let key = (u64::from(asked.ask.round), asked.ask.seat.to_string());
            replies.insert(key, reply.text.clone());
        }
    }
    replies
}

/// The labels that the Judge gave to merged entities, in replies that the record took in.
fn merged_labels(ended: &AlignmentResult) -> BTreeSet<String> {
    let state = RunState::from_entries(&ended.journal).unwrap();
    let judged = state.alignment.as_deref().unwrap();
    let is_last = |asked: &&AskState| {
        let mut later = state.asks_in_round(asked.ask.round);
        let later = later
            .any(|other| other.ask.purpose == asked.ask.purpose && other.ask.id > asked.ask.id);
        !later && !judged.refusals.contains_key(&asked.ask.id)
    };
    let asks = state.asks.iter().filter(|a| a.ask.purpose == AskPurpose::Reconciliation);
    let asks = asks.filter(is_last);
    let texts = asks.filter_map(|asked| Some(asked.last_reply()?.0.text.clone()));
    let documents = texts.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
    let merges =
        documents.flat_map(|result| result["merges"].as_array().cloned().unwrap_or_default());
    merges.filter_map(|merge| Some(merge["label"].as_str()?.to_owned())).collect()
}

/// Every entity, quote, signal and vote of the record has a source in a reply.
#[track_caller]
pub(super) fn assert_sourced(_: &AlignmentTest, ended: &AlignmentResult) {
    let replies = expert_replies(ended);
    let merged = merged_labels(ended);
    let message = |round: &Value, expert: &Value| {
        let key = (round.as_u64().unwrap(), expert.as_str().unwrap().to_owned());
        replies.get(&key).cloned().unwrap_or_default()
    };
    for kind in ["perspectives", "recommendations", "tensions", "evidence", "claims"] {
        for entity in ended.export[kind].as_array().unwrap() {
            let authors = entity["contributors"].as_array().unwrap();
            let label = entity["label"].as_str().unwrap();
            assert!(!authors.is_empty(), "{entity:#}");
            for author in authors {
                let reply = message(&entity["round"], author);
                let is_merged = authors.len() > 1 || merged.contains(label);
                assert!(!reply.is_empty(), "{author} said nothing: {entity:#}");
                assert!(is_merged || reply.contains(label), "invented: {entity:#}");
                let text = entity.get("content").or(entity.get("description")).unwrap();
                // The parser takes markers out, so the words follow each other with gaps.
                let mut message = reply.split_whitespace();
                let mut words = text.as_str().unwrap().split_whitespace();
                let is_said = words.all(|word| message.any(|known| known.contains(word)));
                assert!(is_merged || is_said, "nobody said this: {entity:#}");
            }
        }
    }
    for round in ended.value_at("scoreboard.rounds").as_array().unwrap() {
        for (expert, row) in round["experts"].as_object().unwrap() {
            let reply = message(&round["round"], &Value::from(expert.as_str()));
            for quote in row["quotes"].as_array().into_iter().flatten() {
                assert!(contains_quote(&reply, quote.as_str().unwrap()), "{quote} is not said");
            }
            assert!(!reply.is_empty(), "{expert} has a score without a reply");
        }
    }
    for made in ended.export["moves"].as_array().unwrap() {
        let reply = message(&made["round"], &made["expert"]).to_uppercase();
        let name = made["type"].as_str().unwrap().to_uppercase();
        assert!(reply.contains(&name), "{made:#}");
    }
    assert_verdicts(ended, &replies);
}

/// The vote is the count of the signals, and only registered ids are named.
#[track_caller]
fn assert_verdicts(ended: &AlignmentResult, replies: &BTreeMap<(u64, String), String>) {
    let known: BTreeSet<&str> =
        ["perspectives", "recommendations", "tensions", "evidence", "claims"]
            .iter()
            .flat_map(|kind| ended.ids_of(kind))
            .collect();
    for verdict in ended.value_at("verdicts").as_array().unwrap() {
        let lists = [
            "tensionsResolved",
            "tensionsAccepted",
            "recommendationsAdopted",
            "keyEvidence",
            "keyClaims",
        ];
        for id in lists.iter().flat_map(|key| verdict[*key].as_array().cloned().unwrap_or_default())
        {
            assert!(known.contains(id.as_str().unwrap()), "{id} is not in the record");
        }
        match verdict["type"].as_str().unwrap() {
            "final" => assert_final(ended, verdict),
            kind => {
                let author = verdict["author"].as_str().unwrap();
                let spoke = replies.keys().any(|(_, expert)| expert == author);
                let seated = ended.export["rounds"].to_string().contains(author);
                assert!(spoke || seated, "{kind} of {author}");
            }
        }
    }
}

#[track_caller]
fn assert_final(ended: &AlignmentResult, verdict: &Value) {
    let rounds = ended.export["rounds"].as_array().unwrap();
    let last = rounds.last().unwrap();
    let panel: BTreeSet<&str> = last["panel"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seat| seat["expert_slug"].as_str().or(seat.as_str()).unwrap())
        .collect();
    let converged: BTreeSet<&str> = ended.export["moves"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|made| made["type"] == "converge" && made["round"] == last["round"])
        .filter(|made| !made["context"].as_str().is_some_and(|text| text.starts_with("uncited")))
        .map(|made| made["expert"].as_str().unwrap())
        .filter(|expert| panel.contains(expert))
        .collect();
    let vote = format!("{}-{}", converged.len(), panel.len() - converged.len());
    assert_eq!(verdict["vote"], vote.as_str(), "{verdict:#}");
    if verdict["forced"] != true {
        for tension in ended.export["tensions"].as_array().unwrap() {
            let accepted = verdict["tensionsAccepted"].as_array().unwrap();
            let is_settled = tension["status"] == "resolved" || accepted.contains(&tension["id"]);
            assert!(is_settled, "converged with {tension:#}");
        }
    }
}
