//! Markers with the mistakes that models make.

use crate::markers::extract::extract_reply;
use crate::markers::extract_tests::{render_extraction, render_reply};
use crate::markers::extraction::ReplyExtraction;
use crate::markers::warnings::MarkerDeviation;

fn read(text: &str) -> ReplyExtraction {
    extract_reply(text, &"muffin".parse().unwrap(), 1)
}

/// Checks how a marker is parsed and which deviations are reported.
#[track_caller]
fn check(marker: &str, meant: &str, slips: &[MarkerDeviation]) {
    let reply = format!("[MUFFIN-P0199: Base]\nText.\n\n{marker}\nMore.");
    let read = read(&reply);
    let said: Vec<String> =
        read.markers.iter().skip(1).map(|marker| marker.content.to_string()).collect();
    assert_eq!(said, [meant], "{marker}\n{}", render_extraction(&read));
    let told: Vec<MarkerDeviation> =
        read.warnings.iter().flat_map(|warning| warning.slips.clone()).collect();
    assert_eq!(told, slips, "{marker}\n{}", render_extraction(&read));
    assert!(
        read.warnings.iter().all(|warning| warning.line == Some(4)),
        "{}",
        render_extraction(&read)
    );
}

/// The same, with another new entity as the last one above the marker.
#[track_caller]
fn check_on_new(marker: &str, meant: &str, slips: &[MarkerDeviation]) {
    let reply = format!("[MUFFIN-P0199: Base]\nText.\n[MUFFIN-E0101: New]\nText.\n{marker}");
    let read = read(&reply);
    let said = read.markers.last().map(|marker| marker.content.to_string());
    let told: Vec<MarkerDeviation> =
        read.warnings.iter().flat_map(|warning| warning.slips.clone()).collect();
    assert_eq!(
        (said.as_deref(), told.as_slice()),
        (Some(meant), slips),
        "{}",
        render_extraction(&read)
    );
}

const P: &str = "[MUFFIN-P0101: A b]";
const S: &str = "[RE:SUPPORT P0001]";

#[test]
fn what_is_written_right_is_not_remarked_on() {
    for marker in [P, S, "[RE:OPPOSE @donut]", "[RE:ADDRESS T0002]", "[RE:DEPEND DONUT-R0001]"] {
        check(marker, marker, &[]);
    }
    for marker in
        ["[MOVE:DEFEND R0001]", "[MOVE:BRIDGE P0003 R0001]", "[MOVE:CONVERGE]", "[DISSENT]"]
    {
        check(marker, marker, &[]);
    }
    check("[MOVE:REQUEST Data by month]", "[MOVE:REQUEST Data by month]", &[]);
    check("[MINORITY VERDICT: Trim]", "[MINORITY VERDICT: Trim]", &[]);
    check("[MUFFIN-P0101:A b]", P, &[]);
}

#[test]
fn letters_of_the_wrong_size() {
    check("[muffin-p0101: A b]", P, &[MarkerDeviation::LetterCase]);
    check("[Muffin-P0101: A b]", P, &[MarkerDeviation::LetterCase]);
    check("[re:support p0001]", S, &[MarkerDeviation::LetterCase]);
    check("[Re: Support P0001]", S, &[MarkerDeviation::LetterCase, MarkerDeviation::Spaces]);
    check("[Move:Converge]", "[MOVE:CONVERGE]", &[MarkerDeviation::LetterCase]);
    check("[Minority verdict: Trim]", "[MINORITY VERDICT: Trim]", &[MarkerDeviation::LetterCase]);
    check("[RE:OPPOSE @Donut]", "[RE:OPPOSE @donut]", &[MarkerDeviation::LetterCase]);
}

#[test]
fn zeros_left_out() {
    check("[MUFFIN-P101: A b]", P, &[MarkerDeviation::ZeroPadding]);
    check("[MUFFIN-P11: A b]", P, &[MarkerDeviation::ZeroPadding]);
    check("[MUFFIN-P1: A b]", P, &[MarkerDeviation::MissingRound]);
    check("[MUFFIN-P01: A b]", P, &[MarkerDeviation::MissingRound]);
    check("[RE:SUPPORT P1]", S, &[MarkerDeviation::ZeroPadding]);
    check("[RE:SUPPORT P001]", S, &[MarkerDeviation::ZeroPadding]);
    check_on_new(
        "[RE:SUPPORT MUFFIN-P199]",
        "[RE:SUPPORT MUFFIN-P0199]",
        &[MarkerDeviation::ZeroPadding],
    );
    check_on_new(
        "[RE:SUPPORT MUFFIN-P99]",
        "[RE:SUPPORT MUFFIN-P0199]",
        &[MarkerDeviation::ZeroPadding],
    );
}

#[test]
fn bold_backslashes_and_wide_signs() {
    check("**[MUFFIN-P0101: A b]**", P, &[MarkerDeviation::Emphasis]);
    check("*[MUFFIN-P0101: A b]*", P, &[MarkerDeviation::Emphasis]);
    check("__[RE:SUPPORT P0001]__", S, &[MarkerDeviation::Emphasis]);
    check("[**MUFFIN-P0101**: A b]", P, &[MarkerDeviation::Emphasis]);
    check("[**MUFFIN-P0101: A b**]", P, &[MarkerDeviation::Emphasis]);
    check("[MUFFIN-P0101: **A b**]", P, &[]);
    check("\\[MUFFIN-P0101: A b\\]", P, &[MarkerDeviation::Escape]);
    check("**\\[RE:SUPPORT P0001\\]**", S, &[MarkerDeviation::Emphasis, MarkerDeviation::Escape]);
    check("［MUFFIN-P0101：A b］", P, &[MarkerDeviation::LookAlike]);
    check("【RE：SUPPORT P0001】", S, &[MarkerDeviation::LookAlike]);
    check("[ＭＵＦＦＩＮ-Ｐ０１０１: A b]", P, &[MarkerDeviation::LookAlike]);
    check("[MUFFIN\u{2011}P0101: A b]", P, &[MarkerDeviation::LookAlike]);
    check("[RE:\u{200b}SUPPORT P0001]", S, &[MarkerDeviation::HiddenCharacter]);
}

/// Our prompts show markers in inline code.
#[test]
fn inline_code_on_a_line_of_its_own() {
    check("`[MUFFIN-P0101: A b]`", P, &[MarkerDeviation::InlineCode]);
    check("``[RE:SUPPORT P0001]``", S, &[MarkerDeviation::InlineCode]);
    check(
        "- **`[RE:SUPPORT P0001]`**",
        S,
        &[MarkerDeviation::Emphasis, MarkerDeviation::ListItem, MarkerDeviation::InlineCode],
    );
    check("[`MUFFIN-P0101`: A b]", P, &[MarkerDeviation::InlineCode]);
    check("[`MUFFIN-P0101: A b`]", P, &[MarkerDeviation::InlineCode]);
    check("[RE:SUPPORT `P0001`]", S, &[MarkerDeviation::InlineCode]);
    insta::assert_snapshot!(render_reply("[MUFFIN-P0101: A]
a
`[RE:SUPPORT P0001]`, `[RE:OPPOSE P0002]`
I write `[RE:REFINE P0001]` and `[P0001]` and `x[1]`.
`RE:DEPEND P0001`"), @r"
    1: [MUFFIN-P0101: A]
    3: [RE:SUPPORT P0001] from MUFFIN-P0101
    3: [RE:OPPOSE P0002] from MUFFIN-P0101
    ! 3 near_miss: `[RE:SUPPORT P0001]` is read as [RE:SUPPORT P0001]: it stands in inline code
    ! 3 near_miss: `[RE:OPPOSE P0002]` is read as [RE:OPPOSE P0002]: it stands in inline code
    ! 4 not_read: `[RE:REFINE P0001]` is not read: it stands in inline code
    ! 5 not_read: ``RE:DEPEND P0001`` is not read: it stands without brackets
    ");
}

#[test]
fn something_else_for_the_colon() {
    for marker in
        ["[MUFFIN-P0101 — A b]", "[MUFFIN-P0101 - A b]", "[MUFFIN-P0101—A b]", "[MUFFIN-P0101 A b]"]
    {
        check(marker, P, &[MarkerDeviation::Colon]);
    }
    check("[RE—SUPPORT P0001]", S, &[MarkerDeviation::Colon]);
    check("[RE-SUPPORT P0001]", S, &[MarkerDeviation::Colon]);
    check("[RE SUPPORT P0001]", S, &[MarkerDeviation::Colon]);
    check("[MOVE CONVERGE]", "[MOVE:CONVERGE]", &[MarkerDeviation::Colon]);
    check("[VERDICT — FINAL]", "[VERDICT:FINAL]", &[MarkerDeviation::Colon]);
    check("[MINORITY VERDICT - Trim]", "[MINORITY VERDICT: Trim]", &[MarkerDeviation::Colon]);
}

#[test]
fn names_and_spaces() {
    check("[P0101: A b]", P, &[MarkerDeviation::MissingPrefix]);
    check("[MUFFIN P0101: A b]", P, &[MarkerDeviation::DisplayName]);
    check("[MUFFIN_P0101: A b]", P, &[MarkerDeviation::DisplayName]);
    check("[ MUFFIN-P0101 :  A   b ]", P, &[MarkerDeviation::Spaces]);
    check("[ RE : SUPPORT   P0001 ]", S, &[MarkerDeviation::Spaces]);
    check_on_new(
        "[RE:SUPPORT P0199]",
        "[RE:SUPPORT MUFFIN-P0199]",
        &[MarkerDeviation::MissingPrefix],
    );
    let lead = |text: &str| {
        let read = extract_reply(text, &"ops_lead-2".parse().unwrap(), 1);
        read.contributions.iter().map(|item| item.local_id.to_string()).collect::<Vec<_>>()
    };
    for text in [
        "[OPS_LEAD-2-P0101: A]",
        "[Ops Lead 2 P0101: A]",
        "[OPS\\_LEAD-2-P0101: A]",
        "[OpsLead2-P0101: A]",
    ] {
        assert_eq!(lead(text), ["OPS_LEAD-2-P0101"], "{text}");
    }
}

#[test]
fn where_it_stands() {
    check("### [MUFFIN-P0101: A b]", P, &[MarkerDeviation::Heading]);
    check("## **[MUFFIN-P0101: A b]**", P, &[MarkerDeviation::Emphasis, MarkerDeviation::Heading]);
    for bullet in ["-", "*", "+", "1.", "2)", "•"] {
        check(&format!("{bullet} [RE:SUPPORT P0001]"), S, &[MarkerDeviation::ListItem]);
    }
    check("> [MUFFIN-P0101: A b]", P, &[MarkerDeviation::BlockQuote]);
    check("[MUFFIN-P0101: A\nb]", P, &[MarkerDeviation::LineBreak]);
    check("### [MUFFIN-P0101] A b", P, &[MarkerDeviation::Heading, MarkerDeviation::LabelOutside]);
    check("[MUFFIN-P0101]: A b", P, &[MarkerDeviation::LabelOutside]);
    check(
        "**[MUFFIN-P0101]** — A b",
        P,
        &[MarkerDeviation::Emphasis, MarkerDeviation::LabelOutside],
    );
}

#[test]
fn words_and_signs_around_ids() {
    check("[PERSPECTIVE MUFFIN-P0101: A b]", P, &[MarkerDeviation::KindWord]);
    check("[RE:SUPPORTS P0001]", S, &[MarkerDeviation::WordForm]);
    check("[RE:RESOLVING T0001]", "[RE:RESOLVE T0001]", &[MarkerDeviation::WordForm]);
    check("[RE:DEPENDS ON P0001]", "[RE:DEPEND P0001]", &[MarkerDeviation::WordForm]);
    check("[RE:SUPPORT: P0001]", S, &[MarkerDeviation::Punctuation]);
    check("[RE:SUPPORT {P0001}]", S, &[MarkerDeviation::Punctuation]);
    check("[RE:SUPPORT [P0001]]", S, &[MarkerDeviation::Punctuation]);
    check("[RE:SUPPORT P0001 (muffin)]", S, &[MarkerDeviation::FurtherWords]);
    check(
        "[RE:SUPPORT P0001 R0001]",
        "[RE:SUPPORT P0001] [RE:SUPPORT R0001]",
        &[MarkerDeviation::SeveralIds],
    );
    for between in [", ", " and ", " + ", " / ", " ↔ "] {
        let marker = format!("[MOVE:BRIDGE P0003{between}R0001]");
        check(&marker, "[MOVE:BRIDGE P0003 R0001]", &[MarkerDeviation::Punctuation]);
    }
    check("[MOVE:DEFENDING R0001]", "[MOVE:DEFEND R0001]", &[MarkerDeviation::WordForm]);
    check("[FINAL VERDICT]", "[VERDICT:FINAL]", &[MarkerDeviation::WordForm]);
}

#[test]
fn an_untyped_reference_is_support_and_is_said() {
    let read = read("[MUFFIN-P0101: A] a\n[RE: DONUT-R0001]");
    insta::assert_snapshot!(render_extraction(&read), @r"
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
    ! 1 near_miss: the whole reply stands in a code block called Markdown; it is read
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
}

#[test]
fn ids_that_can_mean_one_thing_only_are_read() {
    let read = |text: &str| render_extraction(&read(text));
    insta::assert_snapshot!(read("[MUFFIN-P0101: A] a [RE:SUPPORT P12]"), @r"
    1: [MUFFIN-P0101: A]
    1: [RE:SUPPORT P0012] from MUFFIN-P0101
    ! 1 near_miss: `[RE:SUPPORT P12]` is read as [RE:SUPPORT P0012]: zeros are missing in an id
    ");
    insta::assert_snapshot!(read("[MUFFIN-P0101: A] a [RE:SUPPORT P12] [MUFFIN-P0102: B] b"), @r"
    1: [MUFFIN-P0101: A]
    1: [MUFFIN-P0102: B]
    ! 1 not_read: `[RE:SUPPORT P12]` is not read: P12: zeros are missing; it could be P0012 or MUFFIN-P0102
    ");
}

#[test]
fn markers_without_brackets_are_not_read_and_said() {
    let read = read(
        "### MUFFIN-P0101: A\na\n\n**RE:SUPPORT P0001**\n\nMOVE:CONVERGE\n\nMUFFIN-P0101 is fine.",
    );
    insta::assert_snapshot!(render_extraction(&read), @r"
    !  no_markers: muffin marked nothing, and contributes nothing
    ! 1 not_read: `MUFFIN-P0101: A` is not read: it stands without brackets
    ! 4 not_read: `**RE:SUPPORT P0001**` is not read: it stands without brackets
    ! 6 not_read: `MOVE:CONVERGE` is not read: it stands without brackets
    ");
    // The same in the middle of a paragraph.
    insta::assert_snapshot!(render_reply("[MUFFIN-P0101: Base]
Text.
MOVE:CONVERGE
**RE:SUPPORT P0001** and so on
[RE:OPPOSE P0002] [MUFFIN-E0101: Two
RE:SUPPORT lines]
b
MUFFIN-C0101: Claim
c
{RE:SUPPORT P0003}
(MOVE:CONVERGE)
(MUFFIN-C0101: as said) goes on"), @r"
    1: [MUFFIN-P0101: Base]
    5: [RE:OPPOSE P0002] from MUFFIN-P0101
    5: [MUFFIN-E0101: Two RE:SUPPORT lines]
    ! 3 not_read: `MOVE:CONVERGE` is not read: it stands without brackets
    ! 4 not_read: `**RE:SUPPORT P0001** and so on` is not read: it stands without brackets
    ! 5 near_miss: `[MUFFIN-E0101: Two RE:SUPPORT lines]` is read as [MUFFIN-E0101: Two RE:SUPPORT lines]: it goes over two lines
    ! 8 not_read: `MUFFIN-C0101: Claim` is not read: it stands without brackets
    ! 10 not_read: `{RE:SUPPORT P0003}` is not read: it stands without brackets
    ! 11 not_read: `(MOVE:CONVERGE)` is not read: it stands without brackets
    ");
}

/// The text of the entity above ends at the invalid marker, because the rest belongs to the marker.
#[test]
fn what_was_meant_as_an_entity_is_not_read_and_said() {
    for marker in [
        "[MUFFIN-X0101: A]",
        "[MUFFIN-P1O1: A]",
        "[MUFFIN-0101: A]",
        "[MUFFIN-P-0102: A]",
        "[MUFFIN-P01-02: A]",
        "[MUFFIN:P0102: A]",
        "[MUFFIN/P0102: A]",
        "[muffin-x0101: A]",
        "[MUFFIN-PXXYY: A]",
        "**[MUFFIN-X0101: A]**",
    ] {
        let read = read(&format!("[MUFFIN-P0101: Base]\nText.\n{marker}\nfoo\n[RE:OPPOSE P0001]"));
        assert_eq!(read.contributions.len(), 1, "{}", render_extraction(&read));
        assert_eq!(read.contributions[0].text, "Text.", "{marker}");
        let told: Vec<(Option<usize>, &str)> =
            read.warnings.iter().map(|warning| (warning.line, warning.kind.name())).collect();
        assert_eq!(
            told,
            [(Some(3), "not_read"), (Some(5), "not_read")],
            "{}",
            render_extraction(&read)
        );
    }
}

#[test]
fn words_that_nearly_are_re_or_move_are_said() {
    let read =
        |marker: &str| render_extraction(&read(&format!("[MUFFIN-P0101: Base]\nText.\n{marker}")));
    let told = [
        "[REF:SUPPORT P0001]",
        "[Ref: Support P0001]",
        "[REF: P0001]",
        "[REPLY:OPPOSE @donut]",
        "[SUPPORTS: P0001]",
        "[X:REFINE P0001]",
        "[MOVES:CONVERGE]",
        "[MOV:BRIDGE P0001 R0001]",
        "[BRIDGE: P0001 R0001]",
        "[REQUEST: data by month]",
    ]
    .map(read);
    let told: Vec<&str> = told.iter().flat_map(|shown| shown.lines().skip(1)).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    ! 3 not_read: `[REF:SUPPORT P0001]` is not read: REF is not `RE`
    ! 3 not_read: `[Ref: Support P0001]` is not read: REF is not `RE`
    ! 3 not_read: `[REF: P0001]` is not read: REF is not `RE`
    ! 3 not_read: `[REPLY:OPPOSE @donut]` is not read: REPLY is not `RE`
    ! 3 not_read: `[SUPPORTS: P0001]` is not read: `RE:` is missing before SUPPORTS
    ! 3 not_read: `[X:REFINE P0001]` is not read: X is not `RE`
    ! 3 not_read: `[MOVES:CONVERGE]` is not read: MOVES is not `MOVE`
    ! 3 not_read: `[MOV:BRIDGE P0001 R0001]` is not read: MOV is not `MOVE`
    ! 3 not_read: `[BRIDGE: P0001 R0001]` is not read: `MOVE:` is missing before BRIDGE
    ! 3 not_read: `[REQUEST: data by month]` is not read: `MOVE:` is missing before REQUEST
    ");
}

/// Footnotes, figures and models have names like these.
#[test]
fn short_ids_without_a_name_are_mentions() {
    let above = "[MUFFIN-P0101: Base]\nText.\n";
    for text in [
        "[E1]: https://example.com/report",
        "[C4: context diagram] shows how.",
        "[T1] and [P2]",
        "[E1] Smith 2020",
        "[R2] The second",
        "- [E12]: a source",
    ] {
        let read = read(&format!("{above}{text}"));
        assert_eq!(
            (read.markers.len(), read.warnings.len()),
            (1, 0),
            "{}",
            render_extraction(&read)
        );
        let text = text.trim_start_matches("- ");
        assert!(read.contributions[0].text.ends_with(text), "{}", read.contributions[0].text);
    }
    insta::assert_snapshot!(render_extraction(&read(&format!("{above}[P1: Options]\nMore."))), @r"
    1: [MUFFIN-P0101: Base]
    ! 3 not_read: `[P1: Options]` is not read: such an id needs the expert's name before it
    ");
    check(
        "[TENSION T1: A b]",
        "[MUFFIN-T0101: A b]",
        &[MarkerDeviation::MissingRound, MarkerDeviation::MissingPrefix, MarkerDeviation::KindWord],
    );
}

#[test]
fn prose_in_brackets_is_prose() {
    for text in [
        "[Re your question]",
        "[re: the mandate]",
        "[move on]",
        "[Move: left]",
        "[the final verdict is out]",
        "[dissenting voices]",
        "[R2-D2]",
        "[C4 model]",
        "the fit [R2: 0.98] is good",
        "[evidence: see below]",
        "[P0001-P0003]",
        "[P0001, T0002 and @donut]",
        "[DONUT-R0001]",
        "[x] done",
        "[Report E5](http://example.org)",
        "[support]",
        "[Muffin: three reasons]",
        "[MUFFIN: 3 reasons]",
        "[Muffin-style baking]",
        "[SEE: P0001]",
        "[Ref: P0001]",
        "[Result: support for P0001]",
        "[Removal: request it]",
        "[NOTE: SUPPORT is thin]",
    ] {
        let read = read(text);
        let about_markers = read.warnings.iter().filter(|warning| warning.line.is_some()).count();
        assert_eq!(
            (read.markers.len(), about_markers),
            (0, 0),
            "{text}\n{}",
            render_extraction(&read)
        );
    }
}
