//! The `doctor` command: checks settings and store, probes the providers, prints a report.

use std::path::Path;

use clap::Args;
use tokio::runtime::Builder;

use super::checkup::{Checkup, ConfigSeen, Health, ProviderSeen, StoreSeen};
use super::{advice, probe};
use crate::config::Overrides;
use crate::config::Settings;
use crate::error::Error;
use crate::store::SqliteStore;
use crate::surfaces::cli::session::{Done, Session};
use crate::surfaces::cli::show::checkup;

/// Look whether every provider can be asked: key, program, server, model, price
///
/// Each provider that council.yaml names, or that was found, is asked which models it
/// offers; nobody is asked a question, and nothing is spent. Of a key it says whether it
/// is set and in which variable, never what it is. Exit code 0 when every provider can be
/// used, 1 when not, 5 when council.yaml has mistakes.
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<Done, Error> {
        let (settings, candidates) = session.loader.survey_providers(&Overrides::default())?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
        let probed = runtime.block_on(probe::all(&candidates));
        // Do not wait for programs that are still being killed.
        runtime.shutdown_background();
        let providers: Vec<ProviderSeen> = candidates
            .iter()
            .zip(probed)
            .map(|(candidate, probed)| ProviderSeen::new(candidate, probed))
            .collect();
        let checkup = told(&settings, providers);
        let canvas = session.ui.canvas();
        session.ui.answer(&checkup, |checkup| checkup::draw(checkup, canvas))?;
        Ok(match checkup.status {
            Health::Success => Done::Well,
            Health::Findings => Done::WithFindings,
        })
    }
}

fn told(settings: &Settings, providers: Vec<ProviderSeen>) -> Checkup {
    let store = store(&settings.located.store);
    let is_well = !providers.is_empty()
        && providers.iter().all(|provider| provider.usable)
        && store.opens != Some(false);
    let mut advice = advice::of(&providers, settings.council.origin);
    advice.extend(settings.warnings());
    Checkup {
        status: if is_well { Health::Success } else { Health::Findings },
        config: ConfigSeen { file: settings.located.file.clone() },
        store,
        providers,
        advice,
    }
}

/// Checks the store without creating it.
fn store(path: &Path) -> StoreSeen {
    let path = path.to_owned();
    if !path.exists() {
        let detail = "not there yet; the first council makes it".to_owned();
        return StoreSeen { path, opens: None, detail };
    }
    match SqliteStore::open(&path) {
        Ok(_) => StoreSeen { path, opens: Some(true), detail: "opens".to_owned() },
        Err(error) => {
            let detail = Error::from(error).sentence();
            StoreSeen { path, opens: Some(false), detail }
        }
    }
}
