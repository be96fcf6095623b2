//! The shared block: the date, and what all seats of a run read first.
//!
//! For a council that is the question and its files, for a review the artifact. It is rendered
//! once per run and journalled, so it is the same bytes in every message. If it is too long for the
//! largest window, it is cut once, for all: files to head and tail, the last of many files to their
//! names. A seat with a smaller window gets a block of its own, cut further.

use std::sync::Arc;

use crate::model::ask::SharedBlock;
use crate::model::ids::ExpertSlug;
use crate::model::plan::{ContextFile, ContextPack, IndexedFile};
use crate::model::run_state::RunState;
use crate::model::time::Day;
use crate::prompting::condense::{FENCE_BYTES, left_out_marker, rendered_bytes, truncate_to_fit};
use crate::prompting::fence::{FenceSet, FencedSection};
use crate::prompting::neutralize::neutralize_text;

/// The input limit without what later rounds add: opinions, reviews and the record.
pub(crate) fn shared_bytes_max(input_bytes: usize) -> usize {
    input_bytes.saturating_sub((input_bytes / 3).min(LATER_BYTES_MAX))
}

/// What later rounds add at most where the window has room for it: opinions and reviews of eight
/// seats, 1,500 tokens each. In a small window they have a third.
const LATER_BYTES_MAX: usize = 100_000;

/// What the messages to one seat begin with.
#[derive(Debug, Clone)]
pub(crate) struct SeatBlock {
    pub block: Arc<SharedBlock>,
    /// Whether the block is cut for this seat alone, so that no other seat shares it.
    pub is_own: bool,
    /// Bytes of the seat's input that the block leaves.
    pub bytes_left: usize,
}

impl SeatBlock {
    /// The shared block, or one that `cut_block` makes for the seat's smaller window.
    pub(crate) fn choose(
        shared: Arc<SharedBlock>,
        input_bytes: usize,
        cut_block: impl FnOnce(usize) -> Arc<SharedBlock>,
    ) -> Self {
        let is_long = shared.text.len() > shared_bytes_max(input_bytes).max(CONTEXT_BYTES_MIN);
        let own = is_long.then(|| cut_block(input_bytes));
        let own = own.filter(|own| own.sha256 != shared.sha256);
        let is_own = own.is_some();
        let block = own.unwrap_or(shared);
        let bytes_left = input_bytes.saturating_sub(block.text.len());
        Self { block, is_own, bytes_left }
    }

    /// Notes on what the block lacks.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let whose = if self.is_own { "for a small context window, " } else { "" };
        self.block.condensed.iter().map(move |note| format!("{whose}{note}"))
    }
}

/// The files keep at least this many bytes.
const CONTEXT_BYTES_MIN: usize = 4_000;

/// Longer paths are truncated.
const PATH_CHARS_MAX: usize = 1_000;

/// The block of a council or a conclusion: the question and its files.
pub(crate) fn question_block(state: &RunState, seat: &ExpertSlug) -> SeatBlock {
    let Some(block) = state.first_block() else {
        return fresh_question_block(state, seat);
    };
    choose_block(state, seat, Arc::clone(block))
}

/// The same, for a block that grows from it: the first block of the run may contain more.
pub(crate) fn fresh_question_block(state: &RunState, seat: &ExpertSlug) -> SeatBlock {
    let shared = render_question(state, state.plan.largest_input_bytes());
    choose_block(state, seat, shared)
}

fn choose_block(state: &RunState, seat: &ExpertSlug, shared: Arc<SharedBlock>) -> SeatBlock {
    let cut = |input_bytes| render_question(state, input_bytes);
    SeatBlock::choose(shared, state.plan.input_bytes_max(seat), cut)
}

fn render_question(state: &RunState, input_bytes: usize) -> Arc<SharedBlock> {
    let bytes_max = shared_bytes_max(input_bytes);
    let whole = state.question();
    let question = FencedSection::from_question(&truncate_to_fit(whole, bytes_max));
    let (before, after) = (whole.len(), question.text.len());
    let mut notes = Vec::new();
    if after < before {
        notes.push(format!("the question was cut from {before} to {after} bytes"));
    }
    let used = rendered_bytes(std::slice::from_ref(&question));
    let room = bytes_max.saturating_sub(used).max(CONTEXT_BYTES_MIN);
    let (files, note) = cut_files(&state.plan.context, room);
    notes.extend(note);
    let sections: Vec<FencedSection> = std::iter::once(question).chain(files).collect();
    render_block(state, &sections, notes)
}

/// The date and the sections. An empty line ends the block.
pub(crate) fn render_block(
    state: &RunState,
    sections: &[FencedSection],
    condensed: Vec<String>,
) -> Arc<SharedBlock> {
    let fences = FenceSet::for_run(&state.plan.secret, sections);
    let mut text = format!("{}\n\n", today_line(block_day(state)));
    for section in sections {
        text.push_str(&fences.fence_section(section));
        text.push_str("\n\n");
    }
    Arc::new(SharedBlock::new(text, condensed))
}

/// The day on which the run started.
pub(crate) fn block_day(state: &RunState) -> Day {
    state.started_at.unwrap_or(state.opened_at).utc_day()
}

pub(crate) fn today_line(day: Day) -> String {
    format!("Today is {}.", day.with_weekday())
}

/// The sections of the files, cut to this many bytes, and a note if something was cut.
pub(crate) fn cut_files(pack: &ContextPack, room: usize) -> (Vec<FencedSection>, Option<String>) {
    let mut cut = FileCut::whole(pack);
    let mut sections = cut.to_sections(pack);
    let before = rendered_bytes(&sections);
    if before <= room {
        return (sections, None);
    }
    cut.shown = pack.files.len().min((room / 2 / FENCE_BYTES).max(1));
    cut.named = cut.count_names(pack, room / 4);
    let mut target = room;
    while rendered_bytes(&sections) > room && target > CONTEXT_BYTES_MIN / 4 {
        cut.share = Some((target, before));
        sections = cut.to_sections(pack);
        // Numbers, markers and escapes also take space.
        target = target * 9 / 10;
    }
    let after = rendered_bytes(&sections);
    let mut note = format!("the files were cut from {before} to {after} bytes, head and tail kept");
    let by_name_only = pack.files.len() - cut.shown;
    if by_name_only > 0 {
        note.push_str(&format!(", {by_name_only} by name only"));
    }
    let unnamed = cut.unnamed(pack);
    if unnamed > 0 {
        note.push_str(&format!(", {unnamed} names left out"));
    }
    (sections, Some(note))
}

/// How much of the files is shown.
struct FileCut {
    /// Number of files that are shown; the rest are listed by name.
    shown: usize,
    /// Number of names in the list.
    named: usize,
    /// Each file keeps this fraction of its bytes.
    share: Option<(usize, usize)>,
}

impl FileCut {
    fn whole(pack: &ContextPack) -> Self {
        Self { shown: pack.files.len(), named: pack.indexed.len(), share: None }
    }

    /// The files that are only listed.
    fn listed_files(&self, pack: &ContextPack) -> impl Iterator<Item = IndexedFile> {
        let hidden = pack.files.iter().skip(self.shown);
        let named = hidden
            .map(|file| IndexedFile { path: file.path.clone(), bytes: file.text.len() as u64 });
        named.chain(pack.indexed.iter().cloned())
    }

    /// How many names fit.
    fn count_names(&self, pack: &ContextPack, room: usize) -> usize {
        const LINE_BREAK: usize = 1;
        let mut left = room;
        let fits = |file: &IndexedFile| {
            let wanted = neutralize_text(&further_file_line(file)).len() + LINE_BREAK;
            let fits = wanted <= left;
            left = left.saturating_sub(wanted);
            fits
        };
        self.listed_files(pack).take_while(fits).count()
    }

    fn unnamed(&self, pack: &ContextPack) -> usize {
        pack.files.len() - self.shown + pack.indexed.len() - self.named
    }

    /// One fence per file, so that no file can imitate another; then the names of further files.
    fn to_sections(&self, pack: &ContextPack) -> Vec<FencedSection> {
        let shown = (1..).zip(pack.files.iter().take(self.shown));
        let files = shown.map(|(number, file)| self.file_section(number, file));
        files.chain(self.further_files(pack)).collect()
    }

    fn file_section(&self, number: usize, file: &ContextFile) -> FencedSection {
        let text = file.text.trim_end();
        let bytes_max = match self.share {
            None => usize::MAX,
            Some((target, all)) => {
                usize::try_from(text.len() as u128 * target as u128 / all.max(1) as u128)
                    .unwrap_or(usize::MAX)
            }
        };
        let path = neutralize_text(&path_line(&file.path));
        let text = format!("{path}\n{}", number_lines(text, bytes_max));
        FencedSection {
            is_neutral: true,
            ..FencedSection::material(&format!("FILE {number}"), text)
        }
    }

    /// One JSON line per name, so that no name can imitate a line of ours.
    fn further_files(&self, pack: &ContextPack) -> Option<FencedSection> {
        let named = self.listed_files(pack).take(self.named);
        let mut lines: Vec<String> = named.map(|file| further_file_line(&file)).collect();
        let unnamed = self.unnamed(pack);
        if unnamed > 0 {
            lines.push(format!("[… {unnamed} more …]"));
        }
        let label = "FURTHER FILES, NOT SHOWN";
        (!lines.is_empty()).then(|| FencedSection::material(label, lines.join("\n")))
    }
}

/// The first line of a file's fence.
pub(crate) fn path_line(path: &str) -> String {
    let path: String = path.chars().take(PATH_CHARS_MAX).collect();
    serde_json::json!({ "path": path }).to_string()
}

/// The line of a file that is listed only by name.
fn further_file_line(file: &IndexedFile) -> String {
    let path: String = file.path.chars().take(PATH_CHARS_MAX).collect();
    serde_json::json!({ "path": path, "bytes": file.bytes }).to_string()
}

/// Neutralizes a text and numbers its lines. Of a longer text it keeps head and tail, with the
/// numbers that the lines have in the whole text.
pub(crate) fn number_lines(text: &str, bytes_max: usize) -> String {
    let mut numbered = String::with_capacity(text.len().min(bytes_max));
    if text.len() <= bytes_max {
        push_numbered(text, 1, &mut numbered);
        return numbered;
    }
    let head = text.get(..text.floor_char_boundary(bytes_max * 2 / 3)).unwrap_or_default();
    let tail_start = text.ceil_char_boundary(text.len() - bytes_max / 3);
    let (before, tail) = text.split_at_checked(tail_start).unwrap_or((text, ""));
    push_numbered(head, 1, &mut numbered);
    numbered.push_str(&left_out_marker(before.len() - head.len()));
    push_numbered(tail, before.matches('\n').count() + 1, &mut numbered);
    numbered
}

fn push_numbered(text: &str, first: usize, numbered: &mut String) {
    // Each line is neutralized before the number, which would hide what the line begins with.
    for (number, line) in (first..).zip(neutralize_text(text).split('\n')) {
        if number > first {
            numbered.push('\n');
        }
        numbered.push_str(&format!("{number} | {line}"));
    }
}

#[cfg(test)]
#[path = "shared_block_tests.rs"]
mod tests;
