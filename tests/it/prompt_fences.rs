//! Hostile strings in every place of the real prompts: foreign text stays inside its fence.

use plenary_core::model::ask::{Ask, AskPurpose};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::intervention::Intervention;
use plenary_core::model::plan::INPUT_BYTES_MAX;
use plenary_core::model::plan::{ContextFile, ContextPack, IndexedFile};
use plenary_core::model::run_state::ReplyDocument;
use plenary_core::prompting::layout::{RenderedPrompt, restatement_messages};
use plenary_core::protocols::conclusion::next::{AUDIT, DRAFT, REVISION, SECOND_AUDIT};
use plenary_core::protocols::conclusion::types::{
    AuditObjection, AuditReply, CitedClaim, Conclusion, ConclusionField, ConclusionParticipant,
    ObjectionSource, UnresolvedPoint,
};
use plenary_core::protocols::council::types::QuestionMode;
use serde_json::json;

use crate::fencing::{corpus_strings, line_faults};
use crate::kit::council_driver::{
    CouncilDriver, PLAN_SECRET, make_opinion, make_plan, make_review, make_seat,
};
use crate::kit::instructions::system;
use crate::kit::pick_repeats;
use crate::kit::records::council_record;

/// Runs the rounds with `text` in every place that we did not write.
fn run_rounds(text: &str) -> Vec<(Ask, RenderedPrompt)> {
    let mut plan =
        make_plan(vec![make_seat("ann", "m-1", "f"), make_seat("bob", "m-2", "g")], PLAN_SECRET);
    plan.mode = QuestionMode::Review;
    let (path, text_of_file) = (text.to_owned(), text.to_owned());
    plan.context = ContextPack {
        files: vec![ContextFile { path: path.clone(), sha256: String::new(), text: text_of_file }],
        excluded: Vec::new(),
        indexed: vec![IndexedFile { path, bytes: 1 }],
    }
    .into();
    let mut driver = CouncilDriver::new(text, plan);
    driver.record_intervention(0, Intervention::Whisper { text: text.to_owned(), to: None });
    let directive = |text: &str| Intervention::Directive {
        text: text.to_owned(),
        restatement: None,
        confirmed: true,
    };
    driver.record_intervention(0, directive(text));
    let mut all = driver.next_asks();
    let [(ann, _), (bob, _)] = all.as_slice() else { panic!("not two") };
    let (ann, bob) = (ann.clone(), bob.clone());
    driver.record_unreadable(&ann, text);
    driver.record_answer(&bob, ReplyDocument::Opinion(Box::new(make_opinion(text))));
    let stricter = driver.next_asks();
    driver.record_answer(&stricter[0].0, ReplyDocument::Opinion(Box::new(make_opinion(text))));
    all.extend(stricter);
    let second = driver.next_asks();
    for (ask, _) in &second {
        let letter = if ask.seat.as_str() == "ann" { 'B' } else { 'A' };
        driver
            .record_answer(ask, ReplyDocument::PeerReview(Box::new(make_review(&[letter], text))));
    }
    all.extend(second);
    let third = driver.next_asks();
    driver.record_unreadable(&third[0].0, text);
    all.extend(third);
    all.extend(driver.next_asks());
    all.extend(run_conclusion(&mut driver, text));
    all
}

/// Runs the conclusion with the same text in its fields, its objections and its errors.
fn run_conclusion(driver: &mut CouncilDriver, text: &str) -> Vec<(Ask, RenderedPrompt)> {
    let record = council_record(&driver.run_state);
    driver.run_state.opening.background = Some(json!({ "said": text }));
    driver.begin_conclusion();
    let mut all = Vec::new();
    let mut ask = |driver: &mut CouncilDriver, purpose, round, document| {
        let (first, prepared) = driver.ask_first_seat(purpose, round, &record, None);
        driver.record_unreadable(&first, text);
        all.push((first, prepared));
        let (again, prepared) = driver.ask_first_seat(purpose, round, &record, Some(text));
        driver.record_answer(&again, document);
        all.push((again, prepared));
    };
    let draft = ReplyDocument::Conclusion(Box::new(make_conclusion(text)));
    ask(driver, AskPurpose::Conclusion, DRAFT, draft);
    let objection = AuditObjection {
        field: ConclusionField::Recommendation,
        objection: text.to_owned(),
        by: ObjectionSource::Critic,
    };
    let flagged = ReplyDocument::Audit(AuditReply::Flag { objections: vec![objection] });
    ask(driver, AskPurpose::Audit, AUDIT, flagged);
    let revised = ReplyDocument::Revision(Box::new(make_conclusion(text)));
    ask(driver, AskPurpose::Revision, REVISION, revised);
    ask(driver, AskPurpose::Audit, SECOND_AUDIT, ReplyDocument::Audit(AuditReply::Pass));
    all
}

fn make_conclusion(text: &str) -> Conclusion {
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
        participants: vec![ConclusionParticipant { agent, version: text() }],
    }
}

/// Removes the fenced parts from a message; also returns the faults inside them.
pub fn strip_fences(user: &str) -> (String, Vec<String>) {
    // The fences of the shared block have another nonce than those of the round.
    let mut nonces: Vec<&str> = Vec::new();
    let (mut ours, mut faults, mut inside) = (String::new(), Vec::new(), None);
    for line in user.split('\n') {
        let opening = line.strip_prefix("===== BEGIN ").filter(|_| inside.is_none());
        if let Some(nonce) =
            opening.and_then(|line| line.strip_suffix(" =====")?.rsplit(' ').next())
        {
            assert_eq!(nonce.len(), 32, "{line}");
            if !nonces.contains(&nonce) {
                nonces.push(nonce);
            }
        }
        let label = |word: &str| {
            let rest = line.strip_prefix(&format!("===== {word} "))?.strip_suffix(" =====")?;
            let (label, nonce) = rest.rsplit_once(' ')?;
            nonces.contains(&nonce).then_some((label, nonce))
        };
        match (inside, label("BEGIN"), label("END")) {
            (None, Some(begun), _) => inside = Some(begun),
            (Some(begun), _, Some(ended)) if begun == ended => inside = None,
            (Some(_), None, None) => {
                faults.extend(line_faults(line));
                continue;
            }
            (None, None, None) => {}
            (_, begun, ended) => faults.push(format!("out of place: {begun:?} {ended:?}")),
        }
        let plain = nonces.iter().fold(line.to_owned(), |line, nonce| line.replace(nonce, "NONCE"));
        ours.push_str(&plain);
        ours.push('\n');
    }
    faults.extend(inside.map(|label| format!("{label:?} never ends")));
    assert!(nonces.len() <= 2, "{nonces:?}");
    (ours, faults)
}

#[test]
fn no_string_says_a_word_outside_its_fence() {
    let honest = run_rounds("An honest text.");
    let purposes: Vec<AskPurpose> = honest.iter().map(|(ask, _)| ask.purpose).collect();
    let tried: Vec<(AskPurpose, usize)> = AskPurpose::ALL
        .iter()
        .map(|purpose| (*purpose, purposes.iter().filter(|asked| *asked == purpose).count()))
        .collect();
    let expected = [
        (AskPurpose::Opinion, 3),
        (AskPurpose::PeerReview, 2),
        (AskPurpose::Synthesis, 2),
        (AskPurpose::Conclusion, 2),
        (AskPurpose::Audit, 4),
        (AskPurpose::Revision, 2),
        (AskPurpose::Restatement, 0),
        // `review_prompts` tests those of a review.
        (AskPurpose::Judgement, 0),
        (AskPurpose::CrossReading, 0),
        (AskPurpose::Adjudication, 0),
        (AskPurpose::Design, 0),
        (AskPurpose::Panel, 0),
        (AskPurpose::Contribution, 0),
        (AskPurpose::Reconciliation, 0),
        (AskPurpose::Verdicts, 0),
    ];
    assert_eq!(tried, expected, "some place is not tried");
    let expected: Vec<String> = honest
        .iter()
        .map(|(_, prepared)| strip_fences(&prepared.messages.user_message()).0)
        .collect();
    // All strings take minutes; every sixtieth covers every corpus.
    let step = pick_repeats(60, 1) as usize;
    for (id, text) in corpus_strings().into_iter().step_by(step) {
        for ((ask, prepared), expected) in run_rounds(&text).iter().zip(&expected) {
            let (ours, faults) = strip_fences(&prepared.messages.user_message());
            assert_eq!(faults, Vec::<String>::new(), "{id} for {ask:?}");
            assert_eq!(ours, *expected, "{id} for {ask:?}");
            assert_eq!(prepared.messages.system, system(ask.purpose, QuestionMode::Review), "{id}");
        }
        let restated =
            restatement_messages(PLAN_SECRET, &text, &text, "2026-02-02".parse().unwrap());
        let (ours, faults) = strip_fences(&restated.user);
        assert_eq!(faults, Vec::<String>::new(), "{id} restated");
        assert_eq!(
            ours,
            strip_fences(
                &restatement_messages(PLAN_SECRET, "a", "b", "2026-02-02".parse().unwrap()).user
            )
            .0,
            "{id} restated"
        );
    }
}

#[test]
fn no_message_is_over_its_budget() {
    let check = |text: &str, notes: [&[&str]; 3]| {
        let rounds = run_rounds(text);
        let (rounds, ending) = rounds.split_at(7);
        for (ask, prepared) in ending {
            let bytes = prepared.messages.user_message().len();
            assert!(bytes <= INPUT_BYTES_MAX, "{bytes} for {ask:?}");
        }
        for (ask, prepared) in rounds {
            let bytes = prepared.messages.user_message().len();
            assert!(bytes <= INPUT_BYTES_MAX, "{bytes} for {ask:?}");
            let (_, faults) = strip_fences(&prepared.messages.user_message());
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
        assert_eq!(last.messages.user_message().matches("\"severity\": \"high\"").count(), 6);
    };
    let long = "Once more with feeling. ".repeat(1_500);
    let files = "files were cut from ";
    let (opinions, reviews) = (" opinions were cut to ", " reviews were cut to ");
    check(&long, [&[], &[opinions], &[opinions, reviews]]);
    let _ = files;
}
