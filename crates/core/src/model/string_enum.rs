//! String enums: enums whose variants have names that are stored, printed and parsed. Also JSON
//! schemas without references, of these enums and of other types.
//!
//! One macro declares each name once, so that the list of valid options in an error always matches
//! the enum.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserializer;
use serde::de::{Error, Visitor};
use serde_json::Value;

/// A string enum, for code that parses any of them.
pub trait StringEnum: FromStr {
    /// All names, for error messages.
    fn options() -> Vec<String>;
}

/// Declares a string enum with `ALL`, `name()`, `named()`, `Display` and serde by name.
#[macro_export]
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

        $crate::word_traits!($name, named);
        $crate::schema_of_words!($name, { "enum": $name::ALL });
    };
}

/// The traits of a string enum: `FromStr`, `StringEnum`, `Display` and serde by name. `$read` is
/// the function that reads a stored name.
#[macro_export]
macro_rules! word_traits {
    ($name:ident, $read:ident) => {
        impl std::str::FromStr for $name {
            type Err = $crate::model::ids::MalformedText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::named(text).ok_or($crate::model::ids::MalformedText)
            }
        }

        impl $crate::model::string_enum::StringEnum for $name {
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
                $crate::model::string_enum::read_text(deserializer, stringify!($name), Self::$read)
            }
        }
    };
}

/// The schema of a string enum, which lists its names under this keyword.
#[macro_export]
macro_rules! schema_of_words {
    ($name:ident, { $keyword:literal: $words:expr }) => {
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let names: Vec<&str> = $words.iter().map(|word| word.name()).collect();
                schemars::json_schema!({ "type": "string", $keyword: names })
            }
        }
    };
}

/// Like [`words!`], for a vocabulary that programs built on this library may extend: a stored name
/// that is none of these is `Other`. What people type is still one of the listed words.
#[macro_export]
macro_rules! open_words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$vmeta])* $variant,)+
            /// A name of a protocol that is not built in.
            Other(&'static str),
        }

        impl $name {
            /// The built-in ones.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ Self::Other(name) => name }
            }

            /// The built-in one of this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.name() == name)
            }

            /// The one that is stored under this name, built in or not.
            pub fn stored(name: &str) -> Option<Self> {
                Self::named(name).or_else(|| $crate::model::string_enum::open_name(name).map(Self::Other))
            }
        }

        $crate::word_traits!($name, stored);
        $crate::schema_of_words!($name, { "examples": $name::ALL });
    };
}

/// Longest name of a protocol or a purpose that is not built in.
const OPEN_NAME_BYTES_MAX: usize = 32;

/// Names that one process keeps. They live as long as the process, so a damaged store must not be
/// able to add more and more of them.
const OPEN_NAMES_MAX: usize = 64;

/// A name that is not built in, kept for the life of the process; none if it is malformed or one
/// too many.
pub fn open_name(name: &str) -> Option<&'static str> {
    static KEPT: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || name.len() > OPEN_NAME_BYTES_MAX || !name.chars().all(is_plain) {
        return None;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.iter().copied().find(|known| *known == name) {
        return Some(known);
    }
    if kept.len() >= OPEN_NAMES_MAX {
        return None;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    kept.push(name);
    Some(name)
}

/// Declares an id that is a text of a fixed form, with `as_str`, `Display`, `FromStr` and serde.
/// `$fits` decides whether a text has the form; `$format` is the format in schemas.
#[macro_export]
macro_rules! text_id {
    ($(#[$meta:meta])* pub struct $name:ident; $format:literal, $fits:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::model::ids::MalformedText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let fits: fn(&str) -> bool = $fits;
                if fits(text) { Ok(Self(text.to_owned())) } else { Err($crate::model::ids::MalformedText) }
            }
        }

        $crate::serde_by_text!($name);
        $crate::schema_by_text!($name, $format);
    };
}

/// Serde for a type by its `Display` and `FromStr`.
#[macro_export]
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
                $crate::model::string_enum::read_text(deserializer, stringify!($name), parse)
            }
        }
    };
}

/// The schema of a type by its text: a string of this format.
#[macro_export]
macro_rules! schema_by_text {
    ($name:ty, $format:literal) => {
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "format": $format })
            }
        }
    };
}

pub use {open_words, schema_by_text, serde_by_text, text_id, words};

/// Parses a value from borrowed text without allocating, because a record contains thousands of ids
/// and names.
pub fn read_text<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    what: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(TextVisitor { what, read })
}

struct TextVisitor<F> {
    what: &'static str,
    read: F,
}

impl<T, F: Fn(&str) -> Option<T>> Visitor<'_> for TextVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).ok_or_else(|| E::custom(format_args!("malformed {} `{text}`", self.what)))
    }
}

/// The schema of `T` without `$ref` and `$defs`: models, servers and our own reader look at single
/// fields.
pub fn inlined_schema<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    order_items(settings.into_generator().into_root_schema_for::<T>().to_value())
}

/// Marks a field in which null has its own meaning.
pub const NULL_SAYS_SOMETHING: &str = "x-null-says-something";

/// The schema of a string enum.
pub fn word_schema<W: StringEnum>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": W::options() })
}

/// Restores the order of the keywords inside `items`, which schemars sorts there, so that the bytes
/// sent to models and clients stay the same.
pub fn order_items(schema: Value) -> Value {
    order_node(schema, false)
}

fn order_node(schema: Value, is_in_items: bool) -> Value {
    let Value::Object(node) = schema else { return schema };
    let mut keywords: Vec<(String, Value)> = node.into_iter().collect();
    if is_in_items {
        keywords.sort_by_key(|(keyword, _)| match keyword.as_str() {
            "type" => 0,
            "additionalProperties" => 1,
            "description" => 3,
            _ => 2,
        });
    }
    let ordered = keywords.into_iter().map(|(keyword, value)| match (keyword.as_str(), value) {
        ("items", items) => (keyword, order_node(items, true)),
        ("properties", Value::Object(fields)) => {
            let fields = fields.into_iter();
            (keyword, fields.map(|(name, field)| (name, order_node(field, is_in_items))).collect())
        }
        (_, value) => (keyword, value),
    });
    ordered.collect()
}

#[cfg(test)]
mod tests {
    use crate::model::dialogue::ProtocolKind;
    use crate::model::string_enum::open_name;

    #[test]
    fn a_stored_name_may_be_open_but_what_people_type_is_listed() {
        let stored = |text: &str| serde_json::from_str::<ProtocolKind>(&format!("\"{text}\"")).ok();
        assert_eq!(stored("council"), Some(ProtocolKind::Council));
        assert_eq!(stored("vote"), Some(ProtocolKind::Other("vote")));
        assert_eq!(serde_json::to_string(&ProtocolKind::Other("vote")).unwrap(), "\"vote\"");
        assert_eq!("vote".parse::<ProtocolKind>().ok(), None);
        for malformed in ["", "Vote", "a vote", "é", &"v".repeat(33)] {
            assert_eq!(stored(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn a_process_keeps_few_names() {
        let kept = (0..100).filter(|number| open_name(&format!("name_{number}")).is_some()).count();
        assert!((50..=64).contains(&kept), "{kept}");
        assert_eq!(open_name("name_0"), Some("name_0"));
    }
}
