//! Recognises a reply without a document as a refusal to answer.

use std::sync::LazyLock;

use regex::Regex;

use crate::parsing::reply::{
    ParseResult, ParsedReply, UnreadableReply, refusal_error, trim_blanks, visible_text,
};
use crate::protocols::conclusion::format::constraint::FormatUnit;
use crate::protocols::conclusion::format::count::count_units;

/// A refusal is a few sentences; a longer text is an attempt to answer.
const REFUSAL_CHARS_MAX: usize = 1_200;

/// Expressions that make a short text a refusal, in English and other common languages.
const REFUSALS: [&str; 11] = [
    CANNOT_ANSWER,
    "i (?:must |have to |respectfully )?decline|(?:against|violates) my guidelines",
    "kann ich (?:nicht helfen|ihnen nicht|dir nicht)|diese anfrage nicht",
    "ich kann (?:dabei nicht helfen|nicht dabei helfen|ihnen dabei nicht)",
    "je ne peux pas (?:vous aider|t'aider|répondre)|je ne suis pas en mesure",
    "no puedo (?:ayudar|responder|proporcionar)",
    "non posso (?:aiutar|rispondere)|não posso (?:ajudar|responder)",
    "我无法|我不能|無法提供|无法提供",
    "お手伝いできません|お答えできません",
    "도와드릴 수 없",
    "не могу помочь",
];

/// "I cannot", followed within a few words by a verb of answering.
const CANNOT_ANSWER: &str = concat!(
    r"(?:i (?:can't|cannot|can not|won't|will not)|unable to|i(?:'m| am) not able to",
    r"|i'm not going to|not comfortable|i must refuse to|i'm sorry, but i)(?s:.{0,60}?)",
    r" (?:help|assist|provid|answer|compl|fulfil|support|participat|engag|discuss|generat|creat",
    r"|writ|respond|continu|shar|giv|do that|do this|offer|process|tak part|proceed|advise|review)",
);

/// `None` only if an expression is invalid, which the tests exclude.
static REFUSAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&REFUSALS.join("|")).ok());

/// Whether a short text says that its author cannot or will not answer.
pub(crate) fn is_refusal(text: &str) -> bool {
    if text.chars().nth(REFUSAL_CHARS_MAX).is_some() {
        return false;
    }
    let text = text.to_lowercase().replace(['’', 'ʼ'], "'");
    REFUSAL.as_ref().is_some_and(|refusal| refusal.is_match(&text))
}

/// Short enough for the Principal to read at a glance and confirm.
const RESTATEMENT_CHARS_MAX: usize = 400;

/// Quotes that models put around a sentence.
const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('\'', '\''), ('‘', '’'), ('«', '»')];

pub fn parse_restatement(reply: &str) -> ParseResult<String> {
    let message = visible_text(reply)?;
    let sentence = strip_quotes(&message);
    if is_refusal(sentence) {
        return Err(refusal_error());
    }
    match sentence_error(sentence) {
        Some(reason) => Err(UnreadableReply::new(reason)),
        None => {
            Ok(ParsedReply { document: sentence.to_owned(), repaired: false, truncated: false })
        }
    }
}

/// Strips the quotes if they enclose the whole text.
fn strip_quotes(text: &str) -> &str {
    let inner = QUOTES.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains([*open, *close])).then_some(inner)
    });
    trim_blanks(inner.unwrap_or(text))
}

fn sentence_error(text: &str) -> Option<String> {
    if !text.chars().any(char::is_alphanumeric) {
        return Some("no sentence".to_owned());
    }
    let characters = text.chars().count();
    if characters > RESTATEMENT_CHARS_MAX {
        return Some(format!("{characters} characters, over {RESTATEMENT_CHARS_MAX}"));
    }
    let lines = text.lines().count();
    if lines > 1 {
        return Some(format!("{lines} lines, but one is expected"));
    }
    if text.chars().any(char::is_control) || text.starts_with(['{', '[', '<', '`']) {
        return Some("not plain text".to_owned());
    }
    // A script without sentence marks counts as one sentence.
    let sentences = count_units(FormatUnit::Sentences, text).unwrap_or(1);
    (sentences > 1).then(|| format!("{sentences} sentences, but one is expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_known() {
        for text in [
            "I'm sorry, but I can't help with that.",
            "I can’t assist with this request.",
            "I cannot provide an opinion on this matter.",
            "As an AI, I am unable to answer political questions.",
            "I won't be able to participate in this.",
            "I must decline.",
            "Tut mir leid, dabei kann ich nicht helfen.",
            "Désolé, je ne peux pas vous aider avec cela.",
            "Lo siento, no puedo ayudar con eso.",
            "抱歉，我无法回答这个问题。",
            "申し訳ありませんが、お手伝いできません。",
            "Извините, я не могу помочь с этим.",
        ] {
            assert!(is_refusal(text), "{text}");
        }
    }

    #[test]
    fn an_answer_is_no_refusal() {
        for text in [
            "",
            "I think we should adopt it.",
            "I can't see a reason against it: adopt.",
            "The service cannot provide this guarantee.",
            "We won't need a second database.",
        ] {
            assert!(!is_refusal(text), "{text}");
        }
        assert!(!is_refusal(&format!("I can't help with that. {}", "But. ".repeat(500))));
    }
}
