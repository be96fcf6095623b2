//! Deviations from the exact marker notation that are still unambiguous.

use crate::domain::words::words;

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
    pub(super) fn to_phrase(self) -> &'static str {
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
pub(super) struct DeviationSet(u32);

impl DeviationSet {
    pub(super) fn add(&mut self, slip: MarkerDeviation) {
        self.0 |= 1 << slip as u32;
    }

    #[must_use]
    pub(super) fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    #[must_use]
    pub(super) fn with(mut self, slip: MarkerDeviation) -> Self {
        self.add(slip);
        self
    }

    pub(super) fn contains(self, slip: MarkerDeviation) -> bool {
        self.0 & (1 << slip as u32) != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn to_vec(self) -> Vec<MarkerDeviation> {
        MarkerDeviation::ALL.iter().copied().filter(|slip| self.contains(*slip)).collect()
    }
}
