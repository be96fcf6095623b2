//! Pages with hostile text: no line is too wide, and no foreign escape sequence is printed.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::protocols::conclusion::sample::{all, filled_with, moment};
use crate::protocols::conclusion::types::{ConclusionOutcome, OutcomeKind, RecordedConclusion};
use crate::protocols::council::page::council_page;
use crate::protocols::review::document::review_document;
use crate::protocols::review::page::{draw_review_line, review_page};
use crate::report::page::{PageDetail, PageModel, PageScope};
use crate::report::record_page::dialogue_page;
use crate::report::terminal::layout::PageCanvas;
use crate::report::terminal::page::draw_page;
use crate::report::terminal::page_tests::draw_plain;

/// Texts that break naive layouts: wide, combining, very long, and with terminal escapes.
pub(crate) fn hostile_texts() -> [String; 6] {
    [
        "🚀🔥 emoji ⚠\u{fe0f} 👩\u{200d}🚀 👍🏽 in a label that goes on for a while 🇳🇿🇳🇿".into(),
        "日本語の見出しはとても長くて、折り返しが必要です。".repeat(3),
        "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}".repeat(60),
        "x".repeat(300),
        "\u{1b}[31mred\u{1b}[0m \u{1b}]0;owned\u{7} \u{202e}desrever\u{202c} \u{e0041}\r\n\tend"
            .into(),
        "السلام عليكم לשלום नमस्ते สวัสดี ".repeat(5),
    ]
}

pub(crate) fn hostile_record(text: &str) -> DialogueRecord {
    let mut record = crate::report::sample::record();
    record.dialogue.opening.title = text.into();
    record.dialogue.opening.question = Some(text.into());
    record.dialogue.opening.rehearsal = true;
    record.rounds[0].title = Some(text.into());
    record.rounds[0].summary = Some(format!("{text}\n\n        - {text}\n12. {text}"));
    record.experts[0].profile.role = text.into();
    record.experts[1].profile.expert_slug = "a_slug_of_thirty-two_characters_".parse().unwrap();
    record.experts[1].scores.insert(0, -1_000_000);
    record.experts[1].total = -100_000_000;
    record.moves[0].context = Some(text.into());
    record.moves[0].expert = "a_slug_of_thirty-two_characters_".parse().unwrap();
    for entities in [&mut record.perspectives, &mut record.tensions, &mut record.recommendations] {
        for entity in entities {
            entity.label = text.into();
            entity.text = format!("{text}\n{text}");
            entity.events.iter_mut().for_each(|event| event.reason = Some(text.into()));
            entity.contributors.push("a_slug_of_thirty-two_characters_".parse().unwrap());
        }
    }
    record.recommendations[0].parameters = Some(json!({ text: text }));
    let verdict = &mut record.verdicts[2].verdict;
    verdict.recommendation = text.into();
    verdict.description = text.into();
    verdict.conditions = Some(vec![text.into(); 12]);
    verdict.warning = Some(text.into());
    record
}

#[test]
fn no_line_is_wider_than_the_canvas() {
    for text in hostile_texts() {
        for width in [40, 57, 80, 99, 100, 140] {
            for detail in [PageDetail::Brief, PageDetail::Full] {
                let page = draw_plain(&hostile_record(&text), width, detail);
                let wide = page.lines().find(|line| line.width() > width);
                assert_eq!(wide, None, "at {width}, {detail:?}");
            }
        }
    }
}

/// Removes our own colour codes and checks that no control or invisible character remains.
#[track_caller]
fn check_colours(page: String) {
    let ours = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m"].map(str::to_owned);
    let colours = (31..=36).map(|colour| format!("\u{1b}[{colour}m"));
    let left = ours.into_iter().chain(colours).fold(page, |page, code| page.replace(&code, ""));
    let foreign =
        |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{200d}\u{e0041}".contains(c);
    assert_eq!(left.chars().find(|c| foreign(*c)), None);
}

#[test]
fn only_our_own_colours_reach_the_terminal() {
    for text in hostile_texts() {
        let page = dialogue_page(&hostile_record(&text), None, PageScope::new(PageDetail::Full));
        check_colours(draw_page(&page, PageCanvas { width: 80 }));
    }
}

/// A concluded record with a hostile outcome note and no other content, which other tests cover.
fn concluded_record(state: &RunState, text: &str) -> DialogueRecord {
    let mut record = hostile_record(text);
    record.rounds.clear();
    record.moves.clear();
    record.verdicts.clear();
    for entities in [
        &mut record.perspectives,
        &mut record.recommendations,
        &mut record.tensions,
        &mut record.evidence,
        &mut record.claims,
    ] {
        entities.clear();
    }
    let outcome = ConclusionOutcome { outcome: OutcomeKind::Failed, note: Some(text.to_owned()) };
    record.conclusion = state.conclusion_result.clone().map(|ending| RecordedConclusion {
        ending,
        at: moment(1),
        outcomes: vec![(moment(2), outcome)],
    });
    record
}

/// Every page that shows a conclusion.
pub(crate) fn conclusion_pages(state: &RunState, text: &str, detail: PageDetail) -> [PageModel; 4] {
    let record = concluded_record(state, text);
    let scope = PageScope::new(detail);
    [
        council_page(&record, state, PageScope::new(PageDetail::Result)),
        council_page(&record, state, scope),
        dialogue_page(&record, Some(state), scope),
        dialogue_page(&record, Some(state), PageScope::new(PageDetail::Result)),
    ]
}

#[test]
fn no_line_of_an_ending_is_wider_than_the_canvas() {
    for text in hostile_texts() {
        for state in all() {
            let id = state.opening.dialogue_id.to_string();
            let state = filled_with(state, &text);
            for width in [40, 140] {
                for page in conclusion_pages(&state, &text, PageDetail::Brief) {
                    let page = draw_page(&page, PageCanvas { width });
                    let page = anstream::adapter::strip_str(&page).to_string();
                    // The reader copies a command, so it is never wrapped.
                    let is_command = |line: &str| line.contains(&id) || line.contains("plenary ");
                    let is_wide = |line: &&str| line.width() > width && !is_command(line);
                    assert_eq!(page.lines().find(is_wide), None, "at {width}");
                }
            }
        }
    }
}

#[test]
fn an_ending_drives_no_terminal() {
    for text in hostile_texts() {
        for state in all() {
            let state = filled_with(state, &text);
            for page in conclusion_pages(&state, &text, PageDetail::Full) {
                check_colours(draw_page(&page, PageCanvas { width: 80 }));
            }
        }
    }
}

/// Every page that shows a review, and its line.
fn review_pages(state: &RunState, text: &str, width: usize, detail: PageDetail) -> [String; 3] {
    let canvas = PageCanvas { width };
    let record = concluded_record(state, text);
    [
        draw_page(&review_page(None, state, PageScope::new(PageDetail::Result)), canvas),
        draw_page(&review_page(Some(&record), state, PageScope::new(detail)), canvas),
        draw_review_line(&review_document(state), canvas),
    ]
}

#[test]
fn no_line_of_a_review_is_wider_than_the_canvas() {
    for text in hostile_texts() {
        for state in crate::protocols::review::document_sample_tests::all() {
            let id = state.opening.dialogue_id.to_string();
            let state = crate::protocols::review::document_sample_tests::filled_with(state, &text);
            for width in [40, 80, 140] {
                for page in review_pages(&state, &text, width, PageDetail::Brief) {
                    let page = anstream::adapter::strip_str(&page).to_string();
                    // The reader copies a command, so it is never wrapped.
                    let is_wide = |line: &&str| line.width() > width && !line.contains(&id);
                    assert_eq!(page.lines().find(is_wide), None, "at {width}");
                }
            }
        }
    }
}

#[test]
fn a_review_drives_no_terminal() {
    for text in hostile_texts() {
        for state in crate::protocols::review::document_sample_tests::all() {
            let state = crate::protocols::review::document_sample_tests::filled_with(state, &text);
            let pages = review_pages(&state, &text, 80, PageDetail::Full);
            pages.into_iter().for_each(check_colours);
        }
    }
}
