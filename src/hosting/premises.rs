//! Where a door stands: the files that count, the settings as they are now, the store.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::house::Talk;
use crate::ambient::Machine;
use crate::config::{
    self, COUNCIL_FILE, Candidate, ConfigError, Environment, Flags, Located, Overrides, SettingUse,
    Settings, TrustReport, UntrustedFile,
};
use crate::convening::Rehearsal;
use crate::domain::dialogue::Opening;
use crate::error::Error;
use crate::files::Folders;
use crate::operations::Workspace;
use crate::store::SqliteStore;

/// Shows a person what a file asks for, and returns whether they trust it.
pub type ConfirmTrust = fn(&UntrustedFile) -> bool;

#[derive(Debug)]
pub struct Premises {
    flags: Flags,
    confirm: Option<ConfirmTrust>,
    warn: Option<Talk>,
    /// Each warning is given once, however often the settings are read.
    warned: Mutex<BTreeSet<String>>,
}

impl Premises {
    pub fn new(flags: Flags) -> Self {
        Self { flags, confirm: None, warn: None, warned: Mutex::default() }
    }

    /// The same, where a person is there to be asked about a file that is not trusted.
    #[must_use]
    pub fn asking(self, confirm: ConfirmTrust) -> Self {
        Self { confirm: Some(confirm), ..self }
    }

    /// The same for a server: its clients are not the person who may trust a file.
    #[must_use]
    pub fn without_questions(self) -> Self {
        Self { confirm: None, ..self }
    }

    /// The same, where a person reads warnings about the settings.
    #[must_use]
    pub fn warning(self, warn: Talk) -> Self {
        Self { warn: Some(warn), ..self }
    }

    /// What `--config` names, whether it is there or not.
    pub fn config_flag(&self) -> Option<&Path> {
        self.flags.config.as_deref()
    }

    /// The flags that were given, as they must be written anywhere else to mean the same.
    pub fn flags_from_anywhere(&self) -> Result<Vec<String>, Error> {
        let Flags { config, store, allow } = &self.flags;
        if config.is_none() && store.is_none() && allow.is_empty() {
            return Ok(Vec::new());
        }
        let Located { working, file, store: place, .. } = self.located()?;
        let config = config.as_ref().and(file).map(|path| ("--config", path));
        let store = store.as_ref().map(|_| ("--store", place));
        let allow = allow.iter().map(|folder| ("--allow", working.join(folder)));
        let flags = config.into_iter().chain(store).chain(allow);
        let written =
            flags.flat_map(|(flag, path)| [flag.to_owned(), path.to_string_lossy().into_owned()]);
        Ok(written.collect())
    }

    /// Where things are.
    pub fn located(&self) -> Result<Located, Error> {
        self.read_trusted(|environment| config::locate(&self.flags, environment))
    }

    /// What the project's file asks for; none where the search finds no file, or where the file
    /// was named.
    pub fn trust_report(&self) -> Result<Option<TrustReport>, Error> {
        let environment = Environment::of_process();
        let found = config::find_project_file(&self.flags, &environment)?;
        Ok(found.map(|path| config::inspect_trust(&path, &environment)).transpose()?)
    }

    /// Everything that is settled by flags, environment and file.
    pub fn settings(&self, overrides: &Overrides) -> Result<Settings, Error> {
        let settings = self.read_trusted(|environment| {
            config::load(&self.flags, overrides, environment, config::installed_models)
        })?;
        self.give_warnings(&settings);
        Ok(settings)
    }

    /// The settings, and every provider that was named or found, usable or not.
    pub fn survey(&self, overrides: &Overrides) -> Result<(Settings, Vec<Candidate>), Error> {
        let surveyed = self.surveyed(SettingUse::Providers, overrides)?;
        self.give_warnings(&surveyed.0);
        Ok(surveyed)
    }

    /// The settings where nobody will be called: providers may lack keys and programs.
    pub fn settings_without_reach(&self, overrides: &Overrides) -> Result<Settings, Error> {
        Ok(self.surveyed(SettingUse::Files, overrides)?.0)
    }

    /// The settings as they would be, also those of a file that is not trusted.
    pub fn settings_to_show(&self) -> Result<Settings, Error> {
        let settings = self.surveyed(SettingUse::Display, &Overrides::default())?.0;
        self.give_warnings(&settings);
        Ok(settings)
    }

    fn surveyed(
        &self,
        needed: SettingUse,
        overrides: &Overrides,
    ) -> Result<(Settings, Vec<Candidate>), Error> {
        let models = config::installed_models;
        self.read_trusted(|environment| {
            config::survey(needed, &self.flags, overrides, environment, models)
        })
    }

    /// Reads the configuration. Where it needs trust and a person is there, it asks them first;
    /// what they trust is what they were shown, so a file that changed meanwhile is refused.
    fn read_trusted<T>(
        &self,
        read: impl Fn(&Environment) -> Result<T, ConfigError>,
    ) -> Result<T, Error> {
        let environment = Environment::of_process();
        match (read(&environment), self.confirm) {
            (Err(ConfigError::NotTrusted(file)), Some(confirm)) if confirm(&file) => {
                config::record_trust(&file, &environment)?;
                Ok(read(&environment)?)
            }
            (read, _) => Ok(read?),
        }
    }

    fn give_warnings(&self, settings: &Settings) {
        let Some(warn) = self.warn else { return };
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in settings.warnings() {
            if warned.insert(warning.clone()) {
                warn(&warning);
            }
        }
    }

    /// The settings for a new run. Whoever only plays needs no keys; else somebody must be there
    /// to be asked, where the run needs that.
    pub(super) fn settings_to_begin(
        &self,
        rehearsal: &Rehearsal,
        overrides: &Overrides,
        needs_somebody: impl FnOnce(&Settings) -> bool,
    ) -> Result<Settings, Error> {
        if rehearsal.is_asked_for() {
            return self.settings_without_reach(overrides);
        }
        let settings = self.settings(overrides)?;
        if needs_somebody(&settings) {
            settings.require_providers()?;
        }
        Ok(settings)
    }

    /// The settings for going on with a run: a rehearsal calls nobody.
    pub fn settings_for(
        &self,
        opening: &Opening,
        overrides: &Overrides,
    ) -> Result<Settings, Error> {
        match opening.rehearsal {
            true => self.settings_without_reach(overrides),
            false => self.settings(overrides),
        }
    }

    /// A workspace over the store that is there; nothing, where there is none yet.
    pub fn existing(&self, located: &Located) -> Result<Option<Workspace>, Error> {
        // Where nobody may look, nobody knows that there is none: opening it will say so.
        match located.store.try_exists().unwrap_or(true) {
            true => self.open(located).map(Some),
            false => Ok(None),
        }
    }

    /// A workspace whose store is made if there is none.
    pub fn open(&self, located: &Located) -> Result<Workspace, Error> {
        Ok(workspace(SqliteStore::open(&located.store)?, located))
    }

    /// A workspace over an empty store that leaves nothing behind.
    pub fn empty(&self, located: &Located) -> Result<Workspace, Error> {
        Ok(workspace(SqliteStore::in_memory()?, located))
    }
}

fn workspace(store: SqliteStore, located: &Located) -> Workspace {
    // A file that is found when there is none yet counts from then on.
    let council = located.working.join(COUNCIL_FILE);
    let kept = located.file.iter().chain([&council, &located.log]).chain(&located.references);
    Workspace {
        store: Arc::new(store),
        ambient: Arc::new(Machine),
        folders: Folders::new(&located.working, &located.store, &located.allow)
            .keeping(kept.cloned()),
        convergence_percent: located.convergence_percent,
    }
}
