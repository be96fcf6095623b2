//! Lists who took part, and in which version.

use std::collections::BTreeSet;

use crate::domain::conclusion::Participant;
use crate::domain::digest::sha256_hex;
use crate::domain::expert::Profile;
use crate::domain::ids::ExpertSlug;
use crate::domain::record::Record;
use crate::domain::transcript::Transcript;
use crate::protocols::council::ROUNDS;

/// Hex digits of a version that is computed from a profile.
const VERSION_DIGITS: usize = 8;

/// Seats and experts with at least one answer, in the order of the panel. A seat has a version of
/// its own; the version of an expert is computed from its profile.
pub fn participants(transcript: &Transcript, record: &Record) -> Vec<Participant> {
    match transcript.opening.protocol.is_judged() {
        true => experts(record),
        false => seats(transcript),
    }
}

fn seats(transcript: &Transcript) -> Vec<Participant> {
    let heard: BTreeSet<&ExpertSlug> =
        ROUNDS.iter().flat_map(|round| transcript.heard_in(*round)).collect();
    let seats = transcript.plan.seats.iter().filter(|seat| heard.contains(&seat.name));
    seats
        .map(|seat| Participant { agent: seat.name.clone(), version: seat.version.clone() })
        .collect()
}

fn experts(record: &Record) -> Vec<Participant> {
    let spoke: BTreeSet<&ExpertSlug> =
        record.all_entities().flat_map(|entity| &entity.contributors).collect();
    let experts = record.experts.iter().map(|expert| &expert.profile);
    experts
        .filter(|profile| spoke.contains(&profile.expert_slug))
        .map(|profile| Participant {
            agent: profile.expert_slug.clone(),
            version: version(profile),
        })
        .collect()
}

fn version(profile: &Profile) -> String {
    let parts = [&profile.focus, &profile.description, &profile.mandate];
    let parts = parts.into_iter().map(|part| part.as_deref().unwrap_or_default());
    let text: Vec<&str> = std::iter::once(profile.role.as_str()).chain(parts).collect();
    let hex = sha256_hex(text.iter().map(|part| part.as_bytes()));
    hex.chars().take(VERSION_DIGITS).collect()
}
