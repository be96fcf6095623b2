//! The library of an organisation: principles, domains, tenets and lenses, and how a domain inherits.
//!
//! **Invariant:** an item never changes and its id is never used again. An item that no longer
//! applies is deprecated, and its replacement gets a new id.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::string_enum::words;
use crate::model::text::to_one_line;
use crate::model::validation_error::{ErrorCode, ValidationError};

/// Levels of parents above a domain. Deeper trees are hard to overlook.
pub const PARENT_LEVELS_MAX: usize = 8;

/// Default priority of a principle and of a tenet.
pub const PRIORITY_DEFAULT: u32 = 100;

/// Default priority of a constraint.
pub const CONSTRAINT_PRIORITY_DEFAULT: u32 = 500;

/// Priorities only order the rules of one ethos; larger numbers say nothing more.
pub const PRIORITY_MAX: u32 = 1_000_000;

words! {
    /// Whether an item takes part in a synthesis. Only active items do.
    pub enum ItemStatus {
        Draft = "draft",
        Active = "active",
        Deprecated = "deprecated",
    }
}

/// Holds in every domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosPrinciple {
    /// Such as `PR0001`.
    pub id: String,
    pub label: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    pub status: ItemStatus,
    pub priority: u32,
}

/// A field of work with its own tenets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosDomain {
    pub slug: String,
    /// Three capitals, the beginning of the ids of its tenets and lenses.
    pub code: String,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Slugs of the domains whose tenets hold here too.
    pub parent_domains: Vec<String>,
    pub status: ItemStatus,
}

/// Holds in one domain and in those that inherit from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosTenet {
    /// Such as `FID-TN01`.
    pub id: String,
    /// Slug.
    pub domain: String,
    pub label: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    pub status: ItemStatus,
    pub priority: u32,
}

/// A selection from the tenets of a domain, own and inherited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosLens {
    /// Such as `FID-LN01`.
    pub id: String,
    /// Slug.
    pub domain: String,
    pub label: String,
    /// `None` includes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_tenets: Option<Vec<String>>,
    pub exclude_tenets: Vec<String>,
    pub priority_overrides: BTreeMap<String, u32>,
    pub status: ItemStatus,
}

/// One change of the library, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum LibraryChange {
    Principle(EthosPrinciple),
    Domain(EthosDomain),
    Tenet(EthosTenet),
    Lens(EthosLens),
    Deprecated {
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// All items, each list in the order of its ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosLibrary {
    pub principles: Vec<EthosPrinciple>,
    pub domains: Vec<EthosDomain>,
    pub tenets: Vec<EthosTenet>,
    pub lenses: Vec<EthosLens>,
}

impl EthosLibrary {
    /// Finds a domain by its slug or its code.
    pub fn find_domain(&self, name: &str) -> Option<&EthosDomain> {
        self.domains.iter().find(|domain| domain.slug == name || domain.code == name)
    }

    /// Like `find_domain`, with an error that lists the known ones.
    pub fn require_domain(&self, name: &str, field: &str) -> Result<&EthosDomain, ValidationError> {
        self.find_domain(name).ok_or_else(|| {
            ValidationError::new(
                ErrorCode::TargetNotFound,
                format!(
                    "there is no domain '{}'",
                    crate::dialogue::request_fields::truncate_echo(name)
                ),
            )
            .with_field(field)
            .with_value(name)
            .with_options(self.domains.iter().map(|domain| &domain.slug))
            .with_suggestion("`plenary ethos domain list` shows the domains")
        })
    }

    /// An active principle with the same text, apart from capitals and spaces.
    pub fn find_twin(&self, other: &EthosPrinciple) -> Option<&EthosPrinciple> {
        let plain = |text: &str| to_one_line(text).to_lowercase();
        let says = |one: &EthosPrinciple| (plain(&one.label), plain(&one.description));
        let printed = says(other);
        let mut active = self.principles.iter().filter(|one| one.status == ItemStatus::Active);
        active.find(|one| says(one) == printed)
    }

    /// Finds a lens of a domain by its id, with or without the code of the domain.
    pub fn find_lens(&self, domain: &EthosDomain, name: &str) -> Option<&EthosLens> {
        let whole = format!("{}-{name}", domain.code);
        let fits = |lens: &&EthosLens| lens.id == name || lens.id == whole;
        self.lenses.iter().filter(|lens| lens.domain == domain.slug).find(fits)
    }

    /// The active tenets of a domain and of the active domains that it inherits from. A tenet that
    /// two paths lead to is there once.
    pub fn inherited_tenets(&self, slug: &str) -> Result<Vec<&EthosTenet>, ValidationError> {
        let lineage = self.lineage_of(slug)?;
        let is_in_force = |tenet: &&EthosTenet| {
            tenet.status == ItemStatus::Active && lineage.contains(tenet.domain.as_str())
        };
        Ok(self.tenets.iter().filter(is_in_force).collect())
    }

    /// The domain and all active domains above it.
    ///
    /// # Errors
    /// A cycle, with its path, and more levels than [`PARENT_LEVELS_MAX`].
    pub fn lineage_of(&self, slug: &str) -> Result<BTreeSet<&str>, ValidationError> {
        let mut found = BTreeSet::new();
        self.climb_parents(slug, &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    fn climb_parents<'a>(
        &'a self,
        slug: &str,
        path: &mut Vec<&'a str>,
        found: &mut BTreeSet<&'a str>,
    ) -> Result<(), ValidationError> {
        let Some(domain) = self.domains.iter().find(|domain| domain.slug == slug) else {
            return Ok(());
        };
        if let Some(start) = path.iter().position(|above| *above == domain.slug) {
            let cycle = path.iter().skip(start).copied().chain([domain.slug.as_str()]);
            return Err(domain_cycle(&cycle.collect::<Vec<_>>()));
        }
        if path.len() > PARENT_LEVELS_MAX {
            return Err(too_many_levels(path.first().copied().unwrap_or(slug)));
        }
        // A deprecated domain gives nothing to those below it.
        if domain.status != ItemStatus::Active && !path.is_empty() {
            return Ok(());
        }
        path.push(&domain.slug);
        for parent in &domain.parent_domains {
            self.climb_parents(parent, path, found)?;
        }
        path.pop();
        found.insert(&domain.slug);
        Ok(())
    }

    /// Applies a change, as the store does.
    pub fn apply_change(&mut self, change: &LibraryChange) {
        match change {
            LibraryChange::Principle(principle) => self.principles.push(principle.clone()),
            LibraryChange::Domain(domain) => self.domains.push(domain.clone()),
            LibraryChange::Tenet(tenet) => self.tenets.push(tenet.clone()),
            LibraryChange::Lens(lens) => self.lenses.push(lens.clone()),
            LibraryChange::Deprecated { id, .. } => {
                if let Some(status) = self.find_status(id) {
                    *status = ItemStatus::Deprecated;
                }
            }
        }
    }

    /// The status of the item with this id.
    pub(crate) fn find_status(&mut self, id: &str) -> Option<&mut ItemStatus> {
        let principles = self.principles.iter_mut().map(|item| (&item.id, &mut item.status));
        let domains = self.domains.iter_mut().map(|item| (&item.slug, &mut item.status));
        let tenets = self.tenets.iter_mut().map(|item| (&item.id, &mut item.status));
        let lenses = self.lenses.iter_mut().map(|item| (&item.id, &mut item.status));
        let mut all = principles.chain(domains).chain(tenets).chain(lenses);
        all.find(|(known, _)| *known == id).map(|(_, status)| status)
    }
}

fn domain_cycle(path: &[&str]) -> ValidationError {
    let message = format!("domains inherit from each other in a circle: {}", path.join(" → "));
    ValidationError::new(ErrorCode::DomainCycle, message)
        .with_field("parent_domains")
        .with_context(serde_json::json!({ "path": path }))
}

fn too_many_levels(slug: &str) -> ValidationError {
    let message = format!("domain '{slug}' has more than {PARENT_LEVELS_MAX} levels of parents");
    ValidationError::new(ErrorCode::FieldTooLong, message)
        .with_field("parent_domains")
        .with_value(slug)
        .with_suggestion("inherit from a domain that is higher in the tree")
}
