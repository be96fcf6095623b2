//! Finds numbers in a text: percentages, changes, totals, and statistics such as `p` and `n`.

use std::ops::Range;

use super::page::{PageBlock, PhraseHit};

/// A change claimed by a verb such as "halved".
#[derive(Debug, Clone, Copy)]
pub(super) enum ClaimedChange {
    /// To this fraction of the old value, or less.
    DownTo(f64),
    /// To this multiple of the old value, or more.
    UpTo(f64),
}

impl ClaimedChange {
    pub(super) fn is_met(self, from: f64, to: f64) -> bool {
        match self {
            Self::DownTo(share) => to <= from * share,
            Self::UpTo(times) => to >= from * times,
        }
    }
}

/// Finds all `from A to B` of a block.
pub(super) fn find_changes(flat: &str) -> Vec<(f64, f64)> {
    let after = flat.split("from ").skip(1);
    let change = after.filter_map(|rest| {
        let (from, rest) = parse_number(rest)?;
        // A unit may be between the two numbers.
        let (between, rest) = rest.split_once("to ")?;
        let is_unit = between.split_whitespace().count() <= 1;
        let (to, _) = parse_number(rest).filter(|_| is_unit)?;
        Some((from, to))
    });
    change.collect()
}

/// A count of things, claimed to be complete.
#[derive(Debug)]
pub(super) struct TotalClaim<'p> {
    pub(super) count: f64,
    pub(super) thing: String,
    pub(super) hit: PhraseHit<'p>,
}

pub(super) fn find_totals<'p>(block: &'p PageBlock<'p>) -> Vec<TotalClaim<'p>> {
    let hits = block.find_hits(&["all", "all the", "total of", "out of", "of the", "of all"]);
    let totals = hits.into_iter().filter_map(|hit| {
        let rest = hit.text_after();
        let (count, rest) = parse_number(rest)?;
        let thing = rest.split_whitespace().next()?;
        let thing: String = thing.chars().take_while(|letter| letter.is_alphabetic()).collect();
        (thing.len() > 3).then_some(TotalClaim { count, thing, hit })
    });
    totals.collect()
}

/// Returns positions of percentages and of multiples such as `10x`.
pub(super) fn find_shares(flat: &str) -> Vec<Range<usize>> {
    const UNITS: [&str; 6] =
        ["%", "percent", "per cent", "times faster", "times more", "times cheaper"];
    let starts = flat.char_indices().filter(|(at, letter)| {
        let before = flat.get(..*at).and_then(|text| text.chars().next_back());
        let goes_on = before.is_some_and(|before| before.is_alphanumeric() || before == '.');
        letter.is_ascii_digit() && !goes_on
    });
    let shares = starts.filter_map(|(at, _)| {
        let (_, rest) = parse_number(flat.get(at..)?)?;
        let is_multiple =
            rest.strip_prefix('x').is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        let spaced = rest.trim_start();
        let unit = UNITS.iter().find(|unit| spaced.starts_with(**unit));
        let end = unit.map(|unit| flat.len() - spaced.len() + unit.len());
        Some(at..end.or(is_multiple.then(|| flat.len() - rest.len() + 1))?)
    });
    shares.collect()
}

/// Returns the value of a statistic, such as `p = 0.09`.
pub(super) fn find_statistic(flat: &str, name: &str) -> Option<f64> {
    let parts: Vec<&str> = flat.split('=').collect();
    let pairs = parts.iter().zip(parts.iter().skip(1));
    let named = pairs.filter(|(before, _)| {
        let word = before.trim_end().rsplit(|letter: char| !letter.is_alphanumeric()).next();
        word == Some(name)
    });
    named.filter_map(|(_, after)| Some(parse_number(after)?.0)).next()
}

/// Parses the number at the start of a text; returns the rest too.
fn parse_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let written = text.get(..end)?.trim_end_matches(['.', ',']);
    let value = written.replace(',', "").parse().ok()?;
    Some((value, text.get(written.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_two_numbers_and_perhaps_a_unit() {
        assert_eq!(find_changes("fell from 9.5 to 7.1 minutes"), [(9.5, 7.1)]);
        assert_eq!(find_changes("from 1,200 % to 300."), [(1200.0, 300.0)]);
        assert_eq!(find_changes("from 9 until noon and then to 5"), []);
        assert_eq!(find_changes("from here to 5, from"), []);
        assert!(
            ClaimedChange::DownTo(0.5).is_met(10.0, 4.0)
                && !ClaimedChange::DownTo(0.5).is_met(9.5, 7.1)
        );
        assert!(
            ClaimedChange::UpTo(2.0).is_met(10.0, 20.0)
                && !ClaimedChange::UpTo(2.0).is_met(10.0, 19.0)
        );
    }

    #[test]
    fn shares_are_told_from_other_numbers() {
        let found = |text: &str| -> Vec<String> {
            find_shares(text).into_iter().map(|place| text[place].to_owned()).collect()
        };
        assert_eq!(found("97 % of 12 days, 0.5% and 10x faster"), ["97 %", "0.5%", "10x"]);
        assert_eq!(
            found("3 times faster than version 2.4.1, 40 per cent"),
            ["3 times faster", "40 per cent"]
        );
        assert_eq!(found("at 14:02 on 2026-03-01, 4 xylophones, 3 x 4, 0x1a, rl-3"), [""; 0]);
    }

    #[test]
    fn a_letter_is_read_where_it_stands_alone() {
        assert_eq!(find_statistic("test, p = 0.09)", "p"), Some(0.09));
        assert_eq!(find_statistic("(n=18 gauges)", "n"), Some(18.0));
        assert_eq!(find_statistic("stop = 3, p < 0.05", "p"), None);
        assert_eq!(find_statistic("p = unknown", "p"), None);
    }
}
