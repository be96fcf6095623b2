//! Effective settings, each with the source of its value, including those of providers. Printed by
//! `plenary config`.
//!
//! Priority: flag, environment, file, catalogue, default.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::section::At;

/// Source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Default,
    /// Default of a known provider.
    Catalogue,
    /// Discovered on this machine.
    Found,
    File {
        line: u64,
    },
    Environment {
        variable: String,
    },
    Flag {
        name: &'static str,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Catalogue => f.write_str("catalogue"),
            Self::Found => f.write_str("found"),
            Self::File { line } => write!(f, "file, line {line}"),
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag { name } => f.write_str(name),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, detail) = match self {
            Self::Default => ("default", None),
            Self::Catalogue => ("catalogue", None),
            Self::Found => ("found", None),
            Self::File { line } => ("file", Some(("line", json!(line)))),
            Self::Environment { variable } => ("environment", Some(("variable", json!(variable)))),
            Self::Flag { name } => ("flag", Some(("flag", json!(name)))),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", kind)?;
        if let Some((name, value)) = detail {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

/// One effective setting. It never contains a secret.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    pub key: String,
    pub value: Value,
    pub source: Source,
}

/// Values of one setting by source.
#[derive(Debug)]
pub(super) struct Layers<T> {
    pub flag: Option<(&'static str, T)>,
    pub environment: Option<(&'static str, T)>,
    pub file: Option<At<T>>,
    pub default: T,
}

impl<T> Layers<T> {
    /// Returns the value of the source with the highest priority.
    fn settle(self) -> (T, Source) {
        if let Some((name, value)) = self.flag {
            return (value, Source::Flag { name });
        }
        if let Some((variable, value)) = self.environment {
            return (value, Source::Environment { variable: variable.to_owned() });
        }
        match self.file {
            Some(At { value, line }) => (value, Source::File { line }),
            None => (self.default, Source::Default),
        }
    }
}

/// Effective settings in the order in which they were settled.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ledger(pub Vec<Setting>);

impl Ledger {
    pub(super) fn settle<T: Serialize>(&mut self, key: &str, layers: Layers<T>) -> T {
        let (value, source) = layers.settle();
        self.note(key, json!(value), source);
        value
    }

    /// Settles a setting that only the file can change.
    pub(super) fn file_or<T: Serialize>(
        &mut self,
        key: &str,
        file: Option<At<T>>,
        default: T,
    ) -> T {
        self.settle(key, Layers { flag: None, environment: None, file, default })
    }

    pub(super) fn note(&mut self, key: &str, value: Value, source: Source) {
        self.0.push(Setting { key: key.to_owned(), value, source });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_layer_wins() {
        let at = |value| Some(At { value, line: 3 });
        let cases = [
            (Some(("--x", 1)), Some(("X", 2)), at(3), (1, Source::Flag { name: "--x" })),
            (None, Some(("X", 2)), at(3), (2, Source::Environment { variable: "X".to_owned() })),
            (None, None, at(3), (3, Source::File { line: 3 })),
            (None, None, None, (4, Source::Default)),
        ];
        for (flag, environment, file, expected) in cases {
            let layers = Layers { flag, environment, file, default: 4 };
            assert_eq!(layers.settle(), expected);
        }
    }
}
