//! Parses a prompt by its fences, trusting only the mark.

use std::path::Path;

use serde_json::{Value, json};

use crate::kit::{TestProject, value_at};

/// Renders the prompt of an expert and reads it back from its file.
#[track_caller]
pub fn render_prompt(bench: &TestProject, id: &str, round: u8, expert: &str) -> String {
    let arguments = json!({ "dialogue_id": id, "round": round, "render": true });
    let answer = bench.run_ok("context", &arguments);
    let files = value_at(&answer, "prompts").as_array().unwrap();
    let file = files.iter().find(|file| value_at(file, "expert_slug") == expert).unwrap();
    read_prompt(value_at(file, "prompt_path"))
}

#[track_caller]
pub fn read_prompt(path: &Value) -> String {
    std::fs::read_to_string(Path::new(path.as_str().unwrap())).unwrap()
}

/// Our own lines, and the lines inside each fence.
#[derive(Debug)]
pub struct ParsedPrompt<'a> {
    pub mark: &'a str,
    pub outside: Vec<&'a str>,
    pub inside: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> ParsedPrompt<'a> {
    #[track_caller]
    pub fn parse_prompt(prompt: &'a str) -> Self {
        let (_, behind) = prompt.split_once("`===== BEGIN … ").unwrap();
        let (mark, _) = behind.split_once(" =====`").unwrap();
        assert!(mark.len() * 4 >= 96, "{mark}");
        let mut walked = Self { mark, outside: Vec::new(), inside: Vec::new() };
        let mut open: Option<&str> = None;
        for line in prompt.lines() {
            match (open, walked.fence_label(line, "BEGIN"), walked.fence_label(line, "END")) {
                (None, Some(label), _) => {
                    walked.inside.push((label, Vec::new()));
                    open = Some(label);
                }
                (Some(label), _, Some(closed)) if label == closed => open = None,
                (Some(label), None, None) => {
                    assert!(!line.contains(mark), "the mark stands in {label}: {line}");
                    walked.inside.last_mut().unwrap().1.push(line);
                }
                (None, None, None) => walked.outside.push(line),
                fences => panic!("fences cross at {line:?}: {fences:?}"),
            }
        }
        assert_eq!(open, None, "a fence is never closed");
        let is_known =
            |label: &str| label.starts_with("request ") || label.starts_with("material ");
        assert!(walked.inside.iter().all(|(label, _)| is_known(label)), "a fence has no kind");
        walked
    }

    fn fence_label(&self, line: &'a str, word: &str) -> Option<&'a str> {
        let inner = line.strip_prefix(&format!("===== {word} "))?;
        inner.strip_suffix(&format!(" {} =====", self.mark))
    }

    pub fn list_headings(&self) -> Vec<&'a str> {
        self.outside.iter().copied().filter(|line| line.starts_with('#')).collect()
    }

    /// The text inside the fences with this label, whatever their kind.
    pub fn fenced_text(&self, label: &str) -> String {
        let held = self
            .inside
            .iter()
            .filter(|(name, _)| name.split_once(' ').is_some_and(|(_, name)| name == label));
        held.flat_map(|(_, lines)| lines).copied().collect::<Vec<_>>().join("\n")
    }
}
