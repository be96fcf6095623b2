//! The messages of the Judge in ten or more situations for each of its steps, and those of an expert
//! in the same situations, as files to read: `snapshots/` has one per step, with its role once and
//! the rest of each message in full.
//!
//! The situations are in `tests/fixtures/situations/judge.json`: a dialogue, and the replies that
//! lead to the step. A reader judges each prompt as a whole. `INSTA_UPDATE=always` writes the files
//! again.

use std::sync::Arc;

use plenary_core::dialogue::create::parse_expert_pool;
use plenary_core::markers::skills::marker_reference;
use plenary_core::model::ask::AskPurpose;
use plenary_core::model::plan::{ContextFile, ContextPack};
use serde::Deserialize;
use serde_json::{Value, json};

use super::harness::{AlignmentRequest, AlignmentTest};
use crate::kit::instructions::{request_page, show_request};
use crate::kit::{ModelRequest, ScriptedReply};

const SITUATIONS: &str = include_str!("../../fixtures/situations/judge.json");

/// A dialogue up to the step of the Judge that is shown.
#[derive(Debug, Clone, Deserialize)]
struct JudgeSituation {
    role: String,
    round: u8,
    name: String,
    question: String,
    max_rounds: u8,
    panel_size: Option<usize>,
    #[serde(default)]
    pool_only: bool,
    pool: Option<Vec<Value>>,
    /// Path and text.
    file: Option<(String, String)>,
    script: Vec<SituationCue>,
}

/// What one seat replies in one step; without it the usual panel replies.
#[derive(Debug, Clone, Deserialize)]
struct SituationCue {
    purpose: String,
    round: Option<u8>,
    /// The slug of an expert.
    seat: Option<String>,
    /// How often it plays.
    times: Option<usize>,
    reply: Option<Value>,
}

impl SituationCue {
    fn matches(&self, asked: &AlignmentRequest<'_>) -> bool {
        self.purpose == asked.purpose.name()
            && self.round.is_none_or(|round| round == asked.round)
            && self.seat.as_ref().is_none_or(|seat| *seat == asked.expert)
            && self.times.is_none_or(|times| asked.nth <= times)
    }

    fn to_reply(&self) -> ScriptedReply {
        match &self.reply {
            Some(Value::String(text)) => ScriptedReply::Reply(text.clone()),
            Some(document) => ScriptedReply::Reply(document.to_string()),
            None => ScriptedReply::Status(401, Vec::new(), "no".to_owned()),
        }
    }
}

impl JudgeSituation {
    fn is_step(&self, asked: &AlignmentRequest<'_>) -> bool {
        // Verdicts follow the last round and belong to none.
        let is_last = asked.purpose == AskPurpose::Verdicts || asked.round == self.round;
        asked.purpose.name() == self.role && is_last
    }

    /// The message of the step; after a refused reply, that of the second attempt.
    fn run_to_step(&self) -> ModelRequest {
        let found = self.run_and_keep(|own, asked, is_scripted| own.is_step(asked) && !is_scripted);
        found.first().unwrap_or_else(|| panic!("{}: the step was not asked", self.name)).1.clone()
    }

    /// The message of one expert in the round of the step: of the last one by name, because a new
    /// expert of a later round is often that one.
    fn run_to_expert(&self) -> ModelRequest {
        let mut found = self.run_and_keep(|own, asked, _| {
            asked.purpose == AskPurpose::Contribution && asked.round == own.round && asked.nth == 1
        });
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found.last().unwrap_or_else(|| panic!("{}: no expert was asked", self.name)).1.clone()
    }

    /// Runs the dialogue and keeps the messages that the rule chooses, with the seat.
    fn run_and_keep(
        &self,
        is_kept: impl Fn(&Self, &AlignmentRequest<'_>, bool) -> bool + Send + Sync + 'static,
    ) -> Vec<(String, ModelRequest)> {
        let found: Arc<std::sync::Mutex<Vec<(String, ModelRequest)>>> = Arc::default();
        let (kept, own) = (Arc::clone(&found), self.clone());
        let mut test = AlignmentTest::new(move |asked| {
            let cue = own.script.iter().find(|cue| cue.matches(asked));
            if is_kept(&own, asked, cue.is_some()) {
                kept.lock().unwrap().push((asked.expert.to_string(), asked.request.clone()));
            }
            cue.map(SituationCue::to_reply)
        });
        test.question.clone_from(&self.question);
        if let Some((path, text)) = &self.file {
            let file =
                ContextFile { path: path.clone(), sha256: "0".repeat(64), text: text.clone() };
            let files = vec![file];
            test.plan.context = Arc::new(ContextPack { files, ..ContextPack::default() });
        }
        let test = test.with_rules(|rules| {
            let pool = self.pool.as_ref().map(|experts| json!({ "experts": experts }));
            rules.pool = pool.map(|pool| parse_expert_pool(&pool).unwrap());
            rules.panel_size = self.panel_size;
            rules.max_rounds = self.max_rounds;
            rules.pool_only = self.pool_only;
            // With this seed a pool of five first seats muffin, cupcake and scone.
            rules.panel_seed = PANEL_SEED;
        });
        test.run();
        std::mem::take(&mut *found.lock().unwrap())
    }
}

const PANEL_SEED: u64 = 7;
const EXPERT_ROLE: &str = include_str!("../../../prompts/alignment/expert.md");

/// The page of a step: its role by numbered paragraphs, then its message in every situation.
fn step_page(step: AskPurpose, role: &str) -> String {
    let all: Vec<JudgeSituation> = serde_json::from_str(SITUATIONS).unwrap();
    let of_step: Vec<&JudgeSituation> =
        all.iter().filter(|situation| situation.role == step.name()).collect();
    assert!(of_step.len() >= 10);
    let messages: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = of_step
            .iter()
            .map(|situation| scope.spawn(|| show_request(&situation.run_to_step(), role)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let shown = of_step.iter().map(|situation| situation.name.as_str()).zip(messages);
    request_page(role, shown)
}

/// The markers are the same in every message.
#[test]
fn an_expert_reads_this() {
    let all: Vec<JudgeSituation> = serde_json::from_str(SITUATIONS).unwrap();
    let steps = [AskPurpose::Reconciliation, AskPurpose::Panel].map(AskPurpose::name);
    let shown: Vec<&JudgeSituation> =
        all.iter().filter(|situation| steps.contains(&situation.role.as_str())).collect();
    assert!(shown.len() >= 20);
    let markers = marker_reference();
    let messages: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = shown
            .iter()
            .map(|situation| scope.spawn(|| show_request(&situation.run_to_expert(), EXPERT_ROLE)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let (first, rest) = messages.split_first().unwrap();
    assert!(first.contains(&markers), "{first}");
    let rest = rest.iter().map(|message| message.replace(&markers, "[the markers]"));
    let messages = std::iter::once(first.clone()).chain(rest);
    let pages = shown.iter().zip(messages).map(|(situation, message)| {
        format!("## {}, round {}: {}\n\n{message}", situation.role, situation.round, situation.name)
    });
    insta::assert_snapshot!("expert", pages.collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn the_judge_reads_this_for_the_design() {
    let role = include_str!("../../../prompts/alignment/judge-design.md");
    insta::assert_snapshot!("judge_design", step_page(AskPurpose::Design, role));
}

#[test]
fn the_judge_reads_this_for_a_panel() {
    let role = include_str!("../../../prompts/alignment/judge-panel.md");
    insta::assert_snapshot!("judge_panel", step_page(AskPurpose::Panel, role));
}

#[test]
fn the_judge_reads_this_for_a_reconciliation() {
    let role = include_str!("../../../prompts/alignment/judge-reconcile.md");
    insta::assert_snapshot!("judge_reconcile", step_page(AskPurpose::Reconciliation, role));
}

#[test]
fn the_judge_reads_this_for_the_verdicts() {
    let role = include_str!("../../../prompts/alignment/judge-verdicts.md");
    insta::assert_snapshot!("judge_verdicts", step_page(AskPurpose::Verdicts, role));
}
