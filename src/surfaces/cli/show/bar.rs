//! Draws a share as a bar of block characters, for score and statistics tables.

/// Eighths of a column, so that similar shares remain distinguishable.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Draws `part` of `whole`; the whole fills `columns`. A part or whole of zero or less is empty.
pub(super) fn draw_bar(part: i64, whole: i64, columns: usize) -> String {
    if part <= 0 || whole <= 0 {
        return String::new();
    }
    let all = i128::try_from(columns * EIGHTHS.len()).unwrap_or(0);
    let filled = usize::try_from(i128::from(part) * all / i128::from(whole)).unwrap_or(0);
    let rest = EIGHTHS.get(filled % EIGHTHS.len()).copied().unwrap_or_default();
    "█".repeat(filled / EIGHTHS.len()) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_the_share_of_the_whole() {
        let bar = |part, whole| draw_bar(part, whole, 10);
        assert_eq!(bar(40, 40), "██████████");
        assert_eq!(bar(20, 40), "█████");
        assert_eq!(bar(1, 40), "▎");
        assert_eq!([bar(0, 40), bar(-5, 40), bar(0, 0)], ["", "", ""]);
        assert_eq!(bar(i64::MAX, i64::MAX).chars().count(), 10);
    }
}
