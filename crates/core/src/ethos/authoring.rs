//! Adds items to the library and constraints to a dialogue: the requests, their rules, and the ids.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::dialogue::request::OperationRequest;
use crate::dialogue::request_fields::truncate_echo;
use crate::ethos::library::{
    CONSTRAINT_PRIORITY_DEFAULT, EthosDomain, EthosLens, EthosLibrary, EthosPrinciple, EthosTenet,
    ItemStatus, LibraryChange, PRIORITY_DEFAULT, PRIORITY_MAX,
};
use crate::ethos::rule_set::{ConstraintSource, EthosConstraint};
use crate::model::ids::DialogueId;
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::string_enum::word_schema;
use crate::model::validation_error::{ErrorCode, ValidationError};

/// Four digits of an id number the principles.
const PRINCIPLES_MAX: usize = 9_999;

/// Two digits of an id number tenets, lenses and constraints.
const NUMBERED_MAX: usize = 99;

/// A domain's slug is part of file names.
const DOMAIN_SLUG_BYTES_MAX: usize = 60;

/// Arguments of `principle_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct PrincipleAddRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    label: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    description: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    rationale: Option<String>,
    #[schemars(range(max = PRIORITY_MAX))]
    priority: Option<u32>,
}

/// Arguments of `domain_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct DomainAddRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    slug: String,
    /// Three capitals.
    #[schemars(length(max = LINE_CHARS_MAX))]
    code: String,
    #[schemars(length(max = LINE_CHARS_MAX))]
    label: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    description: Option<String>,
    #[serde(default)]
    #[schemars(inner(length(max = LINE_CHARS_MAX)))]
    parent_domains: Vec<String>,
}

/// Arguments of `tenet_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct TenetAddRequest {
    /// Slug.
    #[schemars(length(max = LINE_CHARS_MAX))]
    domain: String,
    #[schemars(length(max = LINE_CHARS_MAX))]
    label: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    description: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    rationale: Option<String>,
    #[schemars(range(max = PRIORITY_MAX))]
    priority: Option<u32>,
}

/// Arguments of `lens_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct LensAddRequest {
    /// Slug.
    #[schemars(length(max = LINE_CHARS_MAX))]
    domain: String,
    #[schemars(length(max = LINE_CHARS_MAX))]
    label: String,
    #[schemars(inner(length(max = LINE_CHARS_MAX)))]
    include_tenets: Option<Vec<String>>,
    #[serde(default)]
    #[schemars(inner(length(max = LINE_CHARS_MAX)))]
    exclude_tenets: Vec<String>,
    /// {tenet: priority}
    #[serde(default)]
    #[schemars(schema_with = "overrides_schema")]
    priority_overrides: BTreeMap<String, u32>,
}

fn overrides_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// Arguments of `constraint_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct ConstraintAddRequest {
    pub dialogue_id: DialogueId,
    #[schemars(length(max = LINE_CHARS_MAX))]
    label: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    description: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "word_schema::<ConstraintSource>")]
    source: Option<ConstraintSource>,
    #[schemars(length(max = LINE_CHARS_MAX))]
    source_detail: Option<String>,
    #[schemars(range(max = PRIORITY_MAX))]
    priority: Option<u32>,
}

/// Arguments of `deprecate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct DeprecateRequest {
    /// Of a principle, domain, tenet or lens.
    #[schemars(length(max = LINE_CHARS_MAX))]
    pub id: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    pub reason: Option<String>,
}

impl OperationRequest for PrincipleAddRequest {}
impl OperationRequest for DomainAddRequest {}
impl OperationRequest for TenetAddRequest {}
impl OperationRequest for LensAddRequest {}
impl OperationRequest for ConstraintAddRequest {}
impl OperationRequest for DeprecateRequest {}

/// The next free number behind a prefix. Numbers of deprecated items count: ids are never reused.
pub(crate) fn next_number<'a>(ids: impl Iterator<Item = &'a String>, prefix: &str) -> usize {
    let numbers = ids.filter_map(|id| id.strip_prefix(prefix)?.parse::<usize>().ok());
    numbers.max().unwrap_or(0) + 1
}

fn check_capacity(number: usize, max: usize, what: &str) -> Result<(), ValidationError> {
    if number <= max {
        return Ok(());
    }
    let message = format!("there are already {max} {what}, and their ids are never used again");
    Err(ValidationError::new(ErrorCode::FieldTooLong, message)
        .with_suggestion("use a domain of its own for the rest"))
}

impl PrincipleAddRequest {
    pub fn decide_principle(
        self,
        library: &EthosLibrary,
    ) -> Result<EthosPrinciple, ValidationError> {
        let number = next_number(library.principles.iter().map(|known| &known.id), "PR");
        check_capacity(number, PRINCIPLES_MAX, "principles")?;
        Ok(EthosPrinciple {
            id: format!("PR{number:04}"),
            label: self.label,
            description: self.description,
            rationale: self.rationale,
            status: ItemStatus::Active,
            priority: self.priority.unwrap_or(PRIORITY_DEFAULT),
        })
    }
}

impl DomainAddRequest {
    pub fn decide_domain(self, library: &EthosLibrary) -> Result<EthosDomain, ValidationError> {
        let mut parents = Vec::new();
        for name in &self.parent_domains {
            // A domain that is its own parent is a circle, and not unknown.
            let parent = match *name == self.slug {
                true => self.slug.clone(),
                false => library.require_domain(name, "parent_domains")?.slug.clone(),
            };
            if !parents.contains(&parent) {
                parents.push(parent);
            }
        }
        let domain = EthosDomain {
            slug: self.slug,
            code: self.code,
            label: self.label,
            description: self.description,
            parent_domains: parents,
            status: ItemStatus::Active,
        };
        check_domain(&domain, library)?;
        let mut grown = library.clone();
        grown.domains.push(domain.clone());
        grown.lineage_of(&domain.slug)?;
        Ok(domain)
    }
}

/// Refuses a slug or code that is malformed or taken.
pub(crate) fn check_domain(
    domain: &EthosDomain,
    library: &EthosLibrary,
) -> Result<(), ValidationError> {
    let EthosDomain { slug, code, .. } = domain;
    let is_slug = (1..=DOMAIN_SLUG_BYTES_MAX).contains(&slug.len())
        && slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && slug.starts_with(|first: char| first.is_ascii_lowercase());
    if !is_slug {
        let message = format!("slug '{}' is not the name of a domain", truncate_echo(slug));
        return Err(ValidationError::new(ErrorCode::InvalidSlug, message)
            .with_field("slug")
            .with_value(slug.as_str())
            .with_suggestion("write lower-case letters, digits and '-': fiduciary-investment"));
    }
    if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_uppercase()) {
        let message = format!("code '{}' is not three capital letters", truncate_echo(code));
        return Err(ValidationError::new(ErrorCode::InvalidSlug, message)
            .with_field("code")
            .with_value(code.as_str())
            .with_suggestion("write three capitals: FID"));
    }
    let taken = |field: &str, value: &str, owner: &str| {
        let message = format!("{field} '{value}' belongs to the domain '{owner}'");
        ValidationError::new(ErrorCode::CodeTaken, message).with_field(field).with_value(value)
    };
    match library.domains.iter().find(|known| known.slug == *slug || known.code == *code) {
        Some(known) if known.slug == *slug => Err(taken("slug", slug, &known.slug)),
        Some(known) => Err(taken("code", code, &known.slug)),
        None => Ok(()),
    }
}

impl TenetAddRequest {
    pub fn decide_tenet(self, library: &EthosLibrary) -> Result<EthosTenet, ValidationError> {
        let domain = library.require_domain(&self.domain, "domain")?;
        let prefix = format!("{}-TN", domain.code);
        let number = next_number(library.tenets.iter().map(|known| &known.id), &prefix);
        check_capacity(number, NUMBERED_MAX, "tenets in this domain")?;
        Ok(EthosTenet {
            id: format!("{prefix}{number:02}"),
            domain: domain.slug.clone(),
            label: self.label,
            description: self.description,
            rationale: self.rationale,
            status: ItemStatus::Active,
            priority: self.priority.unwrap_or(PRIORITY_DEFAULT),
        })
    }
}

impl LensAddRequest {
    pub fn decide_lens(self, library: &EthosLibrary) -> Result<EthosLens, ValidationError> {
        let domain = library.require_domain(&self.domain, "domain")?;
        let prefix = format!("{}-LN", domain.code);
        let number = next_number(library.lenses.iter().map(|known| &known.id), &prefix);
        check_capacity(number, NUMBERED_MAX, "lenses of this domain")?;
        let lens = EthosLens {
            id: format!("{prefix}{number:02}"),
            domain: domain.slug.clone(),
            label: self.label,
            include_tenets: self.include_tenets,
            exclude_tenets: self.exclude_tenets,
            priority_overrides: self.priority_overrides,
            status: ItemStatus::Active,
        };
        check_lens(&lens, library)?;
        Ok(lens)
    }
}

/// Refuses tenets that the domain of the lens does not have, own or inherited.
pub(crate) fn check_lens(lens: &EthosLens, library: &EthosLibrary) -> Result<(), ValidationError> {
    let lineage = library.lineage_of(&lens.domain)?;
    let known = library.tenets.iter().filter(|tenet| lineage.contains(tenet.domain.as_str()));
    let known: Vec<&String> = known.map(|tenet| &tenet.id).collect();
    let lists = [
        ("include_tenets", lens.include_tenets.iter().flatten().collect::<Vec<_>>()),
        ("exclude_tenets", lens.exclude_tenets.iter().collect()),
        ("priority_overrides", lens.priority_overrides.keys().collect()),
    ];
    for (field, ids) in lists {
        if let Some(unknown) = ids.into_iter().find(|id| !known.contains(id)) {
            let message = format!(
                "the domain '{}' neither has nor inherits a tenet '{}'",
                lens.domain,
                truncate_echo(unknown)
            );
            return Err(ValidationError::new(ErrorCode::TargetNotFound, message)
                .with_field(field)
                .with_value(unknown.as_str())
                .with_options(known)
                .with_suggestion("`plenary ethos tenet list` shows the tenets"));
        }
    }
    Ok(())
}

impl ConstraintAddRequest {
    pub fn decide_constraint(
        self,
        known: &[EthosConstraint],
    ) -> Result<EthosConstraint, ValidationError> {
        number_constraint(
            EthosConstraint {
                id: String::new(),
                label: self.label,
                description: self.description,
                source: self.source.unwrap_or(ConstraintSource::Authored),
                source_detail: self.source_detail,
                priority: self.priority.unwrap_or(CONSTRAINT_PRIORITY_DEFAULT),
            },
            known,
        )
    }
}

/// Gives a constraint the next id of its dialogue.
pub fn number_constraint(
    constraint: EthosConstraint,
    known: &[EthosConstraint],
) -> Result<EthosConstraint, ValidationError> {
    let number = next_number(known.iter().map(|known| &known.id), "CN");
    check_capacity(number, NUMBERED_MAX, "constraints in this dialogue")?;
    Ok(EthosConstraint { id: format!("CN{number:02}"), ..constraint })
}

/// A constraint with the defaults, such as a user types on the command line.
pub fn plain_constraint(label: &str, source: ConstraintSource) -> EthosConstraint {
    EthosConstraint {
        id: String::new(),
        label: label.to_owned(),
        description: None,
        source,
        source_detail: None,
        priority: CONSTRAINT_PRIORITY_DEFAULT,
    }
}

impl DeprecateRequest {
    /// Refuses an id that does not exist or is deprecated already.
    pub fn decide_deprecation(
        self,
        library: &EthosLibrary,
    ) -> Result<LibraryChange, ValidationError> {
        let mut known = library.clone();
        let shown = truncate_echo(&self.id);
        match known.find_status(&self.id).map(|status| *status) {
            Some(ItemStatus::Draft | ItemStatus::Active) => {
                Ok(LibraryChange::Deprecated { id: self.id, reason: self.reason })
            }
            Some(ItemStatus::Deprecated) => {
                let message = format!("'{shown}' is deprecated already");
                Err(ValidationError::new(ErrorCode::InvalidStatusTransition, message)
                    .with_field("id")
                    .with_value(self.id)
                    .with_suggestion("`plenary ethos` shows the status of each item"))
            }
            None => {
                let message = format!("there is no principle, domain, tenet or lens '{shown}'");
                Err(ValidationError::new(ErrorCode::TargetNotFound, message)
                    .with_field("id")
                    .with_value(self.id)
                    .with_suggestion("`plenary ethos` lists the ids"))
            }
        }
    }
}
