//! Table of published model prices. An unknown price is reported as unknown: a wrong one would let
//! a run exceed its budget.

use plenary_core::model::plan::TokenPrice;

/// Date of the table below.
pub const PRICES_AS_OF: &str = "2025-11-30";

/// Dollars per million input and output tokens. Where long prompts cost more, the price for prompts
/// below 200,000 tokens applies, since ours are shorter.
const PRICES: [(&str, f64, f64); 33] = [
    ("claude-3-haiku", 0.25, 1.25),
    ("claude-3-opus", 15.0, 75.0),
    ("claude-3-5-haiku", 0.80, 4.0),
    ("claude-3-5-sonnet", 3.0, 15.0),
    ("claude-3-7-sonnet", 3.0, 15.0),
    ("claude-haiku-4-5", 1.0, 5.0),
    ("claude-opus-4", 15.0, 75.0),
    ("claude-opus-4-0", 15.0, 75.0),
    ("claude-opus-4-1", 15.0, 75.0),
    ("claude-opus-4-5", 5.0, 25.0),
    ("claude-sonnet-4", 3.0, 15.0),
    ("claude-sonnet-4-0", 3.0, 15.0),
    ("claude-sonnet-4-5", 3.0, 15.0),
    ("gemini-2.0-flash", 0.10, 0.40),
    ("gemini-2.0-flash-lite", 0.075, 0.30),
    ("gemini-2.5-flash", 0.30, 2.50),
    ("gemini-2.5-flash-lite", 0.10, 0.40),
    ("gemini-2.5-pro", 1.25, 10.0),
    ("gpt-4-turbo", 10.0, 30.0),
    ("gpt-4.1", 2.0, 8.0),
    ("gpt-4.1-mini", 0.40, 1.60),
    ("gpt-4.1-nano", 0.10, 0.40),
    ("gpt-4o", 2.50, 10.0),
    ("gpt-4o-2024-05-13", 5.0, 15.0),
    ("gpt-4o-mini", 0.15, 0.60),
    ("gpt-5", 1.25, 10.0),
    ("gpt-5-mini", 0.25, 2.0),
    ("gpt-5-nano", 0.05, 0.40),
    ("gpt-5.1", 1.25, 10.0),
    ("llama-3.3-70b-versatile", 0.59, 0.79),
    ("o3", 2.0, 8.0),
    ("o3-mini", 1.10, 4.40),
    ("o4-mini", 1.10, 4.40),
];

/// Returns the price of the longest table entry that the model is a version of.
pub fn find_price(model: &str) -> Option<TokenPrice> {
    let name = strip_vendor(model);
    let (_, input_per_mtok, output_per_mtok) = PRICES
        .iter()
        .filter(|(known, ..)| name.strip_prefix(known).is_some_and(is_version))
        .max_by_key(|(known, ..)| known.len())?;
    Some(TokenPrice {
        input_per_mtok: *input_per_mtok,
        output_per_mtok: *output_per_mtok,
        source: PRICES_AS_OF.to_owned(),
    })
}

/// Routers prefix the vendor and charge its price.
fn strip_vendor(model: &str) -> &str {
    ["anthropic/", "google/", "models/", "openai/"]
        .iter()
        .find_map(|vendor| model.strip_prefix(vendor))
        .unwrap_or(model)
}

/// Whether a suffix is only a version: a date, a serial number of at least three digits, or
/// `-latest`. A single digit (`claude-opus-4-6`) or another suffix (`gpt-4o-realtime`) is another
/// model with its own price.
fn is_version(rest: &str) -> bool {
    let Some(version) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let digits = version.bytes().filter(u8::is_ascii_digit).count();
    let dated = digits >= 3 && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    dated || version == "latest"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_that_of_the_model_and_of_no_namesake() {
        let check = |model: &str, expected: Option<(f64, f64)>| {
            let found =
                find_price(model).map(|price| (price.input_per_mtok, price.output_per_mtok));
            assert_eq!(found, expected, "{model}");
        };
        check("claude-sonnet-4-20250514", Some((3.0, 15.0)));
        check("claude-opus-4-5-20251101", Some((5.0, 25.0)));
        check("claude-opus-4-20250514", Some((15.0, 75.0)));
        check("claude-opus-4-6", None);
        check("gpt-4o", Some((2.5, 10.0)));
        check("gpt-4o-2024-08-06", Some((2.5, 10.0)));
        check("gpt-4o-2024-05-13", Some((5.0, 15.0)));
        check("gpt-4o-mini", Some((0.15, 0.60)));
        check("gpt-4o-realtime-preview", None);
        check("gemini-2.0-flash-001", Some((0.10, 0.40)));
        check("gemini-2.0-flash-lite", Some((0.075, 0.30)));
        check("models/gemini-2.5-pro", Some((1.25, 10.0)));
        check("openai/gpt-4o", Some((2.5, 10.0)));
        check("somebody/gpt-4o", None);
        check("claude-3-5-haiku-latest", Some((0.80, 4.0)));
        check("o3-deep-research", None);
        check("", None);
    }

    #[test]
    fn a_price_says_of_which_day_it_is() {
        assert_eq!(find_price("gpt-4o").unwrap().source, PRICES_AS_OF);
    }
}
