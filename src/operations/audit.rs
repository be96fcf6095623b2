//! `audit`: what the verdict log says.

use serde::Serialize;

use super::workspace::Workspace;
use crate::domain::gate::LogQuery;
use crate::domain::stretch::Since;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::record::gate_audit::{Auditor, GateAudit};
use crate::store::{LOG_PAGE, log_pages};

/// Which verdicts to look at.
#[derive(Debug, Clone, Default)]
pub struct AuditWish {
    pub since: Option<Since>,
    pub artifact_type: Option<String>,
    pub producer: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Audited {
    pub status: &'static str,
    pub window: AuditWindow,
    #[serde(flatten)]
    pub audit: GateAudit,
}

/// What was looked at; nothing stands for everything.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AuditWindow {
    pub since: Option<Moment>,
    #[serde(rename = "type")]
    pub artifact_type: Option<String>,
    pub producer: Option<String>,
}

/// Looks through the log, a page at a time; nothing but counts is held.
pub fn audit(workspace: &Workspace, wish: AuditWish) -> Result<Audited, Error> {
    let today = workspace.ambient.now().day();
    let window = AuditWindow {
        since: wish.since.map(|since| since.start(today)),
        artifact_type: wish.artifact_type,
        producer: wish.producer,
    };
    let query = LogQuery {
        artifact_type: window.artifact_type.clone(),
        since: window.since,
        ..LogQuery::from_the_start(LOG_PAGE)
    };
    let mut auditor = Auditor::default();
    for page in log_pages(workspace.store.as_ref(), &query) {
        for logged in &page? {
            let is_wanted = window.producer.is_none() || window.producer == logged.row.producer;
            if is_wanted {
                auditor.note(&logged.row, logged.overridden.as_ref().map(|word| word.decision));
            }
        }
    }
    Ok(Audited { status: "success", window, audit: auditor.audit(today) })
}
