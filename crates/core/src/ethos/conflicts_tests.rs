//! Synthesis and conflicts as tables of cases: domains, lenses, priorities, resolutions, proposals.

use serde_json::{Value, json};

use super::*;
use crate::ethos::library::EthosLibrary;
use crate::ethos::library_document::decide_import;
use crate::ethos::requests::read_constraints;
use crate::ethos::synthesis::{DomainChoice, SynthesisInput, synthesize_ethos};

/// A domain in a word: `FID<INV,REG` inherits from two, `FID` from none. Its slug is its code in
/// lower case. Tenets: `label=priority`, with the label as the text.
fn library(principles: &[&str], domains: &[(&str, &[&str])]) -> EthosLibrary {
    let rule = |text: &str| {
        let (label, priority) = text.split_once('=').unwrap_or((text, "100"));
        json!({ "label": label, "description": label, "priority": priority.parse::<u32>().unwrap() })
    };
    let principles: Vec<Value> = principles.iter().map(|text| rule(text)).collect();
    let domains = domains.iter().map(|(name, tenets)| {
        let (code, parents) = name.split_once('<').unwrap_or((name, ""));
        let parents: Vec<String> =
            parents.split(',').filter(|p| !p.is_empty()).map(str::to_lowercase).collect();
        json!({
            "slug": code.to_lowercase(), "code": code, "label": code, "parent_domains": parents,
            "tenets": tenets.iter().map(|text| rule(text)).collect::<Vec<_>>(),
        })
    });
    let document = json!({ "principles": principles, "domains": domains.collect::<Vec<_>>() });
    imported(&document).unwrap()
}

fn imported(document: &Value) -> Result<EthosLibrary, ValidationError> {
    let mut library = EthosLibrary::default();
    for change in decide_import(document, &EthosLibrary::default())?.changes {
        library.apply_change(&change);
    }
    Ok(library)
}

fn synthesize(
    library: &EthosLibrary,
    domains: &str,
    constraints: &Value,
) -> Result<DialogueEthos, ValidationError> {
    let domains: Vec<DomainChoice> =
        domains.split_whitespace().map(DomainChoice::from_text).collect();
    synthesize_ethos(&SynthesisInput {
        dialogue: &"talk".parse().unwrap(),
        version: 1,
        library,
        constraints: &read_constraints(constraints).unwrap(),
        domains: &domains,
    })
}

/// `1 PR0001 100, 2 FID-TN01 900 | 1-2 redundancy open`.
fn describe(ethos: &DialogueEthos) -> String {
    let rules = ethos
        .rules_in_force()
        .map(|rule| format!("{} {} {}", rule.seq, rule.source_id, rule.priority));
    let conflicts = ethos.conflicts.iter().map(|conflict| {
        let end = conflict.resolution.map_or("open", ConflictResolution::name);
        let by = conflict.resolved_by.map_or(String::new(), |by| format!(" by {by}"));
        let name = |id: &str| id.trim_start_matches("RULE0").to_owned();
        format!("{}-{} {} {end}{by}", name(&conflict.a), name(&conflict.b), conflict.conflict_type)
    });
    let parts = [rules.collect::<Vec<_>>().join(", "), conflicts.collect::<Vec<_>>().join(", ")];
    parts.join(" | ").trim_end_matches([' ', '|']).to_owned()
}

#[track_caller]
fn check(library: &EthosLibrary, domains: &str, constraints: &Value, expected: &str) {
    let found = match synthesize(library, domains, constraints) {
        Ok(ethos) => describe(&ethos),
        Err(error) => error.message,
    };
    assert_eq!(found, expected, "domains {domains}");
}

#[test]
fn rules_come_in_order_and_are_inherited_once() {
    let diamond = library(
        &["Cite", "Disclose"],
        &[
            ("TOP", &["Law=500"]),
            ("INV<TOP", &["Spread=800"]),
            ("REG<TOP", &["Record=600"]),
            ("FID<INV,REG", &["Duty=1000", "Income=900"]),
        ],
    );
    let none = json!([]);
    check(&diamond, "", &none, "1 PR0001 100, 2 PR0002 100");
    check(
        &diamond,
        "fid",
        &json!(["4 % income", {"label": "60 days", "priority": 7}]),
        "1 PR0001 100, 2 PR0002 100, 3 FID-TN01 1000, 4 FID-TN02 900, 5 INV-TN01 800, \
         6 REG-TN01 600, 7 TOP-TN01 500, 8 CN01 500, 9 CN02 7",
    );
    check(&diamond, "FID fid", &none, &describe(&synthesize(&diamond, "fid", &none).unwrap()));
    check(&diamond, "TOP", &none, "1 PR0001 100, 2 PR0002 100, 3 TOP-TN01 500");
    check(&diamond, "xyz", &none, "there is no domain 'xyz'");
    check(&library(&[], &[]), "", &none, "no active principle, tenet or constraint gives a rule");
}

#[test]
fn a_circle_of_domains_is_refused_with_its_path() {
    let domain = |code: &str, parents: &[&str]| json!({ "slug": code.to_lowercase(), "code": code, "label": code, "parent_domains": parents });
    let cases: [(Value, &str); 4] = [
        (
            json!([domain("AAA", &["bbb"]), domain("BBB", &["ccc"]), domain("CCC", &["aaa"])]),
            "domains inherit from each other in a circle: aaa → bbb → ccc → aaa",
        ),
        (
            json!([domain("AAA", &["aaa"])]),
            "domains inherit from each other in a circle: aaa → aaa",
        ),
        (json!([domain("AAA", &["zzz"])]), "there is no domain 'zzz'"),
        (
            json!([domain("AAA", &[]), {"slug": "other", "code": "AAA", "label": "x"}]),
            "code 'AAA' belongs to the domain 'aaa'",
        ),
    ];
    for (domains, expected) in cases {
        let error = imported(&json!({ "domains": domains })).unwrap_err();
        assert_eq!(error.message, expected);
    }
    // Eight levels of parents are allowed, nine are not.
    let chain = |levels: u8| {
        let code = |nth: u8| format!("AA{}", char::from(b'A' + nth));
        let domains = (0..=levels).map(|nth| {
            let parent = code(nth + 1).to_lowercase();
            let parents: Vec<&str> = if nth == levels { vec![] } else { vec![&parent] };
            domain(&code(nth), &parents)
        });
        imported(&json!({ "domains": domains.collect::<Vec<_>>() })).map(|_| ())
    };
    assert_eq!(chain(8), Ok(()));
    assert_eq!(chain(9).unwrap_err().code, ErrorCode::FieldTooLong);
}

#[test]
fn a_lens_includes_then_excludes_then_changes_priorities() {
    let make = |lens: Value| {
        imported(&json!({ "domains": [{
            "slug": "fid", "code": "FID", "label": "F",
            "tenets": [
                {"label": "Duty", "description": "Duty", "priority": 1000},
                {"label": "Income", "description": "Income", "priority": 900},
                {"label": "Papers", "description": "Papers", "priority": 600},
            ],
            "lenses": [lens],
        }] }))
    };
    let cases = [
        (json!({"label": "all"}), "1 FID-TN01 1000, 2 FID-TN02 900, 3 FID-TN03 600"),
        (
            json!({"label": "x", "include_tenets": ["FID-TN02", "FID-TN03"]}),
            "1 FID-TN02 900, 2 FID-TN03 600",
        ),
        (
            json!({"label": "x", "include_tenets": ["FID-TN02", "FID-TN03"], "exclude_tenets": ["FID-TN02"]}),
            "1 FID-TN03 600",
        ),
        (
            json!({"label": "x", "exclude_tenets": ["FID-TN01"], "priority_overrides": {"FID-TN03": 950}}),
            "1 FID-TN03 950, 2 FID-TN02 900",
        ),
        (
            json!({"label": "x", "exclude_tenets": ["FID-TN01"], "priority_overrides": {"FID-TN01": 5}}),
            "1 FID-TN02 900, 2 FID-TN03 600 | 3-FID-LN01 ambiguity open",
        ),
    ];
    for (lens, expected) in cases {
        check(&make(lens).unwrap(), "fid:FID-LN01", &json!([]), expected);
    }
    let unknown = make(json!({"label": "x", "exclude_tenets": ["FID-TN09"]})).unwrap_err();
    assert_eq!(unknown.code, ErrorCode::TargetNotFound);
    check(
        &make(json!({"label": "x"})).unwrap(),
        "fid:LN07",
        &json!([]),
        "the domain 'fid' has no lens 'LN07'",
    );
}

/// Principles, domains, constraints, and what comes of them.
type RuleCase<'a> = (&'a [&'a str], &'a [(&'a str, &'a [&'a str])], Value, &'a str);

#[test]
fn only_tenets_of_different_priority_resolve_themselves() {
    let none = json!([]);
    let cases: [RuleCase<'_>; 6] = [
        // The same text after normalising, with different priorities.
        (
            &[],
            &[("FID", &["Name the source=300", "name  THE source!=200"])],
            none.clone(),
            "1 FID-TN01 300 | 1-2 redundancy a_supersedes by priority",
        ),
        // Equal priorities need a person.
        (
            &[],
            &[("FID", &["Name the source", "name the source."])],
            none.clone(),
            "1 FID-TN01 100, 2 FID-TN02 100 | 1-2 redundancy open",
        ),
        // So does a pair with a principle or a constraint.
        (
            &["Name the source=1"],
            &[("FID", &["Name the source=900"])],
            none.clone(),
            "1 PR0001 1, 2 FID-TN01 900 | 1-2 redundancy open",
        ),
        (
            &[],
            &[("FID", &["4 % income=900"])],
            json!(["4% income"]),
            "1 FID-TN01 900, 2 CN01 500 | 1-2 redundancy open",
        ),
        (
            &[],
            &[("FID", &[])],
            json!([{"label": "Hold", "description": "60 days"}, {"label": "hold", "description": "90 days"}]),
            "1 CN01 500, 2 CN02 500 | 1-2 ambiguity open",
        ),
        // Three that say the same: the highest stays.
        (
            &[],
            &[("FID", &["A b=1", "a B=3", "a-b=2"])],
            none,
            "1 FID-TN02 3 | 1-2 redundancy a_supersedes by priority, 1-3 redundancy a_supersedes by priority, 2-3 redundancy a_supersedes by priority",
        ),
    ];
    for (principles, domains, constraints, expected) in cases {
        check(&library(principles, domains), "fid", &constraints, expected);
    }
}

#[test]
fn a_person_resolves_what_is_open() {
    let library = library(&["Cite"], &[("FID", &["Cite=900", "Duty=800"])]);
    let resolved = |resolution: ConflictResolution| {
        let mut ethos = synthesize(&library, "fid", &json!([])).unwrap();
        ethos.resolve_conflict(1, Some(resolution), Some("because")).unwrap();
        describe(&ethos)
    };
    let cases = [
        (
            ConflictResolution::ASupersedes,
            "1 PR0001 100, 3 FID-TN02 800 | 1-2 redundancy a_supersedes by manual",
        ),
        (
            ConflictResolution::BSupersedes,
            "2 FID-TN01 900, 3 FID-TN02 800 | 1-2 redundancy b_supersedes by manual",
        ),
        (
            ConflictResolution::Merged,
            "1 PR0001 900, 3 FID-TN02 800 | 1-2 redundancy merged by manual",
        ),
        (ConflictResolution::Removed, "3 FID-TN02 800 | 1-2 redundancy removed by manual"),
    ];
    for (resolution, expected) in cases {
        assert_eq!(resolved(resolution), expected);
    }
    let mut ethos = synthesize(&library, "fid", &json!([])).unwrap();
    let at = Moment::new("2026-02-02T09:00:00Z".parse().unwrap());
    let code = |result: Result<(), ValidationError>| result.map_err(|error| error.code);
    assert_eq!(code(ethos.approve("me", at)), Err(ErrorCode::EthosConflictOpen));
    assert_eq!(code(ethos.resolve_conflict(1, None, None)), Err(ErrorCode::MissingField));
    let a = Some(ConflictResolution::ASupersedes);
    assert_eq!(code(ethos.resolve_conflict(1, a, Some("  "))), Err(ErrorCode::MissingField));
    assert_eq!(code(ethos.resolve_conflict(2, a, Some("x"))), Err(ErrorCode::TargetNotFound));
    assert_eq!(code(ethos.resolve_conflict(1, a, Some("x"))), Ok(()));
    assert_eq!(code(ethos.resolve_conflict(1, a, Some("x"))), Err(ErrorCode::TargetNotFound));
    assert_eq!(code(ethos.approve("me", at)), Ok(()));
    // From here on it never changes.
    let approved = ethos.clone();
    let refused = [
        code(ethos.resolve_conflict(1, a, Some("x"))),
        code(ethos.approve("me", at)),
        code(ethos.reject("no")),
    ];
    assert_eq!(refused, [Err(ErrorCode::EthosImmutable); 3]);
    assert_eq!(ethos, approved);
}

#[test]
fn a_conflict_ends_when_one_of_its_rules_is_out() {
    let three = json!(["Hold", "hold.", "HOLD"]);
    let mut ethos = synthesize(&EthosLibrary::default(), "", &three).unwrap();
    assert_eq!(ethos.open_conflicts().count(), 3);
    ethos.resolve_conflict(1, Some(ConflictResolution::ASupersedes), Some("x")).unwrap();
    assert_eq!(
        describe(&ethos),
        "1 CN01 500, 3 CN03 500 | 1-2 redundancy a_supersedes by manual, 1-3 redundancy open, \
         2-3 redundancy b_supersedes by manual"
    );
}

#[test]
fn a_model_only_proposes_and_quotes_what_stands_there() {
    let library = library(&["Cite sources"], &[("FID", &["Income first=900", "Growth first=800"])]);
    let proposed = |a: &str, b: &str, quote_a: &str, quote_b: &str| ProposedConflict {
        a: a.to_owned(),
        b: b.to_owned(),
        conflict_type: ConflictType::Contradiction,
        quote_a: quote_a.to_owned(),
        quote_b: quote_b.to_owned(),
        resolution: Some(ConflictResolution::BSupersedes),
        reason: "They rank differently.".to_owned(),
    };
    let cases = [
        // Between tenets the priority decides, against the proposal.
        (
            proposed("RULE02", "RULE03", "income  FIRST", "Growth"),
            "2-3 contradiction a_supersedes by priority",
            0,
        ),
        // With a principle a person decides.
        (proposed("RULE01", "RULE03", "sources", "Growth"), "1-3 contradiction open", 0),
        (proposed("RULE01", "RULE03", "never said", "Growth"), "", 1),
        (proposed("RULE01", "RULE03", "", "Growth"), "", 1),
        (proposed("RULE01", "RULE09", "sources", "x"), "", 1),
        (proposed("RULE01", "RULE01", "sources", "sources"), "", 1),
    ];
    for (proposal, expected, dropped) in cases {
        let mut ethos = synthesize(&library, "fid", &json!([])).unwrap();
        let reasons = ethos.add_proposals(vec![proposal.clone()]);
        let conflicts =
            describe(&ethos).split_once(" | ").map_or(String::new(), |(_, c)| c.to_owned());
        assert_eq!((conflicts.as_str(), reasons.len()), (expected, dropped), "{proposal:?}");
    }
    let mut ethos = synthesize(&library, "fid", &json!([])).unwrap();
    ethos.add_proposals(vec![proposed("RULE01", "RULE03", "sources", "Growth")]);
    ethos.resolve_conflict(1, None, None).unwrap();
    assert_eq!(
        describe(&ethos),
        "2 FID-TN01 900, 3 FID-TN02 800 | 1-3 contradiction b_supersedes by model"
    );
}
