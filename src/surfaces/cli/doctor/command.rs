//! The `doctor` command: checks settings and store, probes the providers, prints a report.

use std::path::Path;

use clap::Args;
use tokio::runtime::Builder;

use super::checkup::{ConfigCheck, DoctorReport, DoctorStatus, ProviderCheck, StoreCheck};
use super::{advice, probe};
use crate::config::BudgetOverrides;
use crate::config::Settings;
use crate::error::Error;
use crate::store::SqliteStore;
use crate::surfaces::cli::session::{CliSession, ExitStatus};
use crate::surfaces::cli::show::checkup;

/// Look whether every provider can be asked: key, program, server, model, price
///
/// Each provider that council.yaml names, or that was found, is asked which models it
/// offers; nobody is asked a question, and nothing is spent. Of a key it says whether it
/// is set and in which variable, never what it is. Exit code 0 when every provider can be
/// used, 1 when not, 5 when council.yaml has mistakes.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {}

impl DoctorArgs {
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let (settings, candidates) = session.loader.survey_providers(&BudgetOverrides::default())?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
        let probed = runtime.block_on(probe::probe_all(&candidates));
        // Do not wait for programs that are still being killed.
        runtime.shutdown_background();
        let providers: Vec<ProviderCheck> = candidates
            .iter()
            .zip(probed)
            .map(|(candidate, probed)| ProviderCheck::new(candidate, probed))
            .collect();
        let checkup = build_report(&settings, providers);
        let canvas = session.ui.page_canvas();
        session.ui.print_result(&checkup, |checkup| checkup::draw_doctor_page(checkup, canvas))?;
        Ok(match checkup.status {
            DoctorStatus::Success => ExitStatus::Ok,
            DoctorStatus::Findings => ExitStatus::WithFindings,
        })
    }
}

fn build_report(settings: &Settings, providers: Vec<ProviderCheck>) -> DoctorReport {
    let store = check_store(&settings.paths.store);
    let is_well = !providers.is_empty()
        && providers.iter().all(|provider| provider.usable)
        && store.opens != Some(false);
    let mut advice = advice::list_advice(&providers, settings.council.origin);
    advice.extend(settings.list_warnings());
    DoctorReport {
        status: if is_well { DoctorStatus::Success } else { DoctorStatus::Findings },
        config: ConfigCheck { file: settings.paths.file.clone() },
        store,
        providers,
        advice,
    }
}

/// Checks the store without creating it.
fn check_store(path: &Path) -> StoreCheck {
    let path = path.to_owned();
    if !path.exists() {
        let detail = "not there yet; the first council makes it".to_owned();
        return StoreCheck { path, opens: None, detail };
    }
    match SqliteStore::open(&path) {
        Ok(_) => StoreCheck { path, opens: Some(true), detail: "opens".to_owned() },
        Err(error) => {
            let detail = Error::from(error).full_message();
            StoreCheck { path, opens: Some(false), detail }
        }
    }
}
