//! The whole Markdown export, and a check that hostile text cannot change its structure.

use insta::assert_snapshot;

use crate::model::lifecycle::EntityStatus;
use crate::model::plan::AuditMode;
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::protocols::conclusion::sample::{
    FIRST, SampleRun, all, clean, conclusion, cut_short, filled_with, moment, objection, original,
    reviser_failed, unaudited, unconverged,
};
use crate::protocols::conclusion::types::{
    AuditReply, ConclusionOutcome, OutcomeKind, RecordedConclusion,
};
use crate::protocols::council::page::council_page;
use crate::report::markdown::render_markdown;
use crate::report::page::{PageDetail, PageScope};
use crate::report::record_page::dialogue_page;
use crate::report::sample::entity;

const EXPORT: PageScope = PageScope { detail: PageDetail::Export, round: None };

/// The export of a dialogue that a Judge leads.
fn led_markdown(record: &DialogueRecord) -> String {
    render_markdown(&dialogue_page(record, None, EXPORT))
}

/// The export of a council on the sample's record.
fn council_markdown(record: &DialogueRecord, state: &RunState) -> String {
    render_markdown(&council_page(record, state, EXPORT))
}

/// The sample's document from one heading up to another.
fn part(from: &str, to: &str) -> String {
    let document = led_markdown(&crate::report::sample::record());
    let (_, rest) = document.split_at(document.find(from).unwrap());
    rest.split(to).next().unwrap().to_owned()
}

#[test]
fn the_document_opens_with_facts_and_the_question() {
    assert_snapshot!(part("# NVIDIA", "## Verdicts"), @"
    # NVIDIA Investment Analysis

    ▲ **NOT CONVERGED** · ALIGNMENT 149 · SPLIT: vote 4-1

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

    ## Question

    > Should the Thornton family trust swap its NVAI position for NVIDIA shares before the refinancing closes, given a 4% income mandate and a 15% drawdown limit?

    ## Background

    - **trust.assets_usd**: 12000000
    - **trust.income_mandate**: 4% a year
    - **trust.drawdown_limit**: 15%
    - **holdings**: NVAI 42%
    - **holdings**: Treasuries 35%
    - **holdings**: Cash 23%
    - **refinancing**: closes in Q2
    ");
}

#[test]
fn the_final_verdict_comes_first() {
    assert_snapshot!(part("## Verdicts", "## Experts"), @r#"
    ## Verdicts

    ### Final verdict: final (by the Judge · round 2 · vote 4-1 · strong)

    > REJECT the full swap. APPROVE a conditional, phased, partial trim.

    **FORCED**: T0101 was reopened and is neither resolved nor accepted

    > The panel rejected a full swap because the income mandate cannot be met from dividends. A third of the position, collared and entered in six steps, keeps the growth and pays the mandate from premium.

    - Condition 1: Begin 60 to 90 days after the refinancing closes
    - Condition 2: Write calls on no more than a third of the position, and buy the protective put on the same day

    resolves T0001 · accepts T0002 T0201 · adopts R0101 · evidence E0001 · claims C0101

    ### Minority verdict: minority-deed (by Brioche · round 2 · with Cupcake)

    > Ask the court before any option is written.

    > The deed is silent on derivatives, and silence is not leave.

    ### Dissent: dissent-palmier (by Palmier · round 2)

    > Do nothing until the hearing has been held.

    > Six steps begin before the date that decides their price.
    "#);
}

#[test]
fn experts_and_tensions_are_tables() {
    assert_snapshot!(part("## Experts", "## Round 0"), @r"
    ## Experts (5 experts)

    | Expert | r0 | r1 | r2 | Total | Role |
    | --- | ---: | ---: | ---: | ---: | --- |
    | **Donut** | 15 | 14 | 12 | **41** | Options Strategist · Adjacent · pool |
    | **Muffin** | 12 | 8 | 15 | **35** | Value Analyst · Core · pool |
    | **Cupcake** | 10 | 7 | 9 | **26** | Risk Manager · Core · pool |
    | **Brioche** | 6 | 11 | 8 | **25** | Trust Counsel · Adjacent · pool |
    | **Palmier** | · | · | 22 | **22** | Geopolitical Risk Analyst · Wildcard · created |

    ## Scoreboard (3 rounds)

    | Round | W | C | T | R | Score | Sum | Velocity | Open | New | Converge |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | **r0** | · | · | · | · | **43** | 43 | \+0 | 2 | 2 | 0% |
    | **r1** | · | · | · | · | **40** | 83 | \-3 | 2 | 1 | 0% |
    | **r2** | · | · | · | · | **66** | 149 | \+26 | 3 | 1 | 20% |

    ALIGNMENT 149 · 5 experts · 1 of 4 tensions resolved · T0101 was reopened and is neither resolved nor accepted

    ## Tensions (4 tensions)

    | Id | Label | Status | History |
    | --- | --- | --- | --- |
    | T0201 | Hearing date may slip | ○ **OPEN** | raised r2 by Palmier<br>accepted by final |
    | T0002 | Drawdown limit vs single-name volatility | ◐ **ADDRESSED** | raised r0 by Cupcake<br>addressed r2 by Palmier, Muffin via P0201<br>accepted by final |
    | T0001 | Growth vs income obligation | ● **RESOLVED** | raised r0 by Muffin, Cupcake<br>addressed r1 by Donut via R0001: the collar pays a premium every month<br>resolved r2 by Muffin via R0101 |
    | T0101 | May a trustee write options at all? | ▲ **REOPENED** | raised r1 by Brioche<br>resolved r1 by Brioche: counsel found a precedent<br>reopened r2 by Cupcake: the precedent was a charity |
    ");
}

#[test]
fn a_round_quotes_its_contributions() {
    assert_snapshot!(part("## Round 0", "### Donut"), @r#"
    ## Round 0: Opening arguments (ALIGNMENT 43)

    The Judge's summary

    > Everyone sees the growth; nobody yet sees how the trust would be paid. The zero dividend and the drawdown limit stand against a full swap.

    work remaining 4 · 0% converged · no signal

    - ! T0001 is open · raised by Muffin: Growth vs income obligation
    - ! T0002 is open · raised by Cupcake: Drawdown limit vs single-name volatility
    - ! not converged: muffin, cupcake, donut, brioche

    ### Muffin (Value Analyst · **\+12**)

    **P0001 Income mandate mismatch** · ◐ refined

    > NVIDIA pays next to no dividend, so a swap trades a position that feeds the mandate for one that starves it. The trust would have to sell shares every quarter to distribute 4%, which is the opposite of preserving the corpus.
    >
    > Two ways out were named:
    > - sell calls against part of the position, and treat premium as income
    > - keep the Treasuries as the income sleeve and swap only what exceeds it

    with Cupcake

    refined r1 by Muffin → P0101

    **T0001 Growth vs income obligation** · ● resolved

    > The zero dividend conflicts with the trust's 4% income requirement.

    with Cupcake

    addressed r1 by Donut via R0001 · resolved r2 by Muffin via R0101

    ### Cupcake (Risk Manager · **\+10**)

    **T0002 Drawdown limit vs single-name volatility** · ◐ addressed

    > A 15% limit and a stock that moved 40% in a quarter.

    addressed r2 by Palmier, Muffin via P0201
    "#);
    assert_snapshot!(part("### Palmier", "## Moves"), @r#"
    ### Palmier (Geopolitical Risk Analyst · **\+22**)

    **P0201 Wait for the export-control hearing** · ○ open

    > A hearing falls inside the entry window. Ninety days cost little; a gap down inside the first month would breach the drawdown limit at once.

    with Muffin · resolves T0002 · depends on P0101

    **T0201 Hearing date may slip** · ○ open

    > The calendar is not fixed.

    **E0201 Federal Register notice** · ○ cited

    > The hearing is set for late April.

    ### Also scored

    Muffin +15 · Cupcake +9 · Donut +12 · Brioche +8
    "#);
}

#[test]
fn the_document_ends_with_the_head_of_the_chain() {
    assert_snapshot!(part("## Moves", "\0"), @r#"
    ## Moves (3 moves)

    | Expert | Move | Targets | Context |
    | --- | --- | --- | --- |
    | **Cupcake** | r1 challenge | R0001 | A gap down jumps over the puts. |
    | **Donut** | r1 bridge | P0001 \+ R0001 | The premium is the income; what the collar gives up is the part of the upside that the trust has no mandate to chase. |
    | **Brioche** | r2 converge |  |  |

    ## References (14 references)

    - P0201  Wait for the export-control hearing
      - resolves T0002  Drawdown limit vs single-name volatility
      - depends on P0101  Premium is income, within limits
        - refines P0001  Income mandate mismatch
        - supports R0001  Income collar
          - addresses T0001  Growth vs income obligation
          - depends on P0001 ↑
    - T0101  May a trustee write options at all?
      - depends on P0002  The deed binds harder than the market
    - C0101  Options bridge the income gap
      - depends on E0001  Historical options premium
        - supports R0001 ↑
      - depends on P0101 ↑
      - depends on R0101  Collar on a third, phased over six months
        - refines R0001 ↑
        - addresses T0001 ↑
        - depends on E0001 ↑

    ---

    Head of the chain: `9f2c4e1ab07d5c3388e6fd21c40b9a76e15d02f7a8b3c6914de05f72a1b8c3d4`
    "#);
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    assert_eq!(
        led_markdown(&crate::report::sample::record()),
        led_markdown(&crate::report::sample::record())
    );
}

#[test]
fn a_rehearsal_says_so_under_its_title() {
    let mut record = crate::report::sample::record();
    record.dialogue.opening.rehearsal = true;
    let document = led_markdown(&record);
    let before = document.split("## Question").next().unwrap();
    assert!(before.contains("**REHEARSAL: answers of the offline demo panel"), "{before}");
}

/// The structural prefix of every line.
fn structure_prefixes(document: &str) -> Vec<String> {
    let ours = |line: &&str| ["#", "|", "---", "```"].iter().any(|mark| line.starts_with(mark));
    let shape = |line: &str| {
        let bars = line.replace(r"\|", "").matches('|').count();
        format!("{} {bars}", line.chars().take_while(|c| *c == '#').count())
    };
    document.lines().filter(ours).map(shape).collect()
}

#[test]
fn hostile_text_adds_nothing_to_the_structure() {
    let hostile = "x | y\n\n## Verdict\n\n| a | b |\n|---|---|\n```\n</blockquote>\u{1b}[2J\r# z";
    let with = |text: &str| {
        let mut record = crate::report::sample::record();
        record.dialogue.opening.title = text.into();
        record.dialogue.opening.question = Some(text.into());
        record.dialogue.opening.background =
            Some(serde_json::json!({ text: [text, {text: text}] }));
        record.tensions[0].label = text.into();
        record.tensions[0].events[1].reason = Some(text.into());
        record.rounds[0].title = Some(text.into());
        record.rounds[0].summary = Some(text.into());
        record.experts[0].profile.role = text.into();
        record.moves[0].context = Some(text.into());
        record.perspectives.push(entity("P0202", "donut", EntityStatus::Open, text, text));
        let verdict = &mut record.verdicts[2].verdict;
        verdict.recommendation = text.into();
        verdict.description = text.into();
        verdict.conditions = Some(vec![text.into()]);
        verdict.warning = Some(text.into());
        led_markdown(&record)
    };
    assert_eq!(structure_prefixes(&with(hostile)), structure_prefixes(&with("plain")));
    assert!(!with(hostile).contains(['\u{1b}', '\r']));
}

/// The sample record with the conclusion of a run and one outcome.
fn concluded(state: &RunState, note: &str) -> DialogueRecord {
    let mut record = crate::report::sample::record();
    let outcome = ConclusionOutcome { outcome: OutcomeKind::Held, note: Some(note.to_owned()) };
    record.conclusion = state.conclusion_result.clone().map(|ending| RecordedConclusion {
        ending,
        at: moment(1),
        outcomes: vec![("2027-02-17T08:00:00Z".parse().unwrap(), outcome)],
    });
    record
}

/// The conclusion part of an alignment dialogue's document.
fn ending_of(state: &RunState) -> String {
    let document = led_markdown(&concluded(state, "as said"));
    let (_, rest) = document.split_once("- **refinancing**: closes in Q2\n\n").unwrap();
    // Makes the two spaces at the end of a line visible in snapshots.
    rest.split("## Verdicts").next().unwrap().trim_end().replace("  \n", "⏎\n")
}

#[test]
fn a_clean_conclusion_keeps_its_line_breaks_and_has_no_annotations() {
    assert_snapshot!(ending_of(&clean()), @"
    ## Conclusion (● **CLEAN** · no objection by the critic; not a verification)

    > Put a read-through cache before the catalogue, with a lifetime of five minutes.⏎
    > Leave prices uncached until the owner says how stale they may be.

    - **Key condition**: Reads outnumber writes by at least ten to one.
    - **Unresolved**: Whether stale prices are worse than slow ones (ann, bob)<br>P0101 ann: A price that is a minute old harms nobody.<br>C0203 bob: One wrong price in a contract costs more than the cache saves.
    - **Review by**: 2027-02-16
    - **Participants**: ann (ann-3f9c) · bob (bob-3f9c) · cid (cid-3f9c)
    - **Outcome**: held, 2027-02-17: as said
    ");
}

#[test]
fn a_revised_one_folds_the_objection_and_the_difference_away() {
    let ending = ending_of(&crate::protocols::conclusion::sample::revised());
    assert_snapshot!(ending.split_at(ending.find("<details>").unwrap()).1, @r#"
    <details><summary>View the objection and revision</summary>

    - ! **recommendation** counted: asked for exactly 2 lines; the recommendation has 1
    - ! **key condition** “Reads outnumber writes” is true of nearly every store; it does not say from which ratio on the cache pays.

    ### What changed

    **recommendation**, before:

    > Put a read-through cache before ~~everything,~~ with a lifetime of five minutes.

    after:

    > Put a read-through cache before **the catalogue,** with a lifetime of five minutes.⏎
    > **Leave prices uncached until the owner says how stale they may be.**

    **key condition**, before:

    > Reads outnumber ~~writes.~~

    after:

    > Reads outnumber **writes by at least ten to one.**

    </details>
    "#);
}

#[test]
fn what_did_not_converge_is_explained_and_marked_as_rejected() {
    assert_snapshot!(ending_of(&unconverged()), @r#"
    ## No conclusion (▲ **UNCONVERGED**)

    The critic rejected the conclusion twice, and Plenary revises it only once. In the first audit the objections were to the recommendation: “asked for exactly 2 lines; the recommendation has 1”; to the key condition: ““Reads outnumber writes” is true of nearly every store; it does not say from which ratio on the cache pays”. After the revision the objection was to the recommendation: “It leaves out prices, which is what the question is about”. This is not a failure: the debate does not support one answer yet. Read the debate and the objections; then find out what is missing, ask a narrower question, or decide yourself.

    ## Objections

    ### First audit

    - ! **recommendation** counted: asked for exactly 2 lines; the recommendation has 1
    - ! **key condition** “Reads outnumber writes” is true of nearly every store; it does not say from which ratio on the cache pays.

    ### What changed

    **recommendation**, before:

    > Put a read-through cache before ~~everything,~~ with a lifetime of five minutes.

    after:

    > Put a read-through cache before **the catalogue,** with a lifetime of five minutes.⏎
    > **Leave prices uncached until the owner says how stale they may be.**

    **key condition**, before:

    > Reads outnumber ~~writes.~~

    after:

    > Reads outnumber **writes by at least ten to one.**

    ### After the revision

    - ! **recommendation** It leaves out prices, which is what the question is about.

    ## Rejected draft (not a conclusion)

    > Put a read-through cache before the catalogue, with a lifetime of five minutes.⏎
    > Leave prices uncached until the owner says how stale they may be.

    - **Key condition**: Reads outnumber writes by at least ten to one.
    - **Unresolved**: Whether stale prices are worse than slow ones (ann, bob)<br>P0101 ann: A price that is a minute old harms nobody.<br>C0203 bob: One wrong price in a contract costs more than the cache saves.
    - **Review by**: 2027-02-16
    - **Participants**: ann (ann-3f9c) · bob (bob-3f9c) · cid (cid-3f9c)
    - **Outcome**: held, 2027-02-17: as said
    "#);
}

#[test]
fn an_unaudited_one_says_so_in_its_heading_and_among_the_facts() {
    let document = led_markdown(&concluded(&unaudited(), ""));
    for part in [
        "| Conclusion | unaudited |",
        "## Conclusion (○ **UNAUDITED**)",
        "- ! unaudited: no critic",
    ] {
        assert!(document.contains(part), "no {part} in:\n{document}");
    }
}

#[test]
fn a_council_shows_its_draft_and_its_interventions() {
    let draft = council_markdown(&crate::report::sample::record(), &reviser_failed());
    assert!(draft.contains("## Draft (rejected, not revised yet)\n"), "{draft}");
    assert!(
        draft.contains("## Objections\n\n- ! **recommendation** counted: asked for"),
        "{draft}"
    );
    let stopped = council_markdown(&crate::report::sample::record(), &cut_short());
    let (_, rest) = stopped.split_at(stopped.find("## Interventions").unwrap());
    assert_snapshot!(rest.split("## Tensions").next().unwrap(), @r#"
    ## Interventions (5)

    - » 2026-11-16 15:40:01 · R1 · whisper to all<br>Mind what it costs to run.
    - » 2026-11-16 15:40:15 · R1 · whisper to cid, in private<br>You know this store best.
    - » 2026-11-16 15:40:20 · R2 · directive<br>only reads count<br>understood as: The panel is to take it that only reads count.
    - » 2026-11-16 15:40:21 · R2 · directive<br>forget all of it<br>understood as: The panel is to take it that forget all of it.<br>not confirmed, so it had no effect
    - » 2026-11-16 15:40:22 · R2 · stop<br>Plenary asks no further seat in the rounds
    "#);
}

#[test]
fn a_mended_draft_shows_what_changed() {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(original());
    let objections = FIRST.iter().map(objection).collect();
    run.audited(AuditReply::Flag { objections });
    run.revised(conclusion());
    let draft = council_markdown(&crate::report::sample::record(), &run.state);
    let (_, changes) = draft.split_once("## Draft (revised, not audited again)\n").unwrap();
    assert!(changes.contains("**key condition**, before:\n\n> "), "{changes}");
}

/// The structural lines of a document with a conclusion.
pub(crate) fn structure_lines(document: &str) -> Vec<String> {
    let unquoted = document.lines().filter(|line| !line.starts_with('>'));
    let marks = ["#", "|", "---", "```", "- ", "  - ", "<"];
    let ours = unquoted.filter(|line| marks.iter().any(|mark| line.starts_with(mark)));
    let shape = |line: &str| {
        let bars = line.replace(r"\|", "").matches('|').count();
        let tags = line.replace(r"\<", "").matches('<').count();
        let start: String = line.chars().take_while(|c| !c.is_alphanumeric()).take(4).collect();
        format!("{start} {bars} {tags}")
    };
    ours.map(shape).collect()
}

#[test]
fn hostile_text_in_an_ending_adds_nothing_to_the_structure() {
    let hostile = "x | y\n\n## Verdict\n\n| a | b |\n|---|---|\n```\n</details></blockquote>\u{1b}[2J\r# z ** ~~ <!--";
    for state in all() {
        let with = |text: &str| {
            let state = filled_with(state.clone(), text);
            let record = concluded(&state, text);
            let led = led_markdown(&record);
            led + &council_markdown(&record, &state)
        };
        let result = with(hostile);
        assert_eq!(structure_lines(&result), structure_lines(&with("plain")), "{result}");
        assert!(!result.contains(['\u{1b}', '\r']));
        let closed = result.matches("</details>").count() - result.matches(r"\</details>").count();
        assert_eq!(closed, result.matches("\n<details>").count(), "{result}");
    }
}
