//! What holds of the crates as they are.

use dispatch_testkit::programs;
use serde_json::Value;

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

/// The packages of the workspace, as cargo reads their manifests.
fn packages() -> Vec<Value> {
    let mut command = tool(env!("CARGO"));
    command
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root());
    let metadata: Value = serde_json::from_str(&programs::read(&mut command)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The name and the kind of each dependency: `null` for a normal one.
fn dependencies(package: &Value) -> Vec<(String, Value)> {
    let listed = package["dependencies"].as_array().unwrap();
    listed
        .iter()
        .map(|found| (found["name"].as_str().unwrap().to_owned(), found["kind"].clone()))
        .collect()
}

/// Whatever a pure crate builds on is text, values and algorithms; of what also reaches the world (`camino`, `time`) the
/// lints close that part.
#[test]
fn the_pure_crates_build_on_nothing_that_reaches_the_world() {
    let known = [
        "camino",
        "dispatch-close",
        "dispatch-core",
        "dispatch-guards",
        "globset",
        "memchr",
        "regex-automata",
        "serde",
        "serde-saphyr",
        "serde_json",
        "serde_path_to_error",
        "sha2",
        "shlex",
        "thiserror",
        "time",
        "unicode-width",
    ];
    let mut seen = 0;
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        if PURE.contains(&name) {
            seen += 1;
            for (dependency, kind) in dependencies(&package) {
                assert!(
                    kind == "dev" || known.contains(&dependency.as_str()),
                    "{name} may not depend on {dependency}: argue it here first"
                );
            }
        }
    }
    assert_eq!(seen, PURE.len());
}

#[test]
fn the_testkit_is_nobodys_normal_dependency() {
    let users: Vec<Value> = packages()
        .iter()
        .flat_map(dependencies)
        .filter(|(name, _)| name == "dispatch-testkit")
        .map(|(_, kind)| kind)
        .collect();

    assert!(!users.is_empty());
    assert!(users.iter().all(|kind| kind == "dev"), "{users:?}");
}
