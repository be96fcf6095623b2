//! The `doctor` page: the state of the configuration, the store and each provider, then advice.

use anstyle::Style;

use super::canvas::Canvas;
use super::layout::{MARGIN, hanging, heading};
use super::line::Line;
use super::palette::{BAD, FAINT, GOOD, PLAIN, STRONG};
use crate::export::wording;
use crate::surfaces::cli::doctor::{Checkup, ProviderSeen, State};
use crate::surfaces::cli::wrap::wrap_line;

/// Width of `config` or `store` and two spaces.
const PLACE: usize = 8;

/// Width of the longest label, `price` or `model`, and two spaces.
const WORD: usize = 7;

pub(in crate::surfaces::cli) fn draw(checkup: &Checkup, canvas: Canvas) -> String {
    let mut lines = vec![Line::blank()];
    lines.extend(heading("DOCTOR", &count(&checkup.providers), canvas));
    lines.extend(places(checkup, canvas));
    for provider in &checkup.providers {
        lines.push(Line::blank());
        lines.extend(provider_lines(provider, canvas));
    }
    if !checkup.advice.is_empty() {
        lines.push(Line::blank());
        lines.extend(heading("WHAT TO DO", "", canvas));
    }
    for advice in &checkup.advice {
        lines.extend(beside(Line::indented(MARGIN).styled("· ", FAINT), advice, canvas));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn count(providers: &[ProviderSeen]) -> String {
    let usable = providers.iter().filter(|provider| provider.usable).count();
    match providers.len() {
        0 => "no provider".to_owned(),
        all => format!("{usable} of {} usable", wording::count(all, "provider")),
    }
}

fn places(checkup: &Checkup, canvas: Canvas) -> Vec<Line> {
    let (state, file) = match &checkup.config.file {
        Some(path) => (State::Good, path.display().to_string()),
        None => (State::Open, "no council.yaml; providers are looked for".to_owned()),
    };
    let store = &checkup.store;
    let opens = match store.opens {
        Some(true) => State::Good,
        Some(false) => State::Bad,
        None => State::Open,
    };
    let told = format!("{} ({})", store.path.display(), store.detail);
    let mut lines = item(MARGIN, state, "config", PLACE, &file, canvas);
    lines.extend(item(MARGIN, opens, "store", PLACE, &told, canvas));
    lines
}

fn provider_lines(provider: &ProviderSeen, canvas: Canvas) -> Vec<Line> {
    let (state, word) =
        if provider.usable { (State::Good, "usable") } else { (State::Bad, "NOT USABLE") };
    let (mark, style) = look(state);
    let lead = Line::indented(MARGIN)
        .styled(mark, style)
        .plain(" ")
        .styled(&provider.name, STRONG)
        .plain("  ")
        .styled(word, style)
        .plain("  ");
    let facts = format!("{} · {}", provider.model, provider.found_by);
    let mut lines = beside(lead, &facts, canvas);
    let mut tell = |state: State, word: &str, detail: &str| {
        lines.extend(item(MARGIN * 2, state, word, WORD, detail, canvas));
    };
    if let Some(key) = &provider.key {
        let (state, set) = match (key.present, provider.usable) {
            (true, _) => (State::Good, "is set"),
            (false, true) => (State::Open, "is not set"),
            (false, false) => (State::Bad, "is not set"),
        };
        tell(state, "key", &format!("{} {set}", key.variable));
    }
    for transport in &provider.transports {
        let state = match (transport.usable, provider.usable) {
            (true, _) => State::Good,
            (false, true) => State::Open,
            (false, false) => State::Bad,
        };
        tell(state, transport.kind.name(), &transport.detail);
    }
    let (state, model) = provider.about_model();
    tell(state, "model", &model);
    let (state, price) = provider.about_price();
    tell(state, "price", &price);
    lines
}

fn item(
    indent: usize,
    state: State,
    word: &str,
    width: usize,
    detail: &str,
    canvas: Canvas,
) -> Vec<Line> {
    let (mark, style) = look(state);
    let lead = Line::indented(indent).styled(mark, style).plain(" ").styled(word, FAINT);
    beside(lead.pad_to(indent + 2 + width), detail, canvas)
}

fn beside(lead: Line, text: &str, canvas: Canvas) -> Vec<Line> {
    let room = canvas.measure().saturating_sub(lead.width());
    hanging(lead, &wrap_line(text, room), PLAIN)
}

fn look(state: State) -> (&'static str, Style) {
    match state {
        State::Good => ("✓", GOOD),
        State::Bad => ("×", BAD),
        State::Open => ("·", FAINT),
    }
}
