//! Keeps the file of the verdict log up to the store.

use std::path::Path;

use super::super::report;
use super::super::ui::Ui;
use crate::store::Store;
use crate::verdict_log::sync;

/// Writes what the file lacks, and mends its end where it is torn. The verdicts are in the store
/// by then: that the file cannot be written is said, and changes no verdict.
pub(in crate::surfaces::cli) fn keep_log(ui: &Ui, store: &dyn Store, path: &Path) {
    match sync(store, path) {
        Ok(synced) => synced.sentences(path).iter().for_each(|said| ui.say(said)),
        Err(error) => report::warn(ui, &error.into()),
    }
}
