//! Skill files that teach agents the marker language (experts) and the workflow (Judges). The CLI
//! installs them; the MCP server sends the expert skill as a prompt.

/// A skill file in the format of agent programs.
#[derive(Debug, Clone, Copy)]
pub struct AgentSkill {
    /// Name of the skill and of its folder.
    pub name: &'static str,
    pub text: &'static str,
}

impl AgentSkill {
    /// Returns the text without the front matter.
    pub fn body_text(self) -> &'static str {
        let rest = self.text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n"));
        rest.map_or(self.text, |(_, page)| page.trim_start())
    }
}

/// The marker language, for experts.
pub const EXPERT_SKILL: AgentSkill = AgentSkill {
    name: "alignment-expert",
    text: include_str!("../../../../skills/alignment-expert/SKILL.md"),
};

/// The workflow, for Judges.
const JUDGE_SKILL: AgentSkill = AgentSkill {
    name: "alignment-play",
    text: include_str!("../../../../skills/alignment-play/SKILL.md"),
};

pub const SKILLS: [AgentSkill; 2] = [EXPERT_SKILL, JUDGE_SKILL];
