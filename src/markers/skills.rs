//! The pages that teach agents: what this room reads, and how a Judge leads.

/// A page in the form in which agent programs take it.
#[derive(Debug, Clone, Copy)]
pub struct Skill {
    /// Its name, and that of its folder.
    pub name: &'static str,
    pub text: &'static str,
}

/// The marker language for experts; the workflow for Judges.
pub const SKILLS: [Skill; 2] = [
    Skill {
        name: "alignment-expert",
        text: include_str!("../../skills/alignment-expert/SKILL.md"),
    },
    Skill { name: "alignment-play", text: include_str!("../../skills/alignment-play/SKILL.md") },
];
