//! The REST calls.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Answer;
use super::state::{IssueComment, PullRequest, PullState, State, check_texts, now};

/// How many items a page has unless the client says.
const PAGE: usize = 30;

pub(super) fn answer(
    state: &mut State,
    method: &str,
    path: &str,
    query: &str,
    body: &Value,
) -> Answer {
    let query: BTreeMap<String, String> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect();
    let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["user"] => Answer::new(200, user(&state.settings.login)),
        ["repos", owner, name, rest @ ..] if is_ours(state, owner, name) => {
            repository(state, method, rest, (path, &query), body)
        }
        _ => not_found(),
    }
}

fn is_ours(state: &State, owner: &str, name: &str) -> bool {
    state.owner.eq_ignore_ascii_case(owner) && state.name.eq_ignore_ascii_case(name)
}

type Query<'a> = (&'a str, &'a BTreeMap<String, String>);

fn repository(
    state: &mut State,
    method: &str,
    rest: &[&str],
    query: Query<'_>,
    body: &Value,
) -> Answer {
    match (method, rest) {
        ("GET", []) => Answer::new(200, repository_json(state)),
        ("GET", ["branches", name @ ..]) => match state.store.branch(&name.join("/")) {
            Some(commit) => Answer::new(
                200,
                json!({"name": name.join("/"), "commit": {"sha": commit}, "protected": false}),
            ),
            None => Answer::message(404, "Branch not found"),
        },
        ("GET", ["git", "ref" | "refs", "heads", name @ ..]) => {
            match state.store.branch(&name.join("/")) {
                Some(commit) => {
                    let reference = format!("refs/heads/{}", name.join("/"));
                    Answer::new(
                        200,
                        json!({"ref": reference, "object": {"sha": commit, "type": "commit"}}),
                    )
                }
                None => not_found(),
            }
        }
        ("DELETE", ["git", "ref" | "refs", "heads", name @ ..]) => {
            if state.store.remove_branch(&name.join("/")) {
                Answer::new(204, Value::Null)
            } else {
                Answer::message(422, "Reference does not exist")
            }
        }
        ("GET", ["pulls"]) => list(state, query),
        ("POST", ["pulls"]) => create(state, body),
        (_, ["pulls" | "issues", number, rest @ ..]) => {
            let number = number.parse().unwrap_or(0);
            if state.pulls.iter().any(|pull| pull.number == number) {
                pull_request(state, method, number, rest, query, body)
            } else {
                not_found()
            }
        }
        _ => not_found(),
    }
}

fn list(state: &State, (path, query): Query<'_>) -> Answer {
    let wanted = query.get("state").map_or("open", String::as_str);
    let fits = |pull: &&PullRequest| {
        let state_fits = match wanted {
            "all" => true,
            "closed" => pull.state != PullState::Open,
            _ => pull.state == PullState::Open,
        };
        // Without an owner the forge ignores the filter.
        let head = query.get("head").filter(|head| head.contains(':'));
        let head_fits =
            head.is_none_or(|head| *head == format!("{}:{}", pull.head_owner, pull.head));
        state_fits && head_fits && query.get("base").is_none_or(|base| *base == pull.base)
    };
    let found = state.pulls.iter().rev().filter(fits).map(|pull| pull_json(state, pull)).collect();
    page(found, (path, query))
}

fn create(state: &mut State, body: &Value) -> Answer {
    let text = |key: &str| body[key].as_str().unwrap_or_default();
    let author = state.settings.login.clone();
    let draft = body["draft"] == true;
    match state.create(&author, text("head"), text("base"), text("title"), text("body"), draft) {
        Ok(number) => Answer::new(201, number_json(state, number)),
        Err(refused) => invalid(&refused),
    }
}

fn pull_request(
    state: &mut State,
    method: &str,
    number: u64,
    rest: &[&str],
    query: Query<'_>,
    body: &Value,
) -> Answer {
    match (method, rest) {
        ("GET", []) => Answer::new(200, number_json(state, number)),
        ("PATCH", []) => update(state, number, body),
        ("GET", ["reviews"]) => {
            let reviews = pull(state, number).reviews.iter().map(|review| {
                json!({
                    "id": review.id,
                    "user": user(&review.author),
                    "body": review.body,
                    "state": review.state.as_str(),
                    "commit_id": review.commit,
                    "submitted_at": review.submitted_at,
                })
            });
            page(reviews.collect(), query)
        }
        ("GET", ["requested_reviewers"]) => {
            let users: Vec<Value> =
                pull(state, number).reviewers.iter().map(|login| user(login)).collect();
            Answer::new(200, json!({"users": users, "teams": []}))
        }
        ("POST", ["requested_reviewers"]) => {
            match state.request_reviews(number, &strings(&body["reviewers"])) {
                Ok(()) => Answer::new(201, number_json(state, number)),
                Err(refused) => Answer::message(422, &refused),
            }
        }
        ("GET", ["labels"]) => labels(state, number),
        ("POST", ["labels"]) => {
            let added = strings(&body["labels"]);
            let pull = pull_mut(state, number);
            for label in added {
                if !pull.labels.contains(&label) {
                    pull.labels.push(label);
                }
            }
            labels(state, number)
        }
        ("DELETE", ["labels", name]) => {
            let pull = pull_mut(state, number);
            let before = pull.labels.len();
            pull.labels.retain(|label| label != name);
            if pull.labels.len() == before {
                return Answer::message(404, "Label does not exist");
            }
            labels(state, number)
        }
        ("GET", ["comments"]) => {
            let comments = pull(state, number).comments.iter().map(comment_json);
            page(comments.collect(), query)
        }
        ("POST", ["comments"]) => {
            let author = state.settings.login.clone();
            let body = body["body"].as_str().unwrap_or_default().to_owned();
            let comment = IssueComment { author, body, created_at: now() };
            let answer = comment_json(&comment);
            pull_mut(state, number).comments.push(comment);
            Answer::new(201, answer)
        }
        ("GET", ["commits"]) => {
            let shas =
                state.store.between(&pull(state, number).base, &pull(state, number).head_oid);
            page(shas.into_iter().map(|sha| json!({"sha": sha})).collect(), query)
        }
        _ => not_found(),
    }
}

fn update(state: &mut State, number: u64, body: &Value) -> Answer {
    let text = |key: &str| body[key].as_str();
    if let Err(refused) =
        check_texts(text("title").unwrap_or("-"), text("body").unwrap_or_default())
    {
        return invalid(&refused);
    }
    let pull = pull_mut(state, number);
    for (key, field) in
        [("title", &mut pull.title), ("body", &mut pull.body), ("base", &mut pull.base)]
    {
        if let Some(value) = text(key) {
            value.clone_into(field);
        }
    }
    match text("state") {
        Some("closed") => pull.close(),
        Some("open") if pull.state == PullState::Closed => {
            pull.state = PullState::Open;
            pull.closed_at = None;
        }
        _ => {}
    }
    pull.updated_at = now();
    Answer::new(200, number_json(state, number))
}

fn pull(state: &State, number: u64) -> &PullRequest {
    state.pulls.iter().find(|pull| pull.number == number).expect("the caller looked")
}

fn pull_mut(state: &mut State, number: u64) -> &mut PullRequest {
    state.pulls.iter_mut().find(|pull| pull.number == number).expect("the caller looked")
}

fn labels(state: &State, number: u64) -> Answer {
    let labels: Vec<Value> =
        pull(state, number).labels.iter().map(|name| json!({"name": name})).collect();
    Answer::new(200, Value::Array(labels))
}

fn number_json(state: &State, number: u64) -> Value {
    pull_json(state, pull(state, number))
}

fn pull_json(state: &State, pull: &PullRequest) -> Value {
    let open = pull.state == PullState::Open;
    let labels: Vec<Value> = pull.labels.iter().map(|name| json!({"name": name})).collect();
    let reviewers: Vec<Value> = pull.reviewers.iter().map(|login| user(login)).collect();
    let head_repo = format!("{}/{}", pull.head_owner, state.name);
    json!({
        "number": pull.number,
        "node_id": format!("PR_{}", pull.number),
        "state": if open { "open" } else { "closed" },
        "title": pull.title,
        "body": if pull.body.is_empty() { Value::Null } else { Value::from(pull.body.clone()) },
        "html_url": state.url(pull),
        "draft": pull.draft,
        "merged": pull.state == PullState::Merged,
        "merged_at": pull.merged_at,
        "closed_at": pull.closed_at,
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "merge_commit_sha": pull.merge_commit,
        "mergeable": open,
        "user": user(&pull.author),
        "labels": labels,
        "requested_reviewers": reviewers,
        "requested_teams": [],
        "head": {
            "ref": pull.head,
            "sha": pull.head_oid,
            "label": format!("{}:{}", pull.head_owner, pull.head),
            "repo": {"full_name": head_repo},
        },
        "base": {
            "ref": pull.base,
            "sha": state.store.branch(&pull.base),
            "label": format!("{}:{}", state.owner, pull.base),
            "repo": {"full_name": state.slug()},
        },
    })
}

fn repository_json(state: &State) -> Value {
    json!({
        "name": state.name,
        "full_name": state.slug(),
        "owner": user(&state.owner),
        "private": true,
        "fork": false,
        "archived": false,
        "default_branch": state.settings.default_branch,
        "html_url": format!("https://github.com/{}", state.slug()),
        "permissions": {"admin": false, "push": true, "pull": true},
        "delete_branch_on_merge": false,
    })
}

fn user(login: &str) -> Value {
    json!({"login": login, "type": "User", "node_id": format!("U_{login}")})
}

fn comment_json(comment: &IssueComment) -> Value {
    json!({"user": user(&comment.author), "body": comment.body, "created_at": comment.created_at})
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn not_found() -> Answer {
    Answer::message(404, "Not Found")
}

fn invalid(message: &str) -> Answer {
    let mut answer = Answer::message(422, "Validation Failed");
    answer.body["errors"] =
        json!([{"resource": "PullRequest", "code": "custom", "message": message}]);
    answer
}

/// One page of a list, and where the next one is.
fn page(items: Vec<Value>, (path, query): Query<'_>) -> Answer {
    let number = |key: &str| query.get(key).and_then(|value| value.parse::<usize>().ok());
    let size = number("per_page").unwrap_or(PAGE).clamp(1, 100);
    let current = number("page").unwrap_or(1).max(1);
    let more = items.len() > current * size;
    let shown: Vec<Value> = items.into_iter().skip((current - 1) * size).take(size).collect();
    let mut answer = Answer::new(200, Value::Array(shown));
    if more {
        let mut next = query.clone();
        next.insert("page".to_owned(), (current + 1).to_string());
        let next: Vec<String> =
            next.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let link = format!("<https://api.github.com{path}?{}>; rel=\"next\"", next.join("&"));
        answer.headers.push(("link".to_owned(), link));
    }
    answer
}

/// Undoes percent-encoding.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
