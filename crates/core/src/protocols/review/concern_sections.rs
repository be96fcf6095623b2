//! The concerns of each deliberator on a review page, and how its verdict changed between the
//! rounds.

use crate::protocols::review::document::{PlacedConcern, ReviewDocument};
use crate::protocols::review::locus::names_lines;
use crate::protocols::review::phrases::{QUOTE_NOT_FOUND, block_label, line_range, stance_text};
use crate::protocols::review::seat_results::{NumberedConcern, RoundResult, SeatResult};
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement};
use crate::report::marks::deliberator_mark;
use crate::report::page::{ListItem, PageBlock, PageDetail, PageSection, RichText, TextTone};
use crate::report::phrases::shorten_text;

/// Length of a cited concern; the full text is in the section of its author.
const CITED_CHARS_MAX: usize = 160;

pub(crate) fn concerns_section(
    outcome: &ReviewDocument,
    results: &[SeatResult<'_>],
    detail: PageDetail,
) -> PageSection {
    let parts = results.iter().filter_map(|result| seat_section(outcome, result, detail)).collect();
    PageSection::new("Concerns", Vec::new())
        .with_note(outcome.concerns.len().to_string())
        .with_sections(parts)
}

/// A deliberator's concerns; none if it has no concern and does not block.
fn seat_section(
    outcome: &ReviewDocument,
    result: &SeatResult<'_>,
    detail: PageDetail,
) -> Option<PageSection> {
    let judged = result.final_judgement()?;
    if judged.concerns.is_empty() && judged.block_level() == BlockLevel::None {
        return None;
    }
    let own = outcome.concerns.iter().filter(|one| one.deliberator == *result.seat);
    let items: Vec<ListItem> = own.map(concern_item).collect();
    let mut blocks: Vec<PageBlock> = Vec::new();
    blocks.push(match items.is_empty() {
        // A block without a concern cannot be fixed, so say it.
        true => PageBlock::Paragraph("This deliberator names no concern.".into()),
        false => PageBlock::List(items),
    });
    // The adjudicator merges the briefs; without one, show each deliberator's own.
    let is_wanted = outcome.adjudicator.is_none() || detail.is_complete();
    if is_wanted && !judged.revision_brief.trim().is_empty() {
        blocks.push(PageBlock::Facts(vec!["Its brief".into()]));
        blocks.push(PageBlock::prose(&judged.revision_brief));
    }
    let note = RichText::toned(describe_judgement(judged), deliberator_mark(judged.verdict).1);
    Some(PageSection::new(result.seat.as_str(), blocks).with_note(note))
}

fn describe_judgement(judged: &DeliberatorJudgement) -> String {
    let mut words = vec![judged.verdict.name()];
    words.extend(block_label(judged.block_level()));
    words.join(", ")
}

/// For example `skeptic-1 L3  “Nothing can go wrong” promises what no software keeps.`
fn concern_item(one: &PlacedConcern) -> ListItem {
    let place = line_range(one.line, one.end_line);
    let lead = RichText::strong(one.id.as_str());
    let lead = match &place {
        Some(place) => lead.push(format!(" {place}"), TextTone::Id),
        None => lead,
    };
    let locus = one.concern.locus.trim();
    // Skip a locus that only repeats the line number.
    let is_told = locus.is_empty() || place.is_some() && names_lines(locus);
    let mut notes = Vec::new();
    if !is_told {
        let at = RichText::toned("at ", TextTone::Faint).push(locus, TextTone::Plain);
        notes.push(match one.quote_not_found {
            true => at.push(format!(" ({QUOTE_NOT_FOUND})"), TextTone::Caution),
            false => at,
        });
    }
    let fix = one.concern.fix.trim();
    notes.extend(
        (!fix.is_empty()).then(|| RichText::toned("→ ", TextTone::Good).push(fix, TextTone::Plain)),
    );
    ListItem::new(lead, one.concern.issue.as_str()).with_notes(notes)
}

pub(crate) fn changes_section(
    outcome: &ReviewDocument,
    results: &[SeatResult<'_>],
    detail: PageDetail,
) -> PageSection {
    if outcome.round2.is_empty() {
        return PageSection::default();
    }
    let changed = results.iter().filter(|one| one.is_changed()).count();
    let parts: Vec<PageSection> =
        results.iter().filter_map(|one| change_section(one, results, detail)).collect();
    let unchanged = "No deliberator changed its verdict.";
    let none = || PageBlock::Paragraph(RichText::toned(unchanged, TextTone::Faint));
    let blocks = parts.is_empty().then(none);
    PageSection::new("Between the rounds", blocks.into_iter().collect())
        .with_note(format!("{changed} changed"))
        .with_sections(parts)
}

/// One deliberator; none if it did not change.
fn change_section(
    result: &SeatResult<'_>,
    all: &[SeatResult<'_>],
    detail: PageDetail,
) -> Option<PageSection> {
    let is_wanted = result.is_changed() || detail == PageDetail::Full;
    let seat = result.seat.as_str();
    let note = match (&result.first, &result.second) {
        (RoundResult::Judged(before), RoundResult::Judged(after)) if is_wanted => {
            let how = format!("{} → {}", stance_text(before), stance_text(after));
            let blocks = vec![PageBlock::List(reason_items(result, after, all))];
            return Some(PageSection::new(seat, blocks).with_note(RichText::from(how)));
        }
        (RoundResult::Judged(_), RoundResult::Absent(_)) => {
            "It did not answer again; its first judgement counts."
        }
        (RoundResult::Absent(_), RoundResult::Judged(_)) => "It answered in the second round only.",
        (RoundResult::Open | RoundResult::Judged(_) | RoundResult::Absent(_), _) => return None,
    };
    let text = RichText::toned(note, TextTone::Caution);
    Some(PageSection::new(seat, vec![PageBlock::Paragraph(text)]))
}

fn reason_items(
    result: &SeatResult<'_>,
    after: &DeliberatorJudgement,
    all: &[SeatResult<'_>],
) -> Vec<ListItem> {
    let mut items = Vec::new();
    let delta = after.delta_from_r1.trim();
    items.extend((!delta.is_empty()).then(|| ListItem::new("", delta)));
    let lead = |word: &str| RichText::toned(word, TextTone::Faint);
    let lists = [("concedes", &after.concessions), ("insists", &after.escalations)];
    for (word, texts) in lists {
        items.extend(texts.iter().map(|text| ListItem::new(lead(word), text.as_str())));
    }
    items.extend(result.cited_concerns(all).iter().map(citation_item));
    if result.is_uncited(all) {
        let word = RichText::toned("UNCITED:", TextTone::Caution);
        items.push(ListItem::new(word, "cites no concern of another deliberator"));
    }
    items
}

fn citation_item(cited: &NumberedConcern<'_>) -> ListItem {
    let id = RichText::strong(cited.id.as_str()).push(": ", TextTone::Plain);
    let issue = shorten_text(&cited.concern.issue, CITED_CHARS_MAX);
    ListItem::new("", id.push(issue, TextTone::Plain))
}
