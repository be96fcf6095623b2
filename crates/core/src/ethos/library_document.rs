//! The library as one document, to import and to export.
//!
//! An import adds what is missing. An item that is there and equal stays; an item that differs from
//! the one with its id is refused, because an id never changes its meaning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ethos::authoring::{check_domain, check_lens, next_number};
use crate::ethos::library::{
    EthosDomain, EthosLens, EthosLibrary, EthosPrinciple, EthosTenet, ItemStatus, LibraryChange,
    PRIORITY_DEFAULT, PRIORITY_MAX,
};
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::validation_error::{ErrorCode, ValidationError};

/// Items of one document.
const DOCUMENT_ITEMS_MAX: usize = 5_000;

/// The document of `import` and `export`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryDocument {
    #[serde(default)]
    pub principles: Vec<DocumentRule>,
    #[serde(default)]
    pub domains: Vec<DocumentDomain>,
}

/// A principle or a tenet. Without an id it gets the next one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentRule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    label: String,
    description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
    #[serde(default = "default_priority")]
    priority: u32,
    #[serde(default = "active_status")]
    status: ItemStatus,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentDomain {
    slug: String,
    code: String,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default)]
    parent_domains: Vec<String>,
    #[serde(default = "active_status")]
    status: ItemStatus,
    #[serde(default)]
    tenets: Vec<DocumentRule>,
    #[serde(default)]
    lenses: Vec<DocumentLens>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentLens {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    include_tenets: Option<Vec<String>>,
    #[serde(default)]
    exclude_tenets: Vec<String>,
    #[serde(default)]
    priority_overrides: BTreeMap<String, u32>,
    #[serde(default = "active_status")]
    status: ItemStatus,
}

fn default_priority() -> u32 {
    PRIORITY_DEFAULT
}

fn active_status() -> ItemStatus {
    ItemStatus::Active
}

/// The library as a document, in the order of the ids.
pub fn export_library(library: &EthosLibrary) -> LibraryDocument {
    let rule = |tenet: &EthosTenet| DocumentRule {
        id: Some(tenet.id.clone()),
        label: tenet.label.clone(),
        description: tenet.description.clone(),
        rationale: tenet.rationale.clone(),
        priority: tenet.priority,
        status: tenet.status,
    };
    let lens = |lens: &EthosLens| DocumentLens {
        id: Some(lens.id.clone()),
        label: lens.label.clone(),
        include_tenets: lens.include_tenets.clone(),
        exclude_tenets: lens.exclude_tenets.clone(),
        priority_overrides: lens.priority_overrides.clone(),
        status: lens.status,
    };
    let domain = |domain: &EthosDomain| DocumentDomain {
        slug: domain.slug.clone(),
        code: domain.code.clone(),
        label: domain.label.clone(),
        description: domain.description.clone(),
        parent_domains: domain.parent_domains.clone(),
        status: domain.status,
        tenets: library.tenets.iter().filter(|t| t.domain == domain.slug).map(rule).collect(),
        lenses: library.lenses.iter().filter(|l| l.domain == domain.slug).map(lens).collect(),
    };
    LibraryDocument {
        principles: library
            .principles
            .iter()
            .map(|principle| DocumentRule {
                id: Some(principle.id.clone()),
                label: principle.label.clone(),
                description: principle.description.clone(),
                rationale: principle.rationale.clone(),
                priority: principle.priority,
                status: principle.status,
            })
            .collect(),
        domains: library.domains.iter().map(domain).collect(),
    }
}

/// Counts of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportCounts {
    pub principles: usize,
    pub domains: usize,
    pub tenets: usize,
    pub lenses: usize,
    /// Items that were there already.
    pub unchanged: usize,
}

/// What an import changes.
#[derive(Debug, PartialEq, Eq)]
pub struct ImportDecision {
    pub changes: Vec<LibraryChange>,
    pub counts: ImportCounts,
}

/// Reads a document and decides which items are new.
pub fn decide_import(
    document: &Value,
    library: &EthosLibrary,
) -> Result<ImportDecision, ValidationError> {
    let document: LibraryDocument = serde_json::from_value(document.clone())
        .map_err(|error| wrong_document(format!("the document cannot be read: {error}")))?;
    check_size(&document)?;
    let mut import = LibraryImport {
        library: library.clone(),
        decision: ImportDecision { changes: Vec::new(), counts: ImportCounts::default() },
    };
    for principle in document.principles {
        import.add_principle(principle)?;
    }
    for domain in &document.domains {
        import.add_domain(domain)?;
    }
    import.check_parents()?;
    for domain in &document.domains {
        for tenet in &domain.tenets {
            import.add_tenet(domain, tenet)?;
        }
    }
    for domain in &document.domains {
        for lens in &domain.lenses {
            import.add_lens(domain, lens)?;
        }
    }
    Ok(import.decision)
}

fn wrong_document(message: String) -> ValidationError {
    ValidationError::new(ErrorCode::InvalidType, message)
        .with_field("document")
        .with_suggestion("`plenary ethos export FILE.yaml` writes the form that import reads")
}

fn check_size(document: &LibraryDocument) -> Result<(), ValidationError> {
    let inner = document.domains.iter().map(|domain| 1 + domain.tenets.len() + domain.lenses.len());
    let items = document.principles.len() + inner.sum::<usize>();
    let too_long = |message: String| {
        ValidationError::new(ErrorCode::FieldTooLong, message).with_field("document")
    };
    if items > DOCUMENT_ITEMS_MAX {
        let message =
            format!("the document has {items} items, over the limit of {DOCUMENT_ITEMS_MAX}");
        return Err(too_long(message));
    }
    let rules = document.principles.iter().chain(document.domains.iter().flat_map(|d| &d.tenets));
    for rule in rules {
        if rule.label.trim().is_empty() || rule.description.trim().is_empty() {
            return Err(wrong_document("a label or a description is empty".to_owned()));
        }
        let is_long = rule.label.chars().count() > LINE_CHARS_MAX
            || rule.description.chars().count() > TEXT_CHARS_MAX;
        if is_long || rule.priority > PRIORITY_MAX {
            return Err(too_long(format!("the item '{:.40}' is over a limit", rule.label)));
        }
    }
    Ok(())
}

/// An import in progress: the library grows as items are added.
struct LibraryImport {
    library: EthosLibrary,
    decision: ImportDecision,
}

impl LibraryImport {
    fn push(&mut self, change: LibraryChange) {
        let counts = &mut self.decision.counts;
        let count = match &change {
            LibraryChange::Principle(_) => &mut counts.principles,
            LibraryChange::Domain(_) => &mut counts.domains,
            LibraryChange::Tenet(_) => &mut counts.tenets,
            LibraryChange::Lens(_) => &mut counts.lenses,
            LibraryChange::Deprecated { .. } => return,
        };
        *count += 1;
        self.library.apply_change(&change);
        self.decision.changes.push(change);
    }

    /// Whether an item is there already. One with the same id and another content is refused.
    fn is_known<T: PartialEq>(
        &mut self,
        id: &str,
        known: Option<&T>,
        new: &T,
    ) -> Result<bool, ValidationError> {
        match known {
            None => Ok(false),
            Some(known) if known == new => {
                self.decision.counts.unchanged += 1;
                Ok(true)
            }
            Some(_) => {
                let message = format!("'{id}' exists with another content, and ids never change");
                Err(ValidationError::new(ErrorCode::CodeTaken, message)
                    .with_field("document")
                    .with_value(id)
                    .with_suggestion(
                        "leave the id out to add a new item, and deprecate the old one",
                    ))
            }
        }
    }

    fn add_principle(&mut self, given: DocumentRule) -> Result<(), ValidationError> {
        let known = self.library.principles.iter().find(|known| match &given.id {
            Some(id) => known.id == *id,
            None => known.label == given.label && known.description == given.description,
        });
        let known = known.cloned();
        let ids = self.library.principles.iter().map(|known| &known.id);
        let id = match (&given.id, &known) {
            (Some(id), _) => id.clone(),
            (None, Some(known)) => known.id.clone(),
            (None, None) => format!("PR{:04}", next_number(ids, "PR")),
        };
        check_id(&id, "PR", 4)?;
        let principle = EthosPrinciple {
            id: id.clone(),
            label: given.label,
            description: given.description,
            rationale: given.rationale,
            status: given.status,
            priority: given.priority,
        };
        if !self.is_known(&id, known.as_ref(), &principle)? {
            self.push(LibraryChange::Principle(principle));
        }
        Ok(())
    }

    fn add_domain(&mut self, given: &DocumentDomain) -> Result<(), ValidationError> {
        let domain = EthosDomain {
            slug: given.slug.clone(),
            code: given.code.clone(),
            label: given.label.clone(),
            description: given.description.clone(),
            parent_domains: given.parent_domains.clone(),
            status: given.status,
        };
        let known = self.library.domains.iter().find(|known| known.slug == given.slug).cloned();
        if !self.is_known(&given.slug, known.as_ref(), &domain)? {
            check_domain(&domain, &self.library)?;
            self.push(LibraryChange::Domain(domain));
        }
        Ok(())
    }

    /// Parents may stand after their children, so they are checked when all domains are there.
    fn check_parents(&self) -> Result<(), ValidationError> {
        for domain in &self.library.domains {
            for parent in &domain.parent_domains {
                self.library.require_domain(parent, "parent_domains")?;
            }
            self.library.lineage_of(&domain.slug)?;
        }
        Ok(())
    }

    fn add_tenet(
        &mut self,
        domain: &DocumentDomain,
        given: &DocumentRule,
    ) -> Result<(), ValidationError> {
        let prefix = format!("{}-TN", domain.code);
        let known = self.library.tenets.iter().find(|known| match &given.id {
            Some(id) => known.id == *id,
            None => {
                known.domain == domain.slug
                    && known.label == given.label
                    && known.description == given.description
            }
        });
        let known = known.cloned();
        let ids = self.library.tenets.iter().map(|known| &known.id);
        let id = match (&given.id, &known) {
            (Some(id), _) => id.clone(),
            (None, Some(known)) => known.id.clone(),
            (None, None) => format!("{prefix}{:02}", next_number(ids, &prefix)),
        };
        check_id(&id, &prefix, 2)?;
        let tenet = EthosTenet {
            id: id.clone(),
            domain: domain.slug.clone(),
            label: given.label.clone(),
            description: given.description.clone(),
            rationale: given.rationale.clone(),
            status: given.status,
            priority: given.priority,
        };
        if !self.is_known(&id, known.as_ref(), &tenet)? {
            self.push(LibraryChange::Tenet(tenet));
        }
        Ok(())
    }

    fn add_lens(
        &mut self,
        domain: &DocumentDomain,
        given: &DocumentLens,
    ) -> Result<(), ValidationError> {
        let prefix = format!("{}-LN", domain.code);
        let known = self.library.lenses.iter().find(|known| match &given.id {
            Some(id) => known.id == *id,
            None => known.domain == domain.slug && known.label == given.label,
        });
        let known = known.cloned();
        let ids = self.library.lenses.iter().map(|known| &known.id);
        let id = match (&given.id, &known) {
            (Some(id), _) => id.clone(),
            (None, Some(known)) => known.id.clone(),
            (None, None) => format!("{prefix}{:02}", next_number(ids, &prefix)),
        };
        check_id(&id, &prefix, 2)?;
        let lens = EthosLens {
            id: id.clone(),
            domain: domain.slug.clone(),
            label: given.label.clone(),
            include_tenets: given.include_tenets.clone(),
            exclude_tenets: given.exclude_tenets.clone(),
            priority_overrides: given.priority_overrides.clone(),
            status: given.status,
        };
        if !self.is_known(&id, known.as_ref(), &lens)? {
            check_lens(&lens, &self.library)?;
            self.push(LibraryChange::Lens(lens));
        }
        Ok(())
    }
}

/// Refuses an id that is not the prefix and this many digits.
fn check_id(id: &str, prefix: &str, digits: usize) -> Result<(), ValidationError> {
    let number = id.strip_prefix(prefix).unwrap_or_default();
    if number.len() == digits && number.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(());
    }
    let message = format!("'{:.40}' is not an id such as {prefix}{:0digits$}", id, 1);
    Err(ValidationError::new(ErrorCode::InvalidDisplayId, message)
        .with_field("document")
        .with_value(id)
        .with_suggestion("leave the id out, and the item gets the next one"))
}
