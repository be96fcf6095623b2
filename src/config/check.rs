//! Checks across sections of `council.yaml`: references to providers and reachable quorums.

use std::collections::BTreeSet;

use super::error::Problem;
use super::file::CouncilFile;
use super::nearest::nearest;
use super::section::{At, Problems};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{PARTICIPANTS_MAX, Role};
use crate::providers::catalogue;

/// Checks the file for consistency. `found` are the names of discovered providers.
pub(super) fn file(file: &CouncilFile, found: &[ExpertSlug], problems: &mut Problems) {
    participants(file, problems);
    quorum(file, problems);
    references(file, found, problems);
}

fn participants(file: &CouncilFile, problems: &mut Problems) {
    let Some(providers) = &file.council.providers else { return };
    let path = "council.providers";
    let count = participants_of(file);
    if providers.value.is_empty() {
        problems.note(
            path,
            providers.line,
            "must name a provider; leave it out to use what is found",
        );
    } else if count == 0 {
        problems.note(path, providers.line, "must have a participant");
    } else if count > PARTICIPANTS_MAX {
        let fault = format!("has {count} participants, over {PARTICIPANTS_MAX}");
        problems.note(path, providers.line, &fault);
    }
}

fn participants_of(file: &CouncilFile) -> usize {
    let entries = file.council.providers.as_ref().map_or(&[][..], |at| &at.value);
    let speaks = |roles: &Option<At<Vec<Role>>>| {
        roles.as_ref().is_none_or(|roles| roles.value.contains(&Role::Participant))
    };
    entries.iter().filter(|entry| speaks(&entry.roles)).count()
}

/// A configured quorum must be reachable.
fn quorum(file: &CouncilFile, problems: &mut Problems) {
    let count = participants_of(file);
    if file.council.providers.is_none() || count == 0 {
        return;
    }
    let quorum = &file.council.quorum;
    let asked = [
        ("r1_min", &quorum.r1_min, count, "participant"),
        ("r2_min", &quorum.r2_min, count, "participant"),
        ("families_min", &quorum.families_min, families_of(file), "family"),
    ];
    for (key, asked, there, what) in asked {
        let Some(asked) = asked.as_ref().filter(|asked| asked.value > there) else { continue };
        let there =
            if there == 1 { format!("is 1 {what}") } else { format!("are {there} of them") };
        let fault = format!("is {}, but there {there}", asked.value);
        problems.note(&format!("council.quorum.{key}"), asked.line, &fault);
    }
}

fn families_of(file: &CouncilFile) -> usize {
    let entries = file.council.providers.as_ref().map_or(&[][..], |at| &at.value);
    let families = entries.iter().map(|entry| {
        let row = catalogue::row(entry.name.as_str());
        let model = entry.model.as_ref().map(|at| at.value.as_str());
        let model = model.or_else(|| row?.model).unwrap_or_default();
        let own = entry.family.as_ref().map(|at| at.value.clone());
        own.unwrap_or_else(|| catalogue::family(row, model))
    });
    families.collect::<BTreeSet<String>>().len()
}

/// Every name in another section must be one of the providers.
fn references(file: &CouncilFile, found: &[ExpertSlug], problems: &mut Problems) {
    let written = file.council.providers.as_ref().map(|at| &at.value);
    let names: Vec<&str> = match written {
        Some(entries) => entries.iter().map(|entry| entry.name.as_str()).collect(),
        None => found.iter().map(ExpertSlug::as_str).collect(),
    };
    let conclusion = &file.conclusion;
    let mut named = vec![
        ("conclusion.synthesizer".to_owned(), &conclusion.synthesizer),
        ("conclusion.critic".to_owned(), &conclusion.critic),
        ("conclusion.reviser".to_owned(), &conclusion.reviser),
        ("review.adjudicator.provider".to_owned(), &file.review.adjudicator),
    ];
    let seats = file.review.deliberators.as_ref().map_or(&[][..], |at| &at.value);
    for (place, seat) in seats.iter().enumerate() {
        named.push((format!("review.deliberators[{place}].provider"), &seat.provider));
    }
    for (path, reference) in named {
        let Some(At { value, line }) = reference else { continue };
        if !names.contains(&value.as_str()) {
            problems.0.push(stranger(&path, *line, value.as_str(), &names));
        }
    }
}

fn stranger(path: &str, line: u64, name: &str, names: &[&str]) -> Problem {
    let advice = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "there is none".to_owned(),
        None => format!("there are {}", names.join(", ")),
    };
    Problem::of_value(path, Some(line), &format!("names no provider `{name}`; {advice}"))
}
