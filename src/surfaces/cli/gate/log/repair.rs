//! `log repair`: the file, compared with the store and written anew.

use clap::Args;
use serde::Serialize;

use super::super::super::session::{Done, Session};
use crate::config::{Overrides, Settings};
use crate::error::Error;
use crate::export::wording;
use crate::verdict_log::{Repaired, Repairing, repair};

/// Compare the whole file with the store, and write it anew where they differ
///
/// Rows that are missing, changed, doubled or out of order come back as they were logged. Lines
/// that the store does not know stay, before the others. `--dry-run` only says what differs,
/// and exits with 1 if anything does.
///
///   plenary log repair --dry-run
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Repair {
    /// Say what differs, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct RepairTold<'a> {
    status: &'static str,
    path: String,
    dry_run: bool,
    differed: bool,
    #[serde(flatten)]
    repaired: &'a Repaired,
}

impl Repair {
    pub(super) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let settings = session.premises.settings_without_reach(&Overrides::default())?;
        let repaired = self.repaired(session, &settings)?;
        let differed = repaired.has_differed();
        let path = settings.review.log_path.display().to_string();
        let told = RepairTold {
            status: "success",
            path,
            dry_run: self.dry_run,
            differed,
            repaired: &repaired,
        };
        session.ui.answer(&told, repair_text)?;
        Ok(if self.dry_run && differed { Done::WithFindings } else { Done::Well })
    }

    fn repaired(&self, session: &Session<'_>, settings: &Settings) -> Result<Repaired, Error> {
        let workspace = session.for_existing()?;
        let how = if self.dry_run { Repairing::DryRun } else { Repairing::Whole };
        Ok(repair(workspace.store.as_ref(), &settings.review.log_path, how)?)
    }
}

fn repair_text(told: &RepairTold<'_>) -> String {
    let RepairTold { path, repaired, .. } = told;
    let rows = wording::count(repaired.rows, "verdict");
    let mut text = match (told.differed, told.dry_run) {
        (false, _) => format!("{path} holds the {rows} of the store"),
        (true, true) => format!("{path} differs from the {rows} of the store"),
        (true, false) => format!("Wrote {path} anew: {rows}"),
    };
    for said in differences(repaired) {
        text.push_str(&format!("\n  {said}"));
    }
    text
}

fn differences(repaired: &Repaired) -> Vec<String> {
    let counted = [
        (repaired.missing, "verdict", "missing"),
        (repaired.altered, "line", "read otherwise than what was logged"),
        (repaired.repeated, "line", "doubled"),
        (repaired.blank, "line", "empty"),
        (repaired.strangers, "line", "not known to the store: kept, before the others"),
    ];
    let counted = counted.into_iter().filter(|(number, ..)| *number > 0);
    let mut said: Vec<String> = counted
        .map(|(number, what, how)| format!("{}: {how}", wording::count(number, what)))
        .collect();
    if repaired.is_out_of_order {
        said.push("out of order".to_owned());
    }
    if repaired.is_torn {
        said.push("the last line had no end".to_owned());
    }
    if let Some(aside) = &repaired.kept_aside {
        said.push(format!("its torn end, which is no verdict, is in {}", aside.display()));
    }
    said
}
