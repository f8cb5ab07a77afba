//! The objects a query can ask for, as plain JSON; only the fields that take arguments are computed.

use serde_json::{Value, json};

use crate::forge_server::state::{PullRequest, PullState, ReviewState, State};

/// What a field comes to.
pub(super) enum Resolved {
    Value(Value),
    /// The thing asked for does not exist: null in the data, and an error beside it.
    Missing {
        message: String,
    },
    /// The type has no such field.
    Unknown,
}

pub(super) fn resolve(state: &State, object: &Value, name: &str, arguments: &Value) -> Resolved {
    let kind = object["__typename"].as_str().unwrap_or_default();
    match (kind, name) {
        ("Query", "repository") => repository(state, arguments),
        ("Query", "viewer") => Resolved::Value(actor(&state.settings.login)),
        ("Query", "rateLimit") => Resolved::Value(json!({
            "__typename": "RateLimit", "limit": 5000, "remaining": 4999, "cost": 1, "resetAt": "2100-01-01T00:00:00Z",
        })),
        ("Query", "node") => Resolved::Value(node(state, &arguments["id"])),
        ("Query", "nodes") => {
            let ids = arguments["ids"].as_array().into_iter().flatten();
            Resolved::Value(ids.map(|id| node(state, id)).collect())
        }
        ("Repository", "pullRequest") => {
            let number = arguments["number"].as_u64();
            match state.pulls.iter().find(|pull| Some(pull.number) == number) {
                Some(pull) => Resolved::Value(pull_request(state, pull)),
                None => Resolved::Missing {
                    message: format!(
                        "Could not resolve to a PullRequest with the number of {}.",
                        arguments["number"]
                    ),
                },
            }
        }
        ("Repository", "pullRequests") => Resolved::Value(pull_requests(state, arguments)),
        ("Repository", "ref") => {
            let name = arguments["qualifiedName"].as_str().unwrap_or_default();
            Resolved::Value(reference(state, name.strip_prefix("refs/heads/").unwrap_or(name)))
        }
        ("Connection", "edges") => {
            let nodes = object["nodes"].as_array().into_iter().flatten();
            Resolved::Value(
                nodes
                    .map(|node| json!({"__typename": "Edge", "node": node, "cursor": ""}))
                    .collect(),
            )
        }
        _ => match object.get(name) {
            Some(value) if value["__typename"] == "Connection" => {
                Resolved::Value(cut(value, arguments))
            }
            Some(value) => Resolved::Value(value.clone()),
            None => Resolved::Unknown,
        },
    }
}

fn repository(state: &State, arguments: &Value) -> Resolved {
    let text = |key: &str| arguments[key].as_str().unwrap_or_default();
    let slug = format!("{}/{}", text("owner"), text("name"));
    if !slug.eq_ignore_ascii_case(&state.slug()) {
        return Resolved::Missing {
            message: format!("Could not resolve to a Repository with the name '{slug}'."),
        };
    }
    Resolved::Value(json!({
        "__typename": "Repository",
        "id": "R_1",
        "name": state.name,
        "nameWithOwner": state.slug(),
        "owner": actor(&state.owner),
        "url": format!("https://github.com/{}", state.slug()),
        "isArchived": false,
        "isFork": false,
        "isPrivate": true,
        "viewerPermission": "WRITE",
        "deleteBranchOnMerge": false,
        "defaultBranchRef": reference(state, &state.settings.default_branch),
    }))
}

fn pull_requests(state: &State, arguments: &Value) -> Value {
    let states: Option<Vec<&Value>> = match &arguments["states"] {
        Value::Array(states) => Some(states.iter().collect()),
        Value::Null => None,
        one => Some(vec![one]),
    };
    let fits = |pull: &&PullRequest| {
        let state_fits = states
            .as_ref()
            .is_none_or(|states| states.iter().any(|state| **state == pull.state.graphql()));
        let text_fits =
            |key: &str, value: &str| arguments[key].is_null() || arguments[key] == value;
        state_fits && text_fits("headRefName", &pull.head) && text_fits("baseRefName", &pull.base)
    };
    let mut found: Vec<&PullRequest> = state.pulls.iter().filter(fits).collect();
    if arguments["orderBy"]["direction"] == "DESC" {
        found.reverse();
    }
    let nodes = found.into_iter().map(|pull| pull_request(state, pull)).collect();
    cut(&connection(nodes), arguments)
}

fn pull_request(state: &State, pull: &PullRequest) -> Value {
    let labels = pull.labels.iter().map(|name| json!({"__typename": "Label", "name": name}));
    let requests = pull
        .reviewers
        .iter()
        .map(|login| json!({"__typename": "ReviewRequest", "requestedReviewer": actor(login)}));
    let commits = state.store.between(&pull.base, &pull.head_oid);
    let commits =
        commits.iter().map(|oid| json!({"__typename": "PullRequestCommit", "commit": commit(oid)}));
    let decision = pull.review_decision().map(ReviewState::as_str);
    let head_repository = (pull.head_owner == state.owner).then(|| {
        json!({"__typename": "Repository", "nameWithOwner": state.slug(), "name": state.name, "owner": actor(&state.owner)})
    });
    json!({
        "__typename": "PullRequest",
        "id": format!("PR_{}", pull.number),
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "state": pull.state.graphql(),
        "url": state.url(pull),
        "isDraft": pull.draft,
        "closed": pull.state != PullState::Open,
        "merged": pull.state == PullState::Merged,
        "createdAt": pull.created_at,
        "updatedAt": pull.updated_at,
        "closedAt": pull.closed_at,
        "mergedAt": pull.merged_at,
        "mergeCommit": pull.merge_commit.as_deref().map(commit),
        "mergedBy": pull.merged_at.as_ref().map(|_| actor("alice")),
        "mergeable": "MERGEABLE",
        "reviewDecision": decision,
        "author": actor(&pull.author),
        "baseRefName": pull.base,
        "baseRefOid": state.store.branch(&pull.base),
        "headRefName": pull.head,
        "headRefOid": pull.head_oid,
        "headRef": reference(state, &pull.head),
        "headRepository": head_repository,
        "headRepositoryOwner": actor(&pull.head_owner),
        "isCrossRepository": pull.head_owner != state.owner,
        "labels": connection(labels.collect()),
        "reviewRequests": connection(requests.collect()),
        "reviews": connection(reviews(pull)),
        "latestReviews": connection(latest(reviews(pull))),
        "comments": connection(comments(pull)),
        "commits": connection(commits.collect()),
    })
}

fn reviews(pull: &PullRequest) -> Vec<Value> {
    let reviews = pull.reviews.iter().map(|review| {
        json!({
            "__typename": "PullRequestReview",
            "id": format!("PRR_{}_{}", pull.number, review.id),
            "author": actor(&review.author),
            "authorAssociation": "MEMBER",
            "state": review.state.as_str(),
            "body": review.body,
            "submittedAt": review.submitted_at,
            "createdAt": review.submitted_at,
            "commit": commit(&review.commit),
            "comments": connection(Vec::new()),
        })
    });
    reviews.collect()
}

/// The last review of each author.
fn latest(reviews: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for review in reviews {
        kept.retain(|other| other["author"] != review["author"]);
        kept.push(review);
    }
    kept
}

fn comments(pull: &PullRequest) -> Vec<Value> {
    let comments = pull.comments.iter().map(|comment| {
        json!({
            "__typename": "IssueComment",
            "author": actor(&comment.author),
            "body": comment.body,
            "createdAt": comment.created_at,
        })
    });
    comments.collect()
}

fn node(state: &State, id: &Value) -> Value {
    let found = state.pulls.iter().find(|pull| *id == format!("PR_{}", pull.number));
    found.map_or(Value::Null, |pull| pull_request(state, pull))
}

fn reference(state: &State, name: &str) -> Value {
    state.store.branch(name).map_or(Value::Null, |oid| {
        json!({"__typename": "Ref", "name": name, "prefix": "refs/heads/", "target": commit(&oid)})
    })
}

fn commit(oid: &str) -> Value {
    json!({"__typename": "Commit", "oid": oid})
}

fn actor(login: &str) -> Value {
    json!({"__typename": "User", "login": login, "id": format!("U_{login}")})
}

fn connection(nodes: Vec<Value>) -> Value {
    json!({
        "__typename": "Connection",
        "totalCount": nodes.len(),
        "nodes": Value::Array(nodes),
        "pageInfo": {"__typename": "PageInfo", "hasNextPage": false, "hasPreviousPage": false, "endCursor": null, "startCursor": null},
    })
}

/// Keeps the part of a connection that `first`, `last` and `after` ask for; cursors are positions.
fn cut(connection: &Value, arguments: &Value) -> Value {
    let mut cut = connection.clone();
    let nodes = connection["nodes"].as_array().cloned().unwrap_or_default();
    let count = |key: &str| arguments[key].as_u64().and_then(|count| usize::try_from(count).ok());
    let after =
        arguments["after"].as_str().and_then(|after| after.parse::<usize>().ok()).unwrap_or(0);
    let after = after.min(nodes.len());
    let (start, end) = match (count("first"), count("last")) {
        (Some(first), _) => (after, nodes.len().min(after.saturating_add(first))),
        (None, Some(last)) => (nodes.len().saturating_sub(last), nodes.len()),
        (None, None) => (after, nodes.len()),
    };
    cut["pageInfo"]["hasNextPage"] = Value::from(end < nodes.len());
    cut["pageInfo"]["hasPreviousPage"] = Value::from(start > 0);
    cut["pageInfo"]["endCursor"] = Value::from(end.to_string());
    cut["nodes"] = Value::from(nodes[start..end].to_vec());
    cut
}
