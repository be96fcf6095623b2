//! `expert_create`: adds an expert during a dialogue. Also parses the expert fields that pools
//! share.

use serde_json::Value;

use super::faults::{closed, out_of_order, read_dialogue_id};
use super::fields::{Fields, cut};
use super::notes::Notes;
use super::warning::Warning;
use crate::domain::change::Change;
use crate::domain::dialogue::Dialogue;
use crate::domain::expert::{Profile, Source, Tier};
use crate::domain::facts::Facts;
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::limits::{
    EXPERT_SLUG_BYTES_MAX, EXPERTS_MAX, LINE_CHARS_MAX, ROUND_MAX, TEXT_CHARS_MAX,
};
use crate::domain::refusal::{Code, Fault, Refusal};

/// Parsed arguments of `expert_create`.
#[derive(Debug)]
pub struct Request {
    pub dialogue_id: DialogueId,
    profile: Profile,
}

const FIELDS: [&str; 11] = [
    "dialogue_id",
    "expert_slug",
    "role",
    "tier",
    "reason",
    "description",
    "focus",
    "relevance",
    "color",
    "mandate",
    "first_round",
];

pub fn read(arguments: &Value) -> Result<(Request, Vec<Warning>), Refusal> {
    let fields = Fields::of_arguments(arguments)?;
    let mut notes = Notes::default();
    fields.expect_only(&FIELDS, &mut notes);
    let dialogue_id = read_dialogue_id(&fields, &mut notes);
    let slug = fields
        .required_text("expert_slug", LINE_CHARS_MAX, &mut notes)
        .and_then(|text| read_slug(&fields, "expert_slug", &text, &mut notes));
    let creation_reason = fields.required_text("reason", TEXT_CHARS_MAX, &mut notes);
    let mandate = fields.text("mandate", TEXT_CHARS_MAX, &mut notes);
    let first_round = fields.integer("first_round", 0..=i64::from(ROUND_MAX), &mut notes);
    let first_round = first_round.and_then(|round| u8::try_from(round).ok());
    let traits = read_traits(&fields, &mut notes);
    let request = || {
        let source = Source::Created;
        let named = traits?.named(slug?);
        let profile = Profile { source, creation_reason, mandate, first_round, ..named };
        Some(Request { dialogue_id: dialogue_id?, profile })
    };
    let request = request();
    notes.settle(request)
}

pub fn decide(
    request: &Request,
    dialogue: &Dialogue,
    facts: &Facts,
) -> Result<(Profile, Vec<Change>), Refusal> {
    let slug = &request.profile.expert_slug;
    if dialogue.status.is_closed() {
        return Err(closed(dialogue).into());
    }
    if facts.expert(slug.as_str()).is_some() {
        let message = format!("expert '{slug}' is already in dialogue '{}'", dialogue.id());
        return Err(Fault::new(Code::ExpertExists, message)
            .field("expert_slug")
            .value(slug.as_str())
            .suggest("choose another slug")
            .into());
    }
    if facts.experts.len() >= EXPERTS_MAX {
        let message = format!("a dialogue has at most {EXPERTS_MAX} experts");
        return Err(Fault::new(Code::FieldTooLong, message).field("expert_slug").into());
    }
    let next = dialogue.next_round();
    let first_round = request.profile.first_round.unwrap_or(next);
    if let Some(fault) = out_of_order(u16::from(next), dialogue) {
        return Err(fault.into());
    }
    if first_round < next {
        let message = format!("first_round {first_round} is over; the next round is {next}");
        return Err(Fault::new(Code::InvalidRound, message).field("first_round").into());
    }
    let profile = Profile { first_round: Some(first_round), ..request.profile.clone() };
    Ok((profile.clone(), vec![Change::ExpertAdded(profile)]))
}

/// Fields common to pool experts and created experts.
#[derive(Debug)]
pub(super) struct Traits {
    role: String,
    tier: Tier,
    description: Option<String>,
    focus: Option<String>,
    relevance: Option<f64>,
    color: Option<String>,
}

impl Traits {
    pub(super) fn named(self, expert_slug: ExpertSlug) -> Profile {
        Profile {
            description: self.description,
            focus: self.focus,
            relevance: self.relevance,
            color: self.color,
            ..Profile::new(expert_slug, self.role, self.tier, Source::Pool)
        }
    }
}

pub(super) fn read_traits(fields: &Fields<'_>, notes: &mut Notes) -> Option<Traits> {
    let role = fields.required_text("role", LINE_CHARS_MAX, notes);
    let tier = fields.required_word("tier", notes);
    let description = fields.text("description", TEXT_CHARS_MAX, notes);
    let focus = fields.text("focus", LINE_CHARS_MAX, notes);
    let relevance = fields.fraction("relevance", notes);
    let color = fields.text("color", LINE_CHARS_MAX, notes);
    if let Some(color) = color.as_deref().filter(|color| !is_hex_color(color)) {
        notes.fault(
            Fault::new(Code::InvalidType, "field 'color' must be a hex colour such as #3B82F6")
                .about(fields.item())
                .field("color")
                .value(color),
        );
    }
    Some(Traits { role: role?, tier: tier?, description, focus, relevance, color })
}

fn is_hex_color(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

pub(super) fn read_slug(
    fields: &Fields<'_>,
    name: &str,
    text: &str,
    notes: &mut Notes,
) -> Option<ExpertSlug> {
    let slug = text.parse().ok();
    if slug.is_none() {
        let message = format!(
            "{name} '{}' is not a name: a lower-case letter, then letters, digits, '-' or '_', at most {EXPERT_SLUG_BYTES_MAX} in all ('judge' is taken)",
            cut(text)
        );
        let fault =
            Fault::new(Code::InvalidSlug, message).about(fields.item()).field(name).value(text);
        notes.fault(match mended(text) {
            Some(mended) => fault.suggest(format!("try '{mended}'")),
            None => fault,
        });
    }
    slug
}

/// Suggests the valid slug closest to an invalid one; `None` if no letter is usable.
fn mended(text: &str) -> Option<ExpertSlug> {
    let kept: String = text
        .to_ascii_lowercase()
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter))
        .skip_while(|letter| !letter.is_ascii_lowercase())
        .take(EXPERT_SLUG_BYTES_MAX)
        .collect();
    kept.parse().ok()
}
