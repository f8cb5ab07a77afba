//! The real `gh`, both pinned versions, against a forge that keeps its rules (V4, C9.2-C9.4).

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::object::CommitId;
use dispatch_core::record::RecordedProposal;
use dispatch_engine::ports::{Forge, ForgeKind, NewPullRequest, ProposalState};
use dispatch_git::{GhForge, GhSettings, GitForge, GitHubRepository};
use dispatch_testkit::forge_server::{Fault, ForgeServer, Injection, Merge, ReviewState};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::repo::Repo;

use crate::sandbox::branch;

const LIMIT: Duration = Duration::from_mins(1);

/// The server goes before the folder its socket is in.
struct Scene {
    gh: Utf8PathBuf,
    server: ForgeServer,
    repo: Repo,
}

impl Scene {
    fn settings(&self) -> GhSettings {
        let env =
            programs::environment(&self.repo.home()).into_iter().chain(self.server.environment());
        let env = env.map(|(name, value)| (name.into(), value.into()));
        GhSettings { token_from_env: true, ..GhSettings::new(&self.gh, env) }
    }

    fn forge(&self) -> GhForge {
        Self::forge_with(self.settings())
    }

    fn forge_with(settings: GhSettings) -> GhForge {
        let repository = GitHubRepository::of_url("git@github.com:acme/widgets.git").unwrap();
        GhForge::new(repository, settings)
    }

    /// Pushes a branch with one commit.
    fn pushed(&self, name: &str) -> CommitId {
        let commit = self.repo.someone_pushes(name, "work.txt", name);
        CommitId::parse(&commit).unwrap()
    }

    fn recorded(number: u64, name: &str, commit: &CommitId) -> RecordedProposal {
        RecordedProposal {
            number: Some(number),
            url: None,
            branch: branch(name),
            commit: commit.clone(),
            base: branch("main"),
            pushed_at: "2020-01-01T00:00:00.000Z".into(),
            settled: None,
            done_reverted: false,
        }
    }
}

/// Runs a test with each pinned `gh`.
fn with_each_gh(test: impl Fn(&Scene)) {
    for gh in [Peer::Gh, Peer::OldGh].into_iter().filter_map(programs::find) {
        let repo = Repo::new(&programs::gits()[0]);
        let server = ForgeServer::start(&repo, "acme/widgets");
        test(&Scene { gh, server, repo });
    }
}

fn new_pull_request(name: &str) -> NewPullRequest {
    NewPullRequest {
        branch: branch(name),
        base: branch("main"),
        title: format!("[T-1] {name} \"quoted\" 'ü' $1"),
        body: "line one\n\n- [x] `ünicode` \"quoted\" $HOME\n".into(),
    }
}

/// N2.
#[test]
fn c9_2_a_pull_request_is_opened_found_and_its_body_replaced() {
    with_each_gh(|scene| {
        let forge = scene.forge();
        assert_eq!(forge.kind(), ForgeKind::GitHub);
        assert_eq!(forge.login().unwrap(), "octo-bot");
        scene.pushed("task/T-1");
        let new = new_pull_request("task/T-1");
        assert_eq!(forge.find_open(&new.branch, &new.base).unwrap(), None);
        let opened = forge.create(&new).unwrap();
        assert_eq!((opened.number, &*opened.url), (1, "https://github.com/acme/widgets/pull/1"));
        assert_eq!(forge.find_open(&new.branch, &new.base).unwrap(), Some(opened));
        let seen = scene.server.pull_request(1);
        assert_eq!(
            (seen.title, seen.body, seen.base),
            (new.title.clone(), new.body, "main".into())
        );
        // Larger than any one argument may be.
        let body = "é".repeat(65_000);
        forge.update_body(1, &body).unwrap();
        assert_eq!(scene.server.pull_request(1).body, body);
        forge.label(1, "human-review").unwrap();
        forge.request_review(1, "octocat").unwrap();
        let seen = scene.server.pull_request(1);
        assert_eq!(
            (seen.labels, seen.reviewers),
            (vec!["human-review".into()], vec!["octocat".into()])
        );
        assert!(forge.request_review(1, "nobody-known").is_err());
        assert_eq!(
            scene.server.pull_request(1).labels,
            ["human-review"],
            "neither undoes the other"
        );
    });
}

/// C9.2: a person who turned the pull request to another base gets no second one; of two, ours is the one for our base.
#[test]
fn c9_2_an_open_pull_request_for_another_base_is_found_too() {
    with_each_gh(|scene| {
        let forge = scene.forge();
        scene.pushed("task/T-1");
        scene.pushed("release");
        let new = new_pull_request("task/T-1");
        let turned =
            forge.create(&NewPullRequest { base: branch("release"), ..new.clone() }).unwrap();
        assert_eq!(turned.base, branch("release"));
        assert_eq!(forge.find_open(&new.branch, &new.base).unwrap(), Some(turned.clone()));
        let ours = forge.create(&new).unwrap();
        assert_eq!(forge.find_open(&new.branch, &new.base).unwrap(), Some(ours));
        assert_eq!(forge.find_open(&new.branch, &turned.base).unwrap(), Some(turned));
    });
}

#[test]
fn v4_3_a_pull_request_of_a_fork_is_never_taken_for_ours() {
    with_each_gh(|scene| {
        let commit = scene.pushed("task/T-1");
        scene.server.open_from_fork("task/T-1", "main", "mine, says a stranger");
        let new = new_pull_request("task/T-1");
        assert_eq!(scene.forge().find_open(&new.branch, &new.base).unwrap(), None);
        let recorded = Scene::recorded(1, "task/T-1", &commit);
        let states = scene.forge().proposals(std::slice::from_ref(&recorded), LIMIT).unwrap();
        assert!(matches!(states[&1], ProposalState::Unknown(_)));
    });
}

/// BR-09, V4.3: a failed write may have happened.
#[test]
fn v4_3_after_a_lost_answer_a_look_finds_the_one_pull_request() {
    with_each_gh(|scene| {
        let forge = scene.forge();
        scene.pushed("task/T-1");
        let new = new_pull_request("task/T-1");
        for fault in [Fault::LostAnswer, Fault::Truncated] {
            scene
                .server
                .inject(Injection::on("POST /repos/acme/widgets/pulls ").fault(fault).times(1));
            assert_eq!(forge.create(&new).unwrap().number, 1);
        }
        // Somebody was quicker: the forge refuses a second one.
        assert_eq!(forge.create(&new).unwrap().number, 1);
        assert_eq!(scene.server.pull_requests().len(), 1);
        scene.server.inject(Injection::on("PATCH").fault(Fault::LostAnswer).times(1));
        forge.update_body(1, "after").unwrap();
        scene.server.inject(Injection::on("PATCH").fault(Fault::Drop).times(1));
        assert!(forge.update_body(1, "never arrived").is_err());
        assert_eq!(scene.server.pull_request(1).body, "after");
        scene.server.inject(Injection::on("/labels").fault(Fault::LostAnswer).times(1));
        forge.label(1, "human-review").unwrap();
        scene.server.inject(
            Injection::on("POST /repos/acme/widgets/pulls/1/requested")
                .fault(Fault::LostAnswer)
                .times(1),
        );
        forge.request_review(1, "alice").unwrap();
    });
}

#[test]
fn v4_3_every_failure_has_its_kind_and_unknown_is_never_none() {
    let faults: [(Fault, &str, bool); 9] = [
        (Fault::Unauthorised, "unauthorised", true),
        (Fault::Forbidden, "forbidden", true),
        (Fault::RateLimited, "rate-limited", true),
        (Fault::SecondaryRateLimited, "rate-limited", true),
        (Fault::NotFound, "not-found", true),
        (Fault::ServerError(502), "server-error", true),
        (Fault::Drop, "network", true),
        (Fault::NotJson, "server-error", true),
        (Fault::NullData, "server-error", true),
    ];
    with_each_gh(|scene| {
        let commit = scene.pushed("task/T-1");
        let new = new_pull_request("task/T-1");
        scene.forge().create(&new).unwrap();
        let recorded = [Scene::recorded(1, "task/T-1", &commit)];
        for (fault, expected, pauses) in &faults {
            scene.server.inject(Injection::on("").fault(fault.clone()));
            let errors = [
                scene.forge().find_open(&new.branch, &new.base).unwrap_err(),
                scene.forge().proposals(&recorded, LIMIT).unwrap_err(),
                scene.forge().create(&new).unwrap_err(),
            ];
            scene.server.recover();
            for error in errors {
                assert!(error.chain().contains(expected), "{expected}: {}", error.chain());
                assert_eq!(error.pause.is_some(), *pauses, "{}", error.chain());
            }
        }
        assert_eq!(scene.server.pull_requests().len(), 1);
        let error = scene.forge().create(&new_pull_request("never-pushed")).unwrap_err();
        assert!(error.chain().contains("invalid") && error.pause.is_none(), "{}", error.chain());
    });
}

#[test]
fn v4_2_a_forge_that_stays_silent_is_given_up() {
    with_each_gh(|scene| {
        let limits = Duration::from_millis(500);
        let settings = GhSettings { look_limit: limits, write_limit: limits, ..scene.settings() };
        let forge = Scene::forge_with(settings);
        scene.server.inject(Injection::on("").fault(Fault::Hang));
        let error = forge.find_open(&branch("task/T-1"), &branch("main")).unwrap_err();
        assert!(error.chain().contains("timeout"), "{}", error.chain());
        scene.server.recover();
    });
}

#[test]
fn v4_1_what_became_of_all_pull_requests_is_one_question() {
    with_each_gh(|scene| {
        let forge = scene.forge();
        let names = ["merged", "squashed", "closed", "open"];
        let recorded: Vec<_> = (1..)
            .zip(names)
            .map(|(number, name)| {
                let commit = scene.pushed(name);
                assert_eq!(forge.create(&new_pull_request(name)).unwrap().number, number);
                Scene::recorded(number, name, &commit)
            })
            .chain([Scene::recorded(99, "never", &CommitId::parse(&"1".repeat(40)).unwrap())])
            .collect();
        let merge = scene.server.merge(1, Merge::Commit);
        scene.server.edit(2, |pull| pull.base = "other".into());
        scene.server.close(3);
        scene.server.review(4, "alice", ReviewState::ChangesRequested, "not like this");
        let before = scene.server.calls().len();
        let states = forge.proposals(&recorded, LIMIT).unwrap();
        assert_eq!(scene.server.calls().len(), before + 1);
        assert_eq!(
            states[&1],
            ProposalState::Merged {
                head: recorded[0].commit.clone(),
                merge: Some(CommitId::parse(&merge).unwrap())
            }
        );
        assert_eq!(states[&3], ProposalState::Closed);
        assert_eq!(states[&99], ProposalState::Absent);
        let ProposalState::Open { changes_requested } = &states[&4] else { panic!("{states:?}") };
        assert_eq!(changes_requested[0].author, "alice");
        assert_eq!(changes_requested[0].body, "not like this");
        assert_eq!(forge.proposals(&[], LIMIT).unwrap(), BTreeMap::new());
    });
}

/// N1, BR-10.
#[test]
fn c9_4_a_stale_token_in_the_environment_does_not_outrank_the_stored_login() {
    with_each_gh(|scene| {
        scene.server.configure(|settings| settings.token = Some("stored".into()));
        let config = scene.repo.root().join("gh");
        let login =
            "github.com:\n    user: octo-bot\n    oauth_token: stored\n    git_protocol: https\n";
        fs::write(config.join("hosts.yml"), login).unwrap();
        let mut settings = scene.settings();
        for name in ["GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"] {
            settings.env.push((name.into(), "stale".into()));
        }
        settings.env.push(("GH_REPO".into(), "evil/other".into()));
        settings.env.push(("GH_FORCE_TTY".into(), "1".into()));
        let stale = Scene::forge_with(settings.clone());
        assert!(stale.login().unwrap_err().to_string().contains("unauthorised"));
        let stored = Scene::forge_with(GhSettings { token_from_env: false, ..settings.clone() });
        assert_eq!(stored.login().unwrap(), "octo-bot");
        fs::remove_file(config.join("hosts.yml")).unwrap();
        let error = Scene::forge_with(GhSettings { token_from_env: false, ..settings })
            .find_open(&branch("x"), &branch("main"))
            .unwrap_err();
        assert!(error.chain().contains("no-token"), "{}", error.chain());
        assert!(error.hint.unwrap().contains("gh auth login"));
    });
}

/// C9.4: asked before any work is begun, and without a request.
#[test]
fn what_keeps_pull_requests_from_being_opened_is_told_without_asking_the_forge() {
    with_each_gh(|scene| {
        let missing = |settings: GhSettings| Scene::forge_with(settings).missing();
        assert_eq!(missing(scene.settings()), None);
        let _was_there = fs::remove_file(scene.repo.root().join("gh/hosts.yml"));
        let stored_alone = GhSettings { token_from_env: false, ..scene.settings() };
        let why = missing(stored_alone.clone()).unwrap();
        assert!(why.contains("is not logged in to github.com (no oauth token"), "{why}");
        assert!(why.contains("`gh auth login`"), "{why}");
        let nowhere = GhSettings { program: "/nowhere/gh".into(), ..scene.settings() };
        let why = missing(nowhere).unwrap();
        assert!(
            why.starts_with("`/nowhere/gh`, which opens pull requests, cannot be run"),
            "{why}"
        );
        assert!(!scene.server.is_asked());
    });
    assert_eq!(GitForge.missing(), None);
}

#[test]
fn c9_5_without_a_forge_nothing_is_asked_and_nothing_opened() {
    assert_eq!(GitForge.kind(), ForgeKind::Git);
    assert_eq!(GitForge.find_open(&branch("x"), &branch("main")).unwrap(), None);
    assert!(
        GitForge
            .create(&new_pull_request("x"))
            .unwrap_err()
            .chain()
            .contains("has no pull requests")
    );
    assert!(GitForge.proposals(&[], LIMIT).unwrap().is_empty());
}
