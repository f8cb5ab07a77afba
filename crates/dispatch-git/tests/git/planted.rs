//! What a worker can plant that runs as the dispatcher, row by row (V1.3).
//!
//! Each row is planted in a slot a worker had; plain git there shows that it bites, and then everything the
//! dispatcher does with such a slot is done.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_core::object::CommitId;
use dispatch_core::secret::Secret;
use dispatch_engine::ports::{SlotPlace, Vcs};
use dispatch_git::Repository;

use crate::sandbox::{Sandbox, branch, executable, with_each_git, write};

/// A slot after its worker, and a program that leaves a mark when it runs.
struct Scene<'a> {
    sandbox: &'a Sandbox,
    slot: SlotPlace,
    admin: Utf8PathBuf,
    evil: Utf8PathBuf,
    mark: Utf8PathBuf,
    start: CommitId,
}

impl Scene<'_> {
    fn common(&self) -> Utf8PathBuf {
        self.sandbox.code_root.join(".git")
    }

    /// Adds to the common configuration, as far as a worker could reach it.
    fn configure(&self, name: &str, value: &str) {
        self.sandbox.at(&["config", name, value]);
    }

    fn evil(&self) -> &str {
        self.evil.as_str()
    }

    fn attributes(&self, text: &str) {
        write(&self.slot.path.join(".gitattributes"), text);
    }

    fn bit(&self) -> bool {
        let bit = self.mark.exists();
        if bit {
            fs::remove_file(&self.mark).unwrap();
        }
        bit
    }
}

/// What the dispatcher does with a slot a worker had, and beside it.
fn everything(scene: &Scene<'_>, repository: &Repository) {
    let slot = &scene.slot;
    let start = &scene.start;
    let frozen = repository.freeze(slot, start).unwrap();
    let changes = repository.changes(start, &frozen.tree).unwrap();
    assert!(changes.iter().any(|change| change.path.as_utf8() == Some("src/lib.rs")));
    let paths: Vec<_> = changes.into_iter().map(|change| change.path).collect();
    repository.holding(&frozen.tree, &paths, &[Secret::Value("secret".to_owned())]).unwrap();
    repository.diff(start, &frozen.tree, 1 << 20).unwrap();
    let commit = repository.commit(&frozen.tree, std::slice::from_ref(start), "work").unwrap();
    repository.keep("refs/dispatch/attempts/T-1/1", &commit).unwrap();
    repository.verification_tree(slot, &frozen.tree, start).unwrap();
    assert_eq!(repository.changed_in_verification(slot, &frozen.tree).unwrap(), []);
    repository.merge(&commit, &scene.sandbox.commit("main"), "merge").unwrap();
    repository.is_ancestor(start, &commit);
    repository.foreign_changes(start, &commit).unwrap();
    let fetched = BTreeSet::from([branch("main")]);
    let view = repository.fetch(&fetched, Duration::from_mins(1));
    // A redirected address is refused, and then nothing is known.
    if view.problem.is_none() {
        repository.merged(&commit, &branch("main"));
        repository.push(&branch("task/T-1"), &commit, None).unwrap();
        repository.push_backup("refs/dispatch/attempts/T-1/1", Duration::from_mins(1)).unwrap();
        repository.lease(Duration::from_mins(1));
    }
    scene.sandbox.write("backlog/tasks/t-1.md", "changed\n");
    repository.commit_board("board").unwrap();
    repository.prepare_slot(slot, start, &[]).unwrap();
}

/// git knows it by itself.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// How plain git shows that a plant bites; rows that need a remote of another kind are only shown not to run.
type Row = (&'static str, fn(&Scene<'_>), &'static [&'static [&'static str]]);

const ROWS: &[Row] = &[
    (
        "hooks in the common folder",
        |s| {
            for hook in [
                "post-checkout",
                "post-index-change",
                "reference-transaction",
                "pre-commit",
                "post-commit",
                "pre-push",
            ] {
                executable(
                    &s.common().join("hooks").join(hook),
                    &format!("#!/bin/sh\n{}\n", s.evil()),
                );
            }
        },
        &[&["update-ref", "refs/x", "HEAD"]],
    ),
    (
        "core.hooksPath",
        |s| {
            let hooks = s.sandbox.root.join("hooks");
            executable(&hooks.join("reference-transaction"), &format!("#!/bin/sh\n{}\n", s.evil()));
            s.configure("core.hooksPath", hooks.as_str());
        },
        &[&["update-ref", "refs/x", "HEAD"]],
    ),
    ("core.fsmonitor", |s| s.configure("core.fsmonitor", s.evil()), &[&["status"]]),
    (
        "clean and smudge filters",
        |s| {
            s.configure("filter.x.clean", s.evil());
            s.configure("filter.x.smudge", s.evil());
            s.attributes("* filter=x\n");
        },
        &[&["add", "-A"]],
    ),
    (
        "a filter process",
        |s| {
            s.configure("filter.x.process", s.evil());
            s.attributes("* filter=x\n");
        },
        &[&["add", "-A"]],
    ),
    (
        "a filter through info/attributes",
        |s| {
            s.configure("filter.x.clean", s.evil());
            write(&s.common().join("info/attributes"), "* filter=x\n");
        },
        &[&["add", "-A"]],
    ),
    ("diff.external", |s| s.configure("diff.external", s.evil()), &[&["diff", "HEAD"]]),
    (
        "a diff driver",
        |s| {
            s.configure("diff.x.command", s.evil());
            s.attributes("* diff=x\n");
        },
        &[&["diff", "HEAD"]],
    ),
    (
        "a textconv",
        |s| {
            s.configure("diff.x.textconv", s.evil());
            s.attributes("* diff=x\n");
        },
        &[&["diff", "HEAD"]],
    ),
    (
        "a merge driver",
        |s| {
            s.configure("merge.x.driver", s.evil());
            write(&s.common().join("info/attributes"), "* merge=x\n");
        },
        &[],
    ),
    (
        "signing",
        |s| {
            s.configure("commit.gpgSign", "true");
            s.configure("gpg.program", s.evil());
        },
        &[&["commit", "--allow-empty", "-m", "x"]],
    ),
    (
        "showing signatures",
        |s| {
            s.configure("log.showSignature", "true");
            s.configure("gpg.program", s.evil());
        },
        &[],
    ),
    (
        "ssh command, proxy and credential helper",
        |s| {
            s.configure("core.sshCommand", s.evil());
            s.configure("core.gitProxy", s.evil());
            s.configure("credential.helper", &format!("!{}", s.evil()));
        },
        &[&["ls-remote", "ssh://host/x"]],
    ),
    (
        "programs of the remote",
        |s| {
            s.configure("remote.origin.uploadpack", s.evil());
            s.configure("remote.origin.receivepack", s.evil());
        },
        &[&["fetch", "origin"]],
    ),
    (
        "a remote helper",
        |s| {
            s.configure("remote.origin.url", &format!("ext::{}", s.evil()));
            s.configure("protocol.ext.allow", "always");
        },
        &[&["fetch", "origin"]],
    ),
    (
        "a rewritten address",
        |s| {
            s.configure("protocol.ext.allow", "always");
            s.configure(&format!("url.ext::{} .insteadOf", s.evil()), s.sandbox.remote.as_str());
        },
        &[&["fetch", "origin"]],
    ),
    (
        "alternates with a command",
        |s| {
            s.configure("core.alternateRefsCommand", s.evil());
            let other = s.sandbox.root.join("other.git");
            s.sandbox.git(&s.sandbox.root, &["init", "-q", "--bare", "other.git"]);
            write(&s.common().join("objects/info/alternates"), &format!("{other}/objects\n"));
        },
        &[],
    ),
    (
        "an included file",
        |s| {
            let included = s.sandbox.root.join("included");
            write(&included, &format!("[core]\n\tfsmonitor = {}\n", s.evil()));
            s.configure("include.path", included.as_str());
        },
        &[&["status"]],
    ),
    (
        "the worktree's own configuration",
        |s| {
            s.configure("extensions.worktreeConfig", "true");
            write(
                &s.admin.join("config.worktree"),
                &format!("[core]\n\tfsmonitor = {}\n", s.evil()),
            );
        },
        &[&["status"]],
    ),
    (
        "the slot's pointer replaced by a repository",
        |s| {
            fs::remove_file(s.slot.path.join(".git")).unwrap();
            s.sandbox.git(&s.slot.path, &["init", "-q"]);
            s.sandbox.git(&s.slot.path, &["config", "core.fsmonitor", s.evil()]);
        },
        &[&["status"]],
    ),
    (
        "a bare repository laid out in the slot",
        |s| {
            fs::remove_file(s.slot.path.join(".git")).unwrap();
            write(&s.slot.path.join("HEAD"), "ref: refs/heads/main\n");
            write(
                &s.slot.path.join("config"),
                &format!(
                    "[core]\n\tbare = false\n\tworktree = {}\n[diff]\n\texternal = {}\n",
                    s.slot.path,
                    s.evil()
                ),
            );
            write(&s.slot.path.join("refs/heads/main"), &format!("{}\n", s.start));
            let alternates = s.slot.path.join("objects/info/alternates");
            write(&alternates, &format!("{}/objects\n", s.common()));
        },
        &[&["diff", EMPTY_TREE, "HEAD"]],
    ),
    (
        "commondir rewritten",
        |s| {
            let other = s.sandbox.root.join("other");
            s.sandbox.git(&s.sandbox.root, &["init", "-q", "other"]);
            s.sandbox.git(&other, &["config", "core.fsmonitor", s.evil()]);
            s.sandbox.git(&other, &["fetch", "-q", s.sandbox.code_root.as_str(), "main"]);
            write(&s.admin.join("commondir"), &format!("{other}/.git\n"));
        },
        &[&["status"]],
    ),
    (
        "a repository inside the slot",
        |s| {
            let inner = s.slot.path.join("inner");
            fs::create_dir_all(&inner).unwrap();
            s.sandbox.git(&inner, &["init", "-q"]);
            s.sandbox.git(&inner, &["commit", "-q", "--allow-empty", "-m", "x"]);
            write(&inner.join("f"), "f");
            s.sandbox.git(&s.slot.path, &["add", "-A"]);
            s.sandbox.git(&inner, &["config", "core.fsmonitor", s.evil()]);
            s.sandbox.git(&inner, &["config", "filter.x.clean", s.evil()]);
            write(&inner.join(".gitattributes"), "* filter=x\n");
            s.sandbox
                .git(&inner, &["config", "core.hooksPath", s.slot.path.join("hooks").as_str()]);
        },
        &[&["status"]],
    ),
    (
        "pager and editor",
        |s| {
            s.configure("core.pager", s.evil());
            s.configure("core.editor", s.evil());
            s.configure("sequence.editor", s.evil());
        },
        &[&["commit", "--allow-empty"]],
    ),
    (
        "aliases",
        |s| {
            for name in ["status", "add", "read-tree", "write-tree", "push", "fetch", "diff-tree"] {
                s.configure(&format!("alias.{name}"), &format!("!{}", s.evil()));
            }
        },
        &[],
    ),
    (
        "garbage collection and packing",
        |s| {
            s.configure("gc.recentObjectsHook", s.evil());
            s.configure("uploadpack.packObjectsHook", s.evil());
            s.configure("gc.auto", "1");
        },
        &[],
    ),
];

fn plant<'a>(sandbox: &'a Sandbox, repository: &Repository, row: &Row) -> Scene<'a> {
    let slot = sandbox.slot("dispatch-1");
    let start = sandbox.commit("HEAD");
    repository.prepare_slot(&slot, &start, &[]).unwrap();
    let admin = sandbox.git(&slot.path, &["rev-parse", "--absolute-git-dir"]).into();
    let evil = sandbox.root.join("evil");
    let mark = sandbox.root.join("it-ran");
    executable(&evil, &format!("#!/bin/sh\necho \"$0 $*\" >> {mark}\nexit 1\n"));
    write(&slot.path.join("src/lib.rs"), "one\nwork\nthree\n");
    let scene = Scene { sandbox, slot, admin, evil, mark, start };
    (row.1)(&scene);
    scene
}

/// Plants each row in repositories of its own.
fn for_each_row(test: impl Fn(&Scene<'_>, &Repository, &Row)) {
    with_each_git(|outer| {
        for row in ROWS {
            let sandbox = Sandbox::new(outer.git.clone());
            let repository = sandbox.repository();
            let scene = plant(&sandbox, &repository, row);
            scene.bit();
            test(&scene, &repository, row);
        }
    });
}

#[test]
fn v1_3_nothing_planted_runs_whatever_the_dispatcher_does() {
    for_each_row(|scene, repository, (what, ..)| {
        everything(scene, repository);
        assert!(!scene.bit(), "{what} ran with {}", scene.sandbox.git);
    });
}

/// The plants are real: plain git runs them.
#[test]
fn plain_git_in_the_slot_runs_what_was_planted() {
    for_each_row(|scene, _, (what, _, commands)| {
        for command in *commands {
            scene.sandbox.try_git(&scene.slot.path, command);
            assert!(scene.bit(), "{what} does not run by `git {}`", command.join(" "));
        }
    });
}

/// A cleaning that trusts the slot's configuration empties another folder.
#[test]
fn v1_3_a_planted_working_tree_does_not_move_the_cleaning() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        let precious = sandbox.root.join("precious");
        write(&precious.join("photo"), "precious\n");
        let admin: &Utf8Path =
            &Utf8PathBuf::from(sandbox.git(&slot.path, &["rev-parse", "--absolute-git-dir"]));
        sandbox.at(&["config", "extensions.worktreeConfig", "true"]);
        write(&admin.join("config.worktree"), &format!("[core]\n\tworktree = {precious}\n"));
        write(&slot.path.join("left"), "x");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        assert_eq!(fs::read_to_string(precious.join("photo")).unwrap(), "precious\n");
        assert!(!slot.path.join("left").exists());
    });
}

/// Hiding without running anything.
#[test]
fn v1_3_replaced_objects_and_ignore_rules_written_later_hide_nothing() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let slot = sandbox.slot("dispatch-1");
        let start = sandbox.commit("HEAD");
        repository.prepare_slot(&slot, &start, &[]).unwrap();
        write(&slot.path.join("hidden.txt"), "work\n");
        write(&sandbox.code_root.join(".git/info/exclude"), "hidden.txt\n");
        let clean = sandbox.at(&["hash-object", "-w", "README.md"]);
        write(&slot.path.join("src/lib.rs"), "evil\n");
        let evil = sandbox.git(&slot.path, &["hash-object", "-w", "src/lib.rs"]);
        sandbox.at(&["update-ref", &format!("refs/replace/{evil}"), &clean]);
        let frozen = repository.freeze(&slot, &start).unwrap();
        let changes = repository.changes(&start, &frozen.tree).unwrap();
        let paths: Vec<_> = changes.iter().map(|change| change.path.to_string()).collect();
        assert_eq!(paths, ["hidden.txt", "src/lib.rs"]);
        let dispatch_engine::ports::Diff::Text(text) =
            repository.diff(&start, &frozen.tree, 10_000).unwrap()
        else {
            panic!("too large")
        };
        assert!(text.contains("+evil"), "{text}");
    });
}
