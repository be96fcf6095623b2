//! Files and folders of another user. Only root can change an owner, so these tests report when
//! they check less.

use std::path::Path;

use super::harness::{UntrustedProject, run_output};

/// Whether this test can give files to another user.
#[expect(clippy::print_stdout, reason = "a test says when it looks at less")]
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("not root: files cannot be given to another user, so nothing is tested here");
    }
    is_root
}

fn change_owner(path: &Path) {
    std::os::unix::fs::lchown(path, Some(12345), Some(12345)).unwrap();
}

#[test]
fn a_harmless_file_of_another_user_is_refused_by_every_command() {
    if !is_root() {
        return;
    }
    let project = UntrustedProject::with_settings("budget: {usd_max: 1}\n");
    assert_eq!(project.run_command(&["list"]).code, 0);
    change_owner(&project.settings_path());
    for arguments in [&["list"][..], &["ask", "Is it so?", "--rehearse"], &["doctor"], &["verify"]]
    {
        let ran = project.expect_refused(arguments);
        let message = "the file belongs to another user (uid 12345)";
        assert!(ran.stderr.contains(message), "{arguments:?}: {ran:?}");
    }
    // The ways to allow it.
    let file = project.settings_path();
    let named = run_output(project.untrusted_command().arg("--config").arg(&file).arg("list"));
    assert_eq!(named.code, 0, "{named:?}");
    let all = run_output(project.untrusted_command().env("PLENARY_TRUST", "all").arg("list"));
    assert_eq!(all.code, 0, "{all:?}");
    let sudo = run_output(project.untrusted_command().env("SUDO_UID", "12345").arg("list"));
    assert_eq!(sudo.code, 0, "{sudo:?}");
    project.trust_settings();
    assert_eq!(project.run_command(&["list"]).code, 0);
}

#[test]
fn a_file_in_a_folder_of_another_user_is_refused() {
    if !is_root() {
        return;
    }
    let project = UntrustedProject::with_settings("budget: {usd_max: 1}\n");
    change_owner(&project.path_at("project"));
    let ran = project.expect_refused(&["list"]);
    assert!(ran.stderr.contains("the folder of the file belongs to another user"), "{ran:?}");
}

#[test]
fn a_link_of_another_user_to_a_file_of_ours_is_refused() {
    if !is_root() {
        return;
    }
    let project = UntrustedProject::new();
    std::fs::write(project.path_at("home/council.yaml"), "budget: {usd_max: 1}\n").unwrap();
    std::os::unix::fs::symlink(project.path_at("home/council.yaml"), project.settings_path())
        .unwrap();
    assert_eq!(project.run_command(&["list"]).code, 0);
    change_owner(&project.settings_path());
    let ran = project.expect_refused(&["list"]);
    assert!(ran.stderr.contains("the link to the file belongs to another user"), "{ran:?}");
}

#[test]
fn a_record_of_another_user_is_not_used() {
    if !is_root() {
        return;
    }
    let project = UntrustedProject::new();
    project.write_settings(&project.stealing_settings());
    project.trust_settings();
    change_owner(&project.path_at("home/.local/state/plenary/trusted"));
    let ran = project.run_command(&["ask", "Is it so?"]);
    assert_eq!(ran.code, 5);
    assert!(ran.stderr.contains("cannot use the record of trusted files"), "{ran:?}");
    project.assert_untouched();
}
