//! A page as data: title, state, sections of blocks. A page is built once for a document, and each
//! of `terminal/`, `markdown.rs` and `html.rs` draws every page.
//!
//! **Invariant:** text of others is a plain `String` here. Each renderer escapes it, so no builder
//! of a page can forget to.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::model::ids::EntityId;
use crate::report::graph::GraphDocument;

/// How much of a document a page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageDetail {
    /// The end of a run: its result, and the command that shows the rest.
    Result,
    /// Cuts contributions to a few lines.
    Brief,
    /// The full text, every event of each entity, and the replies as they came.
    Full,
    /// A file to keep: like `Full`, without the replies.
    Export,
}

impl PageDetail {
    /// Whether contributions are complete.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Full | Self::Export)
    }
}

/// Which part of a document a page is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageScope {
    pub detail: PageDetail,
    /// Only this round, if set.
    pub round: Option<u8>,
}

impl PageScope {
    pub fn new(detail: PageDetail) -> Self {
        Self { detail, round: None }
    }

    pub(crate) fn shows_round(self, round: u8) -> bool {
        self.round.is_none_or(|only| only == round)
    }
}

/// A page; renderers draw its fields from top to bottom.
#[derive(Debug, Clone, Default)]
pub struct PageModel {
    /// What kind of document it is: `Council`.
    pub kind: &'static str,
    pub title: String,
    /// The result, with a mark: `● CLEAN`.
    pub state: RichText,
    /// What limits the panel, beside the state.
    pub health: Vec<String>,
    /// Exports draw these facts as a table.
    pub facts: Vec<(&'static str, RichText)>,
    /// The terminal draws these facts on a line.
    pub summary: Vec<String>,
    pub question: Option<QuoteBlock>,
    /// What the reader must know first.
    pub intro: Vec<PageBlock>,
    pub sections: Vec<PageSection>,
    /// The hash of the last journal entry.
    pub chain_head: Option<String>,
}

/// A part of a page under a heading.
#[derive(Debug, Clone, Default)]
pub struct PageSection {
    /// Our own words; the terminal draws those of the first level in capitals.
    pub title: String,
    /// Text of others after the title.
    pub subject: Option<String>,
    pub note: RichText,
    pub blocks: Vec<PageBlock>,
    pub sections: Vec<PageSection>,
    /// Whether a file shows only the title until the reader opens it.
    pub is_folded: bool,
    /// The part whose sources these are, such as `P0101`: other parts of the page link here.
    pub source_of: Option<String>,
}

impl PageSection {
    pub fn new(title: impl Into<String>, blocks: Vec<PageBlock>) -> Self {
        Self { title: title.into(), blocks, ..Self::default() }
    }

    #[must_use]
    pub fn with_note(self, note: impl Into<RichText>) -> Self {
        Self { note: note.into(), ..self }
    }

    #[must_use]
    pub fn with_subject(self, subject: Option<String>) -> Self {
        Self { subject, ..self }
    }

    #[must_use]
    pub fn with_sections(self, sections: Vec<PageSection>) -> Self {
        Self { sections, ..self }
    }

    #[must_use]
    pub fn folded(self) -> Self {
        Self { is_folded: true, ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.sections.iter().all(Self::is_empty)
    }
}

/// One element of a section.
#[derive(Debug, Clone)]
pub enum PageBlock {
    Paragraph(RichText),
    Quote(QuoteBlock),
    /// Short facts, joined with a dot.
    Facts(Vec<RichText>),
    List(Vec<ListItem>),
    /// Labels with their values.
    Fields(Vec<ListItem>),
    Table(PageTable),
    Entry(PageEntry),
    Board(Vec<BoardColumn>),
    Tree(Vec<TreeNode>),
    Diff(TextDiff),
    /// Only a file draws it: a table beside it has the same references.
    Graph(DrawnGraph),
    /// A command that the reader may copy.
    Command(String),
    /// A passage of a reply, with the text around it.
    Passage(ReplyPassage),
    /// Parts of the text above, with the sections of their sources. Only a file with these sections
    /// draws it.
    SourceLinks(Vec<(&'static str, String)>),
}

/// A passage of a reply, and some of the reply before and after it.
#[derive(Debug, Clone)]
pub struct ReplyPassage {
    pub before: String,
    pub passage: String,
    pub after: String,
}

/// The entities and their references, and the part that is drawn first.
#[derive(Debug, Clone)]
pub struct DrawnGraph {
    pub first: GraphDocument,
    pub all: GraphDocument,
}

impl PageBlock {
    /// Text of others without a bar.
    pub fn prose(text: &str) -> Self {
        Self::Quote(QuoteBlock { text: text.to_owned(), bar: None, lines_max: None })
    }

    /// Text of others with a bar at its left.
    pub fn barred(text: &str, bar: QuoteBar) -> Self {
        Self::Quote(QuoteBlock { text: text.to_owned(), bar: Some(bar), lines_max: None })
    }
}

/// A text of several lines, as its author broke them.
#[derive(Debug, Clone)]
pub struct QuoteBlock {
    pub text: String,
    pub bar: Option<QuoteBar>,
    /// The terminal cuts the text after this many lines.
    pub lines_max: Option<usize>,
}

/// The bar beside a quote.
#[derive(Debug, Clone, Copy)]
pub struct QuoteBar {
    pub tone: TextTone,
    /// Heavy for text that takes effect; light for drafts and objections.
    pub is_heavy: bool,
}

/// An item of a list: `lead text`, with notes on lines of their own.
#[derive(Debug, Clone, Default)]
pub struct ListItem {
    pub lead: RichText,
    pub text: RichText,
    pub notes: Vec<RichText>,
}

impl ListItem {
    pub fn new(lead: impl Into<RichText>, text: impl Into<RichText>) -> Self {
        Self { lead: lead.into(), text: text.into(), notes: Vec::new() }
    }

    #[must_use]
    pub fn with_notes(self, notes: Vec<RichText>) -> Self {
        Self { notes, ..self }
    }
}

/// Rows under headings. The first column names the row.
#[derive(Debug, Clone, Default)]
pub struct PageTable {
    pub columns: Vec<TableColumn>,
    pub rows: Vec<TableRow>,
}

#[derive(Debug, Clone)]
pub struct TableColumn {
    pub heading: String,
    pub kind: ColumnKind,
}

impl TableColumn {
    pub fn new(heading: impl Into<String>, kind: ColumnKind) -> Self {
        Self { heading: heading.into(), kind }
    }
}

/// How the terminal draws a column. Files draw all of them alike, except numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Short,
    /// As the first column: names to copy, which are never truncated.
    Whole,
    /// Aligned at the right.
    Number,
    /// Gets the remaining width and wraps; goes below the row if little is left.
    Wrap,
    /// Always below the row.
    Below,
}

#[derive(Debug, Clone, Default)]
pub struct TableRow {
    pub cells: Vec<RichText>,
    pub bar: Option<ShareBar>,
    /// Whether the row belongs to the group above.
    pub is_nested: bool,
}

impl TableRow {
    pub fn new(cells: Vec<RichText>) -> Self {
        Self { cells, ..Self::default() }
    }
}

/// A part of a whole, drawn as a bar at the end of a row.
#[derive(Debug, Clone, Copy)]
pub struct ShareBar {
    pub part: i64,
    pub whole: i64,
    pub tone: TextTone,
}

/// An entity of the record with its text.
#[derive(Debug, Clone)]
pub struct PageEntry {
    pub id: EntityId,
    pub title: String,
    pub state: RichText,
    pub quote: QuoteBlock,
    /// Each list of facts is on lines of its own.
    pub notes: Vec<Vec<RichText>>,
}

/// One status of a board, with a card for each entity.
#[derive(Debug, Clone)]
pub struct BoardColumn {
    pub title: RichText,
    pub cards: Vec<BoardCard>,
}

#[derive(Debug, Clone)]
pub struct BoardCard {
    pub id: EntityId,
    pub title: String,
    pub notes: Vec<RichText>,
}

#[derive(Debug, Clone)]
pub struct TreeNode {
    pub label: RichText,
    pub children: Vec<TreeNode>,
}

/// Two versions of a text, to be compared word by word.
#[derive(Debug, Clone)]
pub struct TextDiff {
    pub label: String,
    pub old: String,
    pub new: String,
}

/// A space at which no line ends. Renderers draw it as a space.
pub(crate) const HARD_SPACE: &str = "\u{a0}";

/// A text of one line with tones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RichText {
    pub spans: Vec<TextSpan>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSpan {
    pub text: String,
    pub tone: TextTone,
    pub is_strong: bool,
}

/// The meaning of a text. A mark or a word always says the same as the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextTone {
    #[default]
    Plain,
    Faint,
    /// The id of an entity; a file links it to its entry.
    Id,
    /// A name that the reader may copy.
    Code,
    Good,
    Caution,
    Bad,
}

impl RichText {
    pub fn toned(text: impl Into<String>, tone: TextTone) -> Self {
        Self::default().push(text, tone)
    }

    pub fn strong(text: impl Into<String>) -> Self {
        Self::default().push_strong(text, TextTone::Plain)
    }

    /// A mark, then the text in the same tone.
    pub fn marked((mark, tone): (&str, TextTone), text: &str) -> Self {
        Self::toned(mark, tone).push(" ", TextTone::Plain).push_strong(text, tone)
    }

    #[must_use]
    pub fn push(mut self, text: impl Into<String>, tone: TextTone) -> Self {
        self.spans.push(TextSpan { text: text.into(), tone, is_strong: false });
        self
    }

    #[must_use]
    pub fn push_strong(mut self, text: impl Into<String>, tone: TextTone) -> Self {
        self.spans.push(TextSpan { text: text.into(), tone, is_strong: true });
        self
    }

    #[must_use]
    pub fn append(mut self, other: RichText) -> Self {
        self.spans.extend(other.spans);
        self
    }

    /// Items joined with a dot. A line may end only between two items.
    pub fn joined(items: &[String], tone: TextTone) -> Self {
        let items: Vec<String> = items.iter().map(|item| item.replace(' ', HARD_SPACE)).collect();
        Self::toned(items.join(&format!("{HARD_SPACE}· ")), tone)
    }

    /// A phrase of ours in which entity ids stand out.
    pub fn with_ids(phrase: &str, tone: TextTone) -> Self {
        let words = phrase.split_inclusive(' ').flat_map(|word| {
            let id = word.trim_end_matches([' ', ',']);
            match id.parse::<EntityId>() {
                Ok(_) => vec![(id, TextTone::Id), (word.get(id.len()..).unwrap_or(""), tone)],
                Err(_) => vec![(word, tone)],
            }
        });
        words.fold(Self::default(), |text, (word, tone)| text.push(word, tone))
    }

    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|span| span.text.trim().is_empty())
    }
}

impl From<&str> for RichText {
    fn from(text: &str) -> Self {
        Self::toned(text, TextTone::Plain)
    }
}

impl From<String> for RichText {
    fn from(text: String) -> Self {
        Self::toned(text, TextTone::Plain)
    }
}

/// Longer texts are compared by the reader as a whole, so every word counts as changed. It bounds
/// the time of a comparison.
const WORDS_MAX: usize = 5_000;

/// The lines of a text; each word with a flag that tells whether it changed.
pub(crate) type MarkedLines<'a> = Vec<Vec<(&'a str, bool)>>;

/// Compares the old and the new lines word by word, across line breaks.
pub(crate) fn compare_words<'a>(
    old: &'a [String],
    new: &'a [String],
) -> (MarkedLines<'a>, MarkedLines<'a>) {
    let (gone, come) = changed_flags(&split_words(old), &split_words(new));
    (mark_words(old, &gone), mark_words(new, &come))
}

fn split_words(lines: &[String]) -> Vec<&str> {
    lines.iter().flat_map(|line| line.split_whitespace()).collect()
}

fn mark_words<'a>(lines: &'a [String], changed: &[bool]) -> MarkedLines<'a> {
    let mut changed = changed.iter().copied();
    let mut mark = |line: &'a String| line.split_whitespace().zip(changed.by_ref()).collect();
    lines.iter().map(&mut mark).collect()
}

/// For each word of both texts, whether it changed.
fn changed_flags(old: &[&str], new: &[&str]) -> (Vec<bool>, Vec<bool>) {
    let mut flags = (vec![true; old.len()], vec![true; new.len()]);
    if old.len().max(new.len()) > WORDS_MAX {
        return flags;
    }
    let same = capture_diff_slices(Algorithm::Myers, old, new);
    for part in same.iter().filter(|part| part.tag() == DiffTag::Equal) {
        for (side, range) in [(&mut flags.0, part.old_range()), (&mut flags.1, part.new_range())] {
            side.iter_mut().take(range.end).skip(range.start).for_each(|word| *word = false);
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changed words of both texts, in brackets. A slash ends a line.
    fn bracketed(old: &str, new: &str) -> (String, String) {
        let lines = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        let (old, new) = (lines(old), lines(new));
        let (from, to) = compare_words(&old, &new);
        let word = |(word, is_changed): &(&str, bool)| match is_changed {
            true => format!("[{word}]"),
            false => (*word).to_owned(),
        };
        let line = |line: &Vec<(&str, bool)>| line.iter().map(word).collect::<Vec<_>>().join(" ");
        let text = |text: &MarkedLines<'_>| text.iter().map(line).collect::<Vec<_>>().join("/");
        (text(&from), text(&to))
    }

    #[test]
    fn what_both_texts_have_in_order_is_not_marked() {
        let cases = [
            ("a b c", "a b c", "a b c", "a b c"),
            ("a b c", "a x c", "a [b] c", "a [x] c"),
            ("a b", "a b c", "a b", "a b [c]"),
            ("b a", "a", "[b] a", "a"),
            ("", "a b", "", "[a] [b]"),
            (
                "one two three four",
                "zero two four five",
                "[one] two [three] four",
                "[zero] two four [five]",
            ),
            ("a a a", "a a", "a a [a]", "a a"),
            ("x y", "p q", "[x] [y]", "[p] [q]"),
            ("a b/c d", "a/b x/d", "a b/[c] d", "a/b [x]/d"),
            ("a//b", "a b/c", "a//b", "a b/[c]"),
        ];
        for (old, new, from, to) in cases {
            assert_eq!(bracketed(old, new), (from.to_owned(), to.to_owned()), "{old} -> {new}");
        }
    }

    #[test]
    fn texts_too_long_to_compare_are_marked_whole() {
        let old = vec!["a"; 6_000];
        let new = vec!["a"; 6_000];
        let (from, to) = changed_flags(&old, &new);
        assert!(from.iter().chain(&to).all(|changed| *changed));
    }
}
