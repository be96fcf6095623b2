//! Checks across sections of `council.yaml`: references to providers and reachable quorums.

use std::collections::BTreeSet;

use super::error::ConfigProblem;
use super::file::CouncilFile;
use super::nearest::find_nearest;
use super::section::{ProblemList, WithLine};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{PARTICIPANTS_MAX, SeatRole};
use crate::providers::catalogue;

/// Checks the file for consistency. `found` are the names of discovered providers.
pub(super) fn check_file(file: &CouncilFile, found: &[ExpertSlug], problems: &mut ProblemList) {
    check_participants(file, problems);
    check_quorum(file, problems);
    check_references(file, found, problems);
}

fn check_participants(file: &CouncilFile, problems: &mut ProblemList) {
    let Some(providers) = &file.council.providers else { return };
    let path = "council.providers";
    let count = count_participants(file);
    if providers.value.is_empty() {
        problems.add_problem(
            path,
            providers.line,
            "must name a provider; leave it out to use what is found",
        );
    } else if count == 0 {
        problems.add_problem(path, providers.line, "must have a participant");
    } else if count > PARTICIPANTS_MAX {
        let fault = format!("has {count} participants, over {PARTICIPANTS_MAX}");
        problems.add_problem(path, providers.line, &fault);
    }
}

fn count_participants(file: &CouncilFile) -> usize {
    let entries = file.council.providers.as_ref().map_or(&[][..], |at| &at.value);
    let speaks = |roles: &Option<WithLine<Vec<SeatRole>>>| {
        roles.as_ref().is_none_or(|roles| roles.value.contains(&SeatRole::Participant))
    };
    entries.iter().filter(|entry| speaks(&entry.roles)).count()
}

/// A configured quorum must be reachable.
fn check_quorum(file: &CouncilFile, problems: &mut ProblemList) {
    let count = count_participants(file);
    if file.council.providers.is_none() || count == 0 {
        return;
    }
    let quorum = &file.council.quorum;
    let asked = [
        ("r1_min", &quorum.r1_min, count, "participant"),
        ("r2_min", &quorum.r2_min, count, "participant"),
        ("families_min", &quorum.families_min, count_families(file), "family"),
    ];
    for (key, asked, there, what) in asked {
        let Some(asked) = asked.as_ref().filter(|asked| asked.value > there) else { continue };
        let there =
            if there == 1 { format!("is 1 {what}") } else { format!("are {there} of them") };
        let fault = format!("is {}, but there {there}", asked.value);
        problems.add_problem(&format!("council.quorum.{key}"), asked.line, &fault);
    }
}

fn count_families(file: &CouncilFile) -> usize {
    let entries = file.council.providers.as_ref().map_or(&[][..], |at| &at.value);
    let families = entries.iter().map(|entry| {
        let row = catalogue::find_row(entry.name.as_str());
        let model = entry.model.as_ref().map(|at| at.value.as_str());
        let model = model.or_else(|| row?.model).unwrap_or_default();
        let own = entry.family.as_ref().map(|at| at.value.clone());
        own.unwrap_or_else(|| catalogue::model_family(row, model))
    });
    families.collect::<BTreeSet<String>>().len()
}

/// Every name in another section must be one of the providers.
fn check_references(file: &CouncilFile, found: &[ExpertSlug], problems: &mut ProblemList) {
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
        let Some(WithLine { value, line }) = reference else { continue };
        if !names.contains(&value.as_str()) {
            problems.0.push(unknown_provider(&path, *line, value.as_str(), &names));
        }
    }
}

fn unknown_provider(path: &str, line: u64, name: &str, names: &[&str]) -> ConfigProblem {
    let advice = match find_nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "there is none".to_owned(),
        None => format!("there are {}", names.join(", ")),
    };
    ConfigProblem::in_value(path, Some(line), &format!("names no provider `{name}`; {advice}"))
}
