//! Violations planted in scratch packages.

use std::collections::BTreeSet;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_testkit::programs;
use dispatch_testkit::scratch::Scratch;
use serde_json::Value;

use crate::{read, root, target, tool};

/// What a pure crate must not do, one a line; each line is a function of its own.
const PURE_PLANTS: &str = r#"
pub fn p1() { let _ = fs::read_to_string("x"); }
pub fn p2() { let _ = C::new("x"); }
pub fn p3() -> fn(&'static str) -> Result<String, std::env::VarError> { std::env::var }
pub fn p4() -> std::time::SystemTime { todo!() }
pub fn p5() { println!("x"); }
pub fn p6(path: &std::path::Path) -> bool { path.is_file() }
pub fn p7(path: &camino::Utf8Path) -> bool { path.exists() }
pub fn p8() { let _ = time::OffsetDateTime::now_utc(); }
pub fn p9() -> std::collections::HashMap<u8, u8> { todo!() }
pub fn p10() -> std::path::PathBuf { todo!() }
pub fn p11() { let _ = std::net::TcpStream::connect("x"); }
pub fn p12() { std::thread::sleep(std::time::Duration::ZERO); }
pub fn p13() { eprintln!("x"); }
pub fn p14() { let _ = std::io::stdin(); }
pub fn p15(path: &camino::Utf8Path) { let _ = path.read_dir_utf8(); }
pub fn p16() { let _ = std::fs::File::open("x"); }
pub fn p17() { std::process::exit(1); }
pub fn p18() { let _ = std::time::Instant::now(); }
pub fn p19() { let _ = std::env::current_dir(); }
pub fn p20() { let _ = std::fs::write("x", "y"); }
"#;

/// A package of its own, with the dependencies of this workspace at hand.
struct Planted {
    scratch: Scratch,
}

impl Planted {
    fn new(name: &str, dependencies: &str, lib: &str) -> Self {
        let scratch = Scratch::new();
        let manifest = format!(
            "[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\
             license = \"MIT\"\n[dependencies]\n{dependencies}\n[lints.clippy]\ndisallowed_macros = \"deny\"\n\
             disallowed_methods = \"deny\"\ndisallowed_types = \"deny\"\n"
        );
        let planted = Self { scratch };
        planted.write("Cargo.toml", &manifest);
        planted.write("Cargo.lock", &read(&root().join("Cargo.lock")));
        planted.write("src/lib.rs", lib);
        planted
    }

    fn dir(&self) -> &Utf8Path {
        self.scratch.root()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What clippy says: lint or error code, and line.
    fn clippy(&self) -> Vec<(String, u64)> {
        let mut command = tool(env!("CARGO"));
        command
            .args(["clippy", "--quiet", "--offline", "--message-format", "json"])
            .env("CARGO_TARGET_DIR", target().join("fence"))
            .env_remove("CLIPPY_CONF_DIR")
            .current_dir(self.dir());
        let output = programs::output(&mut command);
        let text = String::from_utf8(output.stdout).unwrap();
        let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let found: Vec<(String, u64)> = messages
            .filter(|message| message["reason"] == "compiler-message")
            .filter_map(|message| {
                let message = &message["message"];
                let code = message["code"]["code"].as_str()?.to_owned();
                Some((code, message["spans"][0]["line_start"].as_u64()?))
            })
            .collect();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!found.is_empty() || output.status.success(), "clippy did not run: {said}");
        found
    }
}

fn fence() -> String {
    read(&root().join("crates/dispatch-core/clippy.toml"))
}

/// The lines of `lib` that clippy finds disallowed.
fn disallowed(found: &[(String, u64)]) -> BTreeSet<u64> {
    let disallowed = found.iter().filter(|(code, _)| code.starts_with("clippy::disallowed_"));
    disallowed.map(|(_, line)| *line).collect()
}

#[test]
fn the_fence_sees_every_planted_violation() {
    let lib =
        format!("#![allow(unused)]\nuse std::fs; use std::process::Command as C;{PURE_PLANTS}");
    let planted = Planted::new(
        "planted-pure",
        "camino = \"1\"\ntime = { version = \"0.3\", features = [\"std\"] }",
        &lib,
    );
    planted.write("clippy.toml", &fence());

    let lines = disallowed(&planted.clippy());

    let missed: Vec<&str> = lib
        .lines()
        .enumerate()
        .filter(|(index, line)| line.starts_with("pub fn") && !lines.contains(&(*index as u64 + 1)))
        .map(|(_, line)| line)
        .collect();
    assert!(missed.is_empty(), "not refused: {missed:#?}");
}

#[test]
fn an_allow_cannot_open_the_fence() {
    let forbid = "#![forbid(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]";
    let plant =
        "#[allow(clippy::disallowed_methods)]\npub fn p() { let _ = std::env::var(\"x\"); }";
    let planted = Planted::new("planted-allow", "", &format!("{forbid}\n{plant}\n"));
    planted.write("clippy.toml", &fence());

    let found = planted.clippy();

    assert!(found.contains(&("E0453".to_owned(), 2)), "{found:?}");
}

#[test]
fn only_one_crate_starts_programs() {
    let lib = "pub fn p1() { let _ = std::process::Command::new(\"x\"); }\npub fn p2() { let _ = std::env::set_current_dir(\"x\"); }\n";
    let planted = Planted::new("planted-root", "", lib);
    planted.write("clippy.toml", &read(&root().join("clippy.toml")));

    assert_eq!(disallowed(&planted.clippy()), BTreeSet::from([1, 2]));
}

/// `cargo deny` of the machine, or the one the gate installed.
fn cargo_deny() -> Option<Utf8PathBuf> {
    let candidates = [Utf8PathBuf::from("cargo-deny"), target().join("tools/bin/cargo-deny")];
    let works = |path: &Utf8PathBuf| {
        let mut command = tool(path.as_str());
        command.args(["deny", "--version"]).output().is_ok_and(|output| output.status.success())
    };
    let found = candidates.into_iter().find(works);
    if found.is_none() {
        programs::missing("`cargo-deny`: run `cargo xtask deny`");
    }
    found
}

#[test]
fn the_door_keeper_refuses_a_dependency_of_the_wrong_crate() {
    let Some(deny) = cargo_deny() else { return };
    let cases = [
        ("dispatch-store", "which = \"8\"", "which"),
        ("dispatch-engine", "ureq = { version = \"3\", default-features = false }", "ureq"),
        ("dispatch-cli", "serde-saphyr = \"*\"", "serde-saphyr"),
        ("dispatch-guards", "clap = \"4\"", "clap"),
    ];
    for (package, dependency, refused) in cases {
        let planted = Planted::new(package, dependency, "");

        let mut command = tool(deny.as_str());
        command
            .args(["--manifest-path", planted.dir().join("Cargo.toml").as_str(), "--offline"])
            .args(["--config", root().join("deny.toml").as_str(), "check", "bans"])
            .current_dir(planted.dir());
        let output = programs::output(&mut command);

        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{package} with {dependency} was accepted");
        assert!(said.contains(&format!("crate '{refused}")), "{said}");
        assert!(said.contains("banned"), "{said}");
    }
}

#[test]
fn the_door_keeper_accepts_the_right_crate() {
    let Some(deny) = cargo_deny() else { return };
    let planted = Planted::new("dispatch-proc", "which = \"8\"", "");

    let mut command = tool(deny.as_str());
    command
        .args(["--manifest-path", planted.dir().join("Cargo.toml").as_str(), "--offline"])
        .args(["--config", root().join("deny.toml").as_str(), "check", "bans"])
        .current_dir(planted.dir());

    programs::read(&mut command);
}
