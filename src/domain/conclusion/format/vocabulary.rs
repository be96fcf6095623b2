//! The words by which a request for a form is told from a mention of one.

use super::question::Sentence;

/// A list of words, parted by spaces.
pub(super) struct Words(pub(super) &'static str);

impl Words {
    pub(super) fn has(&self, word: &str) -> bool {
        !word.is_empty() && self.0.split(' ').any(|known| known == word)
    }
}

/// A list of wordings of several words, parted by bars. None begins like another.
pub(super) struct Wordings(&'static str);

impl Wordings {
    /// The place behind the one that stands here.
    pub(super) fn end(&self, sentence: &Sentence, at: usize) -> Option<usize> {
        let found = self.0.split('|').find(|words| sentence.reads(at, words))?;
        Some(at + found.split(' ').count())
    }
}

/// What an answer may be called.
pub(super) const ANSWER_NOUNS: Words = Words(
    "answer reply response summary recommendation conclusion explanation verdict overview \
     description paragraph list recap rationale justification argument assessment analysis \
     report tldr tl;dr",
);

/// What may stand before such a noun, or between a number and what it counts.
pub(super) const ADJECTIVES: Words = Words(
    "short brief concise clear simple plain complete full key quick final executive direct \
     overall numbered main single",
);

/// With these a person tells somebody to do something that ends in a text.
pub(super) const HEADS: Words = Words(
    "answer reply respond summarise summarize explain describe write give list state provide \
     tell outline recap conclude keep limit use format present make return produce compare argue \
     discuss decide recommend evaluate assess analyse analyze review justify propose suggest \
     identify name show define condense shorten reduce sum say choose output draft convince \
     stick stay read",
);

/// Of these, the ones that can only be meant for us, wherever in a sentence they begin a clause.
pub(super) const ANSWERING: Words =
    Words("answer reply respond summarise summarize explain tell keep limit recap conclude give");

/// Whoever is told to do one of these is told about all of the answer, even after a `then`.
pub(super) const WHOLE: Words = Words("answer reply respond conclude keep limit");

/// What is told to somebody with a length: `keep it under 50 words`.
pub(super) const LIMITING: Words = Words("keep limit stick stay");

/// What is made shorter `to` or `into` a length.
pub(super) const CONDENSING: Words = Words("condense shorten reduce sum");

/// What can have a count as its object: `give me 5 lines`. They make things that are no answers,
/// too: `write a function in 5 lines`.
pub(super) const GIVING: Words =
    Words("give write use provide produce return output make draft list");

/// Things that have lines and words of their own.
pub(super) const ARTEFACTS: Words = Words(
    "function functions script program code class query test tests parser regex module method \
     algorithm app macro config file files commit commits message messages comment comments \
     docstring docstrings readme documentation docs policy policies template prompt prompts \
     slide slides rule rules snippet abstract essay poem \
     statement note blurb synopsis digest",
);

/// Between a verb and the count, these make the count theirs: `how to write it in 5 lines`.
pub(super) const INNER_VERBS: Words = Words(
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

/// What may begin a sentence before what it says.
pub(super) const FILLERS: Words =
    Words("please pls kindly now so ok okay and but just hi hello hey briefly clearly only always");

/// These may, too, but after them only a part of the answer is meant.
pub(super) const PART_MARKS: Words =
    Words("then also finally next first lastly additionally afterwards again");

/// Ways to tell somebody to do something that are no verbs yet.
pub(super) const PREAMBLES: Wordings = Wordings(
    "i would like you to|i'd like you to|i want you to|i need you to|your task is to|make sure to|\
     be sure to|try to|you must|you can|can you|could you|would you|will you",
);

/// A person wants something: an answer of some form, where the form follows.
pub(super) const WANTING: Wordings = Wordings("i would like|i'd like|i want|i need|i prefer");

/// How a question begins.
pub(super) const QUESTION_STARTS: Words = Words(
    "should is are was were what what's why how do does did can could will would which who whom \
     whose when where has have had may must shall isn't aren't shouldn't don't doesn't won't \
     whether might",
);

/// What a clause begins with that only says under which circumstances.
pub(super) const SUBORDINATE: Words = Words(
    "if when given considering assuming after before based as since because for in with to \
     although while once without having using whatever",
);

/// Directly before a count these say that it is there already, or that another is meant.
pub(super) const DETERMINERS: Words = Words(
    "the these those this that first last next previous top bottom other another same my our \
     their its his her your any all both which every each no or nor than not per rather instead \
     versus",
);

pub(super) const NEGATIONS: Words =
    Words("not don't never cannot can't mustn't shouldn't without avoid won't doesn't needn't");

/// With a negation before them these bound from above, without one they are no bound.
pub(super) const TO_EXCEED: Words = Words("exceed exceeds exceeding surpass");

/// What shares a count out: it is not that of the whole.
pub(super) const SHARING: Words = Words("each every per apiece respectively");

/// Behind these a count in brackets is that of the rule.
pub(super) const LIMIT_NOUNS: Words = Words(
    "limit limits rule rules policy cap requirement constraint guideline standard convention \
     maximum minimum target",
);

/// What `keep` and `limit` may have as their object.
pub(super) const ANSWER_OBJECTS: Words = Words(
    "yourself it this your the final short brief concise length down everything things please \
     text a tight to at in as yourselves",
);

/// What stands between a verb and a count that is its object.
pub(super) const RECIPIENTS: Words =
    Words("me us back please just it a an your answer up exactly be with");

/// What an answer must, may or should: `your answer must be in 5 lines`.
pub(super) const OBLIGATIONS: Words = Words(
    "must should shall has have needs need to be is contain consist of fit use not may can will \
     in on as at only written given limited kept stay with within ought comprise a",
);

/// Headings under which a form may stand alone: `Format:`, `desired output format:`.
pub(super) fn is_label<'a>(words: impl Iterator<Item = &'a str> + Clone) -> bool {
    words.clone().any(|word| LABELS.has(word))
        && words.into_iter().all(|word| LABELS.has(word) || BESIDE_LABELS.has(word))
}

const LABELS: Words = Words(
    "format formatting length form requirements rules instructions constraints answer response \
     reply requirement",
);

const BESIDE_LABELS: Words =
    Words("output desired required expected style the for your of recommendation");

/// What is announced by one of these is text that the question is about.
pub(super) const MENTIONS: Words = Words(
    "prompt prompts sentence phrase wording headline text rule rules instruction instructions \
     policy policies guideline guidelines template message draft post email mail paragraph quote \
     comment tweet slogan tagline assignment spec readme ticket guide letter article standard \
     convention requirement",
);

pub(super) const SAYING: Words =
    Words("says said reads states stated wrote writes told asked asks replied demands");

/// A point behind these ends no sentence, whatever follows.
/// `etc.` and `Inc.` are not among them: where a capital letter follows, they may.
pub(super) const NEVER_LAST: Words =
    Words("dr mr mrs ms prof st vs e.g i.e cf gen rev hon sgt capt approx ca resp viz esp");

/// Nor behind these, where no capital letter follows.
pub(super) const SELDOM_LAST: Words = Words("max min no etc incl");

/// What may follow a count that is asked for, besides nothing.
pub(super) const FOLLOWING: Words = Words(
    "please pls only total overall long about on regarding covering explaining summarising \
     summarizing describing why how what what's whether when who where if and then followed with \
     without using so not but given as because including thanks",
);

/// Of what a count may be and still be that of the answer: `two sentences of reasoning`.
pub(super) const OF_WHAT: Words = Words(
    "text prose explanation rationale reasoning analysis justification argument summary \
     commentary plain reasons risks pros",
);

/// In what it may be: `in 5 lines in plain English`.
pub(super) const IN_WHAT: Words = Words(
    "total all english plain simple german french spanish length markdown prose your layman's",
);

/// What a person who is asked for a form may add to it in a fragment.
pub(super) const FRAGMENT_WORDS: Words = Words(
    "please pls thanks thank you only total in overall no more less not nothing else with and as \
     long plain text english simple short brief answer answers exactly strictly or all max",
);

/// How a question goes on that is about the count before it: `is that too long?`.
pub(super) const JUDGED: Words = Words(
    "too enough ok okay fine sufficient reasonable long short fair realistic wise good right \
     possible allowed acceptable common normal sensible a really even still",
);

/// Nouns for the answer that can be no other's: `the answer must be one line`.
pub(super) const MINE: Words = Words("answer reply response recommendation conclusion");

/// Verbs whose objects are items, each with words of its own: `suggest names in two words`.
pub(super) const NAMING: Words = Words("suggest propose name identify choose list recommend show");

/// Between a count and the verb or noun it belongs to.
pub(super) const LEADS: Words = Words("in with using as into to of at");

/// Of these, the ones that say by themselves what follows is a form.
pub(super) const FORM_LEADS: Words = Words("in using as");

/// Between two counts that are asked for in one breath.
pub(super) const JOINING: Words = Words("and then plus followed by in with");

/// Verbs for more of an answer than was counted: `one sentence. Then explain it`.
pub(super) const PRODUCING: Words = Words(
    "explain list give write add provide describe justify summarise summarize elaborate show \
     name include state tell outline compare recommend suggest propose append support back",
);

/// What begins more about the form, behind a comma: `5 lines, no jargon`.
pub(super) const ADDING: Words =
    Words("no not without each plain simple in with please for as like using written thanks then");
