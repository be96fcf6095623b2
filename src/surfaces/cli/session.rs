//! What a command works in: the workspace, opened as far as it is needed, and
//! the terminal.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::args::Global;
use super::ui::Ui;
use crate::ambient::Machine;
use crate::config::{self, Candidate, Environment, Flags, Located, Overrides, Settings};
use crate::domain::dialogue::Opening;
use crate::error::Error;
use crate::files::{self, Folders};
use crate::operations::{self, Workspace};
use crate::store::{SqliteStore, StoreError};

/// How a command that ran to its end ended.
/// The order is that of the exit codes: of several ends, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Done {
    Well,
    WithFindings,
    Incomplete,
    /// One of several broke where it should not.
    Broken,
    Interrupted,
}

#[derive(Debug)]
pub(super) struct Session<'a> {
    flags: Flags,
    pub ui: &'a Ui,
}

impl<'a> Session<'a> {
    pub(super) fn new(global: &Global, ui: &'a Ui) -> Self {
        let flags = Flags {
            config: global.config.clone(),
            store: global.store.clone(),
            allow: global.allow.clone(),
        };
        Self { flags, ui }
    }

    /// A workspace over the store there is. Looking leaves nothing behind: where
    /// there is none yet, an empty one in memory answers.
    pub(super) fn for_existing(&self) -> Result<Workspace, Error> {
        let located = self.located()?;
        // Where nobody may look, nobody knows that there is none: opening it will say so.
        if located.store.try_exists().unwrap_or(true) {
            return self.open(&located);
        }
        self.ui.say(&format!("there is no store at `{}` yet", located.store.display()));
        Ok(workspace(SqliteStore::in_memory()?, &located))
    }

    /// A workspace over the store there is; that there is none is an error. What does not
    /// exist cannot be called untouched.
    pub(super) fn for_auditing(&self) -> Result<Workspace, Error> {
        let located = self.located()?;
        let is_there = located.store.metadata().is_ok_and(|metadata| metadata.len() > 0);
        if !is_there {
            return Err(StoreError::Missing { path: located.store }.into());
        }
        self.open(&located)
    }

    /// Where things are.
    pub(super) fn located(&self) -> Result<Located, Error> {
        Ok(config::locate(&self.flags, &Environment::of_process())?)
    }

    /// Everything that is settled by flags, environment and file.
    pub(super) fn settings(&self, overrides: &Overrides) -> Result<Settings, Error> {
        let environment = Environment::of_process();
        Ok(config::load(&self.flags, overrides, &environment, config::installed_models)?)
    }

    /// The settings, and every provider that was named or found, usable or not.
    pub(super) fn survey(&self) -> Result<(Settings, Vec<Candidate>), Error> {
        let environment = Environment::of_process();
        Ok(config::survey(
            &self.flags,
            &Overrides::default(),
            &environment,
            config::installed_models,
        )?)
    }

    /// The same, where nobody will be called: providers may lack keys and programs.
    pub(super) fn settings_without_reach(&self, overrides: &Overrides) -> Result<Settings, Error> {
        let environment = Environment::of_process();
        Ok(config::survey(&self.flags, overrides, &environment, config::installed_models)?.0)
    }

    /// The settings for going on with a run: a rehearsal calls nobody.
    pub(super) fn settings_for(
        &self,
        opening: &Opening,
        overrides: &Overrides,
    ) -> Result<Settings, Error> {
        match opening.rehearsal {
            true => self.settings_without_reach(overrides),
            false => self.settings(overrides),
        }
    }

    /// What `--config` names, whether it is there or not.
    pub(super) fn config_flag(&self) -> Option<&Path> {
        self.flags.config.as_deref()
    }

    /// A workspace whose store is made if there is none: for opening the first dialogue.
    pub(super) fn open(&self, located: &Located) -> Result<Workspace, Error> {
        self.ui.detail(&format!("store: {}", located.store.display()));
        Ok(workspace(SqliteStore::open(&located.store)?, located))
    }
}

fn workspace(store: SqliteStore, located: &Located) -> Workspace {
    Workspace {
        store: Arc::new(store),
        ambient: Arc::new(Machine),
        folders: Folders::new(&located.working, &located.store, &located.allow),
    }
}

/// The arguments of an operation: those of `--data`, and options on top.
#[derive(Debug)]
pub(super) struct Arguments(Value);

impl Arguments {
    pub(super) fn new(data: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = data else { return Ok(Self(Value::Object(Map::new()))) };
        Ok(Self(operations::parse(&files::read_text(path)?)?))
    }

    /// Sets a field that was given on the command line.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let (Value::Object(map), Some(value)) = (&mut self.0, value) {
            map.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Sets a field that neither the command line nor the data mentions.
    #[must_use]
    pub(super) fn or(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let (Value::Object(map), Some(value)) = (&mut self.0, value) {
            map.entry(name).or_insert_with(|| value.into());
        }
        self
    }

    pub(super) fn value(&self) -> &Value {
        &self.0
    }
}
