//! The panel of a council page: each seat's stance, confidence and ratings, and the tally.

use anstyle::Style;

use crate::domain::council::opinion::CouncilOpinion;
use crate::domain::council::tally::StanceTally;
use crate::domain::council::words::OpinionStance;
use crate::domain::ids::ExpertSlug;
use crate::export::council::CouncilDocument;
use crate::export::wording;
use crate::protocols::council::ProviderFailure;
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, indent_block, indent_prose};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, FAINT, GOOD, PLAIN, STRONG};
use crate::surfaces::cli::wrap::wrap_line;

/// Indent of the text of an opinion.
const PANEL_INDENT: usize = MARGIN + 2;

pub(super) fn draw_panel(told: &CouncilDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("HOW THEY STOOD", &describe_tally(told.tally), canvas);
    let width = seat_name_width(told);
    for opinion in &told.rounds.r1.opinions {
        lines.extend(draw_panel_opinion(told, opinion, width, canvas));
    }
    for failure in &told.panel.failed {
        lines.extend(draw_failure(failure, width, canvas));
    }
    if let Some(choice) = &told.peer_choice {
        let basis = match choice.rating {
            Some(rating) => {
                format!("rated {rating} of 10 by {}", wording::count_noun(choice.ratings, "peer"))
            }
            None => "the most complete; nobody rated it".to_owned(),
        };
        let told = format!("Best single opinion: {}, {basis}", choice.provider);
        lines.extend(indent_block(&wrap_line(&told, canvas.text_width() - MARGIN), MARGIN, FAINT));
    }
    lines
}

/// Draws the tally and one line per seat.
pub(super) fn draw_panel_brief(told: &CouncilDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("HOW THEY STOOD", &describe_tally(told.tally), canvas);
    let width = seat_name_width(told);
    let opinions = told.rounds.r1.opinions.iter();
    lines.extend(opinions.map(|one| stance_line(one, &opinion_facts(told, one), width, canvas)));
    lines.extend(told.panel.failed.iter().map(|failure| absence_line(failure, width)));
    lines
}

fn describe_tally(tally: StanceTally) -> String {
    let stances = OpinionStance::ALL.iter().filter(|stance| tally.count_of(**stance) > 0);
    let words = stances.map(|stance| match stance {
        OpinionStance::None => format!("{} without a stance", tally.count_of(*stance)),
        OpinionStance::Approve
        | OpinionStance::Reject
        | OpinionStance::Conditional
        | OpinionStance::Abstain => {
            format!("{} {stance}", tally.count_of(*stance))
        }
    });
    words.collect::<Vec<_>>().join(" · ")
}

fn seat_name_width(told: &CouncilDocument) -> usize {
    let names = told.rounds.r1.opinions.iter().map(|opinion| &opinion.provider);
    let failed = told.panel.failed.iter().map(|failure| &failure.provider);
    names.chain(failed).map(|name| name.as_str().len()).max().unwrap_or(0)
}

fn draw_panel_opinion(
    told: &CouncilDocument,
    opinion: &CouncilOpinion,
    width: usize,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut facts = opinion_facts(told, opinion);
    // The chair sees opinions by letter and may cite them so.
    let letters = &told.transparency.letter_map;
    let known = letters.iter().find(|(_, name)| **name == opinion.provider);
    facts.extend(known.map(|(letter, _)| format!("opinion {letter}")));
    let mut lines = vec![stance_line(opinion, &facts, width, canvas)];
    let said = &opinion.opinion;
    lines.extend(indent_prose(
        &wrap_line(&said.summary, canvas.text_width() - PANEL_INDENT),
        PANEL_INDENT,
    ));
    lines.push(StyledLine::blank());
    lines
}

fn opinion_facts(told: &CouncilDocument, opinion: &CouncilOpinion) -> Vec<String> {
    let truncated = opinion.truncated.then(|| "cut off".to_owned());
    let confidence = format!("confidence {}", opinion.opinion.confidence);
    truncated
        .into_iter()
        .chain([confidence])
        .chain(describe_ratings(told, &opinion.provider))
        .collect()
}

fn stance_line(
    opinion: &CouncilOpinion,
    facts: &[String],
    width: usize,
    canvas: PageCanvas,
) -> StyledLine {
    let said = &opinion.opinion;
    let (mark, style) = stance_mark(said.stance);
    StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(opinion.provider.as_str(), STRONG)
        .pad_to_column(PANEL_INDENT + width + 2)
        .push_styled(&format!("{:<13}", said.stance.name()), style)
        .push_fitted(&facts.join(" · "), FAINT, canvas.column_count())
}

fn describe_ratings(told: &CouncilDocument, of: &ExpertSlug) -> Option<String> {
    let reviews = told.rounds.r2.as_ref()?;
    let targets = reviews.reviews.iter().flat_map(|review| &review.targets);
    let ratings: Vec<String> = targets
        .filter(|target| target.target_provider == *of)
        .map(|target| target.target.rating.to_string())
        .collect();
    (!ratings.is_empty()).then(|| format!("rated {}", ratings.join(", ")))
}

fn draw_failure(failure: &ProviderFailure, width: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = vec![absence_line(failure, width)];
    let room = canvas.text_width() - PANEL_INDENT;
    lines.extend(indent_prose(&wrap_line(&failure.error_message, room), PANEL_INDENT));
    lines.push(StyledLine::blank());
    lines
}

fn absence_line(failure: &ProviderFailure, width: usize) -> StyledLine {
    StyledLine::with_indent(MARGIN)
        .push_styled("×", BAD)
        .push_plain(" ")
        .push_styled(failure.provider.as_str(), STRONG)
        .pad_to_column(PANEL_INDENT + width + 2)
        .push_styled("absent", BAD)
        .push_plain(&format!("  {} {}", failure.round, failure.error_type))
}

fn stance_mark(stance: OpinionStance) -> (&'static str, Style) {
    match stance {
        OpinionStance::Approve => ("●", GOOD),
        OpinionStance::Reject => ("▲", BAD),
        OpinionStance::Conditional => ("◐", CAUTION),
        OpinionStance::Abstain | OpinionStance::None => ("○", PLAIN),
    }
}
