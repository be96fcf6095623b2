//! Configuration: settles `council.yaml`, environment and flags into [`Settings`].
//!
//! [`locate_project`] finds the file and the store for commands that need no provider.
//! [`load_settings`] builds all [`Settings`], which never change afterwards and record the source
//! of each value.

mod budget;
mod check;
mod classify;
mod describe;
mod discover;
mod duration;
mod environment;
mod error;
mod file;
mod gate;
mod ledger;
mod load;
mod locate;
mod nearest;
mod ollama;
mod open;
mod own_files;
mod owner;
mod reach;
mod search;
mod seats;
mod secrets_in_use;
mod section;
mod settings;
mod template;
mod trust;
mod yaml;

#[cfg(test)]
mod discover_tests;
#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod load_tests;

pub use budget::Overrides;
pub use classify::{Because, Class, Classifier};
pub use duration::{parse as parse_duration, show as show_duration};
pub use environment::Environment;
pub use error::{ConfigError, Problem};
pub use file::{TierRule, TransportChoice, is_artifact_type};
pub use ledger::{Setting, Source};
pub use load::{load, survey};
pub use locate::{COUNCIL_FILE, Flags, Located, find_project_file, locate};
pub use nearest::nearest_first;
pub use ollama::models as installed_models;
pub use reach::{Candidate, FoundBy, TransportStatus};
pub use seats::{chairs, seat, seats, single_family, version_of};
pub use settings::{
    Alignment, Conclusion, ConclusionRoles, Council, Deliberator, Origin, Retention, Review,
    Settings,
};
pub use template::TEMPLATE;
pub use trust::{
    FileState, RiskySetting, SettingUse, TrustReport, TrustedFile, UntrustedFile, inspect_trust,
    list_trusted, record_trust, remove_trust,
};
