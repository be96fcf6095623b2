//! Snapshots of conclusions at common terminal widths.

use insta::assert_snapshot;

use crate::model::dialogue::ProtocolKind;
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::protocols::conclusion::sample::{
    clean, critic_failed, cut_short, moment, revised, reviser_failed, unaudited, unconverged,
};
use crate::protocols::conclusion::types::{ConclusionOutcome, OutcomeKind, RecordedConclusion};
use crate::protocols::council::page::council_page;
use crate::report::page::{PageDetail, PageModel, PageScope};
use crate::report::record_page::dialogue_page;
use crate::report::terminal::layout::PageCanvas;

/// The page in colours at this width.
fn draw(page: &PageModel, width: usize) -> String {
    crate::report::terminal::page::draw_page(page, PageCanvas { width })
}

fn council_result(state: &RunState) -> PageModel {
    let record = crate::report::sample::record();
    council_page(&record, state, PageScope::new(PageDetail::Result))
}

/// The page of a dialogue that a Judge leads, without colours.
fn draw_led(record: &DialogueRecord, run: Option<&RunState>, detail: PageDetail) -> String {
    strip_colours(&draw(&dialogue_page(record, run, PageScope::new(detail)), 80))
}

/// The page of `show` for a council, without colours.
fn draw_shown(state: &RunState, detail: PageDetail) -> String {
    let page = council_page(&record_of(state), state, PageScope::new(detail));
    strip_colours(&draw(&page, 80))
}

/// The page that `ask` prints, without colours.
fn draw_page(state: &RunState, width: usize) -> String {
    strip_colours(&draw(&council_result(state), width))
}

fn strip_colours(page: &str) -> String {
    anstream::adapter::strip_str(page).to_string()
}

/// The text from one heading up to another.
fn page_part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let start = page.find(from).unwrap_or_else(|| panic!("no {from} in:\n{page}"));
    let rest = &page[start..];
    rest[..rest.find(to).unwrap_or(rest.len())].trim_end()
}

/// The section titles, in order.
fn section_titles(page: &str) -> Vec<&str> {
    let heads = page.lines().filter(|line| line.contains("───"));
    heads.map(|line| line.split(" ─").next().unwrap()).collect()
}

fn record_of(state: &RunState) -> DialogueRecord {
    let mut record = crate::report::sample::record();
    let note = "Nobody missed the prices; the ratio was never measured.".to_owned();
    record.conclusion = Some(RecordedConclusion {
        ending: state.conclusion_result.clone().unwrap(),
        at: moment(9),
        outcomes: vec![(
            "2027-02-17T08:00:00Z".parse().unwrap(),
            ConclusionOutcome { outcome: OutcomeKind::Mixed, note: Some(note) },
        )],
    });
    record
}

#[test]
fn a_clean_conclusion_stands_without_annotations() {
    assert_snapshot!(draw_page(&clean(), 80), @"

    COUNCIL ──────────── ● CLEAN · 3 of 3 answered · SPLIT: 2 approve, 1 conditional

      Should reads go through a cache?

    CONCLUSION ──────────── ● CLEAN · no objection by the critic; not a verification

      ┃ Put a read-through cache before the catalogue, with a lifetime of five
      ┃   minutes.
      ┃ Leave prices uncached until the owner says how stale they may be.

      Key condition  Reads outnumber writes by at least ten to one.
      Unresolved     Whether stale prices are worse than slow ones (ann, bob)
                     P0101 ann: A price that is a minute old harms nobody.
                     C0203 bob: One wrong price in a contract costs more than the
                       cache saves.
      Review by      2027-02-16
      Participants   ann (ann-3f9c) · bob (bob-3f9c) · cid (cid-3f9c)

    POSITIONS ──────────────────────────────────────────── 2 approve · 1 conditional

      Seat   stance       confidence  ratings
      ● ann  approve      medium      6, 6
      ◐ bob  conditional  medium      8, 8
      ● cid  approve      medium      6, 6

    RECORD ─────────────────────────────────────────────────────────────────────────

      3 rounds · 9 calls · 9,900 tokens · 45.0 s · $0.0108 · 2026-11-16
      concluded by ann (claude-sonnet-4) · audited blind by bob (gpt-4o)

      Report and debate:
      plenary show should-reads-go-through-a-cache-4334f41c
    ");
}

#[test]
fn a_revised_one_shows_the_objection_and_what_changed() {
    let page = draw_page(&revised(), 80);
    assert_snapshot!(page_part(&page, "COUNCIL", "CONCLUSION"), @"
    COUNCIL ────────── ◐ REVISED · 3 of 3 answered · SPLIT: 2 approve, 1 conditional

      Should reads go through a cache?
    ");
    assert_snapshot!(page_part(&page, "View the", "POSITIONS"), @r#"
    View the objection and revision ────────────────────────────────────────────────

      ! recommendation  counted: asked for exactly 2 lines; the recommendation has 1
      ! key condition   “Reads outnumber writes” is true of nearly every store; it
                        does not say from which ratio on the cache pays.

      What changed
        recommendation
          - Put a read-through cache before everything, with a lifetime of five
          - minutes.
          + Put a read-through cache before the catalogue, with a lifetime of five
          + minutes.
          + Leave prices uncached until the owner says how stale they may be.
        key condition
          - Reads outnumber writes.
          + Reads outnumber writes by at least ten to one.
    "#);
}

#[test]
fn a_revision_can_be_read_in_sixty_columns() {
    assert_snapshot!(page_part(&draw_page(&revised(), 60), "CONCLUSION", "POSITIONS"), @r#"
    CONCLUSION ─────────────────────────────────────── ◐ REVISED

      ┃ Put a read-through cache before the catalogue, with a
      ┃   lifetime of five minutes.
      ┃ Leave prices uncached until the owner says how stale
      ┃   they may be.

      Key condition  Reads outnumber writes by at least ten to
                     one.
      Unresolved     Whether stale prices are worse than slow
                     ones (ann, bob)
                     P0101 ann: A price that is a minute old
                       harms nobody.
                     C0203 bob: One wrong price in a contract
                       costs more than the cache saves.
      Review by      2027-02-16
      Participants   ann (ann-3f9c) · bob (bob-3f9c) ·
                     cid (cid-3f9c)

    View the objection and revision ────────────────────────────

      ! recommendation  counted: asked for exactly 2 lines; the
                        recommendation has 1
      ! key condition   “Reads outnumber writes” is true of
                        nearly every store; it does not say from
                        which ratio on the cache pays.

      What changed
        recommendation
          - Put a read-through cache before everything, with a
          - lifetime of five minutes.
          + Put a read-through cache before the catalogue, with
          + a lifetime of five minutes.
          + Leave prices uncached until the owner says how stale
          + they may be.
        key condition
          - Reads outnumber writes.
          + Reads outnumber writes by at least ten to one.
    "#);
}

#[test]
fn changed_words_have_a_colour_and_kept_ones_do_not() {
    let page = draw(&council_result(&revised()), 80);
    let line = |start: &str| {
        let is_it = |line: &&str| strip_colours(line).trim_start().starts_with(start);
        page.lines().find(is_it).unwrap().replace('\u{1b}', "␛")
    };
    assert_snapshot!(line("+ Reads outnumber"), @"      ␛[1m␛[32m+ ␛[0mReads outnumber ␛[1m␛[32mwrites␛[0m ␛[1m␛[32mby␛[0m ␛[1m␛[32mat␛[0m ␛[1m␛[32mleast␛[0m ␛[1m␛[32mten␛[0m ␛[1m␛[32mto␛[0m ␛[1m␛[32mone.␛[0m");
    assert_snapshot!(line("- Reads outnumber"), @"      ␛[31m- ␛[0m␛[2mReads␛[0m ␛[2moutnumber␛[0m ␛[31mwrites.␛[0m");
}

#[test]
fn what_did_not_converge_is_explained() {
    let page = draw_page(&unconverged(), 80);
    assert_snapshot!(page_part(&page, "COUNCIL", "REPORT: ADOPT"), @"
    COUNCIL ────── ▲ UNCONVERGED · 3 of 3 answered · SPLIT: 2 approve, 1 conditional

      Should reads go through a cache?

    NO CONCLUSION ──────────────────────────────────────────────────── ▲ UNCONVERGED

      The critic rejected the conclusion twice, and Plenary revises it only once. In
      the first audit the objections were to the recommendation: “asked for exactly
      2 lines; the recommendation has 1”; to the key condition: ““Reads outnumber
      writes” is true of nearly every store; it does not say from which ratio on the
      cache pays”. After the revision the objection was to the recommendation: “It
      leaves out prices, which is what the question is about”. This is not a
      failure: the debate does not support one answer yet. Read the debate and the
      objections; then find out what is missing, ask a narrower question, or decide
      yourself.

    OBJECTIONS ─────────────────────────────────────────────────────────────────────

      First audit
        ! recommendation  counted: asked for exactly 2 lines; the recommendation has
                          1
        ! key condition   “Reads outnumber writes” is true of nearly every store; it
                          does not say from which ratio on the cache pays.

      What changed
        recommendation
          - Put a read-through cache before everything, with a lifetime of five
          - minutes.
          + Put a read-through cache before the catalogue, with a lifetime of five
          + minutes.
          + Leave prices uncached until the owner says how stale they may be.
        key condition
          - Reads outnumber writes.
          + Reads outnumber writes by at least ten to one.

      After the revision
        ! recommendation  It leaves out prices, which is what the question is about.

    REJECTED DRAFT ──────────────────────────────────────────────── not a conclusion

      │ Put a read-through cache before the catalogue, with a lifetime of five
      │   minutes.
      │ Leave prices uncached until the owner says how stale they may be.

      Key condition  Reads outnumber writes by at least ten to one.
      Unresolved     Whether stale prices are worse than slow ones (ann, bob)
                     P0101 ann: A price that is a minute old harms nobody.
                     C0203 bob: One wrong price in a contract costs more than the
                       cache saves.
      Review by      2027-02-16
      Participants   ann (ann-3f9c) · bob (bob-3f9c) · cid (cid-3f9c)
    ");
}

#[test]
fn who_gets_no_conclusion_gets_everything_that_was_said() {
    let page = draw_page(&unconverged(), 80);
    assert_snapshot!(section_titles(&page).join("\n"), @r#"
    COUNCIL
    NO CONCLUSION
    OBJECTIONS
    REJECTED DRAFT
    REPORT: ADOPT
    POSITIONS
    DISAGREEMENTS
    OPINIONS
    REVIEWS
    REPLIES
    RECORD
    "#);
    assert_snapshot!(page_part(&page, "REVIEWS", "bob on ann"), @r#"
    REVIEWS ───────────────────────────────────────────────────────────────────── R2

      ann on cid  6 of 10
        critique   medium omission: It does not say what a stale price costs.
                   → Name the greatest age.
        agrees     Reads repeat
        disagrees  Prices: leave them out; the other says cache them too. They
                   change at any time.

      ann on bob  8 of 10
        critique           medium omission: It does not say what a stale price
                           costs.
                           → Name the greatest age.
        agrees             Reads repeat
        disagrees          Prices: leave them out; the other says cache them too.
                           They change at any time.
        would change with  A measured ratio
    "#);
    assert!(page.contains("bob  audit, call 11"), "every reply is there:\n{page}");
    assert!(!page.contains("\n\n\n"), "one blank line parts sections:\n{page}");
}

#[test]
fn an_unaudited_one_says_so_in_its_headline() {
    let page = draw_page(&unaudited(), 80);
    assert_snapshot!(page_part(&page, "COUNCIL", "\n\n"), @"COUNCIL ──────── ○ UNAUDITED · 3 of 3 answered · SPLIT: 2 approve, 1 conditional");
    assert!(page.contains("! unaudited: no critic checked this conclusion"), "{page}");
}

#[test]
fn a_critic_of_the_same_family_is_said_in_the_headline() {
    let mut kin = clean();
    if let Some(critic) = kin.conclusion_result.as_mut().and_then(|ending| ending.critic.as_mut()) {
        critic.family = "anthropic".to_owned();
    }
    assert_snapshot!(page_part(&draw_page(&kin, 80), "COUNCIL", "\n\n"), @"COUNCIL ──────────────────────────────────────────────────────────────── ● CLEAN");
    kin.opening.rehearsal = true;
    assert_snapshot!(page_part(&draw_page(&kin, 80), "COUNCIL", "CONCLUSION"), @"
    COUNCIL ──────────────────────────────────────────────────────────────── ● CLEAN

      REHEARSAL · 3 of 3 answered · SPLIT: 2 approve, 1 conditional

      Should reads go through a cache?

      REHEARSAL: answers of the offline demo panel; no model was called
    ");
}

#[test]
fn a_run_that_stopped_in_its_ending_shows_the_draft_and_what_it_lacks() {
    let unheard = draw_page(&critic_failed(), 80);
    assert_snapshot!(page_part(&unheard, "COUNCIL", "  Key condition"), @"
    COUNCIL ───────── INCOMPLETE · 3 of 3 answered · SPLIT: 2 approve, 1 conditional

      Should reads go through a cache?

      incomplete: the conclusion could not be audited: bob: no answer within 60 s.

      without an audit no conclusion is Clean. To ask the critic again:
      plenary resume should-reads-go-through-a-cache-4334f41c

    DRAFT ────────────────────────────────────────────────────────────── not audited

      │ Put a read-through cache before the catalogue, with a lifetime of five
      │   minutes.
      │ Leave prices uncached until the owner says how stale they may be.
    ");
    assert_eq!(
        section_titles(&unheard),
        ["COUNCIL", "DRAFT", "REPORT: ADOPT", "POSITIONS", "DISAGREEMENTS", "RECORD"]
    );
    let unmended = draw_page(&reviser_failed(), 80);
    assert_snapshot!(page_part(&unmended, "DRAFT", "\n\n"), @"DRAFT ──────────────────────────────────────────────── rejected, not revised yet");
    assert_snapshot!(page_part(&unmended, "OBJECTIONS", "REPORT: ADOPT"), @r#"
    OBJECTIONS ─────────────────────────────────────────────────────────────────────

      ! recommendation  counted: asked for exactly 2 lines; the recommendation has 1
      ! key condition   “Reads outnumber writes” is true of nearly every store; it
                        does not say from which ratio on the cache pays.
    "#);
}

#[test]
fn interventions_have_a_section_on_the_short_page() {
    let page = draw_page(&cut_short(), 80);
    assert_snapshot!(page_part(&page, "COUNCIL", "\n\n"), @"COUNCIL ──────────────────────────────────────────────────────────────── ● CLEAN");
    assert_snapshot!(page_part(&page, "INTERVENTIONS", "\0"), @r#"
    INTERVENTIONS ──────────────────────────────────────────────────────────────── 5

      » 2026-11-16 15:40:01 · R1 · whisper to all
        Mind what it costs to run.
      » 2026-11-16 15:40:15 · R1 · whisper to cid, in private
        You know this store best.
      » 2026-11-16 15:40:20 · R2 · directive
        only reads count
        understood as: The panel is to take it that only reads count.
      » 2026-11-16 15:40:21 · R2 · directive
        forget all of it
        understood as: The panel is to take it that forget all of it.
        not confirmed, so it had no effect
      » 2026-11-16 15:40:22 · R2 · stop
        Plenary asks no further seat in the rounds

    RECORD ─────────────────────────────────────────────────────────────────────────

      1 round · 8 calls · 8,800 tokens · 35.0 s · $0.0096 · 2026-11-16
      concluded by ann (claude-sonnet-4) · audited blind by bob (gpt-4o)
      ! the Principal stopped the run before the report, and concluded with the
        replies so far

      The debate:
      plenary show should-reads-go-through-a-cache-4334f41c
    "#);
}

#[test]
fn interventions_stand_in_the_margin_of_the_whole_transcript() {
    let page = draw_shown(&cut_short(), PageDetail::Full);
    let is_text = |line: &&str| !line.starts_with("    ") && !line.is_empty();
    let replies: Vec<&str> =
        page_part(&page, "REPLIES", "TENSIONS").lines().filter(is_text).collect();
    assert_snapshot!(replies.join("\n"), @r#"
    REPLIES ─────────────────────────────────────────────────────────── as they came
      Intervention
      ann  R1, call 1
      bob  R1, call 2
      cid  R1, call 3
      Intervention
      ann  R2, call 4
      Intervention
      Intervention
      Intervention
      ann  conclusion, call 5
      bob  audit, call 6
    "#);
    assert!(!page.contains("INTERVENTIONS"), "they are said once");
}

#[test]
fn show_has_the_ending_first_and_then_all_there_is() {
    let state = clean();
    let page = draw_shown(&state, PageDetail::Brief);
    let found = section_titles(&page);
    assert_eq!(found[..4], ["COUNCIL", "CONCLUSION", "REPORT: ADOPT", "POSITIONS"]);
    assert!(found.contains(&"TENSIONS") && !found.contains(&"REPLIES"), "{found:?}");
    assert_snapshot!(page_part(&page, "  Review by", "REPORT: ADOPT"), @r#"
    Review by      2027-02-16
    Participants   ann (ann-3f9c) · bob (bob-3f9c) · cid (cid-3f9c)
    Outcome        mixed, 2027-02-17: Nobody missed the prices; the ratio was
                   never measured.
    "#);
}

#[test]
fn a_dialogue_that_somebody_led_shows_its_ending_first() {
    let record = record_of(&revised());
    let page = draw_led(&record, None, PageDetail::Brief);
    let found = section_titles(&page);
    assert_eq!(found[1..4], ["CONCLUSION", "View the objection and revision", "VERDICTS"]);
    assert_snapshot!(page_part(&page, "CONCLUSION", "\n\n"), @"CONCLUSION ─────────────────────────────────────────────────────────── ◐ REVISED");
}

#[test]
fn a_led_dialogue_that_did_not_converge_is_shown_whole() {
    let record = record_of(&unconverged());
    let page = draw_led(&record, None, PageDetail::Brief);
    let found = section_titles(&page);
    assert_eq!(found[1..4], ["NO CONCLUSION", "OBJECTIONS", "REJECTED DRAFT"]);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("swap only what exceeds it"), "every word of every round:\n{page}");
}

/// A Judge-led dialogue together with the run on it.
fn make_led(mut state: RunState) -> RunState {
    state.opening.protocol = ProtocolKind::Alignment;
    state
}

#[test]
fn concluding_a_led_dialogue_prints_its_ending_and_where_the_rest_is() {
    let record = record_of(&clean());
    let page = draw_led(&record, Some(&make_led(clean())), PageDetail::Result);
    assert_eq!(section_titles(&page), ["DIALOGUE", "CONCLUSION", "RECORD"]);
    assert!(page.ends_with("\n  plenary show nvidia-investment-analysis\n"), "{page}");
    let mut record = crate::report::sample::record();
    record.conclusion = None;
    let page = draw_led(&record, Some(&make_led(critic_failed())), PageDetail::Result);
    assert_eq!(section_titles(&page), ["DIALOGUE", "DRAFT", "RECORD"]);
    assert!(page.contains("could not be audited: bob"), "{page}");
    let shown = draw_led(&record, Some(&make_led(critic_failed())), PageDetail::Brief);
    assert_eq!(section_titles(&shown)[..3], ["DIALOGUE", "DRAFT", "VERDICTS"]);
}

#[test]
fn a_conclusion_fits_the_narrowest_and_the_widest_page() {
    assert_snapshot!(page_part(&draw_page(&clean(), 40), "CONCLUSION", "POSITIONS"), @"
    CONCLUSION ─────────────────────────────

      ● CLEAN · no objection by the critic;
      not a verification

      ┃ Put a read-through cache before
      ┃   the catalogue, with a lifetime of
      ┃   five minutes.
      ┃ Leave prices uncached until the
      ┃   owner says how stale they may be.

      Key condition
        Reads outnumber writes by at least
        ten to one.
      Unresolved
        Whether stale prices are worse than
        slow ones (ann, bob)
        P0101 ann: A price that is a
          minute old harms nobody.
        C0203 bob: One wrong price in a
          contract costs more than the cache
          saves.
      Review by
        2027-02-16
      Participants
        ann (ann-3f9c) · bob (bob-3f9c) ·
        cid (cid-3f9c)
    ");
    assert_snapshot!(page_part(&draw_page(&clean(), 120), "CONCLUSION", "POSITIONS"), @"
    CONCLUSION ──────────────────────────────────────────────────── ● CLEAN · no objection by the critic; not a verification

      ┃ Put a read-through cache before the catalogue, with a lifetime of five minutes.
      ┃ Leave prices uncached until the owner says how stale they may be.

      Key condition  Reads outnumber writes by at least ten to one.
      Unresolved     Whether stale prices are worse than slow ones (ann, bob)
                     P0101 ann: A price that is a minute old harms nobody.
                     C0203 bob: One wrong price in a contract costs more than the cache saves.
      Review by      2027-02-16
      Participants   ann (ann-3f9c) · bob (bob-3f9c) · cid (cid-3f9c)
    ");
}

#[test]
fn nobody_is_told_that_it_was_proved() {
    for state in [clean(), revised(), unaudited()] {
        let page = draw_page(&state, 80).to_lowercase();
        for word in ["verified", "proved", "proof", "guarantee", "confirmed by the critic"] {
            assert!(!page.contains(word), "{word}:\n{page}");
        }
    }
}
