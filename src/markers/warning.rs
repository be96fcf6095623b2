//! Warnings about a reply: unreadable markers, markers parsed despite deviations, and notes for the
//! Judge.

use std::fmt::Display;

use serde::Serialize;

use super::slip::{DeviationSet, MarkerDeviation};
use crate::domain::shortened::to_one_line;
use crate::domain::words::words;

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
pub(super) struct WarningList {
    list: Vec<MarkerWarning>,
    more: usize,
}

impl WarningList {
    pub(super) fn add_warning(
        &mut self,
        line: impl Into<Option<usize>>,
        kind: WarningKind,
        text: &str,
    ) {
        let (line, message) = (line.into(), text.to_owned());
        self.push(|| MarkerWarning { line, kind, message, slips: Vec::new() });
    }

    pub(super) fn add_not_read(&mut self, line: usize, written: &str, why: &str) {
        let kind = WarningKind::NotRead;
        self.push(|| MarkerWarning {
            line: Some(line),
            kind,
            message: format!("`{}` is not read: {why}", shorten_marker(written)),
            slips: Vec::new(),
        });
    }

    /// Adds a warning about a marker that was parsed despite deviations.
    pub(super) fn add_near_miss(
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
    pub(super) fn add_wrapped(&mut self, line: usize) {
        let message = "the whole reply stands in a code block called Markdown; it is read";
        self.push(|| MarkerWarning {
            line: Some(line),
            kind: WarningKind::NearMiss,
            message: message.to_owned(),
            slips: vec![MarkerDeviation::CodeFence],
        });
    }

    /// Returns all warnings by line; those about the whole reply come first.
    pub(super) fn into_list(mut self) -> Vec<MarkerWarning> {
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
