//! Tests of the extraction: the seed's example, entity texts, and binding of references.

use crate::markers::batch::{RawReplies, build_round_batch, check_across_replies, summarize_reply};
use crate::markers::extract::extract_reply;
use crate::markers::extraction::{MarkerContent, ReplyExtraction};

const EXAMPLE: &str = include_str!("../../../../tests/fixtures/responses/response-muffin.md");

fn read(text: &str) -> ReplyExtraction {
    extract_reply(text, &"muffin".parse().unwrap(), 1)
}

/// Lists the parsed markers with their lines, then the warnings.
pub(crate) fn render_reply(text: &str) -> String {
    render_extraction(&read(text))
}

pub(crate) fn render_extraction(read: &ReplyExtraction) -> String {
    let mut lines: Vec<String> = Vec::new();
    for marker in &read.markers {
        let from = match &marker.content {
            MarkerContent::Reference { source, .. } => format!(" from {source}"),
            MarkerContent::Entity { .. }
            | MarkerContent::Move { .. }
            | MarkerContent::Verdict { .. } => String::new(),
        };
        lines.push(format!("{}: {}{from}", marker.line, marker.content));
    }
    for warning in &read.warnings {
        let line = warning.line.map_or_else(String::new, |line| line.to_string());
        lines.push(format!("! {line} {}: {}", warning.kind, warning.message));
    }
    lines.join("\n")
}

/// The text of each entity.
fn entity_texts(text: &str) -> Vec<String> {
    read(text).contributions.into_iter().map(|item| item.text).collect()
}

#[test]
fn the_seeds_example_gives_its_relationships() {
    insta::assert_snapshot!(render_reply(EXAMPLE), @r"
    2: [MUFFIN-P0101: Options viability confirmed]
    6: [RE:REFINE P0001] from MUFFIN-P0101
    9: [RE:SUPPORT R0001] from MUFFIN-P0101
    12: [RE:ADDRESS T0001] from MUFFIN-P0101
    16: [MUFFIN-E0101: Historical options premium data]
    20: [RE:SUPPORT MUFFIN-P0101] from MUFFIN-E0101
    22: [MUFFIN-T0101: Execution timing constraint]
    25: [MOVE:BRIDGE P0003 R0001]
    29: [MUFFIN-C0101: Income mandate resolved]
    33: [RE:DEPEND MUFFIN-P0101] from MUFFIN-C0101
    34: [RE:DEPEND MUFFIN-E0101] from MUFFIN-C0101
    ");
}

#[test]
fn the_seeds_example_says_what_it_says() {
    insta::assert_snapshot!(entity_texts(EXAMPLE).join("\n=====\n"), @r"
    The 30-delta covered call strategy can generate 18-34% annualized income,
    effectively bridging the income mandate gap. This addresses my original
    concern from P0001.
    My round 0 perspective on income mandate mismatch evolves: the gap is
    bridgeable with derivatives, not insurmountable as I initially framed.
    Donut's collar structure is sound. The 45 DTE recommendation optimizes
    theta decay while maintaining flexibility.
    With the options overlay generating 18-34% annualized, the 4% income
    mandate can be satisfied. I believe T0001 is addressable pending
    execution details.
    =====
    - NVDA 30-day ATM IV averaged 45% over past 24 months
    - 30-delta calls yielded 2.1-2.8% monthly premium
    - Premium remained viable even during Q4 2022 drawdown
    This data supports my options viability perspective.
    =====
    Post-refinancing window creates 60-90 day delay. Optimal entry may
    conflict with covenant restrictions.
    Cupcake's concentration concern and Donut's collar proposal can be
    reconciled: phased entry over 6 months limits concentration while
    allowing options strategy to scale.
    =====
    The income mandate objection is resolved via options overlay. Remaining
    concerns are execution timing and concentration—both manageable with
    phased approach.
    ");
}

#[test]
fn a_batch_is_what_register_takes() {
    let replies = [read(
        "[MUFFIN-P0101: A]\na\n[RE:REFINE P0001]\n[MUFFIN-T0101: B]\nb\n[MOVE:REQUEST data]\n[MOVE:CONVERGE]",
    )];
    let raw = RawReplies::from([("muffin".parse().unwrap(), "raw".to_owned())]);
    let batch = serde_json::to_string_pretty(&build_round_batch(1, &replies, &raw)).unwrap();
    insta::assert_snapshot!(batch, @r#"
    {
      "round": 1,
      "raw_content": {
        "muffin": "raw"
      },
      "perspectives": [
        {
          "local_id": "MUFFIN-P0101",
          "label": "A",
          "content": "a",
          "contributors": [
            "muffin"
          ],
          "references": [
            {
              "type": "refine",
              "target": "P0001"
            }
          ]
        }
      ],
      "recommendations": [],
      "tensions": [
        {
          "local_id": "MUFFIN-T0101",
          "label": "B",
          "description": "b",
          "contributors": [
            "muffin"
          ],
          "references": []
        }
      ],
      "evidence": [],
      "claims": [],
      "moves": [
        {
          "expert": "muffin",
          "type": "request",
          "context": "data"
        },
        {
          "expert": "muffin",
          "type": "converge"
        }
      ]
    }
    "#);
}

#[test]
fn the_summary_is_the_agents_return_value() {
    let read = read(EXAMPLE);
    let summary = summarize_reply(&read, Some("round-1/response-muffin.md"));
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary).unwrap(), @r#"
    {
      "expert_slug": "muffin",
      "round": 1,
      "response_path": "round-1/response-muffin.md",
      "summary": {
        "perspectives": [
          "MUFFIN-P0101"
        ],
        "recommendations": [],
        "tensions_raised": [
          "MUFFIN-T0101"
        ],
        "evidence": [
          "MUFFIN-E0101"
        ],
        "claims": [
          "MUFFIN-C0101"
        ],
        "references": [
          {
            "type": "refine",
            "from": "MUFFIN-P0101",
            "target": "P0001"
          },
          {
            "type": "support",
            "from": "MUFFIN-P0101",
            "target": "R0001"
          },
          {
            "type": "address",
            "from": "MUFFIN-P0101",
            "target": "T0001"
          },
          {
            "type": "support",
            "from": "MUFFIN-E0101",
            "target": "MUFFIN-P0101"
          },
          {
            "type": "depend",
            "from": "MUFFIN-C0101",
            "target": "MUFFIN-P0101"
          },
          {
            "type": "depend",
            "from": "MUFFIN-C0101",
            "target": "MUFFIN-E0101"
          }
        ],
        "moves": [
          {
            "type": "bridge",
            "targets": [
              "P0003",
              "R0001"
            ]
          }
        ]
      }
    }
    "#);
}

#[test]
fn an_entity_says_everything_up_to_the_next_one() {
    let check = |text: &str, expected: &[&str]| assert_eq!(entity_texts(text), expected, "{text}");
    check("[MUFFIN-P0101: A] one\ntwo\n\n## three\n\nfour", &["one\ntwo\n\n## three\n\nfour"]);
    check("[MUFFIN-P0101: A] a [MUFFIN-P0102: B] b", &["a", "b"]);
    // Parsed markers are removed from the text; the words around them stay.
    check("[MUFFIN-P0101: A]: a\n[RE:SUPPORT P0001] why\nb", &["a\nwhy\nb"]);
    check(
        "[MUFFIN-P0101: A]\na\n- [RE:SUPPORT P0001] why\n- **[RE:OPPOSE P0002]**\nb",
        &["a\n- why\nb"],
    );
    check("[MUFFIN-P0101: A]\nIt fits [RE:SUPPORT P0001], mostly.", &["It fits, mostly."]);
    check("[MUFFIN-P0101: A]\na\n[RE:EXTEND P0001]\nb", &["a\n[RE:EXTEND P0001]\nb"]);
    check("[MUFFIN-P0101: A]\na [RE:SUPPORT MUFFIN-P0109] b", &["a [RE:SUPPORT MUFFIN-P0109] b"]);
    // Markers at either end are removed, and so is the heading of the next section.
    check(
        "[MUFFIN-P0101: A] [RE:SUPPORT P0001]\n[RE:OPPOSE P0002]\na\n[RE:DEPEND P0003]\n\n---\n## Next\n\n[MUFFIN-P0102: B] b",
        &["a", "b"],
    );
    check("[MUFFIN-P0101: A]\n\n## Next\n[MUFFIN-P0102: B]\nb\r\n", &["A", "b"]);
    check("[MUFFIN-P0101: A]\n#1 is cost.\n\n---", &["#1 is cost."]);
    // A dissent ends the text of the entity above; a mention is part of it.
    check("[MUFFIN-P0101: A]\n[P0001] was wrong.\n[DISSENT]\nNo.", &["[P0001] was wrong."]);
    // An unreadable entity also ends the text of the entity above.
    check("[MUFFIN-P0101: A]\na\n[DONUT-P0101: B]\nb", &["a"]);
    check("[MUFFIN-P0101: A]\na as [MUFFIN-P0001: old] said", &["a as [MUFFIN-P0001: old] said"]);
    check("[MUFFIN-P0101: A]\na\n[TENSION: no id]\nb", &["a"]);
    check("[MUFFIN-P0101: A]\na\n[MUFFIN-P0102: not closed\nb", &["a"]);
}

#[test]
fn references_belong_to_the_last_entity_above() {
    insta::assert_snapshot!(render_reply("
[RE:SUPPORT P0001]
[MUFFIN-P0101: A] a [RE:SUPPORT P0001] [RE:OPPOSE @donut] [MUFFIN-E0101: B] b [RE:SUPPORT MUFFIN-P0101]
[DONUT-P0101: C]
[RE:SUPPORT P0002]
[MUFFIN-P0101: A]
[RE:SUPPORT P0003]
[DISSENT]
[RE:OPPOSE R0001]
[MUFFIN-T0001: D] and [RE:QUESTION P0004]
"), @r"
    3: [MUFFIN-P0101: A]
    3: [RE:SUPPORT P0001] from MUFFIN-P0101
    3: [RE:OPPOSE @donut] from MUFFIN-P0101
    3: [MUFFIN-E0101: B]
    3: [RE:SUPPORT MUFFIN-P0101] from MUFFIN-E0101
    7: [RE:SUPPORT P0003] from MUFFIN-P0101
    8: [DISSENT]
    9: [RE:OPPOSE R0001] from MUFFIN-P0101
    ! 2 not_read: `[RE:SUPPORT P0001]` is not read: no entity precedes this marker
    ! 4 not_read: `[DONUT-P0101: C]` is not read: it is an id of donut, and this is the reply of muffin
    ! 5 not_read: `[RE:SUPPORT P0002]` is not read: the marker above it is not an entity of this reply
    ! 6 not_read: `[MUFFIN-P0101: A]` is not read: MUFFIN-P0101 is already defined on line 3
    ! 10 not_read: `[MUFFIN-T0001: D]` is not read: it is an id of round 0, and this is round 1
    ! 10 not_read: `[RE:QUESTION P0004]` is not read: the marker above it is not an entity of this reply
    ");
}

#[test]
fn what_register_would_refuse_is_left_out_and_said() {
    insta::assert_snapshot!(render_reply("
[MUFFIN-P0101: A]
a
[RE:RESOLVE P0001]
[RE:REFINE R0001]
[RE:SUPPORT MUFFIN-P0101]
[RE:SUPPORT MUFFIN-P0109]
[RE:SUPPORT P0102]
[RE:SUPPORT P0501]
[RE:SUPPORT donut]
[RE:EXTEND P0001]
[RE:]
[MOVE:BRIDGE P0001]
[MOVE:BRIDGE P0001 P0001]
[MOVE:DEFEND MUFFIN-P0109]
[MOVE:DANCE P0001]
[MOVE:REQUEST]

[RE: P0001 which is wrong]
[SUPPORT P0001]
[CONVERGE]
[VERDICT]
[MUFFIN-P00101: B]
[MUFFIN-P0102]
"), @r"
    2: [MUFFIN-P0101: A]
    ! 4 not_read: `[RE:RESOLVE P0001]` is not read: P0001: only a tension can be the target of resolve
    ! 5 not_read: `[RE:REFINE R0001]` is not read: R0001: MUFFIN-P0101 can refine only another perspective
    ! 6 not_read: `[RE:SUPPORT MUFFIN-P0101]` is not read: MUFFIN-P0101: an entity cannot refer to itself
    ! 7 not_read: `[RE:SUPPORT MUFFIN-P0109]` is not read: MUFFIN-P0109: the reply does not define it
    ! 8 not_read: `[RE:SUPPORT P0102]` is not read: P0102: the reply does not define it
    ! 9 not_read: `[RE:SUPPORT P0501]` is not read: P0501: round 5 has not begun
    ! 10 not_read: `[RE:SUPPORT donut]` is not read: it names no id
    ! 11 not_read: `[RE:EXTEND P0001]` is not read: EXTEND is none of SUPPORT, OPPOSE, REFINE, ADDRESS, RESOLVE, REOPEN, QUESTION, DEPEND
    ! 12 not_read: `[RE:]` is not read: its type is missing: one of SUPPORT, OPPOSE, REFINE, ADDRESS, RESOLVE, REOPEN, QUESTION, DEPEND
    ! 13 not_read: `[MOVE:BRIDGE P0001]` is not read: it needs 2 ids
    ! 14 not_read: `[MOVE:BRIDGE P0001 P0001]` is not read: it needs 2 different ids
    ! 15 not_read: `[MOVE:DEFEND MUFFIN-P0109]` is not read: MUFFIN-P0109: the reply does not define it
    ! 16 not_read: `[MOVE:DANCE P0001]` is not read: DANCE is none of DEFEND, CHALLENGE, BRIDGE, REQUEST, CONCEDE, CONVERGE
    ! 17 not_read: `[MOVE:REQUEST]` is not read: it does not name the subject of the request
    ! 19 not_read: `[RE: P0001 which is wrong]` is not read: its type is missing, and words follow the id
    ! 20 not_read: `[SUPPORT P0001]` is not read: a marker begins with `RE:` or `MOVE:` and one of their types
    ! 21 not_read: `[CONVERGE]` is not read: a marker begins with `RE:` or `MOVE:` and one of their types
    ! 22 not_read: `[VERDICT]` is not read: its type is missing: one of INTERIM, FINAL
    ! 23 not_read: `[MUFFIN-P00101: B]` is not read: an entity is written [MUFFIN-P0101: label]: P, R, T, E or C, two digits of the round, two of the number
    ! 24 not_read: `[MUFFIN-P0102]` is not read: it has no label, and the reply does not define MUFFIN-P0102
    ");
}

#[test]
fn moves_take_their_context_from_what_follows() {
    let read = read(
        "
[MOVE:BRIDGE P0003 R0001]
Phased entry reconciles
them.

Not this.
[MOVE:DEFEND R0001: it is liquid] [MOVE:CHALLENGE @donut]
[MOVE:REQUEST Volatility data, by month]
[MOVE:CONCEDE P0001] - it was wrong
[MOVE:CONVERGE]
[MOVE:CONVERGE]
",
    );
    let moves: Vec<String> = read
        .moves
        .iter()
        .map(|made| {
            let targets: Vec<String> = made.targets.iter().map(ToString::to_string).collect();
            format!("{} {targets:?} {:?}", made.move_type, made.context)
        })
        .collect();
    insta::assert_snapshot!(moves.join("\n"), @r#"
    bridge ["P0003", "R0001"] Some("Phased entry reconciles\nthem.")
    defend ["R0001"] Some("it is liquid")
    challenge ["@donut"] None
    request [] Some("Volatility data, by month")
    concede ["P0001"] Some("it was wrong")
    converge [] None
    "#);
}

#[test]
fn verdicts_are_drafts_for_the_judge() {
    let read = read(
        "
[DISSENT]
The risk is not priced.

[MINORITY VERDICT: Trim by half]
Because of the mandate.
[VERDICT:INTERIM]
Go on.
[VERDICT:FINAL]
",
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(&read.verdicts).unwrap(), @r#"
    [
      {
        "verdict_type": "dissent",
        "round": 1,
        "author_expert": "muffin",
        "description": "The risk is not priced."
      },
      {
        "verdict_type": "minority",
        "round": 1,
        "author_expert": "muffin",
        "recommendation": "Trim by half",
        "description": "Because of the mandate.",
        "supporting_experts": [
          "muffin"
        ]
      },
      {
        "verdict_type": "interim",
        "round": 1,
        "author_expert": "muffin",
        "description": "Go on."
      },
      {
        "verdict_type": "final",
        "round": 1,
        "author_expert": "muffin"
      }
    ]
    "#);
    insta::assert_snapshot!(render_extraction(&read), @r"
    2: [DISSENT]
    5: [MINORITY VERDICT: Trim by half]
    7: [VERDICT:INTERIM]
    9: [VERDICT:FINAL]
    ! 7 judges_marker: only the Judge gives interim verdicts; muffin wrote this one
    ! 9 judges_marker: only the Judge gives final verdicts; muffin wrote this one
    ");
}

#[test]
fn code_is_not_read() {
    insta::assert_snapshot!(render_reply("
`[MUFFIN-P0101: A]` and ``[MUFFIN-P0102: B]``

```
[MUFFIN-P0103: C]
```

    [MUFFIN-P0104: D]
~~~~md
[MUFFIN-P0105: E]
~~~
[MUFFIN-P0106: F]
"), @r"
    !  no_markers: the reply of muffin has no markers, so it contributes nothing; markers in code are not read
    ! 2 not_read: `[MUFFIN-P0101: A]` is not read: it is inline code within a sentence
    ! 2 not_read: `[MUFFIN-P0102: B]` is not read: it is inline code within a sentence
    ! 9 open_code_block: the code block that begins here is not closed; nothing after it is read
    ");
}

#[test]
fn who_marks_nothing_contributes_nothing() {
    for text in ["", "\n\n", "I agree with everybody.", "[link](http://example.org) [1] [x]"] {
        let read = read(text);
        assert!(read.contributions.is_empty() && read.moves.is_empty() && read.verdicts.is_empty());
        assert_eq!(
            render_extraction(&read),
            "!  no_markers: the reply of muffin has no markers, so it contributes nothing"
        );
    }
}

#[test]
fn replies_are_checked_against_each_other() {
    let read = |slug: &str, text: &str| extract_reply(text, &slug.parse().unwrap(), 1);
    let mut replies = [
        read(
            "muffin",
            "[MUFFIN-P0101: A] a [RE:SUPPORT DONUT-P0101] [RE:SUPPORT DONUT-P0102] [MOVE:DEFEND DONUT-P0102]",
        ),
        read("donut", "[DONUT-P0101: B] b [RE:OPPOSE SCONE-P0101] [RE:OPPOSE SCONE-P0001]"),
    ];
    check_across_replies(&mut replies);
    let shown: Vec<String> = replies.iter().map(render_extraction).collect();
    insta::assert_snapshot!(shown.join("\n\n"), @r"
    1: [MUFFIN-P0101: A]
    1: [RE:SUPPORT DONUT-P0101] from MUFFIN-P0101
    1: [RE:SUPPORT DONUT-P0102] from MUFFIN-P0101
    1: [MOVE:DEFEND DONUT-P0102]
    ! 1 not_read: donut did not write DONUT-P0102
    ! 1 not_read: donut did not write DONUT-P0102

    1: [DONUT-P0101: B]
    1: [RE:OPPOSE SCONE-P0101] from DONUT-P0101
    1: [RE:OPPOSE SCONE-P0001] from DONUT-P0101
    ! 1 elsewhere: SCONE-P0101 must be in the same batch; add the reply of scone
    ");
    let batch = build_round_batch(1, &replies, &RawReplies::new());
    assert_eq!(batch["perspectives"][0]["references"].as_array().unwrap().len(), 1);
    assert_eq!(batch["moves"].as_array().unwrap().len(), 0);
}
