//! Keeps the file of the verdict log up to the store.

use std::path::Path;

use super::super::report;
use super::super::session::Session;
use super::super::ui::Ui;
use crate::config::Overrides;
use crate::operations::Workspace;
use crate::store::Store;
use crate::verdict_log::sync;

/// Mends the file for a command that asks nobody: what a crash tore is made whole by whoever comes
/// next. A mistake in the settings is told by the commands that need them.
pub(in crate::surfaces::cli) fn mend_log(session: &Session<'_>, workspace: &Workspace) {
    if let Ok(settings) = session.premises.settings_without_reach(&Overrides::default()) {
        keep_log(session.ui, workspace.store.as_ref(), &settings.review.log_path);
    }
}

/// Writes what the file lacks, and mends its end where it is torn. The verdicts are in the store
/// by then: that the file cannot be written is said, and changes no verdict.
pub(in crate::surfaces::cli) fn keep_log(ui: &Ui, store: &dyn Store, path: &Path) {
    match sync(store, path) {
        Ok(synced) => synced.sentences(path).iter().for_each(|said| ui.say(said)),
        Err(error) => report::warn(ui, &error.into()),
    }
}
