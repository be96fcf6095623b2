//! One line per case: the texts, and the entities selected for them.

use super::*;
use crate::model::entity::{EntityReference, ReferenceType};
use crate::model::lifecycle::initial_status;

/// An index from lines such as `P0001 > T0001, E0001`: an id and its references.
fn build_index(lines: &[&str]) -> EntityIndex {
    let item = lines.iter().map(|line| {
        let (id, targets) = line.split_once(" > ").unwrap_or((line, ""));
        let (id, label) = id.split_once(' ').unwrap_or((id, "Nothing in particular"));
        let id: EntityId = id.parse().unwrap();
        let targets = targets.split(", ").filter(|target| !target.is_empty());
        PriorEntity {
            id,
            label: label.to_owned(),
            text: String::new(),
            status: initial_status(id.kind),
            contributors: Vec::new(),
            parameters: None,
            accepted: None,
            references: targets
                .map(|target| EntityReference {
                    ref_type: ReferenceType::Depend,
                    target: target.parse().unwrap(),
                })
                .collect(),
        }
    });
    EntityIndex::new(item.collect())
}

const LINES: [&str; 9] = [
    "T0001 Growth vs income > P0001",
    "T0002 Risk > P0002",
    "P0001",
    "P0002",
    "P0003",
    "R0001 > T0001",
    "E0001 > P0001",
    "C0101 > R0001, P0003",
    "T0101 > R0001",
];

#[track_caller]
fn check(charge: &str, round_context: Option<&str>, expected: &str) {
    let index = build_index(&LINES);
    let found = find_relevant(&index, &JudgeTexts { assignment: vec![charge], round_context });
    let names =
        |item: &[&PriorEntity]| item.iter().map(|item| item.id.to_string()).collect::<Vec<_>>();
    let others: Vec<String> = found.others.iter().flat_map(|(_, item)| names(item)).collect();
    let result =
        format!("{:?}: {} | {}", found.found, names(&found.tensions).join(" "), others.join(" "));
    assert_eq!(result, expected, "{charge:?}");
}

#[test]
fn what_is_named_brings_what_refers_to_it_and_what_it_refers_to() {
    check("T0001 (growth) needs somebody", None, "Named: T0001 | P0001 R0001");
    check("see T0001's cause", None, "Named: T0001 | P0001 R0001");
}

#[test]
fn a_tension_is_named_by_its_label_too() {
    check("Settle growth vs. income.", None, "Named: T0001 | P0001 R0001");
    check(
        "Risks of all kinds, brisk ones too",
        None,
        "Open: T0001 T0002 T0101 | P0001 P0002 R0001",
    );
}

#[test]
fn work_on_something_is_work_on_its_tensions() {
    check("Cost R0001.", None, "Named: T0001 T0101 | R0001 C0101");
    check("Look at P0003", None, "Named:  | P0003 C0101");
}

#[test]
fn the_judges_word_for_the_round_counts_when_the_charge_names_nothing() {
    check("Taxes", Some("Take up T0002."), "Named: T0002 | P0002");
    check("T0002", Some("Read E0001 and T0001 first."), "Named: T0002 | P0002 T0001 E0001");
}

#[test]
fn what_nobody_said_is_not_named() {
    check("T0099, P0101 and X0001", None, "Open: T0001 T0002 T0101 | P0001 P0002 R0001");
}

#[test]
fn of_each_kind_the_newest_are_kept_and_the_others_counted() {
    let many: Vec<String> =
        (1..=40).map(|seq| format!("P{:02}{:02} > T0001", seq / 10, seq % 10 + 1)).collect();
    let lines: Vec<&str> = many.iter().map(String::as_str).chain(["T0001"]).collect();
    let index = build_index(&lines);
    let words = JudgeTexts { assignment: vec!["T0001"], round_context: Some("and P0002") };
    let found = find_relevant(&index, &words);
    let [(EntityKind::Perspective, kept)] = found.others.as_slice() else { panic!("{found:?}") };
    assert_eq!((kept.len(), found.left_out), (PER_KIND_MAX, 40 - PER_KIND_MAX));
    // The named perspective is kept, then the newest rounds.
    assert_eq!(kept[0].id.to_string(), "P0002");
    assert_eq!(kept[PER_KIND_MAX - 1].id.to_string(), "P0401");
}
