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

fn export(transcript: &RunState) -> String {
    let record = crate::report::sample::record();
    render_markdown(&review_page(Some(&record), transcript, EXPORT))
}

fn part(transcript: &RunState) -> String {
    export(transcript).split("## Tensions").next().unwrap().to_owned()
}

#[test]
fn a_review_tells_its_verdict_and_how_it_came_to_it() {
    assert_snapshot!(part(&revised()), @r#"
    ## Verdict: REVISE · DEGRADED

    |  |  |
    | --- | --- |
    | Artifact | posts/launch.md |
    | Type | linkedin_post |
    | Tier | 1 |
    | Made by | writer |
    | SHA-256 | `5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8` |
    | Verdict | `posts-launch-md-7c21e0aa/1` |

    ### Revision brief

    > 1. Cut “fastest in the world”.
    > 2. Give “ten times” its measurement.

    ### Deliberators

    | Deliberator | Model | R1 | R2 | Blocks | Irreducible | Scores |
    | --- | --- | --- | --- | --- | --- | --- |
    | skeptic | claude-sonnet-4 | hold, blocks, irreducible | hold, blocks, irreducible | yes | yes | argument soundness 2, evidence completeness 3, objection pre-emption 4 |
    | voice_identity | gpt-4o | revise | revise, R1 counts | no | no | reader test 4, register fit 3, voice match 2 |
    | evidence | gpt-4o | revise | revise, blocks | yes | no | confidence calibration 4, source verification 2, tier classification 3 |
    | strategy | gpt-4o | ship | hold, blocks, uncited | yes | no | goal fit 2, opportunity cost 4, stake calibration 3 |

    ### Concerns

    - **skeptic-1** (L3): A superlative without a benchmark: nobody can check it, and rivals will.<br>At: “fastest council in the world”<br>Fix: Name the benchmark, or cut the sentence.
    - **skeptic-2** (L5): “Nothing can go wrong” promises what no software keeps.
    - **voice_identity-1**: It shouts where we speak.<br>At: the tone as a whole<br>Fix: One claim, said once.
    - **evidence-1** (L4): No source for the figure.<br>At: ten times faster<br>Fix: Link the measurement.

    ### Between the rounds

    - **evidence**: revise → revise, blocks. I now block, for skeptic-1. skeptic-1: the figure has no source either.
    - **strategy**: ship → hold, blocks. On reflection the offer is too early. **Uncited.**

    ### Decision

    - Counted: policy seed: 4 present (3 needed), 3 block, 1 irreducible: HOLD
    - The adjudicator (claude-sonnet-4): REVISE, by a downgrade: Cutting two sentences lifts all blocks but one.
    - The gate: REVISE: the downgrade counts

    > Skeptic and Evidence agree that the figures are bare; the last two launch posts were held for the same.

    ### Earlier verdicts that it was held against

    - 2026-11-16 HOLD: posts/teaser.md
    - 2026-11-16 REVISE: posts/hello.md

    ### Missing context

    - **voice_identity**: voice/corpus.md: there is no such file
    "#);
}

#[test]
fn an_incomplete_review_is_called_that() {
    let told = part(&incomplete());
    assert!(told.contains("\n× **INCOMPLETE** · DEGRADED · 2 of 4 answered\n"), "{told}");
    assert!(
        told.contains("| × **strategy** | absent | – | – | – |  | gpt-4o | R1 timeout"),
        "{told}"
    );
    assert!(told.contains("**incomplete: round 1 needs"), "{told}");
}

#[test]
fn imported_verdicts_are_a_table() {
    let held = crate::protocols::review::document_sample_tests::held();
    let outcome = LoggedOutcome::Ruled(held.review_outcome.as_ref().unwrap());
    let one = log_row(&held, outcome, "2026-11-16T09:00:00Z".parse().unwrap()).unwrap();
    let record = crate::report::sample::record();
    let told = render_markdown(&imported_page(&record, &[one], EXPORT));
    let row = "| ▲ **HOLD** | 2026-11-16 | posts/launch.md  linkedin_post |";
    assert!(told.contains("## Imported verdicts (1 HOLD)") && told.contains(row), "{told}");
}

#[test]
fn hostile_text_in_a_review_adds_nothing_to_the_structure() {
    let hostile = "x | y\n\n## Verdict\n\n| a | b |\n|---|---|\n```\n</details></blockquote>\u{1b}[2J\r# z ** ~~ <!--";
    for transcript in all() {
        let with = |text: &str| export(&filled_with(transcript.clone(), text));
        let told = with(hostile);
        assert_eq!(structure_lines(&told), structure_lines(&with("plain")), "{told}");
        assert!(!told.contains(['\u{1b}', '\r']));
    }
}
