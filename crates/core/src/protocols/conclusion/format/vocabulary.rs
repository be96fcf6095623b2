//! Word lists that distinguish a request for a format from a mention of one.

use crate::protocols::conclusion::format::question::QuestionSentence;

/// Words separated by spaces.
pub(crate) struct WordList(pub(crate) &'static str);

impl WordList {
    pub(crate) fn contains_word(&self, word: &str) -> bool {
        !word.is_empty() && self.0.split(' ').any(|known| known == word)
    }
}

/// Wordings of several words, separated by bars. None is a prefix of another.
pub(crate) struct PhraseList(&'static str);

impl PhraseList {
    /// Returns the position after the wording that starts here.
    pub(crate) fn match_end(&self, sentence: &QuestionSentence, at: usize) -> Option<usize> {
        let found = self.0.split('|').find(|words| sentence.matches_words(at, words))?;
        Some(at + found.split(' ').count())
    }
}

/// Names of an answer.
pub(crate) const ANSWER_NOUNS: WordList = WordList(
    "answer reply response summary recommendation conclusion explanation verdict overview \
     description paragraph list recap rationale justification argument assessment analysis \
     report tldr tl;dr",
);

/// Adjectives before such a noun, or between a number and its unit.
pub(crate) const ADJECTIVES: WordList = WordList(
    "short brief concise clear simple plain complete full key quick final executive direct \
     overall numbered main single",
);

/// Verbs of a command that leads to a text.
pub(crate) const HEADS: WordList = WordList(
    "answer reply respond summarise summarize explain describe write give list state provide \
     tell outline recap conclude keep limit use format present make return produce compare argue \
     discuss decide recommend evaluate assess analyse analyze review justify propose suggest \
     identify name show define condense shorten reduce sum say choose output draft convince \
     stick stay read",
);

/// The verbs among them that always address the answerer, wherever in a sentence they start a
/// clause.
pub(crate) const ANSWERING: WordList = WordList(
    "answer reply respond summarise summarize explain tell keep limit recap conclude give",
);

/// The verbs that concern the whole answer, even after `then`.
pub(crate) const WHOLE: WordList = WordList("answer reply respond conclude keep limit");

/// Verbs that take a length: `keep it under 50 words`.
pub(crate) const LIMITING: WordList = WordList("keep limit stick stay");

/// Verbs that shorten `to` or `into` a length.
pub(crate) const CONDENSING: WordList = WordList("condense shorten reduce sum");

/// Verbs that take a count as their object: `give me 5 lines`. They also make things that are no
/// answers: `write a function in 5 lines`.
pub(crate) const GIVING: WordList =
    WordList("give write use provide produce return output make draft list");

/// Things with lines and words of their own.
pub(crate) const ARTEFACTS: WordList = WordList(
    "function functions script program code class query test tests parser regex module method \
     algorithm app macro config file files commit commits message messages comment comments \
     docstring docstrings readme documentation docs policy policies template prompt prompts \
     slide slides rule rules snippet abstract essay poem \
     statement note blurb synopsis digest",
);

/// Verbs that own a count after them: `how to write it in 5 lines`.
pub(crate) const INNER_VERBS: WordList = WordList(
    "write writes writing written wrote describe describes described answered answering say \
     says said summarised summarized summarising summarizing fit fits express expressed \
     expresses parse parses parsing parsed reads reading print prints printed shown shows split \
     splits splitting render renders rendered display displays displayed store stores stored \
     contain contains containing implement implemented implementing coded coding done limit \
     limited keep kept wrap wrapped break breaks log logs logged format formatted documented \
     generate generated span spans repeat repeated rewrite \
     phrase phrased put formulate compress introduce speak structure arrange deliver send sent \
     pitch address",
);

/// Words that may come before the content of a sentence.
pub(crate) const FILLERS: WordList = WordList(
    "please pls kindly now so ok okay and but just hi hello hey briefly clearly only always",
);

/// Like [`FILLERS`], but after them a request concerns only a part of the answer.
pub(crate) const PART_MARKS: WordList =
    WordList("then also finally next first lastly additionally afterwards again");

/// Wordings that introduce a command.
pub(crate) const PREAMBLES: PhraseList = PhraseList(
    "i would like you to|i'd like you to|i want you to|i need you to|your task is to|make sure to|\
     be sure to|try to|you must|you can|can you|could you|would you|will you",
);

/// Wordings of a wish for an answer, whose format follows.
pub(crate) const WANTING: PhraseList = PhraseList("i would like|i'd like|i want|i need|i prefer");

/// Words that start a question.
pub(crate) const QUESTION_STARTS: WordList = WordList(
    "should is are was were what what's why how do does did can could will would which who whom \
     whose when where has have had may must shall isn't aren't shouldn't don't doesn't won't \
     whether might",
);

/// Words that start a subordinate clause.
pub(crate) const SUBORDINATE: WordList = WordList(
    "if when given considering assuming after before based as since because for in with to \
     although while once without having using whatever",
);

/// Words directly before a count that make it an existing or another count.
pub(crate) const DETERMINERS: WordList = WordList(
    "the these those this that first last next previous top bottom other another same my our \
     their its his her your any all both which every each no or nor than not per rather instead \
     versus",
);

pub(crate) const NEGATIONS: WordList =
    WordList("not don't never cannot can't mustn't shouldn't without avoid won't doesn't needn't");

/// Verbs that give a maximum after a negation, and no bound otherwise.
pub(crate) const TO_EXCEED: WordList = WordList("exceed exceeds exceeding surpass");

/// Words that apply a count to each item instead of the whole.
pub(crate) const SHARING: WordList = WordList("each every per apiece respectively");

/// Nouns of a rule. A count in brackets after one belongs to the rule.
pub(crate) const LIMIT_NOUNS: WordList = WordList(
    "limit limits rule rules policy cap requirement constraint guideline standard convention \
     maximum minimum target",
);

/// Objects of `keep` and `limit` that mean the answer.
pub(crate) const ANSWER_OBJECTS: WordList = WordList(
    "yourself it this your the final short brief concise length down everything things please \
     text a tight to at in as yourselves",
);

/// Words between a verb and the count that is its object.
pub(crate) const RECIPIENTS: WordList =
    WordList("me us back please just it a an your answer up exactly be with");

/// Modal words: `your answer must be in 5 lines`.
pub(crate) const OBLIGATIONS: WordList = WordList(
    "must should shall has have needs need to be is contain consist of fit use not may can will \
     in on as at only written given limited kept stay with within ought comprise a",
);

/// Returns true for headings of a format: `Format:`, `desired output format:`.
pub(crate) fn is_label<'a>(words: impl Iterator<Item = &'a str> + Clone) -> bool {
    words.clone().any(|word| LABELS.contains_word(word))
        && words
            .into_iter()
            .all(|word| LABELS.contains_word(word) || BESIDE_LABELS.contains_word(word))
}

const LABELS: WordList = WordList(
    "format formatting length form requirements rules instructions constraints answer response \
     reply requirement",
);

const BESIDE_LABELS: WordList =
    WordList("output desired required expected style the for your of recommendation");

/// Nouns that announce text the question is about.
pub(crate) const MENTIONS: WordList = WordList(
    "prompt prompts sentence phrase wording headline text rule rules instruction instructions \
     policy policies guideline guidelines template message draft post email mail paragraph quote \
     comment tweet slogan tagline assignment spec readme ticket guide letter article standard \
     convention requirement",
);

pub(crate) const SAYING: WordList =
    WordList("says said reads states stated wrote writes told asked asks replied demands");

/// Abbreviations whose point never ends a sentence. `etc.` and `Inc.` are missing, because they may
/// end one before a capital letter.
pub(crate) const NEVER_LAST: WordList =
    WordList("dr mr mrs ms prof st vs e.g i.e cf gen rev hon sgt capt approx ca resp viz esp");

/// Abbreviations whose point ends a sentence only before a capital letter.
pub(crate) const SELDOM_LAST: WordList = WordList("max min no etc incl");

/// Words that may follow a requested count.
pub(crate) const FOLLOWING: WordList = WordList(
    "please pls only total overall long about on regarding covering explaining summarising \
     summarizing describing why how what what's whether when who where if and then followed with \
     without using so not but given as because including thanks",
);

/// Nouns after `of` that leave the count to the answer: `two sentences of reasoning`.
pub(crate) const OF_WHAT: WordList = WordList(
    "text prose explanation rationale reasoning analysis justification argument summary \
     commentary plain reasons risks pros",
);

/// Words after `in` that leave the count to the answer: `in 5 lines in plain English`.
pub(crate) const IN_WHAT: WordList = WordList(
    "total all english plain simple german french spanish length markdown prose your layman's",
);

/// Words that may accompany a count in a sentence fragment.
pub(crate) const FRAGMENT_WORDS: WordList = WordList(
    "please pls thanks thank you only total in overall no more less not nothing else with and as \
     long plain text english simple short brief answer answers exactly strictly or all max",
);

/// Words of a question about the count before it: `is that too long?`.
pub(crate) const JUDGED: WordList = WordList(
    "too enough ok okay fine sufficient reasonable long short fair realistic wise good right \
     possible allowed acceptable common normal sensible a really even still",
);

/// Nouns that always mean the answer: `the answer must be one line`.
pub(crate) const MINE: WordList = WordList("answer reply response recommendation conclusion");

/// Verbs whose objects are items with words of their own: `suggest names in two words`.
pub(crate) const NAMING: WordList =
    WordList("suggest propose name identify choose list recommend show");

/// Prepositions between a count and the verb or noun it belongs to.
pub(crate) const LEADS: WordList = WordList("in with using as into to of at");

/// The prepositions that always introduce a format.
pub(crate) const FORM_LEADS: WordList = WordList("in using as");

/// Words between two counts of one request.
pub(crate) const JOINING: WordList = WordList("and then plus followed by in with");

/// Verbs that ask for more text: `one sentence. Then explain it`.
pub(crate) const PRODUCING: WordList = WordList(
    "explain list give write add provide describe justify summarise summarize elaborate show \
     name include state tell outline compare recommend suggest propose append support back",
);

/// Words after a comma that continue the format: `5 lines, no jargon`.
pub(crate) const ADDING: WordList = WordList(
    "no not without each plain simple in with please for as like using written thanks then",
);
