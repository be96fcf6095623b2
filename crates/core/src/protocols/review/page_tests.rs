//! Snapshots of the review page at common terminal widths.

use insta::assert_snapshot;

use crate::model::run_state::RunState;
use crate::protocols::review::document::{review_document, skipped_document};
use crate::protocols::review::document_sample_tests::{
    incomplete, revised, shipped, shipped_with_blocks, unadjudicated,
};
use crate::protocols::review::page::{draw_review_line, review_page};
use crate::protocols::review::types::ReviewTier;
use crate::report::page::{PageDetail, PageScope, TextTone};
use crate::report::terminal::layout::PageCanvas;

fn strip_colours(page: &str) -> String {
    anstream::adapter::strip_str(page).to_string()
}

fn draw_page(state: &RunState, width: usize) -> String {
    let page = review_page(None, state, PageScope::new(PageDetail::Result));
    strip_colours(&crate::report::terminal::page::draw_page(&page, PageCanvas { width }))
}

/// The text from one heading up to another.
fn page_part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let start = page.find(from).unwrap_or_else(|| panic!("no {from} in:\n{page}"));
    let rest = &page[start..];
    rest[..rest.find(to).unwrap_or(rest.len())].trim_end()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one picture of a whole page")]
fn a_review_says_what_to_change_who_held_what_and_how_it_was_decided() {
    assert_snapshot!(draw_page(&revised(), 80), @r#"
    REVIEW ─────────────────────────────────── ◐ REVISE · DEGRADED · 4 of 4 answered

      posts/launch.md
      linkedin_post · tier 1 · made by writer · sha256 5e884898da28…

    REVISION BRIEF ──────────────────────────────── by adjudicator (claude-sonnet-4)

      ┃ 1. Cut “fastest in the world”.
      ┃ 2. Give “ten times” its measurement.

    DELIBERATORS ─────────────────────────────────────────── 3 blocks, 1 irreducible

      ▲ skeptic
        R1 hold ■ · R2 hold ■ · blocks yes · irreducible yes · model claude-sonnet-4
        argument soundness 2 · evidence completeness 3 · objection pre-emption 4
      ◐ voice_identity
        R1 revise · R2 absent · blocks no · irreducible no · R1 counts
        model gpt-4o
        R2 timeout: no answer within 60 s
        reader test 4 · register fit 3 · voice match 2
      ◐ evidence
        R1 revise · R2 revise ■ · blocks yes · irreducible no · model gpt-4o
        confidence calibration 4 · source verification 2 · tier classification 3
      ▲ strategy
        R1 ship · R2 hold ■ · blocks yes · irreducible no · uncited · model gpt-4o
        goal fit 2 · opportunity cost 4 · stake calibration 3

    CONCERNS ───────────────────────────────────────────────────────────────────── 4

      skeptic  hold, blocks, irreducible
        skeptic-1 L3  A superlative without a benchmark: nobody can check it, and
                      rivals will.
                      at “fastest council in the world”
                      → Name the benchmark, or cut the sentence.
        skeptic-2 L5  “Nothing can go wrong” promises what no software keeps.

      voice_identity  revise
        voice_identity-1  It shouts where we speak.
                          at the tone as a whole (quote not found)
                          → One claim, said once.

      evidence  revise, blocks
        evidence-1 L4  No source for the figure.
                       at ten times faster
                       → Link the measurement.

      strategy  hold, blocks
        This deliberator names no concern.

    BETWEEN THE ROUNDS ─────────────────────────────────────────────────── 2 changed

      voice_identity
        It did not answer again; its first judgement counts.

      evidence  revise → revise, blocks
        ·        I now block, for skeptic-1.
        insists  skeptic-1: the figure has no source either.
        ·        skeptic-1: A superlative without a benchmark: nobody can check it,
                 and rivals will.

      strategy  ship → hold, blocks
        ·         On reflection the offer is too early.
        UNCITED:  cites no concern of another deliberator

    DECISION ──────────────────────────────────────────────────────────────── REVISE

      count        policy seed: 4 present (3 needed), 3 blocks, 1 irreducible: HOLD
      adjudicator  REVISE, downgraded: Cutting two sentences lifts all blocks but
                   one.
      decision     REVISE: the downgrade counts

      Skeptic and Evidence agree that the figures are bare; the last two launch
      posts were held for the same.

    PRIOR VERDICTS ──────────────────────────────────────── shown to the adjudicator

      Verdict   day         artifact
      ▲ HOLD    2026-11-16  posts/teaser.md (by writer)
      ◐ REVISE  2026-11-16  posts/hello.md (by writer)

    MISSING CONTEXT ────────────────────────────────────────── the deliberators know

      voice_identity  voice/corpus.md: there is no such file

    NEXT ───────────────────────────────────────────────────────────────────────────

      Change the document as the brief says, then review it again.

      A person may override the verdict and must say why:
      plenary override posts-launch-md-7c21e0aa/1 --as SHIP --why "…"

    RECORD ─────────────────────────────────────────────────────────────────────────

      3 rounds · 9 calls · 8,800 tokens · 40.0 s · $0.0096 · 2026-11-16
      verdict posts-launch-md-7c21e0aa/1

      The record:
      plenary show posts-launch-md-7c21e0aa
    "#);
}

#[test]
fn an_incomplete_review_is_no_verdict_and_looks_degraded() {
    let page = draw_page(&incomplete(), 80);
    assert_snapshot!(page_part(&page, "REVIEW", "CONCERNS"), @r#"
    REVIEW ─────────────────────────────── × INCOMPLETE · DEGRADED · 2 of 4 answered

      posts/launch.md
      linkedin_post · tier 1 · made by writer · sha256 5e884898da28…

      incomplete: round 1 needs at least 3 answers and got 2.

    DELIBERATORS ────────────────────────────────────────────── 1 block, irreducible

      Deliberator       R1      R2  blocks  irreducible  model
      ▲ skeptic         hold ■  –   yes     yes          claude-sonnet-4
        argument soundness 2 · evidence completeness 3 · objection pre-emption 4
      × voice_identity  absent  –   –       –            gpt-4o
        R1 timeout: no answer within 60 s
      ◐ evidence        revise  –   no      no           gpt-4o
        confidence calibration 4 · source verification 2 · tier classification 3
      × strategy        absent  –   –       –            gpt-4o
        R1 timeout: no answer within 60 s
    "#);
    assert_snapshot!(page_part(&page, "DECISION", "RECORD"), @r#"
    DECISION ──────────────────────────────────────────────────────────── INCOMPLETE

      count        policy seed: 2 present (3 needed), 1 block, irreducible: no
                   decision
      adjudicator  was not asked
      decision     INCOMPLETE: no decision, so the document does not pass

    MISSING CONTEXT ────────────────────────────────────────── the deliberators know

      voice_identity  voice/corpus.md: there is no such file

    NEXT ───────────────────────────────────────────────────────────────────────────

      fix what failed, then ask the missing seats again:
      plenary resume posts-launch-md-7c21e0aa
    "#);
}

#[test]
fn a_missing_adjudicator_is_told_with_its_reason() {
    let page = draw_page(&unadjudicated(), 80);
    assert_snapshot!(page_part(&page, "DECISION", "MISSING"), @r#"
    DECISION ──────────────────────────────────────────────────────────── INCOMPLETE

      count        policy seed: 4 present (3 needed), no deliberator blocks: no
                   decision
      adjudicator  absent, timeout: no answer within 60 s
      decision     INCOMPLETE: no decision, so the document does not pass

    PRIOR VERDICTS ──────────────────────────────────────── shown to the adjudicator

      Verdict   day         artifact
      ▲ HOLD    2026-11-16  posts/teaser.md (by writer)
      ◐ REVISE  2026-11-16  posts/hello.md (by writer)
    "#);
}

#[test]
fn a_rehearsal_and_a_persons_decision_stand_in_the_headline() {
    let rehearsed = draw_page(&crate::protocols::review::document_sample_tests::rehearsed(), 80);
    assert_snapshot!(page_part(&rehearsed, "REVIEW", "REVISION"), @r#"
    REVIEW ──────────────────────────────────── ● SHIP · REHEARSAL · 4 of 4 answered

      posts/launch.md
      linkedin_post · tier 1 · made by writer · sha256 5e884898da28…

      REHEARSAL: answers of the offline demo panel; no model was called
    "#);
    let overridden = draw_page(&crate::protocols::review::document_sample_tests::overridden(), 80);
    assert_snapshot!(page_part(&overridden, "REVIEW", "REVISION"), @"
    REVIEW ────────────────────────────────────────────────────────────────── ● SHIP

      OVERRIDDEN by a person, the gate said REVISE · DEGRADED · 4 of 4 answered

      posts/launch.md
      linkedin_post · tier 1 · made by writer · sha256 5e884898da28…

      OVERRIDDEN: a person decided SHIP on 2026-11-16: The board has seen the
      figures.
    ");
}

#[test]
fn a_ship_with_blocks_says_so_and_is_not_green() {
    let page = review_page(None, &shipped_with_blocks(), PageScope::new(PageDetail::Result));
    assert!(page.state.spans.iter().all(|span| span.tone != TextTone::Good), "{:?}", page.state);
    let drawn = draw_page(&shipped_with_blocks(), 100);
    assert_snapshot!(drawn.trim_start().lines().next().unwrap(), @"REVIEW ──────────────────── ▲ SHIP · 2 of 4 would block (policy `seed` holds at 3) · 4 of 4 answered");
    let result = review_document(&shipped_with_blocks());
    assert_eq!(result.headline, "SHIP · 2 of 4 would block (policy `seed` holds at 3)");
    let line = strip_colours(&draw_review_line(&result, PageCanvas { width: 100 }));
    assert_snapshot!(line, @"▲ SHIP       posts/launch.md  2 of 4 would block (policy `seed` holds at 3) · posts-launch-md-7c21e…");
    assert_eq!(review_document(&shipped()).headline, "SHIP");
}

#[test]
fn a_block_that_was_lifted_is_told_with_the_concern_that_lifted_it() {
    let page = draw_page(&shipped(), 80);
    assert_snapshot!(page_part(&page, "BETWEEN", "DECISION"), @r#"
    BETWEEN THE ROUNDS ─────────────────────────────────────────────────── 1 changed

      skeptic  hold, blocks, irreducible → ship
        ·         The claim is a joke.
        concedes  voice_identity-1 convinced me that readers know it for a joke.
        ·         voice_identity-1: It shouts where we speak.
    "#);
    assert!(!page.contains("NEXT"), "nothing is left to do");
}

#[test]
fn a_narrow_terminal_gets_the_same_in_more_lines() {
    let page = draw_page(&revised(), 40);
    assert_snapshot!(page_part(&page, "REVIEW", "CONCERNS"), @r#"
    REVIEW ──────────────────────── ◐ REVISE

      DEGRADED · 4 of 4 answered

      posts/launch.md
      linkedin_post · tier 1
      made by writer · sha256 5e884898da28…

    REVISION BRIEF ─────────────────────────

      by adjudicator (claude-sonnet-4)

      ┃ 1. Cut “fastest in the world”.
      ┃ 2. Give “ten times” its measurement.

    DELIBERATORS ─── 3 blocks, 1 irreducible

      ▲ skeptic
        R1 hold ■ · R2 hold ■ · blocks yes
        irreducible yes
        model claude-sonnet-4
        argument soundness 2 ·
        evidence completeness 3 ·
        objection pre-emption 4
      ◐ voice_identity
        R1 revise · R2 absent · blocks no
        irreducible no · R1 counts
        model gpt-4o
        R2 timeout: no answer within 60 s
        reader test 4 · register fit 3 ·
        voice match 2
      ◐ evidence
        R1 revise · R2 revise ■ · blocks yes
        irreducible no · model gpt-4o
        confidence calibration 4 ·
        source verification 2 ·
        tier classification 3
      ▲ strategy
        R1 ship · R2 hold ■ · blocks yes
        irreducible no · uncited
        model gpt-4o
        goal fit 2 · opportunity cost 4 ·
        stake calibration 3
    "#);
}

#[test]
fn one_of_several_files_is_a_line() {
    let line = |result| strip_colours(&draw_review_line(&result, PageCanvas { width: 80 }));
    let skipped =
        skipped_document("notes/a.md", "note", ReviewTier::Never, "tier 2 is not looked at");
    let lines = [
        line(skipped),
        line(review_document(&revised())),
        line(review_document(&crate::protocols::review::document_sample_tests::rehearsed())),
        line(review_document(&incomplete())),
    ];
    assert_snapshot!(lines.join("\n"), @r#"
    – SKIPPED    notes/a.md
                 tier 2 is not looked at
    ◐ REVISE     posts/launch.md  DEGRADED · 3 blocks · posts-launch-md-7c21e0aa/1
    ● SHIP       posts/launch.md  REHEARSAL · no deliberator blocks · posts-launch-…
    × INCOMPLETE posts/launch.md  DEGRADED · 1 block · round 1 needs at least 3 ans…
    "#);
}
