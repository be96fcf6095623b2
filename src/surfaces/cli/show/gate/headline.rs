//! Start and foot of a review page: artifact, verdict, panel health and cautions; then cost.

use anstyle::Style;

use crate::domain::transcript::Transcript;
use crate::export::council::Stopped;
use crate::export::gate::ReviewDocument;
use crate::export::gate::words::overridden;
use crate::export::wording;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::council::Foot;
use crate::surfaces::cli::show::layout::{MARGIN, block, hanging, heading, titled};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{self, BAD, CAUTION, FAINT, GOOD, ID, STRONG};
use crate::surfaces::cli::show::spending::spent;
use crate::surfaces::cli::wrap::{wrap_items, wrap_line};

const TITLE: &str = "REVIEW";

/// Characters of the digest that are shown; enough to distinguish files.
const DIGEST_SHOWN: usize = 12;

pub(super) fn draw(told: &ReviewDocument, canvas: Canvas) -> Vec<Line> {
    let (mark, style) = palette::of_gate(told.verdict);
    let state = Line::blank().styled(mark, style).plain(" ");
    let state = state.styled(told.verdict.name(), style.bold());
    let mut lines = vec![Line::blank()];
    lines.extend(titled(TITLE, state, &health(told), canvas));
    let room = canvas.measure() - MARGIN;
    lines.extend(block(&wrap_line(&told.artifact, room), MARGIN, STRONG));
    lines.extend(block(&wrap_items(&facts(told), room), MARGIN, FAINT));
    for (caution, style) in cautions(told) {
        lines.push(Line::blank());
        lines.extend(block(&wrap_line(&caution, room), MARGIN, style));
    }
    lines
}

/// Lists everything that limits the panel, so that a degraded panel is always visible.
fn health(told: &ReviewDocument) -> Vec<String> {
    let heard = told.policy.as_ref().map_or(0, |counted| counted.arithmetic.present);
    let mut words: Vec<String> = Vec::new();
    words.extend(told.rehearsal.then(|| "REHEARSAL".to_owned()));
    let is_abandoned = told.error.as_ref().is_some_and(Stopped::is_abandoned);
    words.extend(is_abandoned.then(|| "ABANDONED".to_owned()));
    words.extend(told.panel.degraded.then(|| "DEGRADED".to_owned()));
    words.push(format!("{heard} of {} heard", told.round1.len()));
    // All rehearsal seats share one family; the REHEARSAL caution covers that.
    let is_told = told.panel.single_family && !told.rehearsal;
    words.extend(is_told.then(|| "one family".to_owned()));
    words
}

fn facts(told: &ReviewDocument) -> Vec<String> {
    let mut facts = vec![told.artifact_type.clone(), format!("tier {}", told.tier.number())];
    facts.extend(told.producer.as_ref().map(|producer| format!("made by {producer}")));
    let digest = told.artifact_sha256.as_deref().and_then(|digest| digest.get(..DIGEST_SHOWN));
    facts.extend(digest.map(|digest| format!("sha256 {digest}…")));
    facts
}

fn cautions(told: &ReviewDocument) -> Vec<(String, Style)> {
    let mut cautions = Vec::new();
    if told.rehearsal {
        cautions.push((format!("REHEARSAL: {}", wording::REHEARSAL), CAUTION.bold()));
    }
    if let Some(error) = &told.error {
        let message = format!("{}: {}.", told.status, error.message);
        cautions.push((message, BAD.bold()));
    }
    let said = overridden(told).into_iter().map(|said| format!("OVERRIDDEN: {said}"));
    cautions.extend(said.map(|said| (said, CAUTION.bold())));
    cautions
}

pub(super) fn footer(
    transcript: &Transcript,
    told: &ReviewDocument,
    foot: Foot,
    canvas: Canvas,
) -> Vec<Line> {
    let room = canvas.measure() - MARGIN;
    let mut lines = heading("RECORD", "", canvas);
    let facts = told.metrics.as_ref().map(|metrics| spent(metrics, transcript.opened_at));
    lines.extend(block(&wrap_items(&facts.unwrap_or_default(), room), MARGIN, FAINT));
    for warning in &told.warnings {
        let lead = Line::indented(MARGIN).styled("! ", CAUTION);
        lines.extend(hanging(lead, &wrap_line(warning, room - MARGIN), FAINT));
    }
    let id = &transcript.opening.dialogue_id;
    let verdict = told.verdict_id.as_deref().unwrap_or_default();
    lines.push(match foot {
        Foot::Hint => Line::indented(MARGIN).styled(&format!("plenary show {id}"), GOOD),
        // A verdict id contains the dialogue id.
        Foot::Id if !verdict.is_empty() => Line::indented(MARGIN).styled(verdict, ID),
        Foot::Id => Line::indented(MARGIN).styled(id.as_str(), ID),
    });
    lines
}
