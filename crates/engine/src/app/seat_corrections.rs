//! [`correct_seats`]: takes the settings of a seat from `council.yaml` again when it failed for its
//! key, its address or its model, so that `resume` can finish the run.
//!
//! Other seats keep the settings of the plan: a resumed run follows the rules that it began with.

use plenary_core::model::ask::{CallErrorType, CallOutcome, CallState};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::plan::{Seat, SettingChange};
use plenary_core::model::run_state::RunState;

use crate::config::settings::{Settings, build_seat, short_version};
use crate::providers::transport::Provider;

/// The changes for the seats of every provider whose last call failed for a setting.
pub(crate) fn correct_seats(state: &RunState, settings: &Settings) -> Vec<JournalEvent> {
    if state.opening.rehearsal {
        return Vec::new();
    }
    let seats = state.plan.seats.iter();
    seats.filter_map(|seat| correct_seat(state, settings, seat)).collect()
}

fn correct_seat(state: &RunState, settings: &Settings, seat: &Seat) -> Option<JournalEvent> {
    let failure = last_setting_failure(state, &seat.provider)?;
    let provider = settings.council.providers.iter().find(|one| one.name == seat.provider)?;
    let corrected = rebuild_seat(seat, provider);
    let mut changes = list_changes(seat, &corrected);
    if failure == CallErrorType::Auth {
        let source = provider.key_variable.as_deref().unwrap_or("the configuration");
        changes.push(SettingChange {
            field: "key".to_owned(),
            from: "refused".to_owned(),
            to: format!("read again from {source}"),
        });
    }
    (!changes.is_empty()).then(|| JournalEvent::SeatChanged { seat: Box::new(corrected), changes })
}

/// The type of the provider's last failure, if a setting may be its cause.
fn last_setting_failure(state: &RunState, provider: &ExpertSlug) -> Option<CallErrorType> {
    let is_own = |seat: &ExpertSlug| {
        state.plan.find_seat(seat).is_some_and(|seat| seat.provider == *provider)
    };
    let asks = state.asks.iter().filter(|asked| is_own(&asked.ask.seat));
    let last = asks.flat_map(|asked| &asked.calls).max_by_key(|call| call.dispatch.call)?;
    setting_failure(last)
}

/// A wrong address fails to connect or answers with a bad request, as does an unknown model.
fn setting_failure(call: &CallState) -> Option<CallErrorType> {
    let CallOutcome::Failed(failure, _) = &call.outcome else { return None };
    match failure.error_type {
        CallErrorType::Auth | CallErrorType::Network | CallErrorType::BadRequest => {
            Some(failure.error_type)
        }
        CallErrorType::Timeout
        | CallErrorType::RateLimit
        | CallErrorType::ParseError
        | CallErrorType::ServerError
        | CallErrorType::Refused
        | CallErrorType::ContextTooLong
        | CallErrorType::Unknown => None,
    }
}

/// The seat with the provider's present settings. Name and roles belong to the plan.
fn rebuild_seat(seat: &Seat, provider: &Provider) -> Seat {
    let version = match &provider.version {
        Some(version) => version.clone(),
        None if provider.model == seat.model => seat.version.clone(),
        None => short_version(&seat.version, &provider.model),
    };
    Seat { name: seat.name.clone(), roles: seat.roles.clone(), version, ..build_seat(provider, "") }
}

/// What differs, in the words of `council.yaml`.
fn list_changes(before: &Seat, after: &Seat) -> Vec<SettingChange> {
    let joined =
        |seat: &Seat| seat.transports.iter().map(|way| way.name()).collect::<Vec<_>>().join(", ");
    let text = |value: Option<String>| value.unwrap_or_else(|| "not set".to_owned());
    let number = |value: Option<f64>| text(value.map(|value| value.to_string()));
    let fields = [
        ("model", before.model.clone(), after.model.clone()),
        ("address", text(before.endpoint.clone()), text(after.endpoint.clone())),
        ("transports", joined(before), joined(after)),
        ("family", before.family.clone(), after.family.clone()),
        (
            "max_output_tokens",
            before.output_tokens_max.to_string(),
            after.output_tokens_max.to_string(),
        ),
        ("temperature", number(before.temperature), number(after.temperature)),
        (
            "effort",
            text(before.effort.map(|effort| effort.to_string())),
            text(after.effort.map(|effort| effort.to_string())),
        ),
    ];
    let changed = fields.into_iter().filter(|(_, from, to)| from != to);
    changed.map(|(field, from, to)| SettingChange { field: field.to_owned(), from, to }).collect()
}
