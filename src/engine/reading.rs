//! Parses replies that are in the journal.

use crate::domain::ask::{Ask, CUT_OFF, Finish, Reply};
use crate::domain::change::Change;
use crate::domain::time::Moment;
use crate::domain::transcript::{Reading, Transcript};
use crate::normalise::unreadable;
use crate::protocols::{AskRules, Protocols};

/// What the reply to an ask says, or why it cannot be used. It arrived at this moment.
pub(super) fn read(
    protocols: &Protocols,
    transcript: &Transcript,
    ask: &Ask,
    reply: &Reply,
    at: Moment,
) -> Reading {
    if reply.finish == Finish::Refusal {
        let reason = "the model refused to answer".to_owned();
        return Reading::Unreadable { reason, refusal: true };
    }
    let Some(protocol) = protocols.of_purpose(ask.purpose) else {
        return unreadable(&format!("no protocol asks for '{}'", ask.purpose));
    };
    let rules = protocol.ask_rules(ask.purpose, ask.round);
    judged_by_end(protocol.parse(transcript, ask, &reply.text, at), ask, rules, reply.finish)
}

/// A reply that was cut off is asked for again. The second time it is used, and marked, where the
/// rules of the ask accept it.
fn judged_by_end(read: Reading, ask: &Ask, rules: AskRules, finish: Finish) -> Reading {
    let ended_by_length = finish == Finish::Length;
    match read {
        Reading::Read { document, repaired, truncated } => {
            let truncated = truncated || ended_by_length;
            if truncated && (!rules.accepts_cut_reply || ask.stricter.is_none()) {
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

/// What replies say that are in the journal but were not parsed before their process ended. It
/// follows from the replies, so it is journalled with the next entry.
pub fn due(protocols: &Protocols, transcript: &Transcript) -> Vec<Change> {
    let unread = transcript.asks.iter().filter(|asked| asked.reading.is_none());
    let due = unread.filter_map(|asked| {
        let (reply, at) = asked.reply()?;
        let reading = read(protocols, transcript, &asked.ask, reply, at);
        Some(Change::ReplyRead { ask: asked.ask.id, reading })
    });
    due.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ask::Purpose;
    use crate::domain::conclusion::Audit;
    use crate::domain::transcript::Document;

    fn rules(purpose: Purpose) -> AskRules {
        Protocols::built_in().ask_rules(purpose, 1).unwrap()
    }

    /// What becomes of a document of this purpose: `read`, `truncated`, or why it is not used.
    fn ended(purpose: Purpose, stricter: Option<&str>, truncated: bool, finish: Finish) -> String {
        let stricter = stricter.map(str::to_owned);
        let ask = Ask { id: 1, round: 1, seat: "ann".parse().unwrap(), purpose, stricter };
        let document = Document::Audit(Audit::Pass);
        let read = Reading::Read { document, repaired: truncated, truncated };
        match judged_by_end(read, &ask, rules(purpose), finish) {
            Reading::Read { truncated: false, .. } => "read".to_owned(),
            Reading::Read { truncated: true, .. } => "truncated".to_owned(),
            Reading::Unreadable { reason, .. } => reason,
        }
    }

    #[test]
    fn a_reply_without_its_end_is_asked_for_again_and_then_used_only_as_one_voice_of_several() {
        let cuts = [(true, Finish::Stop), (true, Finish::Other), (false, Finish::Length)];
        let asked = Purpose::ALL.iter().copied().filter(|purpose| *purpose != Purpose::Restatement);
        for purpose in asked {
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
        let opinion = rules(Purpose::Opinion);
        let once = judged_by_end(unreadable("no JSON"), &ask(None), opinion, Finish::Length);
        let twice = judged_by_end(once.clone(), &ask(None), opinion, Finish::Length);
        assert_eq!(once, unreadable(&format!("no JSON ({CUT_OFF})")));
        assert_eq!(once, twice);
        assert!(ask(Some(CUT_OFF.to_owned())).wants_shorter());
        assert!(!ask(Some("no JSON".to_owned())).wants_shorter() && !ask(None).wants_shorter());
    }
}
