//! Decisions of the guards crate.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use dispatch_core::config::{Found, Location, load};
use dispatch_core::path::TreePath;
use dispatch_core::triage::Lane;
use dispatch_guards::claims::{
    Claim, ClaimCheck, Claims, OpenTask, TaskGraph, TestSiblings, lint_claims,
};
use dispatch_guards::paths::{PathLists, PathPolicy, PolicyPlaces};
use dispatch_guards::scope::{
    Change, ChangeOrigin, ChangeStatus, Content, EmptyChange, ScopeRules, classify_scope,
};
use dispatch_guards::test_command::{TestShapes, resolve_test_command};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{fields, printed};
use crate::args::GlobalArgs;
use crate::wire::Ground;

/// `{text}` → `{argv}` or `{refused, word, nearest}`.
pub(super) fn test_command(input: Value, shapes: &TestShapes) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        text: String,
    }
    let input: Input = fields(input)?;
    match resolve_test_command(&input.text, shapes) {
        Ok(command) => printed(&command),
        Err(refusal) => printed(&refusal),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScopeInput {
    lane: Option<Lane>,
    #[serde(default)]
    claims: Vec<String>,
    changes: Vec<ChangeInput>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChangeInput {
    path: String,
    status: String,
    mode: Option<String>,
    old_path: Option<String>,
}

/// `{lane, claims, changes}` → the class of each file, and the verdict.
///
/// Sizes, contents and link targets are not part of the input: a link is judged as one whose target is not known.
pub(super) fn scope(input: Value) -> Result<Value, String> {
    let input: ScopeInput = fields(input)?;
    let claims =
        Claims::new(input.claims.iter().map(|entry| Claim::parse(entry)), &TestSiblings::new([]));
    let places = PolicyPlaces { board_dir: Some("backlog".to_owned()), files: Vec::new() };
    let policy =
        PathPolicy::new(&PathLists::default(), &places).map_err(|error| error.to_string())?;
    let mut changes = Vec::new();
    for change in input.changes {
        changes.extend(change.changes()?);
    }
    let rules = ScopeRules {
        lane: input.lane,
        claims: &claims,
        policy: &policy,
        max_file_bytes: dispatch_core::config::DEFAULT_MAX_FILE_BYTES,
        empty: EmptyChange::Fails,
    };
    let report = classify_scope(&changes, &rules);
    let files: Vec<Value> = report
        .files
        .iter()
        .map(|file| json!({ "path": file.path.to_string(), "class": file.class.name() }))
        .collect();
    Ok(json!({ "files": files, "verdict": report.verdict }))
}

impl ChangeInput {
    /// A rename counts as both of its names (C3.2).
    fn changes(self) -> Result<Vec<Change>, String> {
        let path = TreePath::new(self.path);
        let status = match self.status.to_ascii_lowercase().as_str() {
            "a" | "added" | "r" | "renamed" | "c" | "copied" => ChangeStatus::Added,
            "m" | "modified" => ChangeStatus::Modified,
            "d" | "deleted" => ChangeStatus::Deleted,
            "t" | "type-changed" => ChangeStatus::TypeChanged,
            other => {
                return Err(format!(
                    "`changes.status`: `{other}` is none of added, modified, deleted, renamed, type-changed"
                ));
            }
        };
        let content = match (status, self.mode.as_deref()) {
            (ChangeStatus::Deleted, _) => Content::Gone,
            (_, Some("120000")) => Content::Link { target: None },
            (_, Some("160000")) => Content::Submodule,
            (_, Some("040000")) => Content::NestedRepository,
            (ChangeStatus::Added | ChangeStatus::Modified | ChangeStatus::TypeChanged, _) => {
                Content::File { bytes: 0, holds_credential: false }
            }
        };
        let moved = matches!(self.status.to_ascii_lowercase().as_str(), "r" | "renamed");
        let mut changes = vec![Change { path, status, content, origin: ChangeOrigin::Ours }];
        if let Some(old) = self.old_path.filter(|_| moved) {
            let (status, content) = (ChangeStatus::Deleted, Content::Gone);
            changes.push(Change {
                path: TreePath::new(old),
                status,
                content,
                origin: ChangeOrigin::Ours,
            });
        }
        Ok(changes)
    }
}

/// `{a, b, edges}` → `{overlap, ordered}`: two tasks' claims, and the dependencies between tasks as `[from, to]` pairs in
/// which the two are called `a` and `b`.
///
/// `{tasks, edges?, strict?}` → `{findings}`: the claims of any number of tasks that are not done.
pub(super) fn claims(input: Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        a: Vec<String>,
        b: Vec<String>,
        #[serde(default)]
        edges: Vec<(String, String)>,
    }
    if input.get("tasks").is_some() {
        return claims_of_tasks(input);
    }
    let input: Input = fields(input)?;
    let graph = TaskGraph { depends_on: dependencies(input.edges), ..TaskGraph::default() };
    Ok(json!({
        "overlap": claims_of(&input.a).overlap(&claims_of(&input.b)),
        "ordered": graph.ordered(&"a".to_owned(), &"b".to_owned()),
    }))
}

fn claims_of_tasks(input: Value) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        tasks: Vec<TaskInput>,
        #[serde(default)]
        edges: Vec<(String, String)>,
        #[serde(default)]
        strict: bool,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct TaskInput {
        id: String,
        claims: Vec<String>,
        parent: Option<String>,
        epic: Option<String>,
    }
    let input: Input = fields(input)?;
    let mut graph = TaskGraph { depends_on: dependencies(input.edges), ..TaskGraph::default() };
    let mut open = BTreeMap::new();
    for task in input.tasks {
        let group = task.epic.or_else(|| task.parent.clone()).unwrap_or_else(|| task.id.clone());
        graph.parent.extend(task.parent.map(|parent| (task.id.clone(), parent)));
        open.insert(task.id, OpenTask { claims: claims_of(&task.claims), group });
    }
    let check = if input.strict { ClaimCheck::Strict } else { ClaimCheck::Advice };
    Ok(json!({ "findings": lint_claims(&open, &graph, check) }))
}

fn claims_of(entries: &[String]) -> Claims {
    Claims::new(entries.iter().map(|entry| Claim::parse(entry)), &TestSiblings::new([]))
}

fn dependencies(edges: Vec<(String, String)>) -> BTreeMap<String, BTreeSet<String>> {
    let mut depends_on: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in edges {
        depends_on.entry(from).or_default().insert(to);
    }
    depends_on
}

/// The shapes of test commands of the configuration that a pass would use here; where there is none, the built-in ones.
pub(super) fn shapes(global: &GlobalArgs) -> anyhow::Result<TestShapes> {
    let text = match &global.config {
        Some(file) => Some(
            std::fs::read_to_string(file).with_context(|| format!("could not read `{file}`"))?,
        ),
        // Outside of a repository with a board a decision is about the built-in ones.
        None => Ground::find(global)
            .ok()
            .map(|ground| ground.configuration_text())
            .transpose()?
            .flatten(),
    };
    let Some(text) = text else { return Ok(TestShapes::builtin()) };
    let location = Location { file: "lanes.json".into(), found: Found::Given, board_dir: None };
    let loaded = load(&text, &location).map_err(|rejected| {
        let lines: Vec<String> = rejected.errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("the configuration cannot be used: {}", lines.join("; "))
    })?;
    Ok(TestShapes::with(&loaded.config.test_commands)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c3_2_a_rename_counts_as_both_names() {
        let input = json!({ "lane": "local", "claims": ["src/new.rs"],
            "changes": [{ "path": "src/new.rs", "status": "R", "oldPath": "src/old.rs" }] });
        let answer = scope(input).unwrap();
        assert_eq!(answer["verdict"], "scope-check-failed");
        let out = json!({ "path": "src/old.rs", "class": "out-of-scope" });
        assert!(answer["files"].as_array().unwrap().contains(&out), "{answer}");
    }

    #[test]
    fn ordered_tasks_may_overlap() {
        let input = json!({ "a": ["src/"], "b": ["src/x.rs"], "edges": [["a", "c"], ["c", "b"]] });
        let answer = claims(input).unwrap();
        assert!(answer["overlap"].is_object() && answer["ordered"] == true, "{answer}");
    }

    #[test]
    fn any_number_of_tasks_may_be_linted() {
        let task = |id: &str, claim: &str, epic: &str| json!({ "id": id, "claims": [claim], "epic": epic });
        let tasks = json!([task("T-1", "src/", "e"), task("T-2", "src/a.rs (shared)", "f")]);
        let answer = claims(json!({ "tasks": tasks })).unwrap();
        assert_eq!(answer["findings"][0]["rule"], "claim-shared", "{answer}");
        assert_eq!(answer["findings"][0]["claims"][1]["path"], "src/a.rs", "{answer}");
        let strict = claims(json!({ "tasks": tasks, "strict": true })).unwrap();
        assert_eq!(strict["findings"], json!([]), "a share between two epics is not judged");
        let ordered = claims(json!({ "tasks": tasks, "edges": [["T-1", "T-2"]] })).unwrap();
        assert_eq!(ordered["findings"], json!([]));
    }

    #[test]
    fn an_unusable_input_names_the_field() {
        let error =
            test_command(json!({ "txt": "cargo test" }), &TestShapes::builtin()).unwrap_err();
        assert!(error.contains("txt"), "{error}");
    }
}
