//! Closed vocabularies: an enum whose variants have names that are stored,
//! printed and read back.
//!
//! One macro, so that a word is spelled once and the list of valid options in
//! an error can never fall behind the enum.

use std::str::FromStr;

/// A closed vocabulary, for code that reads any of them.
pub trait Word: FromStr {
    /// Every valid spelling, for error messages.
    fn options() -> Vec<String>;
}

/// Declares an enum of words with `ALL`, `name()`, `named()`, `Display` and serde by name.
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
                let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::named(&name).ok_or_else(|| {
                    serde::de::Error::custom(format_args!("unknown {} `{name}`", stringify!($name)))
                })
            }
        }
    };
}

/// Serde for a type by its `Display` and `FromStr`.
macro_rules! serde_by_text {
    ($name:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(|_| {
                    serde::de::Error::custom(format_args!(
                        "malformed {} `{text}`",
                        stringify!($name)
                    ))
                })
            }
        }
    };
}

pub(crate) use {serde_by_text, words};
