//! `log export`: the lines of the log, or some of them, word for word.

use super::super::workspace::Workspace;
use crate::domain::gate::LogQuery;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::store::{LOG_PAGE, log_pages};

/// Which lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub artifact_type: Option<String>,
    /// By their own `ts`.
    pub since: Option<Moment>,
}

/// Hands the lines on in order, some at a time, each with its line break; returns how many.
pub fn export_log(
    workspace: &Workspace,
    filter: LogFilter,
    mut hand_on: impl FnMut(&str) -> Result<(), Error>,
) -> Result<usize, Error> {
    let LogFilter { artifact_type, since } = filter;
    let query = LogQuery { artifact_type, since, ..LogQuery::from_the_start(LOG_PAGE) };
    let mut count = 0;
    for page in log_pages(workspace.store.as_ref(), &query) {
        let found = page?;
        count += found.len();
        let lines: String = found.iter().map(|found| format!("{}\n", found.line)).collect();
        hand_on(&lines)?;
    }
    Ok(count)
}
