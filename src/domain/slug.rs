//! Converts titles of any script to ASCII slugs, and names experts that have no name.

use super::limits::DIALOGUE_SLUG_BYTES_MAX;

/// Slug of a title without any letter that has an ASCII form.
const EMPTY_TITLE_SLUG: &str = "dialogue";

/// Default names of experts, in this order; then `pastry21`, `pastry22` and so on.
const DEFAULT_EXPERT_NAMES: [&str; 20] = [
    "muffin",
    "cupcake",
    "scone",
    "eclair",
    "donut",
    "brioche",
    "croissant",
    "macaron",
    "cannoli",
    "strudel",
    "beignet",
    "churro",
    "profiterole",
    "tartlet",
    "galette",
    "palmier",
    "kouign",
    "sfogliatella",
    "financier",
    "religieuse",
];

/// `"NVIDIA: kaufen — oder nicht?"` → `nvidia-kaufen-oder-nicht`.
pub fn slugify_title(title: &str) -> String {
    let mut slug = String::new();
    for letter in deunicode::deunicode_with_tofu(title, " ").chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == DIALOGUE_SLUG_BYTES_MAX {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { EMPTY_TITLE_SLUG.to_owned() } else { slug.to_owned() }
}

/// The `nth` (from 0) default name of an expert.
pub fn default_expert_name(nth: usize) -> String {
    DEFAULT_EXPERT_NAMES
        .get(nth)
        .map_or_else(|| format!("pastry{}", nth + 1), |name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_slugs() {
        let long = "word ".repeat(40);
        let cases = [
            ("NVIDIA Investment Decision", "nvidia-investment-decision"),
            ("  --Über: kaufen?!  ", "uber-kaufen"),
            ("北京", "bei-jing"),
            ("", "dialogue"),
            ("\u{200b}\u{1f}", "dialogue"),
            ("../../etc/passwd", "etc-passwd"),
            (long.as_str(), "word-word-word-word-word-word-word-word-word-word-word-word"),
        ];
        for (title, slug) in cases {
            assert_eq!(slugify_title(title), slug, "title: {title}");
        }
    }

    #[test]
    fn the_twenty_first_pastry_is_numbered() {
        assert_eq!(
            [default_expert_name(0), default_expert_name(19), default_expert_name(20)],
            ["muffin", "religieuse", "pastry21"]
        );
    }
}
