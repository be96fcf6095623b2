//! Reads the verdict log page by page, so that only one page is in memory.

use std::iter;

use super::error::StoreError;
use super::verbs::Store;
use crate::domain::gate::{LogLine, LogQuery, LogRange, LoggedVerdict};

/// Rows per page, usually about half a megabyte.
pub const LOG_PAGE_ROWS: usize = 64;

/// All rows that match a query, in order. The query's limit is the page size.
pub fn log_pages(
    store: &dyn Store,
    query: &LogQuery,
) -> impl Iterator<Item = Result<Vec<LoggedVerdict>, StoreError>> {
    let read =
        |after| store.load_log_page(&LogQuery { range: LogRange::After(after), ..query.clone() });
    read_pages(0, query.limit, read, |row| row.seq)
}

/// All stored lines after a row.
pub fn log_line_pages(
    store: &dyn Store,
    after: u64,
) -> impl Iterator<Item = Result<Vec<LogLine>, StoreError>> {
    read_pages(
        after,
        LOG_PAGE_ROWS,
        |after| store.load_log_lines(after, LOG_PAGE_ROWS),
        |line| line.seq,
    )
}

/// Yields pages that are never empty and stops after an error.
fn read_pages<T>(
    start: u64,
    limit: usize,
    read: impl Fn(u64) -> Result<Vec<T>, StoreError>,
    place: fn(&T) -> u64,
) -> impl Iterator<Item = Result<Vec<T>, StoreError>> {
    let mut after = Some(start);
    iter::from_fn(move || {
        let page = match read(after.take()?) {
            Ok(page) => page,
            Err(error) => return Some(Err(error)),
        };
        // A page that is not full is the last.
        after = page.last().filter(|_| page.len() >= limit).map(place);
        (!page.is_empty()).then_some(Ok(page))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the pages of a log with this many rows.
    fn check(rows: u64, limit: usize, expected: &[&[u64]]) {
        let read = |after: u64| Ok((after + 1..=rows).take(limit).collect::<Vec<u64>>());
        let found: Result<Vec<Vec<u64>>, StoreError> =
            read_pages(0, limit, read, |row| *row).collect();
        assert_eq!(found.unwrap(), expected, "{rows} by {limit}");
    }

    #[test]
    fn every_row_stands_on_one_page() {
        check(0, 2, &[]);
        check(1, 2, &[&[1]]);
        check(2, 2, &[&[1, 2]]);
        check(5, 2, &[&[1, 2], &[3, 4], &[5]]);
    }

    #[test]
    fn a_page_that_cannot_be_read_is_the_last() {
        let read = |_| -> Result<Vec<u64>, StoreError> {
            Err(StoreError::Missing { path: "nowhere".into() })
        };
        assert_eq!(read_pages(0, 2, read, |row| *row).count(), 1);
    }
}
