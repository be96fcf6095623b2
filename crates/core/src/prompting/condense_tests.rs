//! What condensing cuts from an oversized view, and what it always keeps.

use super::*;
use crate::model::plan::INPUT_BYTES_MAX;
use crate::prompting::reader_view::LabeledReply;
use crate::protocols::council::types::{
    OpinionAssessment, OpinionDetails, OpinionFinding, OpinionRisk, PeerCritique,
};

fn risk(severity: RatingLevel, description: &str) -> OpinionRisk {
    OpinionRisk { description: description.to_owned(), severity, mitigation: None }
}

fn opinion(text: &str) -> OpinionReply {
    OpinionReply {
        summary: format!("SUMMARY {text}"),
        details: OpinionDetails {
            understanding: text.to_owned(),
            key_considerations: vec![text.to_owned()],
            alternatives_considered: vec![text.to_owned()],
            evidence: vec![text.to_owned()],
            recommendation: format!("RECOMMENDED {text}"),
            rationale: text.to_owned(),
        },
        risks: vec![risk(RatingLevel::High, "GRAVE"), risk(RatingLevel::Low, "SLIGHT")],
        assumptions: vec![text.to_owned()],
        questions: vec![text.to_owned()],
        confidence: RatingLevel::High,
        stance: OpinionStance::Approve,
        findings: Vec::new(),
    }
}

fn review(text: &str) -> PeerReview {
    let critique = |severity: RatingLevel, message: &str| PeerCritique {
        critique_type: CritiqueType::Risk,
        message: message.to_owned(),
        severity,
        location: None,
        suggested_correction: None,
    };
    PeerReview {
        targets: vec![OpinionAssessment {
            letter: "A".to_owned(),
            rating: 7,
            critiques: vec![critique(RatingLevel::High, "GRAVE"), critique(RatingLevel::Low, text)],
            agreement_points: vec![text.to_owned()],
            disagreement_points: Vec::new(),
            finding_positions: Vec::new(),
        }],
        would_change_my_opinion: vec![text.to_owned()],
    }
}

fn view(opinions: Vec<OpinionReply>) -> ReaderView {
    let shown = |(letter, content): (char, OpinionReply)| LabeledReply {
        name: letter.to_string(),
        content,
        is_cut: false,
    };
    let opinions = ('A'..='Z').zip(opinions).map(shown).collect();
    ReaderView { opinions, ..ReaderView::default() }
}

/// The size of a shared block that leaves a third of the budget.
const SHARED_BYTES: usize = 400_000;

/// Condenses the view, checks that it fits, and returns the view and the notes.
#[track_caller]
fn condense_and_check(mut view: ReaderView) -> (ReaderView, Vec<String>) {
    let CondensedView { sections, notes } =
        condense_view(&mut view, INPUT_BYTES_MAX - SHARED_BYTES, None);
    let bytes = rendered_bytes(&sections) + SHARED_BYTES;
    assert!(bytes <= INPUT_BYTES_MAX, "{bytes} bytes are left; {notes:?}");
    (view, notes)
}

#[test]
fn what_fits_is_not_touched() {
    let mut whole = view(vec![opinion(&"y".repeat(5_000)); 4]);
    whole.own_opinion = Some(opinion("mine"));
    let (left, notes) = condense_and_check(whole.clone());
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!(left.own_opinion, whole.own_opinion);
    assert_eq!(left.opinions[0].content, whole.opinions[0].content);
}

#[test]
fn a_cut_text_says_how_much_is_missing() {
    let check = |text: &str, bytes_max: usize, expected: &str| {
        assert_eq!(keep_head_and_tail(text, bytes_max), expected);
    };
    check("abcdefghi", 9, "abcdefghi");
    check("abcdefghi", 6, "abcd\n[… 3 bytes left out here …]\nhi");
    check("ääää", 5, "ä\n[… 6 bytes left out here …]\n");
    check("abc", 0, "\n[… 3 bytes left out here …]\n");
}

#[test]
fn opinions_are_cut_and_no_high_risk_is_dropped() {
    let text = "y".repeat(15_000);
    let mut whole = view(vec![opinion(&text); 4]);
    whole.own_opinion = Some(opinion(&text));
    let (left, notes) = condense_and_check(whole);
    assert_eq!(left.own_opinion.as_ref(), Some(&left.opinions[0].content));
    for shown in &left.opinions {
        assert_eq!(shown.content.summary, format!("SUMMARY {text}"));
        assert_eq!(shown.content.details.recommendation, format!("RECOMMENDED {text}"));
        assert_eq!(shown.content.risks, [risk(RatingLevel::High, "GRAVE")]);
        assert_eq!(shown.content.details.rationale, "");
        assert_eq!(shown.content.assumptions, Vec::<String>::new());
    }
    let cut = "4 opinions were cut to summary, recommendation, high risks and high findings";
    assert_eq!(notes, [cut]);
}

#[test]
fn then_single_texts_are_cut() {
    let mut content = opinion(&"y".repeat(50_000));
    content.risks = vec![risk(RatingLevel::High, &format!("GRAVE {}", "r".repeat(50_000)))];
    let (left, notes) = condense_and_check(view(vec![content; 12]));
    for shown in &left.opinions {
        assert!(shown.content.summary.starts_with("SUMMARY yyy"));
        assert!(shown.content.risks[0].description.starts_with("GRAVE rrr"));
        assert_eq!(shown.content.risks[0].severity, RatingLevel::High);
    }
    assert_eq!(notes[1], "texts over 4000 bytes were cut, head and tail kept");
}

#[test]
fn reviews_keep_their_ratings_and_grave_critiques() {
    let mut whole = view(vec![opinion("short")]);
    let content = review(&"z".repeat(90_000));
    whole.reviews = vec![LabeledReply { name: "B".to_owned(), content, is_cut: false }; 3];
    let (left, notes) = condense_and_check(whole);
    for shown in &left.reviews {
        let [target] = shown.content.targets.as_slice() else { panic!("{shown:?}") };
        let critiques: Vec<&str> =
            target.critiques.iter().map(|critique| critique.message.as_str()).collect();
        assert_eq!((target.rating, critiques), (7, vec!["GRAVE"]));
    }
    assert_eq!(notes[1], "3 reviews were cut to ratings and grave critiques");
}

#[test]
fn what_grows_when_it_is_shown_is_measured_as_it_is_shown() {
    let (_, notes) = condense_and_check(view(vec![opinion(&"\u{200b}".repeat(10_000))]));
    assert!(notes[0].starts_with("1 opinions were cut"), "{notes:?}");
}

#[test]
fn a_seat_that_is_called_like_a_severity_does_not_undo_the_mask() {
    let mask = NameMask::new(&["high", "error", "zork"], &[]);
    let mut content = opinion("As zork, I agree");
    content.findings = vec![OpinionFinding {
        id: "SEC-001".to_owned(),
        title: "I am zork".to_owned(),
        severity: RatingLevel::High,
        category: String::new(),
        location: String::new(),
        description: String::new(),
        fix_approach: String::new(),
    }];
    let mut whole = view(vec![content]);
    whole.reviews =
        vec![LabeledReply { name: "B".to_owned(), content: review("I am Zork"), is_cut: false }];
    let CondensedView { sections, notes } =
        condense_view(&mut whole, INPUT_BYTES_MAX - SHARED_BYTES, Some(&mask));
    let view = whole;
    let texts: String = sections.iter().map(|section| section.text.as_str()).collect();
    assert!(!texts.to_lowercase().contains("zork"), "{texts}");
    assert_eq!(view.opinions[0].content.risks[0].severity, RatingLevel::High);
    assert!(notes[0].ends_with(" were masked"), "{notes:?}");
}
