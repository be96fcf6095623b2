//! Format constraints of a question (how many units of which kind), and their violations.

use std::fmt;

use crate::model::string_enum::words;
use crate::protocols::conclusion::format::count::count_units;
use crate::protocols::conclusion::format::request::REQUEST_GRAMMAR;
use crate::protocols::conclusion::types::{AuditObjection, ConclusionField, ObjectionSource};

words! {
    /// The unit that is counted.
    pub enum FormatUnit {
        Lines = "lines",
        Bullets = "bullets",
        Sentences = "sentences",
        Words = "words",
        Paragraphs = "paragraphs",
    }
}

/// The allowed number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatAmount {
    Exactly(usize),
    AtLeast(usize),
    AtMost(usize),
    Between(usize, usize),
    /// Within a fifth of the number.
    About(usize),
}

/// One constraint on the format of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatConstraint {
    pub measure: FormatUnit,
    pub amount: FormatAmount,
}

impl FormatAmount {
    /// The smallest allowed number.
    pub fn min_count(self) -> usize {
        match self {
            Self::Exactly(number) | Self::AtLeast(number) | Self::Between(number, _) => number,
            // An empty answer satisfies no constraint.
            Self::AtMost(_) => 1,
            Self::About(number) => number.saturating_sub(amount_tolerance(number)).max(1),
        }
    }

    /// The largest allowed number; `None` if there is no maximum.
    pub fn max_count(self) -> Option<usize> {
        match self {
            Self::Exactly(number) | Self::AtMost(number) | Self::Between(_, number) => Some(number),
            Self::AtLeast(_) => None,
            Self::About(number) => Some(number.saturating_add(amount_tolerance(number))),
        }
    }

    pub fn is_met_by(self, count: usize) -> bool {
        count >= self.min_count() && self.max_count().is_none_or(|most| count <= most)
    }
}

/// A fifth, but at least 1.
fn amount_tolerance(number: usize) -> usize {
    (number / 5).max(1)
}

impl fmt::Display for FormatConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (amount, last) = match self.amount {
            FormatAmount::Exactly(number) => (format!("exactly {number}"), number),
            FormatAmount::AtLeast(number) => (format!("at least {number}"), number),
            FormatAmount::AtMost(number) => (format!("at most {number}"), number),
            FormatAmount::Between(least, most) => (format!("{least} to {most}"), most),
            FormatAmount::About(number) => (format!("about {number}"), number),
        };
        let plural = self.measure.name();
        let singular = plural.strip_suffix('s').unwrap_or(plural);
        write!(f, "{amount} {}", if last == 1 { singular } else { plural })
    }
}

/// Returns the constraints that a question puts on the whole answer: one, or one with a word limit.
/// Different requests may concern parts of the answer, so then none is returned.
pub fn find_constraints(question: &str) -> Vec<FormatConstraint> {
    let Some(grammar) = REQUEST_GRAMMAR.as_ref() else { return Vec::new() };
    let mut requests = grammar.find_requests(question);
    // `Answer in 5 lines. Your answer must have exactly 5 lines.`
    requests.dedup();
    match requests.as_slice() {
        [only] => only.clone(),
        _ => Vec::new(),
    }
}

/// Returns an objection for each violated constraint, with both counts.
pub fn find_violations(question: &str, recommendation: &str) -> Vec<AuditObjection> {
    let find_violation = |constraint: FormatConstraint| {
        let count = count_units(constraint.measure, recommendation)?;
        let counted = if count == 0 { "none".to_owned() } else { count.to_string() };
        (!constraint.amount.is_met_by(count)).then(|| AuditObjection {
            field: ConclusionField::Recommendation,
            objection: format!("asked for {constraint}; the recommendation has {counted}"),
            by: ObjectionSource::Count,
        })
    };
    find_constraints(question).into_iter().filter_map(find_violation).collect()
}

/// What a Principal has to know whose directive asks for another form than the question.
pub fn warn_of_form(question: &str, directive: &str) -> Option<String> {
    let asked = find_constraints(question);
    let other = find_constraints(directive);
    let other: Vec<String> =
        other.iter().filter(|named| !asked.contains(named)).map(ToString::to_string).collect();
    (!other.is_empty()).then(|| {
        format!(
            "the directive names a form ({}), but the audit counts only the form that the \
             question asks for; ask a new question for another form",
            other.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constraint_says_what_it_asks_for() {
        let text = |measure, amount| FormatConstraint { measure, amount }.to_string();
        assert_eq!(text(FormatUnit::Lines, FormatAmount::Exactly(5)), "exactly 5 lines");
        assert_eq!(text(FormatUnit::Bullets, FormatAmount::AtLeast(1)), "at least 1 bullet");
        assert_eq!(text(FormatUnit::Sentences, FormatAmount::Between(1, 2)), "1 to 2 sentences");
        assert_eq!(text(FormatUnit::Words, FormatAmount::About(100)), "about 100 words");
    }

    #[test]
    fn a_directive_that_names_another_form_gets_a_warning() {
        let question = "Tea or coffee? Answer in exactly 3 bullets.";
        let warned = |directive: &str| warn_of_form(question, directive);
        let warning = warned("Forget the bullets. Answer in exactly five lines!");
        assert!(warning.as_ref().is_some_and(|text| text.contains("(exactly 5 lines)")));
        assert_eq!(warned("Compare the costs over five years."), None);
        assert_eq!(warned("Answer in exactly 3 bullets."), None);
        assert!(warn_of_form("Tea or coffee?", "Answer in 5 lines.").is_some());
    }

    #[test]
    fn about_is_a_fifth_more_or_less() {
        let about = FormatAmount::About(100);
        assert!(!about.is_met_by(79) && about.is_met_by(80));
        assert!(about.is_met_by(120) && !about.is_met_by(121));
        let few = FormatAmount::About(3);
        assert_eq!((few.min_count(), few.max_count()), (2, Some(4)));
        assert_eq!(FormatAmount::About(1).min_count(), 1);
    }
}
