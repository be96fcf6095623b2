//! `panel`: records who sits at the table in the next round.

use serde::Serialize;
use serde_json::Value;

use super::workspace::{Workspace, find_open, refuse_review};
use crate::domain::change::EntryKind;
use crate::domain::expert::{SeatSource, Tier};
use crate::domain::facts::Mentions;
use crate::domain::ids::ExpertSlug;
use crate::error::Error;
use crate::record::{Warning, panel as rules};
use crate::store::transact;

#[derive(Debug, Serialize)]
pub struct PanelEvolved {
    pub status: &'static str,
    pub round: u8,
    pub panel: Vec<Seated>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Serialize)]
pub struct Seated {
    pub expert_slug: ExpertSlug,
    pub role: String,
    pub tier: Tier,
    pub source: SeatSource,
    pub round_context: Option<String>,
    pub mandate: Option<String>,
}

pub fn evolve_panel(workspace: &Workspace, arguments: &Value) -> Result<PanelEvolved, Error> {
    let (request, mut warnings) = rules::read(arguments)?;
    let at = workspace.ambient.now();
    transact(workspace.store.as_ref(), |unit| {
        let id = &request.dialogue_id;
        refuse_review(unit, id)?;
        let dialogue = find_open(unit, id)?;
        let facts = unit.facts(&dialogue, &Mentions::default())?;
        let decision = rules::decide(&request, &dialogue, &facts)?;
        unit.apply(id, EntryKind::PanelEvolved, at, &decision.changes)?;
        warnings.extend(decision.warnings);
        let panel = decision.seats.into_iter().map(|(seat, profile)| Seated {
            expert_slug: seat.expert_slug,
            role: profile.role,
            tier: profile.tier,
            source: seat.source,
            round_context: seat.round_context,
            mandate: seat.mandate,
        });
        let panel = panel.collect();
        Ok(PanelEvolved { status: "success", round: decision.round, panel, warnings })
    })
}
