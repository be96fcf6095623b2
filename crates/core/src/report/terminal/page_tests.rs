//! Snapshots of the dialogue page at common terminal widths.

use insta::assert_snapshot;

use crate::model::dialogue::DialogueStatus;
use crate::model::lifecycle::EntityStatus;
use crate::model::record::DialogueRecord;
use crate::report::page::{PageDetail, PageScope};
use crate::report::record_page::dialogue_page;
use crate::report::sample::{entity, pointing};
use crate::report::terminal::layout::PageCanvas;
use crate::report::terminal::page::draw_page;

/// The page without colours.
pub(crate) fn draw_plain(record: &DialogueRecord, width: usize, detail: PageDetail) -> String {
    let page = dialogue_page(record, None, PageScope::new(detail));
    anstream::adapter::strip_str(&draw_page(&page, PageCanvas { width })).to_string()
}

/// The sample's page from one heading to the next.
fn page_part(width: usize, detail: PageDetail, heading: &str) -> String {
    let page = draw_plain(&crate::report::sample::record(), width, detail);
    let start =
        if heading.is_empty() { 0 } else { page.find(&format!("\n{heading} ")).unwrap() + 1 };
    let rest = &page[start..];
    let ends = rest.match_indices("\n\n").map(|(at, _)| at);
    let is_heading = |at: &usize| rest[at + 2..].lines().next().unwrap_or("").contains(" ──");
    rest[..ends.skip(1).find(is_heading).unwrap_or(rest.len())].to_owned()
}

#[test]
fn the_headline_and_the_question_open_the_page() {
    assert_snapshot!(page_part(80, PageDetail::Brief, ""), @"

    DIALOGUE ───────────────────── ▲ NOT CONVERGED · ALIGNMENT 149 · SPLIT: vote 4-1

      NVIDIA Investment Analysis
      nvidia-investment-analysis · alignment protocol · 3 rounds · 2026-02-02

      Should the Thornton family trust swap its NVAI position for NVIDIA shares
      before the refinancing closes, given a 4% income mandate and a 15% drawdown
      limit?
    ");
}

#[test]
fn verdicts_stand_beside_their_bars() {
    assert_snapshot!(page_part(80, PageDetail::Brief, "VERDICTS"), @r#"
    VERDICTS ───────────────────────────────────────────────────────────────────────

      Final verdict final  by the Judge · round 2 · vote 4-1 · strong
        ┃ REJECT the full swap. APPROVE a conditional, phased, partial trim.

        FORCED: T0101 was reopened and is neither resolved nor accepted

        The panel rejected a full swap because the income mandate cannot be met from
        dividends. A third of the position, collared and entered in six steps, keeps
        the growth and pays the mandate from premium.

        Condition 1:  Begin 60 to 90 days after the refinancing closes
        Condition 2:  Write calls on no more than a third of the position, and buy
                      the protective put on the same day

        resolves T0001 · accepts T0002 T0201 · adopts R0101 · evidence E0001
        claims C0101

      Minority verdict minority-deed  by Brioche · round 2 · with Cupcake
        │ Ask the court before any option is written.

        The deed is silent on derivatives, and silence is not leave.

      Dissent dissent-palmier  by Palmier · round 2
        │ Do nothing until the hearing has been held.

        Six steps begin before the date that decides their price.
    "#);
}

#[test]
fn experts_are_ranked_by_score() {
    assert_snapshot!(page_part(80, PageDetail::Brief, "EXPERTS"), @r#"
    EXPERTS ────────────────────────────────────────────────────────────── 5 experts

      Expert   r0  r1  r2  Total            Role
      Donut    15  14  12     41  ████████  Options Strategist · Adjacent · pool
      Muffin   12   8  15     35  ██████▊   Value Analyst · Core · pool
      Cupcake  10   7   9     26  █████     Risk Manager · Core · pool
      Brioche   6  11   8     25  ████▉     Trust Counsel · Adjacent · pool
      Palmier   ·   ·  22     22  ████▎     Geopolitical Risk Analyst · Wildcard ·
                                            created
    "#);
    assert_snapshot!(page_part(40, PageDetail::Brief, "EXPERTS"), @r#"
    EXPERTS ────────────────────── 5 experts

      Expert   r0  r1  r2  Total
      Donut    15  14  12     41  ██████████
        Options Strategist · Adjacent · pool
      Muffin   12   8  15     35  ████████▌
        Value Analyst · Core · pool
      Cupcake  10   7   9     26  ██████▎
        Risk Manager · Core · pool
      Brioche   6  11   8     25  ██████
        Trust Counsel · Adjacent · pool
      Palmier   ·   ·  22     22  █████▎
        Geopolitical Risk Analyst · Wildcard
        · created
    "#);
}

#[test]
fn tensions_are_stacked_at_eighty_columns() {
    assert_snapshot!(page_part(80, PageDetail::Brief, "TENSIONS"), @r#"
    TENSIONS ──────────────────────────────────────────────────────────── 4 tensions

      ○ OPEN 1
        T0201  Hearing date may slip
               raised r2 by Palmier
               accepted by final

      ◐ ADDRESSED 1
        T0002  Drawdown limit vs single-name volatility
               raised r0 by Cupcake
               addressed r2 by Palmier, Muffin via P0201
               accepted by final

      ● RESOLVED 1
        T0001  Growth vs income obligation
               raised r0 by Muffin, Cupcake
               resolved r2 by Muffin via R0101

      ▲ REOPENED 1
        T0101  May a trustee write options at all?
               raised r1 by Brioche
               reopened r2 by Cupcake: the precedent was a charity
    "#);
}

#[test]
fn tensions_stand_side_by_side_at_a_hundred_and_forty() {
    assert_snapshot!(page_part(140, PageDetail::Brief, "TENSIONS"), @r#"
    TENSIONS ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── 4 tensions

      ○ OPEN 1                           ◐ ADDRESSED 1                      ● RESOLVED 1                       ▲ REOPENED 1
      ────────────────────────────────   ────────────────────────────────   ────────────────────────────────   ────────────────────────────────
      T0201  Hearing date may slip       T0002  Drawdown limit vs           T0001  Growth vs income            T0101  May a trustee write
        raised r2 by Palmier                    single-name volatility             obligation                         options at all?
        accepted by final                  raised r0 by Cupcake               raised r0 by Muffin, Cupcake       raised r1 by Brioche
                                           addressed r2 by Palmier,           resolved r2 by Muffin via          reopened r2 by Cupcake: the
                                           Muffin via P0201                   R0101                              precedent was a charity
                                           accepted by final
    "#);
}

#[test]
fn a_full_board_tells_every_step() {
    assert_snapshot!(page_part(100, PageDetail::Full, "TENSIONS"), @r#"
    TENSIONS ──────────────────────────────────────────────────────────────────────────────── 4 tensions

      ○ OPEN 1                 ◐ ADDRESSED 1            ● RESOLVED 1             ▲ REOPENED 1
      ──────────────────────   ──────────────────────   ──────────────────────   ──────────────────────
      T0201  Hearing date      T0002  Drawdown limit    T0001  Growth vs         T0101  May a trustee
             may slip                 vs single-name           income                   write options
        raised r2 by Palmier          volatility               obligation               at all?
        accepted by final        raised r0 by Cupcake     raised r0 by Muffin,     raised r1 by Brioche
                                 addressed r2 by          Cupcake                  resolved r1 by
                                 Palmier, Muffin via      addressed r1 by          Brioche: counsel
                                 P0201                    Donut via R0001: the     found a precedent
                                 accepted by final        collar pays a            reopened r2 by
                                                          premium every month      Cupcake: the
                                                          resolved r2 by           precedent was a
                                                          Muffin via R0101         charity
    "#);
}

#[test]
fn a_round_is_brief_at_eighty_columns() {
    assert_snapshot!(page_part(80, PageDetail::Brief, "ROUND 0"), @r#"
    ROUND 0 · Opening arguments ─────────────────────────────────────── ALIGNMENT 43

      The Judge's summary
      Everyone sees the growth; nobody yet sees how the trust would be paid. The
      zero dividend and the drawdown limit stand against a full swap.

      work remaining 4 · 0% converged · no signal
      ! T0001 is open · raised by Muffin: Growth vs income obligation
      ! T0002 is open · raised by Cupcake: Drawdown limit vs single-name volatility
      ! not converged: muffin, cupcake, donut, brioche

      Muffin  Value Analyst · +12
        P0001  Income mandate mismatch                                     ◐ refined
               NVIDIA pays next to no dividend, so a swap trades a position that
               feeds the mandate for one that starves it. The trust would have to
               sell shares every quarter to distribute 4%, which is the opposite …
               with Cupcake
        T0001  Growth vs income obligation                                ● resolved
               The zero dividend conflicts with the trust's 4% income requirement.
               with Cupcake

      Cupcake  Risk Manager · +10
        T0002  Drawdown limit vs single-name volatility                  ◐ addressed
               A 15% limit and a stock that moved 40% in a quarter.

      Donut  Options Strategist · +15
        R0001  Income collar                                               ◐ amended
               Sell 30-delta calls, buy 15-delta puts, roll monthly.
               addresses T0001 · depends on P0001
        E0001  Historical options premium                                ● confirmed
               30-day at-the-money implied volatility averaged 45% over 24 months.
               supports R0001

      Brioche  Trust Counsel · +6
        P0002  The deed binds harder than the market                          ○ open
               Section 4.2 is not a preference. A trustee who breaches it is liable
               in person.
    "#);
}

#[test]
fn a_round_is_told_in_full_at_a_hundred_and_forty() {
    assert_snapshot!(page_part(140, PageDetail::Full, "ROUND 0"), @r#"
    ROUND 0 · Opening arguments ─────────────────────────────────────────────────────────────────────────────────────────────────── ALIGNMENT 43

      The Judge's summary
      Everyone sees the growth; nobody yet sees how the trust would be paid. The zero dividend and the
      drawdown limit stand against a full swap.

      work remaining 4 · 0% converged · no signal
      ! T0001 is open · raised by Muffin: Growth vs income obligation
      ! T0002 is open · raised by Cupcake: Drawdown limit vs single-name volatility
      ! not converged: muffin, cupcake, donut, brioche

      Muffin  Value Analyst · +12
        P0001  Income mandate mismatch                                                         ◐ refined
               NVIDIA pays next to no dividend, so a swap trades a position that feeds the mandate for
               one that starves it. The trust would have to sell shares every quarter to distribute 4%,
               which is the opposite of preserving the corpus.

               Two ways out were named:
               - sell calls against part of the position, and treat premium as income
               - keep the Treasuries as the income sleeve and swap only what exceeds it
               with Cupcake
               refined r1 by Muffin → P0101
        T0001  Growth vs income obligation                                                    ● resolved
               The zero dividend conflicts with the trust's 4% income requirement.
               with Cupcake
               addressed r1 by Donut via R0001 · resolved r2 by Muffin via R0101

      Cupcake  Risk Manager · +10
        T0002  Drawdown limit vs single-name volatility                                      ◐ addressed
               A 15% limit and a stock that moved 40% in a quarter.
               addressed r2 by Palmier, Muffin via P0201

      Donut  Options Strategist · +15
        R0001  Income collar                                                                   ◐ amended
               Sell 30-delta calls, buy 15-delta puts, roll monthly.
               addresses T0001 · depends on P0001
               covered_call_delta 0.30 · dte 30-45
               amended r1 by Donut, Muffin → R0101
        E0001  Historical options premium                                                    ● confirmed
               30-day at-the-money implied volatility averaged 45% over 24 months.
               supports R0001
               confirmed r1 by Muffin via P0101

      Brioche  Trust Counsel · +6
        P0002  The deed binds harder than the market                                              ○ open
               Section 4.2 is not a preference. A trustee who breaches it is liable in person.
    "#);
}

#[test]
fn moves_line_up() {
    assert_snapshot!(page_part(80, PageDetail::Brief, "MOVES"), @r#"
    MOVES ────────────────────────────────────────────────────────────────── 3 moves

      Expert   Move          Targets        Context
      Cupcake  r1 challenge  R0001          A gap down jumps over the puts.
      Donut    r1 bridge     P0001 + R0001  The premium is the income; what the
                                            collar gives up is the part of the
                                            upside that the trust has no mandate to
                                            chase.
      Brioche  r2 converge
    "#);
    assert_snapshot!(page_part(40, PageDetail::Brief, "MOVES"), @r#"
    MOVES ────────────────────────── 3 moves

      Expert   Move          Targets
      Cupcake  r1 challenge  R0001
        A gap down jumps over the puts.
      Donut    r1 bridge     P0001 + R0001
        The premium is the income; what the
        collar gives up is the part of the
        upside that the trust has no mandate
        to chase.
      Brioche  r2 converge
    "#);
}

#[test]
fn references_are_a_tree() {
    assert_snapshot!(page_part(80, PageDetail::Brief, "REFERENCES"), @r#"
    REFERENCES ─────────────────────────────────────────────────────── 14 references

      P0201  Wait for the export-control hearing
      ├─ resolves T0002  Drawdown limit vs single-name volatility
      └─ depends on P0101  Premium is income, within limits
         ├─ refines P0001  Income mandate mismatch
         └─ supports R0001  Income collar
            ├─ addresses T0001  Growth vs income obligation
            └─ depends on P0001 ↑
      T0101  May a trustee write options at all?
      └─ depends on P0002  The deed binds harder than the market
      C0101  Options bridge the income gap
      ├─ depends on E0001  Historical options premium
      │  └─ supports R0001 ↑
      ├─ depends on P0101 ↑
      └─ depends on R0101  Collar on a third, phased over six months
         ├─ refines R0001 ↑
         ├─ addresses T0001 ↑
         └─ depends on E0001 ↑
    "#);
}

#[test]
fn one_round_is_drawn_alone() {
    let scope = PageScope { detail: PageDetail::Brief, round: Some(1) };
    let page = dialogue_page(&crate::report::sample::record(), None, scope);
    let page = draw_page(&page, PageCanvas { width: 80 });
    assert_snapshot!(anstream::adapter::strip_str(&page).to_string(), @"

    DIALOGUE ────── ▲ NOT CONVERGED · ALIGNMENT 149 · SPLIT: vote 4-1 · only round 1

      NVIDIA Investment Analysis
      nvidia-investment-analysis · alignment protocol · 3 rounds · 2026-02-02

    ROUND 1 · Refinement ────────────────────────────────────────────── ALIGNMENT 40

      The Judge's summary
      Donut's collar turns volatility into income. Muffin accepts it for a part of
      the position; Cupcake asks what happens in a gap down.

      work remaining 3 · 0% converged · no signal
      ! T0001 is addressed by R0001 · raised by Muffin: Growth vs income obligation
      ! T0002 is open · raised by Cupcake: Drawdown limit vs single-name volatility
      ! not converged: muffin, cupcake, donut, brioche

      Muffin  Value Analyst · +8
        P0101  Premium is income, within limits                               ○ open
               Covered calls on a third of the position meet the mandate in 19 of 24
               months.
               refines P0001 · supports R0001
        C0101  Options bridge the income gap                               ● adopted
               The mandate can be met by premium, which removes the chief objection.
               depends on E0001 P0101 R0101

      Donut  Options Strategist · +14
        R0101  Collar on a third, phased over six months                   ● adopted
               Trim a third of NVAI into NVIDIA in six equal steps, each collared on
               the day.
               with Muffin · refines R0001 · addresses T0001 · depends on E0001

      Brioche  Trust Counsel · +11
        T0101  May a trustee write options at all?                        ▲ reopened
               The deed is silent on derivatives.
               depends on P0002

      Also scored
        Cupcake +7

    MOVES ────────────────────────────────────────────────────────────────── 2 moves

      Expert   Move          Targets        Context
      Cupcake  r1 challenge  R0001          A gap down jumps over the puts.
      Donut    r1 bridge     P0001 + R0001  The premium is the income; what the
                                            collar gives up is the part of the
                                            upside that the trust has no mandate to
                                            chase.

    REFERENCES ──────────────────────────────────────────────────────── 9 references

      T0101  May a trustee write options at all?
      └─ depends on P0002  The deed binds harder than the market
      C0101  Options bridge the income gap
      ├─ depends on E0001  Historical options premium
      │  └─ supports R0001  Income collar
      │     ├─ addresses T0001  Growth vs income obligation
      │     └─ depends on P0001  Income mandate mismatch
      ├─ depends on P0101  Premium is income, within limits
      │  ├─ refines P0001 ↑
      │  └─ supports R0001 ↑
      └─ depends on R0101  Collar on a third, phased over six months
         ├─ refines R0001 ↑
         ├─ addresses T0001 ↑
         └─ depends on E0001 ↑
    ");
}

#[test]
fn a_new_rehearsal_is_short_and_labelled() {
    let mut record = crate::report::sample::record();
    record.dialogue.opening.rehearsal = true;
    record.dialogue.status = DialogueStatus::Open;
    record.dialogue.total_rounds = 0;
    record.dialogue.total_alignment = 0;
    record.rounds.clear();
    record.experts.clear();
    record.verdicts.clear();
    record.moves.clear();
    for entities in [
        &mut record.perspectives,
        &mut record.recommendations,
        &mut record.tensions,
        &mut record.evidence,
        &mut record.claims,
    ] {
        entities.clear();
    }
    assert_snapshot!(draw_plain(&record, 60, PageDetail::Brief), @"

    DIALOGUE ────────────────── ○ open · REHEARSAL · ALIGNMENT 0

      NVIDIA Investment Analysis
      nvidia-investment-analysis · alignment protocol · 0 rounds
      2026-02-02

      Should the Thornton family trust swap its NVAI position
      for NVIDIA shares before the refinancing closes, given a
      4% income mandate and a 15% drawdown limit?

      REHEARSAL: answers of the offline demo panel; no model was
      called

    VERDICTS ───────────────────────────────────────────────────

      None yet.
    ");
}

#[test]
fn a_bare_reply_and_an_author_without_a_seat_are_still_drawn() {
    let mut record = crate::report::sample::record();
    let brioche = record.experts.iter_mut().find(|e| e.profile.expert_slug.as_str() == "brioche");
    brioche.unwrap().replies.insert(2, "I keep my objection.".into());
    let stray =
        entity("P0202", "stranger", EntityStatus::Open, "From outside", "Heard in passing.");
    record.perspectives.push(stray);
    let page = draw_plain(&record, 80, PageDetail::Brief);
    let round = page.split_once("ROUND 2").unwrap().1;
    assert!(round.contains("\n    I keep my objection.\n"));
    assert!(round.contains("\n  Without a seat\n    P0202  From outside"), "{round}");
}

#[test]
fn references_that_run_in_a_circle_or_too_deep_end() {
    let mut record = crate::report::sample::record();
    record.recommendations.clear();
    record.tensions.clear();
    record.evidence.clear();
    let link = |(id, target): (&str, &str)| {
        pointing(
            entity(id, "muffin", EntityStatus::Open, "a link", ""),
            &format!("depend {target}"),
        )
    };
    let chain: Vec<(String, String)> =
        (1..=9).map(|seq| (format!("P000{seq}"), format!("P000{}", seq + 1))).collect();
    let chain = chain.iter().map(|(id, target)| (id.as_str(), target.as_str())).take(8);
    record.perspectives = chain.chain([("P0009", "P0009")]).map(link).collect();
    record.claims = [("C0001", "C0002"), ("C0002", "C0001")].map(link).to_vec();
    let page = draw_plain(&record, 40, PageDetail::Brief);
    let tree = page.split_once("REFERENCES").unwrap().1;
    assert_snapshot!(tree, @r#"
    ─────────────── 11 references

     P0001  a link
     └─ depends on P0002  a link
        └─ depends on P0003  a link
           └─ depends on P0004  a link
              └─ depends on P0005  a link
                 └─ depends on P0006  a li…
                    └─ depends on P0007 ↓
     P0007  a link
     └─ depends on P0008  a link
        └─ depends on P0009  a link
           └─ depends on P0009 ↑
     C0001  a link
     └─ depends on C0002  a link
        └─ depends on C0001 ↑
    "#);
}
