//! Parses replies that are in the journal.

use plenary_core::model::ask::{Ask, CUT_OFF_REASON, FinishReason, ModelReply};
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::run_state::{ParseOutcome, RunState};
use plenary_core::model::time::Moment;
use plenary_core::parsing::reply::unreadable;
use plenary_core::protocols::protocol::{AskRules, Protocols};

/// What the reply to an ask says, or why it cannot be used. It arrived at this moment.
pub(crate) fn parse_reply(
    protocols: &Protocols,
    state: &RunState,
    ask: &Ask,
    reply: &ModelReply,
    at: Moment,
) -> ParseOutcome {
    if reply.finish == FinishReason::Refusal {
        let reason = "the model refused to answer".to_owned();
        return ParseOutcome::Unreadable { reason, refusal: true };
    }
    let Some(protocol) = protocols.of_purpose(ask.purpose) else {
        return unreadable(&format!("no protocol asks for '{}'", ask.purpose));
    };
    let rules = protocol.ask_rules(ask.purpose, ask.round);
    check_truncation(protocol.parse_reply(state, ask, &reply.text, at), ask, rules, reply.finish)
}

/// A reply that was cut off is asked for again. The second time it is used, and marked, where the
/// rules of the ask accept it.
fn check_truncation(
    read: ParseOutcome,
    ask: &Ask,
    rules: AskRules,
    finish: FinishReason,
) -> ParseOutcome {
    let ended_by_length = finish == FinishReason::Length;
    match read {
        ParseOutcome::Parsed { document, repaired, truncated } => {
            let truncated = truncated || ended_by_length;
            if truncated && (!rules.accepts_cut_reply || ask.retry_reason.is_none()) {
                return unreadable(CUT_OFF_REASON);
            }
            ParseOutcome::Parsed { document, repaired, truncated }
        }
        ParseOutcome::Unreadable { reason, refusal }
            if ended_by_length && !reason.contains(CUT_OFF_REASON) =>
        {
            ParseOutcome::Unreadable { reason: format!("{reason} ({CUT_OFF_REASON})"), refusal }
        }
        ParseOutcome::Unreadable { .. } => read,
    }
}

/// What replies say that are in the journal but were not parsed before their process ended. It
/// follows from the replies, so it is journalled with the next entry.
pub fn parse_pending_replies(protocols: &Protocols, state: &RunState) -> Vec<JournalEvent> {
    let unread = state.asks.iter().filter(|asked| asked.parse_outcome.is_none());
    let due = unread.filter_map(|asked| {
        let (reply, at) = asked.last_reply()?;
        let reading = parse_reply(protocols, state, &asked.ask, reply, at);
        Some(JournalEvent::ReplyParsed { ask: asked.ask.id, reading })
    });
    due.collect()
}

#[cfg(test)]
mod tests {
    use plenary_core::model::ask::AskPurpose;
    use plenary_core::model::run_state::ReplyDocument;
    use plenary_core::protocols::conclusion::types::AuditReply;

    use super::*;

    fn rules(purpose: AskPurpose) -> AskRules {
        Protocols::built_in().ask_rules(purpose, 1).unwrap()
    }

    /// What becomes of a document of this purpose: `read`, `truncated`, or why it is not used.
    fn ended(
        purpose: AskPurpose,
        stricter: Option<&str>,
        truncated: bool,
        finish: FinishReason,
    ) -> String {
        let stricter = stricter.map(str::to_owned);
        let ask =
            Ask { id: 1, round: 1, seat: "ann".parse().unwrap(), purpose, retry_reason: stricter };
        let document = ReplyDocument::Audit(AuditReply::Pass);
        let read = ParseOutcome::Parsed { document, repaired: truncated, truncated };
        match check_truncation(read, &ask, rules(purpose), finish) {
            ParseOutcome::Parsed { truncated: false, .. } => "read".to_owned(),
            ParseOutcome::Parsed { truncated: true, .. } => "truncated".to_owned(),
            ParseOutcome::Unreadable { reason, .. } => reason,
        }
    }

    #[test]
    fn a_reply_without_its_end_is_asked_for_again_and_then_used_only_as_one_voice_of_several() {
        let cuts = [
            (true, FinishReason::Stop),
            (true, FinishReason::Other),
            (false, FinishReason::Length),
        ];
        let asked =
            AskPurpose::ALL.iter().copied().filter(|purpose| *purpose != AskPurpose::Restatement);
        for purpose in asked {
            for finish in [FinishReason::Stop, FinishReason::Other] {
                assert_eq!(ended(purpose, None, false, finish), "read", "{purpose}");
            }
            for (truncated, finish) in cuts {
                assert_eq!(ended(purpose, None, truncated, finish), CUT_OFF_REASON, "{purpose}");
                let is_voice = matches!(
                    purpose,
                    AskPurpose::Opinion | AskPurpose::PeerReview | AskPurpose::Contribution
                );
                let second = if is_voice { "truncated" } else { CUT_OFF_REASON };
                for reason in [CUT_OFF_REASON, "no JSON"] {
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
            purpose: AskPurpose::Opinion,
            retry_reason: stricter,
        };
        let opinion = rules(AskPurpose::Opinion);
        let once =
            check_truncation(unreadable("no JSON"), &ask(None), opinion, FinishReason::Length);
        let twice = check_truncation(once.clone(), &ask(None), opinion, FinishReason::Length);
        assert_eq!(once, unreadable(&format!("no JSON ({CUT_OFF_REASON})")));
        assert_eq!(once, twice);
        assert!(ask(Some(CUT_OFF_REASON.to_owned())).wants_shorter());
        assert!(!ask(Some("no JSON".to_owned())).wants_shorter() && !ask(None).wants_shorter());
    }
}
