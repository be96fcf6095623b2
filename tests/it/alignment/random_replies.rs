//! Random replies of Judge and experts: after any of them, the record contains nothing without a
//! source in a reply, and no dialogue converges with an unsettled tension.

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::hash::SeededRandom;
use serde_json::{Value, json};

use super::harness::{AlignmentRequest, AlignmentTest, EXPERTS};
use super::scripted_panel::local_id;
use super::sources::assert_sourced;
use crate::kit::{ScriptedReply, pick_repeats};

struct Dice(SeededRandom);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// An id that may exist or not, global or local, of any kind.
fn random_id(dice: &mut Dice, round: u8) -> String {
    let kind = *dice.pick(&['P', 'R', 'T', 'T', 'T', 'E', 'C']);
    let result = dice.below(usize::from(round) + 1) as u8;
    let nth = 1 + dice.below(3) as u8;
    let expert = *dice.pick(&["muffin", "cupcake", "scone", "churro", "judge"]);
    match dice.one_in(2) {
        true => format!("{kind}{result:02}{nth:02}"),
        false => local_id(expert, kind, result, nth),
    }
}

fn random_contribution(dice: &mut Dice, expert: &str, round: u8) -> String {
    let mut parts = Vec::new();
    for nth in 0..dice.below(5) as u8 {
        let kind = *dice.pick(&['P', 'R', 'T', 'E', 'C']);
        let author = if dice.one_in(8) { "scone" } else { expert };
        let id = local_id(author, kind, round, nth + 1);
        parts.push(format!(
            "[{id}: {expert} {round} {nth}]\nText {} of {expert}.\n",
            dice.below(99)
        ));
        for _ in 0..dice.below(3) {
            let word = *dice
                .pick(&["SUPPORT", "OPPOSE", "REFINE", "ADDRESS", "RESOLVE", "REOPEN", "DEPEND"]);
            parts.push(format!("[RE:{word} {}]\n", random_id(dice, round)));
        }
    }
    for _ in 0..dice.below(3) {
        let word = *dice.pick(&["CONVERGE", "DEFEND", "CONCEDE", "BRIDGE", "REQUEST"]);
        parts.push(format!(
            "[MOVE:{word} {}]\n",
            if word == "CONVERGE" { String::new() } else { random_id(dice, round) }
        ));
    }
    if dice.one_in(2) {
        parts.push(format!("All of {} is settled.\n[MOVE:CONVERGE]\n", random_id(dice, round)));
    }
    if dice.one_in(6) {
        parts.push("[DISSENT]\nI object.\n".to_owned());
    }
    if dice.one_in(8) {
        parts.push("[VERDICT:FINAL]\nIt is over.\n".to_owned());
    }
    parts.concat()
}

fn random_reconciliation(dice: &mut Dice, asked: &AlignmentRequest<'_>) -> Value {
    let replies = asked.fenced_texts("REPLY OF ");
    let mut scores = Vec::new();
    for (expert, text) in &replies {
        if dice.one_in(20) {
            continue;
        }
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let quote = if dice.one_in(15) { "nobody said this" } else { dice.pick(&lines) };
        scores.push(json!({ "expert_slug": expert, "quote": quote, "wisdom": dice.below(10),
            "consistency": dice.below(10), "truth": dice.below(10), "relationships": dice.below(10) }));
    }
    if dice.one_in(15) {
        scores.push(json!({ "expert_slug": "churro", "quote": "x", "wisdom": 1, "consistency": 1,
            "truth": 1, "relationships": 1 }));
    }
    let local: Vec<Value> = serde_json::from_str(&asked.fenced_texts("LOCAL IDS")[0].1).unwrap();
    let local: Vec<String> =
        local.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    let tensions: Vec<Value> = serde_json::from_str(&asked.fenced_texts("TENSIONS")[0].1).unwrap();
    let mut updates = Vec::new();
    let mut accepted = Vec::new();
    let fresh = local.iter().filter(|id| id.contains("-T"));
    let known = tensions.iter().map(|row| row["id"].as_str().unwrap().to_owned());
    for id in known.chain(fresh.cloned()) {
        let via =
            if dice.one_in(12) { random_id(dice, asked.round) } else { dice.pick(&local).clone() };
        match dice.below(4) {
            0 => updates.push(json!({ "id": id, "via": via, "reason": "So.",
                "status": dice.pick(&["open", "addressed", "resolved", "resolved", "reopened"]) })),
            1 => accepted.push(json!({ "id": id, "reason": "Bearable." })),
            _ => {}
        }
    }
    let same: Vec<&String> = local.iter().filter(|id| id.contains("-P")).take(2).collect();
    let merges = if same.len() == 2 && dice.one_in(3) {
        json!([{ "ids": same, "label": "Both", "content": "Both say it." }])
    } else {
        json!([])
    };
    json!({ "merges": merges, "tension_updates": updates, "accepted": accepted, "scores": scores,
        "gaps": ["Look again."], "title": "Round", "summary": "It went on." })
}

fn random_panel(dice: &mut Dice) -> Value {
    let seat = |dice: &mut Dice| match dice.below(3) {
        0 => {
            json!({ "role": format!("Role {}", dice.below(50)), "tier": "Core", "reason": "Missing.",
            "directive": "Look.", "source": "created", "tensions": [random_id(dice, 0)] })
        }
        _ => json!({ "expert_slug": dice.pick(&["muffin", "cupcake", "scone", "churro"]),
            "reason": "Stays.", "source": "retained", "tensions": [random_id(dice, 0)] }),
    };
    let seats: Vec<Value> = (0..dice.below(5)).map(|_| seat(dice)).collect();
    json!({ "seats": seats })
}

fn random_verdicts(dice: &mut Dice) -> Value {
    let ids = |dice: &mut Dice| (0..dice.below(3)).map(|_| random_id(dice, 2)).collect::<Vec<_>>();
    let objection = |dice: &mut Dice| {
        json!({ "author": dice.pick(&EXPERTS), "supporting_experts":
        [dice.pick(&EXPERTS)], "recommendation": "Otherwise.", "description": "Because." })
    };
    let objections =
        |dice: &mut Dice| (0..dice.below(2)).map(|_| objection(dice)).collect::<Vec<_>>();
    json!({
        "minority": objections(dice), "dissents": objections(dice), "vote": "9-0",
        "final": { "key_evidence": ids(dice), "key_claims": ids(dice),
            "recommendations_adopted": ids(dice),
            "tensions_accepted": [{ "id": random_id(dice, 2), "reason": "So." }],
            "description": "It follows.", "conditions": ["Check it."], "recommendation": "Do it.",
            "confidence": dice.pick(&["unanimous", "strong", "split", "contested"]), "vote": "9-0" },
    })
}

fn random_reply(seed: u64, asked: &AlignmentRequest<'_>) -> Option<ScriptedReply> {
    let AlignmentRequest { purpose, round, expert, nth, .. } = asked;
    let name = format!("{} {round} {expert} {nth}", purpose.name());
    let mut dice = Dice(SeededRandom::from_secret(&format!("{seed:032x}"), &name));
    if dice.one_in(25) {
        return Some(ScriptedReply::Reply("Not this time.".to_owned()));
    }
    if dice.one_in(40) {
        return Some(ScriptedReply::Status(400, Vec::new(), "{}".to_owned()));
    }
    let text = match purpose {
        AskPurpose::Contribution => random_contribution(&mut dice, expert, *round),
        AskPurpose::Reconciliation => random_reconciliation(&mut dice, asked).to_string(),
        AskPurpose::Panel => random_panel(&mut dice).to_string(),
        AskPurpose::Verdicts => random_verdicts(&mut dice).to_string(),
        _ => return None,
    };
    Some(ScriptedReply::Reply(text))
}

#[test]
fn nothing_in_the_record_lacks_a_source_in_a_reply() {
    let mut ends = std::collections::BTreeMap::<String, usize>::new();
    for seed in 0..u64::from(pick_repeats(40, 600)) {
        let test = AlignmentTest::new(move |asked| random_reply(seed, asked));
        let test = test.with_rules(|rules| {
            rules.pool_only = false;
            rules.max_rounds = 1 + (seed % 5) as u8;
            rules.convergence_percent = if seed.is_multiple_of(2) { 100 } else { 50 };
        });
        let ended = test.run();
        let verdicts = ended.value_at("verdicts").as_array().unwrap();
        let is_done = ended.value_at("status") == "done";
        assert_eq!(is_done, verdicts.iter().any(|one| one["type"] == "final"), "seed {seed}");
        assert_sourced(&test, &ended);
        let reason = ended.value_at("stop_reason").as_str().unwrap().to_owned();
        *ends.entry(reason).or_default() += 1;
    }
    // The models are wild, but some dialogues must come to each of these ends.
    for reason in ["converged", "max_rounds"] {
        assert!(ends.contains_key(reason), "{ends:?}");
    }
}
