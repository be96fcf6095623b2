//! The panel of a council page: each seat's stance, confidence and ratings, and the tally.

use anstyle::Style;

use crate::domain::council::opinion::CouncilOpinion;
use crate::domain::council::tally::Tally;
use crate::domain::council::words::Stance;
use crate::domain::ids::ExpertSlug;
use crate::export::council::Deliberated;
use crate::export::wording;
use crate::protocols::council::ProviderFailure;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, block, heading, prose};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{BAD, CAUTION, FAINT, GOOD, PLAIN, STRONG};
use crate::surfaces::cli::wrap::wrap_line;

/// Indent of the text of an opinion.
const INDENT: usize = MARGIN + 2;

pub(super) fn draw(told: &Deliberated, canvas: Canvas) -> Vec<Line> {
    let mut lines = heading("HOW THEY STOOD", &count(told.tally), canvas);
    let width = name_width(told);
    for opinion in &told.rounds.r1.opinions {
        lines.extend(opinion_lines(told, opinion, width, canvas));
    }
    for failure in &told.panel.failed {
        lines.extend(failure_lines(failure, width, canvas));
    }
    if let Some(choice) = &told.peer_choice {
        let basis = match choice.rating {
            Some(rating) => {
                format!("rated {rating} of 10 by {}", wording::count(choice.ratings, "peer"))
            }
            None => "the most complete; nobody rated it".to_owned(),
        };
        let told = format!("Best single opinion: {}, {basis}", choice.provider);
        lines.extend(block(&wrap_line(&told, canvas.measure() - MARGIN), MARGIN, FAINT));
    }
    lines
}

/// Draws the tally and one line per seat.
pub(super) fn in_short(told: &Deliberated, canvas: Canvas) -> Vec<Line> {
    let mut lines = heading("HOW THEY STOOD", &count(told.tally), canvas);
    let width = name_width(told);
    let opinions = told.rounds.r1.opinions.iter();
    lines.extend(opinions.map(|one| stance_line(one, &facts(told, one), width, canvas)));
    lines.extend(told.panel.failed.iter().map(|failure| absence_line(failure, width)));
    lines
}

fn count(tally: Tally) -> String {
    let stances = Stance::ALL.iter().filter(|stance| tally.count(**stance) > 0);
    let words = stances.map(|stance| match stance {
        Stance::None => format!("{} without a stance", tally.count(*stance)),
        Stance::Approve | Stance::Reject | Stance::Conditional | Stance::Abstain => {
            format!("{} {stance}", tally.count(*stance))
        }
    });
    words.collect::<Vec<_>>().join(" · ")
}

fn name_width(told: &Deliberated) -> usize {
    let names = told.rounds.r1.opinions.iter().map(|opinion| &opinion.provider);
    let failed = told.panel.failed.iter().map(|failure| &failure.provider);
    names.chain(failed).map(|name| name.as_str().len()).max().unwrap_or(0)
}

fn opinion_lines(
    told: &Deliberated,
    opinion: &CouncilOpinion,
    width: usize,
    canvas: Canvas,
) -> Vec<Line> {
    let mut facts = facts(told, opinion);
    // The chair sees opinions by letter and may cite them so.
    let letters = &told.transparency.letter_map;
    let known = letters.iter().find(|(_, name)| **name == opinion.provider);
    facts.extend(known.map(|(letter, _)| format!("opinion {letter}")));
    let mut lines = vec![stance_line(opinion, &facts, width, canvas)];
    let said = &opinion.opinion;
    lines.extend(prose(&wrap_line(&said.summary, canvas.measure() - INDENT), INDENT));
    lines.push(Line::blank());
    lines
}

fn facts(told: &Deliberated, opinion: &CouncilOpinion) -> Vec<String> {
    let truncated = opinion.truncated.then(|| "cut off".to_owned());
    let confidence = format!("confidence {}", opinion.opinion.confidence);
    truncated.into_iter().chain([confidence]).chain(rating(told, &opinion.provider)).collect()
}

fn stance_line(opinion: &CouncilOpinion, facts: &[String], width: usize, canvas: Canvas) -> Line {
    let said = &opinion.opinion;
    let (mark, style) = of_stance(said.stance);
    Line::indented(MARGIN)
        .styled(mark, style)
        .plain(" ")
        .styled(opinion.provider.as_str(), STRONG)
        .pad_to(INDENT + width + 2)
        .styled(&format!("{:<13}", said.stance.name()), style)
        .fitted(&facts.join(" · "), FAINT, canvas.columns())
}

fn rating(told: &Deliberated, of: &ExpertSlug) -> Option<String> {
    let reviews = told.rounds.r2.as_ref()?;
    let targets = reviews.reviews.iter().flat_map(|review| &review.targets);
    let ratings: Vec<String> = targets
        .filter(|target| target.target_provider == *of)
        .map(|target| target.target.rating.to_string())
        .collect();
    (!ratings.is_empty()).then(|| format!("rated {}", ratings.join(", ")))
}

fn failure_lines(failure: &ProviderFailure, width: usize, canvas: Canvas) -> Vec<Line> {
    let mut lines = vec![absence_line(failure, width)];
    let room = canvas.measure() - INDENT;
    lines.extend(prose(&wrap_line(&failure.error_message, room), INDENT));
    lines.push(Line::blank());
    lines
}

fn absence_line(failure: &ProviderFailure, width: usize) -> Line {
    Line::indented(MARGIN)
        .styled("×", BAD)
        .plain(" ")
        .styled(failure.provider.as_str(), STRONG)
        .pad_to(INDENT + width + 2)
        .styled("absent", BAD)
        .plain(&format!("  {} {}", failure.round, failure.error_type))
}

fn of_stance(stance: Stance) -> (&'static str, Style) {
    match stance {
        Stance::Approve => ("●", GOOD),
        Stance::Reject => ("▲", BAD),
        Stance::Conditional => ("◐", CAUTION),
        Stance::Abstain | Stance::None => ("○", PLAIN),
    }
}
