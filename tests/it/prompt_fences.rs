//! Hostile strings in every place of the real prompts: foreign text stays inside its fence.

use plenary::domain::ask::{Ask, Purpose};
use plenary::domain::conclusion::{
    Audit, Auditor, CitedClaim, Conclusion, Field, Objection, Participant, UnresolvedPoint,
};
use plenary::domain::council::words::Mode;
use plenary::domain::ids::ExpertSlug;
use plenary::domain::intervention::Intervention;
use plenary::domain::plan::{ContextFile, ContextPack, IndexedFile};
use plenary::domain::transcript::Document;
use plenary::prompting::{INPUT_BYTES_MAX, Prepared, restatement};
use plenary::protocols::conclusion::{AUDIT, DRAFT, REVISION, SECOND_AUDIT};
use serde_json::json;

use crate::fencing::{faults_of, strings};
use crate::kit::council_driver::{Chamber, SECRET, opinion, plan, review, seat};
use crate::kit::instructions::system;
use crate::kit::records::council_record;
use crate::kit::times;

/// Runs the rounds with `text` in every place that we did not write.
fn rounds(text: &str) -> Vec<(Ask, Prepared)> {
    let mut plan = plan(vec![seat("ann", "m-1", "f"), seat("bob", "m-2", "g")], SECRET);
    plan.mode = Mode::Review;
    let (path, text_of_file) = (text.to_owned(), text.to_owned());
    plan.context = ContextPack {
        files: vec![ContextFile { path: path.clone(), sha256: String::new(), text: text_of_file }],
        excluded: Vec::new(),
        indexed: vec![IndexedFile { path, bytes: 1 }],
    }
    .into();
    let mut chamber = Chamber::new(text, plan);
    chamber.intervene(0, Intervention::Whisper { text: text.to_owned(), to: None });
    let directive = |text: &str| Intervention::Directive {
        text: text.to_owned(),
        restatement: None,
        confirmed: true,
    };
    chamber.intervene(0, directive(text));
    let mut all = chamber.ask();
    let [(ann, _), (bob, _)] = all.as_slice() else { panic!("not two") };
    let (ann, bob) = (ann.clone(), bob.clone());
    chamber.mumble(&ann, text);
    chamber.answer(&bob, Document::Opinion(Box::new(opinion(text))));
    let stricter = chamber.ask();
    chamber.answer(&stricter[0].0, Document::Opinion(Box::new(opinion(text))));
    all.extend(stricter);
    let second = chamber.ask();
    for (ask, _) in &second {
        let letter = if ask.seat.as_str() == "ann" { 'B' } else { 'A' };
        chamber.answer(ask, Document::Review(Box::new(review(&[letter], text))));
    }
    all.extend(second);
    let third = chamber.ask();
    chamber.mumble(&third[0].0, text);
    all.extend(third);
    all.extend(chamber.ask());
    all.extend(ending(&mut chamber, text));
    all
}

/// Runs the conclusion with the same text in its fields, its objections and its errors.
fn ending(chamber: &mut Chamber, text: &str) -> Vec<(Ask, Prepared)> {
    let record = council_record(&chamber.transcript);
    chamber.transcript.opening.background = Some(json!({ "said": text }));
    chamber.conclude();
    let mut all = Vec::new();
    let mut ask = |chamber: &mut Chamber, purpose, round, document| {
        let (first, prepared) = chamber.ask_for(purpose, round, &record, None);
        chamber.mumble(&first, text);
        all.push((first, prepared));
        let (again, prepared) = chamber.ask_for(purpose, round, &record, Some(text));
        chamber.answer(&again, document);
        all.push((again, prepared));
    };
    let draft = Document::Conclusion(Box::new(conclusion(text)));
    ask(chamber, Purpose::Conclusion, DRAFT, draft);
    let objection =
        Objection { field: Field::Recommendation, objection: text.to_owned(), by: Auditor::Critic };
    let flagged = Document::Audit(Audit::Flag { objections: vec![objection] });
    ask(chamber, Purpose::Audit, AUDIT, flagged);
    let revised = Document::Revision(Box::new(conclusion(text)));
    ask(chamber, Purpose::Revision, REVISION, revised);
    ask(chamber, Purpose::Audit, SECOND_AUDIT, Document::Audit(Audit::Pass));
    all
}

fn conclusion(text: &str) -> Conclusion {
    let (agent, text): (ExpertSlug, _) = ("ann".parse().unwrap(), || text.to_owned());
    Conclusion {
        recommendation: text(),
        key_condition: text(),
        unresolved_points: vec![UnresolvedPoint {
            point: text(),
            agents_involved: vec![agent.clone()],
            claims: vec![CitedClaim {
                id: "P0101".parse().unwrap(),
                agent: agent.clone(),
                claim: text(),
            }],
        }],
        review_by: "2026-08-01".parse().unwrap(),
        participants: vec![Participant { agent, version: text() }],
    }
}

/// Removes the fenced parts from a message; also returns the faults inside them.
pub fn opened(user: &str) -> (String, Vec<String>) {
    let first = user.lines().find(|line| line.starts_with("===== BEGIN ")).unwrap();
    let nonce = first.trim_end_matches(" =====").rsplit(' ').next().unwrap();
    assert_eq!(nonce.len(), 32, "{first}");
    let (mut ours, mut faults, mut inside) = (String::new(), Vec::new(), None);
    for line in user.split('\n') {
        let label = |word: &str| {
            line.strip_prefix(&format!("===== {word} "))?.strip_suffix(&format!(" {nonce} ====="))
        };
        match (inside, label("BEGIN"), label("END")) {
            (None, Some(begun), _) => inside = Some(begun),
            (Some(begun), _, Some(ended)) if begun == ended => inside = None,
            (Some(_), None, None) => {
                faults.extend(faults_of(line));
                continue;
            }
            (None, None, None) => {}
            (_, begun, ended) => faults.push(format!("out of place: {begun:?} {ended:?}")),
        }
        ours.push_str(&line.replace(nonce, "NONCE"));
        ours.push('\n');
    }
    faults.extend(inside.map(|label| format!("{label} never ends")));
    (ours, faults)
}

#[test]
fn no_string_says_a_word_outside_its_fence() {
    let honest = rounds("An honest text.");
    let purposes: Vec<Purpose> = honest.iter().map(|(ask, _)| ask.purpose).collect();
    let tried: Vec<(Purpose, usize)> = Purpose::ALL
        .iter()
        .map(|purpose| (*purpose, purposes.iter().filter(|asked| *asked == purpose).count()))
        .collect();
    let expected = [
        (Purpose::Opinion, 3),
        (Purpose::Review, 2),
        (Purpose::Synthesis, 2),
        (Purpose::Conclusion, 2),
        (Purpose::Audit, 4),
        (Purpose::Revision, 2),
        (Purpose::Restatement, 0),
        // `review_prompts` tests those of a review.
        (Purpose::Judgement, 0),
        (Purpose::CrossReading, 0),
        (Purpose::Adjudication, 0),
    ];
    assert_eq!(tried, expected, "some place is not tried");
    let expected: Vec<String> =
        honest.iter().map(|(_, prepared)| opened(&prepared.messages.user).0).collect();
    // All strings take minutes; every sixtieth covers every corpus.
    let step = times(60, 1) as usize;
    for (id, text) in strings().into_iter().step_by(step) {
        for ((ask, prepared), expected) in rounds(&text).iter().zip(&expected) {
            let (ours, faults) = opened(&prepared.messages.user);
            assert_eq!(faults, Vec::<String>::new(), "{id} for {ask:?}");
            assert_eq!(ours, *expected, "{id} for {ask:?}");
            assert_eq!(prepared.messages.system, system(ask.purpose, Mode::Review), "{id}");
        }
        let restated = restatement(SECRET, &text, &text);
        let (ours, faults) = opened(&restated.user);
        assert_eq!(faults, Vec::<String>::new(), "{id} restated");
        assert_eq!(ours, opened(&restatement(SECRET, "a", "b").user).0, "{id} restated");
    }
}

#[test]
fn no_message_is_over_its_budget() {
    let check = |text: &str, notes: [&[&str]; 3]| {
        let rounds = rounds(text);
        let (rounds, ending) = rounds.split_at(7);
        for (ask, prepared) in ending {
            let bytes = prepared.messages.user.len();
            assert!(bytes <= INPUT_BYTES_MAX, "{bytes} for {ask:?}");
        }
        for (ask, prepared) in rounds {
            let bytes = prepared.messages.user.len();
            assert!(bytes <= INPUT_BYTES_MAX, "{bytes} for {ask:?}");
            let (_, faults) = opened(&prepared.messages.user);
            assert_eq!(faults, Vec::<String>::new());
            let expected = notes[usize::from(ask.round) - 1];
            let cut: Vec<&String> =
                prepared.condensed.iter().filter(|note| note.contains(" cut ")).collect();
            assert_eq!(cut.len(), expected.len(), "{ask:?}: {cut:?}");
            for (note, expected) in cut.iter().zip(expected) {
                assert!(note.contains(expected), "{note}");
            }
        }
        let (_, last) = rounds.last().unwrap();
        // A risk and a finding of each opinion, a critique of each review.
        assert_eq!(last.messages.user.matches("\"severity\": \"high\"").count(), 6);
    };
    let long = "Once more with feeling. ".repeat(1_500);
    let files = "files were cut from ";
    let (opinions, reviews) = (" opinions were cut to ", " reviews were cut to ");
    check(&long, [&[], &[files, opinions], &[files, opinions, reviews]]);
}
