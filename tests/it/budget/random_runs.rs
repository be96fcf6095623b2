//! Random councils: seats, prices, budget limits and failures.

use std::sync::Arc;

use plenary_core::model::ask::{
    CallCost, CallErrorType, CostSource, FinishReason, ModelReply, TokenUsage,
};
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::intervention::{DirectiveRestatement, Intervention};
use plenary_core::model::plan::{
    AuditMode, BudgetCaps, ConclusionPlan, Plan, RoundTimeouts, Seat, TokenPrice,
};
use plenary_core::protocols::council::answers::SeatLetters;
use plenary_engine::engine::run_start::SeatTransports;
use plenary_engine::providers::rehearsal::script::RehearsalScript;
use plenary_engine::providers::rehearsal::transport::RehearsalTransport;
use plenary_engine::providers::transport::Transport;
use serde_json::{Value, json};

use crate::kit::council_driver::{make_opinion, make_plan, make_review, make_seat};

/// Number of runs that share a budget.
pub const GROUP_SIZE: u64 = 20;

pub const UNLIMITED_CAPS: BudgetCaps =
    BudgetCaps { usd_micros: u64::MAX, tokens: u64::MAX, calls: u32::MAX, wall_ms: 60_000 };

/// One random council.
pub struct RandomRun {
    pub number: u64,
    pub plan: Plan,
    /// Whether its bills stay within the estimate.
    pub honest: bool,
    /// A directive for every fifth council; its chair restates it at a price.
    pub directive: Option<Intervention>,
}

fn random_below(dice: &mut SeededRandom, most: u64) -> u64 {
    dice.next_u64() % most
}

impl RandomRun {
    pub fn from_number(number: u64) -> Self {
        let mut dice = SeededRandom::new(number + 1);
        // The whole group is honest or not, so that the test can check the group's budget.
        let honest = !(number / GROUP_SIZE).is_multiple_of(3);
        let seats: Vec<Seat> = (0..2 + random_below(&mut dice, 3))
            .map(|place| {
                let mut made = make_seat(&format!("seat-{place}"), "m-1", "f");
                made.output_tokens_max = 200 + random_below(&mut dice, 4_000) as u32;
                made.price = (random_below(&mut dice, 10) > 0).then(|| {
                    TokenPrice::new(
                        random_below(&mut dice, 100) as f64 / 10.0,
                        random_below(&mut dice, 300) as f64 / 10.0,
                        "configuration",
                    )
                });
                made
            })
            .collect();
        let mut plan = make_plan(seats, &format!("{:016x}{number:016x}", dice.next_u64()));
        plan.chairs = plan.seats.iter().map(|seat| seat.name.clone()).collect();
        plan.timeouts =
            RoundTimeouts { r1_per_provider: 1_500, r2_per_provider: 1_500, r3_chair: 1_500 };
        plan.caps = random_caps(&mut dice);
        plan.conclusion = random_conclusion(&plan, &mut dice);
        plan.rehearsal_script = Some(random_script(&plan, honest, &mut dice));
        let directive = priced_directive(&plan).filter(|_| number.is_multiple_of(5));
        Self { number, plan, honest, directive }
    }

    pub fn make_connections(&self) -> SeatTransports {
        scripted_connections(&self.plan)
    }
}

/// Most runs have a conclusion, and most of those an audit.
fn random_conclusion(plan: &Plan, dice: &mut SeededRandom) -> Option<ConclusionPlan> {
    let auditing = match random_below(dice, 6) {
        0 => return None,
        1 => AuditMode::Unaudited,
        _ => AuditMode::Audited,
    };
    let name = |place: usize| plan.seats[place].name.clone();
    let (synthesizer, critic, reviser) = (name(0), name(1), name(plan.seats.len() - 1));
    Some(ConclusionPlan { synthesizer, critic, reviser, auditing })
}

/// At most one limit is too low, so that the test knows which one must run out.
fn random_caps(dice: &mut SeededRandom) -> BudgetCaps {
    let mut caps = UNLIMITED_CAPS;
    match random_below(dice, 4) {
        0 => caps.usd_micros = random_below(dice, 600_000),
        1 => caps.tokens = random_below(dice, 90_000),
        2 => caps.calls = random_below(dice, 16) as u32,
        _ => {}
    }
    caps
}

pub fn scripted_connections(plan: &Plan) -> SeatTransports {
    let script: RehearsalScript =
        serde_json::from_value(plan.rehearsal_script.clone().unwrap()).unwrap();
    let transport = Arc::new(RehearsalTransport::new(Some(script)));
    let mut connections = SeatTransports::default();
    for seat in &plan.seats {
        let ways =
            [Transport::Rehearsal(transport.clone()), Transport::Rehearsal(transport.clone())];
        connections.add(seat.name.clone(), Arc::new(ways));
    }
    connections
}

/// Transient and permanent failures, then replies with bills.
fn random_script(plan: &Plan, honest: bool, dice: &mut SeededRandom) -> Value {
    let letters = SeatLetters::from_plan(plan);
    let mut cues = Vec::new();
    for seat in &plan.seats {
        let others = letters.other_seats(plan, &seat.name);
        let shown: Vec<char> = others.iter().map(|(letter, _)| *letter).collect();
        for round in 1..=7_u8 {
            let reply = match round {
                // The chair is not scripted.
                3 => continue,
                _ if random_below(dice, 12) == 0 => json!("I would rather not write JSON."),
                1 => json!(make_opinion("Yes.")),
                2 => json!(make_review(&shown, "Hm.")),
                5 | 7 if random_below(dice, 2) == 0 => json!("FLAG: key_condition - it is not one"),
                5 | 7 => json!("PASS"),
                _ => conclusion_reply(),
            };
            if random_below(dice, 4) == 0 {
                let fail = CallErrorType::ALL
                    [random_below(dice, CallErrorType::ALL.len() as u64) as usize];
                let times = 1 + random_below(dice, 3);
                cues.push(
                    json!({ "seat": seat.name, "round": round, "fail": fail, "times": times }),
                );
            }
            let usage = random_usage(seat, honest, dice);
            let delay_ms = random_below(dice, 30);
            cues.push(json!({
                "seat": seat.name, "round": round, "reply": reply, "usage": usage, "delay_ms": delay_ms,
            }));
        }
    }
    json!(cues)
}

fn conclusion_reply() -> Value {
    json!({
        "recommendation": "Yes.", "key_condition": "It can be undone.", "unresolved_points": [],
        "review_by": "2999-01-01", "participants": [],
    })
}

/// None where the plan cannot pay for a restatement.
fn priced_directive(plan: &Plan) -> Option<Intervention> {
    let BudgetCaps { usd_micros, tokens, calls, .. } = plan.caps;
    let reply = ModelReply {
        text: "Be quick.".to_owned(),
        usage: Some(TokenUsage::new(1_000, 200)),
        model: None,
        finish: FinishReason::Stop,
        cost: CallCost { usd_micros: Some(3_000), source: CostSource::Reported },
        latency_ms: 1,
        structured: false,
        first_byte_ms: None,
    };
    let seat = plan.seats[0].name.clone();
    let restatement = Some(DirectiveRestatement { seat, sentence: reply.text.clone(), reply });
    let text = "quickly, please".to_owned();
    let is_affordable = usd_micros >= 3_000 && tokens >= 1_200 && calls > 0;
    is_affordable.then_some(Intervention::Directive { text, restatement, confirmed: true })
}

fn random_usage(seat: &Seat, honest: bool, dice: &mut SeededRandom) -> TokenUsage {
    // The input estimate is never below this.
    let most = if honest { 1_500 } else { 40_000 };
    let input = random_below(dice, most);
    TokenUsage::new(input, random_below(dice, u64::from(seat.output_tokens_max)))
}
