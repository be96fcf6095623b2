//! [`AlignmentSetup`]: the Judge, the models of the experts and the rules of an alignment dialogue
//! that the built-in Judge leads.

use std::collections::BTreeSet;
use std::sync::Arc;

use plenary_core::dialogue::create::{parse_expert_pool, warn_without_wildcard};
use plenary_core::ethos::authoring::{number_constraint, plain_constraint};
use plenary_core::ethos::rule_set::{ConstraintSource, EthosConstraint};
use plenary_core::ethos::synthesis::{DomainChoice, SynthesisInput, synthesize_ethos};
use plenary_core::model::dialogue::{ExpertProfile, ProtocolKind};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{AuditMode, ContextPack, Plan, Seat, SeatRole};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::prompting::instructions::instructions_digest;
use plenary_core::protocols::alignment::types::{
    AlignmentPlan, PANEL_MIN, PlannedCalibration, PlannedPool,
};
use plenary_core::protocols::protocol::Protocols;
use serde_json::Value;

use crate::app::planning::panel_setup::{
    PlanningError, RehearsalChoice, TransportFactory, base_plan, conclusion_plan, connect_seats,
    missing_seats, new_nonce,
};
use crate::app::start_run::PreparedRun;
use crate::clock::System;
use crate::config::settings::{
    AlignmentSettings, ConclusionSettings, ProviderOrigin, Settings, build_seat, build_seats,
};
use crate::engine::run_start::{RunQuestion, SeatTransports};
use crate::error::Error;
use crate::providers::rehearsal::transport::rehearsal_panel;
use crate::providers::transport::Provider;
use crate::store::traits::Store;

/// The Judge's seat. The record reserves `judge` for the Judge as an actor.
const JUDGE_SEAT: &str = "the-judge";

/// Options of `align`, where the settings leave a choice.
#[derive(Debug, Clone, Default)]
pub struct AlignOptions {
    pub panel_size: Option<usize>,
    /// What binds the dialogue, from [`plan_calibration`].
    pub calibration: Option<PlannedCalibration>,
    /// Experts of the caller; without them the Judge designs the pool.
    pub pool: Option<PlannedPool>,
    /// The Judge may create no expert.
    pub pool_only: bool,
    pub domain: Option<String>,
    pub constraints: Vec<String>,
    pub convergence_percent: Option<u8>,
    pub max_rounds: Option<u8>,
    /// `None`: the run ends with the verdicts.
    pub conclusion: Option<AuditMode>,
    pub rehearsal: RehearsalChoice,
}

/// Reads experts from JSON or YAML: `create`'s `expert_pool`, or its bare list.
pub fn read_expert_pool(text: &str) -> Result<PlannedPool, Error> {
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    let value: Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = format!("cannot read the experts: {}", error.without_snippet());
        ValidationError::new(ErrorCode::InvalidJson, message)
            .with_field("experts")
            .with_suggestion("write `create`'s `expert_pool` or a list of experts, as JSON or YAML")
    })?;
    Ok(parse_expert_pool(&value)?)
}

/// A domain or a constraint makes a dialogue calibrated: the active principles bind it, too. The
/// plan keeps the library, so that the ethos follows from the journal.
///
/// # Errors
/// An unknown domain or lens, a circle of domains, a blank constraint.
pub fn plan_calibration(
    store: &dyn Store,
    domain: Option<&str>,
    constraints: &[String],
) -> Result<Option<PlannedCalibration>, Error> {
    if domain.is_none() && constraints.is_empty() {
        return Ok(None);
    }
    if constraints.iter().any(|text| text.trim().is_empty()) {
        let fault = ValidationError::new(ErrorCode::MissingField, "a constraint is empty");
        let fault = fault.with_field("constraints");
        return Err(fault.with_suggestion("write what binds the dialogue, or leave it out").into());
    }
    let library = store.load_library()?;
    let mut domains: Vec<DomainChoice> = domain.map(DomainChoice::from_text).into_iter().collect();
    for choice in &mut domains {
        // The record refers to a domain by its slug.
        choice.domain.clone_from(&library.require_domain(&choice.domain, "domain")?.slug);
    }
    let planned = PlannedCalibration { library, domains };
    let mut known: Vec<EthosConstraint> = Vec::new();
    for text in constraints {
        let constraint = plain_constraint(text, ConstraintSource::Authored);
        known.push(number_constraint(constraint, &known)?);
    }
    let Ok(dialogue) = "draft".parse() else { return Ok(Some(planned)) };
    synthesize_ethos(&SynthesisInput {
        dialogue: &dialogue,
        version: 1,
        library: &planned.library,
        constraints: &known,
        domains: &planned.domains,
    })?;
    Ok(Some(planned))
}

/// Seats and rules, before a question is asked.
#[derive(Debug)]
pub struct AlignmentSetup {
    pub is_rehearsal: bool,
    connections: SeatTransports,
    plan_template: Plan,
    judged: AlignmentPlan,
}

impl AlignmentSetup {
    pub fn new(
        settings: &Settings,
        options: &AlignOptions,
        factory: &TransportFactory,
    ) -> Result<Self, PlanningError> {
        let council = &settings.council;
        let is_missing = council.origin == ProviderOrigin::Missing;
        let is_rehearsal = is_missing || options.rehearsal.is_asked_for();
        let configured = if is_rehearsal { rehearsal_panel() } else { council.providers.clone() };
        let rules = match is_rehearsal {
            // The providers of the file do not rehearse.
            true => &AlignmentSettings { judge: None, experts: None, ..settings.alignment.clone() },
            false => &settings.alignment,
        };
        let players = find_players(rules, &configured)?;
        let judge = find_judge(rules, &players, &configured)?;
        let asked_seats = options.panel_size.or(rules.panel_size);
        let pool_notes = check_pool(options.pool.as_ref(), asked_seats)?;
        let digest = instructions_digest();
        let (mut seats, mut notes) = build_seats(&players, ProviderOrigin::Configured, &digest);
        let experts: Vec<ExpertSlug> = seats.iter().map(|seat| seat.name.clone()).collect();
        let judge_seat = judge_seat(&judge, &digest)?;
        notes.push(judge_note(&judge, &players));
        let conclusion = options.conclusion.and_then(|auditing| {
            let by =
                if is_rehearsal { &ConclusionSettings::default() } else { &settings.conclusion };
            let roles = by.assign_roles(Some(&judge.name), &configured, &configured)?;
            seats.extend(missing_seats(&roles, &seats, &configured));
            Some(conclusion_plan(roles, auditing))
        });
        check_calls(settings.budget.calls, options)?;
        let pool_size = options.pool.as_ref().map_or(usize::MAX, |pool| pool.experts.len());
        let judge_name = judge_seat.name.clone();
        seats.push(judge_seat);
        let script = options.rehearsal.script();
        Ok(Self {
            is_rehearsal,
            connections: connect_seats(&seats, &configured, script.clone(), factory),
            plan_template: Plan {
                chairs: vec![judge_name.clone()],
                conclusion,
                rehearsal_script: script.and_then(|script| serde_json::to_value(script).ok()),
                notes: if is_rehearsal { pool_notes } else { [notes, pool_notes].concat() },
                ..base_plan(settings, seats)
            },
            judged: AlignmentPlan {
                judge: judge_name,
                experts,
                max_rounds: options.max_rounds.unwrap_or(rules.max_rounds),
                convergence_percent: options
                    .convergence_percent
                    .unwrap_or(rules.convergence_percent),
                panel_size: asked_seats.map(|seats| seats.min(pool_size)),
                pool: options.pool.clone(),
                pool_only: options.pool_only,
                panel_seed: 0,
                domain: options.domain.clone(),
                constraints: options.constraints.clone(),
                calibration: options.calibration.clone(),
            },
        })
    }

    /// The plan of one run.
    pub fn build_plan(&self, context: Arc<ContextPack>, ambient: &dyn System) -> Plan {
        let judged = AlignmentPlan { panel_seed: ambient.random_u64(), ..self.judged.clone() };
        Plan {
            context,
            secret: new_nonce(ambient),
            alignment: Some(Arc::new(judged)),
            ..self.plan_template.clone()
        }
    }

    /// The run of a question before the Judge.
    pub fn prepare_run(
        &self,
        protocols: &Protocols,
        text: String,
        plan: Plan,
    ) -> Result<PreparedRun, Error> {
        let protocol = protocols.find_protocol(ProtocolKind::Alignment)?;
        let question =
            RunQuestion { text, protocol, rehearsal: self.is_rehearsal, plan, background: None };
        Ok(PreparedRun::new(question, self.connections.clone()))
    }
}

fn find_provider<'a>(
    configured: &'a [Provider],
    name: &ExpertSlug,
) -> Result<&'a Provider, PlanningError> {
    configured.iter().find(|provider| provider.name == *name).ok_or_else(|| {
        let known: Vec<&str> = configured.iter().map(|one| one.name.as_str()).collect();
        PlanningError::UnknownProvider { name: name.to_string(), known: known.join(", ") }
    })
}

/// The providers that play the experts.
fn find_players(
    rules: &AlignmentSettings,
    configured: &[Provider],
) -> Result<Vec<Provider>, PlanningError> {
    let named = rules.experts.iter().flatten().map(|name| {
        let mut provider = find_provider(configured, name)?.clone();
        provider.roles = vec![SeatRole::Participant];
        Ok(provider)
    });
    let named = named.collect::<Result<Vec<_>, PlanningError>>()?;
    if !named.is_empty() {
        return Ok(named);
    }
    let is_participant = |one: &&Provider| one.roles.contains(&SeatRole::Participant);
    let players: Vec<Provider> = configured.iter().filter(is_participant).cloned().collect();
    match players.is_empty() {
        true => Err(PlanningError::TooFew { seats: 0, needed: 1 }),
        false => Ok(players),
    }
}

/// The Judge: named by the settings, else of another family than most experts, else the first
/// provider that chairs.
fn find_judge(
    rules: &AlignmentSettings,
    players: &[Provider],
    configured: &[Provider],
) -> Result<Provider, PlanningError> {
    if let Some(name) = &rules.judge {
        return find_provider(configured, name).cloned();
    }
    let common = common_family(players);
    let other = configured.iter().find(|one| Some(one.family.as_str()) != common);
    let chair = configured.iter().find(|one| one.roles.contains(&SeatRole::Chair));
    let judge = other.or(chair).or(configured.first()).cloned();
    judge.ok_or(PlanningError::TooFew { seats: 0, needed: 1 })
}

/// The family of most experts.
fn common_family(players: &[Provider]) -> Option<&str> {
    let count = |family: &str| players.iter().filter(|one| one.family == family).count();
    let families = players.iter().map(|one| one.family.as_str());
    // The first of several equally common ones.
    families.rev().max_by_key(|family| count(family))
}

fn judge_seat(judge: &Provider, digest: &str) -> Result<Seat, PlanningError> {
    let unknown =
        |_| PlanningError::UnknownProvider { name: JUDGE_SEAT.to_owned(), known: String::new() };
    let name = JUDGE_SEAT.parse().map_err(unknown)?;
    Ok(Seat { name, roles: vec![SeatRole::Chair], ..build_seat(judge, digest) })
}

/// Who the Judge is, for the reader of the record.
fn judge_note(judge: &Provider, players: &[Provider]) -> String {
    let others = players.iter().filter(|one| one.family != judge.family).count();
    let relation = match (others, players.len() - others) {
        (0, _) => "the experts' family",
        (_, 0) => "another family than all experts",
        (others, same) if others > same => "another family than most experts",
        (_, _) => "another family than some experts",
    };
    format!("the Judge is {} ({}), of {relation}", judge.model, judge.family)
}

/// A budget that cannot pay for one round and a verdict would buy replies that lead to nothing.
fn check_calls(calls: u32, options: &AlignOptions) -> Result<(), PlanningError> {
    let by_judge = usize::from(options.pool.is_none()) + usize::from(options.calibration.is_some());
    // The reconciliation and the verdicts.
    let (calls, needed) = (calls as usize, by_judge + PANEL_MIN + 2);
    if calls < needed { Err(PlanningError::SmallBudget { calls, needed }) } else { Ok(()) }
}

/// What a reader should know about the caller's pool.
fn check_pool(
    pool: Option<&PlannedPool>,
    asked_seats: Option<usize>,
) -> Result<Vec<String>, PlanningError> {
    let Some(PlannedPool { experts, .. }) = pool else { return Ok(Vec::new()) };
    if experts.len() < PANEL_MIN {
        return Err(PlanningError::SmallPool { experts: experts.len(), needed: PANEL_MIN });
    }
    let mut roles = BTreeSet::new();
    let is_repeated = |one: &&ExpertProfile| !roles.insert(one.role.to_lowercase());
    let repeated = experts.iter().filter(is_repeated);
    let repeated = repeated
        .map(|one| format!("several experts of the pool have the role `{}`", one.role))
        .collect::<BTreeSet<_>>();
    let no_wildcard = warn_without_wildcard(experts).map(|warning| warning.message);
    let too_few = asked_seats.filter(|seats| *seats > experts.len()).map(|seats| {
        format!(
            "the panel has {} and not {seats} seats: the pool has no more experts",
            experts.len()
        )
    });
    Ok(repeated.into_iter().chain(no_wildcard).chain(too_few).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::test_samples::sample_provider;

    fn provider(name: &str, family: &str, roles: &[SeatRole]) -> Provider {
        let (name, family) = (name.parse().unwrap(), family.to_owned());
        Provider { name, family, roles: roles.to_vec(), ..sample_provider() }
    }

    /// Experts by name and family, all of them configured, and one provider that only chairs.
    #[track_caller]
    fn check(families: &[&str], chair: &str, named: Option<&str>, expected: (&str, &str)) {
        let names = ["ann", "bob", "cid"];
        let players: Vec<Provider> = names
            .iter()
            .zip(families)
            .map(|(name, family)| provider(name, family, &[SeatRole::Participant]))
            .collect();
        let configured = [&players[..], &[provider("dan", chair, &[SeatRole::Chair])]].concat();
        let rules = AlignmentSettings {
            judge: named.map(|name| name.parse().unwrap()),
            experts: None,
            max_rounds: 10,
            convergence_percent: 100,
            panel_size: None,
        };
        let seated = find_players(&rules, &configured).unwrap();
        assert_eq!(seated.len(), families.len(), "who only chairs plays no expert");
        let judge = find_judge(&rules, &seated, &configured).unwrap();
        let note = judge_note(&judge, &seated);
        let (name, relation) = expected;
        assert_eq!(judge.name.as_str(), name, "{note}");
        assert!(note.ends_with(relation), "{note}");
    }

    #[test]
    fn the_judge_is_of_another_family_than_most_experts_where_there_is_one() {
        check(&["x", "x", "y"], "x", None, ("cid", "another family than most experts"));
        check(&["x", "x"], "z", None, ("dan", "another family than all experts"));
        check(&["x", "x"], "x", None, ("dan", "the experts' family"));
        check(&["x", "y"], "x", Some("ann"), ("ann", "another family than some experts"));
        check(&["x", "x"], "z", Some("bob"), ("bob", "the experts' family"));
    }

    #[test]
    fn experts_of_the_settings_replace_the_participants() {
        let configured = ["ann", "bob"].map(|name| provider(name, "x", &[SeatRole::Participant]));
        let rules = |experts: &[&str]| AlignmentSettings {
            judge: None,
            experts: Some(experts.iter().map(|name| name.parse().unwrap()).collect()),
            max_rounds: 10,
            convergence_percent: 100,
            panel_size: None,
        };
        let found = find_players(&rules(&["bob"]), &configured).unwrap();
        assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["bob"]);
        assert!(find_players(&rules(&["zoe"]), &configured).is_err());
    }
}
