//! `doctor`: the page of the report on configuration, store and providers.

use anstyle::Style;
use clap::Args;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::terminal::layout::{
    BAD, FAINT, GOOD, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, draw_heading, hang_block,
};
use plenary_core::report::terminal::wrap::wrap_line;
use plenary_engine::app::doctor::{
    CheckReach, CheckState, DoctorReport, DoctorStatus, ProviderCheck, check_project,
};
use plenary_engine::error::Error;

use crate::cli::session::{CliSession, ExitStatus};

/// Check every provider: key, program, server, model, price
///
/// Asks each provider of council.yaml, or each provider that was found, which models it offers, and
/// makes the smallest call that proves a seat: a reply of one word. `--offline` makes no call. Of a
/// key it prints the variable and whether it is set, never the value. Exit code 0 if `plenary ask`
/// can finish with the providers that answer, 1 if not, 5 if council.yaml has errors.
///
/// $ plenary doctor
///
/// $ plenary doctor --offline --json
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Check keys, programs and the file without a call
    #[arg(long)]
    offline: bool,
}

impl DoctorArgs {
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let reach = if self.offline { CheckReach::Offline } else { CheckReach::Online };
        let checkup = check_project(&session.loader, reach)?;
        let canvas = session.ui.page_canvas();
        session.ui.print_result(&checkup, |checkup| draw_doctor_page(checkup, canvas))?;
        Ok(match checkup.status {
            DoctorStatus::Success => ExitStatus::Ok,
            DoctorStatus::Findings => ExitStatus::WithFindings,
        })
    }
}

/// Width of `config` or `store` and two spaces.
const PLACE_WIDTH: usize = 8;

/// Width of the longest label, `price` or `model`, and two spaces.
const LABEL_WIDTH: usize = 7;

pub(crate) fn draw_doctor_page(checkup: &DoctorReport, canvas: PageCanvas) -> String {
    let mut lines = vec![StyledLine::blank()];
    lines.extend(draw_heading("DOCTOR", &count_usable(checkup), canvas));
    lines.extend(draw_places(checkup, canvas));
    for provider in &checkup.providers {
        lines.push(StyledLine::blank());
        lines.extend(draw_provider(provider, checkup.reach, canvas));
    }
    if !checkup.advice.is_empty() {
        lines.push(StyledLine::blank());
        lines.extend(draw_heading("WHAT TO DO", "", canvas));
    }
    for advice in &checkup.advice {
        lines.extend(hang_detail(
            StyledLine::with_indent(MARGIN).push_styled("· ", FAINT),
            advice,
            canvas,
        ));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn count_usable(checkup: &DoctorReport) -> String {
    let usable = checkup.providers.iter().filter(|provider| provider.usable).count();
    let word = match checkup.reach {
        CheckReach::Online => "usable",
        CheckReach::Offline => "configured",
    };
    match checkup.providers.len() {
        0 => "no provider".to_owned(),
        all => format!("{usable} of {} {word}", count_noun(all, "provider")),
    }
}

fn draw_places(checkup: &DoctorReport, canvas: PageCanvas) -> Vec<StyledLine> {
    let (state, file) = match &checkup.config.file {
        Some(path) => (CheckState::Good, path.display().to_string()),
        None => (CheckState::Open, "no council.yaml; Plenary searches for providers".to_owned()),
    };
    let store = &checkup.store;
    let opens = match store.opens {
        Some(true) => CheckState::Good,
        Some(false) => CheckState::Bad,
        None => CheckState::Open,
    };
    let result = format!("{} ({})", store.path.display(), store.detail);
    let mut lines = draw_item(MARGIN, state, "config", PLACE_WIDTH, &file, canvas);
    lines.extend(draw_item(MARGIN, opens, "store", PLACE_WIDTH, &result, canvas));
    lines
}

fn draw_provider(
    provider: &ProviderCheck,
    reach: CheckReach,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let (state, word) = match (provider.usable, reach) {
        (true, CheckReach::Online) => (CheckState::Good, "usable"),
        (true, CheckReach::Offline) => (CheckState::Open, "configured, not checked"),
        (false, _) => (CheckState::Bad, "NOT USABLE"),
    };
    let (mark, style) = state_mark(state);
    let lead = StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(&provider.name, STRONG)
        .push_plain("  ")
        .push_styled(word, style)
        .push_plain("  ");
    let facts = format!("{} · {}", provider.model, provider.found_by);
    let mut lines = hang_detail(lead, &facts, canvas);
    let mut tell = |state: CheckState, word: &str, detail: &str| {
        lines.extend(draw_item(MARGIN * 2, state, word, LABEL_WIDTH, detail, canvas));
    };
    if let Some(key) = &provider.key {
        let (state, set) = match (key.present, provider.usable) {
            (true, _) => (CheckState::Good, "is set"),
            (false, true) => (CheckState::Open, "is not set"),
            (false, false) => (CheckState::Bad, "is not set"),
        };
        tell(state, "key", &format!("{} {set}", key.variable));
    }
    if let Some(host) = &provider.host {
        tell(CheckState::Open, "host", host);
    }
    for transport in &provider.transports {
        let state = match (transport.usable, provider.usable) {
            (true, _) => CheckState::Good,
            (false, true) => CheckState::Open,
            (false, false) => CheckState::Bad,
        };
        tell(state, transport.kind.name(), &transport.detail);
    }
    let (state, model) = provider.describe_model();
    tell(state, "model", &model);
    let (state, price) = provider.describe_price();
    tell(state, "price", &price);
    lines
}

fn draw_item(
    indent: usize,
    state: CheckState,
    word: &str,
    width: usize,
    detail: &str,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let (mark, style) = state_mark(state);
    let lead = StyledLine::with_indent(indent)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(word, FAINT);
    hang_detail(lead.pad_to_column(indent + 2 + width), detail, canvas)
}

fn hang_detail(lead: StyledLine, text: &str, canvas: PageCanvas) -> Vec<StyledLine> {
    let room = canvas.text_width().saturating_sub(lead.width());
    hang_block(lead, &wrap_line(text, room), PLAIN)
}

fn state_mark(state: CheckState) -> (&'static str, Style) {
    match state {
        CheckState::Good => ("✓", GOOD),
        CheckState::Bad => ("×", BAD),
        CheckState::Open => ("·", FAINT),
    }
}
