//! The `audit` page: statistics of the verdict log, remarks first, then the tables.

mod grid;
mod head;
mod page;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use page::draw_audit_page;
