//! Scratch repositories with every git of the machine.

use dispatch_testkit::programs;
use dispatch_testkit::repo::Repo;

#[test]
fn a_repository_begins_pushed_and_reads_no_settings_of_the_machine() {
    for git in programs::gits() {
        let repo = Repo::new(&git);
        let head = repo.git(&["rev-parse", "HEAD"]);

        assert_eq!(
            repo.remote_branches().into_iter().collect::<Vec<_>>(),
            [("main".to_owned(), head)]
        );
        assert_eq!(
            repo.git(&["log", "-1", "--format=%an <%ae>"]),
            "Test Person <person@example.org>"
        );
        let scopes = repo.git(&["config", "--list", "--show-scope"]);
        assert!(scopes.lines().all(|line| line.starts_with("local")), "{scopes}");
    }
}

#[test]
fn someone_elses_push_moves_the_remote_alone() {
    for git in programs::gits() {
        let repo = Repo::new(&git);
        let before = repo.git(&["rev-parse", "HEAD"]);

        let on_main = repo.someone_pushes("main", "src/new.rs", "//! New.\n");
        let on_other = repo.someone_pushes("topic", "src/topic.rs", "//! Topic.\n");

        assert_eq!(repo.remote_branches().get("main"), Some(&on_main));
        assert_eq!(repo.remote_branches().get("topic"), Some(&on_other));
        assert_eq!(repo.git(&["rev-parse", "HEAD"]), before);
        assert_eq!(repo.remote_file("main", "src/new.rs").as_deref(), Some("//! New.\n"));
        assert_eq!(repo.remote_file("main", "src/topic.rs"), None);
        assert_eq!(repo.remote_changes("main", "topic"), ["src/topic.rs"]);
    }
}

#[test]
fn posing_as_github_still_pushes_and_fetches_here() {
    for git in programs::gits() {
        let repo = Repo::new(&git);
        repo.pose_as_github("acme/widgets");
        repo.write("a.txt", "a\n");
        let commit = repo.commit("feat: a");

        repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/task/t-1"]);
        let theirs = repo.someone_pushes("main", "b.txt", "b\n");
        repo.git(&["fetch", "--quiet", "origin"]);

        assert_eq!(repo.git(&["remote", "get-url", "origin"]), "git@github.com:acme/widgets.git");
        assert_eq!(repo.remote_branches().get("task/t-1"), Some(&commit));
        assert_eq!(repo.git(&["rev-parse", "origin/main"]), theirs);
    }
}
