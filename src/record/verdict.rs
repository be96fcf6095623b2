//! `verdict`: what was decided. It is immutable, and a final one closes the dialogue.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::board::{Board, Cause};
use super::convergence::percent;
use super::faults::{closed, illegal_step, not_in_dialogue, read_dialogue_id};
use super::fields::{Fields, cut};
use super::target::{Resolution, Resolver, Target};
use super::warning::Warning;
use crate::domain::change::Change;
use crate::domain::dialogue::{Dialogue, DialogueStatus, Protocol};
use crate::domain::facts::{Facts, Mentions};
use crate::domain::ids::{Actor, DialogueId, EntityId, EntityKind, ExpertSlug, JUDGE, VerdictId};
use crate::domain::lifecycle::Status;
use crate::domain::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item, Refusal};
use crate::domain::verdict::{Confidence, Verdict, VerdictType, Vote};

/// The arguments of `verdict_register`, read.
#[derive(Debug)]
pub struct Request {
    pub dialogue_id: DialogueId,
    pub verdict_id: VerdictId,
    verdict_type: VerdictType,
    round: Option<u16>,
    author: Option<String>,
    recommendation: String,
    description: String,
    conditions: Option<Vec<String>>,
    vote: Option<Vote>,
    confidence: Option<Confidence>,
    lists: [Option<Vec<Target>>; LISTS.len()],
    supporting_experts: Option<Vec<String>>,
    forced: bool,
    warning: Option<String>,
    warnings: Vec<Warning>,
}

/// Lists of entities that a verdict names, and the kind each may hold.
const LISTS: [(&str, EntityKind); 5] = [
    ("tensions_resolved", EntityKind::Tension),
    ("tensions_accepted", EntityKind::Tension),
    ("recommendations_adopted", EntityKind::Recommendation),
    ("key_evidence", EntityKind::Evidence),
    ("key_claims", EntityKind::Claim),
];

/// What `verdict` decided.
#[derive(Debug)]
pub struct Decision {
    pub verdict: Verdict,
    pub dialogue_status: DialogueStatus,
    pub adopted: Vec<EntityId>,
    pub tensions_resolved: Vec<EntityId>,
    pub changes: Vec<Change>,
    pub warnings: Vec<Warning>,
}

const FIELDS: [&str; 19] = [
    "dialogue_id",
    "verdict_id",
    "verdict_type",
    "round",
    "author_expert",
    "recommendation",
    "description",
    "conditions",
    "vote",
    "confidence",
    "tensions_resolved",
    "tensions_accepted",
    "recommendations_adopted",
    "key_evidence",
    "key_claims",
    "supporting_experts",
    "ethos_compliance",
    "forced",
    "warning",
];

pub fn read(arguments: &Value) -> Result<Request, Refusal> {
    let fields = Fields::of_arguments(arguments)?;
    let (mut faults, mut warnings) = (Vec::new(), Vec::new());
    fields.expect_only(&FIELDS, &mut faults, &mut warnings);
    let faults_ = &mut faults;
    let dialogue_id = read_dialogue_id(&fields, faults_);
    let verdict_id = read_verdict_id(&fields, faults_);
    let verdict_type = fields.required_word("verdict_type", faults_);
    let round = fields.integer("round", 0..=i64::from(u16::MAX), faults_);
    let author = fields.text("author_expert", LINE_CHARS_MAX, faults_);
    let recommendation = fields.required_text("recommendation", LINE_CHARS_MAX, faults_);
    let description = fields.required_text("description", TEXT_CHARS_MAX, faults_);
    let conditions = fields.texts("conditions", TEXT_CHARS_MAX, faults_);
    let vote = read_vote(&fields, faults_);
    let confidence = fields.word("confidence", faults_);
    let lists = LISTS.map(|(name, kind)| read_list(&fields, name, kind, faults_));
    let supporting_experts = fields.texts("supporting_experts", LINE_CHARS_MAX, faults_);
    let forced = fields.boolean("forced", faults_);
    let warning = fields.text("warning", TEXT_CHARS_MAX, faults_);
    if fields.has("ethos_compliance") {
        let message = "ethos_compliance belongs to calibrated dialogues, which are not supported";
        faults.push(Fault::new(Code::NotSupported, message).field("ethos_compliance"));
    }
    check_type_needs(&fields, verdict_type, supporting_experts.as_deref(), &mut faults);
    if forced && warning.is_none() {
        faults.push(fields.missing("warning").suggest("say why the verdict is forced"));
    }
    let author = author.filter(|author| author != JUDGE);
    match (dialogue_id, verdict_id, verdict_type, recommendation, description) {
        (
            Some(dialogue_id),
            Some(verdict_id),
            Some(verdict_type),
            Some(recommendation),
            Some(description),
        ) if faults.is_empty() => {
            let round = round.and_then(|round| u16::try_from(round).ok());
            Ok(Request {
                dialogue_id,
                verdict_id,
                verdict_type,
                round,
                author,
                recommendation,
                description,
                conditions,
                vote,
                confidence,
                lists,
                supporting_experts,
                forced,
                warning,
                warnings,
            })
        }
        _ => Err(Refusal::new(faults)),
    }
}

fn read_verdict_id(fields: &Fields<'_>, faults: &mut Vec<Fault>) -> Option<VerdictId> {
    let text = fields.required_text("verdict_id", LINE_CHARS_MAX, faults)?;
    let id = text.parse().ok();
    if id.is_none() {
        let message = format!(
            "verdict_id '{}' is not a name: letters, digits, '-' and '_', such as 'final' or 'V01', and not an entity's id",
            cut(&text)
        );
        faults.push(Fault::new(Code::InvalidSlug, message).field("verdict_id").value(text));
    }
    id
}

fn read_vote(fields: &Fields<'_>, faults: &mut Vec<Fault>) -> Option<Vote> {
    let text = fields.text("vote", LINE_CHARS_MAX, faults)?;
    let vote = text.parse().ok();
    if vote.is_none() {
        let message = format!("vote '{}' is not a tally", cut(&text));
        faults.push(
            Fault::new(Code::InvalidVote, message)
                .field("vote")
                .value(text)
                .options(["N-M", "N-M-A", "unanimous"])
                .suggest("write '11-1', '11-1-2' with two abstentions, or 'unanimous'"),
        );
    }
    vote
}

fn read_list(
    fields: &Fields<'_>,
    name: &str,
    kind: EntityKind,
    faults: &mut Vec<Fault>,
) -> Option<Vec<Target>> {
    let texts = fields.texts(name, LINE_CHARS_MAX, faults)?;
    let read = texts.into_iter().filter_map(|text| {
        let complain = |code, message: String| {
            let item = Item::Source { item_type: "verdict", source_id: Some(cut(&text)) };
            Fault::new(code, message).about(&item).field(name).value(text.as_str())
        };
        match text.parse::<Target>() {
            Ok(target) if target.kind() == kind && !matches!(target, Target::Position(_)) => {
                return Some(target);
            }
            Ok(_) => faults.push(
                complain(
                    Code::TypeIdMismatch,
                    format!("{} ID must start with '{kind}', got '{text}'", kind.title()),
                )
                .options([kind]),
            ),
            Err(_) => {
                faults.push(complain(
                    Code::InvalidDisplayId,
                    format!("'{}' is not an id", cut(&text)),
                ));
            }
        }
        None
    });
    Some(read.collect())
}

/// A minority is somebody, and a dissent is somebody's.
fn check_type_needs(
    fields: &Fields<'_>,
    verdict_type: Option<VerdictType>,
    supporters: Option<&[String]>,
    faults: &mut Vec<Fault>,
) {
    match verdict_type {
        Some(VerdictType::Minority) if supporters.is_none_or(<[String]>::is_empty) => {
            let fault = fields.missing("supporting_experts");
            faults.push(fault.suggest("a minority verdict names the experts behind it"));
        }
        Some(VerdictType::Dissent)
            if fields.get("author_expert").is_none_or(|author| author == JUDGE) =>
        {
            let fault = fields.missing("author_expert");
            faults.push(fault.suggest("a dissent names the expert who objects"));
        }
        Some(
            VerdictType::Interim
            | VerdictType::Final
            | VerdictType::Minority
            | VerdictType::Dissent,
        )
        | None => {}
    }
}

impl Request {
    pub fn mentions(&self) -> Mentions {
        let mut mentions = Mentions::default();
        for target in self.lists.iter().flatten().flatten() {
            target.mention(&mut mentions);
        }
        mentions
    }
}

pub fn decide(
    request: &Request,
    dialogue: &Dialogue,
    facts: &Facts,
    exists: bool,
) -> Result<Decision, Refusal> {
    if exists {
        return Err(already_given(request, dialogue).into());
    }
    let object_only = !request.verdict_type.takes_effect();
    let objectable = dialogue.status == DialogueStatus::Converged && object_only;
    if dialogue.status.is_closed() && !objectable {
        return Err(closed(dialogue).into());
    }
    let mut faults = Vec::new();
    let verdict = look_up(request, dialogue, facts, &mut faults);
    let mut board = Board::new(verdict.round, facts);
    if faults.is_empty() && request.verdict_type.takes_effect() {
        take_effect(&verdict, &mut board, &mut faults);
    }
    if faults.is_empty() && is_gated(&verdict, dialogue) {
        faults.extend(gate(&verdict, dialogue, facts));
    }
    if !faults.is_empty() {
        return Err(Refusal::new(faults));
    }
    let closes = verdict.verdict_type == VerdictType::Final;
    let dialogue_status = if closes { DialogueStatus::Converged } else { dialogue.status };
    let mut changes = vec![Change::VerdictGiven(verdict.clone())];
    changes.extend(board.events.into_iter().map(Change::EventAdded));
    if closes {
        changes.push(Change::StatusSet { status: DialogueStatus::Converged, reason: None });
    }
    let effective = |list: &Option<Vec<EntityId>>| {
        list.iter().filter(|_| !object_only).flatten().copied().collect::<Vec<_>>()
    };
    Ok(Decision {
        dialogue_status,
        adopted: [effective(&verdict.recommendations_adopted), effective(&verdict.key_claims)]
            .concat(),
        tensions_resolved: effective(&verdict.tensions_resolved),
        changes,
        warnings: request.warnings.clone(),
        verdict,
    })
}

fn already_given(request: &Request, dialogue: &Dialogue) -> Fault {
    let message = format!(
        "dialogue '{}' already has a verdict '{}', and verdicts are immutable",
        dialogue.id(),
        request.verdict_id
    );
    Fault::new(Code::VerdictExists, message)
        .field("verdict_id")
        .value(request.verdict_id.as_str())
        .suggest("choose another verdict_id")
}

/// The verdict with its names looked up; faults say what was not found.
fn look_up(
    request: &Request,
    dialogue: &Dialogue,
    facts: &Facts,
    faults: &mut Vec<Fault>,
) -> Verdict {
    let resolver = Resolver::of_record(facts);
    let lists = LISTS.map(|(name, _)| name);
    let mut found = lists.iter().zip(&request.lists).map(|(name, list)| {
        let list = list.as_ref()?;
        let mut ids = Vec::new();
        for target in list {
            match resolver.resolve(target) {
                Resolution::Found(id) if ids.contains(&id) => {}
                Resolution::Found(id) => ids.push(id),
                Resolution::NotFound | Resolution::Faulty => {
                    let message =
                        format!("target_id '{target}' not found in dialogue '{}'", dialogue.id());
                    let item =
                        Item::Source { item_type: "verdict", source_id: Some(target.to_string()) };
                    let fault = Fault::new(Code::TargetNotFound, message).about(&item);
                    faults.push(fault.field(*name).value(target.to_string()));
                }
            }
        }
        Some(ids)
    });
    let mut next = || found.next().flatten();
    let (tensions_resolved, tensions_accepted, recommendations_adopted) = (next(), next(), next());
    let (key_evidence, key_claims) = (next(), next());
    let author = request
        .author
        .as_ref()
        .and_then(|name| expert(name, "author_expert", dialogue, facts, faults));
    let supporters = request.supporting_experts.as_ref().map(|names| {
        let names: BTreeSet<&String> = names.iter().collect();
        names
            .into_iter()
            .filter_map(|name| expert(name, "supporting_experts", dialogue, facts, faults))
            .collect()
    });
    Verdict {
        verdict_id: request.verdict_id.clone(),
        verdict_type: request.verdict_type,
        round: issued_in(request, dialogue, faults),
        author_expert: author,
        recommendation: request.recommendation.clone(),
        description: request.description.clone(),
        conditions: request.conditions.clone(),
        vote: request.vote,
        confidence: request.confidence,
        tensions_resolved,
        tensions_accepted,
        recommendations_adopted,
        key_evidence,
        key_claims,
        supporting_experts: supporters,
        forced: request.forced,
        warning: request.warning.clone(),
    }
}

fn expert(
    name: &str,
    field: &str,
    dialogue: &Dialogue,
    facts: &Facts,
    faults: &mut Vec<Fault>,
) -> Option<ExpertSlug> {
    let slug = name.parse().ok().filter(|slug| facts.experts.contains_key(slug));
    if slug.is_none() {
        let item = Item::Source { item_type: "verdict", source_id: Some(name.to_owned()) };
        faults.push(not_in_dialogue(name, dialogue).about(&item).field(field));
    }
    slug
}

/// The round a verdict is issued in: a registered one, or the one that would come next.
fn issued_in(request: &Request, dialogue: &Dialogue, faults: &mut Vec<Fault>) -> u8 {
    let (first, next) = (dialogue.opening.protocol.first_round(), dialogue.next_round());
    match request.round {
        None => dialogue.last_round().unwrap_or(first),
        Some(round) if (u16::from(first)..=u16::from(next)).contains(&round) => {
            u8::try_from(round).unwrap_or(next)
        }
        Some(round) => {
            let message = format!("round {round} has not been held: the next round is {next}");
            faults.push(Fault::new(Code::InvalidRound, message).field("round").value(round));
            next
        }
    }
}

/// Tensions are resolved, recommendations and claims adopted, with events that name the verdict.
fn take_effect(verdict: &Verdict, board: &mut Board, faults: &mut Vec<Fault>) {
    let author = verdict.author_expert.clone().map_or(Actor::Judge, Actor::Expert);
    let steps = [
        (&verdict.tensions_resolved, Status::Resolved),
        (&verdict.recommendations_adopted, Status::Adopted),
        (&verdict.key_claims, Status::Adopted),
    ];
    for (list, to) in steps {
        for id in list.iter().flatten() {
            let cause = Cause {
                actors: vec![author.clone()],
                reference: Some(verdict.verdict_id.to_string()),
                ..Cause::default()
            };
            if let Err(illegal) = board.step(*id, to, cause) {
                let item = Item::Source { item_type: "verdict", source_id: Some(id.to_string()) };
                faults.push(illegal_step(*id, illegal, &item));
            }
        }
    }
}

/// Only the alignment protocol's final verdicts must wait for convergence.
fn is_gated(verdict: &Verdict, dialogue: &Dialogue) -> bool {
    verdict.verdict_type == VerdictType::Final
        && dialogue.opening.protocol == Protocol::Alignment
        && !verdict.forced
}

/// A final verdict needs every tension settled and enough agreement.
fn gate(verdict: &Verdict, dialogue: &Dialogue, facts: &Facts) -> Option<Fault> {
    let settled: BTreeSet<EntityId> = [&verdict.tensions_resolved, &verdict.tensions_accepted]
        .into_iter()
        .flatten()
        .flatten()
        .copied()
        .collect();
    let open: Vec<String> = facts
        .active_tensions
        .iter()
        .filter(|id| !settled.contains(id))
        .map(ToString::to_string)
        .collect();
    let required = dialogue.opening.convergence_percent;
    let silent: Vec<String> = facts
        .last_panel
        .iter()
        .filter(|expert| !facts.converged.contains(*expert))
        .map(ToString::to_string)
        .collect();
    let count = |list: usize| u32::try_from(list).unwrap_or(u32::MAX);
    let agreeing = count(facts.last_panel.len() - silent.len());
    let (agreed, agreement) = match verdict.vote {
        Some(vote) => (vote.reaches(required), format!("the vote is {vote}")),
        None if facts.last_panel.is_empty() => (true, String::new()),
        None => {
            let share = percent(agreeing, count(facts.last_panel.len()));
            let missing =
                format!("{share} % signalled convergence, missing: {}", silent.join(", "));
            (agreeing * 100 >= count(facts.last_panel.len()) * u32::from(required), missing)
        }
    };
    if open.is_empty() && agreed {
        return None;
    }
    let mut reasons = Vec::new();
    if !open.is_empty() {
        reasons.push(format!("tensions neither resolved nor accepted: {}", open.join(", ")));
    }
    if !agreed {
        reasons.push(format!("agreement under {required} %: {agreement}"));
    }
    let missing_experts = if agreed || verdict.vote.is_some() { Vec::new() } else { silent };
    let message = format!("dialogue '{}' has not converged: {}", dialogue.id(), reasons.join("; "));
    Some(
        Fault::new(Code::NotConverged, message)
            .field("verdict_type")
            .value("final")
            .context(json!({
                "open_tensions": open,
                "missing_experts": missing_experts,
                "required_percent": required,
                "vote": verdict.vote,
            }))
            .suggest("name the tensions in tensions_resolved or tensions_accepted, hold another round, or set forced: true with a warning"),
    )
}
