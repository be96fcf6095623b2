//! Reviews in Markdown, and a check that hostile text cannot change the structure.

use insta::assert_snapshot;

use crate::model::run_state::RunState;
use crate::protocols::review::document_sample_tests::{all, filled_with, incomplete, revised};
use crate::protocols::review::log_row::{LoggedOutcome, log_row};
use crate::protocols::review::page::{imported_page, review_page};
use crate::report::markdown::render_markdown;
use crate::report::markdown_tests::structure_lines;
use crate::report::page::{PageDetail, PageScope};

const EXPORT: PageScope = PageScope { detail: PageDetail::Export, round: None };

fn export(state: &RunState) -> String {
    let record = crate::report::sample::record();
    render_markdown(&review_page(Some(&record), state, EXPORT))
}

fn part(state: &RunState) -> String {
    export(state).split("## Tensions").next().unwrap().to_owned()
}

#[test]
fn a_review_tells_its_verdict_and_how_it_came_to_it() {
    assert_snapshot!(part(&revised()), @r#"
    # posts/launch.md

    ◐ **REVISE** · DEGRADED · 4 of 4 answered

    |  |  |
    | :--- | :--- |
    | Dialogue | `nvidia-investment-analysis` |
    | Status | closed by a forced verdict |
    | Protocol | alignment |
    | Rounds | 3 |
    | ALIGNMENT | 149 |
    | Convergence asked | 100% |
    | Opened | 2026-02-02T09:30:00.000000Z |
    | Closed | 2026-02-02T11:04:00.000000Z |
    | Type | linkedin_post |
    | Tier | 1 |
    | Made by | writer |
    | SHA-256 | `5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8` |
    | Verdict | `posts-launch-md-7c21e0aa/1` |

    ## Revision brief (by adjudicator (claude-sonnet-4))

    > 1. Cut “fastest in the world”.  
    > 2. Give “ten times” its measurement.

    ## Deliberators (3 blocks, 1 irreducible)

    | Deliberator | R1 | R2 | blocks | irreducible |  | model | absences | scores |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | ▲ **skeptic** | hold ■ | hold ■ | yes | yes |  | claude-sonnet-4 |  | argument soundness 2 · evidence completeness 3 · objection pre-emption 4 |
    | ◐ **voice_identity** | revise | absent | no | no | R1 counts | gpt-4o | R2 timeout: no answer within 60 s | reader test 4 · register fit 3 · voice match 2 |
    | ◐ **evidence** | revise | revise ■ | yes | no |  | gpt-4o |  | confidence calibration 4 · source verification 2 · tier classification 3 |
    | ▲ **strategy** | ship | hold ■ | yes | no | uncited | gpt-4o |  | goal fit 2 · opportunity cost 4 · stake calibration 3 |

    ## Concerns (4)

    ### skeptic (hold, blocks, irreducible)

    - **skeptic-1** L3 A superlative without a benchmark: nobody can check it, and rivals will.<br>at “fastest council in the world”<br>→ Name the benchmark, or cut the sentence.
    - **skeptic-2** L5 “Nothing can go wrong” promises what no software keeps.

    Its brief

    > Cut both superlatives.

    ### voice_identity (revise)

    - **voice_identity-1** It shouts where we speak.<br>at the tone as a whole (quote not found)<br>→ One claim, said once.

    Its brief

    > Say it once, and plainly.

    ### evidence (revise, blocks)

    - **evidence-1** L4 No source for the figure.<br>at ten times faster<br>→ Link the measurement.

    Its brief

    > Give the figure a source.

    ### strategy (hold, blocks)

    This deliberator names no concern.

    ## Between the rounds (2 changed)

    ### voice_identity

    It did not answer again; its first judgement counts.

    ### evidence (revise → revise, blocks)

    - I now block, for skeptic-1.
    - insists skeptic-1: the figure has no source either.
    - **skeptic-1**: A superlative without a benchmark: nobody can check it, and rivals will.

    ### strategy (ship → hold, blocks)

    - On reflection the offer is too early.
    - UNCITED: cites no concern of another deliberator

    ## Decision (REVISE)

    - **count**: policy seed: 4 present (3 needed), 3 blocks, 1 irreducible: HOLD
    - **adjudicator**: REVISE, downgraded: Cutting two sentences lifts all blocks but one.
    - **decision**: **REVISE: the downgrade counts**

    > Skeptic and Evidence agree that the figures are bare; the last two launch posts were held for the same.

    ## Prior verdicts (shown to the adjudicator)

    | Verdict | day | artifact |
    | --- | --- | --- |
    | ▲ **HOLD** | 2026-11-16 | posts/teaser.md (by writer) |
    | ◐ **REVISE** | 2026-11-16 | posts/hello.md (by writer) |

    ## Missing context (the deliberators know)

    - **voice_identity** voice/corpus.md: there is no such file
    "#);
}

#[test]
fn an_incomplete_review_is_called_that() {
    let result = part(&incomplete());
    assert!(result.contains("\n× **INCOMPLETE** · DEGRADED · 2 of 4 answered\n"), "{result}");
    assert!(
        result.contains("| × **strategy** | absent | – | – | – |  | gpt-4o | R1 timeout"),
        "{result}"
    );
    assert!(result.contains("**incomplete: round 1 needs"), "{result}");
}

#[test]
fn imported_verdicts_are_a_table() {
    let held = crate::protocols::review::document_sample_tests::held();
    let outcome = LoggedOutcome::Ruled(held.review_outcome.as_ref().unwrap());
    let one = log_row(&held, outcome, "2026-11-16T09:00:00Z".parse().unwrap()).unwrap();
    let record = crate::report::sample::record();
    let result = render_markdown(&imported_page(&record, &[one], EXPORT));
    let row = "| ▲ **HOLD** | 2026-11-16 | posts/launch.md  linkedin_post |";
    assert!(result.contains("## Imported verdicts (1 HOLD)") && result.contains(row), "{result}");
}

#[test]
fn hostile_text_in_a_review_adds_nothing_to_the_structure() {
    let hostile = "x | y\n\n## Verdict\n\n| a | b |\n|---|---|\n```\n</details></blockquote>\u{1b}[2J\r# z ** ~~ <!--";
    for state in all() {
        let with = |text: &str| export(&filled_with(state.clone(), text));
        let result = with(hostile);
        assert_eq!(structure_lines(&result), structure_lines(&with("plain")), "{result}");
        assert!(!result.contains(['\u{1b}', '\r']));
    }
}
