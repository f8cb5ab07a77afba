//! What holds of the crates as they are.

use crate::{PURE, read, root, tool};

#[test]
fn the_pure_crates_keep_one_and_the_same_fence() {
    let fences = PURE.map(|name| read(&root().join("crates").join(name).join("clippy.toml")));

    assert!(fences.iter().all(|fence| *fence == fences[0]));
}

#[test]
fn the_pure_crates_forbid_and_do_not_merely_deny() {
    for name in PURE {
        let text = read(&root().join("crates").join(name).join("src/lib.rs"));

        let forbid = "#![forbid(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]";
        assert!(text.contains(forbid), "{name}");
    }
}

#[test]
fn the_testkit_is_nobodys_normal_dependency() {
    let mut command = tool(env!("CARGO"));
    command
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root());
    let output = dispatch_testkit::programs::read(&mut command);
    let metadata: serde_json::Value = serde_json::from_str(&output).unwrap();

    let mut users = 0;
    for package in metadata["packages"].as_array().unwrap() {
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["name"] == "dispatch-testkit" {
                users += 1;
                assert_eq!(dependency["kind"], "dev", "{}", package["name"]);
            }
        }
    }
    assert!(users > 0);
}
