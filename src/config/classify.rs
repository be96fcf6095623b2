//! The `tier_rules` section, and [`TierClassifier`], which finds tier and artifact type of a file
//! by these rules. Called by `review` and `sweep`.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::file::TierRule;
use crate::domain::gate::Tier;

/// Type of a file if there are no rules. The user named the file, so it is reviewed.
const TYPE_WITHOUT_RULES: &str = "document";

/// Compiled tier rules.
#[derive(Debug)]
pub struct Classifier {
    /// `None` if the file has no `tier_rules`.
    rules: Option<Vec<(TierRule, Gitignore)>>,
}

/// Tier and type of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    pub tier: Tier,
    pub artifact_type: String,
    pub because: Because,
}

/// Why a file has its tier and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    Rule,
    /// There are rules, but none matches.
    NoRuleFits,
    NoRules,
}

impl Classifier {
    pub fn new(rules: Option<&[TierRule]>) -> Self {
        let ready = |rule: &TierRule| (rule.clone(), matcher(rule));
        Self { rules: rules.map(|rules| rules.iter().map(ready).collect()) }
    }

    pub fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// Classifies by a path relative to the folder of `council.yaml`. A path outside of it (`None`)
    /// matches no rule.
    pub fn of_path(&self, path: Option<&str>) -> Class {
        let Some(rules) = &self.rules else {
            return Class::new(Tier::Always, TYPE_WITHOUT_RULES, Because::NoRules);
        };
        let fits = |globs: &Gitignore| {
            path.is_some_and(|path| globs.matched_path_or_any_parents(path, false).is_ignore())
        };
        match rules.iter().find(|(_, globs)| fits(globs)) {
            Some((rule, _)) => Class::new(rule.tier, &rule.artifact_type, Because::Rule),
            None => Class::new(Tier::Never, TYPE_WITHOUT_RULES, Because::NoRuleFits),
        }
    }

    /// Whether a rule selects this file for review, always or by sampling.
    pub fn is_judged(&self, path: &str) -> bool {
        self.of_path(Some(path)).tier != Tier::Never
    }

    /// Whether a reviewing rule names this folder, or one in it, without wildcards.
    pub fn names_folder(&self, folder: &str) -> bool {
        self.spelled_out().any(|prefix| is_within(&prefix, folder))
    }

    /// Whether a rule may select files in this folder for review.
    pub fn may_judge_in(&self, folder: &str) -> bool {
        self.spelled_out().any(|prefix| is_within(&prefix, folder) || is_within(folder, &prefix))
    }

    /// Returns the folders that reviewing globs contain before their first wildcard.
    fn spelled_out(&self) -> impl Iterator<Item = String> {
        let rules = self.rules.iter().flatten().map(|(rule, _)| rule);
        let judged = rules.filter(|rule| rule.tier != Tier::Never);
        judged.flat_map(|rule| &rule.globs).map(|glob| spelled_out(glob))
    }

    /// Classifies by a type given by the caller: uses the tier of that type's first rule, else the
    /// tier of the path.
    pub fn of_type(&self, path: Option<&str>, artifact_type: &str) -> Class {
        let rules = self.rules.as_deref().unwrap_or_default();
        match rules.iter().find(|(rule, _)| rule.artifact_type == artifact_type) {
            Some((rule, _)) => Class::new(rule.tier, artifact_type, Because::Rule),
            None => Class { artifact_type: artifact_type.to_owned(), ..self.of_path(path) },
        }
    }
}

impl Class {
    fn new(tier: Tier, artifact_type: &str, because: Because) -> Self {
        Self { tier, artifact_type: artifact_type.to_owned(), because }
    }
}

/// Returns `posts/2026` for `posts/2026/*.md`, and nothing for a glob that matches at any depth.
fn spelled_out(glob: &str) -> String {
    let parts: Vec<&str> = glob.trim_start_matches('/').split('/').collect();
    let folders = parts.split_last().map_or(&[][..], |(_, folders)| folders);
    let is_plain = |part: &&&str| !part.contains(['*', '?', '[', '{', '\\']);
    folders.iter().take_while(is_plain).copied().collect::<Vec<_>>().join("/")
}

/// Whether a path is the folder or lies in it. Every path lies in the empty folder.
fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Compiles the globs of a rule. They were validated when the file was read.
fn matcher(rule: &TierRule) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for glob in &rule.globs {
        let _ = builder.add_line(None, glob);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(tier: Tier, artifact_type: &str, globs: &[&str]) -> TierRule {
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        TierRule { tier, artifact_type: artifact_type.to_owned(), globs }
    }

    #[test]
    fn the_first_rule_that_fits_wins() {
        let rules = [
            rule(Tier::Always, "linkedin_post", &["posts/*.md"]),
            rule(Tier::Never, "draft", &["posts/**", "*.draft.md"]),
            rule(Tier::Sampled, "briefing", &["briefings/**", "/top.md"]),
        ];
        let classifier = Classifier::new(Some(&rules));
        let table = [
            ("posts/a.md", 1, "linkedin_post"),
            ("posts/deep/a.md", 2, "draft"),
            ("notes/x.draft.md", 2, "draft"),
            ("briefings/2026/a.md", 3, "briefing"),
            ("top.md", 3, "briefing"),
            ("sub/top.md", 2, "document"),
            ("a.md", 2, "document"),
        ];
        for (path, tier, artifact_type) in table {
            let class = classifier.of_path(Some(path));
            assert_eq!(
                (class.tier.number(), class.artifact_type.as_str()),
                (tier, artifact_type),
                "{path}"
            );
        }
        assert_eq!(classifier.of_path(None).because, Because::NoRuleFits);
    }

    #[test]
    fn folders_are_known_by_what_globs_spell_out() {
        let rules = [
            rule(Tier::Always, "release", &["dist/*.md", "a/b/c*/x.md"]),
            rule(Tier::Never, "draft", &["drafts/**"]),
        ];
        let classifier = Classifier::new(Some(&rules));
        let table = [
            // Folder, whether a rule names it, whether files in it may be reviewed.
            ("dist", true, true),
            ("distant", false, false),
            ("dist/deep", false, true),
            ("a", true, true),
            ("a/b", true, true),
            ("a/b/cd", false, true),
            ("a/c", false, false),
            ("drafts", false, false),
        ];
        for (folder, is_named, may_hold) in table {
            let found = (classifier.names_folder(folder), classifier.may_judge_in(folder));
            assert_eq!(found, (is_named, may_hold), "{folder}");
        }
        let anywhere = Classifier::new(Some(&[rule(Tier::Always, "readme", &["README.md"])]));
        assert!(anywhere.may_judge_in("vendor") && !anywhere.names_folder("vendor"));
    }

    #[test]
    fn without_rules_whatever_is_named_is_looked_at() {
        let class = Classifier::new(None).of_path(Some("a.md"));
        assert_eq!(class, Class::new(Tier::Always, "document", Because::NoRules));
        // An empty list of rules matches nothing.
        assert_eq!(Classifier::new(Some(&[])).of_path(Some("a.md")).tier, Tier::Never);
    }

    #[test]
    fn a_type_that_has_a_rule_brings_its_tier() {
        let rules = [rule(Tier::Sampled, "briefing", &["briefings/**"])];
        let classifier = Classifier::new(Some(&rules));
        assert_eq!(classifier.of_type(Some("x.md"), "briefing").tier, Tier::Sampled);
        let other = classifier.of_type(Some("x.md"), "poem");
        assert_eq!((other.tier, other.artifact_type.as_str()), (Tier::Never, "poem"));
        assert_eq!(Classifier::new(None).of_type(None, "poem").tier, Tier::Always);
    }
}
