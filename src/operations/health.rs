//! `health`: whether audited conclusions end as they should.

use serde::Serialize;

use super::workspace::Workspace;
use crate::domain::catalogue::EndingQuery;
use crate::domain::stretch::Since;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::record::health::{self as rules, Health, LAST_DEFAULT, LAST_MAX};

#[derive(Debug, Serialize)]
pub struct Examined {
    pub status: &'static str,
    pub window: Window,
    #[serde(flatten)]
    pub health: Health,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Window {
    /// At most this many, the newest; nothing, when all since then were asked for.
    pub last: Option<usize>,
    pub since: Option<Moment>,
}

/// Looks at the newest endings that have a terminal state, rehearsals left out.
///
/// Who asks for a time and no number wants all of that time.
pub fn health(
    workspace: &Workspace,
    last: Option<usize>,
    since: Option<Since>,
) -> Result<Examined, Error> {
    let today = workspace.ambient.now().day();
    let window = Window {
        last: last.or(since.is_none().then_some(LAST_DEFAULT)),
        since: since.map(|since| since.start(today)),
    };
    let limit = window.last.unwrap_or(LAST_MAX).min(LAST_MAX);
    let endings = workspace.store.endings(&EndingQuery { limit, since: window.since })?;
    Ok(Examined { status: "success", window, health: rules::health(&endings) })
}
