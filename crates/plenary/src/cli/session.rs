//! [`CliSession`]: the project and the terminal of one command, and its [`ExitStatus`].

use std::io::ErrorKind as IoErrorKind;
use std::path::Path;
use std::sync::Arc;

use plenary_core::protocols::protocol::Protocols;
use plenary_engine::app::dialogues::parse_arguments;
use plenary_engine::app::project::{Project, SettingsLoader};
use plenary_engine::config::locate::{ConfigFlags, ProjectPaths};
use plenary_engine::config::settle_sections::SettingSource;
use plenary_engine::error::{Error, ErrorKind};
use plenary_engine::files::read_write::read_request_text;
use plenary_engine::store::error::StoreError;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::commands::GlobalArgs;
use crate::cli::config::confirm_trust;
use crate::cli::ui::{TerminalUi, print_warning_text};

/// How a command ended. Ordered by exit code: for several results the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
    Ok,
    WithFindings,
    /// A review's verdict is HOLD.
    Hold,
    Incomplete,
    /// One of several files could not be read.
    Unreadable,
    /// One of several items failed with an internal error.
    Internal,
    Interrupted,
}

impl ExitStatus {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::WithFindings => ErrorKind::Refused.exit_code(),
            // HOLD is a result, not an error, so no error kind has this code.
            Self::Hold => 2,
            Self::Incomplete => ErrorKind::Incomplete.exit_code(),
            Self::Unreadable => ErrorKind::NotFound.exit_code(),
            Self::Internal => ErrorKind::Internal.exit_code(),
            Self::Interrupted => ErrorKind::Interrupted.exit_code(),
        }
    }

    /// The exit status for one failed item, after which the command continues with the others.
    pub(crate) fn from_error_kind(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Refused | ErrorKind::Usage => Self::WithFindings,
            ErrorKind::Incomplete => Self::Incomplete,
            ErrorKind::NotFound | ErrorKind::Configuration => Self::Unreadable,
            ErrorKind::Internal => Self::Internal,
            ErrorKind::Interrupted => Self::Interrupted,
        }
    }
}

#[derive(Debug)]
pub(crate) struct CliSession<'a> {
    pub loader: Arc<SettingsLoader>,
    pub ui: &'a TerminalUi,
}

impl<'a> CliSession<'a> {
    pub(crate) fn new(global: &GlobalArgs, ui: &'a TerminalUi, protocols: Protocols) -> Self {
        let flags = ConfigFlags {
            config: global.config.clone(),
            store: global.store.clone(),
            allow: global.allow.clone(),
        };
        let mut loader = SettingsLoader::new(flags, protocols);
        if !ui.is_quiet() {
            loader = loader.with_warnings(print_warning_text);
        }
        if ui.can_ask() {
            loader = loader.with_confirmation(confirm_trust);
        }
        Self { loader: Arc::new(loader), ui }
    }

    /// Opens the existing store; without one, an empty store in memory. Reading commands create no
    /// file. A missing store that was named by an option or a variable is an error: a name that is
    /// misspelt must not look like an empty record.
    pub(crate) fn open_existing(&self) -> Result<Project, Error> {
        let located = self.loader.locate_files()?;
        self.ui.print_detail(&format!("store: {}", located.store.display()));
        // A store that cannot be read is reported when it is opened.
        if !located.store.try_exists().unwrap_or(true) {
            if matches!(
                located.store_source,
                SettingSource::Flag { .. } | SettingSource::Environment { .. }
            ) {
                return Err(StoreError::Missing { path: located.store }.into());
            }
            self.ui
                .print_note(&format!("the store `{}` does not exist yet", located.store.display()));
        }
        self.open_if_present()
    }

    /// The same without a message, for commands that create the store later.
    pub(crate) fn open_if_present(&self) -> Result<Project, Error> {
        let located = self.loader.locate_files()?;
        match self.loader.open_existing(&located)? {
            Some(project) => Ok(project),
            None => self.loader.open_in_memory(&located),
        }
    }

    /// Opens the existing store; a missing store is an error, because it cannot be verified.
    pub(crate) fn open_required(&self) -> Result<Project, Error> {
        let located = self.loader.locate_files()?;
        let path = located.store.clone();
        match located.store.metadata() {
            Ok(metadata) if metadata.len() == 0 => Err(StoreError::Empty { path }.into()),
            Err(error) if error.kind() == IoErrorKind::NotFound => {
                Err(StoreError::Missing { path }.into())
            }
            Ok(_) | Err(_) => self.open_or_create(&located),
        }
    }

    /// Opens the store, or creates it: for commands that write the first dialogue.
    pub(crate) fn open_or_create(&self, located: &ProjectPaths) -> Result<Project, Error> {
        self.ui.print_detail(&format!("store: {}", located.store.display()));
        self.loader.open_project(located)
    }
}

/// Arguments of an operation: the JSON of `--data`, with command line options on top.
#[derive(Debug)]
pub(crate) struct CliArguments(Value);

impl CliArguments {
    pub(crate) fn new(data: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = data else { return Ok(Self(Value::Object(Map::new()))) };
        Ok(Self(parse_arguments(&read_request_text(path)?)?))
    }

    /// Sets the fields that the options of a command give. Absent options keep the data.
    pub(crate) fn set_options(mut self, options: &impl Serialize) -> Result<Self, Error> {
        let options = serde_json::to_value(options).map_err(Error::Document)?;
        if let (Value::Object(map), Value::Object(options)) = (&mut self.0, options) {
            let is_given = |value: &Value| !value.is_null() && value.as_array() != Some(&vec![]);
            map.extend(options.into_iter().filter(|(_, value)| is_given(value)));
        }
        Ok(self)
    }

    /// Sets a field from a command line option.
    #[must_use]
    pub(crate) fn set_field(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let (Value::Object(map), Some(value)) = (&mut self.0, value) {
            map.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Unwraps a round's batch if the data is the output of `extract`.
    pub(crate) fn unwrap_batch(self) -> Result<Self, Error> {
        let batch = plenary_engine::app::rounds::unwrap_batch(&self.0);
        Ok(Self(batch.map_err(|faults| Error::of_batch(faults.into()))?.into_owned()))
    }

    /// Adds command line values to the object under `name`.
    #[must_use]
    pub(crate) fn add_entries(mut self, name: &str, entries: Vec<(String, i64)>) -> Self {
        if let (Value::Object(map), false) = (&mut self.0, entries.is_empty()) {
            let under = map.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(under) = under {
                under.extend(entries.into_iter().map(|(key, value)| (key, value.into())));
            }
        }
        self
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::session::ExitStatus;

    #[test]
    fn of_several_ends_the_greatest_has_the_greatest_exit_code() {
        let ends = [
            ExitStatus::Ok,
            ExitStatus::WithFindings,
            ExitStatus::Hold,
            ExitStatus::Incomplete,
            ExitStatus::Unreadable,
            ExitStatus::Internal,
            ExitStatus::Interrupted,
        ];
        assert!(ends.is_sorted());
        assert_eq!(ends.map(ExitStatus::exit_code), [0, 1, 2, 3, 4, 70, 130]);
    }
}
