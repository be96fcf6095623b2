//! Operations of calibration: the library of principles and tenets, and the ethos of a dialogue.
//!
//! [`run_ethos_op`] serves the command line and the tool `blue_ethos` alike.

use plenary_core::dialogue::diagnostics::{RequestWarning, dialogue_closed, dialogue_not_found};
use plenary_core::dialogue::request::{OperationRequest, read_request};
use plenary_core::dialogue::request_fields::RequestFields;
use plenary_core::ethos::authoring::{
    ConstraintAddRequest, DeprecateRequest, DomainAddRequest, LensAddRequest, PrincipleAddRequest,
    TenetAddRequest,
};
use plenary_core::ethos::compliance::not_calibrated;
use plenary_core::ethos::conflicts::ProposedConflict;
use plenary_core::ethos::library::{EthosLibrary, LibraryChange};
use plenary_core::ethos::library_document::{decide_import, export_library};
use plenary_core::ethos::requests::{
    ApproveRequest, CheckRequest, ConflictDetection, EthosOp, GetRequest, ImportRequest,
    LibraryRequest, RejectRequest, ResolveRequest, SynthesizeRequest,
};
use plenary_core::ethos::rule_set::{CalibrationRecord, DialogueEthos, EthosId, EthosStatus};
use plenary_core::ethos::synthesis::{DomainChoice, SynthesisInput, synthesize_ethos};
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::limits::PAGE_ITEMS_MAX;
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::report::ethos_page::check_document;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::app::dialogue_ids::resolve_arguments;
use crate::app::project::Project;
use crate::config::yaml::yaml_to_json;
use crate::engine::record_changes::find_open_dialogue;
use crate::error::Error;
use crate::store::traits::{StoreTransaction, in_transaction};

/// Who approves an ethos without conflicts when the caller allows it.
pub const AUTOMATIC_APPROVER: &str = "automatic";

/// Who approves an ethos if the request names no one.
const APPROVER_DEFAULT: &str = "principal";

/// Arguments of `blue_ethos`: the operation. The request type of the operation reads the fields.
#[derive(Debug, JsonSchema)]
pub struct EthosToolRequest {
    #[schemars(schema_with = "word_schema::<EthosOp>")]
    #[expect(dead_code, reason = "only the schema of it is used")]
    op: EthosOp,
}

/// Runs the operation that the field `op` names.
pub fn run_ethos_tool(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let fields = RequestFields::from_arguments(arguments)?;
    let op = fields.require_enum::<EthosOp>("op");
    let (op, _) = fields.take_notes().into_result(op)?;
    run_ethos_op(project, op, arguments)
}

/// Runs one operation and returns its document.
pub fn run_ethos_op(project: &Project, op: EthosOp, arguments: &Value) -> Result<Value, Error> {
    let arguments = &*resolve_arguments(project.store.as_ref(), arguments)?;
    match op {
        EthosOp::Overview => show_overview(project, arguments),
        EthosOp::PrincipleAdd => {
            change_library(project, arguments, |request: PrincipleAddRequest, library| {
                let principle = request.decide_principle(library)?;
                let answer = match library.find_twin(&principle) {
                    Some(twin) => {
                        json!({ "id": principle.id, "warnings": [same_text_warning(&twin.id)] })
                    }
                    None => json!({ "id": principle.id }),
                };
                Ok((LibraryChange::Principle(principle), answer))
            })
        }
        EthosOp::DomainAdd => {
            change_library(project, arguments, |request: DomainAddRequest, library| {
                let domain = request.decide_domain(library)?;
                let answer = json!({ "id": domain.slug, "code": domain.code });
                Ok((LibraryChange::Domain(domain), answer))
            })
        }
        EthosOp::TenetAdd => {
            change_library(project, arguments, |request: TenetAddRequest, library| {
                let tenet = request.decide_tenet(library)?;
                let answer = json!({ "id": tenet.id });
                Ok((LibraryChange::Tenet(tenet), answer))
            })
        }
        EthosOp::LensAdd => {
            change_library(project, arguments, |request: LensAddRequest, library| {
                let lens = request.decide_lens(library)?;
                let answer = json!({ "id": lens.id });
                Ok((LibraryChange::Lens(lens), answer))
            })
        }
        EthosOp::Deprecate => {
            change_library(project, arguments, |request: DeprecateRequest, library| {
                let answer = json!({ "id": request.id });
                Ok((request.decide_deprecation(library)?, answer))
            })
        }
        EthosOp::ConstraintAdd => add_constraint(project, arguments),
        EthosOp::Synthesize => synthesize(project, arguments),
        EthosOp::Resolve => resolve(project, arguments),
        EthosOp::Approve => approve(project, arguments),
        EthosOp::Reject => reject(project, arguments),
        EthosOp::Get => get_ethos(project, arguments),
        EthosOp::Check => check_rules(project, arguments),
        EthosOp::Import => import_library(project, arguments),
        EthosOp::Export => export_document(project, arguments),
    }
}

/// Whether an operation adds to the store, which may not exist yet.
pub fn writes_library(op: EthosOp) -> bool {
    match op {
        EthosOp::PrincipleAdd
        | EthosOp::DomainAdd
        | EthosOp::TenetAdd
        | EthosOp::LensAdd
        | EthosOp::Import => true,
        EthosOp::Overview
        | EthosOp::ConstraintAdd
        | EthosOp::Deprecate
        | EthosOp::Synthesize
        | EthosOp::Resolve
        | EthosOp::Approve
        | EthosOp::Reject
        | EthosOp::Get
        | EthosOp::Check
        | EthosOp::Export => false,
    }
}

/// Adds `status` and the warnings to an answer.
fn answer_with(mut answer: Value, warnings: &[RequestWarning]) -> Value {
    if let Value::Object(map) = &mut answer {
        map.insert("status".to_owned(), json!("success"));
        if !warnings.is_empty() {
            let all = map.entry("warnings").or_insert_with(|| json!([]));
            all.as_array_mut()
                .into_iter()
                .for_each(|all| all.extend(warnings.iter().map(|one| json!(one))));
        }
    }
    answer
}

fn change_library<R: OperationRequest>(
    project: &Project,
    arguments: &Value,
    decide: impl FnOnce(R, &EthosLibrary) -> Result<(LibraryChange, Value), ValidationError>,
) -> Result<Value, Error> {
    let (request, warnings) = read_request::<R>(arguments)?;
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        let library = unit.load_library()?;
        let (change, answer) = decide(request, &library)?;
        unit.append_library_entry(at, &[change])?;
        Ok(answer_with(answer, &warnings))
    })
}

fn show_overview(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (LibraryRequest {}, warnings) = read_request(arguments)?;
    let library = project.store.load_library()?;
    let domains = library.domains.iter().map(|domain| {
        let mut shown = json!(domain);
        if let Value::Object(map) = &mut shown {
            let tenets = library.tenets.iter().filter(|tenet| tenet.domain == domain.slug);
            map.insert("tenets".to_owned(), json!(tenets.collect::<Vec<_>>()));
            let lenses = library.lenses.iter().filter(|lens| lens.domain == domain.slug);
            map.insert("lenses".to_owned(), json!(lenses.collect::<Vec<_>>()));
        }
        shown
    });
    let answer = json!({
        "principles": library.principles,
        "domains": domains.collect::<Vec<_>>(),
        "ethos": project.store.list_ethos(PAGE_ITEMS_MAX)?,
    });
    Ok(answer_with(answer, &warnings))
}

fn same_text_warning(id: &str) -> RequestWarning {
    let message = format!("{id} says the same; both bind the dialogues to come");
    RequestWarning::new("same_text", message).with_detail(
        "suggestion",
        format!("`plenary ethos principle deprecate {id}` ends the older one"),
    )
}

/// Finds a calibrated dialogue that can still be added to.
fn find_calibrated(unit: &mut dyn StoreTransaction, id: &DialogueId) -> Result<Dialogue, Error> {
    let dialogue = find_open_dialogue(unit, id)?;
    if dialogue.status.is_closed() {
        return Err(dialogue_closed(&dialogue).into());
    }
    if !dialogue.opening.calibrated {
        return Err(not_calibrated(&dialogue).with_field("dialogue_id").into());
    }
    Ok(dialogue)
}

fn add_constraint(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (request, warnings) = read_request::<ConstraintAddRequest>(arguments)?;
    let at = project.ambient.now();
    let id = request.dialogue_id.clone();
    in_transaction(project.store.as_ref(), |unit| {
        find_calibrated(unit, &id)?;
        let known = unit.load_calibration(&id)?.constraints;
        let constraint = request.decide_constraint(&known)?;
        let answer = json!({ "id": constraint.id, "dialogue_id": id });
        let change = JournalEvent::ConstraintAdded(constraint);
        unit.append_entry(&id, JournalEntryKind::ConstraintAdded, at, &[change])?;
        Ok(answer_with(answer, &warnings))
    })
}

fn synthesize(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (request, mut warnings) = read_request::<SynthesizeRequest>(arguments)?;
    let proposals = match request.detect {
        Some(ConflictDetection::Model) => {
            let draft = draft_ethos(project, &request)?;
            let found = crate::app::ethos_detection::ask_for_conflicts(
                project,
                &request.dialogue_id,
                &draft,
            )?;
            warnings.extend(found.warnings);
            found.proposals
        }
        Some(ConflictDetection::Code) | None => Vec::new(),
    };
    let (ethos, dropped) = save_synthesis(project, &request, proposals)?;
    warnings
        .extend(dropped.into_iter().map(|reason| RequestWarning::new("proposal_dropped", reason)));
    Ok(answer_with(ethos.to_document(), &warnings))
}

/// The draft that a synthesis would save now.
fn draft_ethos(project: &Project, request: &SynthesizeRequest) -> Result<DialogueEthos, Error> {
    in_transaction(project.store.as_ref(), |unit| {
        let dialogue = find_calibrated(unit, &request.dialogue_id)?;
        let calibration = unit.load_calibration(&request.dialogue_id)?;
        synthesize_next(unit, &dialogue, &calibration, request)
    })
}

fn synthesize_next(
    unit: &mut dyn StoreTransaction,
    dialogue: &Dialogue,
    calibration: &CalibrationRecord,
    request: &SynthesizeRequest,
) -> Result<DialogueEthos, Error> {
    let own = dialogue
        .opening
        .domain_id
        .as_ref()
        .map(|domain| DomainChoice { domain: domain.clone(), lens: calibration.lens_of(domain) });
    let domains = match &request.domains {
        Some(domains) => domains.clone(),
        None => own.into_iter().collect(),
    };
    let version = calibration.versions.iter().map(|ethos| ethos.version).max().unwrap_or(0) + 1;
    Ok(synthesize_ethos(&SynthesisInput {
        dialogue: &request.dialogue_id,
        version,
        library: &unit.load_library()?,
        constraints: &calibration.constraints,
        domains: &domains,
    })?)
}

/// Saves the next version. A draft that was not decided is rejected, because this one replaces it.
fn save_synthesis(
    project: &Project,
    request: &SynthesizeRequest,
    proposals: Vec<ProposedConflict>,
) -> Result<(DialogueEthos, Vec<String>), Error> {
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        let id = &request.dialogue_id;
        let dialogue = find_calibrated(unit, id)?;
        let calibration = unit.load_calibration(id)?;
        let mut ethos = synthesize_next(unit, &dialogue, &calibration, request)?;
        let dropped = ethos.add_proposals(proposals);
        if request.approve && ethos.open_conflicts().next().is_none() {
            ethos.approve(AUTOMATIC_APPROVER, at)?;
        }
        let mut changes = Vec::new();
        let drafts = calibration.versions.into_iter();
        for mut draft in drafts.filter(|known| known.status == EthosStatus::Draft) {
            draft.reject(&format!("replaced by {}", ethos.ethos_id))?;
            changes.push(JournalEvent::EthosSaved(Box::new(draft)));
        }
        changes.push(JournalEvent::EthosSaved(Box::new(ethos.clone())));
        unit.append_entry(id, JournalEntryKind::EthosSynthesized, at, &changes)?;
        Ok((ethos, dropped))
    })
}

/// Changes a draft as a person decides.
fn decide_ethos(
    project: &Project,
    ethos_id: &EthosId,
    warnings: &[RequestWarning],
    decide: impl FnOnce(&mut DialogueEthos) -> Result<(), ValidationError>,
) -> Result<Value, Error> {
    let at = project.ambient.now();
    let id = ethos_id.dialogue_id().ok_or_else(|| unknown_ethos(ethos_id.as_str()))?;
    in_transaction(project.store.as_ref(), |unit| {
        find_open_dialogue(unit, &id)?;
        let versions = unit.load_calibration(&id)?.versions;
        let found = versions.into_iter().find(|known| known.ethos_id == *ethos_id);
        let mut ethos = found.ok_or_else(|| unknown_ethos(ethos_id.as_str()))?;
        decide(&mut ethos)?;
        let change = JournalEvent::EthosSaved(Box::new(ethos.clone()));
        unit.append_entry(&id, JournalEntryKind::EthosDecided, at, &[change])?;
        Ok(answer_with(ethos.to_document(), warnings))
    })
}

fn resolve(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (request, warnings) = read_request::<ResolveRequest>(arguments)?;
    let ResolveRequest { ethos_id, conflict, resolution, reason } = request;
    decide_ethos(project, &ethos_id, &warnings, |ethos| {
        ethos.resolve_conflict(conflict, resolution, reason.as_deref())
    })
}

fn approve(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (ApproveRequest { ethos_id, by }, warnings) = read_request(arguments)?;
    let at = project.ambient.now();
    decide_ethos(project, &ethos_id, &warnings, |ethos| {
        ethos.approve(by.as_deref().unwrap_or(APPROVER_DEFAULT), at)
    })
}

fn reject(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (RejectRequest { ethos_id, reason }, warnings) = read_request(arguments)?;
    decide_ethos(project, &ethos_id, &warnings, |ethos| ethos.reject(&reason))
}

fn unknown_ethos(id: &str) -> ValidationError {
    ValidationError::new(ErrorCode::TargetNotFound, format!("there is no ethos '{id}'"))
        .with_field("ethos_id")
        .with_value(id)
        .with_suggestion("`plenary ethos` lists the ethos of all dialogues")
}

/// Loads a version; of a dialogue the one that binds it, else the newest.
pub fn load_ethos(project: &Project, request: &GetRequest) -> Result<DialogueEthos, Error> {
    let named = request.ethos_id.as_ref();
    let dialogue = named.and_then(EthosId::dialogue_id).or_else(|| request.dialogue_id.clone());
    let shown = named.map(ToString::to_string).or_else(|| Some(dialogue.as_ref()?.to_string()));
    let missing = || unknown_ethos(&shown.unwrap_or_default());
    let Some(id) = dialogue else { return Err(missing().into()) };
    if project.store.load_dialogue(&id)?.is_none() {
        return Err(dialogue_not_found(id.as_str()).into());
    }
    let calibration = project.store.load_calibration(&id)?;
    let found = match named {
        Some(named) => calibration.versions.iter().find(|known| known.ethos_id == *named),
        None => calibration.approved_ethos().or(calibration.versions.last()),
    };
    found.cloned().ok_or_else(|| missing().into())
}

fn get_ethos(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (request, warnings) = read_request::<GetRequest>(arguments)?;
    Ok(answer_with(load_ethos(project, &request)?.to_document(), &warnings))
}

fn check_rules(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (CheckRequest { dialogue_id: id }, warnings) = read_request(arguments)?;
    let missing = || dialogue_not_found(id.as_str());
    let record = project.store.load_record(&id)?.ok_or_else(missing)?;
    Ok(answer_with(check_document(&record)?, &warnings))
}

fn import_library(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (ImportRequest { document }, warnings) = read_request(arguments)?;
    let document = match document {
        // A text is YAML, which JSON is a part of.
        Value::String(text) => yaml_to_json(&text).map_err(|problem| {
            ValidationError::new(
                ErrorCode::InvalidType,
                format!("the document is not YAML: {problem}"),
            )
            .with_field("document")
        })?,
        document @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => document,
    };
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        let decision = decide_import(&document, &unit.load_library()?)?;
        if !decision.changes.is_empty() {
            unit.append_library_entry(at, &decision.changes)?;
        }
        Ok(answer_with(json!(decision.counts), &warnings))
    })
}

fn export_document(project: &Project, arguments: &Value) -> Result<Value, Error> {
    let (LibraryRequest {}, warnings) = read_request(arguments)?;
    let document = export_library(&project.store.load_library()?);
    Ok(answer_with(json!({ "document": document }), &warnings))
}
