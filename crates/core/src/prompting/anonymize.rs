//! Masks the names with which the author of an opinion identifies itself, for anonymous reviews.
//!
//! Hidden are the seats' names exactly as configured, and model names, families and vendors in
//! any spacing, where [`NamePlace`] finds that the author names itself. Names that belong to the
//! subject stay: they reveal no author.
//!
//! A seat name of one letter is not masked, because it would blank an ordinary word.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use crate::prompting::model_brands::{JOINED_SUFFIXES, MODEL_BRANDS, ModelBrand, VERSION_SUFFIXES};
use crate::prompting::self_naming::NamePlace;

const MASK: &str = "[a model]";

/// The names to hide, prepared once per run.
#[derive(Debug, Clone, Default)]
pub struct NameMask {
    /// By their first word; the longest name first.
    names: HashMap<String, Vec<HiddenName>>,
}

#[derive(Debug, Clone, PartialEq)]
struct HiddenName {
    /// In lower case, split between letters and digits.
    words: Vec<String>,
    kind: HiddenNameKind,
}

#[derive(Debug, Clone, PartialEq)]
enum HiddenNameKind {
    /// Exactly this text. Names of three letters or more match in any case.
    Seat(String),
    /// In any spacing, with the version that follows.
    Model,
    /// Like a model, but only before a number.
    Version,
    /// Only with a capital letter, and not as part of a longer name.
    Vendor,
}

impl NameMask {
    /// `seats` are names of seats and providers, `models` names of models and families.
    pub fn new(seats: &[&str], models: &[&str]) -> Self {
        let mut mask = Self::default();
        seats.iter().for_each(|seat| mask.add_name(seat, HiddenNameKind::Seat((*seat).to_owned())));
        for model in models {
            mask.add_model(model);
            // Models also write `vendor/model` without the vendor.
            mask.add_model(model.rsplit('/').next().unwrap_or(model));
        }
        // A name in the settings need not tell the brand: a gateway calls its model `prod-1`.
        known_brands().for_each(|known| mask.add_brand(known.brand));
        mask.names.values_mut().for_each(|names| {
            names.sort_by_key(|name| std::cmp::Reverse(name.words.len()));
        });
        mask
    }

    /// Replaces every name with which the author identifies itself; also returns the number of replacements.
    pub fn mask_text(&self, text: &str) -> (String, usize) {
        let words = split_words(text);
        let mut shown = String::with_capacity(text.len());
        let (mut from, mut at, mut masked, mut own) = (0, 0, 0, (0, 0));
        while let Some(word) = words.get(at) {
            let hidden = self.hidden_length(text, &words, at);
            let is_own = |count: &usize| {
                NamePlace { text, words: &words, at, end: at + count, own }.names_author()
            };
            let Some(count) = hidden.filter(is_own) else {
                at += 1;
                continue;
            };
            let end = words.get(at + count - 1).map_or(word.end, |last| last.end);
            shown.push_str(text.get(from..word.start).unwrap_or_default());
            shown.push_str(MASK);
            (from, at, masked, own) = (end, at + count, masked + 1, (at, at + count));
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        (shown, masked)
    }

    fn add_name(&mut self, name: &str, kind: HiddenNameKind) {
        let words = words_of(name);
        // A seat named after a vendor follows the vendor rule: `meta` is also an ordinary word.
        let is_house = kind != HiddenNameKind::Vendor && is_vendor(name);
        if name.chars().count() < 2 || is_house {
            return;
        }
        if let Some(first) = words.first() {
            let names = self.names.entry(first.clone()).or_default();
            let name = HiddenName { words, kind };
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }

    /// A model name without a brand or a number consists of ordinary words and must match exactly.
    fn add_model(&mut self, name: &str) {
        let given = [words_of(name)];
        let is_numbered = name.contains(|letter: char| letter.is_ascii_digit());
        let is_model = is_numbered || known_brands().any(|brand| brand.occurs_in(&given));
        self.add_name(
            name,
            if is_model { HiddenNameKind::Model } else { HiddenNameKind::Seat(name.to_owned()) },
        );
    }

    fn add_brand(&mut self, brand: &ModelBrand) {
        brand.names.iter().for_each(|name| self.add_name(name, HiddenNameKind::Model));
        brand.versions.iter().for_each(|name| self.add_name(name, HiddenNameKind::Version));
        brand.vendors.iter().for_each(|name| self.add_name(name, HiddenNameKind::Vendor));
    }

    /// Length in words of the hidden name and its version at this position.
    fn hidden_length(&self, text: &str, words: &[TextWord<'_>], at: usize) -> Option<usize> {
        let names = self.names.get(words.get(at)?.text.as_ref())?;
        names.iter().filter_map(|name| name.match_length(text, words, at)).max()
    }
}

fn is_vendor(name: &str) -> bool {
    MODEL_BRANDS
        .iter()
        .flat_map(|brand| brand.vendors)
        .any(|house| house.eq_ignore_ascii_case(name))
}

/// A brand and its names, split into words.
#[derive(Debug)]
struct BrandWords {
    brand: &'static ModelBrand,
    names: Vec<Vec<String>>,
}

/// All brands, with their names split once for all masks.
fn known_brands() -> impl Iterator<Item = &'static BrandWords> {
    static ALL: LazyLock<Vec<BrandWords>> = LazyLock::new(|| {
        let known = |brand: &'static ModelBrand| {
            let names = brand.names.iter().chain(brand.vendors).map(|name| words_of(name));
            BrandWords { brand, names: names.collect() }
        };
        MODEL_BRANDS.iter().map(known).collect()
    });
    ALL.iter()
}

impl BrandWords {
    fn occurs_in(&self, given: &[Vec<String>]) -> bool {
        self.names.iter().any(|name| {
            given.iter().any(|words| words.windows(name.len()).any(|window| *window == **name))
        })
    }
}

impl HiddenName {
    /// Length in words of the match at this position.
    fn match_length(&self, text: &str, words: &[TextWord<'_>], at: usize) -> Option<usize> {
        let here = words.get(at..at + self.words.len())?;
        let is_same = here.iter().zip(&self.words).all(|(word, name)| word.text == *name);
        let goes_on = here.iter().skip(1).all(TextWord::is_adjacent);
        if !is_same || !goes_on || !here.first().is_some_and(|word| word.begins) {
            return None;
        }
        let rest = words.get(at + self.words.len()..).unwrap_or_default();
        let (first, last) = (here.first()?, here.last()?);
        match &self.kind {
            HiddenNameKind::Seat(seat) => {
                let written = text.get(first.start..last.end)?;
                let is_short = seat.chars().count() < 3;
                let is_it = *seat == written || !is_short && seat.eq_ignore_ascii_case(written);
                (is_it && last.ends).then_some(self.words.len())
            }
            HiddenNameKind::Model => length_with_version(here, rest),
            HiddenNameKind::Version => {
                let is_numbered =
                    rest.first().is_some_and(|next| next.is_number() && next.is_adjacent());
                if is_numbered { length_with_version(here, rest) } else { None }
            }
            HiddenNameKind::Vendor => {
                let is_capital = text.get(first.start..)?.starts_with(char::is_uppercase);
                let after = text.get(last.end..)?;
                let is_whole = last.ends && !after.starts_with('-') && !continues_name(after);
                (is_capital && is_whole).then_some(self.words.len())
            }
        }
    }
}

/// Length of the name plus as much of the version as ends at a word boundary.
fn length_with_version(name: &[TextWord<'_>], rest: &[TextWord<'_>]) -> Option<usize> {
    let is_tail = |word: &&TextWord<'_>| word.is_adjacent() && word.is_of_version();
    let tail = rest.iter().take_while(is_tail).count();
    (0..=tail)
        .rev()
        .find(|taken| {
            let last = if *taken == 0 { name.last() } else { rest.get(taken - 1) };
            last.is_some_and(|word| word.ends)
        })
        .map(|taken| name.len() + taken)
}

/// `Google` in `Google Cloud` does not name the vendor of a model.
fn continues_name(after: &str) -> bool {
    let Some(after) = after.strip_prefix(' ') else { return false };
    let is_author = after.starts_with("I ") || after.starts_with("I'");
    after.starts_with(char::is_uppercase) && !is_author
}

/// A sequence of letters or of digits.
#[derive(Debug)]
pub(super) struct TextWord<'a> {
    /// In lower case.
    pub text: Cow<'a, str>,
    pub start: usize,
    pub end: usize,
    gap: WordGap,
    /// Whether it begins and ends at a word boundary.
    begins: bool,
    ends: bool,
}

/// The characters between a word and the previous one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WordGap {
    Nothing,
    Space,
    /// One of the other signs that separate parts of a name.
    Separator,
    Other,
}

impl TextWord<'_> {
    fn is_adjacent(&self) -> bool {
        self.gap != WordGap::Other
    }

    fn is_number(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_ascii_digit())
    }

    /// Matches `4`, the `o` of `4o`, `turbo`.
    fn is_of_version(&self) -> bool {
        let is_letter = self.gap == WordGap::Nothing && self.text.len() == 1;
        let is_joined =
            self.gap == WordGap::Separator && JOINED_SUFFIXES.contains(&self.text.as_ref());
        self.is_number() || is_letter || is_joined || VERSION_SUFFIXES.contains(&self.text.as_ref())
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum LetterScript {
    Latin,
    Digit,
    Other,
    None,
}

fn script_of(letter: char) -> LetterScript {
    match letter {
        '0'..='9' => LetterScript::Digit,
        _ if !letter.is_alphanumeric() => LetterScript::None,
        '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => LetterScript::Latin,
        _ => LetterScript::Other,
    }
}

/// Splits a text into words, also where the script changes: `我是Claude` contains a name.
fn split_words(text: &str) -> Vec<TextWord<'_>> {
    let mut words: Vec<TextWord<'_>> = Vec::new();
    let mut letters = text.char_indices().peekable();
    let mut before = None;
    while let Some((start, first)) = letters.next() {
        let kind = script_of(first);
        if kind == LetterScript::None {
            before = Some(first);
            continue;
        }
        let mut last = (start, first);
        while let Some(next) = letters.next_if(|(_, letter)| script_of(*letter) == kind) {
            last = next;
        }
        let end = last.0 + last.1.len_utf8();
        let gap = words.last().map_or(WordGap::Other, |word| gap_between(text, word.end, start));
        let after = letters.peek().map(|(_, letter)| *letter);
        let begins = !is_glued(before, kind);
        let word = lower_word(text.get(start..end).unwrap_or_default());
        words.push(TextWord { text: word, start, end, gap, begins, ends: !is_glued(after, kind) });
        before = Some(last.1);
    }
    words
}

/// Lower case without allocating, since most words already are.
fn lower_word(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.chars().flat_map(char::to_lowercase).collect())
}

fn gap_between(text: &str, from: usize, to: usize) -> WordGap {
    let mut between = text.get(from..to).unwrap_or_default().chars();
    match (between.next(), between.next()) {
        (None, _) => WordGap::Nothing,
        (Some(' ' | '\u{a0}'), None) => WordGap::Space,
        (Some('-' | '_' | '.' | ':' | '/' | '\u{2010}' | '\u{2011}'), None) => WordGap::Separator,
        _ => WordGap::Other,
    }
}

/// Whether the neighbouring character makes the word part of a longer one.
fn is_glued(neighbour: Option<char>, kind: LetterScript) -> bool {
    neighbour.is_some_and(|letter| match script_of(letter) {
        LetterScript::Latin | LetterScript::Digit => kind != LetterScript::Other,
        LetterScript::Other => kind == LetterScript::Other,
        LetterScript::None => letter == '_',
    })
}

fn words_of(name: &str) -> Vec<String> {
    split_words(name).into_iter().map(|word| word.text.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask() -> NameMask {
        let seats = ["small-a", "optimist", "ai", "z"];
        let models = [
            "claude-sonnet-4-20250514",
            "gpt-4o",
            "gemini-2.0-flash",
            "meta-llama/Llama-3.1-70B-Instruct",
        ];
        NameMask::new(&seats, &models)
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let (shown, masked) = mask().mask_text(text);
        assert_eq!(shown, expected);
        assert_eq!(masked, expected.matches(MASK).count());
        assert_eq!(mask().mask_text(&shown), (shown, 0), "what is masked stays as it is");
    }

    #[test]
    fn an_author_who_names_itself_is_hidden_however_it_writes() {
        check("I am Claude.", "I am [a model].");
        check("As GPT-4o, I", "As [a model], I");
        check("I'm ChatGPT; my name is gpt 4o", "I'm [a model]; my name is [a model]");
        check("I, Claude-Sonnet-4-20250514, say so", "I, [a model], say so");
        check(
            "I am a large language model trained by Google.",
            "I am a large language model trained by [a model].",
        );
        check("I was made by OpenAI", "I was made by [a model]");
        check("I am Meta-Llama/Llama-3.1-70B-Instruct", "I am [a model]");
        check("我是Claude模型", "我是[a model]模型");
        check("Ich bin **Claude**", "Ich bin **[a model]**");
        check("Als Gemini 2.5 Pro ich", "Als [a model] ich");
        check("I am small-a, as optimist I agree", "I am [a model], as [a model] I agree");
        check("As an Anthropic model, I would wait", "As an [a model] model, I would wait");
        check("I, as Claude, advise", "I, as [a model], advise");
        check(
            "Being a Claude model, I have a conflict",
            "Being a [a model] model, I have a conflict",
        );
        check(
            "As a large language model trained by Google I abstain",
            "As a large language model trained by [a model] I abstain",
        );
        check("Claude here: wait.", "[a model] here: wait.");
        check("Wait. Claude here, again.", "Wait. [a model] here, again.");
        check("This is Claude speaking", "This is [a model] speaking");
        check(
            "We at Anthropic and my developers at OpenAI",
            "We at [a model] and my developers at [a model]",
        );
        check("I would wait.\n\n— Claude", "I would wait.\n\n— [a model]");
        check("I would wait.\n- Claude\n", "I would wait.\n- [a model]\n");
        check("Ich, Claude, rate ab", "Ich, [a model], rate ab");
        check("Als KI von OpenAI kann ich warten", "Als KI von [a model] kann ich warten");
        check("En tant que Claude, je recommande", "En tant que [a model], je recommande");
    }

    #[test]
    fn a_name_beside_that_of_the_author_is_hidden() {
        check("I am Claude, made by Anthropic.", "I am [a model], made by [a model].");
        check(
            "I am Claude, an AI assistant made by Anthropic, and I wait.",
            "I am [a model], an AI assistant made by [a model], and I wait.",
        );
        check(
            "I'm GPT-4o, a large language model developed by OpenAI",
            "I'm [a model], a large language model developed by [a model]",
        );
        check("I'm GPT-5 from OpenAI", "I'm [a model] from [a model]");
        check("I am Claude, Anthropic's assistant.", "I am [a model], [a model]'s assistant.");
        check("I am Claude (Anthropic).", "I am [a model] ([a model]).");
        check("Ich bin Claude von Anthropic", "Ich bin [a model] von [a model]");
        check("Je suis Claude d'Anthropic", "Je suis [a model] d'[a model]");
        check("Anthropic trained me to wait.", "[a model] trained me to wait.");
        check("OpenAI made me, and I wait", "[a model] made me, and I wait");
        check("This answer was written by Claude.", "This answer was written by [a model].");
        check("Wait.\n\nWritten by GPT-4o", "Wait.\n\nWritten by [a model]");
        check("I was built on GPT-4, so I wait.", "I was built on [a model], so I wait.");
        check("My maker, Anthropic, says so", "My maker, [a model], says so");
    }

    #[test]
    fn names_that_belong_to_the_subject_stay() {
        for text in [
            "Use Claude from Anthropic for long tickets.",
            "Unlike GPT-4o, it is cheap; as Claude does, Gemini asks.",
            "I use Claude and I prefer Gemini 2.0 Flash on Google.",
            "I am sure that OpenAI's view is right.",
            "optimist and small-a disagree; z is short",
            "I built a Gemini integration, and I trained Llama 3 on our logs.",
            "I made Claude summarise tickets. I created a ChatGPT plugin.",
            "I version Claude prompts in git.",
            "The same as GPT-4o I tested.",
            "As Claude said, it is cheap. Use Claude here.",
            "The candidates:\n- Gemini\n- Claude",
            "This is Claude, the model that we compare.",
            "I am an OpenAI customer. I am a Claude user and a Google employee.",
            "As GPT-4o I tested last week shows, it is cheap.",
            "OpenAI made me wait. Anthropic built me a connector.",
            "The patch was written by Claude. Written by GPT-4o, it leaks.",
            "That is who I am. Claude is cheaper; so I am. The Gemini model waits.",
            "",
            "İstanbul ﬁne naïve 日本語",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_known_brand_is_hidden_behind_any_configured_name() {
        let mask = NameMask::new(&["ann", "bob"], &["prod-1"]);
        let check = |text: &str, expected: &str| assert_eq!(mask.mask_text(text).0, expected);
        check("As Claude, I recommend it.", "As [a model], I recommend it.");
        check("I am GPT-5, ann says so", "I am [a model], ann says so");
        check("Use Claude from Anthropic.", "Use Claude from Anthropic.");
        check("I am Claude, Gemini is cheaper.", "I am [a model], Gemini is cheaper.");
        check("I am Claude. The Gemini model waits.", "I am [a model]. The Gemini model waits.");
    }

    #[test]
    fn nothing_to_hide_hides_nothing() {
        let text = "I am Claude";
        assert_eq!(NameMask::default().mask_text(text), (text.to_owned(), 0));
        assert_eq!(NameMask::new(&[""], &["", "-"]).mask_text("a - b"), ("a - b".to_owned(), 0));
    }

    #[test]
    fn a_long_text_is_gone_through_once() {
        let text = "I am claude-4. ".repeat(100_000);
        let (shown, masked) = mask().mask_text(&text);
        assert_eq!((masked, shown.matches("claude").count()), (100_000, 0));
    }
}
