//! From the raw reply to what it says. The reply is in the journal by then.

use crate::domain::ask::{Ask, CUT_OFF, Finish, Purpose, Reply};
use crate::domain::change::Change;
use crate::domain::conclusion::Grounds;
use crate::domain::dialogue::Protocol;
use crate::domain::gate::score_names;
use crate::domain::time::Moment;
use crate::domain::transcript::{Document, Reading, Transcript};
use crate::normalise::{self, reading};
use crate::protocols::conclusion::{counted, draft, looked_at, trail};
use crate::protocols::council::{Letters, opinions};

/// What the reply to an ask says, or exactly why it cannot be read. It came at this moment.
pub(super) fn read(transcript: &Transcript, ask: &Ask, reply: &Reply, at: Moment) -> Reading {
    if reply.finish == Finish::Refusal {
        let reason = "the model refused to answer".to_owned();
        return Reading::Unreadable { reason, refusal: true };
    }
    let text = &reply.text;
    let letters = || letters(transcript, ask);
    let grounds = || grounds(transcript, at);
    let artifact = || transcript.gate().map_or("", |gate| gate.artifact.text.as_str());
    let read = match ask.purpose {
        Purpose::Opinion => {
            let opinion = normalise::opinion(text, transcript.plan.mode);
            reading(opinion, |found| Document::Opinion(Box::new(found)))
        }
        Purpose::Review => {
            reading(normalise::review(text, &letters()), |found| Document::Review(Box::new(found)))
        }
        Purpose::Synthesis => {
            reading(normalise::report(text, &letters()), |found| Document::Report(Box::new(found)))
        }
        Purpose::Conclusion => reading(normalise::conclusion(text, &grounds()), |found| {
            Document::Conclusion(Box::new(found))
        }),
        Purpose::Audit => audit(transcript, ask, text),
        Purpose::Revision => revision(transcript, text, &grounds()),
        // A sentence for the Principal, read where it is asked for.
        Purpose::Restatement => unreadable("a restatement is no document of a run"),
        Purpose::Judgement | Purpose::CrossReading => {
            let scores = score_names(ask.seat.as_str());
            let judgement = normalise::judgement(text, artifact(), ask.purpose, scores);
            reading(judgement, |found| Document::Judgement(Box::new(found)))
        }
        Purpose::Adjudication => {
            let adjudication = normalise::adjudication(text, artifact());
            reading(adjudication, |found| Document::Adjudication(Box::new(found)))
        }
    };
    judged_by_end(read, ask, reply.finish)
}

/// A reply whose end is missing is asked for again. The second time it is used if it can be, and
/// marked, where it is one voice of several.
fn judged_by_end(read: Reading, ask: &Ask, finish: Finish) -> Reading {
    let ended_by_length = finish == Finish::Length;
    match read {
        Reading::Read { document, repaired, truncated } => {
            let truncated = truncated || ended_by_length;
            if truncated && (must_be_whole(ask.purpose) || ask.stricter.is_none()) {
                return unreadable(CUT_OFF);
            }
            Reading::Read { document, repaired, truncated }
        }
        Reading::Unreadable { reason, refusal } if ended_by_length && !reason.contains(CUT_OFF) => {
            Reading::Unreadable { reason: format!("{reason} ({CUT_OFF})"), refusal }
        }
        Reading::Unreadable { .. } => read,
    }
}

fn unreadable(reason: &str) -> Reading {
    Reading::Unreadable { reason: reason.to_owned(), refusal: false }
}

fn must_be_whole(purpose: Purpose) -> bool {
    match purpose {
        Purpose::Opinion | Purpose::Review => false,
        // A report could lose its disagreements; another chair or the best opinion takes its place.
        Purpose::Synthesis => true,
        // The line that is missing of an audit may be a FLAG.
        Purpose::Conclusion | Purpose::Audit | Purpose::Revision | Purpose::Restatement => true,
        // What is missing of a judgement may be its block.
        Purpose::Judgement | Purpose::CrossReading | Purpose::Adjudication => true,
    }
}

/// What the critic says, and what was counted. Both go into the record: a later program may
/// count differently, and must not judge differently for that.
fn audit(transcript: &Transcript, ask: &Ask, text: &str) -> Reading {
    let looked_at = looked_at(transcript, ask.round);
    reading(normalise::audit(text), |said| {
        let counted = looked_at.map(|case| counted(&said, transcript.question(), case));
        Document::Audit(counted.unwrap_or(said))
    })
}

/// The draft with the flagged fields mended.
fn revision(transcript: &Transcript, text: &str, grounds: &Grounds<'_>) -> Reading {
    let (Some(original), Some(trail)) = (draft(transcript), trail(transcript)) else {
        return unreadable("there is nothing to revise");
    };
    let revised = normalise::revision(text, original, &trail.revised_fields, grounds);
    reading(revised, |found| Document::Revision(Box::new(found)))
}

/// What a conclusion is held against.
fn grounds(transcript: &Transcript, at: Moment) -> Grounds<'_> {
    // Only a council calls its participants by letters.
    let letters = match transcript.opening.protocol {
        Protocol::Council => Some(Letters::of(&transcript.plan)),
        Protocol::Alignment | Protocol::Review => None,
    };
    let letters = letters.iter().flat_map(Letters::iter);
    Grounds {
        participants: transcript.participants.as_deref().unwrap_or_default(),
        letters: letters.map(|(letter, name)| (letter, name.clone())).collect(),
        entities: &transcript.entities,
        today: at.day(),
    }
}

/// What replies say that are in the journal, but were not read by anybody yet: readings follow
/// from replies, and are written down with whatever comes next.
pub fn due(transcript: &Transcript) -> Vec<Change> {
    let unread = transcript.asks.iter().filter(|asked| asked.reading.is_none());
    let due = unread.filter_map(|asked| {
        let (reply, at) = asked.reply()?;
        let reading = read(transcript, &asked.ask, reply, at);
        Some(Change::ReplyRead { ask: asked.ask.id, reading })
    });
    due.collect()
}

/// Those whom a reply may name, by the letters it was shown or by name; of a deliberator, what it
/// scores.
pub(super) fn names(transcript: &Transcript, ask: &Ask) -> Vec<String> {
    match ask.purpose {
        Purpose::Conclusion | Purpose::Revision => {
            let participants = transcript.participants.iter().flatten();
            participants.map(|participant| participant.agent.to_string()).collect()
        }
        Purpose::Opinion
        | Purpose::Review
        | Purpose::Synthesis
        | Purpose::Audit
        | Purpose::Restatement => letters(transcript, ask).iter().map(char::to_string).collect(),
        Purpose::Judgement | Purpose::CrossReading => {
            let scores = score_names(ask.seat.as_str()).into_iter().flatten();
            scores.map(str::to_owned).collect()
        }
        Purpose::Adjudication => Vec::new(),
    }
}

/// The letters a reader was shown: everybody's who was heard, but never the reader's own.
fn letters(transcript: &Transcript, ask: &Ask) -> Vec<char> {
    let letters = Letters::of(&transcript.plan);
    let heard = opinions(transcript);
    let shown = letters.iter().filter(|(_, name)| match ask.purpose {
        Purpose::Review => **name != ask.seat && heard.iter().any(|voice| voice.seat == *name),
        Purpose::Opinion
        | Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => false,
        // The chair also reads reviews by those who gave no opinion.
        Purpose::Synthesis => true,
    });
    shown.map(|(letter, _)| letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::conclusion::Audit;

    /// What becomes of a document of this purpose: `read`, `truncated`, or why it is not used.
    fn ended(purpose: Purpose, stricter: Option<&str>, truncated: bool, finish: Finish) -> String {
        let stricter = stricter.map(str::to_owned);
        let ask = Ask { id: 1, round: 1, seat: "ann".parse().unwrap(), purpose, stricter };
        let document = Document::Audit(Audit::Pass);
        let read = Reading::Read { document, repaired: truncated, truncated };
        match judged_by_end(read, &ask, finish) {
            Reading::Read { truncated: false, .. } => "read".to_owned(),
            Reading::Read { truncated: true, .. } => "truncated".to_owned(),
            Reading::Unreadable { reason, .. } => reason,
        }
    }

    #[test]
    fn a_reply_without_its_end_is_asked_for_again_and_then_used_only_as_one_voice_of_several() {
        let cuts = [(true, Finish::Stop), (true, Finish::Other), (false, Finish::Length)];
        for purpose in Purpose::ALL.iter().copied() {
            for finish in [Finish::Stop, Finish::Other] {
                assert_eq!(ended(purpose, None, false, finish), "read", "{purpose}");
            }
            for (truncated, finish) in cuts {
                assert_eq!(ended(purpose, None, truncated, finish), CUT_OFF, "{purpose}");
                let is_voice = matches!(purpose, Purpose::Opinion | Purpose::Review);
                let second = if is_voice { "truncated" } else { CUT_OFF };
                for reason in [CUT_OFF, "no JSON"] {
                    let again = ended(purpose, Some(reason), truncated, finish);
                    assert_eq!(again, second, "{purpose} {truncated} {finish}");
                }
            }
        }
    }

    #[test]
    fn what_ended_by_length_says_so_once() {
        let ask = |stricter| Ask {
            id: 1,
            round: 1,
            seat: "ann".parse().unwrap(),
            purpose: Purpose::Opinion,
            stricter,
        };
        let once = judged_by_end(unreadable("no JSON"), &ask(None), Finish::Length);
        let twice = judged_by_end(once.clone(), &ask(None), Finish::Length);
        assert_eq!(once, unreadable(&format!("no JSON ({CUT_OFF})")));
        assert_eq!(once, twice);
        assert!(ask(Some(CUT_OFF.to_owned())).wants_shorter());
        assert!(!ask(Some("no JSON".to_owned())).wants_shorter() && !ask(None).wants_shorter());
    }
}
