//! Fetching, pushing, leasing (V1.5, V2.4, D2.4, D3.5, C9.1, C10.1, M3).

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use dispatch_core::names::PauseCause;
use dispatch_core::object::CommitId;
use dispatch_engine::ports::{Answer, Deletion, Lease, Push, RemoteBranch, Vcs};
use dispatch_git::{Git, Ownership, Repository, VcsSettings, Who};

use crate::sandbox::{Sandbox, branch, executable, with_each_git};

const BUDGET: Duration = Duration::from_mins(1);

fn on_remote(sandbox: &Sandbox, name: &str) -> String {
    sandbox.git(&sandbox.remote, &["for-each-ref", "--format=%(objectname)", name])
}

#[test]
fn d3_5_exactly_the_named_branches_are_fetched_into_refs_of_ours() {
    with_each_git(|sandbox| {
        let main = sandbox.commit("HEAD");
        let other = sandbox.commit_file("x", "x", "x");
        sandbox.at(&["push", "-q", "origin", "HEAD:refs/heads/task/T-1", "HEAD:refs/heads/x/main"]);
        sandbox.at(&["reset", "-q", "--hard", main.as_str()]);
        let tracking = sandbox.at(&["for-each-ref", "refs/remotes"]);
        let repository = sandbox.repository();
        let asked = ["main", "task/T-1", "task/T-2"].map(branch).into();
        let view = repository.fetch(&asked, BUDGET);
        assert_eq!(view.problem, None);
        assert_eq!(
            view.branches,
            BTreeMap::from([
                (branch("main"), RemoteBranch::At(main.clone())),
                (branch("task/T-1"), RemoteBranch::At(other)),
                (branch("task/T-2"), RemoteBranch::Absent),
            ])
        );
        assert_eq!(
            sandbox.at(&["for-each-ref", "refs/remotes"]),
            tracking,
            "the person's refs stay"
        );
        assert_eq!(
            sandbox.at(&["for-each-ref", "--format=%(refname)", "refs/dispatch"]),
            "refs/dispatch/remote/main\nrefs/dispatch/remote/task/T-1"
        );
        assert!(!sandbox.code_root.join(".git/FETCH_HEAD").exists());
        // Rewritten, deleted, and a name that was a folder.
        sandbox.git(&sandbox.remote, &["update-ref", "-d", "refs/heads/task/T-1"]);
        sandbox.git(&sandbox.remote, &["update-ref", "refs/heads/task/T-1/sub", main.as_str()]);
        let asked = ["task/T-1", "task/T-1/sub"].map(branch).into();
        let view = repository.fetch(&asked, BUDGET);
        assert_eq!(view.get(&branch("task/T-1")), RemoteBranch::Absent, "{view:?}");
        assert_eq!(view.get(&branch("task/T-1/sub")), RemoteBranch::At(main));
        assert_eq!(view.get(&branch("never-asked")), RemoteBranch::Unknown);
    });
}

#[test]
fn d3_5_a_remote_that_does_not_answer_makes_everything_unknown_and_fails_nothing() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        fs::rename(&sandbox.remote, sandbox.root.join("away")).unwrap();
        let view = repository.fetch(&[branch("main")].into(), BUDGET);
        assert_eq!(view.get(&branch("main")), RemoteBranch::Unknown);
        assert!(view.problem.unwrap().contains("ls-remote"));
        assert!(repository.default_branch(BUDGET).is_err());
    });
}

/// D2.2: whatever is asked of a remote that takes the connection and never answers ends with its limit, and with all that
/// was started for it.
#[test]
fn d2_2_a_transport_that_hangs_is_ended_with_the_limit_of_the_call() {
    const LIMIT: Duration = Duration::from_secs(1);
    with_each_git(|sandbox| {
        let ssh = sandbox.root.join("ssh");
        let pids = sandbox.root.join("pids");
        executable(&ssh, &format!("#!/bin/sh\necho $$ >> {pids}\nsleep 3600\n"));
        sandbox.at(&["remote", "set-url", "origin", "ssh://git@example.invalid/a.git"]);
        let settings = VcsSettings { ssh_command: Some(ssh.to_string()), ..sandbox.settings() };
        let repository = sandbox.repository_with(settings);
        let (head, name) = (sandbox.commit("HEAD"), "refs/dispatch/attempts/T-1/1");
        repository.keep(name, &head).unwrap();
        let began = std::time::Instant::now();
        let Lease::Unreachable(lease) = repository.lease(LIMIT) else { panic!("it answered") };
        let view = repository.fetch(&[branch("main")].into(), LIMIT);
        assert_eq!(view.get(&branch("main")), RemoteBranch::Unknown);
        let errors = [
            repository.default_branch(LIMIT).unwrap_err(),
            repository.push_backup(name, LIMIT).unwrap_err(),
            repository.delete_remote_branch(&branch("task/T-1"), &head, LIMIT).unwrap_err(),
            repository.fetch_pull_request_head(7, LIMIT).unwrap_err(),
        ];
        // Six calls of a second each, and some patience with a loaded machine: far from the hour, or from the minutes that
        // a supervisor's push may take.
        assert!(began.elapsed() < Duration::from_mins(2), "{:?}", began.elapsed());
        let said = errors.iter().map(|error| {
            assert_eq!(error.pause, Some(PauseCause::RemoteUnreachable), "{}", error.chain());
            error.chain()
        });
        for text in said.chain([lease, view.problem.unwrap()]) {
            assert!(text.contains("time limit"), "{text}");
        }
        for pid in fs::read_to_string(&pids).unwrap().lines() {
            let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            assert!(state.is_empty() || state.contains(") Z "), "process {pid} lives: {state}");
        }
    });
}

#[test]
fn v2_4_the_default_branch_is_asked_of_the_remote_and_not_of_stale_refs() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        sandbox.at(&["remote", "set-head", "origin", "main"]);
        sandbox.git(&sandbox.remote, &["update-ref", "refs/heads/trunk", "main"]);
        sandbox.git(&sandbox.remote, &["symbolic-ref", "HEAD", "refs/heads/trunk"]);
        assert_eq!(repository.default_branch(BUDGET).unwrap(), branch("trunk"));
        sandbox.git(&sandbox.remote, &["symbolic-ref", "HEAD", "refs/heads/gone"]);
        assert!(repository.default_branch(BUDGET).unwrap_err().chain().contains("baseBranch"));
    });
}

#[test]
fn c9_1_a_push_expects_what_we_know_and_overwrites_nothing() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let (task, name) = (branch("task/T-1"), "refs/heads/task/T-1");
        let first = sandbox.commit("HEAD");
        let second = sandbox.commit_file("x", "x", "x");
        let third = sandbox.commit_file("x", "y", "y");
        sandbox.at(&["reset", "-q", "--hard", first.as_str()]);
        assert_eq!(
            repository.push(&task, &second, Some(&first)).unwrap(),
            Push::Moved,
            "it is absent"
        );
        assert_eq!(repository.push(&task, &second, None).unwrap(), Push::Pushed);
        assert_eq!(repository.push(&task, &second, None).unwrap(), Push::Pushed, "C1.4: twice");
        assert_eq!(on_remote(sandbox, name), second.as_str());
        assert_eq!(
            repository.push(&task, &third, None).unwrap(),
            Push::Moved,
            "not expected there"
        );
        assert_eq!(repository.push(&task, &third, Some(&second)).unwrap(), Push::Pushed);
        sandbox.at(&["checkout", "-q", "-b", "side"]);
        let side = sandbox.commit_file("z", "z", "z");
        assert_eq!(repository.push(&task, &side, Some(&second)).unwrap(), Push::Moved);
        let error = repository.push(&task, &side, Some(&third)).unwrap_err();
        assert!(error.chain().contains("would drop work"), "{}", error.chain());
        assert_eq!(on_remote(sandbox, name), third.as_str());
        assert_eq!(
            sandbox.at(&["for-each-ref", "--format=%(refname)", "refs/remotes"]),
            "refs/remotes/origin/main"
        );
    });
}

#[test]
fn a_refusing_remote_is_an_error_with_its_words() {
    with_each_git(|sandbox| {
        executable(
            &sandbox.remote.join("hooks/pre-receive"),
            "#!/bin/sh\necho 'no task branches here' >&2\nexit 1\n",
        );
        let error = sandbox
            .repository()
            .push(&branch("task/T-1"), &sandbox.commit("HEAD"), None)
            .unwrap_err();
        let text = error.chain();
        assert!(text.contains("no task branches here") && text.contains("refused"), "{text}");
    });
}

/// C9.1, C1.5: a remote that dies before it answers has not moved the branch.
#[test]
fn c1_5_a_push_whose_answer_got_lost_is_looked_for() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let (task, commit) = (branch("task/T-1"), sandbox.commit("HEAD"));
        let dies = "#!/bin/sh\nkill -9 $PPID\n";
        executable(&sandbox.remote.join("hooks/pre-receive"), dies);
        let error = repository.push(&task, &commit, None).unwrap_err();
        assert_eq!(error.pause, Some(PauseCause::RemoteUnreachable), "{}", error.chain());

        fs::remove_file(sandbox.remote.join("hooks/pre-receive")).unwrap();
        executable(&sandbox.remote.join("hooks/post-receive"), dies);
        assert_eq!(repository.push(&task, &commit, None).unwrap(), Push::Pushed);
        assert_eq!(on_remote(sandbox, "refs/heads/task/T-1"), commit.as_str());
    });
}

/// V3: what was merged is asked about though its branch is gone.
#[test]
fn v3_the_head_of_a_pull_request_is_fetched_by_its_number() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let ours = sandbox.commit("HEAD");
        let tree = sandbox.tree("HEAD");
        let parent = format!("--git-dir={}", sandbox.remote);
        let args = [&parent, "commit-tree", tree.as_str(), "-p", ours.as_str(), "-m", "more"];
        let head = sandbox.at(&args);
        sandbox.at(&[&parent, "update-ref", "refs/pull/7/head", &head]);
        let head = CommitId::parse(&head).unwrap();
        assert_eq!(repository.is_ancestor(&ours, &head), Answer::Unknown);
        let budget = Duration::from_secs(30);
        assert!(repository.fetch_pull_request_head(8, budget).is_err());
        repository.fetch_pull_request_head(7, budget).unwrap();
        assert_eq!(repository.is_ancestor(&ours, &head), Answer::Yes);
    });
}

#[test]
fn an_unreachable_remote_is_the_machines_fault_and_no_tasks() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        fs::rename(&sandbox.remote, sandbox.root.join("away")).unwrap();
        let error =
            repository.push(&branch("task/T-1"), &sandbox.commit("HEAD"), None).unwrap_err();
        assert_eq!(error.pause, Some(PauseCause::RemoteUnreachable));
    });
}

#[test]
fn c10_1_saved_work_is_backed_up_under_the_same_name() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let name = "refs/dispatch/attempts/T-1/1";
        assert!(repository.push_backup(name, BUDGET).is_err(), "nothing is kept there");
        let first = sandbox.commit("HEAD");
        repository.keep(name, &first).unwrap();
        repository.push_backup(name, BUDGET).unwrap();
        repository.push_backup(name, BUDGET).unwrap();
        assert_eq!(on_remote(sandbox, name), first.as_str());
        let second = sandbox.commit_file("x", "x", "x");
        repository.keep(name, &second).unwrap();
        repository.push_backup(name, BUDGET).unwrap();
        assert_eq!(on_remote(sandbox, name), second.as_str());
        assert!(repository.push_backup("refs/heads/main", BUDGET).is_err());
    });
}

/// N39.
#[test]
fn m3_a_remote_branch_is_deleted_only_where_it_was_expected() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        let (task, first) = (branch("task/T-1"), sandbox.commit("HEAD"));
        let second = sandbox.commit_file("x", "x", "x");
        repository.push(&task, &second, None).unwrap();
        assert_eq!(
            repository.delete_remote_branch(&task, &first, BUDGET).unwrap(),
            Deletion::Moved
        );
        assert_eq!(on_remote(sandbox, "refs/heads/task/T-1"), second.as_str());
        assert_eq!(
            repository.delete_remote_branch(&task, &second, BUDGET).unwrap(),
            Deletion::Deleted
        );
        assert_eq!(on_remote(sandbox, "refs/heads/task/T-1"), "");
        assert_eq!(
            repository.delete_remote_branch(&task, &second, BUDGET).unwrap(),
            Deletion::Gone
        );
    });
}

#[test]
fn v1_5_configuration_written_later_redirects_nothing() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        sandbox.git(&sandbox.root, &["init", "-q", "--bare", "attacker.git"]);
        let attacker = sandbox.root.join("attacker.git");
        // The remote's name now means somebody else.
        sandbox.at(&["remote", "set-url", "origin", attacker.as_str()]);
        let head = sandbox.commit("HEAD");
        assert_eq!(repository.push(&branch("task/T-1"), &head, None).unwrap(), Push::Pushed);
        assert_eq!(on_remote(sandbox, "refs/heads/task/T-1"), head.as_str());
        for key in ["insteadOf", "pushInsteadOf"] {
            let setting = format!("url.{attacker}.{key}");
            sandbox.at(&["config", &setting, sandbox.remote.as_str()]);
            let error = repository.push(&branch("task/T-2"), &head, None).unwrap_err();
            assert!(error.chain().contains("redirects"), "{}", error.chain());
            sandbox.at(&["config", "--unset", &setting]);
        }
        assert_eq!(sandbox.git(&attacker, &["for-each-ref"]), "");
    });
}

#[test]
fn v1_5_the_persons_own_rewriting_is_followed_as_it_was_at_the_start() {
    with_each_git(|sandbox| {
        sandbox.at(&["remote", "set-url", "origin", "https://example.invalid/a/b.git"]);
        let setting = format!("url.{}.insteadOf", sandbox.remote);
        sandbox.at(&["config", &setting, "https://example.invalid/a/b.git"]);
        let repository = sandbox.repository();
        let view = repository.fetch(&[branch("main")].into(), BUDGET);
        assert_eq!(view.get(&branch("main")), RemoteBranch::At(sandbox.commit("main")), "{view:?}");
    });
}

#[test]
fn v1_5_a_message_never_shows_credentials() {
    with_each_git(|sandbox| {
        sandbox.at(&["remote", "set-url", "origin", "http://me:s3cret@127.0.0.1:1/a.git"]);
        let repository = sandbox.repository();
        let view = repository.fetch(&[branch("main")].into(), BUDGET);
        let text = view.problem.unwrap();
        assert!(!text.contains("s3cret") && text.contains("127.0.0.1:1/a.git"), "{text}");
        let error =
            repository.push(&branch("task/T-1"), &sandbox.commit("HEAD"), None).unwrap_err();
        assert!(!error.chain().contains("s3cret"), "{}", error.chain());
    });
}

#[test]
fn d2_4_one_dispatcher_owns_the_remote_until_its_lease_ends() {
    with_each_git(|sandbox| {
        let repository = sandbox.repository();
        assert_eq!(repository.lease(BUDGET), Lease::Ours);
        assert_eq!(repository.lease(BUDGET), Lease::Ours, "our own again");
        let owner = on_remote(sandbox, "refs/dispatch/owner");
        sandbox.git(&sandbox.root, &["clone", "-q", sandbox.remote.as_str(), "second"]);
        let settings = VcsSettings {
            who: Who { host: "there".into(), user: "you".into() },
            ..sandbox.settings()
        };
        let second = sandbox.root.join("second");
        let other =
            dispatch_git::Repository::discover(sandbox.program(), settings, &second).unwrap();
        let Lease::Other { who, until } = other.lease(BUDGET) else { panic!("the other got it") };
        assert!(who.starts_with("me@here") && until.ends_with('Z'), "{who} {until}");
        assert_eq!(on_remote(sandbox, "refs/dispatch/owner"), owner);
        // While the remote does not answer, our own lease lasts, and nobody else has one.
        fs::rename(&sandbox.remote, sandbox.root.join("away")).unwrap();
        assert_eq!(repository.lease(BUDGET), Lease::Ours);
        assert!(matches!(other.lease(BUDGET), Lease::Unreachable(_)));
        fs::rename(sandbox.root.join("away"), &sandbox.remote).unwrap();
        // An ended lease is taken over.
        let ended = "{\"host\":\"here\",\"user\":\"me\",\"codeRoot\":\"/x\",\"expires\":\"2020-01-01T00:00:00Z\"}";
        let tree = sandbox.tree("HEAD");
        let commit = repository.commit(&tree, &[], &format!("lease\n\n{ended}\n")).unwrap();
        sandbox.at(&["push", "-q", "-f", "origin", &format!("{commit}:refs/dispatch/owner")]);
        assert_eq!(other.lease(BUDGET), Lease::Ours);
        assert!(matches!(repository.lease(BUDGET), Lease::Other { .. }));
        let off = VcsSettings { ownership: Ownership::Off, ..sandbox.settings() };
        assert_eq!(sandbox.repository_with(off).lease(BUDGET), Lease::Ours);
    });
}

/// A git that fails in the middle of a question has not answered that there is nothing.
#[test]
fn v1_5_a_question_about_the_configuration_that_git_could_not_answer_is_not_taken_for_nothing_there()
 {
    with_each_git(|sandbox| {
        let wrapper = sandbox.root.join("bin/git");
        let git = |failing: &str| {
            let real = &sandbox.git;
            executable(
                &wrapper,
                &format!(
                    "#!/bin/sh\ncase \"$*\" in *{failing}*) kill -9 $$ ;; esac\nexec '{real}' \"$@\"\n"
                ),
            );
            Git::new(&wrapper, sandbox.env.clone())
        };
        let open = |failing: &str| {
            Repository::discover(git(failing), sandbox.settings(), &sandbox.code_root)
        };
        sandbox.at(&["config", "core.excludesFile", "~/ignored"]);
        for failing in ["get-url", "--list", "core.excludesFile"] {
            let error = open(failing).unwrap_err().to_string();
            assert!(error.contains(failing), "{failing}: {error}");
        }
        let repository = open("insteadof").unwrap();
        let view = repository.fetch(&[branch("main")].into(), BUDGET);
        assert_eq!(view.get(&branch("main")), RemoteBranch::Unknown);
        assert!(view.problem.unwrap().contains("insteadof"));
        let repository = open("filter").unwrap();
        let error = repository.commit_board("record").unwrap_err().chain();
        assert!(error.contains("filter"), "a filter that is not known is not silenced: {error}");
    });
}
