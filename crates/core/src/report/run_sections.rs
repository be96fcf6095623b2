//! Sections of a page about a run: interventions, replies as they came, and what it cost.

use crate::model::ask::{AskState, CallOutcome, CallState, RequestParameter};
use crate::model::plan::ContextPack;
use crate::model::run_state::RunState;
use crate::model::time::Moment;
use crate::report::interventions::TimedIntervention;
use crate::report::page::{ListItem, PageBlock, PageDetail, PageSection, RichText, TextTone};
use crate::report::phrases::{call_error_text, count_noun, format_bytes, group_digits, round_name};
use crate::report::record_page::warning_list;
use crate::report::run_metrics::RunMetrics;

/// The Principal's interventions, in time order.
pub(crate) fn interventions_section(all: &[TimedIntervention]) -> PageSection {
    let items = all.iter().map(intervention_item).collect();
    let blocks = if all.is_empty() { Vec::new() } else { vec![PageBlock::List(items)] };
    PageSection::new("Interventions", blocks).with_note(all.len().to_string())
}

fn intervention_item(one: &TimedIntervention) -> ListItem {
    let (time, round) = (one.at.format_second(), round_name(one.seen.round));
    let what = format!("{time} · {round} · {}", one.seen.action_text());
    let notes = one.seen.detail_texts().into_iter().map(RichText::from).collect();
    let mark = RichText::toned("»", TextTone::Id);
    ListItem::new(mark, RichText::toned(what, TextTone::Faint)).with_notes(notes)
}

/// The files of the question: sent whole, listed by name only, or left out.
pub(crate) fn files_section(context: &ContextPack) -> PageSection {
    let item =
        |path: &str, printed: String| ListItem::new(RichText::toned(path, TextTone::Code), printed);
    let sent = context.files.iter().map(|file| {
        let size = format_bytes(file.text.len());
        item(&file.path, format!("sent whole · {size} · sha256 {}", file.sha256))
    });
    let named = context.indexed.iter().map(|file| {
        let size = format_bytes(usize::try_from(file.bytes).unwrap_or(usize::MAX));
        item(&file.path, format!("sent by name only · {size}"))
    });
    let omitted = context.excluded.iter();
    let omitted = omitted.map(|file| item(&file.path, format!("left out · {}", file.reason)));
    let items: Vec<ListItem> = sent.chain(named).chain(omitted).collect();
    let count = items.len();
    let blocks = (count > 0).then_some(PageBlock::List(items));
    PageSection::new("Files", blocks.into_iter().collect()).with_note(count.to_string())
}

/// The replies of all seats in order, with the interventions between them.
pub(crate) fn replies_section(
    state: &RunState,
    interventions: &[TimedIntervention],
) -> PageSection {
    let mut parts = Vec::new();
    let mut noted = interventions.iter();
    let mut shown = 0;
    let margin = |one: &TimedIntervention| {
        PageSection::new("Intervention", vec![PageBlock::List(vec![intervention_item(one)])])
    };
    for asked in &state.asks {
        // An ask stores how many interventions it saw; those are shown above it.
        let before = asked.interventions.saturating_sub(shown);
        shown = shown.max(asked.interventions);
        parts.extend(noted.by_ref().take(before).map(margin));
        parts.extend(asked.calls.iter().map(|call| reply_section(asked, call)));
    }
    parts.extend(noted.map(margin));
    PageSection::new("Replies", Vec::new()).with_note("as they came").with_sections(parts)
}

fn reply_section(asked: &AskState, call: &CallState) -> PageSection {
    let printed = match &call.outcome {
        CallOutcome::Replied(reply, _) => reply.text.clone(),
        CallOutcome::Failed(failure, _) => {
            format!("({}: {})", call_error_text(failure.error_type), failure.message)
        }
        CallOutcome::InFlight | CallOutcome::Lost => "(no reply)".to_owned(),
    };
    let place = format!("{}, call {}", round_name(asked.ask.round), call.dispatch.call);
    PageSection::new(asked.ask.seat.as_str(), vec![PageBlock::prose(&printed)]).with_note(place)
}

/// The last section of a run: what it cost, warnings, and the command that shows more.
pub(crate) fn run_record_section(
    facts: Vec<String>,
    warnings: &[String],
    (hint, command): (&str, String),
    detail: PageDetail,
) -> PageSection {
    let facts = facts.into_iter().map(RichText::from).collect();
    let mut blocks = vec![PageBlock::Facts(facts)];
    blocks.extend((!warnings.is_empty()).then(|| warning_list(warnings)));
    if detail == PageDetail::Result {
        blocks.push(PageBlock::Paragraph(RichText::toned(hint, TextTone::Faint)));
        blocks.push(PageBlock::Command(command));
    }
    PageSection::new("Record", blocks)
}

/// Lists rounds, calls, tokens, time, cost and date.
pub(crate) fn list_spending(metrics: &RunMetrics, opened_at: Moment) -> Vec<String> {
    let session = &metrics.session;
    let cost = session.total_cost_estimate.map_or_else(
        || "cost unknown".to_owned(),
        |usd| if usd > 0.0 { format!("${usd:.4}") } else { "no cost".to_owned() },
    );
    let tokens = session.total_tokens_in + session.total_tokens_out;
    let mut facts = vec![
        count_noun(usize::from(session.rounds_completed), "round"),
        count_noun(session.calls, "call"),
        format!("{} tokens", group_digits(tokens)),
    ];
    let share = session.cached_share.filter(|share| *share >= 0.005);
    facts.extend(share.map(|share| format!("{:.0} % of input from cache", share * 100.0)));
    let repeated = |(parameter, calls): &(RequestParameter, usize)| {
        format!("{} repeated without `{parameter}`", count_noun(*calls, "call"))
    };
    facts.extend(session.refused.iter().map(repeated));
    facts.push(format!("{:.1} s", session.total_duration_ms as f64 / 1_000.0));
    facts.extend([cost, opened_at.utc_day().to_string()]);
    facts
}
