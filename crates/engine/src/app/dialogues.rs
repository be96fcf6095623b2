//! Operations on a dialogue and its panel: create it, add experts, evolve the panel, abandon it.
//! Also parses the JSON arguments of operations and gives ids to new dialogues.

use std::borrow::Cow;

use plenary_core::dialogue::create::{
    CreateRequest, DialogueNaming, candidate_ids, decide_create, parse_create_request,
    too_many_similar_titles,
};
use plenary_core::dialogue::diagnostics::{RequestWarning, dialogue_closed};
use plenary_core::dialogue::expert::{ExpertRequest, decide_expert, warn_late_start};
use plenary_core::dialogue::panel::{PanelRequest, decide_panel};
use plenary_core::dialogue::request::OperationRequest;
use plenary_core::model::dialogue::{DialogueStatus, ExpertProfile, ExpertTier, PanelSeatSource};
use plenary_core::model::ids::{DialogueId, ExpertSlug};
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::limits::TEXT_CHARS_MAX;
use plenary_core::model::record::LookupRequest;
use plenary_core::model::strict_json::StrictJson;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::dialogue_ids::{read_resolved, read_strict_resolved};
use crate::app::project::{Project, refuse_review};
use crate::engine::record_changes::{find_dialogue, find_open_dialogue};
use crate::error::Error;
use crate::store::traits::{StoreTransaction, in_transaction};

/// Instructions for the Judge.
pub const JUDGE_PROTOCOL: &str = include_str!("../../../../prompts/judge-protocol.md");

#[derive(Debug, Serialize)]
pub struct CreateResult {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub output_dir: String,
    pub panel: Vec<SuggestedExpert>,
    pub judge_protocol: &'static str,
    pub warnings: Vec<RequestWarning>,
}

#[derive(Debug, Serialize)]
pub struct SuggestedExpert {
    pub expert_slug: ExpertSlug,
    pub role: String,
    pub tier: ExpertTier,
    pub source: PanelSeatSource,
}

pub fn create_dialogue(project: &Project, arguments: &Value) -> Result<CreateResult, Error> {
    let (request, mut warnings) = parse_create_request(arguments, project.convergence_percent)?;
    let wanted = request
        .output_dir
        .as_deref()
        .map(|path| project.folders.check_folder("output_dir", path))
        .transpose()?;
    let (at, seed) = (project.ambient.now(), project.ambient.random_u64());
    in_transaction(project.store.as_ref(), |unit| {
        let dialogue_id = free_id(unit, &request.title)?;
        let output_dir = free_folder(unit, project, wanted.as_deref(), &dialogue_id)?;
        let request = name_domain(unit, &request)?;
        let naming = DialogueNaming { dialogue_id: dialogue_id.clone(), output_dir, seed };
        let decision = decide_create(&request, &naming);
        unit.append_entry(&dialogue_id, JournalEntryKind::DialogueCreated, at, &decision.changes)?;
        warnings.extend(decision.warnings);
        warnings.extend(moved_warning(wanted.as_deref(), &naming.output_dir));
        Ok(CreateResult {
            status: "success",
            dialogue_id,
            output_dir: project.folders.output_dir(&naming.output_dir).display().to_string(),
            panel: decision.panel.into_iter().map(suggested_expert).collect(),
            judge_protocol: JUDGE_PROTOCOL,
            warnings,
        })
    })
}

/// Replaces the domain that the request names by its slug.
fn name_domain<'a>(
    unit: &mut dyn StoreTransaction,
    request: &'a CreateRequest,
) -> Result<Cow<'a, CreateRequest>, Error> {
    let Some(name) = &request.domain_id else { return Ok(Cow::Borrowed(request)) };
    let slug = unit.load_library()?.require_domain(name, "domain_id")?.slug.clone();
    Ok(Cow::Owned(request.clone().with_domain(slug)))
}

fn free_id(unit: &mut dyn StoreTransaction, title: &str) -> Result<DialogueId, Error> {
    for candidate in candidate_ids(title) {
        if !unit.is_id_taken(&candidate)? {
            return Ok(candidate);
        }
    }
    Err(too_many_similar_titles(title).into())
}

/// Two dialogues never write to one folder: if the wanted folder belongs to another dialogue, a
/// free folder inside it is used.
fn free_folder(
    unit: &mut dyn StoreTransaction,
    project: &Project,
    wanted: Option<&str>,
    id: &DialogueId,
) -> Result<String, Error> {
    let mut folder = match wanted {
        Some(wanted) => wanted.to_owned(),
        None => project.folders.default_output_dir(id.as_str()),
    };
    while unit.find_folder_owner(&folder)?.is_some() {
        folder = format!("{folder}/{id}");
    }
    Ok(folder)
}

fn moved_warning(wanted: Option<&str>, given: &str) -> Option<RequestWarning> {
    let wanted = wanted.filter(|wanted| *wanted != given)?;
    let message = "output_dir belongs to another dialogue; this one got a folder inside it";
    Some(RequestWarning::new("output_dir_taken", message).with_detail("output_dir", wanted))
}

fn suggested_expert(profile: ExpertProfile) -> SuggestedExpert {
    SuggestedExpert {
        expert_slug: profile.expert_slug,
        role: profile.role,
        tier: profile.tier,
        source: profile.source.into(),
    }
}

#[derive(Debug, Serialize)]
pub struct ExpertResult {
    pub status: &'static str,
    pub expert: ExpertProfile,
    pub warnings: Vec<RequestWarning>,
}

pub fn create_expert(project: &Project, arguments: &Value) -> Result<ExpertResult, Error> {
    let (request, mut warnings) = read_resolved::<ExpertRequest>(project, arguments)?;
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        refuse_review(unit, &request.dialogue_id)?;
        let dialogue = find_open_dialogue(unit, &request.dialogue_id)?;
        let facts = unit.look_up_record(&dialogue, &LookupRequest::default())?;
        let (expert, changes) = decide_expert(&request, &dialogue, &facts)?;
        unit.append_entry(&request.dialogue_id, JournalEntryKind::ExpertCreated, at, &changes)?;
        warnings.extend(warn_late_start(&expert, &dialogue));
        Ok(ExpertResult { status: "success", expert, warnings })
    })
}

#[derive(Debug, Serialize)]
pub struct PanelResult {
    pub status: &'static str,
    pub round: u8,
    pub panel: Vec<PanelMember>,
    pub warnings: Vec<RequestWarning>,
}

#[derive(Debug, Serialize)]
pub struct PanelMember {
    pub expert_slug: ExpertSlug,
    pub role: String,
    pub tier: ExpertTier,
    pub source: PanelSeatSource,
    pub round_context: Option<String>,
    pub mandate: Option<String>,
}

pub fn evolve_panel(project: &Project, arguments: &Value) -> Result<PanelResult, Error> {
    let (request, mut warnings) = read_resolved::<PanelRequest>(project, arguments)?;
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        let id = &request.dialogue_id;
        refuse_review(unit, id)?;
        let dialogue = find_open_dialogue(unit, id)?;
        let facts = unit.look_up_record(&dialogue, &LookupRequest::default())?;
        let decision = decide_panel(&request, &dialogue, &facts)?;
        unit.append_entry(id, JournalEntryKind::PanelEvolved, at, &decision.changes)?;
        warnings.extend(decision.warnings);
        let panel = decision.seats.into_iter().map(|(seat, profile)| PanelMember {
            expert_slug: seat.expert_slug,
            role: profile.role,
            tier: profile.tier,
            source: seat.source,
            round_context: seat.round_context,
            mandate: seat.mandate,
        });
        let panel = panel.collect();
        Ok(PanelResult { status: "success", round: decision.round, panel, warnings })
    })
}

/// Arguments of `abandon`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AbandonRequest {
    dialogue_id: DialogueId,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    reason: Option<String>,
}

impl OperationRequest for AbandonRequest {}

#[derive(Debug, Serialize)]
pub struct AbandonResult {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub dialogue_status: DialogueStatus,
}

pub fn abandon_dialogue(project: &Project, arguments: &Value) -> Result<AbandonResult, Error> {
    let AbandonRequest { dialogue_id: id, reason } =
        read_strict_resolved(project.store.as_ref(), arguments)?;
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        let dialogue = find_dialogue(unit, &id)?;
        if dialogue.status.is_closed() {
            return Err(dialogue_closed(&dialogue).into());
        }
        let status = DialogueStatus::Abandoned;
        let change = JournalEvent::StatusSet { status, reason };
        unit.append_entry(&id, JournalEntryKind::DialogueAbandoned, at, &[change])?;
        Ok(AbandonResult { status: "success", dialogue_id: id, dialogue_status: status })
    })
}

/// The JSON reader has its own depth limit and message.
const STRICT: StrictJson = StrictJson {
    depth_max: usize::MAX,
    duplicate_key: |key| format!("the key `{key}` occurs twice"),
    too_deep: String::new,
};

/// Parses the arguments of an operation.
pub fn parse_arguments(text: &str) -> Result<Value, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = STRICT.parse_json(text);
    parsed.map_err(|error| {
        ValidationError::new(
            ErrorCode::InvalidJson,
            format!("the arguments are not valid JSON: {error}"),
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use plenary_core::model::hash::canonical_sha256 as digest;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let one =
            parse_arguments(r#"{"a": {"x": 1, "y": [2, {"p": 1, "q": 2}]}, "b": 1}"#).unwrap();
        let two = parse_arguments(r#"{"b":1,"a":{"y":[2,{"q":2,"p":1}],"x":1}}"#).unwrap();
        let three = parse_arguments(r#"{"b":1,"a":{"y":[{"q":2,"p":1},2],"x":1}}"#).unwrap();
        assert_eq!(digest(&one), digest(&two));
        assert_ne!(digest(&one), digest(&three));
    }

    #[test]
    fn what_is_parsed_is_what_was_written() {
        for text in [r#"{"b":[1,-2,0.1,1e-25,true,null,"é"],"a":{}}"#, "[]", "7", "\"x\""] {
            assert_eq!(parse_arguments(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused_wherever_it_is() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"x":{"a":1,"b":2,"a":3}}]"#, r#"{"a":1,"\u0061":2}"#]
        {
            assert!(parse_arguments(text).is_err(), "{text}");
        }
    }
}
