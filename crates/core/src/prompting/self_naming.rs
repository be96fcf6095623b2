//! [`NamePlace`]: whether the author of a text names itself at a place, or only its subject.
//!
//! In doubt a name stays: most opinions about models name models.

use crate::prompting::anonymize::TextWord;

/// Words before a name with which an author says who it is.
const SELF_LEADS: [&[&str]; 26] = [
    &["i", "am"],
    &["i", "m"],
    &["i", "was"],
    &["my", "name", "is"],
    &["signed"],
    &["we", "at"],
    &["my", "developers", "at"],
    &["my", "developer", "is"],
    &["my", "maker"],
    &["my", "makers"],
    &["my", "creator"],
    &["my", "creators"],
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

/// Verbs after `as NAME I` that make the name the subject: `As GPT-4o I tested shows`.
const TRYING_VERBS: [&str; 6] = ["tested", "tried", "used", "ran", "measured", "compared"];

/// May follow a name: `As an Anthropic model, I …`.
const KIND_WORDS: [&str; 15] = [
    "ai",
    "based",
    "large",
    "language",
    "model",
    "assistant",
    "chatbot",
    "instance",
    "product",
    "system",
    "ki",
    "modell",
    "sprachmodell",
    "modèle",
    "modelo",
];

/// May stand between lead and name and lead to it: `I am a language model from …`.
const LINK_WORDS: [&str; 13] =
    ["by", "on", "from", "of", "called", "named", "von", "par", "por", "de", "d", "di", "da"];

/// May stand between lead and name, as the kinds may: `I am a …`.
const FILLER_WORDS: [&str; 11] =
    ["a", "an", "the", "helpful", "version", "family", "ein", "eine", "un", "une", "uma"];

/// The same, but only before a link: `I built a Gemini integration` names the subject.
const MAKING_WORDS: [&str; 13] = [
    "trained",
    "made",
    "created",
    "built",
    "based",
    "developed",
    "trainiert",
    "entwickelt",
    "entraîné",
    "développé",
    "créé",
    "desarrollado",
    "creado",
];

/// May follow `NAME made me`. `OpenAI made me wait` names the subject.
const AFTER_ME_WORDS: [&str; 5] = ["to", "as", "and", "with", "on"];

const WRITING_WORDS: [&str; 3] = ["written", "generated", "produced"];
const REPLY_NOUNS: [&str; 7] =
    ["answer", "opinion", "reply", "response", "review", "text", "analysis"];

const FILLERS_MAX: usize = 12;

/// A hidden name in a text: the words from `at` to before `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamePlace<'a> {
    pub text: &'a str,
    pub words: &'a [TextWord<'a>],
    pub at: usize,
    pub end: usize,
    /// The name before this one with which the author named itself; it leads to this one as a kind
    /// does: `I am Claude, made by …`.
    pub own: (usize, usize),
}

impl NamePlace<'_> {
    pub(super) fn names_author(mut self) -> bool {
        // `'s` belongs to the name.
        if self.word(self.end) == Some("s") && ["'", "’"].contains(&self.gap_before(self.end)) {
            self.end += 1;
        }
        self.is_greeting()
            || self.is_signature()
            || self.is_maker()
            || self.is_led_at(self.at)
            || self.is_attached()
                && (1..=self.count_fillers()).any(|skipped| self.is_led_at(self.at - skipped))
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

    fn is_word_of(&self, at: usize, known: &[&str]) -> bool {
        self.word(at).is_some_and(|word| known.contains(&word))
    }

    fn is_own(&self, at: usize) -> bool {
        (self.own.0..self.own.1).contains(&at)
    }

    fn ends_sentence_before(&self, at: usize) -> bool {
        at == 0 || self.gap_before(at).contains(['.', '!', '?', '\n'])
    }

    /// Whether a clause or the text ends before this place.
    fn ends_clause_before(&self, at: usize) -> bool {
        at >= self.words.len() || self.ends_sentence_before(at) || is_enclosing(self.gap_before(at))
    }

    /// How many words before the name may be skipped.
    fn count_fillers(&self) -> usize {
        let is_filler = |at: &usize| {
            // The parts of a version have dots between them.
            let ends_sentence =
                !self.is_own(at + 1) && self.gap_before(at + 1).contains(['.', '!', '?']);
            let is_making =
                || self.is_word_of(*at, &MAKING_WORDS) && self.is_word_of(at + 1, &LINK_WORDS);
            let known = [&KIND_WORDS[..], &LINK_WORDS, &FILLER_WORDS];
            let is_known = || known.iter().any(|known| self.is_word_of(*at, known));
            !ends_sentence && (self.is_own(*at) || is_known() || is_making())
        };
        (0..self.at).rev().take(FILLERS_MAX).take_while(is_filler).count()
    }

    /// Whether skipped words lead to the name: `a model by NAME`, `the NAME model`, but not `an NAME
    /// customer`.
    fn is_attached(&self) -> bool {
        let Some(before) = self.at.checked_sub(1) else { return false };
        let is_linked = self.is_word_of(before, &LINK_WORDS)
            || self.is_word_of(before, &KIND_WORDS) && !self.is_own(before);
        is_linked && !is_enclosing(self.gap_before(self.at))
            || self.is_word_of(self.end, &KIND_WORDS)
            || self.ends_clause_before(self.end)
    }

    /// `NAME trained me`.
    fn is_maker(&self) -> bool {
        let verb = self.end + usize::from(self.is_word_of(self.end, &["has"]));
        self.is_word_of(verb, &MAKING_WORDS)
            && self.is_word_of(verb + 1, &["me"])
            && (self.ends_clause_before(verb + 2) || self.is_word_of(verb + 2, &AFTER_ME_WORDS))
    }

    /// `This answer was written by NAME`; as a line of its own, `Written by NAME`.
    fn is_byline(&self, lead_end: usize) -> bool {
        let Some(verb) = lead_end.checked_sub(2) else { return false };
        let is_written =
            self.is_word_of(verb, &WRITING_WORDS) && self.is_word_of(lead_end - 1, &["by"]);
        let is_reply = || {
            verb.checked_sub(3).is_some_and(|first| {
                self.is_word_of(first, &["this", "my"])
                    && self.is_word_of(first + 1, &REPLY_NOUNS)
                    && self.is_word_of(first + 2, &["was", "is"])
            })
        };
        let is_line = || {
            let after = self.gap_before(self.end);
            self.ends_sentence_before(verb)
                && (self.end == self.words.len() || after.contains(['.', '\n']))
        };
        is_written && (is_reply() || is_line())
    }

    fn ends_with(&self, lead_end: usize, lead: &[&str]) -> bool {
        let Some(start) = lead_end.checked_sub(lead.len()) else { return false };
        (start..).zip(lead).all(|(at, word)| self.word(at) == Some(word))
    }

    /// Whether words before this place say that the author's name follows.
    fn is_led_at(&self, lead_end: usize) -> bool {
        if self.gap_before(lead_end).contains(['.', '!', '?']) {
            return false;
        }
        SELF_LEADS.iter().any(|lead| self.ends_with(lead_end, lead))
            || self.ends_with(lead_end, &["this", "is"]) && self.word(self.end) == Some("speaking")
            || self.is_apposition(lead_end)
            || self.is_byline(lead_end)
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
        let is_self = |at: usize| self.is_word_of(at, &SELF_WORDS);
        // `I, as Claude, advise`
        if first > 0 && is_self(first - 1) && is_enclosing(self.gap_before(first)) {
            return is_enclosing(self.gap_before(self.end));
        }
        let is_kind = |at: &usize| self.is_word_of(*at, &KIND_WORDS);
        let next = self.end + (self.end..).take(3).take_while(is_kind).count();
        let is_apart = is_enclosing(self.gap_before(next));
        // In the middle of a clause, `as NAME I` compares: `the same as GPT-4o I tested`.
        let begins = first == 0 || !self.gap_before(first).trim().is_empty();
        // German puts the verb first: `Als Claude kann ich`.
        let is_inverted = *lead == ["als"] && self.word(next + 1) == Some("ich");
        let is_tried = self.is_word_of(next + 1, &TRYING_VERBS);
        is_self(next) && (is_apart || begins && !is_tried) || is_inverted && begins && !is_apart
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
