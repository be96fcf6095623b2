//! Durations in the notation of `council.yaml`: `500ms`, `60s`, `15m`, `2h`.

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// Parses an integer with a unit into milliseconds.
pub fn parse_duration(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Formats milliseconds with the largest unit that divides them.
pub fn show_duration(ms: u64) -> String {
    let fits = UNITS.iter().rev().find(|(_, factor)| ms >= *factor && ms.is_multiple_of(*factor));
    fits.map_or_else(|| format!("{ms}ms"), |(name, factor)| format!("{}{name}", ms / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        let cases = [
            ("500ms", Some(500)),
            ("60s", Some(60_000)),
            ("15m", Some(900_000)),
            ("2h", Some(7_200_000)),
            ("2 h", Some(7_200_000)),
            ("60", None),
            ("s", None),
            ("", None),
            ("-5s", None),
            ("1.5s", None),
            ("5d", None),
            ("5S", None),
            ("18446744073709551615h", None),
            ("99999999999999999999s", None),
        ];
        for (text, ms) in cases {
            assert_eq!(parse_duration(text), ms, "text: {text}");
        }
    }

    #[test]
    fn durations_are_said_shortly() {
        let cases = [(0, "0ms"), (1, "1ms"), (1_500, "1500ms"), (60_000, "1m"), (7_200_000, "2h")];
        for (ms, text) in cases {
            assert_eq!(show_duration(ms), text);
        }
    }
}
