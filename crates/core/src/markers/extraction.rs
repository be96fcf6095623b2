//! Result types of the extraction of one reply: what was read, and the warnings about the rest.

use std::fmt;

use serde::Serialize;

use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::{EntityKind, EntityTarget, ExpertSlug, LocalId};
use crate::model::string_enum::words;
use crate::model::text::to_one_line;
use crate::model::verdict::VerdictType;

/// Everything extracted from one reply.
#[derive(Debug, Clone)]
pub struct ReplyExtraction {
    pub expert: ExpertSlug,
    pub round: u8,
    pub contributions: Vec<EntityContribution>,
    pub moves: Vec<MoveContribution>,
    pub verdicts: Vec<VerdictDraft>,
    pub markers: Vec<ReplyMarker>,
    pub warnings: Vec<MarkerWarning>,
}

impl ReplyExtraction {
    pub fn of_kind(&self, kind: EntityKind) -> impl Iterator<Item = &EntityContribution> {
        self.contributions.iter().filter(move |contribution| contribution.local_id.kind == kind)
    }
}

/// An entity as marked by its expert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityContribution {
    pub local_id: LocalId,
    pub label: String,
    /// Text of the entity, without the parsed markers.
    pub text: String,
    pub references: Vec<MarkedReference>,
}

/// A reference of an entity, with the line of its marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarkedReference {
    #[serde(rename = "type")]
    pub ref_type: ReferenceType,
    pub target: EntityTarget,
    #[serde(skip)]
    pub line: usize,
}

/// A move as marked by its expert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoveContribution {
    #[serde(skip)]
    pub line: usize,
    #[serde(rename = "type")]
    pub move_type: MoveType,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<EntityTarget>,
    /// Topic of a request; for other moves, the expert's remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// A verdict that an expert proposes, with the fields of a `verdict` request that the reply
/// contains. The Judge names and registers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictDraft {
    pub verdict_type: VerdictType,
    pub round: u8,
    pub author_expert: ExpertSlug,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supporting_experts: Option<Vec<ExpertSlug>>,
}

/// A marker with its line, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplyMarker {
    pub line: usize,
    #[serde(flatten)]
    pub content: MarkerContent,
}

/// Parsed content of a marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "marker", rename_all = "snake_case")]
pub enum MarkerContent {
    Entity {
        /// The kind of the entity, written out.
        #[serde(rename = "type")]
        type_name: &'static str,
        id: LocalId,
        label: String,
    },
    Reference {
        #[serde(rename = "type")]
        ref_type: ReferenceType,
        #[serde(rename = "from")]
        source: LocalId,
        targets: Vec<EntityTarget>,
    },
    Move {
        #[serde(rename = "type")]
        move_type: MoveType,
        targets: Vec<EntityTarget>,
        #[serde(skip_serializing_if = "Option::is_none")]
        topic: Option<String>,
    },
    Verdict {
        #[serde(rename = "type")]
        verdict_type: VerdictType,
        label: Option<String>,
    },
}

impl MarkerContent {
    pub fn new_entity(id: LocalId, label: String) -> Self {
        Self::Entity { type_name: id.kind.type_name(), id, label }
    }
}

impl fmt::Display for MarkerContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entity { id, label, .. } => write!(f, "[{id}: {label}]"),
            Self::Reference { ref_type, targets, .. } => {
                let type_name = ref_type.name().to_ascii_uppercase();
                let each = targets.iter().map(|target| format!("[RE:{type_name} {target}]"));
                f.write_str(&each.collect::<Vec<_>>().join(" "))
            }
            Self::Move { move_type, targets, topic } => {
                write!(f, "[MOVE:{}", move_type.name().to_ascii_uppercase())?;
                targets.iter().try_for_each(|target| write!(f, " {target}"))?;
                topic.iter().try_for_each(|topic| write!(f, " {topic}"))?;
                f.write_str("]")
            }
            Self::Verdict { verdict_type, label } => {
                f.write_str(match verdict_type {
                    VerdictType::Interim => "[VERDICT:INTERIM",
                    VerdictType::Final => "[VERDICT:FINAL",
                    VerdictType::Minority => "[MINORITY VERDICT",
                    VerdictType::Dissent => "[DISSENT",
                })?;
                label.iter().try_for_each(|label| write!(f, ": {label}"))?;
                f.write_str("]")
            }
        }
    }
}

words! {
    /// Kind of a warning. Programs may branch on it.
    pub enum WarningKind {
        NearMiss = "near_miss",
        UntypedReference = "untyped_reference",
        NotRead = "not_read",
        NoContent = "no_content",
        NoMarkers = "no_markers",
        Cut = "cut",
        Elsewhere = "elsewhere",
        JudgesMarker = "judges_marker",
        OpenCodeBlock = "open_code_block",
        More = "more",
    }
}

words! {
    /// A deviation from the marker notation that is read with a warning.
    pub enum MarkerDeviation {
        LetterCase = "letter_case",
        ZeroPadding = "zero_padding",
        MissingPrefix = "missing_prefix",
        Colon = "colon",
        Emphasis = "emphasis",
        CodeFence = "code_fence",
        InlineCode = "inline_code",
        SeveralIds = "several_ids",
    }
}

impl MarkerDeviation {
    /// Returns a phrase for a warning message, listed after a colon.
    pub(crate) fn to_phrase(self) -> &'static str {
        match self {
            Self::LetterCase => "wrong letter case",
            Self::ZeroPadding => "zeros are missing in an id",
            Self::MissingPrefix => "an id lacks the expert's name",
            Self::Colon => "a dash instead of a colon",
            Self::Emphasis => "bold or italic",
            Self::CodeFence => "a code block around the whole reply",
            Self::InlineCode => "inline code",
            Self::SeveralIds => "several ids in one marker",
        }
    }
}

/// A warning about one line or the whole reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarkerWarning {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(rename = "type")]
    pub kind: WarningKind,
    pub message: String,
    /// Deviations of the marker from the exact notation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slips: Vec<MarkerDeviation>,
}

impl MarkerWarning {
    pub fn new(line: impl Into<Option<usize>>, kind: WarningKind, message: String) -> Self {
        Self { line: line.into(), kind, message, slips: Vec::new() }
    }

    pub(crate) fn not_read(line: usize, written: &str, reason: &str) -> Self {
        let message = format!("`{}` is not read: {reason}", shorten_marker(written));
        Self::new(line, WarningKind::NotRead, message)
    }

    /// Warns about a marker that was read despite deviations.
    pub(crate) fn near_miss(
        line: usize,
        written: &str,
        content: &MarkerContent,
        slips: Vec<MarkerDeviation>,
    ) -> Self {
        let phrases: Vec<&str> = slips.iter().map(|slip| slip.to_phrase()).collect();
        let message =
            format!("`{}` is read as {content}: {}", shorten_marker(written), phrases.join(", "));
        Self { line: Some(line), kind: WarningKind::NearMiss, message, slips }
    }
}

/// Sorts the warnings by line, those about the whole reply first, and keeps the first thousand.
pub(crate) fn sort_warnings(mut warnings: Vec<MarkerWarning>) -> Vec<MarkerWarning> {
    const WARNINGS_MAX: usize = 1_000;
    warnings.sort_by_key(|warning| warning.line);
    let more = warnings.len().saturating_sub(WARNINGS_MAX);
    if more > 0 {
        warnings.truncate(WARNINGS_MAX);
        let message = format!("there are {more} further warnings");
        warnings.push(MarkerWarning::new(None, WarningKind::More, message));
    }
    warnings
}

/// Returns the beginning of a marker on one line, enough to find it in the text.
fn shorten_marker(written: &str) -> String {
    const WRITTEN_CHARS_MAX: usize = 80;
    let mut signs = written.chars();
    let start: String = signs.by_ref().take(WRITTEN_CHARS_MAX).collect();
    let end = if signs.next().is_some() { "…" } else { "" };
    format!("{}{end}", to_one_line(&start))
}
