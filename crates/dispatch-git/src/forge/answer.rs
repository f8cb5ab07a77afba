//! Reading the forge's answers; nothing in them is believed without a look.

use std::collections::BTreeMap;

use dispatch_core::branch::BranchName;
use dispatch_core::object::CommitId;
use dispatch_core::record::RecordedProposal;
use dispatch_engine::ports::{ProposalState, PullRequest, ReviewSince};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::GitHubRepository;

/// The one question about all recorded pull requests.
pub(super) fn question(
    repository: &GitHubRepository,
    recorded: &[RecordedProposal],
) -> Option<String> {
    let mut asked = String::new();
    for number in recorded.iter().filter_map(|proposal| proposal.number) {
        asked.push_str(&format_args!(
            "p{number}: pullRequest(number: {number}) {{ number state merged mergedAt baseRefName headRefName \
             headRefOid isCrossRepository mergeCommit {{ oid }} reviews(last: 100) {{ nodes {{ author {{ login }} \
             state body submittedAt commit {{ oid }} }} }} }} "
        ).to_string());
    }
    let GitHubRepository { owner, name, .. } = repository;
    (!asked.is_empty()).then(|| {
        format!("query {{ repository(owner: \"{owner}\", name: \"{name}\") {{ {asked}}} }}")
    })
}

/// What became of each pull request, from the answer to [`question`]; `None` when the answer is none.
pub(super) fn proposals(
    answer: &Value,
    recorded: &[RecordedProposal],
) -> Option<BTreeMap<u64, ProposalState>> {
    let repository = answer.get("data")?.get("repository")?.as_object()?;
    let mut states = BTreeMap::new();
    for proposal in recorded {
        let Some(number) = proposal.number else { continue };
        let alias = format!("p{number}");
        let state = match repository.get(&alias) {
            Some(pull) if pull.is_object() => proposal_state(pull, proposal),
            _ if is_confirmed_missing(answer, &alias) => ProposalState::Absent,
            _ => ProposalState::Unknown("the forge's answer left it out".to_owned()),
        };
        states.insert(number, state);
    }
    Some(states)
}

fn is_confirmed_missing(answer: &Value, alias: &str) -> bool {
    let errors = answer.get("errors").and_then(Value::as_array).into_iter().flatten();
    errors.into_iter().any(|error| {
        let at = error["path"].as_array().and_then(|path| path.last()).and_then(Value::as_str);
        error["type"] == "NOT_FOUND" && at == Some(alias)
    })
}

fn proposal_state(pull: &Value, proposal: &RecordedProposal) -> ProposalState {
    let text = |key: &str| pull[key].as_str().unwrap_or_default();
    if pull["number"].as_u64() != proposal.number || pull["isCrossRepository"] != false {
        return ProposalState::Unknown("the forge answered about another pull request".to_owned());
    }
    match text("state") {
        "OPEN" => ProposalState::Open { changes_requested: changes_requested(pull, proposal) },
        "CLOSED" => ProposalState::Closed,
        "MERGED" if text("baseRefName") != proposal.base.as_str() => ProposalState::Unknown(
            format!("it was merged into {} instead of {}", text("baseRefName"), proposal.base),
        ),
        "MERGED" => match (CommitId::parse(text("headRefOid")), pull["mergedAt"].as_str()) {
            (Ok(head), Some(_)) => {
                let merge = pull["mergeCommit"]["oid"].as_str().unwrap_or_default();
                ProposalState::Merged { head, merge: CommitId::parse(merge).ok() }
            }
            (Ok(_) | Err(_), _) => {
                ProposalState::Unknown("it is merged without a time or a head".to_owned())
            }
        },
        other => ProposalState::Unknown(format!("its state is `{}`", other.escape_debug())),
    }
}

/// Reviews since our push that ask for changes and were not taken back by a later one of the same person. A review of the
/// very commit we pushed is one whatever the clocks say: the forge's counts whole seconds and may be behind ours.
fn changes_requested(pull: &Value, proposal: &RecordedProposal) -> Vec<ReviewSince> {
    let moment = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
    let pushed = moment(&proposal.pushed_at);
    let mut last: BTreeMap<&str, (OffsetDateTime, &Value)> = BTreeMap::new();
    for review in pull["reviews"]["nodes"].as_array().into_iter().flatten() {
        let author = review["author"]["login"].as_str().unwrap_or("ghost");
        let Some(at) = review["submittedAt"].as_str().and_then(moment) else { continue };
        let decides = matches!(
            review["state"].as_str(),
            Some("APPROVED" | "CHANGES_REQUESTED" | "DISMISSED")
        );
        if decides && last.get(author).is_none_or(|(before, _)| *before <= at) {
            last.insert(author, (at, review));
        }
    }
    let mut asked: Vec<_> = last
        .into_iter()
        .filter(|(_, (at, review))| {
            let of_our_push = review["commit"]["oid"] == proposal.commit.as_str();
            let later = pushed.is_none_or(|pushed| *at > pushed);
            review["state"] == "CHANGES_REQUESTED" && (of_our_push || later)
        })
        .collect();
    asked.sort_by_key(|(_, (at, _))| *at);
    let since = |(author, (_, review)): (&str, (OffsetDateTime, &Value))| ReviewSince {
        author: author.to_owned(),
        body: review["body"].as_str().unwrap_or_default().to_owned(),
        at: review["submittedAt"].as_str().unwrap_or_default().to_owned(),
    };
    asked.into_iter().map(since).collect()
}

/// Reads a pull request of this repository; `None` when it is not one of the right form.
pub(super) fn pull_request(answer: &Value, repository: &GitHubRepository) -> Option<PullRequest> {
    let number = answer["number"].as_u64()?;
    let url = answer["html_url"].as_str()?;
    if !repository.is_address_of(url, number) {
        return None;
    }
    let body = match &answer["body"] {
        Value::String(body) => Some(body.clone()),
        // The forge says so of an empty one.
        Value::Null if answer.get("body").is_some() => Some(String::new()),
        _ => None,
    };
    let base = BranchName::parse(answer["base"]["ref"].as_str()?).ok()?;
    Some(PullRequest { number, url: url.to_owned(), base, body })
}

/// Whether the pull request's head is a branch of this repository, and not of a fork.
pub(super) fn is_from_here(answer: &Value, repository: &GitHubRepository, branch: &str) -> bool {
    let slug = answer["head"]["repo"]["full_name"].as_str().unwrap_or_default();
    slug.eq_ignore_ascii_case(&repository.slug()) && answer["head"]["ref"] == branch
}

#[cfg(test)]
mod tests {
    use dispatch_core::branch::BranchName;
    use serde_json::json;

    use super::*;

    fn recorded() -> RecordedProposal {
        RecordedProposal {
            number: Some(7),
            url: None,
            branch: BranchName::parse("task/T-1").unwrap(),
            commit: CommitId::parse(&"a".repeat(40)).unwrap(),
            base: BranchName::parse("main").unwrap(),
            pushed_at: "2026-01-02T00:00:00.000Z".into(),
            settled: None,
            done_reverted: false,
        }
    }

    fn pull(change: Value) -> Value {
        let mut pull = json!({
            "number": 7, "state": "OPEN", "merged": false, "mergedAt": null, "baseRefName": "main",
            "headRefName": "task/T-1", "headRefOid": "a".repeat(40), "isCrossRepository": false,
            "mergeCommit": null, "reviews": {"nodes": []},
        });
        let Value::Object(change) = change else { panic!() };
        pull.as_object_mut().unwrap().extend(change);
        json!({"data": {"repository": {"p7": pull}}})
    }

    fn state(answer: &Value) -> Option<ProposalState> {
        proposals(answer, &[recorded()])?.remove(&7)
    }

    #[test]
    fn v3_merged_needs_a_time_the_expected_base_and_this_repository() {
        let merged = json!({"state": "MERGED", "mergedAt": "2026-01-03T00:00:00Z", "mergeCommit": {"oid": "b".repeat(40)}});
        assert!(matches!(
            state(&pull(merged.clone())),
            Some(ProposalState::Merged { merge: Some(_), .. })
        ));
        for spoiled in [
            json!({"mergedAt": null}),
            json!({"baseRefName": "other"}),
            json!({"isCrossRepository": true}),
            json!({"number": 8}),
            json!({"headRefOid": null}),
        ] {
            let mut answer = pull(merged.clone());
            let Value::Object(spoiled) = spoiled else { panic!() };
            answer["data"]["repository"]["p7"].as_object_mut().unwrap().extend(spoiled.clone());
            assert!(matches!(state(&answer), Some(ProposalState::Unknown(_))), "{spoiled:?}");
        }
    }

    #[test]
    fn v4_2_no_data_is_no_answer_and_only_a_confirmed_absence_is_one() {
        assert_eq!(state(&json!({"data": null})), None);
        assert_eq!(state(&json!({"data": {"repository": null}})), None);
        let missing = json!({"data": {"repository": {"p7": null}}});
        assert!(matches!(state(&missing), Some(ProposalState::Unknown(_))));
        let confirmed = json!({
            "data": {"repository": {"p7": null}},
            "errors": [{"type": "NOT_FOUND", "path": ["repository", "p7"], "message": "m"}],
        });
        assert_eq!(state(&confirmed), Some(ProposalState::Absent));
    }

    #[test]
    fn only_the_last_word_of_a_reviewer_since_our_push_counts() {
        let review = |who: &str, state: &str, day: u32| json!({"author": {"login": who}, "state": state, "body": format!("{who}{day}"), "submittedAt": format!("2026-01-0{day}T00:00:00Z")});
        let reviews = [
            review("early", "CHANGES_REQUESTED", 1),
            review("ann", "CHANGES_REQUESTED", 4),
            review("ann", "COMMENTED", 5),
            review("bob", "CHANGES_REQUESTED", 3),
            review("bob", "APPROVED", 4),
            review("cy", "CHANGES_REQUESTED", 3),
        ];
        let answer = pull(json!({"reviews": {"nodes": reviews}}));
        let Some(ProposalState::Open { changes_requested }) = state(&answer) else { panic!() };
        let bodies: Vec<_> = changes_requested.iter().map(|review| review.body.as_str()).collect();
        assert_eq!(bodies, ["cy3", "ann4"]);
    }

    #[test]
    fn a_review_of_what_we_pushed_counts_although_the_forge_s_clock_is_behind() {
        let review = |commit: &str| {
            json!({
                "author": {"login": "ann"}, "state": "CHANGES_REQUESTED", "body": "no",
                "submittedAt": "2026-01-01T23:59:59Z", "commit": {"oid": commit.repeat(40)},
            })
        };
        for (commit, count) in [("a", 1), ("b", 0)] {
            let answer = pull(json!({"reviews": {"nodes": [review(commit)]}}));
            let Some(ProposalState::Open { changes_requested }) = state(&answer) else { panic!() };
            assert_eq!(changes_requested.len(), count, "{commit}");
        }
    }
}
