//! From the raw reply to what it says. The reply is in the journal by then.

use crate::domain::ask::{Ask, Finish, Purpose, Reply};
use crate::domain::change::Change;
use crate::domain::transcript::{Document, Reading, Transcript};
use crate::normalise::{self, reading};
use crate::protocols::council::{Letters, opinions};

/// What the reply to an ask says, or exactly why it cannot be read.
pub(super) fn read(transcript: &Transcript, ask: &Ask, reply: &Reply) -> Reading {
    if reply.finish == Finish::Refusal {
        let reason = "the model refused to answer".to_owned();
        return Reading::Unreadable { reason, refusal: true };
    }
    let text = &reply.text;
    let read = match ask.purpose {
        Purpose::Opinion => reading(normalise::opinion(text, transcript.plan.mode)),
        Purpose::Review => reading(normalise::review(text, &letters(transcript, ask))),
        Purpose::Synthesis => reading(normalise::report(text, &letters(transcript, ask))),
        Purpose::Conclusion => {
            stub(normalise::conclusion(text, &grounds(transcript)).map(|r| r.document), |c| {
                Document::Conclusion(Box::new(c))
            })
        }
        Purpose::Audit => stub(normalise::audit(text).map(|r| r.document), Document::Audit),
        Purpose::Revision => stub(
            normalise::revision(
                text,
                crate::protocols::conclusion::draft(transcript).unwrap(),
                &crate::protocols::conclusion::trail(transcript).unwrap().revised_fields,
                &grounds(transcript),
            )
            .map(|r| r.document),
            |c| Document::Revision(Box::new(c)),
        ),
        Purpose::Restatement => Reading::Unreadable { reason: String::new(), refusal: false },
    };
    match read {
        // Mended, it would pass for whole: a report could lose its disagreements that way.
        Reading::Read { repaired: true, .. } if reply.finish == Finish::Length => {
            let reason = "the reply was cut off before it ended".to_owned();
            Reading::Unreadable { reason, refusal: false }
        }
        Reading::Unreadable { ref reason, refusal } if reply.finish == Finish::Length => {
            Reading::Unreadable { reason: format!("{reason} (the reply was cut off)"), refusal }
        }
        Reading::Read { .. } | Reading::Unreadable { .. } => read,
    }
}

fn stub<T>(read: Result<T, normalise::Unreadable>, wrap: impl Fn(T) -> Document) -> Reading {
    match read {
        Ok(document) => Reading::Read { document: wrap(document), repaired: false },
        Err(error) => Reading::Unreadable { reason: error.reason, refusal: error.refusal },
    }
}

fn grounds(transcript: &Transcript) -> crate::domain::conclusion::Grounds<'_> {
    crate::domain::conclusion::Grounds {
        participants: transcript.participants.as_deref().unwrap_or_default(),
        letters: Vec::new(),
        entities: &transcript.entities,
        today: transcript.last_entry_at.day(),
    }
}

/// What replies say that are in the journal, but were not read by anybody yet: readings follow
/// from replies, and are written down with whatever comes next.
pub fn due(transcript: &Transcript) -> Vec<Change> {
    let unread = transcript.asks.iter().filter(|asked| asked.reading.is_none());
    let due = unread.filter_map(|asked| {
        let (reply, _) = asked.reply()?;
        let reading = read(transcript, &asked.ask, reply);
        Some(Change::ReplyRead { ask: asked.ask.id, reading })
    });
    due.collect()
}

/// The letters a reader was shown: everybody's who was heard, but never the reader's own.
pub(super) fn letters(transcript: &Transcript, ask: &Ask) -> Vec<char> {
    let letters = Letters::of(&transcript.plan);
    let heard = opinions(transcript);
    let shown = letters.iter().filter(|(_, name)| match ask.purpose {
        Purpose::Review => **name != ask.seat && heard.iter().any(|voice| voice.seat == *name),
        Purpose::Opinion
        | Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement => false,
        // The chair also reads reviews by those who gave no opinion.
        Purpose::Synthesis => true,
    });
    shown.map(|(letter, _)| letter).collect()
}
