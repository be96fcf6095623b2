//! Random councils: seats, prices, budget limits and failures.

use std::sync::Arc;

use plenary::domain::ask::{Cost, CostSource, ErrorType, Finish, Reply, Usage};
use plenary::domain::dice::SplitMix;
use plenary::domain::intervention::{Intervention, Restatement};
use plenary::domain::plan::{Auditing, Caps, ConclusionPlan, Plan, Price, Seat, Timeouts};
use plenary::engine::SeatTransports;
use plenary::protocols::council::Letters;
use plenary::providers::Transport;
use plenary::providers::rehearsal::{RehearsalTransport, Script};
use serde_json::{Value, json};

use crate::kit::council_driver::{opinion, plan, review, seat};

/// Number of runs that share a budget.
pub const GROUP: u64 = 20;

pub const RICH: Caps =
    Caps { usd_micros: u64::MAX, tokens: u64::MAX, calls: u32::MAX, wall_ms: 60_000 };

/// One random council.
pub struct Run {
    pub number: u64,
    pub plan: Plan,
    /// Whether its bills stay within the estimate.
    pub honest: bool,
    /// A directive for every fifth council; its chair restates it at a price.
    pub directive: Option<Intervention>,
}

fn below(dice: &mut SplitMix, most: u64) -> u64 {
    dice.roll() % most
}

impl Run {
    pub fn by_chance(number: u64) -> Self {
        let mut dice = SplitMix::new(number + 1);
        // The whole group is honest or not, so that the test can check the group's budget.
        let honest = !(number / GROUP).is_multiple_of(3);
        let seats: Vec<Seat> = (0..2 + below(&mut dice, 3))
            .map(|place| {
                let mut made = seat(&format!("seat-{place}"), "m-1", "f");
                made.output_tokens_max = 200 + below(&mut dice, 4_000) as u32;
                made.price = (below(&mut dice, 10) > 0).then(|| Price {
                    input_per_mtok: below(&mut dice, 100) as f64 / 10.0,
                    output_per_mtok: below(&mut dice, 300) as f64 / 10.0,
                    source: "configuration".to_owned(),
                });
                made
            })
            .collect();
        let mut plan = plan(seats, &format!("{:016x}{number:016x}", dice.roll()));
        plan.chairs = plan.seats.iter().map(|seat| seat.name.clone()).collect();
        plan.timeouts =
            Timeouts { r1_per_provider: 1_500, r2_per_provider: 1_500, r3_chair: 1_500 };
        plan.caps = caps(&mut dice);
        plan.conclusion = ending(&plan, &mut dice);
        plan.rehearsal_script = Some(script(&plan, honest, &mut dice));
        let directive = directive(&plan).filter(|_| number.is_multiple_of(5));
        Self { number, plan, honest, directive }
    }

    pub fn connections(&self) -> SeatTransports {
        connections(&self.plan)
    }
}

/// Most runs have a conclusion, and most of those an audit.
fn ending(plan: &Plan, dice: &mut SplitMix) -> Option<ConclusionPlan> {
    let auditing = match below(dice, 6) {
        0 => return None,
        1 => Auditing::Unaudited,
        _ => Auditing::Audited,
    };
    let name = |place: usize| plan.seats[place].name.clone();
    let (synthesizer, critic, reviser) = (name(0), name(1), name(plan.seats.len() - 1));
    Some(ConclusionPlan { synthesizer, critic, reviser, auditing })
}

/// At most one limit is too low, so that the test knows which one must run out.
fn caps(dice: &mut SplitMix) -> Caps {
    let mut caps = RICH;
    match below(dice, 4) {
        0 => caps.usd_micros = below(dice, 400_000),
        1 => caps.tokens = below(dice, 60_000),
        2 => caps.calls = below(dice, 16) as u32,
        _ => {}
    }
    caps
}

pub fn connections(plan: &Plan) -> SeatTransports {
    let script: Script = serde_json::from_value(plan.rehearsal_script.clone().unwrap()).unwrap();
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
fn script(plan: &Plan, honest: bool, dice: &mut SplitMix) -> Value {
    let letters = Letters::of(plan);
    let mut cues = Vec::new();
    for seat in &plan.seats {
        let others = letters.others(plan, &seat.name);
        let shown: Vec<char> = others.iter().map(|(letter, _)| *letter).collect();
        for round in 1..=7_u8 {
            let reply = match round {
                // The chair is not scripted.
                3 => continue,
                _ if below(dice, 12) == 0 => json!("I would rather not write JSON."),
                1 => json!(opinion("Yes.")),
                2 => json!(review(&shown, "Hm.")),
                5 | 7 if below(dice, 2) == 0 => json!("FLAG: key_condition - it is not one"),
                5 | 7 => json!("PASS"),
                _ => conclusion(),
            };
            if below(dice, 4) == 0 {
                let fail = ErrorType::ALL[below(dice, ErrorType::ALL.len() as u64) as usize];
                let times = 1 + below(dice, 3);
                cues.push(
                    json!({ "seat": seat.name, "round": round, "fail": fail, "times": times }),
                );
            }
            let usage = usage(seat, honest, dice);
            let delay_ms = below(dice, 30);
            cues.push(json!({
                "seat": seat.name, "round": round, "reply": reply, "usage": usage, "delay_ms": delay_ms,
            }));
        }
    }
    json!(cues)
}

fn conclusion() -> Value {
    json!({
        "recommendation": "Yes.", "key_condition": "It can be undone.", "unresolved_points": [],
        "review_by": "2999-01-01", "participants": [],
    })
}

/// None where the plan cannot pay for a restatement.
fn directive(plan: &Plan) -> Option<Intervention> {
    let Caps { usd_micros, tokens, calls, .. } = plan.caps;
    let reply = Reply {
        text: "Be quick.".to_owned(),
        usage: Some(Usage { input_tokens: 1_000, output_tokens: 200 }),
        model: None,
        finish: Finish::Stop,
        cost: Cost { usd_micros: Some(3_000), source: CostSource::Reported },
        latency_ms: 1,
        structured: false,
    };
    let seat = plan.seats[0].name.clone();
    let restatement = Some(Restatement { seat, sentence: reply.text.clone(), reply });
    let text = "quickly, please".to_owned();
    let is_affordable = usd_micros >= 3_000 && tokens >= 1_200 && calls > 0;
    is_affordable.then_some(Intervention::Directive { text, restatement, confirmed: true })
}

fn usage(seat: &Seat, honest: bool, dice: &mut SplitMix) -> Usage {
    // The input estimate is never below this.
    let most = if honest { 1_500 } else { 40_000 };
    Usage {
        input_tokens: below(dice, most),
        output_tokens: below(dice, u64::from(seat.output_tokens_max)),
    }
}
