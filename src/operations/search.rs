//! `search`: one of the four ways to look things up, by its `op`.

use serde::Serialize;
use serde_json::Value;

use super::cite::{Cited, cite};
use super::list::{Listed, list};
use super::similar::{Matched, similar};
use super::stats::{Statistics, stats};
use super::workspace::Workspace;
use crate::domain::words::words;
use crate::error::Error;
use crate::record::{Fields, Notes};

words! {
    /// What is looked for.
    pub enum SearchOp {
        Cite = "cite",
        Similar = "similar",
        Stats = "stats",
        List = "list",
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Found {
    Cited(Cited),
    Similar(Matched),
    Stats(Box<Statistics>),
    Listed(Listed),
}

pub fn search(workspace: &Workspace, arguments: &Value) -> Result<Found, Error> {
    let fields = Fields::of_arguments(arguments)?;
    let mut notes = Notes::default();
    let op = fields.required_word("op", &mut notes);
    Ok(match notes.settle(op)?.0 {
        SearchOp::Cite => Found::Cited(cite(workspace, arguments)?),
        SearchOp::Similar => Found::Similar(similar(workspace, arguments)?),
        SearchOp::Stats => Found::Stats(Box::new(stats(workspace, arguments)?)),
        SearchOp::List => Found::Listed(list(workspace, arguments)?),
    })
}
