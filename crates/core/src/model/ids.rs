//! Ids of dialogues, experts, entities and verdicts, and the targets of requests.
//!
//! An entity has two ids: the local one that its expert wrote (`MUFFIN-P0101`) and the global one
//! that registration assigns (`P0101`).
//!
//! **Invariant:** an assigned id never changes its meaning. Values of these types are well formed;
//! text becomes an id only through `FromStr`.

use std::fmt;
use std::str::FromStr;

use crate::model::limits::{EXPERT_SLUG_BYTES_MAX, ITEMS_PER_ROUND_MAX, ROUND_MAX};
use crate::model::string_enum::{schema_by_text, serde_by_text, text_id, words};

/// Error for a text that does not parse as the requested type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedText;

words! {
    /// The five kinds of entity, by the first letter of their ids.
    pub enum EntityKind {
        Perspective = "P",
        Recommendation = "R",
        Tension = "T",
        Evidence = "E",
        Claim = "C",
    }
}

impl EntityKind {
    /// The kind in lower case, in headings, and as the name of its section.
    fn names(self) -> [&'static str; 3] {
        match self {
            Self::Perspective => ["perspective", "Perspective", "perspectives"],
            Self::Recommendation => ["recommendation", "Recommendation", "recommendations"],
            Self::Tension => ["tension", "Tension", "tensions"],
            Self::Evidence => ["evidence", "Evidence", "evidence"],
            Self::Claim => ["claim", "Claim", "claims"],
        }
    }

    /// Value of `item_type` in errors and in the actions of an export.
    pub fn type_name(self) -> &'static str {
        let [type_name, _, _] = self.names();
        type_name
    }

    /// Form for headings and the start of a sentence.
    pub fn title_case(self) -> &'static str {
        let [_, title_case, _] = self.names();
        title_case
    }

    /// Name of the text field: `description` for a tension, `content` for the others.
    pub fn text_field(self) -> &'static str {
        if self == Self::Tension { "description" } else { "content" }
    }

    /// Name of the field in a batch and of the section in an export.
    pub fn section_name(self) -> &'static str {
        let [_, _, section_name] = self.names();
        section_name
    }
}

/// A global id such as `P0102`: kind, origin round, number within the round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityId {
    pub kind: EntityKind,
    pub round: u8,
    pub seq: u8,
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        let digits = [self.round / 10 % 10, self.round % 10, self.seq / 10 % 10, self.seq % 10];
        let digits = digits.map(|digit| b'0' + digit);
        f.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl FromStr for EntityId {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        let [letter, digits @ ..] = text.as_bytes() else { return Err(MalformedText) };
        let &[a, b, c, d] = digits else { return Err(MalformedText) };
        let kind = std::str::from_utf8(std::slice::from_ref(letter))
            .ok()
            .and_then(EntityKind::named)
            .ok_or(MalformedText)?;
        let (round, seq) = (parse_two_digits(a, b)?, parse_two_digits(c, d)?);
        if seq == 0 { Err(MalformedText) } else { Ok(Self { kind, round, seq }) }
    }
}

serde_by_text!(EntityId);
schema_by_text!(EntityId, "entity id");

fn parse_two_digits(tens: u8, ones: u8) -> Result<u8, MalformedText> {
    if tens.is_ascii_digit() && ones.is_ascii_digit() {
        Ok((tens - b'0') * 10 + (ones - b'0'))
    } else {
        Err(MalformedText)
    }
}

/// An expert's own id for an entity, for example `MUFFIN-P0101`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId {
    pub expert: ExpertSlug,
    pub kind: EntityKind,
    pub round: u8,
    pub seq: u8,
}

impl fmt::Display for LocalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, round, seq, .. } = *self;
        let expert = self.expert.as_str().to_ascii_uppercase();
        write!(f, "{expert}-{}", EntityId { kind, round, seq })
    }
}

impl FromStr for LocalId {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        let (expert, id) = text.rsplit_once('-').ok_or(MalformedText)?;
        if expert.bytes().any(|byte| byte.is_ascii_lowercase()) {
            return Err(MalformedText);
        }
        let expert = expert.to_ascii_lowercase().parse()?;
        let EntityId { kind, round, seq } = id.parse()?;
        Ok(Self { expert, kind, round, seq })
    }
}

serde_by_text!(LocalId);
schema_by_text!(LocalId, "local id");

/// The facilitator signs with this name, so no expert may have it.
pub const JUDGE_SLUG: &str = "judge";

text_id! {
    /// Name of an expert within a dialogue, for example `muffin`.
    pub struct ExpertSlug; "expert_slug", |text| {
        text.len() <= EXPERT_SLUG_BYTES_MAX
            && text.starts_with(|letter: char| letter.is_ascii_lowercase())
            && text.bytes().all(|b| is_slug_byte(b) || b == b'_')
            && text != JUDGE_SLUG
    }
}

impl ExpertSlug {
    /// Capitalises the name: `muffin` becomes `Muffin`.
    pub fn display_name(&self) -> String {
        let mut letters = self.0.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        })
    }
}

fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// The author of an event: an expert of the dialogue, or its facilitator.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventActor {
    Judge,
    Expert(ExpertSlug),
}

impl fmt::Display for EventActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Judge => f.pad(JUDGE_SLUG),
            Self::Expert(slug) => slug.fmt(f),
        }
    }
}

impl FromStr for EventActor {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        if text == JUDGE_SLUG { Ok(Self::Judge) } else { text.parse().map(Self::Expert) }
    }
}

serde_by_text!(EventActor);
schema_by_text!(EventActor, "actor");

/// Fits a slug of 60 bytes, a hyphen and eight hex digits, with spare bytes.
const DIALOGUE_ID_BYTES_MAX: usize = 80;

text_id! {
    /// Name of a dialogue, derived from its title: `nvidia-investment-decision`.
    pub struct DialogueId; "dialogue_id", |text| {
        (1..=DIALOGUE_ID_BYTES_MAX).contains(&text.len())
            && text.bytes().all(is_slug_byte)
            && !text.starts_with('-')
    }
}

/// Length of the random suffix of an id.
const HEX_DIGITS: usize = 8;

impl DialogueId {
    /// The hex digits at the end of the id, if it has them.
    pub fn hex_digits(&self) -> Option<&str> {
        let (_, digits) = self.0.rsplit_once('-')?;
        (digits.len() == HEX_DIGITS && is_hex(digits)).then_some(digits)
    }
}

/// Fewer digits than this are not looked up: too many ids begin with them.
const HEX_DIGITS_MIN: usize = 4;

/// How a person names a dialogue without its whole id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogueAlias {
    /// `latest` or `latest~2`: the newest dialogue, or one this many places before it.
    Newest { back: usize },
    /// The beginning of the id, or of its hex digits.
    Beginning { of_id: Option<String>, of_digits: Option<String> },
}

impl DialogueAlias {
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("latest") {
            let back = match rest.strip_prefix('~') {
                Some(number) => number.parse().ok(),
                None => rest.is_empty().then_some(0),
            };
            if let Some(back) = back {
                return Some(Self::Newest { back });
            }
        }
        let of_id = text.parse::<DialogueId>().ok().map(|id| id.0);
        let is_digits = (HEX_DIGITS_MIN..=HEX_DIGITS).contains(&text.len()) && is_hex(text);
        let of_digits = is_digits.then(|| text.to_ascii_lowercase());
        let is_any = of_id.is_some() || of_digits.is_some();
        is_any.then_some(Self::Beginning { of_id, of_digits })
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const VERDICT_ID_BYTES_MAX: usize = 64;

text_id! {
    /// Name of a verdict within a dialogue: `final`, `V01`, `minority-esg`. It never parses as an
    /// entity id, because `reference` of an event may name either.
    pub struct VerdictId; "verdict_id", |text| {
        (1..=VERDICT_ID_BYTES_MAX).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
            && text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && text.parse::<EntityId>().is_err()
    }
}

/// What a conclusion cites: an entity, or a verdict such as a dissent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimSource {
    Entity(EntityId),
    Verdict(VerdictId),
}

impl fmt::Display for ClaimSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entity(id) => id.fmt(f),
            Self::Verdict(id) => id.fmt(f),
        }
    }
}

impl FromStr for ClaimSource {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        // A name of a verdict never parses as an entity.
        let entity = text.parse().map(Self::Entity);
        entity.or_else(|_| text.parse().map(Self::Verdict).map_err(|_| MalformedText))
    }
}

serde_by_text!(ClaimSource);

/// Returns the id of the `seq`-th item of a round, or `None` if the round is full.
pub fn new_entity_id(kind: EntityKind, round: u8, seq: usize) -> Option<EntityId> {
    let seq = u8::try_from(seq).ok().filter(|seq| (1..=ITEMS_PER_ROUND_MAX).contains(seq))?;
    (round <= ROUND_MAX).then_some(EntityId { kind, round, seq })
}

/// An entity id as the caller wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityTarget {
    Global(EntityId),
    Local(LocalId),
    /// An expert's position: their latest perspective.
    Position(ExpertSlug),
}

impl EntityTarget {
    /// The kind of entity that the target must have.
    pub fn entity_kind(&self) -> EntityKind {
        match self {
            Self::Global(id) => id.kind,
            Self::Local(id) => id.kind,
            Self::Position(_) => EntityKind::Perspective,
        }
    }
}

impl FromStr for EntityTarget {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        if let Some(expert) = text.strip_prefix('@') {
            return expert.parse().map(Self::Position);
        }
        text.parse().map(Self::Global).or_else(|_| text.parse().map(Self::Local))
    }
}

impl fmt::Display for EntityTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global(id) => id.fmt(f),
            Self::Local(id) => id.fmt(f),
            Self::Position(expert) => write!(f, "@{expert}"),
        }
    }
}

serde_by_text!(EntityTarget);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_ids_read_back() {
        for text in ["P0001", "R0102", "T0215", "E9999", "C0010"] {
            assert_eq!(text.parse::<EntityId>().map(|id| id.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_not_a_display_id_is_refused() {
        for text in
            ["", "P", "P001", "P00001", "p0001", "X0001", "P0000", "P-101", "P01０1", "P 101"]
        {
            assert_eq!(text.parse::<EntityId>(), Err(MalformedText), "text: {text}");
        }
    }

    #[test]
    fn local_ids_carry_their_expert() {
        let id: LocalId = "OPS_LEAD-2-T0107".parse().unwrap();
        assert_eq!(
            (id.expert.as_str(), id.kind, id.round, id.seq),
            ("ops_lead-2", EntityKind::Tension, 1, 7)
        );
        assert_eq!(id.to_string(), "OPS_LEAD-2-T0107");
        for text in
            ["muffin-P0101", "Muffin-P0101", "MUFFINP0101", "-P0101", "MUFFIN-X0101", "JUDGE-P0101"]
        {
            assert_eq!(text.parse::<LocalId>(), Err(MalformedText), "text: {text}");
        }
    }

    #[test]
    fn names_keep_to_their_alphabet() {
        let long = "a".repeat(33);
        for slug in
            ["", "9lives", "Muffin", "muf fin", "müffin", "judge", "a/b", "..", long.as_str()]
        {
            assert_eq!(slug.parse::<ExpertSlug>(), Err(MalformedText), "slug: {slug}");
        }
        for id in ["", "../x", "a/b", "A", "-a", "a\0", "ａ"] {
            assert_eq!(id.parse::<DialogueId>(), Err(MalformedText), "id: {id}");
        }
        for id in ["", "P0101", "-final", "a b", "x\n"] {
            assert_eq!(id.parse::<VerdictId>(), Err(MalformedText), "id: {id}");
        }
    }

    #[track_caller]
    fn check_alias(text: &str, expected: &Option<DialogueAlias>) {
        assert_eq!(DialogueAlias::parse(text), *expected, "{text}");
    }

    #[test]
    fn a_dialogue_is_named_by_its_place_or_by_the_beginning_of_its_id() {
        let newest = |back| Some(DialogueAlias::Newest { back });
        let beginning = |id: Option<&str>, digits: Option<&str>| {
            let [of_id, of_digits] = [id, digits].map(|text| text.map(str::to_owned));
            Some(DialogueAlias::Beginning { of_id, of_digits })
        };
        check_alias("latest", &newest(0));
        check_alias("latest~2", &newest(2));
        check_alias("latest~x", &None);
        check_alias("latest-news", &beginning(Some("latest-news"), None));
        check_alias("1a2b", &beginning(Some("1a2b"), Some("1a2b")));
        check_alias("1A2B3C4D", &beginning(None, Some("1a2b3c4d")));
        check_alias("1a2", &beginning(Some("1a2"), None));
        check_alias("tea", &beginning(Some("tea"), None));
        check_alias("../x", &None);
    }

    #[test]
    fn only_eight_hex_digits_after_a_hyphen_are_the_digits_of_an_id() {
        let digits = |id: &str| id.parse::<DialogueId>().unwrap().hex_digits().map(str::to_owned);
        assert_eq!(digits("tea-or-coffee-1a2b3c4d"), Some("1a2b3c4d".to_owned()));
        for id in ["tea", "1a2b3c4d", "tea-1a2b3c4", "tea-1a2b3c4g"] {
            assert_eq!(digits(id), None, "{id}");
        }
    }

    #[test]
    fn a_round_holds_ninety_nine_of_a_kind() {
        assert_eq!(
            new_entity_id(EntityKind::Claim, 99, 99).map(|id| id.to_string()),
            Some("C9999".into())
        );
        assert_eq!(new_entity_id(EntityKind::Claim, 0, 100), None);
        assert_eq!(new_entity_id(EntityKind::Claim, 100, 1), None);
    }
}
