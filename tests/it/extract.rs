//! `dialogue extract`: turns experts' replies into the batch that `register` takes.

use std::io::Write;
use std::process::Stdio;

use plenary_core::markers::batch::{RawReplies, build_round_batch, check_across_replies};
use plenary_core::markers::extract::extract_reply;
use plenary_core::markers::extraction::ReplyExtraction;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::hostile::corpora;
use crate::kit::{
    CommandOutput, TestProgram, TestProject, make_pool, open_dialogue, pick_repeats, read_fixture,
    value_at,
};
use crate::mcp::stdio_client::StdioClient;

const ID: &str = "nvidia-investment-decision";
const MUFFIN: &str = include_str!("../fixtures/responses/response-muffin.md");
const DONUT: &str = "\
# Donut - Options Strategist

### **[Donut-R101 — Amended collar]**
45 days to expiry.
- [RE:REFINE R0001]
- [RE: MUFFIN-P0101]

[MOVE:DEFEND R0001] It is liquid.
[RE:SUPPORT CUPCAKE-P0101]
[DISSENT]
The vote was rushed.
";

/// The specification's dialogue before its round 1, and the replies of two experts.
fn program_at_round_1() -> TestProgram {
    let program = TestProgram::new();
    for (operation, file) in
        [("create", "01-create"), ("register", "02-round-0"), ("panel", "03-panel-1")]
    {
        let (code, answer) = program
            .run_operation(operation, &read_fixture(&format!("examples/nvidia/{file}.json")));
        assert_eq!(code, 0, "{answer:#}");
    }
    std::fs::create_dir(program.path().join("round-1")).unwrap();
    for (name, reply) in [("muffin", MUFFIN), ("donut", DONUT)] {
        let path = program.path().join(format!("round-1/response-{name}.md"));
        std::fs::write(path, reply).unwrap();
    }
    program
}

fn parse_document(ran: &CommandOutput) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn what_it_prints_is_registered_as_it_is() {
    let program = program_at_round_1();
    let ran = program.run_command(&["dialogue", "extract", "round-1/response-muffin.md", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let extracted = parse_document(&ran);
    assert_eq!(value_at(&extracted, "warnings"), &json!([]));
    program.write_json("round-1.json", &extracted);
    let registered = program.run_command(&[
        "dialogue",
        "register",
        ID,
        "--data",
        "round-1.json",
        "--score",
        "8",
        "--expert-score",
        "muffin=8",
        "--summary",
        "Bridged.",
        "--json",
    ]);
    assert_eq!(registered.code, 0, "{registered:?}");
    let answer = parse_document(&registered);
    assert_eq!(
        value_at(&answer, "id_mapping"),
        &json!({ "MUFFIN-P0101": "P0101", "MUFFIN-T0101": "T0101", "MUFFIN-E0101": "E0101", "MUFFIN-C0101": "C0101" })
    );
    let export = parse_document(&program.run_command(&["export", ID]));
    let of = |section: &str, id: &str| {
        let all = value_at(&export, section).as_array().unwrap();
        all.iter().find(|item| item["id"] == id).unwrap()["references"].clone()
    };
    assert_eq!(
        of("perspectives", "P0101"),
        json!([
            { "type": "refine", "target": "P0001" },
            { "type": "support", "target": "R0001" },
            { "type": "address", "target": "T0001" },
        ])
    );
    assert_eq!(of("evidence", "E0101"), json!([{ "type": "support", "target": "P0101" }]));
    assert_eq!(
        of("claims", "C0101"),
        json!([{ "type": "depend", "target": "P0101" }, { "type": "depend", "target": "E0101" }])
    );
    let moves = value_at(&export, "moves").as_array().unwrap();
    let made = moves.iter().find(|made| made["round"] == 1).unwrap();
    assert_eq!((&made["type"], &made["targets"]), (&json!("bridge"), &json!(["P0003", "R0001"])));
    assert_eq!(value_at(&export, "rounds.1.experts.muffin.raw"), MUFFIN);
    // Later readers see global ids and no markers.
    let context = program.run_command(&["dialogue", "context", ID, "--json"]).stdout;
    assert!(context.contains("supports my options viability perspective"), "{context}");
    for mark in ["[RE:", "[MOVE:", "MUFFIN-P0101"] {
        assert!(!context.contains(mark), "{mark} in {context}");
    }
    assert_eq!(value_at(&export, "rounds.1.experts.muffin.score"), 8);
    assert_eq!(program.run_command(&["verify"]).code, 0);
}

#[test]
fn a_tool_takes_the_whole_document_too() {
    let program = program_at_round_1();
    let ran = program.run_command(&["dialogue", "extract", "round-1/response-muffin.md", "--json"]);
    let mut whole = parse_document(&ran);
    let mut alone = value_at(&whole, "batch").clone();
    for arguments in [&mut whole, &mut alone] {
        arguments["dialogue_id"] = json!(ID);
        arguments["score"] = json!(8);
        arguments["expert_scores"] = json!({ "muffin": 8 });
    }
    let mut agent = StdioClient::new(&program);
    let answer = agent.call_tool_ok("blue_dialogue_round_register", &whole);
    assert_eq!(value_at(&answer, "warnings"), &json!([]));
    assert_eq!(value_at(&answer, "id_mapping.MUFFIN-C0101"), "C0101");
    // The result is the same batch for every input form.
    assert_eq!(
        value_at(&agent.call_tool_ok("blue_dialogue_round_register", &alone), "replayed"),
        true
    );
    let (code, again) = program.run_operation("register", &whole);
    assert_eq!((code, value_at(&again, "replayed")), (0, &json!(true)));
    // A document that is not a batch is rejected.
    let refused = agent.call_tool_error(
        "blue_dialogue_round_register",
        &json!({ "dialogue_id": ID, "score": 8, "batch": [] }),
    );
    assert!(refused.to_string().contains("field 'batch' must be an object"), "{refused:#}");
}

#[test]
fn several_replies_are_one_batch() {
    let program = program_at_round_1();
    let files = ["round-1/response-muffin.md", "round-1/response-donut.md"];
    let ran =
        program.run_command(&["dialogue", "extract", files[0], files[1], "--json", "--no-raw"]);
    let mut extracted = parse_document(&ran);
    assert_eq!(value_at(&extracted, "batch.recommendations.0.local_id"), "DONUT-R0101");
    assert_eq!(
        value_at(&extracted, "batch.recommendations.0.references"),
        &json!([
            { "type": "refine", "target": "R0001" },
            { "type": "support", "target": "MUFFIN-P0101" },
            { "type": "support", "target": "CUPCAKE-P0101" },
        ])
    );
    assert_eq!(
        value_at(&extracted, "verdicts"),
        &json!([{ "verdict_type": "dissent", "round": 1, "author_expert": "donut", "description": "The vote was rushed." }])
    );
    let kinds: Vec<&Value> = value_at(&extracted, "warnings")
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| &warning["type"])
        .collect();
    assert_eq!(kinds, ["near_miss", "untyped_reference", "elsewhere"]);
    assert!(value_at(&extracted, "batch").get("raw_content").is_none());

    // Cupcake's reply is missing, and the last warning named the consequence.
    program.write_json("round-1.json", &extracted);
    let register =
        ["dialogue", "register", ID, "--data", "round-1.json", "--score", "17", "--json"];
    let refused = parse_document(&program.run_command(&register));
    assert_eq!(value_at(&refused, "errors.0.error_code"), "target_not_found");
    extracted["batch"]["recommendations"][0]["references"].as_array_mut().unwrap().pop();
    program.write_json("round-1.json", &extracted);
    assert_eq!(program.run_command(&register).code, 0);
}

#[test]
fn it_is_readable() {
    let program = program_at_round_1();
    let files = ["round-1/response-donut.md", "round-1/response-muffin.md"];
    let ran = program.run_command(&["dialogue", "extract", files[0], files[1]]);
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.stdout, @r"
    donut, round 1: 1 recommendation, 3 references, 1 move, 1 verdict

    LINE  MARKER          OF           SAYS
    3     recommendation  DONUT-R0101  Amended collar
    5     refine          DONUT-R0101  R0001
    6     support         DONUT-R0101  MUFFIN-P0101
    8     defend          move         R0001
    9     support         DONUT-R0101  CUPCAKE-P0101
    10    dissent         verdict

    muffin, round 1: 1 perspective, 1 tension, 1 evidence, 1 claim, 6 references, 1 move

    LINE  MARKER       OF            SAYS
    2     perspective  MUFFIN-P0101  Options viability confirmed
    6     refine       MUFFIN-P0101  P0001
    9     support      MUFFIN-P0101  R0001
    12    address      MUFFIN-P0101  T0001
    16    evidence     MUFFIN-E0101  Historical options premium data
    20    support      MUFFIN-E0101  MUFFIN-P0101
    22    tension      MUFFIN-T0101  Execution timing constraint
    25    bridge       move          P0003 R0001
    29    claim        MUFFIN-C0101  Income mandate resolved
    33    depend       MUFFIN-C0101  MUFFIN-P0101
    34    depend       MUFFIN-C0101  MUFFIN-E0101
    ");
    insta::assert_snapshot!(ran.stderr, @r"
    warning: round-1/response-donut.md:3: `[Donut-R101 — Amended collar]` is read as [DONUT-R0101: Amended collar]: wrong letter case, zeros are missing in an id, a dash instead of a colon, bold or italic
    warning: round-1/response-donut.md:6: `[RE: MUFFIN-P0101]` has no type and is read as support
    warning: round-1/response-donut.md:9: CUPCAKE-P0101 must be in the same batch; add the reply of cupcake
    ");
}

#[test]
fn the_summary_is_what_an_agent_returns() {
    let program = program_at_round_1();
    let ran =
        program.run_command(&["dialogue", "extract", "round-1/response-muffin.md", "--summary"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    // The specification's batch, with the references of its example reply.
    assert_eq!(
        parse_document(&ran),
        json!({
            "expert_slug": "muffin",
            "round": 1,
            "response_path": "round-1/response-muffin.md",
            "summary": {
                "perspectives": ["MUFFIN-P0101"],
                "recommendations": [],
                "tensions_raised": ["MUFFIN-T0101"],
                "evidence": ["MUFFIN-E0101"],
                "claims": ["MUFFIN-C0101"],
                "references": [
                    { "type": "refine", "from": "MUFFIN-P0101", "target": "P0001" },
                    { "type": "support", "from": "MUFFIN-P0101", "target": "R0001" },
                    { "type": "address", "from": "MUFFIN-P0101", "target": "T0001" },
                    { "type": "support", "from": "MUFFIN-E0101", "target": "MUFFIN-P0101" },
                    { "type": "depend", "from": "MUFFIN-C0101", "target": "MUFFIN-P0101" },
                    { "type": "depend", "from": "MUFFIN-C0101", "target": "MUFFIN-E0101" },
                ],
                "moves": [{ "type": "bridge", "targets": ["P0003", "R0001"] }],
            },
        })
    );
}

#[test]
fn a_reply_may_come_from_standard_input() {
    let program = TestProgram::new();
    let mut child = program
        .command()
        .args(["dialogue", "extract", "-", "--round", "1", "--expert", "muffin", "--summary"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(MUFFIN.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value_at(&summary, "summary.claims.0"), "MUFFIN-C0101");
    assert_eq!(value_at(&summary, "response_path"), &Value::Null);
    // Parsing a reply needs no store and creates none.
    assert_eq!(std::fs::read_dir(program.path()).unwrap().count(), 0);
}

#[test]
fn who_marks_nothing_is_said_to_contribute_nothing() {
    let program = TestProgram::new();
    std::fs::write(program.path().join("response-muffin.md"), "I agree.").unwrap();
    let ran = program.run_command(&["dialogue", "extract", "response-muffin.md", "--round", "0"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "muffin, round 0: no markers\n"));
    assert_eq!(
        ran.stderr,
        "warning: response-muffin.md: the reply of muffin has no markers, so it contributes nothing\n"
    );
}

#[test]
fn what_it_cannot_tell_it_asks_for() {
    let program = program_at_round_1();
    std::fs::write(program.path().join("reply.md"), "x").unwrap();
    std::fs::write(program.path().join("response-latin.md"), b"\xe9").unwrap();
    std::fs::create_dir(program.path().join("response-folder.md")).unwrap();
    let check = |arguments: &[&str], code: i32, message: &str| {
        let ran = program.run_command(&[&["dialogue", "extract", "--json"], arguments].concat());
        let result = parse_document(&ran);
        let result = value_at(&result, "message").as_str().unwrap();
        assert!(ran.code == code && result.contains(message), "{arguments:?}: {ran:?}");
    };
    let muffin = "round-1/response-muffin.md";
    check(&[], 64, "required arguments");
    check(&["reply.md", "--expert", "ann"], 64, "pass `--round N`");
    check(&["reply.md", "--round", "1"], 64, "the expert of `reply.md` is unknown");
    check(&["reply.md", "--round", "100", "--expert", "ann"], 64, "100");
    check(
        &["reply.md", "--round", "1", "--expert", "Ann B"],
        1,
        "'Ann B' is not a valid expert slug",
    );
    check(&["reply.md", "--round", "1", "--expert", "judge"], 1, "'judge' is not");
    check(&[muffin, muffin], 64, "have the same expert muffin");
    check(
        &[muffin, "round-1/response-donut.md", "--expert", "muffin"],
        64,
        "needs exactly one file",
    );
    check(&["round-1/response-nobody.md"], 4, "cannot read");
    check(&["response-latin.md", "--round", "1"], 4, "not UTF-8");
    check(&["response-folder.md", "--round", "1"], 4, "is not a file");
}

/// A round 0 with two entities of each kind that a reply in round 1 can reference.
fn open_with_entities(bench: &TestProject, title: &str) -> String {
    let created = bench
        .run_ok("create", &json!({ "title": title, "expert_pool": make_pool(&["ann", "bob"]) }));
    let id = created["dialogue_id"].as_str().unwrap().to_owned();
    let item = |kind: &str, expert: &str| {
        let text = if kind == "T" { "description" } else { "content" };
        json!({ "local_id": format!("{expert}-{kind}0001"), "label": "x", text: "x" })
    };
    let items = |kind: &str| json!([item(kind, "ANN"), item(kind, "BOB")]);
    bench.run_ok(
        "register",
        &json!({
            "dialogue_id": id, "round": 0, "score": 1,
            "perspectives": items("P"), "recommendations": items("R"), "tensions": items("T"),
            "evidence": items("E"), "claims": items("C"),
        }),
    );
    id
}

fn extract_batch(
    id: &str,
    round: u8,
    mut replies: Vec<ReplyExtraction>,
    raw: &RawReplies,
) -> Value {
    check_across_replies(&mut replies);
    let mut batch = build_round_batch(round, &replies, raw);
    batch["dialogue_id"] = json!(id);
    batch["score"] = json!(1);
    batch
}

const PIECES: [&str; 40] = [
    "\n",
    "\n\n",
    " ",
    "text ",
    "[ANN-P0101: A]",
    "[ANN-P0102: B]",
    "[ANN-R0101: C]",
    "[ANN-T0101: D]",
    "[ANN-E0101: E]",
    "[ANN-C0101: F]",
    "[ann-p103 — G]",
    "[P0104: H]",
    "[BOB-P0101: I]",
    "[RE:SUPPORT P0001]",
    "[RE:REFINE R0002]",
    "[RE:ADDRESS T0001]",
    "[RE:RESOLVE T0002]",
    "[RE:REOPEN T0001]",
    "[RE:QUESTION @bob]",
    "[RE:OPPOSE @ann]",
    "[RE:DEPEND ANN-P0101]",
    "[RE:OPPOSE ANN-C0101]",
    "[RE:SUPPORT BOB-E0001]",
    "[RE: C1]",
    "[RE:RESOLVE P0001]",
    "[RE:SUPPORT E0002, C0001]",
    "[MOVE:BRIDGE P0001 R0001]",
    "[MOVE:BRIDGE P0001 P0001]",
    "[MOVE:DEFEND ANN-T0101]",
    "[MOVE:CHALLENGE C0002]",
    "[MOVE:REQUEST data]",
    "[MOVE:REQUEST]",
    "[MOVE:CONCEDE C0001]",
    "[MOVE:CONVERGE]",
    "[DISSENT]",
    "[MINORITY VERDICT: J]",
    "# heading\n",
    "- ",
    "`",
    "**",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(pick_repeats(40, 1_000)) })]

    #[test]
    fn register_accepts_every_batch_of_extract(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..30),
    ) {
        let bench = TestProject::new();
        let id = open_with_entities(&bench, "Talk");
        let reply = pieces.concat();
        let ann = "ann".parse().unwrap();
        let raw = RawReplies::from([("ann".parse().unwrap(), reply.clone())]);
        let read = extract_reply(&reply, &ann, 1);
        let count = read.contributions.len();
        let answer = bench.run_operation("register", &extract_batch(&id, 1, vec![read], &raw));
        let answer = answer.map_err(|error| TestCaseError::fail(format!("{reply}\n{:#}", error.to_document())))?;
        prop_assert_eq!(answer["id_mapping"].as_object().unwrap().len(), count);
    }
}

#[test]
fn strings_of_the_corpora_are_registered_as_they_were_written() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    let texts: Vec<String> =
        corpora::all_texts().into_iter().filter(|text| !text.trim().is_empty()).collect();
    // A hundred rounds, with samples from each part of the corpora.
    let step = texts.len().div_ceil(100);
    let ann = "ann".parse().unwrap();
    for (round, text) in (0..).zip(texts.iter().step_by(step)) {
        let reply = format!("[ANN-C{round:02}01: Said]\nHere: {text}");
        let raw = RawReplies::from([("ann".parse().unwrap(), reply.clone())]);
        let batch = extract_batch("talk", round, vec![extract_reply(&reply, &ann, round)], &raw);
        bench.run_ok("register", &batch);
        let content = batch["claims"][0]["content"].as_str().unwrap();
        assert!(content.starts_with("Here:") && reply.contains(content), "{text}");
    }
    bench.assert_verified();
}
