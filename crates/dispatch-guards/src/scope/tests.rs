use dispatch_core::config::DEFAULT_MAX_FILE_BYTES;
use test_case::test_case;

use super::*;
use crate::claims::{Claim, TestSiblings};
use crate::paths::{PathLists, PolicyPlaces};

fn file(path: &str) -> Change {
    change(path, Content::File { bytes: 10, holds_credential: false })
}

fn change(path: &str, content: Content) -> Change {
    let status =
        if content == Content::Gone { ChangeStatus::Deleted } else { ChangeStatus::Modified };
    Change { path: TreePath::new(path), status, content, origin: ChangeOrigin::Ours }
}

fn report(lane: Option<Lane>, claims: &[&str], changes: &[Change]) -> ScopeReport {
    let claims =
        Claims::new(claims.iter().map(|path| Claim::parse(path)), &TestSiblings::default());
    let policy = PathPolicy::new(&PathLists::default(), &PolicyPlaces::default()).unwrap();
    let rules = ScopeRules {
        lane,
        claims: &claims,
        policy: &policy,
        max_file_bytes: DEFAULT_MAX_FILE_BYTES,
        empty: EmptyChange::Fails,
    };
    classify_scope(changes, &rules)
}

fn class(lane: Lane, change: Change) -> &'static str {
    report(Some(lane), &["src/a.rs", "docs/", "Cargo.toml"], &[change]).files[0].class.name()
}

/// C3.3: first match wins.
#[test_case("src/a.rs", "declared", "declared"; "a declared file")]
#[test_case("src/a.test.rs", "declared", "declared"; "its test sibling")]
#[test_case("docs/x.md", "declared", "declared"; "in a declared folder")]
#[test_case("src/b.rs", "out-of-scope", "in-scope"; "an undeclared file")]
#[test_case("Cargo.toml", "forbidden", "declared"; "a declared manifest")]
#[test_case("Cargo.lock", "forbidden", "human-review"; "a lockfile")]
#[test_case("AGENTS.md", "human-review", "human-review"; "instructions")]
#[test_case(".git/config", "forbidden", "forbidden"; "the repository")]
#[test_case("docs/.env", "forbidden", "dangerous"; "a secret in a declared folder")]
#[test_case("docs/id_rsa", "dangerous", "dangerous"; "a key in a declared folder")]
fn c3_3_each_file_gets_the_first_class_that_fits(path: &str, local: &str, frontier: &str) {
    assert_eq!(class(Lane::Local, file(path)), local);
    assert_eq!(class(Lane::Frontier, file(path)), frontier);
}

/// C3.3: dangers are seen under a declared path too.
#[test_case(Content::Link { target: Some(b"/etc/passwd".to_vec()) }, "dangerous"; "absolute link")]
#[test_case(Content::Link { target: Some(b"../../x".to_vec()) }, "dangerous"; "link outside")]
#[test_case(Content::Link { target: Some(b"../x".to_vec()) }, "declared"; "link within")]
#[test_case(Content::Link { target: Some(b"x/../../../y".to_vec()) }, "dangerous"; "link that goes down and out")]
#[test_case(Content::Link { target: Some(b"../.git/config".to_vec()) }, "dangerous"; "link into the repository folder")]
#[test_case(Content::Link { target: Some(b"C:/x".to_vec()) }, "dangerous"; "link to a drive")]
#[test_case(Content::Link { target: Some(b"x".to_vec()) }, "declared"; "link to a name of one letter")]
#[test_case(Content::Link { target: Some(b"\\\\host".to_vec()) }, "dangerous"; "link to another machine")]
#[test_case(Content::Link { target: None }, "dangerous"; "unknown target")]
#[test_case(Content::Link { target: Some(Vec::new()) }, "dangerous"; "empty target")]
#[test_case(Content::Submodule, "dangerous"; "submodule")]
#[test_case(Content::NestedRepository, "dangerous"; "repository inside")]
#[test_case(Content::File { bytes: DEFAULT_MAX_FILE_BYTES + 1, holds_credential: false }, "dangerous"; "too large")]
#[test_case(Content::File { bytes: DEFAULT_MAX_FILE_BYTES, holds_credential: false }, "declared"; "at the limit")]
#[test_case(Content::File { bytes: 1, holds_credential: true }, "dangerous"; "a credential")]
#[test_case(Content::Gone, "declared"; "gone")]
fn c3_3_dangers_are_seen_whatever_is_declared(content: Content, expected: &str) {
    assert_eq!(class(Lane::Frontier, change("docs/x", content)), expected);
}

#[test_case(".env", true)]
#[test_case("a/.env.production", true)]
#[test_case(".env.example", false)]
#[test_case(".envrc.md", false)]
#[test_case("x.PEM", true)]
#[test_case("id_ed25519", true)]
#[test_case("id_work", true)]
#[test_case("id_rsa.pub", false)]
#[test_case("src/id_generator.py", false)]
#[test_case("keys/server.key", true)]
#[test_case("src/key.rs", false)]
fn c3_3_secret_names(path: &str, expected: bool) {
    assert_eq!(secret::is_secret_name(path), expected);
}

#[test]
fn c3_3_taking_a_secret_away_is_no_danger() {
    assert_eq!(class(Lane::Frontier, change("docs/x.pem", Content::Gone)), "declared");
}

/// C3.4.
#[test]
fn c3_4_lanes_differ_in_what_fails() {
    let undeclared = [file("src/b.rs")];
    assert_eq!(report(Some(Lane::Local), &[], &undeclared).verdict, ScopeVerdict::ScopeCheckFailed);
    assert_eq!(report(None, &[], &undeclared).verdict, ScopeVerdict::ScopeCheckFailed);
    assert_eq!(report(Some(Lane::Frontier), &[], &undeclared).verdict, ScopeVerdict::Pass);
    let hard = [file(".mcp.json")];
    assert_eq!(
        report(Some(Lane::Frontier), &[".mcp.json"], &hard).verdict,
        ScopeVerdict::ScopeCheckFailed
    );
    assert_eq!(report(Some(Lane::Frontier), &[], &[]).verdict, ScopeVerdict::NoChanges);
}

/// C3.2: what came with the branch is shown, not judged.
#[test]
fn c3_2_inherited_files_are_shown_and_not_judged() {
    let inherited = Change { origin: ChangeOrigin::Inherited, ..file(".mcp.json") };
    let report =
        report(Some(Lane::Local), &["src/a.rs"], &[inherited, file("src/a.rs"), file("CLAUDE.md")]);
    assert_eq!(report.verdict, ScopeVerdict::Pass);
    let shown: Vec<String> = report.for_review().map(|file| file.path.to_string()).collect();
    assert_eq!(shown, [".mcp.json", "CLAUDE.md"]);
}

/// C3.2: a path that is not text is judged, shown escaped, and never declared.
#[test]
fn c3_2_paths_of_any_bytes_are_judged() {
    let odd = Change { path: TreePath::new(*b"docs/\xff"), ..file("") };
    let report = report(Some(Lane::Local), &["docs/"], &[odd]);
    let failing: Vec<String> = report.failing().map(ToString::to_string).collect();
    assert_eq!(failing, ["out-of-scope: docs/\\xff"]);
}

/// C10.1: a file that a lane may not touch can be dangerous too, and what came with the branch is not judged.
#[test]
fn c10_1_a_forbidden_file_can_be_dangerous_too() {
    let holds = Content::File { bytes: 10, holds_credential: true };
    let holding = change(".github/workflows/ci.yml", holds);
    let found = report(Some(Lane::Local), &[], &[file("src/a.rs"), holding.clone()]);
    assert_eq!(found.files[0].class.name(), "forbidden");
    assert!(found.holds_danger);
    assert!(!report(Some(Lane::Local), &[], &[file("Cargo.lock")]).holds_danger);
    let inherited = Change { origin: ChangeOrigin::Inherited, ..holding };
    assert!(!report(Some(Lane::Local), &[], &[inherited]).holds_danger);
}

#[test]
fn which_names_look_like_secrets() {
    let names = [
        ".env",
        ".ENV",
        "a/.env",
        ".env.local",
        ".env-x",
        ".env_x",
        ".envrc",
        ".env.example",
        ".env.local.sample",
        ".env.examples",
        "x.env",
        "env",
        ".pem",
        "a.pem",
        "a.PEM",
        "a.pem.txt",
        ".key",
        "a.key",
        "key",
        "a.p12",
        "a.pfx",
        "a.jks",
        "a.keystore",
        "a.kdbx",
        "a.ppk",
        "id_rsa",
        "id_rsa.pub",
        "id_rsa.bak",
        "id_ed25519",
        "id_ed25519_sk",
        "id_ecdsa",
        "id_dsa",
        "id_work",
        "id_",
        "id_work.rs",
        "id_token.ts",
        "my_id_rsa",
        ".netrc",
        "_netrc",
        "netrc",
        ".pgpass",
        ".htpasswd",
        ".git-credentials",
        ".dockercfg",
        "credentials.json",
        "credentials.rs",
        ".npmrc",
        ".pypirc",
        "secrets.yml",
        "secret.txt",
        "service-account.json",
        "serviceAccountKey.json",
        "kubeconfig",
        ".kube/config",
        ".aws/credentials",
        ".ssh/config",
        ".docker/config.json",
        "token.txt",
        "src/lib.rs",
    ];
    let found: Vec<String> = names
        .iter()
        .map(|name| format!("{name}: {:?}", danger(&file(name), DEFAULT_MAX_FILE_BYTES)))
        .collect();
    insta::assert_snapshot!(found.join("\n"));
}

/// C3.4: what is said of a file that fails as dangerous.
#[test_case(Danger::AbsoluteLink, "a symbolic link with an absolute target")]
#[test_case(Danger::LinkOutside, "a symbolic link that leaves the repository")]
#[test_case(Danger::UnreadableLink, "a symbolic link whose target is unknown")]
#[test_case(Danger::Submodule, "a submodule change")]
#[test_case(Danger::NestedRepository, "a repository inside the repository")]
#[test_case(Danger::TooLarge, "over the size limit")]
#[test_case(Danger::SecretName, "a name that secrets have")]
#[test_case(Danger::HoldsCredential, "the value of a credential")]
fn c3_4_a_danger_is_said_in_words(danger: Danger, words: &str) {
    assert_eq!(danger.as_str(), words);
}

#[test]
fn which_links_lead_out() {
    let targets: [&str; 24] = [
        "",
        "x",
        "./x",
        "../x",
        "../../x",
        "a/../x",
        "a/../../x",
        "a/../../../x",
        "/x",
        "\\x",
        "C:x",
        "1:x",
        "c:\\x",
        "..",
        "../..",
        ".git/x",
        "../.git",
        "a/.GIT/x",
        ".gitx",
        "..\\..\\x",
        "x//y",
        "./../x",
        "a/.//../../x",
        "...",
    ];
    let mut table = Vec::new();
    for at in ["link", "a/link", "a/b/link"] {
        for target in targets {
            let link = change(at, Content::Link { target: Some(target.as_bytes().to_vec()) });
            table.push(format!("{at} -> {target:?}: {:?}", danger(&link, 1)));
        }
    }
    insta::assert_snapshot!(table.join("\n"));
}
