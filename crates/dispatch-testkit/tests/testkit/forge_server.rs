//! The real `gh`, old and new, talks to the forge.

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_testkit::forge_server::{
    Fault, ForgeServer, Injection, Merge, PullState, ReviewState,
};
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::repo::Repo;
use serde_json::{Value, json};

const PULLS: &str = "repos/acme/widgets/pulls";

/// Every `gh` that is installed.
fn ghs() -> Vec<Utf8PathBuf> {
    [Peer::Gh, Peer::OldGh].into_iter().filter_map(programs::find).collect()
}

/// A repository with a pushed branch `topic`, one commit ahead of `main`, and a forge for it.
fn forge() -> (Repo, ForgeServer) {
    let git = programs::gits().into_iter().next().expect("a git");
    let repo = Repo::new(&git);
    repo.someone_pushes("topic", "src/topic.rs", "//! Topic.\n");
    let forge = ForgeServer::start(&repo, "acme/widgets");
    (repo, forge)
}

/// Runs `gh api`; the answer, or what it printed when it failed.
fn api(
    forge: &ForgeServer,
    gh: &Utf8Path,
    args: &[&str],
    input: Option<&Value>,
) -> Result<Value, String> {
    let mut command = forge.gh(gh);
    command.arg("api").args(args);
    if let Some(input) = input {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), input.to_string()).unwrap();
        command.args(["--input", "-"]).stdin(std::fs::File::open(file.path()).unwrap());
    }
    let output = programs::output(&mut command);
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
    } else {
        // gh prints the forge's own words to standard output: a refusal is only `Validation Failed` beside them.
        let (said, body) = (String::from_utf8(output.stderr), String::from_utf8(output.stdout));
        Err(format!("{}\n{}", said.unwrap().trim(), body.unwrap()))
    }
}

fn create(forge: &ForgeServer, gh: &Utf8Path) -> Result<Value, String> {
    let body = json!({"title": "[T-1] Topic", "body": "Text.", "head": "topic", "base": "main"});
    api(forge, gh, &[PULLS], Some(&body))
}

#[test]
fn a_pull_request_is_created_found_updated_and_read() {
    for gh in ghs() {
        let (repo, forge) = forge();

        let created = create(&forge, &gh).unwrap();
        let listed =
            api(&forge, &gh, &[&format!("{PULLS}?head=acme:topic&state=all")], None).unwrap();
        let change = json!({"body": "Other text."});
        api(&forge, &gh, &["-X", "PATCH", &format!("{PULLS}/1")], Some(&change)).unwrap();
        let read = api(&forge, &gh, &[&format!("{PULLS}/1")], None).unwrap();

        assert_eq!(created["html_url"], "https://github.com/acme/widgets/pull/1");
        assert_eq!(listed.as_array().unwrap().len(), 1);
        assert_eq!(read["body"], "Other text.");
        assert_eq!(read["head"]["sha"], json!(repo.remote_branches()["topic"]));
        assert_eq!(forge.pull_request(1).author, "octo-bot");
        assert_eq!(forge.count("POST", "/pulls"), 1);
    }
}

#[test]
fn the_forge_refuses_what_github_refuses() {
    for gh in ghs() {
        let (_repo, forge) = forge();
        let attempt = |head: &str, title: &str| {
            let body = json!({"title": title, "head": head, "base": "main"});
            api(&forge, &gh, &[PULLS], Some(&body)).unwrap_err()
        };

        let said = attempt("nowhere", "T");
        assert!(said.contains("Head sha can't be blank"), "{said}");
        assert!(attempt("main", "T").contains("No commits between main and main"));
        assert!(attempt("topic", " ").contains("Title can't be blank"));
        create(&forge, &gh).unwrap();
        assert!(attempt("topic", "T").contains("A pull request already exists for acme:topic."));
        assert_eq!(forge.pull_requests().len(), 1);
    }
}

#[test]
fn labels_reviewers_and_reviews_are_kept() {
    for gh in ghs() {
        let (_repo, forge) = forge();
        create(&forge, &gh).unwrap();
        let post = |path: &str, body: Value| {
            api(&forge, &gh, &[&format!("repos/acme/widgets/{path}")], Some(&body))
        };

        post("issues/1/labels", json!({"labels": ["human-review"]})).unwrap();
        post("pulls/1/requested_reviewers", json!({"reviewers": ["octocat"]})).unwrap();
        let own =
            post("pulls/1/requested_reviewers", json!({"reviewers": ["octo-bot"]})).unwrap_err();
        let unknown =
            post("pulls/1/requested_reviewers", json!({"reviewers": ["nobody"]})).unwrap_err();
        forge.review(1, "alice", ReviewState::ChangesRequested, "Please rename it.");
        let reviews = api(&forge, &gh, &[&format!("{PULLS}/1/reviews")], None).unwrap();

        let pull = forge.pull_request(1);
        assert_eq!(
            (pull.labels, pull.reviewers),
            (vec!["human-review".to_owned()], vec!["octocat".to_owned()])
        );
        assert!(own.contains("Review cannot be requested from pull request author."), "{own}");
        assert!(unknown.contains("may only be requested from collaborators"), "{unknown}");
        assert_eq!(reviews[0]["state"], "CHANGES_REQUESTED");
        assert_eq!(reviews[0]["commit_id"], json!(pull.head_oid));
    }
}

#[test]
fn one_graphql_query_lists_several_pull_requests() {
    for gh in ghs() {
        let (repo, forge) = forge();
        repo.someone_pushes("other", "src/other.rs", "//! Other.\n");
        forge.open("topic", "main", "One", "");
        forge.open("other", "main", "Two", "");
        forge.open_from_fork("topic", "main", "Stranger's");
        forge.review(1, "alice", ReviewState::Approved, "Fine.");
        forge.merge(1, Merge::Squash);
        let query = r"
            query($owner: String!, $name: String!, $count: Int = 5) {
              repository(owner: $owner, name: $name) {
                p1: pullRequest(number: 1) { ...facts }
                p2: pullRequest(number: 2) { ...facts }
                p9: pullRequest(number: 9) { ...facts }
                pullRequests(first: $count, headRefName: topic, states: [OPEN, MERGED], orderBy: {field: CREATED_AT, direction: DESC}) {
                  totalCount
                  nodes { number isCrossRepository }
                }
              }
            }
            fragment facts on PullRequest {
              number state headRefOid mergedAt mergeCommit { oid } baseRefName
              reviews(last: 10) { nodes { state author { login ... on User { id } } } }
            }";
        let query = query.replace("headRefName: topic", "headRefName: \"topic\"");
        let mut command = forge.gh(&gh);
        command.args([
            "api",
            "graphql",
            "-f",
            &format!("query={query}"),
            "-f",
            "owner=acme",
            "-f",
            "name=widgets",
        ]);

        let output = programs::output(&mut command);

        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let repository = &answer["data"]["repository"];
        assert_eq!(repository["p1"]["state"], "MERGED");
        assert_eq!(repository["p1"]["mergeCommit"]["oid"], json!(repo.remote_branches()["main"]));
        assert_eq!(repository["p1"]["reviews"]["nodes"][0]["author"]["login"], "alice");
        assert_eq!(repository["p2"]["state"], "OPEN");
        assert_eq!(repository["p9"], Value::Null);
        assert_eq!(
            repository["pullRequests"]["nodes"][0],
            json!({"number": 3, "isCrossRepository": true})
        );
        assert_eq!(repository["pullRequests"]["totalCount"], 2);
        assert_eq!(answer["errors"][0]["path"], json!(["repository", "p9"]));
        assert!(
            !output.status.success(),
            "gh fails when there are errors, and still prints the data"
        );
    }
}

#[test]
fn an_unknown_graphql_field_is_refused() {
    for gh in ghs() {
        let (_repo, forge) = forge();
        let query = "query=query { repository(owner: \"acme\", name: \"widgets\") { colour } }";

        let refused = api(&forge, &gh, &["graphql", "-f", query], None).unwrap_err();

        assert!(refused.contains("Field 'colour' doesn't exist on type 'Repository'"), "{refused}");
    }
}

#[test]
fn each_fault_reaches_gh() {
    for gh in ghs() {
        let (_repo, forge) = forge();
        let faults = [
            (Fault::Unauthorised, "gh: Bad credentials (HTTP 401)"),
            (Fault::Forbidden, "gh: Resource not accessible by integration (HTTP 403)"),
            (Fault::RateLimited, "gh: API rate limit exceeded for user ID 1. (HTTP 403)"),
            (Fault::SecondaryRateLimited, "secondary rate limit"),
            (Fault::NotFound, "gh: Not Found (HTTP 404)"),
            (Fault::ServerError(502), "gh: HTTP 502"),
            (Fault::ServerError(503), "gh: Server Error (HTTP 503)"),
            (Fault::Drop, "EOF"),
            (Fault::Truncated, "EOF"),
        ];
        for (fault, expected) in faults {
            forge.recover();
            let name = format!("{fault:?}");
            forge.inject(Injection::on("GET /repos/acme/widgets/pulls").fault(fault));

            let said = api(&forge, &gh, &[PULLS], None).unwrap_err();

            assert!(said.contains(expected), "{name}: {said}");
        }
    }
}

#[test]
fn null_data_and_text_that_is_not_json_look_like_success() {
    for gh in ghs() {
        let (_repo, forge) = forge();
        for (fault, printed) in
            [(Fault::NullData, r#"{"data":null}"#), (Fault::NotJson, "this is not json")]
        {
            forge.recover();
            forge.inject(Injection::on("/pulls").fault(fault));

            let text = programs::read(forge.gh(&gh).args(["api", PULLS]));

            assert_eq!(text.trim(), printed);
        }
    }
}

#[test]
fn a_lost_answer_has_made_the_pull_request_all_the_same() {
    for gh in ghs() {
        let (_repo, forge) = forge();
        forge.inject(
            Injection::on("POST /repos/acme/widgets/pulls").fault(Fault::LostAnswer).times(1),
        );

        let said = create(&forge, &gh).unwrap_err();

        assert!(said.contains("EOF"), "{said}");
        assert_eq!(forge.pull_requests().len(), 1);
        let listed = api(&forge, &gh, &[&format!("{PULLS}?head=acme:topic")], None).unwrap();
        assert_eq!(listed[0]["number"], 1);
    }
}

#[test]
fn a_silent_forge_ends_with_the_server() {
    for gh in ghs() {
        let (_repo, forge) = forge();
        forge.inject(Injection::on("").fault(Fault::Hang));
        let mut child = forge.gh(&gh).args(["api", PULLS]).spawn().unwrap();
        dispatch_testkit::wait::until("the request", || {
            child.try_wait().unwrap().is_none() && forge.is_asked()
        });

        let begun = Instant::now();
        drop(forge);

        assert!(begun.elapsed() < Duration::from_secs(10));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn merging_moves_the_base_branch_and_a_removed_branch_closes_its_pull_request() {
    let (repo, forge) = forge();
    let number = forge.open("topic", "main", "One", "");
    let before = repo.remote_branches()["main"].clone();

    let commit = forge.merge(number, Merge::Squash);

    assert_eq!(repo.remote_branches()["main"], commit);
    assert_eq!(repo.git_in(&repo.remote(), &["rev-parse", "main^"]), before);
    assert_eq!(repo.remote_file("main", "src/topic.rs").as_deref(), Some("//! Topic.\n"));
    assert_eq!(forge.pull_request(number).state, PullState::Merged);

    repo.someone_pushes("other", "src/other.rs", "//! Other.\n");
    let other = forge.open("other", "main", "Two", "");
    repo.git_in(&repo.remote(), &["update-ref", "-d", "refs/heads/other"]);
    assert_eq!(forge.pull_request(other).state, PullState::Closed);
}

#[test]
fn each_way_of_merging_brings_the_changes_and_leaves_its_own_history() {
    for (how, parents, same_commit) in
        [(Merge::Squash, 1, false), (Merge::Commit, 2, true), (Merge::Rebase, 1, false)]
    {
        for git in programs::gits() {
            let repo = Repo::new(&git);
            repo.someone_pushes("topic", "src/topic.rs", "//! Topic.\n");
            repo.someone_pushes("main", "src/main.rs", "//! Main.\n");
            let forge = ForgeServer::start(&repo, "acme/widgets");
            let number = forge.open("topic", "main", "One", "");

            forge.merge(number, how);

            let remote = repo.remote();
            let listed = repo.git_in(&remote, &["rev-list", "--parents", "-1", "main"]);
            assert_eq!(listed.split(' ').count() - 1, parents, "{how:?}");
            assert_eq!(repo.remote_file("main", "src/topic.rs").as_deref(), Some("//! Topic.\n"));
            assert_eq!(repo.remote_file("main", "src/main.rs").as_deref(), Some("//! Main.\n"));
            let mut ancestor =
                repo.git_command(&remote, &["merge-base", "--is-ancestor", "topic", "main"]);
            assert_eq!(programs::output(&mut ancestor).status.success(), same_commit, "{how:?}");
        }
    }
}

#[test]
fn a_wrong_token_is_refused_and_a_list_comes_in_pages() {
    for gh in ghs() {
        let (_repo, forge) = forge();
        for _ in 0..3 {
            forge.open_from_fork("topic", "main", "Stranger's");
        }

        let pages = programs::read(
            forge
                .gh(&gh)
                .args(["api", "--paginate", "--jq", ".[].number"])
                .arg(format!("{PULLS}?per_page=2")),
        );
        forge.configure(|settings| settings.token = Some("another".to_owned()));
        let refused = api(&forge, &gh, &[PULLS], None).unwrap_err();

        assert_eq!(pages.split_whitespace().collect::<Vec<_>>(), ["3", "2", "1"]);
        assert_eq!(forge.count("GET", "page=2&per_page=2"), 1);
        assert!(refused.contains("Bad credentials"), "{refused}");
    }
}
