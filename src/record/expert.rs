//! Experts: those of a pool, and those a Judge creates mid-dialogue.

use serde_json::Value;

use super::faults::{closed, read_dialogue_id};
use super::fields::Fields;
use super::warning::Warning;
use crate::domain::change::Change;
use crate::domain::dialogue::Dialogue;
use crate::domain::expert::{Profile, Source, Tier};
use crate::domain::facts::Facts;
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::limits::{EXPERTS_MAX, LINE_CHARS_MAX, ROUND_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Refusal};

/// The arguments of `expert_create`, read.
#[derive(Debug)]
pub struct Request {
    pub dialogue_id: DialogueId,
    profile: Profile,
    pub warnings: Vec<Warning>,
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

pub fn read(arguments: &Value) -> Result<Request, Refusal> {
    let fields = Fields::of_arguments(arguments)?;
    let (mut faults, mut warnings) = (Vec::new(), Vec::new());
    fields.expect_only(&FIELDS, &mut faults, &mut warnings);
    let dialogue_id = read_dialogue_id(&fields, &mut faults);
    let slug = fields
        .required_text("expert_slug", LINE_CHARS_MAX, &mut faults)
        .and_then(|text| read_slug(&fields, "expert_slug", &text, &mut faults));
    let reason = fields.required_text("reason", TEXT_CHARS_MAX, &mut faults);
    let mandate = fields.text("mandate", TEXT_CHARS_MAX, &mut faults);
    let first_round = fields.integer("first_round", 0..=i64::from(ROUND_MAX), &mut faults);
    let traits = read_traits(&fields, &mut faults);
    match (dialogue_id, slug, traits) {
        (Some(dialogue_id), Some(expert_slug), Some(traits)) if faults.is_empty() => {
            let profile = Profile {
                source: Source::Created,
                creation_reason: reason,
                mandate,
                first_round: first_round.and_then(|round| u8::try_from(round).ok()),
                ..traits.named(expert_slug)
            };
            Ok(Request { dialogue_id, profile, warnings })
        }
        _ => Err(Refusal::new(faults)),
    }
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
    if facts.experts.contains_key(slug) {
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
    let first_round = request.profile.first_round.unwrap_or(dialogue.next_round());
    if first_round < dialogue.next_round() {
        let message = format!(
            "first_round {first_round} is over; the next round is {}",
            dialogue.next_round()
        );
        return Err(Fault::new(Code::InvalidRound, message).field("first_round").into());
    }
    let profile = Profile { first_round: Some(first_round), ..request.profile.clone() };
    Ok((profile.clone(), vec![Change::ExpertSeated(profile)]))
}

/// What pool experts and created ones have in common.
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
            expert_slug,
            role: self.role,
            tier: self.tier,
            source: Source::Pool,
            description: self.description,
            focus: self.focus,
            relevance: self.relevance,
            creation_reason: None,
            mandate: None,
            color: self.color,
            first_round: None,
        }
    }
}

pub(super) fn read_traits(fields: &Fields<'_>, faults: &mut Vec<Fault>) -> Option<Traits> {
    let role = fields.required_text("role", LINE_CHARS_MAX, faults);
    let tier = fields.required_word("tier", faults);
    let description = fields.text("description", TEXT_CHARS_MAX, faults);
    let focus = fields.text("focus", LINE_CHARS_MAX, faults);
    let relevance = fields.fraction("relevance", faults);
    let color = fields.text("color", LINE_CHARS_MAX, faults);
    if let Some(color) = color.as_deref().filter(|color| !is_hex_color(color)) {
        faults.push(
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
    faults: &mut Vec<Fault>,
) -> Option<ExpertSlug> {
    let slug = text.parse().ok();
    if slug.is_none() {
        let message = format!(
            "{name} '{text}' is not a name: a lower-case letter, then up to 31 letters, digits, '-' or '_' ('judge' is taken)"
        );
        let fault =
            Fault::new(Code::InvalidSlug, message).about(fields.item()).field(name).value(text);
        let mended: String = crate::domain::slug::of_title(text).chars().take(32).collect();
        faults.push(match mended.parse::<ExpertSlug>() {
            Ok(mended) => fault.suggest(format!("try '{mended}'")),
            Err(_) => fault,
        });
    }
    slug
}
