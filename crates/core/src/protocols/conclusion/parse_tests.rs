//! Conclusions and revisions as models write them: which are accepted, and why others are not.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::ids::{EntityId, ExpertSlug, VerdictId};
use crate::parsing::reply::ParseResult;
use crate::parsing::schema::CONCLUSION_SCHEMA;
use crate::protocols::conclusion::parse::{parse_conclusion, parse_revision};
use crate::protocols::conclusion::types::{
    Conclusion, ConclusionContext, ConclusionField, ConclusionParticipant, UnresolvedPoint,
};

fn slug(name: &str) -> ExpertSlug {
    name.parse().unwrap()
}

fn id(text: &str) -> EntityId {
    text.parse().unwrap()
}

/// Participants and entities of a record to validate against.
pub(crate) struct ConclusionFixture {
    participants: Vec<ConclusionParticipant>,
    entities: BTreeMap<EntityId, Vec<ExpertSlug>>,
    verdicts: BTreeMap<VerdictId, Vec<ExpertSlug>>,
}

impl ConclusionFixture {
    /// Claude and OpenAI took part; Gemini has a letter, but took no part.
    pub(crate) fn new() -> Self {
        let participant = |name, version: &str| ConclusionParticipant {
            agent: slug(name),
            version: version.to_owned(),
        };
        let contributors = |names: &[&str]| names.iter().map(|name| slug(name)).collect();
        Self {
            participants: vec![participant("claude", "v1"), participant("openai", "v2")],
            entities: BTreeMap::from([
                (id("P0101"), contributors(&["claude"])),
                (id("P0102"), contributors(&["openai"])),
                (id("C0101"), contributors(&["claude", "openai"])),
                (id("T0101"), contributors(&["claude"])),
            ]),
            verdicts: BTreeMap::from([
                ("d-openai".parse().unwrap(), contributors(&["openai"])),
                ("final".parse().unwrap(), Vec::new()),
            ]),
        }
    }

    /// A conclusion that is valid for this record.
    pub(crate) fn conclusion(&self) -> Conclusion {
        parse_conclusion(&whole().to_string(), &self.grounds()).unwrap().document
    }

    pub(crate) fn grounds(&self) -> ConclusionContext<'_> {
        ConclusionContext {
            participants: &self.participants,
            letters: vec![('A', slug("openai")), ('B', slug("claude")), ('C', slug("gemini"))],
            entities: &self.entities,
            verdicts: &self.verdicts,
            today: "2026-02-02".parse().unwrap(),
        }
    }
}

fn point() -> Value {
    json!({
        "point": "Whether to wait.",
        "agents_involved": ["claude", "openai"],
        "claims": [
            {"id": "P0101", "agent": "claude", "claim": "Ship now."},
            {"id": "P0102", "agent": "openai", "claim": "Wait."},
        ],
    })
}

fn whole() -> Value {
    json!({
        "recommendation": "Ship it.\nThen watch it.",
        "key_condition": "The tests pass.",
        "unresolved_points": [point()],
        "review_by": "2026-05-31",
        "participants": [{"agent": "claude", "version": "9"}, {"agent": "openai", "version": "9"}],
    })
}

/// The complete conclusion with one value replaced; `None` removes the field, `null` stays `null`.
fn with(pointer: &str, value: Option<Value>) -> String {
    let mut document = whole();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (document.pointer_mut(parent).unwrap(), value) {
        (Value::Object(fields), Some(value)) => drop(fields.insert(name.to_owned(), value)),
        (Value::Object(fields), None) => drop(fields.shift_remove(name)),
        (Value::Array(items), Some(value)) => items[name.parse::<usize>().unwrap()] = value,
        (other, _) => panic!("{other}"),
    }
    document.to_string()
}

/// The parse result or the error, on one line.
pub(crate) fn describe_result<T>(
    normalised: ParseResult<T>,
    describe: impl Fn(&T) -> String,
) -> String {
    match normalised {
        Ok(read) if read.repaired => format!("mended: {}", describe(&read.document)),
        Ok(read) => format!("read: {}", describe(&read.document)),
        Err(unreadable) if unreadable.refusal => format!("refusal: {}", unreadable.reason),
        Err(unreadable) => format!("unreadable: {}", unreadable.reason),
    }
}

fn describe(conclusion: &Conclusion) -> String {
    let point = |point: &UnresolvedPoint| {
        let agents: Vec<&str> = point.agents_involved.iter().map(ExpertSlug::as_str).collect();
        let claims = point.claims.iter().map(|claim| format!("{} {}", claim.id, claim.agent));
        format!("{} [{}]", agents.join("+"), claims.collect::<Vec<_>>().join(", "))
    };
    let points: Vec<String> = conclusion.unresolved_points.iter().map(point).collect();
    let versions: Vec<&str> = conclusion.participants.iter().map(|p| p.version.as_str()).collect();
    let Conclusion { recommendation, review_by, .. } = conclusion;
    format!("{recommendation:?} | {} | {review_by} | {}", points.join("; "), versions.join(" "))
}

#[track_caller]
fn check(reply: &str, expected: &str) {
    assert_eq!(
        describe_result(parse_conclusion(reply, &ConclusionFixture::new().grounds()), describe),
        expected,
        "{reply}"
    );
}

#[track_caller]
fn check_fault(pointer: &str, value: Option<Value>, expected: &str) {
    check(&with(pointer, value), &format!("unreadable: {expected}"));
}

const READ: &str = r#"read: "Ship it.\nThen watch it." | claude+openai [P0101 claude, P0102 openai] | 2026-05-31 | v1 v2"#;

#[test]
fn the_five_fields_are_read_wherever_they_stand() {
    let text = whole().to_string();
    check(&text, READ);
    check(&format!("Here it is:\n```json\n{text}\n```\nDone."), READ);
    check(&format!("<think>{{}}</think>{text}"), READ);
    check(&json!({ "conclusion": whole() }).to_string(), READ);
    check(&text.replace('}', ",}"), &READ.replacen("read", "mended", 1));
    check(
        &with("/unresolved_points", Some(json!([]))),
        &READ.replace("claude+openai [P0101 claude, P0102 openai]", ""),
    );
    check(&with("/participants", Some(json!([]))), READ);
}

#[test]
fn five_fields_are_neither_four_nor_six() {
    for field in ConclusionField::ALL {
        let pointer = format!("/{field}");
        check_fault(&pointer, None, &format!("{field}: missing field"));
    }
    check_fault("/confidence", Some(json!("high")), "unknown field `confidence`");
    check_fault(
        "/unresolved_points/0/note",
        Some(json!(1)),
        "unresolved_points[0]: unknown field `note`",
    );
    check_fault(
        "/unresolved_points/0/claims/1/source",
        Some(json!("x")),
        "unresolved_points[0].claims[1]: unknown field `source`",
    );
    check_fault("/participants/0/role", Some(json!("x")), "participants[0]: unknown field `role`");
    check_fault("/participants/0/version", None, "participants[0].version: missing field");
    // A wrapper must not hide extra fields, either.
    let mut wrapped = json!({ "conclusion": whole() });
    wrapped["confidence"] = json!("high");
    check(
        &wrapped.to_string(),
        "unreadable: recommendation: missing field; key_condition: missing field; \
         unresolved_points: missing field; review_by: missing field; participants: missing field; \
         unknown field `conclusion`; unknown field `confidence`",
    );
}

#[test]
fn nothing_is_made_to_fit() {
    check_fault("/recommendation", Some(json!(null)), "recommendation: null, not a text");
    check_fault("/recommendation", Some(json!(["a"])), "recommendation: a list, not a text");
    check_fault("/recommendation", Some(json!(" \n")), "recommendation: empty");
    check_fault("/key_condition", Some(json!("")), "key_condition: empty");
    check_fault("/unresolved_points", Some(json!(null)), "unresolved_points: null, not a list");
    check_fault("/unresolved_points", Some(json!("none")), "unresolved_points: `none`, not a list");
    check_fault(
        "/unresolved_points/0",
        Some(json!("x")),
        "unresolved_points[0]: `x`, not an object",
    );
    check_fault(
        "/unresolved_points/0/point",
        Some(json!(" ")),
        "unresolved_points[0].point: empty",
    );
    check_fault(
        "/unresolved_points/0/claims/0/claim",
        Some(json!("")),
        "unresolved_points[0].claims[0].claim: empty",
    );
    check_fault(
        "/unresolved_points/0/agents_involved",
        Some(json!("claude")),
        "unresolved_points[0].agents_involved: `claude`, not a list",
    );
    check_fault("/participants", Some(json!({})), "participants: an object, not a list");
}

#[test]
fn a_point_rests_on_who_took_part_and_what_was_said() {
    let agents = "/unresolved_points/0/agents_involved";
    check(&with(agents, Some(json!(["CLAUDE", " @openai "]))), READ);
    check(&with(agents, Some(json!(["B", "Opinion A"]))), READ);
    check(&with(agents, Some(json!(["claude", "B", "openai"]))), READ);
    check_fault(
        agents,
        Some(json!([])),
        "unresolved_points[0].agents_involved: the list is empty, but each point must name its agents",
    );
    check_fault(
        agents,
        Some(json!(["claude", "bob"])),
        "unresolved_points[0].agents_involved[1]: `bob` is not a participant (participants: claude, openai)",
    );
    check_fault(
        agents,
        Some(json!(["C"])),
        "unresolved_points[0].agents_involved[0]: `C` is not a participant (participants: claude, openai)",
    );
    check_fault(
        "/unresolved_points/0/claims",
        Some(json!([])),
        "unresolved_points[0].claims: the list is empty, but each point must cite a claim of the record",
    );
    check_fault(
        "/unresolved_points/0/claims/0/id",
        Some(json!("P0901")),
        "unresolved_points[0].claims[0].id: `P0901` is not an id of the record",
    );
    check_fault(
        "/unresolved_points/0/claims/0/id",
        Some(json!("the first")),
        "unresolved_points[0].claims[0].id: `the first` is not an id of the record",
    );
}

/// The record knows who took part, so a wrong list costs no second request.
#[test]
fn a_participant_who_took_no_part_is_corrected() {
    for wrong in ["gemini", "C", "bob"] {
        let reply = with("/participants/1/agent", Some(json!(wrong)));
        let room = ConclusionFixture::new();
        let read = parse_conclusion(&reply, &room.grounds()).unwrap();
        assert!(read.repaired, "{wrong}");
        assert_eq!(read.document.participants, room.participants, "{wrong}");
    }
    let room = ConclusionFixture::new();
    assert!(!parse_conclusion(&whole().to_string(), &room.grounds()).unwrap().repaired);
}

#[test]
fn a_claim_is_by_its_contributor() {
    let claim = "/unresolved_points/0/claims/0";
    let cited = |id: &str, agent: &str| Some(json!({"id": id, "agent": agent, "claim": "x"}));
    check(&with(claim, cited("`p0101`", "Claude")), READ);
    check(&with(claim, cited("C0101", "openai")), &READ.replace("P0101 claude", "C0101 openai"));
    // A tension is between several participants, so any of them may be cited for it.
    check(&with(claim, cited("T0101", "openai")), &READ.replace("P0101 claude", "T0101 openai"));
    // A dissent or a minority verdict is a claim of its author.
    let dissent = READ.replace("P0101 claude", "d-openai openai");
    check(&with(claim, cited("D-openai", "openai")), &dissent);
    check_fault(
        claim,
        cited("d-openai", "claude"),
        "unresolved_points[0].claims[0].agent: d-openai is not by `claude`, but by openai",
    );
    check_fault(
        claim,
        cited("final", "openai"),
        "unresolved_points[0].claims[0].agent: final is not by `openai`, but by none",
    );
    check_fault(
        claim,
        cited("P0101", "openai"),
        "unresolved_points[0].claims[0].agent: P0101 is not by `openai`, but by claude",
    );
    check_fault(
        claim,
        cited("T0101", "gemini"),
        "unresolved_points[0].claims[0].agent: `gemini` is not a participant (participants: claude, openai)",
    );
}

#[test]
fn a_review_is_due_on_a_later_day() {
    let review = "/review_by";
    check(&with(review, Some(json!(" 2026-02-03 "))), &READ.replace("2026-05-31", "2026-02-03"));
    for (given, expected) in [
        ("2026-02-02", "review_by: 2026-02-02 is not later than today, 2026-02-02"),
        ("2025-12-31", "review_by: 2025-12-31 is not later than today, 2026-02-02"),
        (
            "2026-05-31T00:00:00Z",
            "review_by: `2026-05-31T00?00?00Z` is not a date of the form YYYY-MM-DD",
        ),
        ("2026-02-30", "review_by: `2026-02-30` is not a date of the form YYYY-MM-DD"),
        ("31.5.2026", "review_by: `31.5.2026` is not a date of the form YYYY-MM-DD"),
        ("in six months", "review_by: `in six months` is not a date of the form YYYY-MM-DD"),
    ] {
        check_fault(review, Some(json!(given)), expected);
    }
    check_fault(review, Some(json!(20_260_531)), "review_by: `20260531`, not a text");
}

#[test]
fn all_faults_are_told_at_once() {
    let reply = json!({
        "recommendation": "",
        "key_condition": 5,
        "unresolved_points": [
            {"point": "x", "agents_involved": ["bob"], "claims": []},
            {"point": "y", "agents_involved": ["claude"]},
            {"point": "z", "agents_involved": ["claude"], "claims": [{"id": "P0101", "agent": "openai", "claim": " "}]},
        ],
        "review_by": "soon",
        "verdict": "x",
    });
    let faults = parse_conclusion(&reply.to_string(), &ConclusionFixture::new().grounds())
        .unwrap_err()
        .reason;
    insta::assert_snapshot!(faults.replace("; ", "\n"), @"
    recommendation: empty
    key_condition: `5`, not a text
    unresolved_points[0].agents_involved[0]: `bob` is not a participant (participants: claude, openai)
    unresolved_points[0].claims: the list is empty, but each point must cite a claim of the record
    unresolved_points[1].claims: missing field
    unresolved_points[2].claims[0].claim: empty
    unresolved_points[2].claims[0].agent: P0101 is not by `openai`, but by claude
    review_by: `soon` is not a date of the form YYYY-MM-DD
    participants: missing field
    unknown field `verdict`
    ");
    let strangers: serde_json::Map<_, _> =
        (0..30).map(|number| (format!("x{number}"), json!(1))).collect();
    let reason = parse_conclusion(
        &Value::Object(strangers).to_string(),
        &ConclusionFixture::new().grounds(),
    )
    .unwrap_err()
    .reason;
    assert!(reason.ends_with("; and 23 more"), "{reason}");
}

#[test]
fn what_is_no_conclusion_says_what_it_is() {
    check("", "unreadable: the reply is empty");
    check("<think>hm</think>", "unreadable: the reply contains only thinking and no answer");
    check("Ship it.", "unreadable: the reply contains no JSON object");
    check("I'm sorry, but I can't help with that.", "refusal: the model declined to answer");
    let schema = CONCLUSION_SCHEMA.to_string();
    check(&schema, "unreadable: the reply repeats the schema without values");
    check(&format!("{schema}\n{}", whole()), READ);
    let text = whole().to_string();
    check(
        &text.replacen('{', "{\"review_by\":\"2026-09-01\",", 1),
        "unreadable: duplicate key `review_by`",
    );
    check(&text.replace("\"2026-05-31\"", "NaN"), "unreadable: review_by: null, not a text");
    check(
        text.strip_suffix('}').unwrap(),
        "unreadable: the object is not closed (the reply was cut off before it ended)",
    );
    let marked = READ.replace("Ship it.", "Ship\\0 it.").replacen("read", "mended", 1);
    check(&text.replace("Ship it.", "Ship\u{0} it."), &marked);
}

#[track_caller]
fn check_revision(reply: &Value, flagged: &[ConclusionField], expected: &str) {
    let room = ConclusionFixture::new();
    let read = parse_revision(
        &reply.to_string(),
        &ConclusionFixture::new().conclusion(),
        flagged,
        &room.grounds(),
    );
    assert_eq!(describe_result(read, describe), expected);
}

#[test]
fn a_revision_changes_the_flagged_fields_and_no_other() {
    let rewritten = json!({
        "recommendation": "Wait.",
        "key_condition": "",
        "unresolved_points": "none of your business",
        "review_by": "yesterday",
        "participants": [{"agent": "bob"}],
        "apology": "Sorry!",
    });
    check_revision(
        &rewritten,
        &[ConclusionField::Recommendation],
        &READ.replace(r"Ship it.\nThen watch it.", "Wait."),
    );
    check_revision(
        &json!({"recommendation": "Wait."}),
        &[ConclusionField::Recommendation],
        &READ.replace(r"Ship it.\nThen watch it.", "Wait."),
    );
    check_revision(
        &json!({"revision": {"recommendation": "Wait."}}),
        &[ConclusionField::Recommendation],
        &READ.replace(r"Ship it.\nThen watch it.", "Wait."),
    );
    check_revision(
        &json!({"review_by": "2027-01-01"}),
        &[ConclusionField::ReviewBy],
        &READ.replace("2026-05-31", "2027-01-01"),
    );
    check_revision(
        &json!({"unresolved_points": [], "recommendation": "Wait."}),
        &[ConclusionField::UnresolvedPoints],
        &READ.replace("claude+openai [P0101 claude, P0102 openai]", ""),
    );
    // Participants come from the record, even if the critic flags them.
    check_revision(
        &json!({"participants": [{"agent": "claude", "version": "v7"}]}),
        &[ConclusionField::Participants],
        READ,
    );
}

#[test]
fn a_revision_must_hold_like_the_draft() {
    let all = ConclusionField::ALL;
    check_revision(
        &json!({"recommendation": "Wait."}),
        &[ConclusionField::Recommendation, ConclusionField::ReviewBy],
        "unreadable: review_by: missing field",
    );
    check_revision(
        &json!({"recommendation": " "}),
        &[ConclusionField::Recommendation],
        "unreadable: recommendation: empty",
    );
    check_revision(
        &json!({"recommendation": "", "review_by": "2026-02-02"}),
        &[ConclusionField::Recommendation, ConclusionField::ReviewBy],
        "unreadable: recommendation: empty; review_by: 2026-02-02 is not later than today, 2026-02-02",
    );
    check_revision(
        &json!({"unresolved_points": [{"point": "x", "agents_involved": ["bob"], "claims": []}]}),
        &[ConclusionField::UnresolvedPoints],
        "unreadable: unresolved_points[0].agents_involved[0]: `bob` is not a participant (participants: claude, openai); \
         unresolved_points[0].claims: the list is empty, but each point must cite a claim of the record",
    );
    check_revision(
        &json!({"participants": [{"agent": "bob", "version": "1"}]}),
        &[ConclusionField::Participants],
        READ,
    );
    check_revision(&whole(), all, READ);
    let room = ConclusionFixture::new();
    let cut = parse_revision(
        "{\"recommendation\":\"Wai",
        &ConclusionFixture::new().conclusion(),
        &[ConclusionField::Recommendation],
        &room.grounds(),
    );
    assert_eq!(
        describe_result(cut, describe),
        "unreadable: the object is not closed (the reply was cut off before it ended)"
    );
    let prose = parse_revision(
        "Done!",
        &ConclusionFixture::new().conclusion(),
        &[ConclusionField::Recommendation],
        &room.grounds(),
    );
    assert_eq!(describe_result(prose, describe), "unreadable: the reply contains no JSON object");
}
