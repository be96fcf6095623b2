//! Start and foot of a review page: artifact, verdict, panel health and cautions; then cost.

use anstyle::Style;

use crate::domain::transcript::RunState;
use crate::export::council::StopNotice;
use crate::export::gate::ReviewDocument;
use crate::export::gate::words::override_lines;
use crate::export::wording;
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::council::PageFoot;
use crate::surfaces::cli::show::layout::{
    MARGIN, draw_heading, draw_page_title, hang_block, indent_block,
};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{self, BAD, CAUTION, FAINT, GOOD, ID, STRONG};
use crate::surfaces::cli::show::spending::list_spending;
use crate::surfaces::cli::wrap::{wrap_items, wrap_line};

const REVIEW_TITLE: &str = "REVIEW";

/// Characters of the digest that are shown; enough to distinguish files.
const DIGEST_CHARS_SHOWN: usize = 12;

pub(super) fn draw_headline(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let (mark, style) = palette::review_mark(told.verdict);
    let state = StyledLine::blank().push_styled(mark, style).push_plain(" ");
    let state = state.push_styled(told.verdict.name(), style.bold());
    let mut lines = vec![StyledLine::blank()];
    lines.extend(draw_page_title(REVIEW_TITLE, state, &list_health(told), canvas));
    let room = canvas.text_width() - MARGIN;
    lines.extend(indent_block(&wrap_line(&told.artifact, room), MARGIN, STRONG));
    lines.extend(indent_block(&wrap_items(&list_facts(told), room), MARGIN, FAINT));
    for (caution, style) in list_cautions(told) {
        lines.push(StyledLine::blank());
        lines.extend(indent_block(&wrap_line(&caution, room), MARGIN, style));
    }
    lines
}

/// Lists everything that limits the panel, so that a degraded panel is always visible.
fn list_health(told: &ReviewDocument) -> Vec<String> {
    let heard = told.policy.as_ref().map_or(0, |counted| counted.arithmetic.present);
    let mut words: Vec<String> = Vec::new();
    words.extend(told.rehearsal.then(|| "REHEARSAL".to_owned()));
    let is_abandoned = told.error.as_ref().is_some_and(StopNotice::is_abandoned);
    words.extend(is_abandoned.then(|| "ABANDONED".to_owned()));
    words.extend(told.panel.degraded.then(|| "DEGRADED".to_owned()));
    words.push(format!("{heard} of {} heard", told.round1.len()));
    // All rehearsal seats share one family; the REHEARSAL caution covers that.
    let is_told = told.panel.single_family && !told.rehearsal;
    words.extend(is_told.then(|| "one family".to_owned()));
    words
}

fn list_facts(told: &ReviewDocument) -> Vec<String> {
    let mut facts = vec![told.artifact_type.clone(), format!("tier {}", told.tier.tier_number())];
    facts.extend(told.producer.as_ref().map(|producer| format!("made by {producer}")));
    let digest =
        told.artifact_sha256.as_deref().and_then(|digest| digest.get(..DIGEST_CHARS_SHOWN));
    facts.extend(digest.map(|digest| format!("sha256 {digest}…")));
    facts
}

fn list_cautions(told: &ReviewDocument) -> Vec<(String, Style)> {
    let mut cautions = Vec::new();
    if told.rehearsal {
        cautions.push((format!("REHEARSAL: {}", wording::REHEARSAL_NOTE), CAUTION.bold()));
    }
    if let Some(error) = &told.error {
        let message = format!("{}: {}.", told.status, error.message);
        cautions.push((message, BAD.bold()));
    }
    let said = override_lines(told).into_iter().map(|said| format!("OVERRIDDEN: {said}"));
    cautions.extend(said.map(|said| (said, CAUTION.bold())));
    cautions
}

pub(super) fn draw_footer(
    transcript: &RunState,
    told: &ReviewDocument,
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let room = canvas.text_width() - MARGIN;
    let mut lines = draw_heading("RECORD", "", canvas);
    let facts = told.metrics.as_ref().map(|metrics| list_spending(metrics, transcript.opened_at));
    lines.extend(indent_block(&wrap_items(&facts.unwrap_or_default(), room), MARGIN, FAINT));
    for warning in &told.warnings {
        let lead = StyledLine::with_indent(MARGIN).push_styled("! ", CAUTION);
        lines.extend(hang_block(lead, &wrap_line(warning, room - MARGIN), FAINT));
    }
    let id = &transcript.opening.dialogue_id;
    let verdict = told.verdict_id.as_deref().unwrap_or_default();
    lines.push(match foot {
        PageFoot::Hint => {
            StyledLine::with_indent(MARGIN).push_styled(&format!("plenary show {id}"), GOOD)
        }
        // A verdict id contains the dialogue id.
        PageFoot::Id if !verdict.is_empty() => {
            StyledLine::with_indent(MARGIN).push_styled(verdict, ID)
        }
        PageFoot::Id => StyledLine::with_indent(MARGIN).push_styled(id.as_str(), ID),
    });
    lines
}
