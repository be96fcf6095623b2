//! [`NamePlace`]: whether the author of a text names itself at a place, or only its subject.
//!
//! In doubt a name stays: most opinions about models name models.

use crate::prompting::anonymize::TextWord;

/// Words before a name with which an author says who it is.
const SELF_LEADS: [&[&str]; 22] = [
    &["i", "am"],
    &["i", "m"],
    &["i", "was"],
    &["my", "name", "is"],
    &["signed"],
    &["we", "at"],
    &["my", "developers", "at"],
    &["my", "developer", "is"],
    &["my", "makers", "at"],
    &["my", "maker", "is"],
    &["my", "creators", "at"],
    &["my", "creator", "is"],
    &["ich", "bin"],
    &["ich", "heiße"],
    &["wir", "bei"],
    &["je", "suis"],
    &["je", "m", "appelle"],
    &["nous", "chez"],
    &["soy"],
    &["sono"],
    &["sou"],
    &["我是"],
];

/// Before a name, if the author speaks of itself beside it: `As Claude, I …`.
const AS_LEADS: [&[&str]; 6] =
    [&["as"], &["being"], &["als"], &["como"], &["comme"], &["en", "tant", "que"]];
const SELF_WORDS: [&str; 6] = ["i", "my", "ich", "je", "yo", "eu"];

/// May follow a name: `As an Anthropic model, I …`.
const KIND_WORDS: [&str; 8] =
    ["ai", "model", "assistant", "chatbot", "ki", "modell", "modèle", "modelo"];

/// May stand between lead and name: `I am a language model trained by …`.
const FILLER_WORDS: [&str; 24] = [
    "a",
    "an",
    "the",
    "large",
    "language",
    "ai",
    "model",
    "assistant",
    "chatbot",
    "called",
    "named",
    "from",
    "of",
    "by",
    "version",
    "ein",
    "eine",
    "ki",
    "modell",
    "von",
    "un",
    "une",
    "modèle",
    "par",
];

/// The same, but only before `by`: `I built a Gemini integration` names the subject.
const MAKING_WORDS: [&str; 5] = ["trained", "made", "created", "built", "developed"];

const FILLERS_MAX: usize = 8;

/// A hidden name in a text: the words from `at` to before `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamePlace<'a> {
    pub text: &'a str,
    pub words: &'a [TextWord<'a>],
    pub at: usize,
    pub end: usize,
}

impl NamePlace<'_> {
    pub(super) fn names_author(mut self) -> bool {
        // `'s` belongs to the name.
        if self.word(self.end) == Some("s") && ["'", "’"].contains(&self.gap_before(self.end)) {
            self.end += 1;
        }
        self.is_greeting()
            || self.is_signature()
            || (0..=self.count_fillers()).any(|skipped| self.is_led_at(self.at - skipped))
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|word| word.text.as_ref())
    }

    /// The signs before a word.
    fn gap_before(&self, at: usize) -> &str {
        let from = at.checked_sub(1).and_then(|before| self.words.get(before));
        let to = self.words.get(at).map_or(self.text.len(), |word| word.start);
        self.text.get(from.map_or(0, |word| word.end)..to).unwrap_or_default()
    }

    /// How many words before the name may be skipped.
    fn count_fillers(&self) -> usize {
        let is_filler = |at: &usize| {
            let word = self.word(*at).unwrap_or_default();
            FILLER_WORDS.contains(&word)
                || MAKING_WORDS.contains(&word) && self.word(at + 1) == Some("by")
        };
        (0..self.at).rev().take(FILLERS_MAX).take_while(is_filler).count()
    }

    fn ends_with(&self, lead_end: usize, lead: &[&str]) -> bool {
        let Some(start) = lead_end.checked_sub(lead.len()) else { return false };
        (start..).zip(lead).all(|(at, word)| self.word(at) == Some(word))
    }

    /// Whether words before this place say that the author's name follows.
    fn is_led_at(&self, lead_end: usize) -> bool {
        SELF_LEADS.iter().any(|lead| self.ends_with(lead_end, lead))
            || self.ends_with(lead_end, &["this", "is"]) && self.word(self.end) == Some("speaking")
            || self.is_apposition(lead_end)
            || AS_LEADS
                .iter()
                .any(|lead| self.ends_with(lead_end, lead) && self.is_as(lead_end, lead))
    }

    /// `I, Claude, advise`.
    fn is_apposition(&self, lead_end: usize) -> bool {
        let is_self = lead_end
            .checked_sub(1)
            .and_then(|at| self.word(at))
            .is_some_and(|word| word != "my" && SELF_WORDS.contains(&word));
        is_self
            && is_enclosing(self.gap_before(lead_end))
            && is_enclosing(self.gap_before(self.end))
    }

    /// Whether the author speaks of itself before or after `as NAME`.
    fn is_as(&self, lead_end: usize, lead: &[&str]) -> bool {
        let first = lead_end - lead.len();
        let is_self = |at: usize| self.word(at).is_some_and(|word| SELF_WORDS.contains(&word));
        // `I, as Claude, advise`
        if first > 0 && is_self(first - 1) && is_enclosing(self.gap_before(first)) {
            return is_enclosing(self.gap_before(self.end));
        }
        let is_kind = |at: &usize| self.word(*at).is_some_and(|word| KIND_WORDS.contains(&word));
        let next = self.end + (self.end..).take(2).take_while(is_kind).count();
        let is_apart = is_enclosing(self.gap_before(next));
        // In the middle of a clause, `as NAME I` compares: `the same as GPT-4o I tested`.
        let begins = first == 0 || !self.gap_before(first).trim().is_empty();
        // German puts the verb first: `Als Claude kann ich`.
        let is_inverted = *lead == ["als"] && self.word(next + 1) == Some("ich");
        is_self(next) && (is_apart || begins) || is_inverted && begins && !is_apart
    }

    /// `Claude here: …` at the beginning of a sentence.
    fn is_greeting(&self) -> bool {
        let before = self.gap_before(self.at);
        let begins = self.at == 0 || before.contains(['.', '!', '?', '\n']);
        let after = self.gap_before(self.end + 1).trim_start();
        begins
            && self.word(self.end) == Some("here")
            && after.starts_with([':', ',', '.', '!', '—'])
    }

    /// `— Claude` as the last line. After a list, a hyphen begins its last item.
    fn is_signature(&self) -> bool {
        if self.end < self.words.len() || self.at == 0 {
            return false;
        }
        let before = self.gap_before(self.at);
        let Some((above, line)) = before.rsplit_once('\n') else { return false };
        let sign = line.trim_matches([' ', '*', '_', '`', '@']);
        let from = self.words.get(self.at).map_or(0, |word| word.start) - line.len();
        let text_above = self.text.get(..from).unwrap_or_default();
        let is_item = |line: &str| line.trim_start().starts_with("- ");
        match sign {
            "—" | "–" | "--" => true,
            "-" => {
                !text_above.lines().any(is_item)
                    && above.trim_end().ends_with(['.', '!', '?', '*', '_', ')', '"'])
            }
            _ => false,
        }
    }
}

/// Whether the signs set a name apart from the words beside it.
fn is_enclosing(gap: &str) -> bool {
    gap.contains([',', '(', ')', '—', '–', ':'])
}
