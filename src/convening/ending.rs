//! Who ends a deliberation that was not planned with an ending: a council that was to stop at
//! its report, or a dialogue that somebody leads.

use super::plan::bare;
use super::table::{further, planned, secret};
use crate::ambient::Ambient;
use crate::config::{Conclusion, Settings, chairs};
use crate::domain::plan::{Auditing, ConclusionPlan, Plan, Seat};
use crate::providers::rehearsal::panel;

/// The roles of an ending, and places for those who have none yet; nothing, when there is
/// nobody.
pub fn ending(
    settings: &Settings,
    seated: &[Seat],
    auditing: Auditing,
    is_rehearsal: bool,
) -> Option<(ConclusionPlan, Vec<Seat>)> {
    let present = if is_rehearsal { panel() } else { settings.council.providers.clone() };
    let by = if is_rehearsal { &Conclusion::default() } else { &settings.conclusion };
    let roles = by.roles(chairs(&present).first(), &present, &present)?;
    let seats = further(&roles, seated, &present);
    Some((planned(roles, auditing), seats))
}

/// The plan of a run that is nothing but an ending.
pub fn ending_alone(
    settings: &Settings,
    auditing: Auditing,
    ambient: &dyn Ambient,
) -> Option<Plan> {
    let (conclusion, seats) = ending(settings, &[], auditing, false)?;
    Some(Plan {
        conclusion: Some(conclusion),
        anonymous_review: settings.council.anonymous_review,
        secret: secret(ambient),
        ..bare(settings, seats)
    })
}
