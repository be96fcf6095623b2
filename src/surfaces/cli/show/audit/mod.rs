//! What the verdict log says, on a page: what stands out first, then the counts behind it.

mod grid;
mod head;
mod page;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use page::draw;
