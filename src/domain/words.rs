//! String enums: enums whose variants have names that are stored, printed and parsed.
//!
//! One macro declares each name once, so that the list of valid options in an error always matches
//! the enum.

use std::fmt;
use std::str::FromStr;

use serde::Deserializer;
use serde::de::{Error, Visitor};

/// A string enum, for code that parses any of them.
pub trait Word: FromStr {
    /// All names, for error messages.
    fn options() -> Vec<String>;
}

/// Declares a string enum with `ALL`, `name()`, `named()`, `Display` and serde by name.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.name() == name)
            }

        }

        impl std::str::FromStr for $name {
            type Err = $crate::domain::ids::Malformed;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::named(text).ok_or($crate::domain::ids::Malformed)
            }
        }

        impl $crate::domain::words::Word for $name {
            fn options() -> Vec<String> {
                Self::ALL.iter().map(|word| word.name().to_owned()).collect()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::domain::words::read_text(deserializer, stringify!($name), Self::named)
            }
        }
    };
}

/// Implements serde through `Display` and `FromStr`.
macro_rules! serde_by_text {
    ($name:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let parse = |text: &str| text.parse().ok();
                $crate::domain::words::read_text(deserializer, stringify!($name), parse)
            }
        }
    };
}

pub(crate) use {serde_by_text, words};

/// Parses a value from borrowed text without allocating, because a record contains thousands of ids
/// and names.
pub(crate) fn read_text<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    what: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(Reader { what, read })
}

struct Reader<F> {
    what: &'static str,
    read: F,
}

impl<T, F: Fn(&str) -> Option<T>> Visitor<'_> for Reader<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).ok_or_else(|| E::custom(format_args!("malformed {} `{text}`", self.what)))
    }
}
