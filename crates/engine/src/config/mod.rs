//! Configuration: settles `council.yaml`, environment and flags into [`Settings`].
//!
//! [`locate_project`] finds the file and the store for commands that need no provider.
//! [`load_settings`] builds all [`Settings`], which never change afterwards and record the source
//! of each value.

pub mod council_file;
#[cfg(test)]
mod council_file_tests;
pub mod discover;
#[cfg(test)]
mod discover_tests;
pub mod environment;
pub mod error;
pub mod load;
#[cfg(test)]
pub(crate) mod load_tests;
pub mod locate;
pub mod model_directory;
mod model_limits;
pub mod resolve_provider;
pub mod section;
pub mod setting_table;
#[cfg(test)]
mod setting_table_tests;
pub mod settings;
pub mod settle_sections;
pub mod tier_rules;
pub mod trust;
pub mod user_name;
pub mod yaml;
