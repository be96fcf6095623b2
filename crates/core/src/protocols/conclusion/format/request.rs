//! The closed list of request forms, as tables of words and regular expressions in lower case. To
//! add a language, add its rows to each table.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::protocols::conclusion::format::constraint::{
    FormatAmount, FormatConstraint, FormatUnit,
};

/// From this number on, `in 100 words` is approximate.
const WORDS_ABOUT_MIN: usize = 20;

/// A smaller word limit per line or bullet may apply to each of them, not to the whole answer.
const WORDS_PER_PIECE_MIN: usize = 15;

/// A longer sentence is no request; this bounds the search.
const SENTENCE_BYTES_MAX: usize = 1_000;

/// Number words, beside digits.
const NUMBERS: [(&str, usize); 12] = [
    ("a single|an|a|one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("twelve", 12),
    ("twenty", 20),
];

const UNITS: [(&str, FormatUnit); 5] = [
    ("line|lines", FormatUnit::Lines),
    ("bullet point|bullet points|bullet|bullets", FormatUnit::Bullets),
    ("sentence|sentences", FormatUnit::Sentences),
    ("word|words", FormatUnit::Words),
    ("paragraph|paragraphs", FormatUnit::Paragraphs),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AmountBound {
    /// A number alone.
    Plain,
    Exactly,
    AtMost,
    Below,
    AtLeast,
    About,
}

/// Words before a number.
const BOUNDS_BEFORE: [(&str, AmountBound); 6] = [
    ("exactly|precisely|only|just", AmountBound::Exactly),
    ("at most|no more than|not more than|no longer than|up to", AmountBound::AtMost),
    ("within|a maximum of|maximum of|maximum|max", AmountBound::AtMost),
    ("under|below|fewer than|less than", AmountBound::Below),
    ("at least|no fewer than|no less than|a minimum of|min", AmountBound::AtLeast),
    ("about|around|roughly|approximately", AmountBound::About),
];

/// Words after a unit.
const BOUNDS_AFTER: [(&str, AmountBound); 2] = [
    ("or less|or fewer|at most|maximum|max", AmountBound::AtMost),
    ("or more|at least|minimum", AmountBound::AtLeast),
];

/// A list of bullets without a number.
const LISTS: &str = "bullet points|bullets|(?:a )?bulleted list|(?:a )?bullet list";

/// Request forms. `AMOUNT` is a count with its bounds, `CLAUSE` the start of a command and `ANSWER`
/// a name of the answer.
const FORMS: [&str; 8] = [
    "CLAUSE(?:answer|reply|respond)(?: me| us)?,? (?:in|with|as|using) AMOUNT",
    "CLAUSE(?:explain|summari[sz]e|describe|justify|tell me)(?: [a-z'-]+){0,3},? (?:in|as|using) AMOUNT",
    "CLAUSE(?:give|write|provide|use)(?: me| us)?(?: an?)? AMOUNT",
    "CLAUSE(?:give|write)(?: me| us)? (?:an?|your) ANSWER(?: (?:of|in|with|as))?(?: a)? AMOUNT",
    "^(?:your|the) ANSWER (?:must|should) (?:be|have)(?: in)? AMOUNT",
    "^(?:answer |reply )?(?:format|length): (?:in )?AMOUNT",
    "^in AMOUNT[:,]? (?:should|shall|what|why|how|which|who|is|are|do|does|can)\\b",
    "^in AMOUNT[:,]? (?:explain|summari[sz]e|describe|justify|tell me|answer)\\b",
];

/// Request forms in which a bare number is a maximum.
const LIMIT_FORMS: [&str; 4] = [
    "CLAUSE(?:do not|don't) (?:write more than|use more than|exceed) AMOUNT",
    "CLAUSE(?:limit|keep|restrict) (?:it|yourself|(?:your|the) ANSWER)(?: to)? AMOUNT",
    "^(?:your|the) ANSWER (?:must|should) not exceed AMOUNT",
    "^limit: AMOUNT",
];

/// Forms that are requests only in the last sentence.
const CLOSING_FORMS: [&str; 2] = ["^\\(?(?:in )?AMOUNT", ", in AMOUNT[.?!]*$"];

const ANSWER: &str = "(?:answer|reply|response|recommendation|summary)";

const CLAUSE: &str = "(?:^|, )(?:please )?(?:(?:can|could|would|will) you )?(?:please )?";

/// A second limit after the first count: `5 lines and at most 100 words`.
const SECOND_LIMIT: &str = "^(?:,| and|, and| but) AMOUNT";

/// What may follow a request in its sentence.
const TAIL: &str = r"^(?:$|[.!?),;:]| (?:please|why|whether|how|what|on|about)\b)";

/// Words that divide the answer; the count may then apply to a part of it.
const DIVIDERS: &str = r"\b(?:each|every|per|then|also|plus|followed)\b";

/// Replacements that leave one sentence per line. Code and quotations request nothing.
const LINE_BREAKS: [(&str, &str); 6] = [
    (QUOTED_TEXT, "\u{fffc}"),
    (r"\*", ""),
    (r"(?i)\b(max|min|e\.g|i\.e)\.", "$1"),
    (r"\s*\n[ \t]*([a-z0-9])", " $1"),
    (r"([^\d\s]\.|[!?])\s+", "$1\n"),
    (r"[ \t]+", " "),
];

const QUOTED_TEXT: &str = concat!(
    r"(?s:```.*?(?:```|\z)|~~~.*?(?:~~~|\z))|(?m:^[ \t]*>.*$)|`[^`]*`",
    r#"|\B"[^"]*"|\B'[^'\n]*'\B|“[^”]*”|„[^“”]*[“”]|‘[^’\n]*’|«[^»]*»|「[^」]*」"#,
);

/// Compiled once; `None` only if an expression is invalid, which a test excludes.
pub(crate) static REQUEST_GRAMMAR: LazyLock<Option<RequestGrammar>> =
    LazyLock::new(|| RequestGrammar::compile().ok());

/// The compiled expressions.
pub(crate) struct RequestGrammar {
    forms: Vec<(Regex, AmountBound)>,
    closing_forms: Vec<(Regex, AmountBound)>,
    second_limit: Regex,
    tail: Regex,
    dividers: Regex,
    units: Regex,
    line_breaks: Vec<(Regex, &'static str)>,
}

impl RequestGrammar {
    fn compile() -> Result<Self, regex::Error> {
        let amount = amount_pattern();
        let compile = |form: &str| {
            let form = form.replace("CLAUSE", CLAUSE).replace("ANSWER", ANSWER);
            Regex::new(&form.replace("AMOUNT", &amount))
        };
        let compile_forms = |forms: &[&str], bound| {
            forms.iter().map(|form| Ok((compile(form)?, bound))).collect::<Result<Vec<_>, _>>()
        };
        let mut forms = compile_forms(&FORMS, AmountBound::Plain)?;
        forms.extend(compile_forms(&LIMIT_FORMS, AmountBound::AtMost)?);
        let line_breaks = LINE_BREAKS.iter().map(|(from, to)| Ok((Regex::new(from)?, *to)));
        Ok(Self {
            forms,
            closing_forms: compile_forms(&CLOSING_FORMS, AmountBound::Plain)?,
            second_limit: compile(SECOND_LIMIT)?,
            tail: Regex::new(TAIL)?,
            dividers: Regex::new(DIVIDERS)?,
            units: Regex::new(&format!(r"\b(?:{}|{LISTS})\b", join_rows(&UNITS)))?,
            line_breaks: line_breaks.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the constraints of each sentence that has some: one, or one with a word limit.
    pub(crate) fn find_requests(&self, question: &str) -> Vec<Vec<FormatConstraint>> {
        let sentences = self.split_sentences(question);
        // A divider in a later sentence counts too: `Answer in one line. Then explain it.`
        let is_divided = |text: &String| self.dividers.is_match(text);
        let undivided = sentences.iter().rposition(is_divided).map_or(0, |last| last + 1);
        let find_in = |(index, sentence): (usize, &String)| {
            let is_last = index + 1 == sentences.len();
            let closing = self.closing_forms.iter().filter(|_| is_last);
            let mut forms = self.forms.iter().chain(closing);
            forms.find_map(|(form, bound)| self.match_form(sentence, form, *bound))
        };
        let has_unit = |(_, text): &(usize, &String)| self.units.is_match(text);
        sentences.iter().enumerate().skip(undivided).filter(has_unit).filter_map(find_in).collect()
    }

    /// Returns the sentences, except for text that a colon announces.
    fn split_sentences(&self, question: &str) -> Vec<String> {
        let mut text = question.to_owned();
        for (pattern, replacement) in &self.line_breaks {
            text = pattern.replace_all(&text, *replacement).into_owned();
        }
        let mut sentences = Vec::new();
        let mut is_announced = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if !is_announced && line.len() <= SENTENCE_BYTES_MAX {
                sentences.push(line.to_lowercase());
            }
            is_announced = line.ends_with(':');
        }
        sentences
    }

    fn match_form(
        &self,
        sentence: &str,
        form: &Regex,
        bound: AmountBound,
    ) -> Option<Vec<FormatConstraint>> {
        let captures = form.captures(sentence)?;
        let first = read_constraint(&captures, bound)?;
        let (amount, form) = (captures.name("amount")?, captures.get(0)?);
        let mut rest = sentence.get(amount.end()..)?;
        let mut constraints = vec![first];
        if let Some(captures) = self.second_limit.captures(rest) {
            let second = read_constraint(&captures, AmountBound::Plain)?;
            let FormatAmount::AtMost(words) = second.amount else { return None };
            if second.measure != FormatUnit::Words || first.measure == FormatUnit::Words {
                return None;
            }
            let pieces = first.amount.min_count();
            if pieces <= 1 || words >= pieces.saturating_mul(WORDS_PER_PIECE_MIN) {
                constraints.push(second);
            }
            rest = rest.get(captures.get(0)?.end()..)?;
        }
        let is_complete = form.end() > amount.end() || self.tail.is_match(rest);
        (is_complete && !self.units.is_match(rest)).then_some(constraints)
    }
}

fn read_constraint(captures: &Captures<'_>, bare: AmountBound) -> Option<FormatConstraint> {
    if captures.name("list").is_some() {
        let (unit, amount) = (FormatUnit::Bullets, FormatAmount::AtLeast(1));
        return Some(FormatConstraint { measure: unit, amount });
    }
    let text = |name| captures.name(name).map(|found| found.as_str());
    let unit = find_row(&UNITS, text("unit")?)?;
    let number = read_number(text("number")?)?;
    if let Some(upper) = text("upper") {
        let upper = read_number(upper).filter(|upper| *upper >= number)?;
        return Some(FormatConstraint {
            measure: unit,
            amount: FormatAmount::Between(number, upper),
        });
    }
    let before = text("before").and_then(|text| find_row(&BOUNDS_BEFORE, text));
    let after = text("after").and_then(|text| find_row(&BOUNDS_AFTER, text));
    let amount = match before.or(after).unwrap_or(bare) {
        AmountBound::Plain if unit == FormatUnit::Words && number >= WORDS_ABOUT_MIN => {
            FormatAmount::About(number)
        }
        AmountBound::Plain | AmountBound::Exactly => FormatAmount::Exactly(number),
        AmountBound::AtMost => FormatAmount::AtMost(number),
        AmountBound::Below => FormatAmount::AtMost(number.checked_sub(1).filter(|most| *most > 0)?),
        AmountBound::AtLeast => FormatAmount::AtLeast(number),
        AmountBound::About => FormatAmount::About(number),
    };
    Some(FormatConstraint { measure: unit, amount })
}

fn read_number(text: &str) -> Option<usize> {
    let number = text.parse().ok().or_else(|| find_row(&NUMBERS, text));
    number.filter(|number| *number > 0)
}

/// A count with its bounds: `at most 5 lines`, `3-5 bullets`, `a 100-word summary of the risks`.
fn amount_pattern() -> String {
    let number = format!("[0-9]{{1,4}}|{}", join_rows(&NUMBERS));
    let (before, after) = (join_rows(&BOUNDS_BEFORE), join_rows(&BOUNDS_AFTER));
    let units = join_rows(&UNITS);
    format!(
        "(?P<amount>(?:(?P<before>{before}) )?(?:between )?(?P<number>{number})\
         (?:(?:-|–| to | or | and )(?P<upper>{number}))?[ -](?P<unit>{units})\\b\
         (?: (?P<after>{after})\\b)?(?: {ANSWER}\\b(?: (?:of|for|on) .*)?)?|(?P<list>{LISTS})\\b)"
    )
}

fn join_rows<T>(rows: &[(&str, T)]) -> String {
    rows.iter().map(|(pattern, _)| *pattern).collect::<Vec<_>>().join("|")
}

/// Returns the value of the row that has the text among its words.
fn find_row<T: Copy>(rows: &[(&str, T)], text: &str) -> Option<T> {
    let has_text = |row: &&(&str, T)| row.0.split('|').any(|words| words == text);
    rows.iter().find(has_text).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        assert_eq!(RequestGrammar::compile().err(), None);
    }
}
