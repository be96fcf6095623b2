//! Places at the table for a list of providers.

use super::settings::Origin;
use crate::domain::ask::TransportKind;
use crate::domain::digest::sha256_hex;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Role, SINGLE_FAMILY, Seat};
use crate::providers::Provider;

/// Two can agree or not; with three there is a majority.
pub(super) const PANEL: usize = 3;

/// Hex digits of a version that nobody chose: enough to tell two prompts apart.
const VERSION_DIGITS: usize = 8;

/// A seat for each provider: participants in their order, then those who only chair. Where
/// providers were found rather than named, and are too few, they take further seats. With
/// the seats come notes that a reader of the result should see.
pub fn seats(
    providers: &[Provider],
    origin: Origin,
    prompt_digest: &str,
) -> (Vec<Seat>, Vec<String>) {
    let is_participant = |provider: &&Provider| provider.roles.contains(&Role::Participant);
    let participants: Vec<&Provider> = providers.iter().filter(is_participant).collect();
    let mut seats: Vec<Seat> = participants.iter().map(|one| seat(one, prompt_digest)).collect();
    let mut notes = Vec::new();
    if origin == Origin::Found && !seats.is_empty() && seats.len() < PANEL {
        notes.push(format!("too few providers were found for {PANEL} seats; they are repeated"));
        let missing = PANEL - seats.len();
        let further = participants.iter().cycle().take(missing).enumerate();
        let repeated = further
            .filter_map(|(place, one)| repeat(one, place / participants.len() + 2, prompt_digest));
        seats.extend(repeated.collect::<Vec<_>>());
    }
    notes.extend(single_family(&seats));
    let chairs = providers.iter().filter(|provider| !is_participant(provider));
    seats.extend(chairs.map(|one| seat(one, prompt_digest)));
    (seats, notes)
}

/// Who may chair, in the order in which they are tried; the first participant where nobody
/// was given the role.
pub fn chairs(providers: &[Provider]) -> Vec<ExpertSlug> {
    let chairs = providers.iter().filter(|provider| provider.roles.contains(&Role::Chair));
    let chairs: Vec<ExpertSlug> = chairs.map(|provider| provider.name.clone()).collect();
    if chairs.is_empty() {
        return providers.first().map(|provider| provider.name.clone()).into_iter().collect();
    }
    chairs
}

/// What a reader should know of a panel whose seats are all of one family.
pub fn single_family(seats: &[Seat]) -> Option<String> {
    let family = &seats.first()?.family;
    let is_one = seats.len() > 1 && seats.iter().all(|seat| seat.family == *family);
    is_one.then(|| format!("{SINGLE_FAMILY}: {family}"))
}

/// A further seat of the same provider. It speaks, but does not chair a second time.
fn repeat(provider: &Provider, nth: usize, prompt_digest: &str) -> Option<Seat> {
    let name = format!("{}-{nth}", provider.name).parse().ok()?;
    Some(Seat { name, roles: vec![Role::Participant], ..seat(provider, prompt_digest) })
}

/// A provider's own seat.
pub fn seat(provider: &Provider, prompt_digest: &str) -> Seat {
    let version = provider.version.clone();
    Seat {
        name: provider.name.clone(),
        provider: provider.name.clone(),
        model: provider.model.clone(),
        family: provider.family.clone(),
        version: version.unwrap_or_else(|| version_of(prompt_digest, &provider.model)),
        roles: provider.roles.clone(),
        transports: provider.transports.clone(),
        endpoint: endpoint(provider),
        price: provider.price.clone(),
        output_tokens_max: provider.output_tokens_max,
        temperature: provider.temperature,
        timeouts: provider.timeouts,
    }
}

/// A short hash of prompt and model: it changes when either does.
pub fn version_of(prompt_digest: &str, model: &str) -> String {
    let hex = sha256_hex([prompt_digest, "\n", model].map(str::as_bytes));
    hex.chars().take(VERSION_DIGITS).collect()
}

/// Where the first transport leads: an address, or the name of a program.
fn endpoint(provider: &Provider) -> Option<String> {
    match provider.transports.first()? {
        TransportKind::Http => provider.base_url.clone(),
        TransportKind::Cli => provider.command.first().cloned(),
        TransportKind::Mcp => provider.mcp.as_ref().map(|mcp| mcp.command.clone()),
        TransportKind::Rehearsal => None,
    }
}
