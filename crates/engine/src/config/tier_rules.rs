//! The `tier_rules` section, and [`TierClassifier`], which finds tier and artifact type of a file
//! by these rules; and `tier_classifier`, which says when a model is asked besides. Called by
//! `review` and `sweep`.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::string_enum::words;
use plenary_core::protocols::review::types::ReviewTier;
use serde::Deserialize;

use crate::config::error::ConfigProblem;
use crate::config::section::{LIST_MAX, ProblemList, list_entries, read_text};
use crate::config::yaml::{YamlNode, YamlValue};

/// Type of a file if there are no rules. The user named the file, so it is reviewed.
const TYPE_WITHOUT_RULES: &str = "document";

words! {
    /// Who finds the tier of a file.
    pub enum ClassifierKind {
        Rules = "rules",
        Model = "model",
        Hybrid = "hybrid",
    }
}

/// The `tier_classifier` section.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ClassifierSettings {
    #[serde(rename = "type")]
    pub kind: ClassifierKind,
    /// `None` means the adjudicator's.
    pub provider: Option<ExpertSlug>,
}

impl ClassifierKind {
    /// Whether a model is asked for the tier of a file of this class. It can only raise the tier, so
    /// it is never asked about tier 1.
    pub fn asks_model(self, class: &FileClass) -> bool {
        let may_rise = class.tier != ReviewTier::Always;
        match self {
            Self::Rules => false,
            Self::Hybrid => may_rise && class.reason == ClassReason::NoMatch,
            Self::Model => may_rise,
        }
    }
}

/// Compiled tier rules.
#[derive(Debug)]
pub struct TierClassifier {
    /// `None` if the file has no `tier_rules`.
    rules: Option<Vec<(TierRule, Gitignore)>>,
}

/// Tier and type of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileClass {
    pub tier: ReviewTier,
    pub artifact_type: String,
    pub reason: ClassReason,
}

/// Why a file has its tier and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassReason {
    Rule,
    /// There are rules, but none matches.
    NoMatch,
    NoRules,
}

impl TierClassifier {
    pub fn new(rules: Option<&[TierRule]>) -> Self {
        let ready = |rule: &TierRule| (rule.clone(), build_matcher(rule));
        Self { rules: rules.map(|rules| rules.iter().map(ready).collect()) }
    }

    /// The types that the rules name, each once; none without rules.
    pub fn list_types(&self) -> Vec<String> {
        let mut types: Vec<String> = Vec::new();
        for (rule, _) in self.rules.iter().flatten() {
            if !types.contains(&rule.artifact_type) {
                types.push(rule.artifact_type.clone());
            }
        }
        types
    }

    pub fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// Classifies by a path relative to the folder of `council.yaml`. A path outside of it (`None`)
    /// matches no rule.
    pub fn classify_path(&self, path: Option<&str>) -> FileClass {
        let Some(rules) = &self.rules else {
            return FileClass::new(ReviewTier::Always, TYPE_WITHOUT_RULES, ClassReason::NoRules);
        };
        let fits = |globs: &Gitignore| {
            path.is_some_and(|path| globs.matched_path_or_any_parents(path, false).is_ignore())
        };
        match rules.iter().find(|(_, globs)| fits(globs)) {
            Some((rule, _)) => FileClass::new(rule.tier, &rule.artifact_type, ClassReason::Rule),
            None => FileClass::new(ReviewTier::Never, TYPE_WITHOUT_RULES, ClassReason::NoMatch),
        }
    }

    /// Whether a rule selects this file for review, always or by sampling.
    pub fn is_reviewed(&self, path: &str) -> bool {
        self.classify_path(Some(path)).tier != ReviewTier::Never
    }

    /// Whether a reviewing rule names this folder, or one in it, without wildcards.
    pub fn names_folder(&self, folder: &str) -> bool {
        self.fixed_prefixes().any(|prefix| is_within(&prefix, folder))
    }

    /// Whether a rule may select files in this folder for review.
    pub fn may_review_in(&self, folder: &str) -> bool {
        self.fixed_prefixes().any(|prefix| is_within(&prefix, folder) || is_within(folder, &prefix))
    }

    /// Returns the folders that reviewing globs contain before their first wildcard.
    fn fixed_prefixes(&self) -> impl Iterator<Item = String> {
        let rules = self.rules.iter().flatten().map(|(rule, _)| rule);
        let judged = rules.filter(|rule| rule.tier != ReviewTier::Never);
        judged.flat_map(|rule| &rule.globs).map(|glob| fixed_prefix(glob))
    }

    /// Classifies by a type given by the caller: uses the tier of that type's first rule, else the
    /// tier of the path.
    pub fn classify_as(&self, path: Option<&str>, artifact_type: &str) -> FileClass {
        let rules = self.rules.as_deref().unwrap_or_default();
        match rules.iter().find(|(rule, _)| rule.artifact_type == artifact_type) {
            Some((rule, _)) => FileClass::new(rule.tier, artifact_type, ClassReason::Rule),
            None => {
                FileClass { artifact_type: artifact_type.to_owned(), ..self.classify_path(path) }
            }
        }
    }
}

impl FileClass {
    fn new(tier: ReviewTier, artifact_type: &str, because: ClassReason) -> Self {
        Self { tier, artifact_type: artifact_type.to_owned(), reason: because }
    }
}

/// Returns `posts/2026` for `posts/2026/*.md`, and nothing for a glob that matches at any depth.
fn fixed_prefix(glob: &str) -> String {
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
fn build_matcher(rule: &TierRule) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for glob in &rule.globs {
        let _ = builder.add_line(None, glob);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Globs of files with this type and tier; the first matching rule wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierRule {
    pub tier: ReviewTier,
    pub artifact_type: String,
    /// Relative to the folder of `council.yaml`.
    pub globs: Vec<String>,
}

/// The type is a column of the log and a heading of the statistics.
const ARTIFACT_TYPE_BYTES_MAX: usize = 64;

/// Reads the rules in the order in which they are tried.
pub(crate) fn read_tier_rules(
    tree: &YamlNode,
    problems: &mut ProblemList,
) -> Option<Vec<TierRule>> {
    let YamlValue::Mapping(sections) = &tree.value else { return None };
    let (section, node) = sections.iter().find(|(key, _)| key.name == "tier_rules")?;
    let problems_before = problems.0.len();
    let known = ReviewTier::ALL.map(ReviewTier::config_key);
    for (key, _) in list_entries(node, "tier_rules", problems) {
        if !known.contains(&key.name.as_str()) {
            let path = format!("tier_rules.{}", key.name);
            problems.0.push(ConfigProblem::unknown_key(path, &key.name, key.line, &known));
        }
    }
    let mut rules = Vec::new();
    for tier in ReviewTier::ALL {
        let path = format!("tier_rules.{}", tier.config_key());
        let Some(node) = tree.find_value(&path) else { continue };
        for (key, node) in list_entries(node, &path, problems) {
            let path = format!("{path}.{}", key.name);
            if !is_artifact_type(&key.name) {
                let fault = format!(
                    "must be a type of 1 to {ARTIFACT_TYPE_BYTES_MAX} letters, digits, `_`, `-` or `.`"
                );
                problems.add_problem(&path, key.line, &fault);
            }
            let globs = read_globs(node, &path, problems);
            rules.push(TierRule { tier, artifact_type: key.name.clone(), globs });
        }
    }
    // Without a rule every file would be skipped without a message.
    if rules.is_empty() && problems.0.len() == problems_before {
        let fault = "has no rule: write one like `tier_1: {post: [\"posts/*.md\"]}`, or remove it";
        problems.add_problem("tier_rules", section.line, fault);
    }
    Some(rules)
}

/// Whether a name is a valid artifact type.
pub fn is_artifact_type(name: &str) -> bool {
    (1..=ARTIFACT_TYPE_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Reads a list of globs, or a single glob.
fn read_globs(node: &YamlNode, path: &str, problems: &mut ProblemList) -> Vec<String> {
    let items: &[YamlNode] =
        if let YamlValue::List(items) = &node.value { items } else { std::slice::from_ref(node) };
    if items.is_empty() || items.len() > LIST_MAX {
        problems.add_problem(path, node.line, &format!("must have from 1 to {LIST_MAX} globs"));
    }
    let mut globs = Vec::new();
    for item in items {
        let glob = read_text(item, |_| None).and_then(|glob| match glob_fault(&glob) {
            Some(fault) => Err((item.line, format!("has `{glob}`, which {fault}"))),
            None => Ok(glob),
        });
        match glob {
            Ok(glob) => globs.push(glob),
            Err((line, fault)) => problems.add_problem(path, line, &fault),
        }
    }
    globs
}

fn glob_fault(glob: &str) -> Option<&'static str> {
    if glob.split('/').any(|part| part == "..") {
        return Some("leaves the folder of `council.yaml`");
    }
    let has_outer_blank = glob.split('/').any(|part| part != part.trim());
    if glob.starts_with("./") || glob.contains("//") || glob.contains('\\') || has_outer_blank {
        return Some("matches nothing: write it like `posts/*.md`");
    }
    if has_open_class(glob) {
        return Some("has a `[` without its `]`");
    }
    if is_list_of_globs(glob) {
        return Some(
            "looks like several globs: list them as `[\"a/*.md\", \"b/*.md\"]`, and write `?` for a \
             blank in a name",
        );
    }
    if glob.starts_with(['!', '#']) {
        return Some("begins with `!` or `#`");
    }
    let mut builder = GitignoreBuilder::new("");
    let is_glob = builder.add_line(None, glob).and_then(|builder| builder.build()).is_ok();
    (!is_glob).then_some("is not a glob")
}

/// Whether a class of letters such as `[a-z]` has no end. The matcher then takes it literally.
fn has_open_class(glob: &str) -> bool {
    let mut rest = glob;
    while let Some((_, after)) = rest.split_once('[') {
        let members = after.strip_prefix(['!', '^']).unwrap_or(after);
        // A bracket that comes first is a member of the class.
        let members = members.strip_prefix(']').unwrap_or(members);
        let Some((_, next)) = members.split_once(']') else { return true };
        rest = next;
    }
    false
}

/// Whether one text has several globs, separated by a blank or a comma: `a/*.md b/*.md`. A name may
/// contain a blank, so the text before it must end like a glob of its own.
fn is_list_of_globs(glob: &str) -> bool {
    let parts: Vec<&str> = glob.split([' ', ',']).filter(|part| !part.is_empty()).collect();
    let is_whole = |part: &str| {
        let ending = part.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_file = !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_file || part.ends_with('*')
    };
    let mut pairs = parts.iter().zip(parts.iter().skip(1));
    pairs.any(|(part, next)| is_whole(part) && next.contains(['*', '/', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::yaml::parse_yaml;

    #[test]
    fn globs_that_match_nothing_by_mistake_are_rejected() {
        let faulty = [
            "posts/[.md",
            "posts/[!a.md",
            "posts/[]a.md",
            "posts/*.md drafts/*.md",
            "posts/*.md,drafts/*.md",
            "posts/*.md, drafts/*.md",
            "posts/a.md b.md",
            "posts/* drafts/*",
            "posts/ *.md",
            " posts/*.md",
            "posts /*.md",
            "../a.md",
        ];
        assert_eq!(faulty.map(|glob| glob_fault(glob).is_some()), [true; 12], "{faulty:?}");
        let valid = [
            "posts/*.md",
            "posts/[a-z]*.md",
            "posts/[]]*.md",
            "posts/[!a,b]*.md",
            "my posts/*.md",
            "posts/my file*.md",
            "St. Gallen/*.md",
            "v1.2 notes.md",
            "*,v",
        ];
        let faults = valid.map(|glob| glob_fault(glob).map(|fault| (glob, fault)));
        assert_eq!(faults, [None; 9]);
    }

    #[test]
    fn rules_without_a_rule_are_rejected() {
        let problems_of = |text: &str| {
            let mut problems = ProblemList::default();
            read_tier_rules(&parse_yaml(text).unwrap(), &mut problems);
            problems.0.len()
        };
        let empty = ["tier_rules:", "tier_rules: {}", "tier_rules: {tier_1: {}}"];
        assert_eq!(empty.map(problems_of), [1; 3]);
        assert_eq!(problems_of("tier_rules:\n  tier_1:\n"), 1);
        assert_eq!(problems_of("tier_rules: {tier_2: {draft: [\"drafts/**\"]}}"), 0);
        assert_eq!(problems_of("council: {}"), 0);
    }

    fn rule(tier: ReviewTier, artifact_type: &str, globs: &[&str]) -> TierRule {
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        TierRule { tier, artifact_type: artifact_type.to_owned(), globs }
    }

    #[test]
    fn the_first_rule_that_fits_wins() {
        let rules = [
            rule(ReviewTier::Always, "linkedin_post", &["posts/*.md"]),
            rule(ReviewTier::Never, "draft", &["posts/**", "*.draft.md"]),
            rule(ReviewTier::Sampled, "briefing", &["briefings/**", "/top.md"]),
        ];
        let classifier = TierClassifier::new(Some(&rules));
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
            let class = classifier.classify_path(Some(path));
            assert_eq!(
                (class.tier.tier_number(), class.artifact_type.as_str()),
                (tier, artifact_type),
                "{path}"
            );
        }
        assert_eq!(classifier.classify_path(None).reason, ClassReason::NoMatch);
    }

    #[test]
    fn folders_are_known_by_what_globs_spell_out() {
        let rules = [
            rule(ReviewTier::Always, "release", &["dist/*.md", "a/b/c*/x.md"]),
            rule(ReviewTier::Never, "draft", &["drafts/**"]),
        ];
        let classifier = TierClassifier::new(Some(&rules));
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
            let found = (classifier.names_folder(folder), classifier.may_review_in(folder));
            assert_eq!(found, (is_named, may_hold), "{folder}");
        }
        let anywhere =
            TierClassifier::new(Some(&[rule(ReviewTier::Always, "readme", &["README.md"])]));
        assert!(anywhere.may_review_in("vendor") && !anywhere.names_folder("vendor"));
    }

    #[test]
    fn without_rules_every_named_file_is_reviewed() {
        let class = TierClassifier::new(None).classify_path(Some("a.md"));
        assert_eq!(class, FileClass::new(ReviewTier::Always, "document", ClassReason::NoRules));
        // An empty list of rules matches nothing.
        assert_eq!(
            TierClassifier::new(Some(&[])).classify_path(Some("a.md")).tier,
            ReviewTier::Never
        );
    }

    #[test]
    fn a_type_that_has_a_rule_brings_its_tier() {
        let rules = [rule(ReviewTier::Sampled, "briefing", &["briefings/**"])];
        let classifier = TierClassifier::new(Some(&rules));
        assert_eq!(classifier.classify_as(Some("x.md"), "briefing").tier, ReviewTier::Sampled);
        let other = classifier.classify_as(Some("x.md"), "poem");
        assert_eq!((other.tier, other.artifact_type.as_str()), (ReviewTier::Never, "poem"));
        assert_eq!(TierClassifier::new(None).classify_as(None, "poem").tier, ReviewTier::Always);
    }
}
