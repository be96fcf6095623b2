//! The pages that teach agents: what this room reads, and how a Judge leads.

/// A page in the form in which agent programs take it.
#[derive(Debug, Clone, Copy)]
pub struct Skill {
    /// Its name, and that of its folder.
    pub name: &'static str,
    pub text: &'static str,
}

impl Skill {
    /// What it says, without the lines before it that only agent programs read.
    pub fn page(self) -> &'static str {
        let rest = self.text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n"));
        rest.map_or(self.text, |(_, page)| page.trim_start())
    }
}

/// The marker language for experts.
pub const EXPERT_SKILL: Skill = Skill {
    name: "alignment-expert",
    text: include_str!("../../skills/alignment-expert/SKILL.md"),
};

/// The workflow for Judges.
const JUDGE_SKILL: Skill =
    Skill { name: "alignment-play", text: include_str!("../../skills/alignment-play/SKILL.md") };

pub const SKILLS: [Skill; 2] = [EXPERT_SKILL, JUDGE_SKILL];
