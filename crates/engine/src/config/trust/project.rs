//! Decides whether a project's `council.yaml` may be used. Called by `locate` and the `trust`
//! command.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::council_file::CouncilFile;
use crate::config::environment::EnvVariables;
use crate::config::error::{ConfigError, ConfigProblem};
use crate::config::locate::{OpenedCouncilFile, open_council_file};
use crate::config::section::ProblemList;
use crate::config::trust::record::{CurrentUser, OtherOwner, TrustedIdentity, write_trust};
use crate::config::trust::risks::{RiskySetting, SettingUse, owner_risk, risky_settings};
use crate::config::yaml::YamlNode;
use crate::files::read_write::FileError;

/// Set to `all` to trust every file, for pipelines that run on trusted code.
const TRUST_VARIABLE: &str = "PLENARY_TRUST";
const TRUST_ALL: &str = "all";

/// A file found by the upward search; another person may have written it.
#[derive(Debug)]
pub(crate) struct ProjectFile {
    identity: TrustedIdentity,
    folder: PathBuf,
    other_owner: Option<OtherOwner>,
}

/// A file with settings the user has not consented to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedFile {
    identity: TrustedIdentity,
    /// Settings that need consent.
    pub settings: Vec<RiskySetting>,
    /// The same settings as problems, without values of the file.
    pub(crate) problems: Vec<ConfigProblem>,
}

/// Settings of a file that need consent, and whether the user gave it.
#[derive(Debug, Clone)]
pub struct TrustReport {
    pub file: UntrustedFile,
    /// The user trusts this content of this file.
    pub is_recorded: bool,
    /// The environment says that every file is trusted.
    pub is_trusting_all: bool,
}

impl TrustReport {
    /// Whether all commands may use the file.
    pub fn is_trusted(&self) -> bool {
        self.file.settings.is_empty() || self.is_recorded || self.is_trusting_all
    }
}

impl UntrustedFile {
    pub fn path(&self) -> &Path {
        &self.identity.path
    }

    pub fn sha256(&self) -> &str {
        &self.identity.sha256
    }

    fn new(identity: TrustedIdentity, settings: Vec<RiskySetting>) -> Self {
        let problems = settings.iter().map(RiskySetting::to_problem).collect();
        Self { identity, settings, problems }
    }
}

impl fmt::Display for UntrustedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path().display();
        match self.problems.as_slice() {
            [problem] => write!(f, "`{path}` is not trusted: {problem}"),
            problems => {
                write!(f, "`{path}` is not trusted: {} settings need your consent", problems.len())
            }
        }
    }
}

impl ProjectFile {
    pub(crate) fn from_opened(
        path: &Path,
        opened: &OpenedCouncilFile,
        environment: &EnvVariables,
    ) -> Result<Self, ConfigError> {
        let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
        let identity = TrustedIdentity::from_path(path, opened.sha256.clone())?;
        let user = CurrentUser::from_process(environment);
        let other_owner =
            user.find_other_owner(&identity.path, &opened.metadata).map_err(unreadable)?;
        let folder = identity.path.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Self { identity, folder, other_owner })
    }

    /// Fails if a command with this use needs consent the user has not given. A file with problems
    /// cannot be shown completely, so it cannot be trusted.
    pub(crate) fn require_trust(
        &self,
        tree: &YamlNode,
        needed: SettingUse,
        environment: &EnvVariables,
    ) -> Result<(), ConfigError> {
        let mut problems = ProblemList::default();
        let file = CouncilFile::from_tree(tree, &mut problems);
        let settings = self.list_risks(&file);
        let is_harmless = settings.iter().all(|setting| setting.needed_by > needed);
        if is_harmless || trusts_all(environment)? {
            return Ok(());
        }
        if crate::config::trust::record::is_recorded(&self.identity, environment)? {
            return Ok(());
        }
        if !problems.0.is_empty() {
            let path = self.identity.path.clone();
            return Err(ConfigError::Invalid { path, problems: problems.0 });
        }
        let file = UntrustedFile::new(self.identity.clone(), settings);
        Err(ConfigError::NotTrusted(Box::new(file)))
    }

    fn list_risks(&self, file: &CouncilFile) -> Vec<RiskySetting> {
        let owner = self.other_owner.iter().map(owner_risk);
        owner.chain(risky_settings(file, &self.folder)).collect()
    }
}

/// Inspects a file as if the upward search had found it.
pub fn inspect_trust(path: &Path, environment: &EnvVariables) -> Result<TrustReport, ConfigError> {
    let opened = open_council_file(path)?;
    let project = ProjectFile::from_opened(path, &opened, environment)?;
    let mut problems = ProblemList::default();
    let file = CouncilFile::from_tree(&opened.tree, &mut problems);
    if !problems.0.is_empty() {
        return Err(ConfigError::Invalid { path: path.to_owned(), problems: problems.0 });
    }
    let settings = project.list_risks(&file);
    Ok(TrustReport {
        is_recorded: crate::config::trust::record::is_recorded(&project.identity, environment)?,
        is_trusting_all: trusts_all(environment)?,
        file: UntrustedFile::new(project.identity, settings),
    })
}

/// Records that the user trusts the content they were shown.
pub fn record_trust(file: &UntrustedFile, environment: &EnvVariables) -> Result<(), ConfigError> {
    write_trust(&file.identity, environment)
}

fn trusts_all(environment: &EnvVariables) -> Result<bool, ConfigError> {
    match environment.get(TRUST_VARIABLE) {
        None => Ok(false),
        Some(TRUST_ALL) => Ok(true),
        Some(_) => Err(ConfigError::Variable {
            variable: TRUST_VARIABLE,
            expected: "`all` or unset".to_owned(),
        }),
    }
}
