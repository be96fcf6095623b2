//! Lenses: where a participant looks first. `council.yaml` gives them, and seats that repeat a model
//! get different ones, so that one model does not give the same answer three times.
//!
//! The text of a named lens is ours. What the operator wrote stands in a request fence.

use crate::model::plan::Plan;
use crate::prompting::fence::FencedSection;
use crate::prompting::instructions::LENSES;
use crate::protocols::council::answers::SeatLetters;

/// The lenses of seats that repeat a model, in the order in which they are given.
pub const REPEATED_LENSES: [&str; 3] = ["pragmatist", "skeptic", "optimist"];

/// The line of `prompts/council/lenses.md` for a lens that the operator worded.
const OWN_LENS: &str = "own";

/// A lens that names a field after a colon.
const FIELD_LENS: &str = "domain expert";

/// What a participant is told about its lens.
#[derive(Debug)]
pub(crate) struct LensPrompt {
    /// Our sentences.
    pub remark: String,
    /// The operator's words.
    pub section: Option<FencedSection>,
}

impl LensPrompt {
    pub(crate) fn from_setting(lens: &str) -> Self {
        let (name, words) = split_lens(lens);
        let text = lens_text(name).unwrap_or_default();
        let section = words.map(|words| FencedSection::request("YOUR LENS", words.to_owned()));
        let remark = format!(
            "Your lens: {text} The lens says where you look first; it decides nothing. If the matter \
             looks different when you see all of it, say so and answer accordingly."
        );
        Self { remark, section }
    }
}

/// The name of a lens as a page shows it.
pub fn lens_name(lens: &str) -> String {
    match split_lens(lens) {
        (OWN_LENS, Some(_)) => "own lens".to_owned(),
        (name, Some(words)) => format!("{name}: {words}"),
        (name, None) => name.to_owned(),
    }
}

/// Tells the chair which opinions were written through a lens.
pub(crate) fn lenses_remark(plan: &Plan) -> Option<String> {
    let letters = SeatLetters::from_plan(plan);
    let given = letters.iter().filter_map(|(letter, name)| {
        let (lens, words) = split_lens(plan.find_seat(name)?.lens.as_deref()?);
        // The operator's words would stand outside a fence here.
        let lens = if words.is_some() && lens == OWN_LENS { "a lens of its own" } else { lens };
        Some(format!("{letter} {lens}"))
    });
    let given: Vec<String> = given.collect();
    (!given.is_empty()).then(|| {
        format!(
            "Each of these participants was told where to look first: {}. A lens explains what an \
             opinion stresses; it makes no argument stronger or weaker.",
            given.join(", ")
        )
    })
}

/// The name of a lens, and the operator's words if it has any.
fn split_lens(lens: &str) -> (&str, Option<&str>) {
    let lens = lens.trim();
    let (name, words) = lens.split_once(':').unwrap_or((lens, ""));
    let (name, words) = (name.trim(), words.trim());
    let known = LENSES.lines().filter_map(|line| line.split_once(": "));
    let known = known.map(|(known, _)| known).find(|known| known.eq_ignore_ascii_case(name));
    match known {
        Some(FIELD_LENS) if !words.is_empty() => (FIELD_LENS, Some(words)),
        Some(known) if words.is_empty() && known != OWN_LENS => (known, None),
        Some(_) | None => (OWN_LENS, Some(lens)),
    }
}

fn lens_text(name: &str) -> Option<&'static str> {
    let mut lines = LENSES.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| *known == name).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_lens_is_our_text_and_other_words_are_a_request() {
        let check = |lens: &str, name: &str, words: Option<&str>| {
            let prompt = LensPrompt::from_setting(lens);
            assert_eq!(lens_name(lens), name, "{lens}");
            assert_eq!(prompt.section.map(|section| section.text).as_deref(), words, "{lens}");
            assert!(prompt.remark.starts_with("Your lens: Look "), "{}", prompt.remark);
        };
        check("skeptic", "skeptic", None);
        check(" Optimist", "optimist", None);
        check("domain expert: tax law", "domain expert: tax law", Some("tax law"));
        check("Think of the night shift.", "own lens", Some("Think of the night shift."));
        check("own", "own lens", Some("own"));
        for lens in REPEATED_LENSES {
            check(lens, lens, None);
        }
    }
}
