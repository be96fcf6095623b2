//! [`PanelSetup`]: seats, chairs, transports and rules of a council, before a question is asked.
//! [`TransportFactory`] makes the transports of each provider once, shared by its seats.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{
    AuditMode, BudgetCaps, ConclusionPlan, ContextPack, DeliveryMode, PARTICIPANTS_MAX, Plan,
    QuorumRules, Seat, SeatRole, StakesLevel,
};
use plenary_core::prompting::instructions::instructions_digest;
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::report::phrases::count_noun;

use crate::clock::System;
use crate::config::settings::{
    ConclusionRoles, ConclusionSettings, ProviderOrigin, Settings, build_seat, build_seats,
    list_chairs,
};
use crate::engine::run_start::SeatTransports;
use crate::providers::cli::transport::CliTransport;
use crate::providers::http::HttpTransport;
use crate::providers::http_clients::HttpClients;
use crate::providers::mcp::McpTransport;
use crate::providers::rehearsal::script::RehearsalScript;
use crate::providers::rehearsal::transport::{RehearsalTransport, rehearsal_panel};
use crate::providers::transport::{Provider, Transport};

/// Options of `ask`, where the settings leave a choice.
#[derive(Debug, Clone)]
pub struct AskOptions {
    /// Only these providers, in this order; empty for all.
    pub providers: Vec<String>,
    pub chair: Option<String>,
    pub stakes: StakesLevel,
    pub delivery: DeliveryMode,
    /// `None`: the run ends with the report.
    pub conclusion: Option<AuditMode>,
    pub rehearsal: RehearsalChoice,
}

impl Default for AskOptions {
    /// All providers, an audited conclusion.
    fn default() -> Self {
        Self {
            providers: Vec::new(),
            chair: None,
            stakes: StakesLevel::Normal,
            delivery: DeliveryMode::Synthesis,
            conclusion: Some(AuditMode::Audited),
            rehearsal: RehearsalChoice::default(),
        }
    }
}

/// Whether the scripted offline panel answers instead of models.
#[derive(Debug, Clone, Default)]
pub enum RehearsalChoice {
    /// Only if no provider is usable.
    #[default]
    WhenNoProvider,
    Requested,
    Scripted(RehearsalScript),
}

impl RehearsalChoice {
    /// Whether a rehearsal was requested.
    pub fn is_asked_for(&self) -> bool {
        match self {
            Self::Requested | Self::Scripted(_) => true,
            Self::WhenNoProvider => false,
        }
    }

    /// The script, if one was given.
    pub(crate) fn script(&self) -> Option<RehearsalScript> {
        match self {
            Self::Scripted(script) => Some(script.clone()),
            Self::WhenNoProvider | Self::Requested => None,
        }
    }
}

#[derive(Debug)]
pub struct PanelSetup {
    pub is_rehearsal: bool,
    pub connections: SeatTransports,
    /// Plan of every run of this panel, without what depends on its question.
    plan_template: Plan,
}

impl PanelSetup {
    pub fn new(
        settings: &Settings,
        options: &AskOptions,
        factory: &TransportFactory,
    ) -> Result<Self, PlanningError> {
        let council = &settings.council;
        let is_missing = council.origin == ProviderOrigin::Missing;
        let is_rehearsal = is_missing || options.rehearsal.is_asked_for();
        let (mut present, origin) = match is_rehearsal {
            true => (rehearsal_panel(), ProviderOrigin::Configured),
            false => (council.providers.clone(), council.origin),
        };
        let script = options.rehearsal.script();
        choose_providers(&mut present, &options.providers)?;
        let chairs = appoint_chair(&mut present, options.chair.as_deref())?;
        let (mut seats, notes) = build_seats(&present, origin, &instructions_digest());
        let quorum = check_quorum(council.quorum, &seats, is_rehearsal)?;
        // With `--providers` no other provider gets a call, also not as the critic.
        let is_chosen = !options.providers.is_empty();
        let configured = if is_rehearsal || is_chosen { &present } else { &council.providers };
        let conclusion = options.conclusion.and_then(|auditing| {
            let by = match (is_rehearsal, is_chosen) {
                (true, _) => &ConclusionSettings::default(),
                (false, true) => &settings.conclusion.with_only(&present),
                (false, false) => &settings.conclusion,
            };
            let roles = by.assign_roles(chairs.first(), &present, configured)?;
            seats.extend(missing_seats(&roles, &seats, configured));
            Some(conclusion_plan(roles, auditing))
        });
        Ok(Self {
            is_rehearsal,
            connections: connect_seats(&seats, configured, script.clone(), factory),
            plan_template: Plan {
                chairs,
                quorum,
                short_circuit: council.short_circuit.clone(),
                conclusion,
                stakes: options.stakes,
                delivery: options.delivery,
                anonymous_review: council.anonymous_review,
                rehearsal_script: script.and_then(|script| serde_json::to_value(script).ok()),
                notes: if is_rehearsal { Vec::new() } else { notes },
                ..base_plan(settings, seats)
            },
        })
    }

    /// The plan of one run.
    pub fn build_plan(
        &self,
        mode: QuestionMode,
        context: Arc<ContextPack>,
        ambient: &dyn System,
    ) -> Plan {
        Plan { mode, context, secret: new_nonce(ambient), ..self.plan_template.clone() }
    }

    /// What a run lacks if only these providers answer; none if it can finish. A missing chair is
    /// replaced by the best opinion.
    pub fn find_shortage(&self, answers: impl Fn(&ExpertSlug) -> bool) -> Option<String> {
        let plan = &self.plan_template;
        let has_voice = |seat: &Seat| answers(&seat.provider);
        let heard = plan.participant_seats().filter(|seat| has_voice(seat)).count();
        let needed = plan.quorum.r1_min;
        if heard < needed {
            let needed = count_noun(needed, "answer");
            return Some(format!("the first round needs {needed}, and only {heard} would come"));
        }
        let roles = plan.conclusion.as_ref()?;
        let named = [("synthesizer", &roles.synthesizer), ("critic", &roles.critic)];
        let missing = |name: &ExpertSlug| plan.find_seat(name).is_none_or(|seat| !has_voice(seat));
        let (role, seat) = named.into_iter().find(|(_, seat)| missing(seat))?;
        Some(format!("the {role} is `{seat}`, which does not answer"))
    }

    /// Limits of each run.
    pub fn caps(&self) -> BudgetCaps {
        self.plan_template.caps
    }
}

/// Random nonce of a run.
pub(crate) fn new_nonce(ambient: &dyn System) -> String {
    format!("{:016x}{:016x}", ambient.random_u64(), ambient.random_u64())
}

pub(crate) fn conclusion_plan(roles: ConclusionRoles, auditing: AuditMode) -> ConclusionPlan {
    let ConclusionRoles { synthesizer, critic, reviser } = roles;
    ConclusionPlan { synthesizer, critic, reviser, auditing }
}

/// Seats for roles of the conclusion that have no seat in the rounds.
pub(crate) fn missing_seats(
    roles: &ConclusionRoles,
    seats: &[Seat],
    configured: &[Provider],
) -> Vec<Seat> {
    let mut named = vec![&roles.synthesizer, &roles.critic, &roles.reviser];
    named.sort_unstable();
    named.dedup();
    let is_missing = |name: &&ExpertSlug| !seats.iter().any(|seat| seat.name == **name);
    let missing = named.into_iter().filter(is_missing);
    missing
        .filter_map(|name| configured.iter().find(|provider| provider.name == *name))
        .map(|provider| Seat { roles: Vec::new(), ..build_seat(provider, &instructions_digest()) })
        .collect()
}

/// Checks the number of participants against the quorum.
fn check_quorum(
    wanted: QuorumRules,
    seats: &[Seat],
    is_rehearsal: bool,
) -> Result<QuorumRules, PlanningError> {
    let is_participant = |seat: &&Seat| seat.roles.contains(&SeatRole::Participant);
    let participants = seats.iter().filter(is_participant).count();
    if participants > PARTICIPANTS_MAX {
        return Err(PlanningError::TooMany { seats: participants, max: PARTICIPANTS_MAX });
    }
    if is_rehearsal {
        // The rehearsal has three seats of one family; the quorum of the file is meant for models.
        return Ok(QuorumRules {
            families_min: 1,
            r1_min: wanted.r1_min.min(participants),
            ..wanted
        });
    }
    if participants < wanted.r1_min {
        return Err(PlanningError::TooFew { seats: participants, needed: wanted.r1_min });
    }
    Ok(wanted)
}

/// Keeps the named providers, in the given order.
fn choose_providers(present: &mut Vec<Provider>, wanted: &[String]) -> Result<(), PlanningError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut chosen: Vec<Provider> = Vec::new();
    for name in wanted {
        let mut provider = find_provider(present, name)?.clone();
        if chosen.iter().any(|known| known.name == provider.name) {
            return Err(PlanningError::NamedTwice { name: name.clone() });
        }
        // A named provider takes part in the rounds.
        if !provider.roles.contains(&SeatRole::Participant) {
            provider.roles.push(SeatRole::Participant);
        }
        chosen.push(provider);
    }
    *present = chosen;
    Ok(())
}

/// The named chair comes first; the others stay as substitutes.
fn appoint_chair(
    present: &mut [Provider],
    chair: Option<&str>,
) -> Result<Vec<ExpertSlug>, PlanningError> {
    let Some(name) = chair else { return Ok(list_chairs(present)) };
    let name = find_provider(present, name)?.name.clone();
    let named = present.iter_mut().find(|provider| provider.name == name);
    if let Some(named) = named.filter(|named| !named.roles.contains(&SeatRole::Chair)) {
        named.roles.push(SeatRole::Chair);
    }
    let mut chairs = list_chairs(present);
    chairs.sort_by_key(|chair| *chair != name);
    Ok(chairs)
}

fn find_provider<'a>(present: &'a [Provider], name: &str) -> Result<&'a Provider, PlanningError> {
    present.iter().find(|provider| provider.name.as_str() == name).ok_or_else(|| {
        let known: Vec<&str> = present.iter().map(|provider| provider.name.as_str()).collect();
        let (name, known) = (name.to_owned(), known.join(", "));
        let is_rehearsal = |one: &Provider| one.transports.contains(&TransportKind::Rehearsal);
        match present.iter().any(is_rehearsal) {
            true => PlanningError::UnknownRehearsalSeat { name, known },
            false => PlanningError::UnknownProvider { name, known },
        }
    })
}

/// Plan that follows from the settings; the protocol's own part is left out.
pub(crate) fn base_plan(settings: &Settings, seats: Vec<Seat>) -> Plan {
    Plan {
        seats,
        timeouts: settings.council.timeouts,
        keep_prompts: settings.retention.keep_prompts,
        caps: settings.budget,
        ..Plan::default()
    }
}

/// Picks synthesizer, critic and reviser for a run planned without a conclusion, and seats for
/// them; `None` without a provider.
pub fn plan_conclusion(
    settings: &Settings,
    seated: &[Seat],
    auditing: AuditMode,
    is_rehearsal: bool,
) -> Option<(ConclusionPlan, Vec<Seat>)> {
    let present = if is_rehearsal { rehearsal_panel() } else { settings.council.providers.clone() };
    let by = if is_rehearsal { &ConclusionSettings::default() } else { &settings.conclusion };
    let roles = by.assign_roles(list_chairs(&present).first(), &present, &present)?;
    let seats = missing_seats(&roles, seated, &present);
    Some((conclusion_plan(roles, auditing), seats))
}

/// Plan of a run that only concludes a dialogue.
pub fn plan_conclusion_run(
    settings: &Settings,
    auditing: AuditMode,
    ambient: &dyn System,
) -> Option<Plan> {
    let (conclusion, seats) = plan_conclusion(settings, &[], auditing, false)?;
    Some(Plan {
        conclusion: Some(conclusion),
        anonymous_review: settings.council.anonymous_review,
        secret: new_nonce(ambient),
        ..base_plan(settings, seats)
    })
}

#[derive(Debug, thiserror::Error)]
pub enum PlanningError {
    #[error("unknown provider `{name}`; known: {known}")]
    UnknownProvider { name: String, known: String },
    #[error("a rehearsal has no seat `{name}`; its seats are {known}")]
    UnknownRehearsalSeat { name: String, known: String },
    #[error("the provider `{name}` is named twice")]
    NamedTwice { name: String },
    #[error("the panel has {}; the first round needs {needed} answers", count_noun(*.seats, "participant"))]
    TooFew { seats: usize, needed: usize },
    #[error("no provider can take a seat of the review")]
    NoReviewProvider,
    #[error("cannot use the prompt `{path}` of a deliberator: {reason}")]
    Instructions { path: PathBuf, reason: String },
    #[error("the pool has {experts} experts; a dialogue needs at least {needed}")]
    SmallPool { experts: usize, needed: usize },
    #[error("the budget has {}; a dialogue needs at least {needed}", count_noun(*.calls, "call"))]
    SmallBudget { calls: usize, needed: usize },
    #[error("the panel has {seats} participants; a council takes at most {max}")]
    TooMany { seats: usize, max: usize },
}

impl PlanningError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::UnknownProvider { .. } | Self::NamedTwice { .. } => {
                "name providers of `council.yaml`, or those that `plenary doctor` finds"
            }
            Self::UnknownRehearsalSeat { .. } => {
                "leave out `--rehearse` to ask real providers, or `--providers` to rehearse"
            }
            Self::TooFew { .. } => {
                "add providers, or give one provider several seats (`lenses: [pragmatist, skeptic, \
                 optimist]`), or lower `council.quorum.r1_min`; `--rehearse` needs none"
            }
            Self::NoReviewProvider => {
                "set a key or name providers in council.yaml; `--rehearse` needs none"
            }
            Self::Instructions { .. } => {
                "correct `prompt` under `review.deliberators`; put long texts into `context_refs`"
            }
            Self::SmallPool { .. } => "add experts to the file of `--experts`, or leave it out",
            Self::SmallBudget { .. } => "raise `budget.calls_max`; `--dry-run` shows the calls",
            Self::TooMany { .. } => "choose fewer with `--providers A,B,C`",
        }
    }
}

/// Shared parts of transports.
#[derive(Debug, Clone, Default)]
pub struct TransportFactory {
    pub clients: Arc<HttpClients>,
    /// Duration of a rehearsed reply, so that a person can follow it.
    pub pace: Option<Duration>,
}

impl TransportFactory {
    /// The rehearsal transport, shared by all seats of a run.
    pub(crate) fn create_rehearsal(
        &self,
        script: Option<RehearsalScript>,
    ) -> Arc<RehearsalTransport> {
        let transport = RehearsalTransport::new(script);
        Arc::new(match self.pace {
            Some(pace) => transport.with_pace(pace),
            None => transport,
        })
    }

    pub(crate) fn create_transports(
        &self,
        provider: &Provider,
        rehearsal: &Arc<RehearsalTransport>,
    ) -> Arc<[Transport]> {
        let provider = Arc::new(provider.clone());
        let made = provider.transports.iter().map(|kind| match kind {
            TransportKind::Http => Transport::Http(HttpTransport::new(
                Arc::clone(&provider),
                Arc::clone(&self.clients),
            )),
            TransportKind::Cli => {
                let pace = self.clients.paces.for_provider(&provider, TransportKind::Cli);
                Transport::Cli(CliTransport::new(Arc::clone(&provider)).with_pace(pace))
            }
            TransportKind::Mcp => Transport::Mcp(McpTransport::new(Arc::clone(&provider))),
            TransportKind::Rehearsal => Transport::Rehearsal(Arc::clone(rehearsal)),
        });
        made.collect()
    }
}

/// Transports for the seats of an existing run: today's providers with the models of the plan. A
/// seat whose provider is gone has none.
pub fn reconnect_seats(
    plan: &Plan,
    is_rehearsal: bool,
    settings: &Settings,
    factory: &TransportFactory,
) -> SeatTransports {
    let script = plan.rehearsal_script.clone().and_then(|value| serde_json::from_value(value).ok());
    let mut present =
        if is_rehearsal { rehearsal_panel() } else { settings.council.providers.clone() };
    for provider in &mut present {
        let seat = plan.seats.iter().find(|seat| seat.provider == provider.name);
        if let Some(seat) = seat {
            provider.model.clone_from(&seat.model);
            provider.output_tokens_max = seat.output_tokens_max;
            provider.temperature = seat.temperature;
            provider.effort = seat.effort;
        }
    }
    connect_seats(&plan.seats, &present, script, factory)
}

/// Transports of the seats; those of one provider share them, and a seat without its provider has
/// none.
pub(crate) fn connect_seats(
    seats: &[Seat],
    present: &[Provider],
    script: Option<RehearsalScript>,
    factory: &TransportFactory,
) -> SeatTransports {
    let rehearsal = factory.create_rehearsal(script);
    let made: BTreeMap<&ExpertSlug, Arc<[Transport]>> = present
        .iter()
        .map(|provider| (&provider.name, factory.create_transports(provider, &rehearsal)))
        .collect();
    let mut connections = SeatTransports::default();
    for seat in seats {
        if let Some(transports) = made.get(&seat.provider) {
            connections.add(seat.name.clone(), Arc::clone(transports));
        }
    }
    connections
}
