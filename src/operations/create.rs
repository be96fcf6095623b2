//! `create`: opens a dialogue.

use serde::Serialize;
use serde_json::Value;

use super::workspace::Workspace;
use crate::domain::change::EntryKind;
use crate::domain::expert::{Profile, SeatSource, Tier};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::error::Error;
use crate::record::{Warning, create as rules};
use crate::store::{Unit, transact};

/// What the Judge needs to know to begin.
pub(crate) const JUDGE_PROTOCOL: &str = include_str!("../../prompts/judge-protocol.md");

#[derive(Debug, Serialize)]
pub struct Created {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub output_dir: String,
    pub panel: Vec<Suggested>,
    pub judge_protocol: &'static str,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Serialize)]
pub struct Suggested {
    pub expert_slug: ExpertSlug,
    pub role: String,
    pub tier: Tier,
    pub source: SeatSource,
}

pub fn create(workspace: &Workspace, arguments: &Value) -> Result<Created, Error> {
    let (request, mut warnings) = rules::read(arguments, workspace.convergence_percent)?;
    let wanted = request
        .output_dir
        .as_deref()
        .map(|path| workspace.folders.folder("output_dir", path))
        .transpose()?;
    let (at, seed) = (workspace.ambient.now(), workspace.ambient.chance());
    transact(workspace.store.as_ref(), |unit| {
        let dialogue_id = free_id(unit, &request.title)?;
        let output_dir = free_folder(unit, workspace, wanted.as_deref(), &dialogue_id)?;
        let naming = rules::Naming { dialogue_id: dialogue_id.clone(), output_dir, seed };
        let decision = rules::decide(&request, &naming);
        unit.apply(&dialogue_id, EntryKind::DialogueCreated, at, &decision.changes)?;
        warnings.extend(decision.warnings);
        warnings.extend(moved(wanted.as_deref(), &naming.output_dir));
        Ok(Created {
            status: "success",
            dialogue_id,
            output_dir: workspace.folders.output_dir(&naming.output_dir).display().to_string(),
            panel: decision.panel.into_iter().map(suggested).collect(),
            judge_protocol: JUDGE_PROTOCOL,
            warnings,
        })
    })
}

fn free_id(unit: &mut dyn Unit, title: &str) -> Result<DialogueId, Error> {
    for candidate in rules::candidates(title) {
        if !unit.is_taken(&candidate)? {
            return Ok(candidate);
        }
    }
    Err(rules::too_many_similar_titles(title).into())
}

/// Two dialogues never write to one folder: where the wanted one is another's, a folder inside
/// it is taken, and so on until one is free.
fn free_folder(
    unit: &mut dyn Unit,
    workspace: &Workspace,
    wanted: Option<&str>,
    id: &DialogueId,
) -> Result<String, Error> {
    let mut folder = match wanted {
        Some(wanted) => wanted.to_owned(),
        None => workspace.folders.default_output_dir(id.as_str()),
    };
    while unit.owner_of_folder(&folder)?.is_some() {
        folder = format!("{folder}/{id}");
    }
    Ok(folder)
}

fn moved(wanted: Option<&str>, given: &str) -> Option<Warning> {
    let wanted = wanted.filter(|wanted| *wanted != given)?;
    let message = "output_dir belongs to another dialogue; this one got a folder inside it";
    Some(Warning::new("output_dir_taken", message).with("output_dir", wanted))
}

fn suggested(profile: Profile) -> Suggested {
    Suggested {
        expert_slug: profile.expert_slug,
        role: profile.role,
        tier: profile.tier,
        source: profile.source.into(),
    }
}
