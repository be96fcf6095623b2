//! Hostile strings in every place of the real prompts: what others wrote stays in its fence.

use plenary::domain::ask::{Ask, Purpose};
use plenary::domain::council::words::Mode;
use plenary::domain::intervention::Intervention;
use plenary::domain::plan::{ContextFile, ContextPack, IndexedFile};
use plenary::domain::transcript::Document;
use plenary::prompting::INPUT_BYTES_MAX;
use plenary::prompting::council::{Prepared, system};

use crate::fencing::{faults_of, strings};
use crate::kit::chamber::{Chamber, SECRET, opinion, plan, review, seat};
use crate::kit::times;

/// Says whatever it is told in each place that is not ours.
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
    all
}

/// A message with what stands inside its fences taken out, and what was wrong in there.
fn opened(user: &str) -> (String, Vec<String>) {
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
    let [opinion, review, synthesis] = [Purpose::Opinion, Purpose::Review, Purpose::Synthesis];
    assert_eq!(
        purposes,
        [opinion, opinion, opinion, review, review, synthesis, synthesis],
        "some place is not tried"
    );
    let expected: Vec<String> =
        honest.iter().map(|(_, prepared)| opened(&prepared.messages.user).0).collect();
    // All of them take minutes; every sixtieth is of every corpus.
    let step = times(60, 1) as usize;
    for (id, text) in strings().into_iter().step_by(step) {
        for ((ask, prepared), expected) in rounds(&text).iter().zip(&expected) {
            let (ours, faults) = opened(&prepared.messages.user);
            assert_eq!(faults, Vec::<String>::new(), "{id} for {ask:?}");
            assert_eq!(ours, *expected, "{id} for {ask:?}");
            assert_eq!(prepared.messages.system, system(ask.purpose, Mode::Review), "{id}");
        }
    }
}

#[test]
fn no_message_is_over_its_budget() {
    let check = |text: &str, notes: [&[&str]; 3]| {
        let rounds = rounds(text);
        for (ask, prepared) in &rounds {
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
