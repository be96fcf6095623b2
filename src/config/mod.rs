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

pub use budget::BudgetOverrides;
pub use classify::{ClassReason, FileClass, TierClassifier};
pub use duration::{parse_duration, show_duration};
pub use environment::EnvVariables;
pub use error::{ConfigError, ConfigProblem};
pub use file::{TierRule, TransportChoice, is_artifact_type};
pub use ledger::{EffectiveSetting, SettingSource};
pub use load::{load_settings, survey_providers};
pub use locate::{COUNCIL_FILE, ConfigFlags, ProjectPaths, find_project_file, locate_project};
pub use nearest::nearest_first;
pub use ollama::installed_models;
pub use reach::{FoundBy, ProviderCandidate, TransportStatus};
pub use seats::{build_seat, build_seats, list_chairs, short_version, single_family_note};
pub use settings::{
    AlignmentSettings, ConclusionRoles, ConclusionSettings, CouncilSettings, DeliberatorSettings,
    ProviderOrigin, RetentionSettings, ReviewSettings, Settings,
};
pub use template::COUNCIL_TEMPLATE;
pub use trust::{
    FileState, RiskySetting, SettingUse, TrustReport, TrustedFile, UntrustedFile, inspect_trust,
    list_trusted, record_trust, remove_trust,
};
