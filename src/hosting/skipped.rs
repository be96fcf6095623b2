//! Files that are not shown to anybody, and why. What would change that is known to the door
//! they came by, and to nobody here.

use std::path::PathBuf;

use crate::domain::gate::Tier;
use crate::domain::refusal::{Code, Fault};

/// A file that is let through unseen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub path: String,
    pub artifact_type: String,
    pub tier: Tier,
    pub because: SkippedBecause,
}

/// Why a file is let through unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkippedBecause {
    /// The caller says that it is of tier 2.
    Claimed,
    /// A rule says so.
    Rule,
    /// No rule fits what lies in the project.
    NoRuleFits,
    /// No rule can fit: it lies elsewhere.
    Outside,
    /// It is of tier 3, and not the one in five.
    NotDrawn,
}

impl Skipped {
    pub fn sentence(&self) -> String {
        match self.because {
            SkippedBecause::Claimed => "tier 2 is not looked at".to_owned(),
            SkippedBecause::Rule => format!("`{}` is of tier 2", self.artifact_type),
            SkippedBecause::NoRuleFits => {
                "no rule of `tier_rules` fits it, so it is of tier 2".to_owned()
            }
            SkippedBecause::Outside => {
                "it lies outside the folder of council.yaml, where no rule of `tier_rules` fits, so it is of tier 2".to_owned()
            }
            SkippedBecause::NotDrawn => {
                "one in five files of tier 3 is looked at, and this one is not".to_owned()
            }
        }
    }
}

/// A file that holds what looks like a key. Whatever the gate would say of it, the key would be
/// out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldsKey {
    pub path: PathBuf,
    /// What key, in words.
    pub key: String,
}

impl HoldsKey {
    pub fn fault(&self) -> Fault {
        let Self { path, key } = self;
        let message = format!("`{}` is not sent to anybody: {key}", path.display());
        Fault::new(Code::NotSupported, message).suggest("take it out")
    }
}
