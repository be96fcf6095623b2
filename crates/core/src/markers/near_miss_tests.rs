//! Markers with the mistakes that models make: eight are read with a warning, others are reported.

use crate::markers::extract::extract_reply;
use crate::markers::extract_tests::{render_extraction, render_reply};
use crate::markers::extraction::{MarkerDeviation, ReplyExtraction};

fn read(text: &str) -> ReplyExtraction {
    extract_reply(text, &"muffin".parse().unwrap(), 1)
}

/// Checks how a marker is parsed and which deviations are reported.
#[track_caller]
fn check(marker: &str, meant: &str, slips: &[MarkerDeviation]) {
    let reply =
        format!("[MUFFIN-P0199: Base]\nText.\n[MUFFIN-E0199: New]\nText.\n\n{marker}\nMore.");
    let read = read(&reply);
    let message: Vec<String> =
        read.markers.iter().skip(2).map(|marker| marker.content.to_string()).collect();
    assert_eq!(message, [meant], "{marker}\n{}", render_extraction(&read));
    let result: Vec<MarkerDeviation> =
        read.warnings.iter().flat_map(|warning| warning.slips.clone()).collect();
    assert_eq!(result, slips, "{marker}\n{}", render_extraction(&read));
    let is_there = read.warnings.iter().all(|warning| warning.line == Some(6));
    assert!(is_there, "{}", render_extraction(&read));
}

const P: &str = "[MUFFIN-P0101: A b]";
const S: &str = "[RE:SUPPORT P0001]";

#[test]
fn exact_markers_give_no_warning_wherever_they_stand() {
    for marker in [
        P,
        S,
        "[RE:OPPOSE @donut]",
        "[RE:ADDRESS T0002]",
        "[RE:DEPEND DONUT-R0001]",
        "[MOVE:DEFEND R0001]",
        "[MOVE:BRIDGE P0003 R0001]",
        "[MOVE:CONVERGE]",
        "[MOVE:REQUEST Data by month]",
        "[DISSENT]",
        "[MINORITY VERDICT: Trim]",
    ] {
        for before in ["", "### ", "- ", "1. ", "> ", "• "] {
            check(&format!("{before}{marker}"), marker, &[]);
        }
    }
    check("[MUFFIN-P0101:A b]", P, &[]);
    check("[ MUFFIN-P0101 :  A   b ]", P, &[]);
    check("[ RE : SUPPORT   P0001 ]", S, &[]);
    check("[MOVE:BRIDGE P0003, R0001]", "[MOVE:BRIDGE P0003 R0001]", &[]);
}

#[test]
fn eight_deviations_are_read_with_a_warning() {
    use MarkerDeviation as D;
    check("[muffin-p0101: A b]", P, &[D::LetterCase]);
    check("[re:support p0001]", S, &[D::LetterCase]);
    check("[Move: Converge]", "[MOVE:CONVERGE]", &[D::LetterCase]);
    check("[Minority verdict: Trim]", "[MINORITY VERDICT: Trim]", &[D::LetterCase]);
    check("[RE:OPPOSE @Donut]", "[RE:OPPOSE @donut]", &[D::LetterCase]);

    check("[MUFFIN-P101: A b]", P, &[D::ZeroPadding]);
    check("[MUFFIN-P11: A b]", P, &[D::ZeroPadding]);
    check("[RE:SUPPORT P1]", S, &[D::ZeroPadding]);
    check("[RE:SUPPORT MUFFIN-P199]", "[RE:SUPPORT MUFFIN-P0199]", &[D::ZeroPadding]);

    check("[P0101: A b]", P, &[D::MissingPrefix]);
    check("[RE:SUPPORT P0199]", "[RE:SUPPORT MUFFIN-P0199]", &[D::MissingPrefix]);

    for marker in ["[MUFFIN-P0101 — A b]", "[MUFFIN-P0101 - A b]", "[MUFFIN-P0101—A b]"] {
        check(marker, P, &[D::Colon]);
    }
    check("[RE—SUPPORT P0001]", S, &[D::Colon]);
    check("[VERDICT — FINAL]", "[VERDICT:FINAL]", &[D::Colon]);
    check("[MINORITY VERDICT - Trim]", "[MINORITY VERDICT: Trim]", &[D::Colon]);

    check("**[MUFFIN-P0101: A b]**", P, &[D::Emphasis]);
    check("## **[MUFFIN-P0101: A b]**", P, &[D::Emphasis]);
    check("__[RE:SUPPORT P0001]__", S, &[D::Emphasis]);
    check("[**MUFFIN-P0101: A b**]", P, &[D::Emphasis]);
    check("[MUFFIN-P0101: A *b*]", "[MUFFIN-P0101: A *b*]", &[]);

    check("`[MUFFIN-P0101: A b]`", P, &[D::InlineCode]);
    check("``[RE:SUPPORT P0001]``", S, &[D::InlineCode]);
    check("- **`[RE:SUPPORT P0001]`**", S, &[D::Emphasis, D::InlineCode]);

    let two = "[RE:SUPPORT P0001] [RE:SUPPORT R0001]";
    check("[RE:SUPPORT P0001 R0001]", two, &[D::SeveralIds]);
    check("[RE:SUPPORT P0001 and R0001]", two, &[D::SeveralIds]);
    check("[re: support P1, R0001]", two, &[D::LetterCase, D::ZeroPadding, D::SeveralIds]);
}

#[test]
fn inline_code_within_a_sentence_is_reported() {
    insta::assert_snapshot!(render_reply("[MUFFIN-P0101: A]
a
`[RE:SUPPORT P0001]`, `[RE:OPPOSE P0002]`
I write `[RE:REFINE P0001]` and `[P0001]` and `x[1]`."), @r"
    1: [MUFFIN-P0101: A]
    3: [RE:SUPPORT P0001] from MUFFIN-P0101
    3: [RE:OPPOSE P0002] from MUFFIN-P0101
    ! 3 near_miss: `[RE:SUPPORT P0001]` is read as [RE:SUPPORT P0001]: inline code
    ! 3 near_miss: `[RE:OPPOSE P0002]` is read as [RE:OPPOSE P0002]: inline code
    ! 4 not_read: `[RE:REFINE P0001]` is not read: it is inline code within a sentence
    ");
}

#[test]
fn an_untyped_reference_is_support_with_a_warning() {
    insta::assert_snapshot!(render_reply("[MUFFIN-P0101: A] a\n[RE: DONUT-R0001]"), @r"
    1: [MUFFIN-P0101: A]
    2: [RE:SUPPORT DONUT-R0001] from MUFFIN-P0101
    ! 2 untyped_reference: `[RE: DONUT-R0001]` has no type and is read as support
    ");
}

#[test]
fn a_reply_in_one_block_of_markdown_is_read() {
    let read = read("```markdown\n# Muffin\n[MUFFIN-P0101: A]\na\n```");
    insta::assert_snapshot!(render_extraction(&read), @r"
    3: [MUFFIN-P0101: A]
    ! 1 near_miss: a code block named Markdown encloses the whole reply; it is read
    ");
    assert_eq!(read.contributions[0].text, "a");
    assert_eq!(read.warnings[0].slips, [MarkerDeviation::CodeFence]);
}

#[test]
fn ids_that_can_mean_two_things_are_not_guessed() {
    let read = extract_reply(
        "[MUFFIN-P0301: A] a [RE:SUPPORT P11] [RE:SUPPORT P011] [RE:SUPPORT P12]",
        &"muffin".parse().unwrap(),
        3,
    );
    insta::assert_snapshot!(render_extraction(&read), @r"
    1: [MUFFIN-P0301: A]
    ! 1 not_read: `[RE:SUPPORT P11]` is not read: P11: zeros are missing; it could be P0011 or P0101
    ! 1 not_read: `[RE:SUPPORT P011]` is not read: P011: zeros are missing; it could be P0011 or P0101
    ! 1 not_read: `[RE:SUPPORT P12]` is not read: P12: zeros are missing; it could be P0012 or P0102
    ");
    let own = "[MUFFIN-P0101: A] a [RE:SUPPORT P12] [MUFFIN-P0102: B] b";
    insta::assert_snapshot!(render_reply(own), @r"
    1: [MUFFIN-P0101: A]
    1: [MUFFIN-P0102: B]
    ! 1 not_read: `[RE:SUPPORT P12]` is not read: P12: zeros are missing; it could be P0012 or MUFFIN-P0102
    ");
}

#[test]
fn markers_without_brackets_are_reported() {
    insta::assert_snapshot!(render_reply("### MUFFIN-P0101: A\na\n
**RE:SUPPORT P0001**\n
［MUFFIN-P0102: B］
MOVE:CONVERGE\n
MUFFIN-P0101 is fine."), @r"
    !  no_markers: the reply of muffin has no markers, so it contributes nothing
    ! 1 not_read: `### MUFFIN-P0101: A` is not read: it has no square brackets
    ! 4 not_read: `**RE:SUPPORT P0001**` is not read: it has no square brackets
    ! 6 not_read: `［MUFFIN-P0102: B］` is not read: it has no square brackets
    ! 7 not_read: `MOVE:CONVERGE` is not read: it has no square brackets
    ");
}

/// The text of the entity above ends at the invalid marker, because the rest belongs to the marker.
#[test]
fn an_unreadable_entity_is_reported_and_ends_the_text_above() {
    for marker in [
        "[MUFFIN-X0101: A]",
        "[MUFFIN-P1O1: A]",
        "[MUFFIN-P00102: A]",
        "[MUFFIN-P-0102: A]",
        "[MUFFIN:P0102: A]",
        "[MUFFIN P0102: A]",
        "[MUFFIN-P0102 A]",
        "[MUFFIN-P1: A]",
        "[muffin-x0101: A]",
        "**[MUFFIN-X0101: A]**",
        "[TENSION: A]",
        "[PERSPECTIVE MUFFIN-P0102: A]",
        "\\[MUFFIN-P0102: A\\]",
        "[MUFFIN-P0102: not closed",
        "[DONUT-P0101: A]",
    ] {
        let read = read(&format!("[MUFFIN-P0101: Base]\nText.\n{marker}\nfoo\n[RE:OPPOSE P0001]"));
        assert_eq!(read.contributions.len(), 1, "{}", render_extraction(&read));
        assert_eq!(read.contributions[0].text.trim_end_matches('\\').trim(), "Text.", "{marker}");
        let result: Vec<(Option<usize>, &str)> =
            read.warnings.iter().map(|warning| (warning.line, warning.kind.name())).collect();
        let expected = [(Some(3), "not_read"), (Some(5), "not_read")];
        assert_eq!(result, expected, "{}", render_extraction(&read));
    }
}

#[test]
fn unreadable_references_and_moves_are_reported() {
    let markers = [
        "[RE SUPPORT P0001]",
        "[RE:SUPPORTS P0001]",
        "[RE:SUPPORT: P0001]",
        "[RE:SUPPORT P0001 (muffin)]",
        "[REF:SUPPORT P0001]",
        "[SUPPORTS: P0001]",
        "[MOVES:CONVERGE]",
        "[BRIDGE: P0001 R0001]",
    ];
    let result =
        markers.map(|marker| render_reply(&format!("[MUFFIN-P0101: Base]\nText.\n{marker}")));
    let result: Vec<&str> = result.iter().flat_map(|shown| shown.lines().skip(1)).collect();
    insta::assert_snapshot!(result.join("\n"), @r"
    ! 3 not_read: `[RE SUPPORT P0001]` is not read: RE needs a colon after it
    ! 3 not_read: `[RE:SUPPORTS P0001]` is not read: SUPPORTS is none of SUPPORT, OPPOSE, REFINE, ADDRESS, RESOLVE, REOPEN, QUESTION, DEPEND
    ! 3 not_read: `[RE:SUPPORT: P0001]` is not read: it names no id
    ! 3 not_read: `[RE:SUPPORT P0001 (muffin)]` is not read: `(muffin)` is not an id
    ! 3 not_read: `[REF:SUPPORT P0001]` is not read: a marker begins with `RE:` or `MOVE:` and one of their types
    ! 3 not_read: `[SUPPORTS: P0001]` is not read: a marker begins with `RE:` or `MOVE:` and one of their types
    ! 3 not_read: `[MOVES:CONVERGE]` is not read: a marker begins with `RE:` or `MOVE:` and one of their types
    ! 3 not_read: `[BRIDGE: P0001 R0001]` is not read: a marker begins with `RE:` or `MOVE:` and one of their types
    ");
}

#[test]
fn prose_in_brackets_is_no_marker() {
    for text in [
        "[E1]: https://example.com/report",
        "[C4: context diagram] shows how.",
        "[T1] and [P2]",
        "[P0001 – P0005] and [MUFFIN-P0101, DONUT-P0001]",
        "[R2-D2]",
        "[link](https://example.com) [x] [1] [^2] ![image](a.png)",
        "[Re: your question]",
        "[re: the plan]",
        "[Muffin: three reasons]",
        "[muffin-style baking]",
        "[SEE: P0001]",
        "[Result: support for P0001]",
        "[NOTE: SUPPORT is thin]",
        "[Dissent noted]",
        "[Claim 4]",
    ] {
        let read = read(&format!("[MUFFIN-P0101: Base]\nText.\n{text}"));
        let shown = render_extraction(&read);
        assert_eq!((read.markers.len(), read.warnings.len()), (1, 0), "{text}\n{shown}");
        assert!(read.contributions[0].text.ends_with(text), "{}", read.contributions[0].text);
    }
}
