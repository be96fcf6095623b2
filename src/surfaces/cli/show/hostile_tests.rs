//! Pages with hostile text: no line is too wide, and no foreign escape sequence is printed.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::tests::drawn;
use super::{Canvas, Detail, council, draw, draw_closing, draw_council, draw_review, gate};
use crate::domain::conclusion::{Concluded, Outcome, OutcomeWord};
use crate::domain::record::Record;
use crate::domain::transcript::Transcript;
use crate::export::conclusion::sample as endings;
use crate::export::gate::{document, sample as reviews};
use crate::export::sample;

/// Texts that break naive layouts: wide, combining, very long, and with terminal escapes.
fn hostile_texts() -> [String; 6] {
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

fn hostile(text: &str) -> Record {
    let mut record = sample::record();
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
            for detail in [Detail::Brief, Detail::Full] {
                let page = drawn(&hostile(&text), width, detail);
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
        let canvas = Canvas { width: 80, detail: Detail::Full, round: None };
        check_colours(draw(&hostile(&text), None, canvas));
    }
}

/// A concluded record with a hostile outcome note and no other content, which other tests cover.
fn ended(transcript: &Transcript, text: &str) -> Record {
    let mut record = hostile(text);
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
    let outcome = Outcome { outcome: OutcomeWord::Failed, note: Some(text.to_owned()) };
    record.conclusion = transcript.ending.clone().map(|ending| Concluded {
        ending,
        at: endings::moment(1),
        outcomes: vec![(endings::moment(2), outcome)],
    });
    record
}

/// Every page that shows a conclusion.
fn pages(transcript: &Transcript, text: &str, canvas: Canvas) -> [String; 4] {
    let record = ended(transcript, text);
    [
        council::draw(transcript, &[], canvas),
        draw_council(&record, transcript, canvas),
        draw(&record, Some(transcript), canvas),
        draw_closing(&record, transcript, canvas),
    ]
}

#[test]
fn no_line_of_an_ending_is_wider_than_the_canvas() {
    for text in hostile_texts() {
        for transcript in endings::all() {
            let id = transcript.opening.dialogue_id.to_string();
            let transcript = endings::filled_with(transcript, &text);
            for width in [40, 140] {
                let canvas = Canvas { width, detail: Detail::Brief, round: None };
                for page in pages(&transcript, &text, canvas) {
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
        for transcript in endings::all() {
            let transcript = endings::filled_with(transcript, &text);
            let canvas = Canvas { width: 80, detail: Detail::Full, round: None };
            pages(&transcript, &text, canvas).into_iter().for_each(check_colours);
        }
    }
}

/// Every page that shows a review.
fn pages_of_review(transcript: &Transcript, text: &str, canvas: Canvas) -> [String; 3] {
    [
        gate::draw(transcript, canvas),
        draw_review(&ended(transcript, text), transcript, canvas),
        gate::draw_line(&document(transcript), canvas),
    ]
}

#[test]
fn no_line_of_a_review_is_wider_than_the_canvas() {
    for text in hostile_texts() {
        for transcript in reviews::all() {
            let id = transcript.opening.dialogue_id.to_string();
            let transcript = reviews::filled_with(transcript, &text);
            for width in [40, 80, 140] {
                let canvas = Canvas { width, detail: Detail::Brief, round: None };
                for page in pages_of_review(&transcript, &text, canvas) {
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
        for transcript in reviews::all() {
            let transcript = reviews::filled_with(transcript, &text);
            let canvas = Canvas { width: 80, detail: Detail::Full, round: None };
            pages_of_review(&transcript, &text, canvas).into_iter().for_each(check_colours);
        }
    }
}
