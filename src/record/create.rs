//! `create`: opens a dialogue with its expert pool and suggests the panel of the first round.

use std::collections::BTreeSet;

use serde_json::Value;

use super::expert::{Traits, read_slug, read_traits};
use super::fields::Fields;
use super::notes::Notes;
use super::sampling;
use super::warning::Warning;
use crate::domain::change::Change;
use crate::domain::dialogue::{Opening, Protocol};
use crate::domain::expert::{Profile, Tier, first_seat};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::limits::{EXPERTS_MAX, LINE_CHARS_MAX, SIMILAR_TITLES_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item, Refusal};
use crate::domain::slug;

/// By default every expert must agree.
const CONVERGENCE_PERCENT_DEFAULT: u8 = 100;

/// Parsed arguments of `create`.
#[derive(Debug)]
pub struct Request {
    pub title: String,
    question: Option<String>,
    background: Option<Value>,
    pool: Option<Pool>,
    panel_size: Option<usize>,
    convergence_percent: u8,
    pub output_dir: Option<String>,
}

#[derive(Debug)]
struct Pool {
    domain: Option<String>,
    /// The pool as the caller sent it; the journal keeps it unchanged.
    given: Value,
    profiles: Vec<Profile>,
}

/// Values that `create` gets from outside: id, output folder and random seed.
#[derive(Debug)]
pub struct Naming {
    pub dialogue_id: DialogueId,
    pub output_dir: String,
    pub seed: u64,
}

/// Result of `decide_create`.
#[derive(Debug)]
pub struct Decision {
    pub changes: Vec<Change>,
    pub panel: Vec<Profile>,
    pub warnings: Vec<Warning>,
}

const FIELDS: [&str; 8] = [
    "title",
    "question",
    "background",
    "expert_pool",
    "panel_size",
    "convergence_percent",
    "output_dir",
    "calibrated",
];

/// Parses the arguments. `convergence` is the project's default for `convergence_percent`.
pub fn read(
    arguments: &Value,
    convergence: Option<u8>,
) -> Result<(Request, Vec<Warning>), Refusal> {
    let fields = Fields::of_arguments(arguments)?;
    let mut notes = Notes::default();
    fields.expect_only(&FIELDS, &mut notes);
    let title = fields.required_text("title", LINE_CHARS_MAX, &mut notes);
    let question = fields.text("question", TEXT_CHARS_MAX, &mut notes);
    let background = fields.structured("background", &mut notes);
    let pool = read_pool(&fields, &mut notes);
    let panel_size = fields.integer("panel_size", 1..=EXPERTS_MAX as i64, &mut notes);
    let panel_size = panel_size.and_then(|size| usize::try_from(size).ok());
    let given = fields.integer("convergence_percent", 1..=100, &mut notes);
    let convergence_percent = given
        .and_then(|percent| u8::try_from(percent).ok())
        .or(convergence)
        .unwrap_or(CONVERGENCE_PERCENT_DEFAULT);
    let output_dir = fields.text("output_dir", LINE_CHARS_MAX, &mut notes);
    if fields.boolean("calibrated", &mut notes) {
        notes.fault(
            Fault::new(Code::NotSupported, "calibrated dialogues are not supported")
                .field("calibrated")
                .value(true)
                .suggest("leave 'calibrated' out"),
        );
    }
    let request = title.map(|title| Request {
        title,
        question,
        background,
        pool,
        panel_size,
        convergence_percent,
        output_dir,
    });
    notes.settle(request)
}

fn read_pool(fields: &Fields<'_>, notes: &mut Notes) -> Option<Pool> {
    let map = fields.object("expert_pool", notes)?;
    let item = Item::Local { item_type: "expert_pool", local_id: None };
    let pool = Fields::new(map, item);
    pool.expect_only(&["domain", "experts"], notes);
    let domain = pool.text("domain", LINE_CHARS_MAX, notes);
    if !pool.has("experts") {
        notes.fault(pool.missing("experts"));
    }
    let experts: Vec<(Option<ExpertSlug>, Traits)> = pool
        .objects("experts", EXPERTS_MAX, notes)
        .into_iter()
        .filter_map(|map| read_pool_expert(map, notes))
        .collect();
    let given = pool.get("experts").cloned().unwrap_or_default();
    Some(Pool { domain, given, profiles: named(experts, notes) })
}

fn read_pool_expert(
    map: &serde_json::Map<String, Value>,
    notes: &mut Notes,
) -> Option<(Option<ExpertSlug>, Traits)> {
    let named = map.get("slug").or_else(|| map.get("role")).and_then(Value::as_str);
    let item = Item::Local { item_type: "expert", local_id: named.map(str::to_owned) };
    let fields = Fields::new(map, item);
    let known = ["role", "tier", "relevance", "focus", "description", "slug", "color"];
    fields.expect_only(&known, notes);
    let slug = fields
        .text("slug", LINE_CHARS_MAX, notes)
        .and_then(|text| read_slug(&fields, "slug", &text, notes));
    let traits = read_traits(&fields, notes)?;
    Some((slug, traits))
}

/// Gives each unnamed expert a free pastry name and rejects duplicate slugs.
fn named(experts: Vec<(Option<ExpertSlug>, Traits)>, notes: &mut Notes) -> Vec<Profile> {
    let mut taken = BTreeSet::new();
    for slug in experts.iter().filter_map(|(slug, _)| slug.as_ref()) {
        if !taken.insert(slug.clone()) {
            notes.fault(
                Fault::new(Code::ExpertExists, format!("expert '{slug}' is in the pool twice"))
                    .about(&Item::Local { item_type: "expert", local_id: Some(slug.to_string()) })
                    .field("slug")
                    .value(slug.as_str()),
            );
        }
    }
    let free = (0..).filter_map(|nth| slug::pastry(nth).parse().ok());
    let mut free = free.filter(|slug: &ExpertSlug| !taken.contains(slug));
    let named = experts.into_iter().filter_map(|(slug, traits)| {
        let slug = slug.or_else(|| free.next())?;
        Some(traits.named(slug))
    });
    named.collect()
}

/// Candidate ids for a title: `x`, `x-2` … `x-99`.
pub fn candidates(title: &str) -> impl Iterator<Item = DialogueId> {
    let slug = slug::of_title(title);
    (1..=SIMILAR_TITLES_MAX).filter_map(move |nth| {
        let id = if nth == 1 { slug.clone() } else { format!("{slug}-{nth}") };
        id.parse().ok()
    })
}

pub fn too_many_similar_titles(title: &str) -> Fault {
    let message = format!("Too many dialogues with similar titles ({SIMILAR_TITLES_MAX} already)");
    Fault::new(Code::TooManySimilarTitles, message)
        .field("title")
        .value(title)
        .suggest("choose a title that says what is different this time")
}

pub fn decide(request: &Request, naming: &Naming) -> Decision {
    let mut warnings = Vec::new();
    let profiles = request.pool.as_ref().map_or(&[][..], |pool| &pool.profiles);
    let panel = suggest_panel(profiles, request.panel_size, naming.seed, &mut warnings);
    let drawn = panel.len() < profiles.len();

    let mut changes = vec![Change::DialogueOpened(Opening {
        dialogue_id: naming.dialogue_id.clone(),
        title: request.title.clone(),
        question: request.question.clone(),
        background: request.background.clone(),
        protocol: Protocol::Alignment,
        rehearsal: false,
        convergence_percent: request.convergence_percent,
        panel_seed: drawn.then(|| format!("{:016x}", naming.seed)),
        output_dir: naming.output_dir.clone(),
    })];
    if let Some(pool) = &request.pool {
        let (domain, experts) = (pool.domain.clone(), pool.given.clone());
        changes.push(Change::PoolGiven { domain, experts });
        changes.extend(profiles.iter().cloned().map(Change::ExpertAdded));
    }
    if !panel.is_empty() {
        changes.push(Change::PanelSet {
            round: Protocol::Alignment.first_round(),
            seats: panel.iter().map(first_seat).collect(),
        });
    }
    Decision { changes, panel, warnings }
}

fn suggest_panel(
    pool: &[Profile],
    size: Option<usize>,
    seed: u64,
    warnings: &mut Vec<Warning>,
) -> Vec<Profile> {
    if !pool.is_empty() && pool.iter().all(|expert| expert.tier != Tier::Wildcard) {
        let message =
            "the pool has no Wildcard expert: nobody is there to upset an early consensus";
        warnings.push(Warning::new("no_wildcard", message));
    }
    match size {
        Some(size) if size < pool.len() => {
            let drawn = sampling::draw(pool, size, seed);
            drawn.into_iter().filter_map(|place| pool.get(place).cloned()).collect()
        }
        Some(size) if size > pool.len() => {
            let message = format!("panel_size is {size}, but the pool has {}", pool.len());
            warnings.push(Warning::new("pool_too_small", message));
            pool.to_vec()
        }
        Some(_) | None => pool.to_vec(),
    }
}
