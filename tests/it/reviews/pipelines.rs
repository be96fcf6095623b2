//! Reviews in pipelines: annotations, SARIF, and the git hook and workflow of the docs.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::kit::{CommandOutput, TestProgram, plenary_binary};

fn repository_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A fixture document: `announcement.md` gets SHIP, `post.md` REVISE, `email.md` HOLD.
fn read_fixture_text(name: &str) -> String {
    std::fs::read_to_string(repository_root().join("tests/fixtures/artifacts").join(name)).unwrap()
}

fn write_rules(program: &TestProgram) {
    std::fs::write(program.path().join("council.yaml"), read_fixture_text("council.yaml")).unwrap();
}

fn write_file(program: &TestProgram, path: &str, text: &str) {
    let path = program.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn project_with(names: &[&str]) -> TestProgram {
    let program = TestProgram::new();
    write_rules(&program);
    names.iter().for_each(|name| write_file(&program, name, &read_fixture_text(name)));
    program
}

#[test]
fn annotations_stand_on_the_lines_of_the_document() {
    let program = project_with(&["post.md", "announcement.md"]);
    write_file(&program, "notes.xyz", "whatever");
    let arguments = ["review", "--rehearse", "--format", "github", "post.md", "notes.xyz"];
    let ran = program.run_command(&arguments);
    assert_eq!(ran.code, 1, "{ran:?}");
    let mut lines = ran.stdout.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("::warning file=post.md,title=REVISE%2C REHEARSAL::1. "), "{first}");
    let promise = "::error file=post.md,line=17,endLine=17,title=REHEARSAL%3A skeptic-1 blocks::";
    assert!(lines.any(|line| line.starts_with(promise)), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nREVISE, REHEARSAL: post.md: 1. "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nSKIPPED: notes.xyz: "), "{}", ran.stdout);
}

#[test]
fn a_file_that_cannot_be_read_is_an_annotation_too() {
    let program = project_with(&["announcement.md"]);
    let arguments =
        ["review", "--rehearse", "--format", "github", "posts/gone.md", "announcement.md"];
    let ran = program.run_command(&arguments);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.stdout.contains("::error file=posts/gone.md,title=Not reviewed::"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("::notice file=announcement.md,title=SHIP"), "{}", ran.stdout);
}

#[test]
fn what_went_wrong_is_a_document_where_the_format_is_json() {
    #[track_caller]
    fn check_output(yaml: &str, arguments: &[&str], expected: (i32, &str)) {
        let program = TestProgram::new();
        write_file(&program, "council.yaml", yaml);
        write_file(&program, "a.md", "A text.\n");
        let message = |format: &[&str]| {
            let ran = program.run_command(&[arguments, format].concat());
            assert_eq!((ran.code, ran.stderr.as_str()), (expected.0, ""), "{ran:?}");
            serde_json::from_str::<Value>(&ran.stdout).unwrap()
        };
        let document = message(&["--format", "json"]);
        assert_eq!(
            (&document["status"], &document["error_code"]),
            (&json!("error"), &json!(expected.1))
        );
        assert_eq!(document, message(&["--json"]));
        let ran = program.run_command(&[arguments, &["--format", "text"]].concat());
        assert!(ran.stdout.is_empty() && ran.stderr.contains("error:"), "{ran:?}");
    }
    let mistaken = "review: {policy: {name: lenient}}";
    check_output(mistaken, &["review", "a.md"], (5, "invalid_configuration"));
    check_output("", &["review", "a.md"], (5, "invalid_configuration"));
    check_output("", &["review", "--rehearse"], (64, "usage"));
    check_output("", &["sweep", "--rehearse"], (5, "invalid_configuration"));
}

#[test]
fn all_files_are_one_sarif_document() {
    let program = project_with(&["post.md", "email.md", "announcement.md"]);
    let arguments =
        ["review", "--rehearse", "--format", "sarif", "post.md", "email.md", "announcement.md"];
    let ran = program.run_command(&arguments);
    assert_eq!(ran.code, 2, "{ran:?}");
    let run = parse_sarif_run(&ran.stdout);
    let verdicts = run["properties"]["verdicts"].as_array().unwrap();
    let words: Vec<&str> = verdicts.iter().map(|one| one["verdict"].as_str().unwrap()).collect();
    assert_eq!(words, ["REVISE", "HOLD", "SHIP"]);
    let results = run["results"].as_array().unwrap();
    let is_located = |result: &&Value| {
        let place = &result["locations"][0]["physicalLocation"];
        place["region"]["startLine"].as_u64().is_some_and(|line| line > 0)
    };
    assert!(results.iter().filter(is_located).count() > 10, "{results:#?}");
}

#[track_caller]
fn parse_sarif_run(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap();
    assert_eq!(document["version"], "2.1.0");
    let [run] = &document["runs"].as_array().unwrap()[..] else { panic!("{document:#}") };
    run.clone()
}

/// A git repository with the rules, and `plenary` on the PATH of its commands.
struct GitRepository {
    program: TestProgram,
    tools: tempfile::TempDir,
}

impl GitRepository {
    fn new() -> Self {
        let (program, tools) = (TestProgram::new(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(plenary_binary(), tools.path().join("plenary")).unwrap();
        let repository = Self { program, tools };
        write_rules(&repository.program);
        write_file(&repository.program, ".gitignore", ".plenary/\ncouncil_log.jsonl\n");
        repository.run_git(&["init", "-q", "-b", "main"]);
        repository.run_git(&["add", "."]);
        repository.run_git(&["commit", "-q", "-m", "the rules"]);
        repository
    }

    /// With the hook of the docs.
    fn with_hook() -> Self {
        let repository = Self::new();
        let hook = repository.program.path().join(".git/hooks/pre-commit");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::copy(repository_root().join("docs/examples/pre-commit"), &hook).unwrap();
        repository
    }

    fn tool_command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.tools.path().display());
        command.current_dir(self.program.path()).env_clear().stdin(Stdio::null());
        command
            .env("PATH", path)
            .env("HOME", self.tools.path())
            .env("PLENARY_OPTIONS", "--rehearse");
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "ann")
                .env(format!("GIT_{role}_EMAIL"), "a@b.c");
        }
        command
    }

    #[track_caller]
    fn run_git(&self, arguments: &[&str]) {
        let ran = run_output(self.tool_command("git").args(arguments));
        assert_eq!(ran.code, 0, "git {arguments:?}: {ran:?}");
    }

    fn try_commit(&self) -> CommandOutput {
        run_output(self.tool_command("git").args(["commit", "-q", "-m", "more"]))
    }

    fn commit_count(&self) -> usize {
        let counted = run_output(self.tool_command("git").args(["rev-list", "--count", "HEAD"]));
        counted.stdout.trim().parse().unwrap()
    }

    /// Stages a document.
    fn stage_file(&self, path: &str, text: &str) {
        write_file(&self.program, path, text);
        self.run_git(&["add", "--", path]);
    }
}

fn run_output(command: &mut Command) -> CommandOutput {
    let output = command.output().unwrap();
    CommandOutput {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_hook_lets_through_what_ships() {
    let repository = GitRepository::with_hook();
    repository.stage_file("announcement.md", &read_fixture_text("announcement.md"));
    let ran = repository.try_commit();
    assert_eq!((ran.code, repository.commit_count()), (0, 2), "{ran:?}");
    assert!((ran.stdout + &ran.stderr).contains("SHIP · REHEARSAL"));
}

#[test]
fn the_hook_stops_what_is_to_be_revised_unless_that_may_pass() {
    let repository = GitRepository::with_hook();
    repository.stage_file("announcement.md", &read_fixture_text("announcement.md"));
    repository.stage_file("post.md", &read_fixture_text("post.md"));
    let ran = repository.try_commit();
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(repository.commit_count(), 1);
    assert!((ran.stdout + &ran.stderr).contains("REVISION BRIEF"));
    let mut again = repository.tool_command("git");
    let ran = self::run_output(
        again.args(["commit", "-q", "-m", "more"]).env("PLENARY_LETS_PASS", "revise"),
    );
    assert_eq!((ran.code, repository.commit_count()), (0, 2), "{ran:?}");
}

#[test]
fn what_is_held_never_passes_the_hook() {
    let repository = GitRepository::with_hook();
    repository.stage_file("email.md", &read_fixture_text("email.md"));
    let mut commit = repository.tool_command("git");
    let ran =
        run_output(commit.args(["commit", "-q", "-m", "more"]).env("PLENARY_LETS_PASS", "revise"));
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(repository.commit_count(), 1);
}

#[test]
fn a_document_with_a_key_never_passes_the_hook() {
    let repository = GitRepository::with_hook();
    let key = "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF2hJ4";
    repository.stage_file("post.md", &format!("# Launch\n\nkey = ghp_{key}\n"));
    let mut commit = repository.tool_command("git");
    let ran =
        run_output(commit.args(["commit", "-q", "-m", "more"]).env("PLENARY_LETS_PASS", "revise"));
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("looks like"), "{ran:?}");
    assert_eq!(repository.commit_count(), 1);
}

#[test]
fn the_hook_reviews_only_documents_under_any_name() {
    let repository = GitRepository::with_hook();
    repository.stage_file("main.rs", "fn main() {}\n");
    assert_eq!(repository.try_commit().code, 0, "no document was staged");
    assert_eq!(repository.commit_count(), 2);
    // No rule matches these and the tier rules skip them, but each counts as one file.
    for name in ["a b.md", "-rf.md", "$(touch owned).md", "new\nline.md", "*.md"] {
        repository.stage_file(name, "# Hello\n");
    }
    let ran = repository.try_commit();
    assert_eq!((ran.code, repository.commit_count()), (0, 3), "{ran:?}");
    // Each file has a line with the reason, and a row of the summary.
    assert_eq!((ran.stdout + &ran.stderr).matches("SKIPPED").count(), 10);
    assert!(!repository.program.path().join("owned").exists());
}

#[test]
fn the_hook_judges_no_file_that_is_not_the_one_that_is_committed() {
    let repository = GitRepository::with_hook();
    repository.stage_file("announcement.md", &read_fixture_text("post.md"));
    write_file(&repository.program, "announcement.md", &read_fixture_text("announcement.md"));
    let ran = repository.try_commit();
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("not staged"), "{}", ran.stderr);
    assert_eq!(repository.commit_count(), 1);
}

#[test]
fn without_the_program_the_hook_lets_nothing_through() {
    let repository = GitRepository::with_hook();
    std::fs::remove_file(repository.tools.path().join("plenary")).unwrap();
    repository.stage_file("announcement.md", &read_fixture_text("announcement.md"));
    let ran = repository.try_commit();
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("nothing was reviewed"), "{}", ran.stderr);
}

/// The workflow that uploads SARIF, and the one that posts a comment.
const SARIF_WORKFLOW: &str = "docs/examples/plenary-review.yml";
const COMMENT_WORKFLOW: &str = "templates/plenary-review.yml";

/// The script of a workflow step.
fn workflow_step(file: &str, name: &str) -> String {
    let text = std::fs::read_to_string(repository_root().join(file)).unwrap();
    let workflow: Value = serde_saphyr::from_str(&text).unwrap();
    let steps = workflow["jobs"]["review"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name);
    step.unwrap_or_else(|| panic!("no step {name}"))["run"].as_str().unwrap().to_owned()
}

/// A branch that is two documents ahead of its base.
fn branch_repository() -> GitRepository {
    let repository = GitRepository::new();
    // The workflow does not pass `--rehearse`, so a wrapper named `plenary` adds it.
    let path = repository.tools.path().join("plenary");
    std::fs::remove_file(&path).unwrap();
    let script = format!(
        "#!/bin/sh\nshift\nexec '{}' review --rehearse \"$@\"\n",
        plenary_binary().display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    repository.run_git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    repository
}

fn run_step(repository: &GitRepository, name: &str) -> CommandOutput {
    run_step_of(SARIF_WORKFLOW, repository, name)
}

fn run_step_of(file: &str, repository: &GitRepository, name: &str) -> CommandOutput {
    let mut bash = repository.tool_command("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &workflow_step(file, name)]);
    bash.env("GITHUB_OUTPUT", repository.tools.path().join("output"));
    bash.env("GITHUB_BASE_REF", "main").env("RUNNER_TEMP", repository.tools.path());
    bash.env("AUTHOR", "ann").env("GATE", "council.yaml");
    run_output(&mut bash)
}

#[test]
fn the_workflow_reviews_what_changed_and_leaves_sarif() {
    let repository = branch_repository();
    repository.stage_file("announcement.md", &read_fixture_text("announcement.md"));
    repository.stage_file("post.md", &read_fixture_text("post.md"));
    repository.stage_file("main.rs", "fn main() {}\n");
    repository.run_git(&["commit", "-q", "-m", "documents"]);
    let ran = run_step(&repository, "Review what changed");
    assert_eq!(ran.code, 1, "{ran:?}");
    let sarif: PathBuf = repository.program.path().join("plenary.sarif");
    let run = parse_sarif_run(&std::fs::read_to_string(sarif).unwrap());
    let verdicts = run["properties"]["verdicts"].as_array().unwrap();
    let outcome: Vec<_> = verdicts.iter().map(|one| (&one["artifact"], &one["verdict"])).collect();
    assert_eq!(outcome.len(), 2, "{outcome:?}");
    assert!(verdicts.iter().any(|one| one["artifact"] == "post.md" && one["verdict"] == "REVISE"));
}

#[test]
fn the_workflow_with_a_comment_keeps_the_exit_code_until_the_comment_is_posted() {
    let repository = branch_repository();
    repository.stage_file("announcement.md", &read_fixture_text("announcement.md"));
    repository.stage_file("post.md", &read_fixture_text("post.md"));
    repository.run_git(&["commit", "-q", "-m", "documents"]);
    let ran = run_step_of(COMMENT_WORKFLOW, &repository, "Review what changed");
    assert_eq!(ran.code, 0, "{ran:?}");
    let comment = std::fs::read_to_string(repository.program.path().join("comment.md")).unwrap();
    assert!(comment.contains("| post.md | **REVISE** |"), "{comment}");
    let output = std::fs::read_to_string(repository.tools.path().join("output")).unwrap();
    assert_eq!(output, "code=1\n");
    assert!(workflow_step(COMMENT_WORKFLOW, "Fail by the verdict").contains("exit \"$CODE\""));
}

#[test]
fn a_workflow_without_changed_documents_does_nothing() {
    let repository = branch_repository();
    repository.stage_file("main.rs", "fn main() {}\n");
    repository.run_git(&["commit", "-q", "-m", "code"]);
    let ran = run_step(&repository, "Review what changed");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!repository.program.path().join("plenary.sarif").exists());
}

#[test]
fn the_workflow_takes_its_rules_from_the_base() {
    let repository = branch_repository();
    repository.stage_file("council.yaml", "tier_rules: {tier_2: {anything: [\"**\"]}}\n");
    repository.run_git(&["commit", "-q", "-m", "a gate that lets everything through"]);
    let ran = run_step(&repository, "Take the rules from the base branch");
    assert_eq!(ran.code, 0, "{ran:?}");
    let rules = std::fs::read_to_string(repository.program.path().join("council.yaml")).unwrap();
    assert_eq!(rules, read_fixture_text("council.yaml"));
}

#[test]
fn annotations_are_found_from_where_the_workflow_runs() {
    let program = TestProgram::new();
    write_file(&program, "docs/council.yaml", &read_fixture_text("council.yaml"));
    write_file(&program, "docs/post.md", &read_fixture_text("post.md"));
    let review = |format: &str| {
        let options = ["--config", "docs/council.yaml", "review", "--rehearse", "--format", format];
        program.run_command(&[&options[..], &["docs/post.md"]].concat()).stdout
    };
    assert!(review("github").starts_with("::warning file=docs/post.md,"), "{}", review("github"));
    let run = parse_sarif_run(&review("sarif"));
    let place = &run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(place["uri"], "docs/post.md");
    // The record uses the path that the rules use.
    assert_eq!(run["properties"]["verdicts"][0]["artifact"], "post.md");
}
