//! Asks a model once for conflicts between the rules of a draft. The model only proposes.

use std::sync::Arc;
use std::time::Duration;

use plenary_core::dialogue::diagnostics::RequestWarning;
use plenary_core::ethos::conflict_ask::{CONFLICTS_SCHEMA, conflict_messages, parse_conflicts};
use plenary_core::ethos::conflicts::ProposedConflict;
use plenary_core::ethos::rule_set::DialogueEthos;
use plenary_core::model::ask::AskPurpose;
use plenary_core::model::plan::{DeliveryMode, Seat, StakesLevel, TimeLimit};
use plenary_core::protocols::council::types::QuestionMode;

use crate::app::planning::panel_setup::{
    AskOptions, PanelSetup, RehearsalChoice, TransportFactory,
};
use crate::app::project::Project;
use crate::config::settings::ProviderOrigin;
use crate::config::settle_sections::BudgetOverrides;
use crate::engine::budget::{Budget, worst_cost};
use crate::engine::run_start::SeatTransports;
use crate::error::Error;
use crate::providers::call_progress::SilenceTimer;
use crate::providers::transport::CallRequest;

/// Purpose of the ask, for scripts of the rehearsal panel.
const PURPOSE: &str = "ethos_conflicts";

/// What the model proposed, and why there may be nothing.
#[derive(Debug, Default)]
pub struct DetectionResult {
    pub proposals: Vec<ProposedConflict>,
    pub warnings: Vec<RequestWarning>,
}

impl DetectionResult {
    /// A failed ask is a warning: the checks in code hold in any case.
    fn without_model(reason: &str) -> Self {
        let message = format!("no model looked for conflicts: {reason}");
        let warnings = vec![RequestWarning::new("detection_failed", message)];
        Self { proposals: Vec::new(), warnings }
    }
}

/// Asks the chair's provider, within the budget of one run.
pub fn ask_for_conflicts(
    project: &Project,
    ethos: &DialogueEthos,
) -> Result<DetectionResult, Error> {
    let settings = project.loader.load_settings(&BudgetOverrides::default())?;
    if settings.council.origin == ProviderOrigin::Missing {
        return Ok(DetectionResult::without_model("there is no provider"));
    }
    let options = AskOptions {
        providers: Vec::new(),
        chair: None,
        stakes: StakesLevel::Normal,
        delivery: DeliveryMode::Synthesis,
        conclusion: None,
        rehearsal: RehearsalChoice::default(),
    };
    let setup = PanelSetup::new(&settings, &options, &TransportFactory::default())?;
    let plan = setup.build_plan(QuestionMode::General, Arc::default(), project.ambient.as_ref());
    let Some(seat) = plan.chairs.first().and_then(|name| plan.find_seat(name)).cloned() else {
        return Ok(DetectionResult::without_model("there is no chair"));
    };
    let messages = Arc::new(conflict_messages(&plan.secret, ethos));
    if let Err(shortage) = Budget::new(plan.caps).reserve(worst_cost(&seat, &messages)) {
        let reason = format!("the remainder of {shortage} does not cover the call");
        return Ok(DetectionResult::without_model(&reason));
    }
    let time = Duration::from_millis(plan.timeout_ms(&seat, TimeLimit::Chair));
    let request = CallRequest {
        seat: seat.name.clone(),
        round: 0,
        purpose: AskPurpose::stored(PURPOSE).unwrap_or(AskPurpose::Synthesis),
        messages,
        schema: Some(Arc::new(CONFLICTS_SCHEMA.clone())),
        timer: SilenceTimer::start(time),
        partial_text: None,
        is_stricter: false,
    };
    run_call(&seat, &setup.connections, &request, time)
}

/// Runs the call on a thread of its own: operations are synchronous, and a server calls them from
/// inside its runtime.
fn run_call(
    seat: &Seat,
    connections: &SeatTransports,
    request: &CallRequest,
    time: Duration,
) -> Result<DetectionResult, Error> {
    let joined = std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(Error::Runtime)?;
            Ok(runtime.block_on(try_transports(seat, connections, request, time)))
        });
        call.join()
    });
    joined.unwrap_or_else(|_| Ok(DetectionResult::without_model("the call failed")))
}

/// The first of the seat's transports that gives a readable reply.
async fn try_transports(
    seat: &Seat,
    connections: &SeatTransports,
    request: &CallRequest,
    time: Duration,
) -> DetectionResult {
    let mut last = "the seat has no transport".to_owned();
    for transport in connections.for_seat(&seat.name) {
        let received = match tokio::time::timeout(time, transport.send(request)).await {
            Ok(Ok(received)) => received,
            Ok(Err(error)) => {
                last = error.message;
                continue;
            }
            Err(_) => {
                last = format!("no answer within {} s", time.as_secs());
                continue;
            }
        };
        match parse_conflicts(&received.text) {
            Ok(proposals) => return DetectionResult { proposals, warnings: Vec::new() },
            Err(unreadable) => last = unreadable.reason,
        }
    }
    DetectionResult::without_model(&last)
}
