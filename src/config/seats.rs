//! Builds the seats of a panel from providers. Called by planning.

use super::settings::ProviderOrigin;
use crate::domain::ask::TransportKind;
use crate::domain::digest::sha256_hex;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{SINGLE_FAMILY_NOTE, Seat, SeatRole};
use crate::providers::Provider;

/// Three seats allow a majority.
pub(super) const PANEL_SEATS: usize = 3;

/// Hex digits of a generated version: enough to distinguish two prompts.
const VERSION_DIGITS: usize = 8;

/// Builds a seat for each provider: participants in order, then providers that only chair. If too
/// few providers were discovered, they are repeated; configured ones are not. Also returns notes
/// for the reader of the result.
pub fn build_seats(
    providers: &[Provider],
    origin: ProviderOrigin,
    prompt_digest: &str,
) -> (Vec<Seat>, Vec<String>) {
    let is_participant = |provider: &&Provider| provider.roles.contains(&SeatRole::Participant);
    let participants: Vec<&Provider> = providers.iter().filter(is_participant).collect();
    let mut seats: Vec<Seat> =
        participants.iter().map(|one| build_seat(one, prompt_digest)).collect();
    let mut notes = Vec::new();
    if origin == ProviderOrigin::Found && !seats.is_empty() && seats.len() < PANEL_SEATS {
        notes.push(format!(
            "too few providers were found for {PANEL_SEATS} seats; they are repeated"
        ));
        let missing = PANEL_SEATS - seats.len();
        let further = participants.iter().cycle().take(missing).enumerate();
        let repeated = further.filter_map(|(place, one)| {
            repeat_seat(one, place / participants.len() + 2, prompt_digest)
        });
        seats.extend(repeated.collect::<Vec<_>>());
    }
    notes.extend(single_family_note(&seats));
    let chairs = providers.iter().filter(|provider| !is_participant(provider));
    seats.extend(chairs.map(|one| build_seat(one, prompt_digest)));
    (seats, notes)
}

/// Returns the possible chairs in the order of attempts; the first provider if none has the role.
pub fn list_chairs(providers: &[Provider]) -> Vec<ExpertSlug> {
    let chairs = providers.iter().filter(|provider| provider.roles.contains(&SeatRole::Chair));
    let chairs: Vec<ExpertSlug> = chairs.map(|provider| provider.name.clone()).collect();
    if chairs.is_empty() {
        return providers.first().map(|provider| provider.name.clone()).into_iter().collect();
    }
    chairs
}

/// Returns a note if all seats are of one model family.
pub fn single_family_note(seats: &[Seat]) -> Option<String> {
    let family = &seats.first()?.family;
    let is_one = seats.len() > 1 && seats.iter().all(|seat| seat.family == *family);
    is_one.then(|| format!("{SINGLE_FAMILY_NOTE}: {family}"))
}

/// Builds another seat of the same provider, as participant only.
fn repeat_seat(provider: &Provider, nth: usize, prompt_digest: &str) -> Option<Seat> {
    let name = format!("{}-{nth}", provider.name).parse().ok()?;
    Some(Seat { name, roles: vec![SeatRole::Participant], ..build_seat(provider, prompt_digest) })
}

/// Builds a provider's seat.
pub fn build_seat(provider: &Provider, prompt_digest: &str) -> Seat {
    let version = provider.version.clone();
    Seat {
        name: provider.name.clone(),
        provider: provider.name.clone(),
        model: provider.model.clone(),
        family: provider.family.clone(),
        version: version.unwrap_or_else(|| short_version(prompt_digest, &provider.model)),
        roles: provider.roles.clone(),
        transports: provider.transports.clone(),
        endpoint: first_endpoint(provider),
        price: provider.price.clone(),
        output_tokens_max: provider.output_tokens_max,
        temperature: provider.temperature,
        timeouts: provider.timeouts,
    }
}

/// Returns a short hash of prompt and model, which changes with either.
pub fn short_version(prompt_digest: &str, model: &str) -> String {
    let hex = sha256_hex([prompt_digest, "\n", model].map(str::as_bytes));
    hex.chars().take(VERSION_DIGITS).collect()
}

/// Returns the endpoint of the first transport: a URL or a program.
fn first_endpoint(provider: &Provider) -> Option<String> {
    match provider.transports.first()? {
        TransportKind::Http => provider.base_url.clone(),
        TransportKind::Cli => provider.command.first().cloned(),
        TransportKind::Mcp => provider.mcp.as_ref().map(|mcp| mcp.command.clone()),
        TransportKind::Rehearsal => None,
    }
}
