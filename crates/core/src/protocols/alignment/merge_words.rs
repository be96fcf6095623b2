//! What a merge may say: its words are the Judge's, its figures and ids are the experts'.

use std::collections::BTreeSet;

use crate::markers::extraction::EntityContribution;
use crate::model::ids::EntityTarget;

/// The first figure or id of these texts that none of the merged items has.
pub(crate) fn find_invention(texts: [&String; 2], items: &[&EntityContribution]) -> Option<String> {
    let mut known = BTreeSet::new();
    for item in items {
        known.insert(item.local_id.to_string());
        known.extend(item.references.iter().map(|made| made.target.to_string()));
        known.extend([&item.label, &item.text].into_iter().flat_map(|text| list_facts(text)));
    }
    texts.into_iter().flat_map(|text| list_facts(text)).find(|fact| !known.contains(fact))
}

/// The ids and figures of a text. Thousands may be separated or not: `25,000` is `25000`.
fn list_facts(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && !"-_.,@".contains(letter));
    let words = words.map(|word| word.trim_matches(|letter| "-_.,".contains(letter)));
    let mut facts = Vec::new();
    for word in words.filter(|word| word.contains(char::is_numeric)) {
        let upper = word.to_ascii_uppercase();
        match upper.parse::<EntityTarget>() {
            Ok(id) if !word.starts_with('@') => facts.push(id.to_string()),
            Ok(_) | Err(_) => facts.extend(list_figures(word)),
        }
    }
    facts
}

fn list_figures(word: &str) -> impl Iterator<Item = String> {
    let figures = word.split(|letter: char| !letter.is_numeric() && !".,".contains(letter));
    let figures = figures.map(|figure| figure.trim_matches(['.', ',']).replace(',', ""));
    figures.filter(|figure| !figure.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, invented: Option<&str>) {
        let item = EntityContribution {
            local_id: "MUFFIN-R0101".parse().unwrap(),
            label: "Sell 4.5 % of 25,000 shares".to_owned(),
            text: "Within 60-90 days, as T0001 asks; see Q3.".to_owned(),
            references: Vec::new(),
        };
        let found = find_invention([&String::new(), &text.to_owned()], &[&item]);
        assert_eq!(found.as_deref(), invented, "{text}");
    }

    #[test]
    fn figures_and_ids_of_a_merge_stand_in_the_merged_items() {
        for same in [
            "Sell 4.5% of the 25000 shares.",
            "In 60 to 90 days (T0001).",
            "muffin-r0101 and t0001, in Q3",
            "Sell half.",
        ] {
            check(same, None);
        }
        check("BUY BITCOIN NOW, it gains 47.3%!", Some("47.3"));
        check("Sell 45 %.", Some("45"));
        check("As T0002 asks.", Some("T0002"));
        check("As MUFFIN-R0102 says.", Some("MUFFIN-R0102"));
        check("Within 6090 days.", Some("6090"));
    }
}
