//! Skill files that teach agents the marker language (experts), the workflow (Judges), how to ask a
//! council or have a document reviewed, and ethos. The CLI installs them; the MCP server sends the
//! expert skill as a prompt.

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

/// The marker language for a prompt: the expert skill from its first section to where it says what
/// to do with the response, one heading level lower.
pub fn marker_reference() -> String {
    let body = EXPERT_SKILL.body_text();
    let body = body.split_once("\n## ").map_or(body, |(_, sections)| sections);
    let body = body.split("\n## Output\n").next().unwrap_or(body);
    format!("### {}", body.trim_end().replace("\n## ", "\n### "))
}

/// The workflow, for Judges.
const JUDGE_SKILL: AgentSkill = AgentSkill {
    name: "alignment-play",
    text: include_str!("../../../../skills/alignment-play/SKILL.md"),
};

/// How to ask a council and read its conclusion.
const ASK_SKILL: AgentSkill = AgentSkill {
    name: "council-ask",
    text: include_str!("../../../../skills/council-ask/SKILL.md"),
};

/// How to have a document reviewed and act on the verdict.
const REVIEW_SKILL: AgentSkill = AgentSkill {
    name: "council-review",
    text: include_str!("../../../../skills/council-review/SKILL.md"),
};

/// The interview about principles and tenets.
const ETHOS_SKILL: AgentSkill =
    AgentSkill { name: "ethos", text: include_str!("../../../../skills/ethos/SKILL.md") };

pub const SKILLS: [AgentSkill; 5] =
    [EXPERT_SKILL, JUDGE_SKILL, ASK_SKILL, REVIEW_SKILL, ETHOS_SKILL];
