//! What a command works in: the workspace, opened as far as it is needed, and
//! the terminal.

use std::path::Path;

use serde_json::{Map, Value};

use super::args::Global;
use super::ui::Ui;
use super::{report, trust};
use crate::config::{Flags, Located};
use crate::error::{Error, Kind};
use crate::files;
use crate::hosting::Premises;
use crate::operations::{self, Workspace};
use crate::store::StoreError;

/// How a command that ran to its end ended.
/// The order is that of the exit codes: of several ends, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Done {
    Well,
    WithFindings,
    /// The gate holds something back.
    Held,
    Incomplete,
    /// One of several could not be read.
    Unreadable,
    /// One of several broke where it should not.
    Broken,
    Interrupted,
}

impl Done {
    pub(super) fn exit_code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::WithFindings => Kind::Refused.exit_code(),
            // Neither a refusal nor a failure: no kind of error has this one.
            Self::Held => 2,
            Self::Incomplete => Kind::Incomplete.exit_code(),
            Self::Unreadable => Kind::NotFound.exit_code(),
            Self::Broken => Kind::Internal.exit_code(),
            Self::Interrupted => Kind::Interrupted.exit_code(),
        }
    }

    /// How one of several that went wrong ends the program, while the others go on.
    pub(super) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Refused | Kind::Usage => Self::WithFindings,
            Kind::Incomplete => Self::Incomplete,
            Kind::NotFound | Kind::Configuration => Self::Unreadable,
            Kind::Internal => Self::Broken,
            Kind::Interrupted => Self::Interrupted,
        }
    }
}

#[derive(Debug)]
pub(super) struct Session<'a> {
    pub premises: Premises,
    pub ui: &'a Ui,
}

impl<'a> Session<'a> {
    pub(super) fn new(global: &Global, ui: &'a Ui) -> Self {
        let flags = Flags {
            config: global.config.clone(),
            store: global.store.clone(),
            allow: global.allow.clone(),
        };
        let mut premises = Premises::new(flags);
        if !ui.is_quiet() {
            premises = premises.warning(report::warn_of);
        }
        if ui.can_ask() {
            premises = premises.asking(trust::confirm);
        }
        Self { premises, ui }
    }

    /// A workspace over the store there is. Looking leaves nothing behind: where
    /// there is none yet, an empty one in memory answers.
    pub(super) fn for_existing(&self) -> Result<Workspace, Error> {
        let located = self.premises.located()?;
        if let Some(workspace) = self.premises.existing(&located)? {
            self.ui.detail(&format!("store: {}", located.store.display()));
            return Ok(workspace);
        }
        self.ui.say(&format!("there is no store at `{}` yet", located.store.display()));
        self.premises.empty(&located)
    }

    /// The same for a command that would make one: that there is none yet is nothing to speak of.
    pub(super) fn for_looking_first(&self) -> Result<Workspace, Error> {
        let located = self.premises.located()?;
        match self.premises.existing(&located)? {
            Some(workspace) => Ok(workspace),
            None => self.premises.empty(&located),
        }
    }

    /// A workspace over the store there is; that there is none is an error. What does not
    /// exist cannot be called untouched.
    pub(super) fn for_auditing(&self) -> Result<Workspace, Error> {
        let located = self.premises.located()?;
        let is_there = located.store.metadata().is_ok_and(|metadata| metadata.len() > 0);
        if !is_there {
            return Err(StoreError::Missing { path: located.store }.into());
        }
        self.open(&located)
    }

    /// A workspace whose store is made if there is none: for opening the first dialogue.
    pub(super) fn open(&self, located: &Located) -> Result<Workspace, Error> {
        self.ui.detail(&format!("store: {}", located.store.display()));
        self.premises.open(located)
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

    /// A round's batch, where the data is the document of `extract` around it.
    #[must_use]
    pub(super) fn unwrapped(self) -> Self {
        Self(operations::unwrapped(&self.0).into_owned())
    }

    /// Adds to the object under `name`, as a field that was given on the command line.
    #[must_use]
    pub(super) fn with_entries(mut self, name: &str, entries: Vec<(String, i64)>) -> Self {
        if let (Value::Object(map), false) = (&mut self.0, entries.is_empty()) {
            let under = map.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(under) = under {
                under.extend(entries.into_iter().map(|(key, value)| (key, value.into())));
            }
        }
        self
    }

    pub(super) fn value(&self) -> &Value {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Done;

    #[test]
    fn of_several_ends_the_greatest_has_the_greatest_exit_code() {
        let ends = [
            Done::Well,
            Done::WithFindings,
            Done::Held,
            Done::Incomplete,
            Done::Unreadable,
            Done::Broken,
            Done::Interrupted,
        ];
        assert!(ends.is_sorted());
        assert_eq!(ends.map(Done::exit_code), [0, 1, 2, 3, 4, 70, 130]);
    }
}
