//! The panel on a council page: each seat's stance, confidence and ratings, its opinion and its
//! reviews.

use crate::model::ids::ExpertSlug;
use crate::prompting::lens::lens_name;
use crate::protocols::council::answers::ProviderFailure;
use crate::protocols::council::document::{CancelledSeat, CouncilDocument, UnaskedSeat};
use crate::protocols::council::report_sections::arrow_note;
use crate::protocols::council::types::{
    CouncilOpinion, CouncilPeerReview, NamedAssessment, OpinionStance, RatingLevel, StanceTally,
};
use crate::report::marks::{severity_tone, stance_mark};
use crate::report::page::{
    ColumnKind, ListItem, PageBlock, PageDetail, PageSection, PageTable, RichText, TableColumn,
    TableRow, TextTone,
};
use crate::report::phrases::{call_error_text, count_noun};

/// A row for each seat; its summary too, unless a conclusion is above.
pub(crate) fn positions_section(result: &CouncilDocument, detail: PageDetail) -> PageSection {
    let is_brief = detail == PageDetail::Result && result.ended.conclusion.is_some();
    let columns = [
        ("Seat", ColumnKind::Short),
        ("stance", ColumnKind::Short),
        ("confidence", ColumnKind::Short),
        ("ratings", ColumnKind::Short),
        ("opinion", ColumnKind::Short),
        ("in short", ColumnKind::Below),
    ];
    let width = if is_brief { 4 } else { columns.len() };
    let opinions = result.rounds.r1.opinions.iter().map(|opinion| position_row(result, opinion));
    let failed = result.panel.failed.iter().map(|failure| absence_row(result, failure));
    let cancelled = result.panel.cancelled.iter().map(cancelled_row);
    let unasked = result.panel.unasked.iter().map(unasked_row);
    let rows = opinions.chain(failed).chain(cancelled).chain(unasked).map(|mut row| {
        // Each absence has a reason, so it is not cut.
        row.cells.truncate(width);
        row
    });
    let columns = columns.into_iter().take(width);
    let columns = columns.map(|(heading, kind)| TableColumn::new(heading, kind)).collect();
    let table = PageTable { columns, rows: rows.collect() };
    let table = Some(table).filter(|table| !table.rows.is_empty());
    let mut blocks: Vec<PageBlock> = table.map(PageBlock::Table).into_iter().collect();
    if let Some(choice) = result.peer_choice.as_ref().filter(|_| !is_brief) {
        let basis = match choice.rating {
            Some(rating) => {
                format!("rated {rating} of 10 by {}", count_noun(choice.ratings, "peer"))
            }
            None => "the most complete; no peer rated it".to_owned(),
        };
        let text = format!("Best single opinion: {}, {basis}", choice.provider);
        blocks.push(PageBlock::Paragraph(RichText::toned(text, TextTone::Faint)));
    }
    PageSection::new("Positions", blocks).with_note(describe_tally(result.tally))
}

/// `2 approve · 1 conditional`
pub(crate) fn describe_tally(tally: StanceTally) -> String {
    let stances = OpinionStance::ALL.iter().filter(|stance| tally.count_of(**stance) > 0);
    let words = stances.map(|stance| match stance {
        OpinionStance::None => format!("{} without a stance", tally.count_of(*stance)),
        OpinionStance::Approve
        | OpinionStance::Reject
        | OpinionStance::Conditional
        | OpinionStance::Abstain => format!("{} {stance}", tally.count_of(*stance)),
    });
    words.collect::<Vec<_>>().join(" · ")
}

fn position_row(result: &CouncilDocument, opinion: &CouncilOpinion) -> TableRow {
    let printed = &opinion.opinion;
    let (mark, tone) = stance_mark(printed.stance);
    let cut = if opinion.truncated { ", cut off" } else { "" };
    let lens = result.transparency.lens_of(&opinion.provider).map(lens_name);
    let seat = [Some(opinion.provider.to_string()), lens].into_iter().flatten();
    TableRow::new(vec![
        RichText::marked((mark, tone), &seat.collect::<Vec<_>>().join(", ")),
        RichText::toned(printed.stance.name(), tone),
        RichText::toned(format!("{}{cut}", printed.confidence), TextTone::Faint),
        RichText::toned(list_ratings(result, &opinion.provider), TextTone::Faint),
        RichText::toned(letter_of(result, &opinion.provider), TextTone::Faint),
        printed.summary.as_str().into(),
    ])
}

/// The chair sees opinions by letter and may cite them so.
fn letter_of(result: &CouncilDocument, seat: &ExpertSlug) -> String {
    let letters = &result.transparency.letter_map;
    let letter = letters.iter().find(|(_, name)| *name == seat);
    letter.map(|(letter, _)| letter.to_string()).unwrap_or_default()
}

fn list_ratings(result: &CouncilDocument, of: &ExpertSlug) -> String {
    let reviews = result.rounds.r2.iter().flat_map(|round| &round.reviews);
    let targets = reviews.flat_map(|review| &review.targets);
    let ratings = targets
        .filter(|target| target.target_provider == *of)
        .map(|target| target.target.rating.to_string());
    ratings.collect::<Vec<_>>().join(", ")
}

fn absence_row(result: &CouncilDocument, failure: &ProviderFailure) -> TableRow {
    let why = format!("{} {}", failure.round, call_error_text(failure.error_type));
    TableRow::new(vec![
        RichText::marked(("×", TextTone::Bad), failure.provider.as_str()),
        RichText::toned("absent", TextTone::Bad),
        why.into(),
        RichText::default(),
        RichText::toned(letter_of(result, &failure.provider), TextTone::Faint),
        failure.error_message.as_str().into(),
    ])
}

fn unasked_row(seat: &UnaskedSeat) -> TableRow {
    let why = format!("{} does not cover its call", seat.shortage.describe_budget());
    TableRow::new(vec![
        RichText::marked(("–", TextTone::Bad), seat.provider.as_str()),
        RichText::toned("not asked", TextTone::Bad),
        format!("{} budget", seat.round).into(),
        RichText::default(),
        RichText::default(),
        why.into(),
    ])
}

fn cancelled_row(seat: &CancelledSeat) -> TableRow {
    TableRow::new(vec![
        RichText::marked(("–", TextTone::Faint), seat.provider.as_str()),
        RichText::toned("cancelled", TextTone::Faint),
        format!("{} stopped", seat.round).into(),
        RichText::default(),
        RichText::default(),
        "the run was stopped before its answer came".into(),
    ])
}

/// Every opinion in full.
pub(crate) fn opinions_section(result: &CouncilDocument) -> PageSection {
    let parts = result.rounds.r1.opinions.iter().map(opinion_section).collect();
    PageSection::new("Opinions", Vec::new()).with_note("R1").with_sections(parts)
}

fn opinion_section(given: &CouncilOpinion) -> PageSection {
    let (printed, details) = (&given.opinion, &given.opinion.details);
    let texts = [
        ("summary", &printed.summary),
        ("understands", &details.understanding),
        ("recommends", &details.recommendation),
        ("because", &details.rationale),
    ];
    let lists = [
        ("considers", &details.key_considerations),
        ("compares", &details.alternatives_considered),
        ("cites", &details.evidence),
        ("assumes", &printed.assumptions),
        ("asks", &printed.questions),
    ];
    let lists = lists.into_iter().flat_map(|(lead, texts)| texts.iter().map(move |t| (lead, t)));
    let mut items: Vec<ListItem> =
        texts.into_iter().chain(lists).filter_map(|(lead, text)| faint_item(lead, text)).collect();
    items.extend(printed.risks.iter().map(|risk| {
        let notes = risk.mitigation.as_deref().map(arrow_note);
        severity_item("risk", risk.severity, &risk.description)
            .with_notes(notes.into_iter().collect())
    }));
    let note = format!("{}, confidence {}", printed.stance, printed.confidence);
    let note = add_cut_note(RichText::from(note), given.truncated);
    PageSection::new(given.provider.as_str(), vec![PageBlock::Fields(items)]).with_note(note)
}

/// A label and its text; none if the text is empty.
fn faint_item(lead: &str, text: &str) -> Option<ListItem> {
    (!text.trim().is_empty()).then(|| ListItem::new(lead, text))
}

fn severity_item(lead: &str, severity: RatingLevel, text: &str) -> ListItem {
    let level = RichText::toned(format!("{} ", severity.name()), severity_tone(severity));
    ListItem::new(lead, level.push(text, TextTone::Plain))
}

fn add_cut_note(note: RichText, is_cut: bool) -> RichText {
    if is_cut { note.push(", cut off before its end", TextTone::Caution) } else { note }
}

/// Every peer review in full.
pub(crate) fn peer_reviews_section(result: &CouncilDocument) -> PageSection {
    let reviews = result.rounds.r2.iter().flat_map(|round| &round.reviews);
    let parts = reviews.flat_map(|review| {
        review.targets.iter().map(move |target| peer_review_section(review, target))
    });
    PageSection::new("Reviews", Vec::new()).with_note("R2").with_sections(parts.collect())
}

fn peer_review_section(review: &CouncilPeerReview, named: &NamedAssessment) -> PageSection {
    let target = &named.target;
    let mut items: Vec<ListItem> = Vec::new();
    for critique in &target.critiques {
        let notes = critique.suggested_correction.as_deref().map(arrow_note);
        let text = format!("{}: {}", critique.critique_type, critique.message);
        let item = severity_item("critique", critique.severity, &text);
        items.push(item.with_notes(notes.into_iter().collect()));
    }
    items.extend(target.agreement_points.iter().filter_map(|point| faint_item("agrees", point)));
    items.extend(target.disagreement_points.iter().map(|point| {
        let text = format!(
            "{}: {}; the other says {}. {}",
            point.topic, point.reviewer_position, point.target_position, point.rationale
        );
        ListItem::new("disagrees", text)
    }));
    let is_last = review.targets.last().is_some_and(|last| std::ptr::eq(last, named));
    let change = review.would_change_my_opinion.iter().filter(|_| is_last);
    items.extend(change.filter_map(|text| faint_item("would change with", text)));
    let title = format!("{} on {}", review.reviewer_provider, named.target_provider);
    let note = add_cut_note(format!("{} of 10", target.rating).into(), review.truncated);
    PageSection::new(title, vec![PageBlock::Fields(items)]).with_note(note)
}
