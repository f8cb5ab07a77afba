//! How long it takes to relate two permission rules, and to ask every guard about a task.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_macros,
    reason = "a benchmark prints its figures"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run ends")]
#![expect(clippy::disallowed_types, reason = "a benchmark looks at a clock")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads recorded rules")]

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use dispatch_core::attempt::AttemptCounts;
use dispatch_core::board::{Board, Found, assemble};
use dispatch_core::board_config::BoardConfig;
use dispatch_core::branch::BranchName;
use dispatch_core::config::ParentBranch;
use dispatch_core::id::TaskId;
use dispatch_core::task::Task;
use dispatch_core::triage::{Lane, Tier};
use dispatch_guards::claims::TestSiblings;
use dispatch_guards::guards::{
    BranchOnRemote, BranchPresence, BusyTasks, GuardInput, LaneFacts, LaneRulesView, Limits,
    PolicyView, RemoteFacts, Role, SlotFacts, evaluate, task_graph,
};
use dispatch_guards::paths::{PathLists, PathPolicy, PolicyPlaces};
use dispatch_guards::permission::{LaneRules, LaneSurface, LoadedFile, Rule, RuleSource, relation};
use dispatch_guards::test_command::TestShapes;
use serde_json::Value;

const CASES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/oracles/claude-permissions.json");
const TASKS: usize = 1000;
const BUSY: usize = 4;
const LOADED: usize = 200;
const ROUNDS: usize = 7;

fn main() {
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(CASES).unwrap()).unwrap();
    let mut texts = BTreeSet::new();
    collect(&recorded["cases"], &mut texts);
    let rules: Vec<Rule> = texts.iter().map(|text| Rule::parse(text)).collect();
    relations("all", &rules);
    for tool in ["Bash", "Edit", "Read"] {
        let of_tool =
            rules.iter().filter(|rule| rule.tool() == Some(tool) && rule.spec().is_some());
        relations(tool, &of_tool.cloned().collect::<Vec<_>>());
    }
    evaluations();
}

/// Every rule in a list of the recorded cases, settings files included.
fn collect(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("allow" | "deny" | "ask", Value::Array(rules)) => {
                        texts.extend(rules.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    (_, value) => collect(value, texts),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The time of each pair of rules, a pair at a time.
fn relations(name: &str, rules: &[Rule]) {
    let mut times = Vec::new();
    for a in rules {
        for b in rules {
            let start = Instant::now();
            black_box(relation(black_box(a), black_box(b)));
            times.push(start.elapsed());
        }
    }
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    println!(
        "guards: relation of two rules, {name}: {} rules, {} pairs, median {:?}, 90th percentile {:?}, slowest {:?}",
        rules.len(),
        times.len(),
        at(50),
        at(90),
        at(100)
    );
}

fn file(number: usize) -> (String, Found) {
    let dependencies = match number % 7 {
        0 if number > 10 => format!("dependencies: [T-{}, T-{}]\n", number - 3, number - 10),
        _ => String::new(),
    };
    let status = if number < BUSY { "In Progress" } else { "Queued" };
    let lane = if number.is_multiple_of(2) { "local" } else { "frontier" };
    let text = format!(
        "---\nid: T-{number}\ntitle: Task {number}\nstatus: {status}\nlabels: ['tier:minor', 'lane:{lane}', 'path:direct']\n{dependencies}---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nWhat is to be done, in a sentence or two.\n\nFiles to touch:\n- src/module{number}/lib.rs\n- src/module{number}/parse.rs\n- docs/module{number}.md\n\nTest command: cargo test -p module{number} --lib\n<!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 It works\n<!-- AC:END -->\n"
    );
    (format!("tasks/t-{number} - a.md"), Found::Bytes(text.into_bytes()))
}

fn board() -> Board {
    let files: Vec<(String, Found)> = (0..TASKS).map(file).collect();
    let config = BoardConfig::parse("task_prefix: T");
    let board =
        assemble(files.iter().map(|(path, found)| (Utf8Path::new(path.as_str()), found)), &config);
    assert!(board.complete && board.tasks.len() == TASKS, "{:?}", board.problems);
    board
}

/// A lane that grants a dozen rules, and a person's settings with two hundred others.
fn surface() -> LaneSurface {
    let granted = [
        "Edit(**)",
        "Read(**)",
        "Bash(git status:*)",
        "Bash(git diff:*)",
        "Bash(cargo check:*)",
        "Bash(cargo fmt:*)",
        "Bash(ls:*)",
        "Bash(pnpm * lint)",
        "Bash(pnpm * lint *)",
        "WebSearch",
    ];
    let lane = LaneRules {
        allow: granted.map(str::to_owned).to_vec(),
        slots_root: Some("/home/person/code/slots".to_owned()),
        ..LaneRules::default()
    };
    let shapes = [
        "Bash(tool{} run:*)",
        "Bash(npx tool{} *)",
        "Bash(./scripts/{}.sh:*)",
        "mcp__server{}__read",
    ];
    let allow = (0..LOADED)
        .map(|number| shapes[number % shapes.len()].replace("{}", &number.to_string()))
        .collect();
    let file = LoadedFile { source: RuleSource::User, file: "settings.json".to_owned(), allow };
    LaneSurface::new(&lane, &[file])
}

fn evaluations() {
    let board = board();
    let siblings = TestSiblings::default();
    let shapes = TestShapes::builtin();
    let paths = PathPolicy::new(&PathLists::default(), &PolicyPlaces::default()).unwrap();
    let start = Instant::now();
    let surface = surface();
    let surfaces: BTreeMap<Lane, LaneRulesView<'_>> =
        Lane::ALL.iter().map(|lane| (*lane, Ok(&surface))).collect();
    let graph = task_graph(&board);
    let busy_ids = (0..BUSY).map(|number| TaskId::parse(&format!("T-{number}")).unwrap());
    let busy = BusyTasks::collect(&board, busy_ids, ".", &siblings);
    let once = start.elapsed();
    let lane = LaneFacts { running: 0, max_parallel: 4, tiers: Tier::ALL.to_vec(), pause: None };
    let limits = Limits {
        attempts: 3,
        parent_branch: ParentBranch::Create,
        project_root: ".".to_owned(),
        lanes: Lane::ALL.iter().map(|name| (*name, lane.clone())).collect(),
    };
    let remote = RemoteFacts {
        own: BranchOnRemote {
            name: BranchName::parse("task/T-1").unwrap(),
            seen: BranchPresence::Absent,
        },
        parent: None,
        dispatched_before: false,
    };
    let input = |task| GuardInput {
        task,
        role: Role::Work,
        review_bytes: 0,
        attempts: AttemptCounts::default(),
        board: &board,
        slots: SlotFacts { configured: 4, free: 4 },
        limits: &limits,
        policy: PolicyView { test_shapes: &shapes, paths: &paths, siblings: &siblings },
        surfaces: &surfaces,
        worker_edit_rule: Some("Bash(/opt/dispatch/worker-edit T-1:*)"),
        remote: &remote,
        busy: &busy,
        graph: &graph,
    };
    let queued: Vec<&Task> = board.tasks.values().skip(BUSY).collect();
    let launched = queued.iter().filter(|task| evaluate(&input(task)).verdict().launches()).count();
    assert!(launched > TASKS / 2, "most of the tasks pass every guard: {launched}");
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| rate(&queued, |task| drop(black_box(evaluate(&input(task))))))
        .collect();
    rates.sort_unstable_by(f64::total_cmp);
    println!(
        "guards: every guard asked about a task, {TASKS} tasks on the board, {LOADED} loaded rules: {:.0} evaluations a second (median of {ROUNDS}; target 100,000), after {once:?} once a pass",
        rates[ROUNDS / 2]
    );
}

/// How many tasks a second of this thread's own time on a core, over at least half a second.
fn rate<'a>(tasks: &[&'a Task], ask: impl Fn(&'a Task)) -> f64 {
    let mut asked = 0_u32;
    let start = on_core();
    while on_core().saturating_sub(start) < Duration::from_millis(500) {
        for task in tasks {
            ask(black_box(task));
            asked += 1;
        }
    }
    f64::from(asked) / on_core().saturating_sub(start).as_secs_f64()
}

/// The time this thread has spent on a core, where the system tells; a busy machine does not count then.
fn on_core() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|text| text.split(' ').next()?.parse().ok());
    ns.map_or_else(|| START.elapsed(), Duration::from_nanos)
}
