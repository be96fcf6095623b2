//! Warnings about a reply: unreadable markers, markers parsed despite deviations, and notes for the
//! Judge.

use std::fmt::Display;

use serde::Serialize;

use crate::model::string_enum::words;
use crate::model::text::to_one_line;

words! {
    /// Kind of a warning. Programs may branch on it.
    pub enum WarningKind {
        NearMiss = "near_miss",
        UntypedReference = "untyped_reference",
        NotRead = "not_read",
        NoContent = "no_content",
        NoMarkers = "no_markers",
        Cut = "cut",
        Elsewhere = "elsewhere",
        JudgesMarker = "judges_marker",
        OpenCodeBlock = "open_code_block",
        More = "more",
    }
}

/// A warning about one line or the whole reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarkerWarning {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(rename = "type")]
    pub kind: WarningKind,
    pub message: String,
    /// Deviations of the marker from the exact notation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slips: Vec<MarkerDeviation>,
}

/// Further warnings are only counted.
const WARNINGS_MAX: usize = 1_000;

/// Enough of a marker to find it in the text.
const WRITTEN_CHARS_MAX: usize = 80;

/// The warnings about one reply.
#[derive(Debug, Default)]
pub(crate) struct WarningList {
    list: Vec<MarkerWarning>,
    more: usize,
}

impl WarningList {
    pub(crate) fn add_warning(
        &mut self,
        line: impl Into<Option<usize>>,
        kind: WarningKind,
        text: &str,
    ) {
        let (line, message) = (line.into(), text.to_owned());
        self.push(|| MarkerWarning { line, kind, message, slips: Vec::new() });
    }

    pub(crate) fn add_not_read(&mut self, line: usize, written: &str, why: &str) {
        let kind = WarningKind::NotRead;
        self.push(|| MarkerWarning {
            line: Some(line),
            kind,
            message: format!("`{}` is not read: {why}", shorten_marker(written)),
            slips: Vec::new(),
        });
    }

    /// Adds a warning about a marker that was parsed despite deviations.
    pub(crate) fn add_near_miss(
        &mut self,
        line: usize,
        written: &str,
        meant: &impl Display,
        slips: DeviationSet,
    ) {
        if slips.is_empty() {
            return;
        }
        self.push(|| {
            let slips = slips.to_vec();
            let said: Vec<&str> = slips.iter().map(|slip| slip.to_phrase()).collect();
            let (written, said) = (shorten_marker(written), said.join(", "));
            let message = format!("`{written}` is read as {meant}: {said}");
            MarkerWarning { line: Some(line), kind: WarningKind::NearMiss, message, slips }
        });
    }

    /// Adds a warning that a code block encloses the whole reply.
    pub(crate) fn add_wrapped(&mut self, line: usize) {
        let message = "the whole reply stands in a code block called Markdown; it is read";
        self.push(|| MarkerWarning {
            line: Some(line),
            kind: WarningKind::NearMiss,
            message: message.to_owned(),
            slips: vec![MarkerDeviation::CodeFence],
        });
    }

    /// Returns all warnings by line; those about the whole reply come first.
    pub(crate) fn into_list(mut self) -> Vec<MarkerWarning> {
        self.list.sort_by_key(|warning| warning.line);
        if self.more > 0 {
            let message = format!("there are {} further warnings", self.more);
            let kind = WarningKind::More;
            self.list.push(MarkerWarning { line: None, kind, message, slips: Vec::new() });
        }
        self.list
    }

    fn push(&mut self, warning: impl FnOnce() -> MarkerWarning) {
        if self.list.len() < WARNINGS_MAX {
            self.list.push(warning());
        } else {
            self.more += 1;
        }
    }
}

/// Returns the beginning of a marker on one line.
fn shorten_marker(written: &str) -> String {
    let mut signs = written.chars();
    let start: String = signs.by_ref().take(WRITTEN_CHARS_MAX).collect();
    let end = if signs.next().is_some() { "…" } else { "" };
    format!("{}{end}", to_one_line(&start))
}

words! {
    /// One kind of deviation from the marker notation.
    pub enum MarkerDeviation {
        LetterCase = "letter_case",
        ZeroPadding = "zero_padding",
        MissingRound = "missing_round",
        MissingPrefix = "missing_prefix",
        DisplayName = "display_name",
        Colon = "colon",
        Spaces = "spaces",
        Emphasis = "emphasis",
        Escape = "escape",
        LookAlike = "look_alike",
        HiddenCharacter = "hidden_character",
        LineBreak = "line_break",
        Heading = "heading",
        ListItem = "list_item",
        BlockQuote = "block_quote",
        CodeFence = "code_fence",
        InlineCode = "inline_code",
        KindWord = "kind_word",
        WordForm = "word_form",
        SeveralIds = "several_ids",
        Punctuation = "punctuation",
        FurtherWords = "further_words",
        LabelOutside = "label_outside",
    }
}

impl MarkerDeviation {
    /// Returns a phrase for a warning message, listed after a colon.
    pub(crate) fn to_phrase(self) -> &'static str {
        match self {
            Self::LetterCase => "small and capital letters",
            Self::ZeroPadding => "zeros are missing in an id",
            Self::MissingRound => "the round is missing in an id",
            Self::MissingPrefix => "an id lacks the expert's name",
            Self::DisplayName => "the expert's name is not written as the slug",
            Self::Colon => "no colon where one belongs",
            Self::Spaces => "spaces where none belong",
            Self::Emphasis => "bold or italic",
            Self::Escape => "a backslash",
            Self::LookAlike => "characters that only look like the right ones",
            Self::HiddenCharacter => "invisible characters",
            Self::LineBreak => "it goes over two lines",
            Self::Heading => "it stands in a heading",
            Self::ListItem => "it stands in a list",
            Self::BlockQuote => "it stands in a quotation",
            Self::CodeFence => "the whole reply stands in a code block",
            Self::InlineCode => "it stands in inline code",
            Self::KindWord => "the kind is written out before the id",
            Self::WordForm => "the word is in another form",
            Self::SeveralIds => "several ids in one marker",
            Self::Punctuation => "signs around or between ids",
            Self::FurtherWords => "further words in the brackets",
            Self::LabelOutside => "the label stands outside the brackets",
        }
    }
}

/// The deviations of one marker, as a bit set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DeviationSet(u32);

impl DeviationSet {
    pub(crate) fn add(&mut self, slip: MarkerDeviation) {
        self.0 |= 1 << slip as u32;
    }

    #[must_use]
    pub(crate) fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    #[must_use]
    pub(crate) fn with(mut self, slip: MarkerDeviation) -> Self {
        self.add(slip);
        self
    }

    pub(crate) fn contains(self, slip: MarkerDeviation) -> bool {
        self.0 & (1 << slip as u32) != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn to_vec(self) -> Vec<MarkerDeviation> {
        MarkerDeviation::ALL.iter().copied().filter(|slip| self.contains(*slip)).collect()
    }
}
