//! SARIF output of reviews, validated against the official schema.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::kit::TestProgram;

/// Prints the violations of the document on standard input, and a count of its results.
const VALIDATE_SCRIPT: &str = r"
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
document = json.load(sys.stdin)
for error in jsonschema.Draft7Validator(schema).iter_errors(document):
    print('/'.join(map(str, error.absolute_path)), error.message)
print(len(document['runs'][0]['results']), 'results')
";

#[test]
#[ignore = "needs the Python that `./check real` installs"]
fn what_is_printed_as_sarif_is_sarif() {
    let program = TestProgram::new();
    let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures");
    let names = ["council.yaml", "post.md", "email.md", "announcement.md"];
    for name in names {
        let target = program.path().join(name);
        std::fs::copy(fixtures.join("artifacts").join(name), target).unwrap();
    }
    std::fs::write(program.path().join("notes.xyz"), "no rule fits it").unwrap();
    std::fs::write(program.path().join("silent.yaml"), "- {seat: adjudicator, fail: auth}")
        .unwrap();
    let schema = fixtures.join("sarif/sarif-schema-2.1.0.json");

    let decided = ["--rehearse", "post.md", "email.md", "announcement.md"];
    assert_eq!(check_sarif(&program, &decided, 2, &schema), "19 results");
    let undecided = ["--rehearse", "silent.yaml", "--force", "post.md"];
    assert_eq!(check_sarif(&program, &undecided, 3, &schema), "16 results");
    let unseen = ["--rehearse", "gone [1].md", "notes.xyz"];
    assert_eq!(check_sarif(&program, &unseen, 4, &schema), "0 results");
}

#[track_caller]
fn check_sarif(program: &TestProgram, review: &[&str], code: i32, schema: &Path) -> String {
    let ran = program.run_command(&[&["review", "--format", "sarif"], review].concat());
    assert_eq!(ran.code, code, "{ran:?}");
    let python = std::env::var("PLENARY_REAL_PYTHON").expect("`./check real` says where it is");
    let mut validator = Command::new(python)
        .args(["-c", VALIDATE_SCRIPT])
        .arg(schema)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    validator.stdin.take().unwrap().write_all(ran.stdout.as_bytes()).unwrap();
    let output = validator.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
