//! The documents: every command block of README.md and `docs/` runs in a project of its own, and
//! every sample of output is the real one.
//!
//! A block fenced `sh` runs with the built program as `plenary`, without keys and without a network.
//! A block fenced `text` after it shows its standard output, or its standard error when standard
//! output is empty. A line `…` in it stands for any lines. `<!-- not run: REASON -->` on the line
//! before a block keeps the test from running it; [`NOT_RUN`] lists all such blocks.
//! `UPDATE_DOCS=1` writes the real output into the documents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex::Regex;

use crate::kit::{TestProgram, plenary_binary};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const README_LINES_MAX: usize = 150;

/// Words that hide the actor of a sentence, and words of the first version's riddles.
const HIDDEN_ACTORS: [&str; 9] = [
    "nobody",
    "somebody",
    "whoever",
    "whatever",
    "whichever",
    "anybody",
    "everybody",
    "mend",
    "mended",
];

/// Blocks that do not run, by page and first command. A reviewer has seen each of them.
const NOT_RUN: [(&str, &str); 20] = [
    ("README.md", "cargo run --release -- ask \"Should reads go through a cache?\" --rehearse"),
    ("README.md", "export ANTHROPIC_API_KEY=… OPENAI_API_KEY=… GEMINI_API_KEY=…"),
    ("docs/configuration.md", "plenary trust"),
    ("docs/dialogues.md", "plenary dialogue prompts nvidia-investment-decision"),
    ("docs/http.md", "plenary serve --open"),
    ("docs/http.md", "TOKEN=$(cat .plenary/token)"),
    ("docs/http.md", "plenary serve --public-url https://plenary.example.org"),
    ("docs/mcp.md", "claude mcp add plenary -- plenary mcp"),
    ("docs/mcp.md", "plenary serve"),
    ("docs/mcp.md", "post() {"),
    ("docs/page.md", "plenary serve --open"),
    ("docs/reviews.md", "gh run download --name council_log --dir ci"),
    ("docs/reviews.md", "plenary sweep --dry-run"),
    ("docs/tutorials/agent-over-mcp.md", "claude mcp add plenary -- plenary mcp"),
    ("docs/tutorials/agent-over-mcp.md", "plenary serve"),
    ("docs/tutorials/auditor.md", "plenary due --within 30d"),
    ("docs/tutorials/first-conclusion.md", "cargo install --path crates/plenary"),
    ("docs/tutorials/first-conclusion.md", "export ANTHROPIC_API_KEY=…"),
    ("docs/tutorials/first-conclusion.md", "plenary watch   ID"),
    ("docs/tutorials/gate-in-ci.md", "set -eu"),
];

/// One `sh` block, and the `text` block with its output.
struct Block {
    line: usize,
    commands: String,
    is_run: bool,
    /// Numbers of the first line of the output and of the line after its last.
    output: Option<(usize, usize)>,
}

/// A page, and the state of its project between two blocks.
struct PageRun {
    name: String,
    lines: Vec<String>,
    folder: tempfile::TempDir,
    working_folder: PathBuf,
    /// Dialogue ids of the page and the ids that this run got, by the part that both share.
    ids: BTreeMap<String, (String, String)>,
}

#[test]
fn every_command_of_the_readme_runs_and_prints_what_it_shows() {
    check_pages(&["README.md".to_owned()]);
}

#[test]
fn every_command_of_the_tutorials_runs_and_prints_what_they_show() {
    check_pages(&pages_in("docs/tutorials"));
}

#[test]
fn every_command_of_the_guides_runs_and_prints_what_they_show() {
    check_pages(&pages_in("docs"));
}

#[test]
fn only_reviewed_blocks_do_not_run() {
    let mut found = Vec::new();
    for name in all_pages() {
        for block in read_blocks(&read_lines(&name)) {
            if !block.is_run {
                let command = block.commands.lines().next().unwrap();
                let command = command.split(" # ").next().unwrap().trim_end();
                found.push((name.clone(), command.to_owned()));
            }
        }
    }
    let listed = NOT_RUN.map(|(page, command)| (page.to_owned(), command.to_owned()));
    assert_eq!(found, listed, "a block that does not run needs a line in NOT_RUN");
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut complaints = Vec::new();
    for name in all_documents() {
        for (number, line) in prose_lines(&name) {
            for target in link.captures_iter(&line).map(|found| found[1].to_owned()) {
                if !target.contains("://") && !link_is_alive(&name, &target) {
                    complaints.push(format!("{name}:{number}: {target}"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "dead links:\n{}", complaints.join("\n"));
}

#[test]
fn the_documents_name_the_actor() {
    let mut complaints = Vec::new();
    for name in all_documents() {
        for (number, line) in prose_lines(&name) {
            let words = line.split(|c: char| !c.is_alphabetic());
            for word in words.filter(|word| HIDDEN_ACTORS.contains(&word.to_lowercase().as_str())) {
                complaints.push(format!("{name}:{number}: {word}"));
            }
        }
    }
    assert!(complaints.is_empty(), "name the actor:\n{}", complaints.join("\n"));
}

#[test]
fn the_pictures_show_what_the_program_prints() {
    let word = Regex::new(r"<text[^>]*>([^<]*)</text>").unwrap();
    let question = "Should reads go through a cache?";
    for (name, arguments) in
        [("ask", ["ask", question, "--rehearse"]), ("review", ["review", "post.md", "--rehearse"])]
    {
        let program = TestProgram::new();
        program.write_text("post.md", &(read_lines("docs/examples/post.md").join("\n") + "\n"));
        let printed = program.run_command(&arguments).stdout;
        let picture = read_lines(&format!("docs/pictures/{name}.svg")).join("\n");
        let drawn = word.captures_iter(&picture).map(|found| unescape_html(&found[1]));
        // The first words of a picture are the command.
        let command = arguments.iter().flat_map(|argument| argument.split(' ')).count() + 2;
        let drawn: Vec<String> = drawn.skip(command).collect();
        let printed = printed.split_whitespace().filter(|word| !word.trim_matches('─').is_empty());
        let printed = printed.collect::<Vec<_>>().join(" ");
        let help = "`scripts/picture` draws the pictures again";
        assert_eq!(normalize(&[drawn.join(" ")]), normalize(&[printed]), "{help}");
    }
}

#[test]
fn the_readme_names_every_command() {
    let help = TestProgram::new().run_command(&["--help"]).stdout;
    let row = Regex::new(r"(?m)^ {2,4}([a-z][a-z-]+) {2,}\S").unwrap();
    let commands: Vec<String> = row.captures_iter(&help).map(|found| found[1].to_owned()).collect();
    assert!(commands.len() >= 25, "found only {commands:?}");
    let readme = read_lines("README.md").join("\n");
    let missing = commands.iter().filter(|name| !readme.contains(&format!("`{name}`")));
    let missing: Vec<&String> = missing.filter(|name| *name != "help").collect();
    assert!(missing.is_empty(), "README.md does not name {missing:?}");
}

#[test]
fn the_readme_is_short() {
    let lines = read_lines("README.md").len();
    assert!(lines <= README_LINES_MAX, "README.md has {lines} lines");
}

/// Runs the blocks of each page in order. Shows all differences at once, or writes them back.
fn check_pages(names: &[String]) {
    let is_update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut complaints = Vec::new();
    for name in names {
        let mut page = PageRun::new(name);
        let blocks = read_blocks(&page.lines);
        // From the last block to the first, so that line numbers before a change stay true.
        let results: Vec<_> = blocks.iter().map(|block| page.run_block(block)).collect();
        for (block, result) in blocks.iter().zip(results).rev() {
            match (result, block.output) {
                (Err(message), _) => complaints.push(format!("{name}:{}: {message}", block.line)),
                (Ok(output), Some(range)) => {
                    let real = page.write_as_page(&output);
                    if is_update {
                        page.replace_output(range, &real);
                    } else if let Some(difference) = page.compare_output(range, &real) {
                        complaints.push(format!("{name}:{}: {difference}", block.line));
                    }
                }
                (Ok(_), None) => {}
            }
        }
        if is_update {
            std::fs::write(Path::new(ROOT).join(name), page.lines.join("\n") + "\n").unwrap();
        }
    }
    let help = "UPDATE_DOCS=1 writes the real output into the documents";
    assert!(complaints.is_empty(), "{}\n{help}", complaints.join("\n"));
}

impl PageRun {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let working_folder = folder.path().join("project");
        copy_examples(&working_folder.join("docs/examples"));
        std::fs::create_dir_all(folder.path().join("bin")).unwrap();
        std::os::unix::fs::symlink(plenary_binary(), folder.path().join("bin/plenary")).unwrap();
        let lines = read_lines(name);
        Self { name: name.to_owned(), lines, folder, working_folder, ids: BTreeMap::new() }
    }

    /// Returns what the block printed, or why it failed.
    fn run_block(&mut self, block: &Block) -> Result<String, String> {
        if !block.is_run {
            return Ok(String::new());
        }
        let root = self.folder.path().to_owned();
        let commands = self.write_real_ids(&block.commands);
        let keep = root.join("working_folder");
        let script = format!("set -eu\ntrap 'pwd >{}' EXIT\n{commands}", keep.display());
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&self.working_folder)
            .env_clear()
            .env("PATH", format!("{}/bin:/usr/bin:/bin", root.display()))
            .env("HOME", &root)
            // The documents show a machine without Ollama.
            .env("OLLAMA_HOST", "127.0.0.1:9")
            .envs(["GIT_AUTHOR", "GIT_COMMITTER"].map(|who| (format!("{who}_NAME"), "ann")))
            .envs(["GIT_AUTHOR", "GIT_COMMITTER"].map(|who| (format!("{who}_EMAIL"), "ann@host")))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        if !output.status.success() {
            return Err(format!("{}\n{commands}\n{stdout}{stderr}", output.status));
        }
        self.working_folder = std::fs::read_to_string(keep).unwrap().trim_end().into();
        self.learn_ids(&format!("{stdout}{stderr}"));
        Ok(if stdout.is_empty() { stderr } else { stdout })
    }

    /// Pairs the dialogue ids of this output with those of the page. The page needs one id per title.
    fn learn_ids(&mut self, output: &str) {
        let on_page = dialogue_ids(&self.lines.join("\n"));
        for (id, slug) in dialogue_ids(output) {
            let shown = on_page.iter().find(|(_, other)| *other == slug).map(|(id, _)| id);
            let shown = shown.unwrap_or(&id).clone();
            self.ids.entry(slug).or_insert((shown, id));
        }
    }

    fn write_real_ids(&self, text: &str) -> String {
        self.ids.values().fold(text.to_owned(), |text, (page, real)| text.replace(page, real))
    }

    /// The output with the ids of the page, a home that readers know, and no blank lines around it.
    fn write_as_page(&self, output: &str) -> Vec<String> {
        let text = self.ids.values().fold(output.to_owned(), |text, (page, real)| {
            text.replace(real, page).replace(short_id(real), short_id(page))
        });
        let text = text.replace(&self.folder.path().display().to_string(), "/home/ann");
        text.trim_matches('\n').lines().map(|line| line.trim_end().to_owned()).collect()
    }

    fn compare_output(&self, (from, to): (usize, usize), real: &[String]) -> Option<String> {
        let shown = &self.lines[from..to];
        let expected = cut_output(shown, real);
        let is_same = normalize(shown) == normalize(&expected);
        (!is_same).then(|| {
            let (shown, expected) = (shown.join("\n"), expected.join("\n"));
            format!("{} shows:\n{shown}\n--- and the program prints:\n{expected}", self.name)
        })
    }

    /// Keeps a block whose words are right, so that a new date or id alone changes no document.
    fn replace_output(&mut self, range: (usize, usize), real: &[String]) {
        if self.compare_output(range, real).is_some() {
            let (from, to) = range;
            let output = cut_output(&self.lines[from..to], real);
            self.lines.splice(from..to, output);
        }
    }
}

/// The part of the output that a page shows: a line `…` keeps as many lines before and after it.
fn cut_output(shown: &[String], real: &[String]) -> Vec<String> {
    let Some(before) = shown.iter().position(|line| line == "…") else { return real.to_vec() };
    let after = shown.len() - before - 1;
    if before + after >= real.len() {
        return real.to_vec();
    }
    let tail = real[real.len() - after..].iter();
    real[..before].iter().chain([&"…".to_owned()]).chain(tail).cloned().collect()
}

/// Replaces what differs from run to run: times, digests, ids, ratings of shuffled letters.
fn normalize(lines: &[String]) -> Vec<String> {
    let rules = [
        (r"\d{4}-\d\d-\d\d(T[\d:.]+Z| \d\d:\d\d)?", "DATE"),
        (r"\b[\d,.]+ ?(ms|s)\b", "TIME"),
        (r"\b[0-9a-f]{8,}\b…?", "HEX"),
        (r"rated [\d, .]+", "rated N "),
        (r"entry \d+", "entry N"),
        (r"os error \d+", "os error N"),
        (r"opinion [A-Z]\b", "opinion N"),
    ];
    let rules = rules.map(|(pattern, name)| (Regex::new(pattern).unwrap(), name));
    let normalize_line = |line: &String| {
        rules.iter().fold(line.clone(), |line, (rule, name)| rule.replace_all(&line, *name).into())
    };
    lines.iter().map(normalize_line).collect()
}

/// The ids of councils and reviews in a text, each with the part that follows from its title.
fn dialogue_ids(text: &str) -> Vec<(String, String)> {
    let id = Regex::new(r"\b([a-z0-9]+(?:-[a-z0-9]+)*)-[0-9a-f]{8}\b").unwrap();
    id.captures_iter(text).map(|found| (found[0].to_owned(), found[1].to_owned())).collect()
}

/// The part of a dialogue id that commands take and print for short.
fn short_id(id: &str) -> &str {
    id.rsplit('-').next().unwrap()
}

fn read_blocks(lines: &[String]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut number = 0;
    while number < lines.len() {
        let Some(language) = lines[number].strip_prefix("```") else {
            number += 1;
            continue;
        };
        let from = number + 1;
        let length = lines[from..].iter().position(|line| line == "```").unwrap();
        let to = from + length;
        match (language, blocks.last_mut()) {
            ("sh", _) => blocks.push(Block {
                line: from,
                commands: lines[from..to].join("\n"),
                is_run: number == 0 || !lines[number - 1].starts_with("<!-- not run: "),
                output: None,
            }),
            ("text", Some(block)) if block.output.is_none() => block.output = Some((from, to)),
            _ => {}
        }
        number = to + 1;
    }
    blocks
}

/// The lines of a document outside code blocks, with their numbers.
fn prose_lines(name: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let lines = read_lines(name).into_iter().enumerate();
    let is_prose = |(_, line): &(usize, String)| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    };
    lines.filter(is_prose).map(|(number, line)| (number + 1, line)).collect()
}

fn link_is_alive(page: &str, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => Path::new(ROOT).join(page),
        _ => Path::new(ROOT).join(page).parent().unwrap().join(path),
    };
    if anchor.is_empty() {
        return file.exists();
    }
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter(|line| line.starts_with('#')).any(|line| heading_anchor(line) == anchor)
}

/// The anchor that GitHub gives a heading.
fn heading_anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Undoes Python's `html.escape`.
fn unescape_html(text: &str) -> String {
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")];
    signs.into_iter().fold(text.to_owned(), |text, (escape, sign)| text.replace(escape, sign))
}

fn copy_examples(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for entry in std::fs::read_dir(Path::new(ROOT).join("docs/examples")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
}

fn read_lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The Markdown files directly in a folder, sorted.
fn pages_in(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")).collect();
    names.sort();
    assert!(!names.is_empty(), "{folder} has no page");
    names
}

/// The pages whose commands run.
fn all_pages() -> Vec<String> {
    let folders = ["docs", "docs/tutorials"];
    let pages = folders.into_iter().flat_map(pages_in);
    [String::from("README.md")].into_iter().chain(pages).collect()
}

/// The pages that people read.
fn all_documents() -> Vec<String> {
    let others = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
    let others = others.map(str::to_owned).into_iter();
    all_pages().into_iter().chain(others).chain(pages_in("docs/adr")).collect()
}
