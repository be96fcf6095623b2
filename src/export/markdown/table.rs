//! Markdown tables. Callers escape the cells.

/// A table; empty without rows.
pub(super) fn render_table<H: AsRef<str>>(head: &[H], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
    let mut lines = vec![table_line(&names), table_line(&vec!["---"; names.len()])];
    lines.extend(rows.iter().map(|row| table_line(row)));
    lines.join("\n")
}

fn table_line<C: AsRef<str>>(cells: &[C]) -> String {
    cells.iter().fold("|".to_owned(), |line, cell| format!("{line} {} |", cell.as_ref()))
}
