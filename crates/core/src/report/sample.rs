//! A sample dialogue for tests of pages and exports: the seed's NVIDIA example with three rounds,
//! five experts and two objections.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::dialogue::{
    Dialogue, DialogueOpening, DialogueStatus, ExpertProfile, ExpertSource, ExpertTier,
    ProtocolKind,
};
use crate::model::entity::{
    Entity, EntityEvent, EntityReference, ExpertMove, MoveType, ReferenceType,
};
use crate::model::ids::{EntityId, ExpertSlug};
use crate::model::lifecycle::EntityStatus;
use crate::model::record::{DialogueRecord, Expert, RecordedVerdict, RoundRecord};
use crate::model::time::Moment;
use crate::model::verdict::{Verdict, VerdictConfidence, VerdictType};

pub(crate) fn record() -> DialogueRecord {
    DialogueRecord {
        dialogue: dialogue(),
        pool: None,
        experts: experts(),
        panels: BTreeMap::new(),
        rounds: rounds(),
        perspectives: perspectives(),
        recommendations: recommendations(),
        tensions: tensions(),
        evidence: evidence(),
        claims: claims(),
        moves: moves(),
        verdicts: verdicts(),
        conclusion: None,
        local_ids: Vec::new(),
        calibration: None,
        head: "9f2c4e1ab07d5c3388e6fd21c40b9a76e15d02f7a8b3c6914de05f72a1b8c3d4".into(),
    }
}

/// An entity without events, for tests that add their own.
pub(crate) fn entity(id: &str, by: &str, status: EntityStatus, label: &str, text: &str) -> Entity {
    Entity {
        id: id.parse().unwrap(),
        label: label.into(),
        text: text.into(),
        contributors: slugs(by),
        status,
        parameters: None,
        references: Vec::new(),
        adopted_in_verdict: None,
        events: Vec::new(),
        created_at: moment(),
    }
}

/// Adds references given as `refine P0001, support T0001`.
pub(crate) fn pointing(mut entity: Entity, references: &str) -> Entity {
    let read = |text: &str| {
        let (ref_type, target) = text.split_once(' ').unwrap();
        EntityReference {
            ref_type: ReferenceType::named(ref_type).unwrap(),
            target: target.parse().unwrap(),
        }
    };
    entity.references = references.split(", ").map(read).collect();
    entity
}

/// Adds events given as `addressed 1 donut,muffin via R0001`; `to` names the result.
fn lived(mut entity: Entity, events: &[&str]) -> Entity {
    entity.events = events.iter().map(|event| read_event(event)).collect();
    entity
}

fn read_event(text: &str) -> EntityEvent {
    let words: Vec<&str> = text.split(' ').collect();
    let after = |word: &str| {
        words.iter().position(|other| *other == word).map(|at| words[at + 1].to_owned())
    };
    EntityEvent {
        event_type: words[0].parse().unwrap(),
        round: words[1].parse().unwrap(),
        actors: words[2].split(',').map(|actor| actor.parse().unwrap()).collect(),
        result: after("to").map(|id| id.parse().unwrap()),
        reference: after("via").map(|id| id.parse().unwrap()),
        reason: text.split_once(" because ").map(|(_, reason)| reason.to_owned()),
    }
}

fn slugs(names: &str) -> Vec<ExpertSlug> {
    names.split(',').map(|name| name.parse().unwrap()).collect()
}

fn ids(names: &str) -> Option<Vec<EntityId>> {
    Some(names.split(' ').map(|id| id.parse().unwrap()).collect())
}

fn moment() -> Moment {
    "2026-02-02T09:30:00Z".parse().unwrap()
}

fn dialogue() -> Dialogue {
    Dialogue {
        opening: DialogueOpening {
            dialogue_id: "nvidia-investment-analysis".parse().unwrap(),
            title: "NVIDIA Investment Analysis".into(),
            question: Some(
                "Should the Thornton family trust swap its NVAI position for NVIDIA shares \
                 before the refinancing closes, given a 4% income mandate and a 15% drawdown limit?"
                    .into(),
            ),
            background: Some(json!({
                "trust": {"assets_usd": 12_000_000, "income_mandate": "4% a year", "drawdown_limit": "15%"},
                "holdings": ["NVAI 42%", "Treasuries 35%", "Cash 23%"],
                "refinancing": "closes in Q2",
            })),
            protocol: ProtocolKind::Alignment,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: "/tmp/plenary/nvidia-investment-analysis".into(),
            calibrated: false,
            domain_id: None,
        },
        status: DialogueStatus::Converged,
        terminal_state: None,
        total_rounds: 3,
        total_alignment: 149,
        created_at: moment(),
        converged_at: Some("2026-02-02T11:04:00Z".parse().unwrap()),
        closed_because: None,
    }
}

fn experts() -> Vec<Expert> {
    vec![
        expert("muffin", "Value Analyst", ExpertTier::Core, &[(0, 12), (1, 8), (2, 15)]),
        expert("cupcake", "Risk Manager", ExpertTier::Core, &[(0, 10), (1, 7), (2, 9)]),
        expert("donut", "Options Strategist", ExpertTier::Adjacent, &[(0, 15), (1, 14), (2, 12)]),
        expert("brioche", "Trust Counsel", ExpertTier::Adjacent, &[(0, 6), (1, 11), (2, 8)]),
        expert("palmier", "Geopolitical Risk Analyst", ExpertTier::Wildcard, &[(2, 22)]),
    ]
}

fn expert(slug: &str, role: &str, tier: ExpertTier, scores: &[(u8, i64)]) -> Expert {
    let source =
        if tier == ExpertTier::Wildcard { ExpertSource::Created } else { ExpertSource::Pool };
    let profile = ExpertProfile {
        first_round: scores.first().map(|(round, _)| *round),
        ..ExpertProfile::new(slug.parse().unwrap(), role, tier, source)
    };
    let scores: BTreeMap<u8, i64> = scores.iter().copied().collect();
    Expert {
        profile,
        total: scores.values().sum(),
        scores,
        components: BTreeMap::new(),
        replies: BTreeMap::new(),
    }
}

fn rounds() -> Vec<RoundRecord> {
    let round = |round, title: &str, score, summary: &str| RoundRecord {
        round,
        title: Some(title.into()),
        score,
        summary: Some(summary.into()),
        created_at: moment(),
    };
    vec![
        round(
            0,
            "Opening arguments",
            43,
            "Everyone sees the growth; nobody yet sees how the trust would be paid. The zero \
             dividend and the drawdown limit stand against a full swap.",
        ),
        round(
            1,
            "Refinement",
            40,
            "Donut's collar turns volatility into income. Muffin accepts it for a part of the \
             position; Cupcake asks what happens in a gap down.",
        ),
        round(
            2,
            "Convergence",
            66,
            "Palmier joins and moves the entry past the export-control hearing. The panel \
             settles on a partial, phased trim.",
        ),
    ]
}

fn perspectives() -> Vec<Entity> {
    vec![
        lived(
            entity(
                "P0001",
                "muffin,cupcake",
                EntityStatus::Refined,
                "Income mandate mismatch",
                "NVIDIA pays next to no dividend, so a swap trades a position that feeds the \
                 mandate for one that starves it. The trust would have to sell shares every \
                 quarter to distribute 4%, which is the opposite of preserving the corpus.\n\n\
                 Two ways out were named:\n\
                 - sell calls against part of the position, and treat premium as income\n\
                 - keep the Treasuries as the income sleeve and swap only what exceeds it",
            ),
            &["created 0 muffin,cupcake", "refined 1 muffin to P0101"],
        ),
        lived(
            entity(
                "P0002",
                "brioche",
                EntityStatus::Open,
                "The deed binds harder than the market",
                "Section 4.2 is not a preference. A trustee who breaches it is liable in person.",
            ),
            &["created 0 brioche"],
        ),
        pointing(
            lived(
                entity(
                    "P0101",
                    "muffin",
                    EntityStatus::Open,
                    "Premium is income, within limits",
                    "Covered calls on a third of the position meet the mandate in 19 of 24 months.",
                ),
                &["created 1 muffin"],
            ),
            "refine P0001, support R0001",
        ),
        pointing(
            lived(
                entity(
                    "P0201",
                    "palmier,muffin",
                    EntityStatus::Open,
                    "Wait for the export-control hearing",
                    "A hearing falls inside the entry window. Ninety days cost little; a gap down \
                     inside the first month would breach the drawdown limit at once.",
                ),
                &["created 2 palmier,muffin"],
            ),
            "resolve T0002, depend P0101",
        ),
    ]
}

fn recommendations() -> Vec<Entity> {
    let mut collar = pointing(
        lived(
            entity(
                "R0001",
                "donut",
                EntityStatus::Amended,
                "Income collar",
                "Sell 30-delta calls, buy 15-delta puts, roll monthly.",
            ),
            &["created 0 donut", "amended 1 donut,muffin to R0101"],
        ),
        "address T0001, depend P0001",
    );
    collar.parameters = Some(raw(r#"{"covered_call_delta":"0.30","dte":"30-45"}"#));
    let mut phased = pointing(
        lived(
            entity(
                "R0101",
                "donut,muffin",
                EntityStatus::Adopted,
                "Collar on a third, phased over six months",
                "Trim a third of NVAI into NVIDIA in six equal steps, each collared on the day.",
            ),
            &["created 1 donut,muffin", "adopted 2 judge via final"],
        ),
        "refine R0001, address T0001, depend E0001",
    );
    phased.parameters = Some(raw(
        r#"{"covered_call_delta":"0.20-0.25","steps":6,"share":{"max":0.33,"of":"NVAI"}}"#,
    ));
    phased.adopted_in_verdict = Some("final".parse().unwrap());
    vec![collar, phased]
}

fn raw(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn tensions() -> Vec<Entity> {
    vec![
        lived(
            entity(
                "T0001",
                "muffin,cupcake",
                EntityStatus::Resolved,
                "Growth vs income obligation",
                "The zero dividend conflicts with the trust's 4% income requirement.",
            ),
            &[
                "created 0 muffin,cupcake",
                "addressed 1 donut via R0001 because the collar pays a premium every month",
                "resolved 2 muffin via R0101",
            ],
        ),
        lived(
            entity(
                "T0002",
                "cupcake",
                EntityStatus::Addressed,
                "Drawdown limit vs single-name volatility",
                "A 15% limit and a stock that moved 40% in a quarter.",
            ),
            &["created 0 cupcake", "addressed 2 palmier,muffin via P0201"],
        ),
        pointing(
            lived(
                entity(
                    "T0101",
                    "brioche",
                    EntityStatus::Reopened,
                    "May a trustee write options at all?",
                    "The deed is silent on derivatives.",
                ),
                &[
                    "created 1 brioche",
                    "resolved 1 brioche because counsel found a precedent",
                    "reopened 2 cupcake because the precedent was a charity",
                ],
            ),
            "depend P0002",
        ),
        lived(
            entity(
                "T0201",
                "palmier",
                EntityStatus::Open,
                "Hearing date may slip",
                "The calendar is not fixed.",
            ),
            &["created 2 palmier"],
        ),
    ]
}

fn evidence() -> Vec<Entity> {
    vec![
        pointing(
            lived(
                entity(
                    "E0001",
                    "donut",
                    EntityStatus::Confirmed,
                    "Historical options premium",
                    "30-day at-the-money implied volatility averaged 45% over 24 months.",
                ),
                &["cited 0 donut", "confirmed 1 muffin via P0101"],
            ),
            "support R0001",
        ),
        entity(
            "E0201",
            "palmier",
            EntityStatus::Cited,
            "Federal Register notice",
            "The hearing is set for late April.",
        ),
    ]
}

fn claims() -> Vec<Entity> {
    vec![pointing(
        lived(
            entity(
                "C0101",
                "muffin",
                EntityStatus::Adopted,
                "Options bridge the income gap",
                "The mandate can be met by premium, which removes the chief objection.",
            ),
            &["asserted 1 muffin", "supported 2 donut", "adopted 2 judge via final"],
        ),
        "depend E0001, depend P0101, depend R0101",
    )]
}

fn moves() -> Vec<ExpertMove> {
    let made = |expert: &str, round, move_type, targets: &str, context: &str| ExpertMove {
        expert: expert.parse().unwrap(),
        round,
        move_type,
        targets: ids(targets).unwrap(),
        context: Some(context.into()),
    };
    let mut moves = vec![
        made("cupcake", 1, MoveType::Challenge, "R0001", "A gap down jumps over the puts."),
        made(
            "donut",
            1,
            MoveType::Bridge,
            "P0001 R0001",
            "The premium is the income; what the collar gives up is the part of the upside that \
             the trust has no mandate to chase.",
        ),
    ];
    moves.push(ExpertMove {
        expert: "brioche".parse().unwrap(),
        round: 2,
        move_type: MoveType::Converge,
        targets: Vec::new(),
        context: None,
    });
    moves
}

fn verdicts() -> Vec<RecordedVerdict> {
    let mut minority = verdict("minority-deed", VerdictType::Minority, "brioche");
    minority.recommendation = "Ask the court before any option is written.".into();
    minority.description = "The deed is silent on derivatives, and silence is not leave.".into();
    minority.supporting_experts = Some(slugs("cupcake"));
    let mut dissent = verdict("dissent-palmier", VerdictType::Dissent, "palmier");
    dissent.recommendation = "Do nothing until the hearing has been held.".into();
    dissent.description = "Six steps begin before the date that decides their price.".into();
    let given = |verdict| RecordedVerdict { verdict, created_at: moment() };
    vec![given(minority), given(dissent), given(final_verdict())]
}

fn final_verdict() -> Verdict {
    Verdict {
        author_expert: None,
        recommendation: "REJECT the full swap. APPROVE a conditional, phased, partial trim.".into(),
        description: "The panel rejected a full swap because the income mandate cannot be met \
                      from dividends. A third of the position, collared and entered in six steps, \
                      keeps the growth and pays the mandate from premium."
            .into(),
        conditions: Some(vec![
            "Begin 60 to 90 days after the refinancing closes".into(),
            "Write calls on no more than a third of the position, and buy the protective put on \
             the same day"
                .into(),
        ]),
        vote: Some("4-1".parse().unwrap()),
        confidence: VerdictConfidence::named("strong"),
        tensions_resolved: ids("T0001"),
        tensions_accepted: ids("T0002 T0201"),
        recommendations_adopted: ids("R0101"),
        key_evidence: ids("E0001"),
        key_claims: ids("C0101"),
        forced: true,
        warning: Some("T0101 was reopened and is neither resolved nor accepted".into()),
        ..verdict("final", VerdictType::Final, "muffin")
    }
}

fn verdict(id: &str, verdict_type: VerdictType, author: &str) -> Verdict {
    Verdict {
        verdict_id: id.parse().unwrap(),
        verdict_type,
        round: 2,
        author_expert: Some(author.parse().unwrap()),
        recommendation: String::new(),
        description: String::new(),
        conditions: None,
        vote: None,
        confidence: None,
        tensions_resolved: None,
        tensions_accepted: None,
        recommendations_adopted: None,
        key_evidence: None,
        key_claims: None,
        supporting_experts: None,
        forced: false,
        warning: None,
        ethos_compliance: None,
    }
}
