//! The project of a command or a server: settings loader, opened store, allowed folders, clock.
//!
//! A [`SettingsLoader`] exists before the store is opened and opens it; the [`Project`] that it
//! returns is what every operation and every run works with.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use plenary_core::model::dialogue::DialogueOpening;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::protocol::Protocols;

use crate::clock::{RealSystem, System};
use crate::config::discover::installed_models;
use crate::config::environment::EnvVariables;
use crate::config::error::ConfigError;
use crate::config::load::survey_providers;
use crate::config::locate::{
    COUNCIL_FILE, ConfigFlags, ProjectPaths, find_project_file, locate_project,
};
use crate::config::model_directory::{LiveModels, ModelQuery};
use crate::config::resolve_provider::ProviderCandidate;
use crate::config::settings::Settings;
use crate::config::settle_sections::BudgetOverrides;
use crate::config::trust::project::{TrustReport, UntrustedFile, inspect_trust, record_trust};
use crate::config::trust::risks::SettingUse;
use crate::engine::record_changes::find_dialogue;
use crate::error::Error;
use crate::files::allowed_folders::AllowedFolders;
use crate::store::sqlite::store::SqliteStore;
use crate::store::traits::{Store, StoreTransaction};

/// Shows a person what a file asks for, and returns whether they trust it.
pub type ConfirmTrust = fn(&UntrustedFile) -> bool;

/// Prints a line for a person; never on standard output.
pub type PrintNotice = fn(&str);

/// An opened project.
#[derive(Debug)]
pub struct Project {
    /// Reads the settings again, with other overrides.
    pub loader: Arc<SettingsLoader>,
    pub store: Arc<dyn Store>,
    pub ambient: Arc<dyn System>,
    pub folders: AllowedFolders,
    /// The protocols that dialogues may follow.
    pub protocols: Protocols,
    /// Convergence target of new dialogues, where the project sets one.
    pub convergence_percent: Option<u8>,
    /// Whether a server opened it: the daily limit applies.
    pub is_served: bool,
}

impl Project {
    /// A project with the settings of the process's environment and without flags.
    pub fn new(store: Arc<dyn Store>, ambient: Arc<dyn System>, folders: AllowedFolders) -> Self {
        let protocols = Protocols::built_in();
        let loader = Arc::new(SettingsLoader::new(ConfigFlags::default(), protocols.clone()));
        Self {
            loader,
            store,
            ambient,
            folders,
            protocols,
            convergence_percent: None,
            is_served: false,
        }
    }
}

/// Loads settings from flags, environment and `council.yaml`, and opens the project's store.
#[derive(Debug)]
pub struct SettingsLoader {
    flags: ConfigFlags,
    pub protocols: Protocols,
    confirm: Option<ConfirmTrust>,
    warn: Option<PrintNotice>,
    /// Whether servers are asked for their models.
    models: ModelQuery,
    /// Warnings that were printed: each is printed once, however often the settings are read.
    warned: Mutex<BTreeSet<String>>,
}

impl SettingsLoader {
    pub fn new(flags: ConfigFlags, protocols: Protocols) -> Self {
        let models = ModelQuery::Asked;
        Self { flags, protocols, confirm: None, warn: None, models, warned: Mutex::default() }
    }

    /// Asks a person about a file that is not trusted.
    #[must_use]
    pub fn with_confirmation(self, confirm: ConfirmTrust) -> Self {
        Self { confirm: Some(confirm), ..self }
    }

    /// Never asks, for a server: its clients are not the person who may trust a file.
    #[must_use]
    pub fn without_confirmation(&self) -> Self {
        let warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (flags, warn) = (self.flags.clone(), self.warn);
        let protocols = self.protocols.clone();
        let models = self.models;
        Self { flags, protocols, confirm: None, warn, models, warned: Mutex::new(warned) }
    }

    /// Asks no server for its models, for a command that must send nothing.
    #[must_use]
    pub fn without_queries(&self) -> Self {
        Self { confirm: self.confirm, models: ModelQuery::Cached, ..self.without_confirmation() }
    }

    /// Prints warnings about the settings.
    #[must_use]
    pub fn with_warnings(self, warn: PrintNotice) -> Self {
        Self { warn: Some(warn), ..self }
    }

    /// The path given by `--config`, whether the file exists or not.
    pub fn config_flag(&self) -> Option<&Path> {
        self.flags.config.as_deref()
    }

    /// The flags that were given, with absolute paths, so that they mean the same elsewhere.
    pub fn absolute_flags(&self) -> Result<Vec<String>, Error> {
        let ConfigFlags { config, store, allow } = &self.flags;
        if config.is_none() && store.is_none() && allow.is_empty() {
            return Ok(Vec::new());
        }
        let ProjectPaths { working, file, store: place, .. } = self.locate_files()?;
        let config = config.as_ref().and(file).map(|path| ("--config", path));
        let store = store.as_ref().map(|_| ("--store", place));
        let allow = allow.iter().map(|folder| ("--allow", working.join(folder)));
        let flags = config.into_iter().chain(store).chain(allow);
        let written =
            flags.flat_map(|(flag, path)| [flag.to_owned(), path.to_string_lossy().into_owned()]);
        Ok(written.collect())
    }

    /// Paths of the project: working folder, configuration, store, log, allowed folders.
    pub fn locate_files(&self) -> Result<ProjectPaths, Error> {
        self.read_trusted(|environment| locate_project(&self.flags, environment))
    }

    /// What the project's file asks for; `None` if the search finds no file or `--config` names
    /// it.
    pub fn read_trust_report(&self) -> Result<Option<TrustReport>, Error> {
        let environment = EnvVariables::from_process();
        let found = find_project_file(&self.flags, &environment)?;
        Ok(found.map(|path| inspect_trust(&path, &environment)).transpose()?)
    }

    /// Loads the settings; a configured provider that cannot be used is an error.
    pub fn load_settings(&self, overrides: &BudgetOverrides) -> Result<Settings, Error> {
        let settings = self.read_trusted(|environment| {
            crate::config::load::load_settings(
                &self.flags,
                overrides,
                environment,
                &self.live_models(),
            )
        })?;
        self.report_warnings(&settings);
        Ok(settings)
    }

    /// Loads the settings and every provider that was named or found, usable or not.
    pub fn survey_providers(
        &self,
        overrides: &BudgetOverrides,
    ) -> Result<(Settings, Vec<ProviderCandidate>), Error> {
        let surveyed = self.survey_settings(SettingUse::Providers, overrides)?;
        self.report_warnings(&surveyed.0);
        Ok(surveyed)
    }

    /// Loads the settings for work that calls no model: providers may lack keys and programs.
    pub fn load_offline_settings(&self, overrides: &BudgetOverrides) -> Result<Settings, Error> {
        Ok(self.survey_settings(SettingUse::Files, overrides)?.0)
    }

    /// Loads the settings for display, also those of a file that is not trusted.
    pub fn load_displayed_settings(&self) -> Result<Settings, Error> {
        let settings = self.survey_settings(SettingUse::Display, &BudgetOverrides::default())?.0;
        self.report_warnings(&settings);
        Ok(settings)
    }

    /// Loads the settings for an existing run: a rehearsal calls no model.
    pub fn load_run_settings(
        &self,
        opening: &DialogueOpening,
        overrides: &BudgetOverrides,
    ) -> Result<Settings, Error> {
        match opening.rehearsal {
            true => self.load_offline_settings(overrides),
            false => self.load_settings(overrides),
        }
    }

    fn live_models(&self) -> LiveModels {
        LiveModels { query: self.models, now: RealSystem.now() }
    }

    fn survey_settings(
        &self,
        needed: SettingUse,
        overrides: &BudgetOverrides,
    ) -> Result<(Settings, Vec<ProviderCandidate>), Error> {
        self.read_trusted(|environment| {
            let flags = &self.flags;
            match needed {
                SettingUse::Providers => {
                    survey_providers(needed, flags, overrides, environment, &self.live_models())
                }
                // Nothing is called, so no server is asked for its models.
                SettingUse::Display | SettingUse::Record | SettingUse::Files => {
                    survey_providers(needed, flags, overrides, environment, &installed_models)
                }
            }
        })
    }

    /// Reads the configuration. If it needs trust and a person is present, asks them first. They
    /// trust the content they were shown: a file that changed meanwhile is refused.
    fn read_trusted<T>(
        &self,
        read: impl Fn(&EnvVariables) -> Result<T, ConfigError>,
    ) -> Result<T, Error> {
        let environment = EnvVariables::from_process();
        match (read(&environment), self.confirm) {
            (Err(ConfigError::NotTrusted(file)), Some(confirm)) if confirm(&file) => {
                record_trust(&file, &environment)?;
                Ok(read(&environment)?)
            }
            (read, _) => Ok(read?),
        }
    }

    fn report_warnings(&self, settings: &Settings) {
        let Some(warn) = self.warn else { return };
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in settings.list_warnings(RealSystem.now().utc_day()) {
            if warned.insert(warning.clone()) {
                warn(&warning);
            }
        }
    }

    /// Opens the project over its store; `None` if there is no store yet.
    pub fn open_existing(
        self: &Arc<Self>,
        located: &ProjectPaths,
    ) -> Result<Option<Project>, Error> {
        // If the folder cannot be read, opening the store reports the reason.
        match located.store.try_exists().unwrap_or(true) {
            true => self.open_project(located).map(Some),
            false => Ok(None),
        }
    }

    /// Opens the project, and creates the store if there is none.
    pub fn open_project(self: &Arc<Self>, located: &ProjectPaths) -> Result<Project, Error> {
        Ok(self.build_project(SqliteStore::open(&located.store)?, located))
    }

    /// Opens the project over an empty store in memory, which leaves no file behind.
    pub fn open_in_memory(self: &Arc<Self>, located: &ProjectPaths) -> Result<Project, Error> {
        Ok(self.build_project(SqliteStore::in_memory()?, located))
    }

    fn build_project(self: &Arc<Self>, store: SqliteStore, located: &ProjectPaths) -> Project {
        // A council.yaml that is created later in the working folder is protected too.
        let council = located.working.join(COUNCIL_FILE);
        let kept = located.file.iter().chain([&council, &located.log]).chain(&located.references);
        Project {
            loader: Arc::clone(self),
            store: Arc::new(store),
            ambient: Arc::new(RealSystem),
            protocols: self.protocols.clone(),
            folders: AllowedFolders::new(&located.working, &located.store, &located.allow)
                .with_protected_files(kept.cloned()),
            convergence_percent: located.convergence_percent,
            is_served: false,
        }
    }
}

/// Refuses to add to a review by hand: its record holds only replies of its seats.
pub(crate) fn refuse_review(unit: &mut dyn StoreTransaction, id: &DialogueId) -> Result<(), Error> {
    let protocol = find_dialogue(unit, id)?.opening.protocol;
    if protocol.takes_contributions() {
        return Ok(());
    }
    let fault = ValidationError::new(
        ErrorCode::NotSupported,
        format!("'{id}' is a review, and only its seats add to its record"),
    );
    let hint = format!(
        "`plenary resume {id}` continues it; `plenary override` records a person's decision"
    );
    Err(fault.with_suggestion(hint).into())
}
