mod prompt;
mod properties;

use camino::Utf8Path;
use dispatch_core::board::{Found, assemble};
use dispatch_core::board_config::BoardConfig;
use dispatch_core::names::{BlockReason, WaitReason};
use test_case::test_case;

use super::*;
use crate::permission::{LaneRules, LoadedFile, RuleSource};

/// A board file: front matter after the title, and the description.
fn file(id: &str, header: &str, description: &str) -> (String, Found) {
    let text = format!(
        "---\nid: {id}\ntitle: A task\n{header}---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n{description}\n<!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 It works\n<!-- AC:END -->\n"
    );
    (format!("tasks/{} - a.md", id.to_lowercase()), Found::Bytes(text.into_bytes()))
}

const READY: &str = "status: Queued\nlabels: ['tier:minor', 'lane:local', 'path:direct']\n";
const FILES: &str = "Files to touch:\n- src/a.rs\n\nTest command: cargo test -p a";

fn board(files: &[(String, Found)]) -> Board {
    let config = BoardConfig::parse("task_prefix: T");
    assemble(files.iter().map(|(path, found)| (Utf8Path::new(path.as_str()), found)), &config)
}

fn id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

/// A task that every guard lets through.
fn snapshot() -> GuardSnapshot {
    snapshot_of(READY, FILES, &[])
}

fn snapshot_of(header: &str, description: &str, others: &[(String, Found)]) -> GuardSnapshot {
    let mut files = vec![file("T-1", header, description)];
    files.extend(others.iter().cloned());
    let board = board(&files);
    assert!(board.complete, "{:?}", board.problems);
    let lane = |tiers: &[Tier]| LaneFacts {
        running: 0,
        max_parallel: 1,
        tiers: tiers.to_vec(),
        pause: None,
    };
    let branch = |name: &str| BranchName::parse(name).unwrap();
    GuardSnapshot {
        task: board.tasks[&id("T-1")].clone(),
        role: Role::Work,
        review_bytes: 0,
        attempts: AttemptCounts::default(),
        board,
        slots: SlotFacts { configured: 2, free: 1 },
        limits: Limits {
            attempts: 3,
            parent_branch: ParentBranch::Create,
            project_root: ".".to_owned(),
            lanes: BTreeMap::from([
                (Lane::Local, lane(&[Tier::Minor])),
                (Lane::Frontier, lane(Tier::ALL)),
            ]),
        },
        policy: PolicySnapshot::default(),
        surface: SurfaceSnapshot {
            rules: LaneRules { allow: vec!["Edit(**)".to_owned()], ..LaneRules::default() },
            worker_edit: Some("Bash(/x/worker-edit T-1:*)".to_owned()),
            ..SurfaceSnapshot::default()
        },
        remote: RemoteFacts {
            own: BranchOnRemote { name: branch("task/T-1"), seen: BranchPresence::Absent },
            parent: None,
            dispatched_before: false,
        },
        claims: Vec::new(),
    }
}

fn said(snapshot: &GuardSnapshot) -> (String, String) {
    let evaluation = snapshot.evaluate().unwrap();
    let number = evaluation.stopped_by().map_or("-", |(guard, _)| guard.number());
    let verdict = evaluation.verdict();
    (number.to_owned(), verdict.reason().unwrap_or(verdict.kind().as_str()).to_owned())
}

fn assert_said(snapshot: &GuardSnapshot, number: &str, reason: &str) {
    assert_eq!(said(snapshot), (number.to_owned(), reason.to_owned()));
}

fn comment(snapshot: &GuardSnapshot, language: Language) -> String {
    snapshot.evaluate().unwrap().printed(language).comment.unwrap()
}

#[test]
fn a_ready_task_is_launched() {
    assert_said(&snapshot(), "-", "launch");
    assert_eq!(snapshot().evaluate().unwrap().verdicts().len(), 9);
}

/// Guard 1, from the task's own text.
#[test_case("status: Queued\nlabels: ['lane:local', 'path:direct']\n", FILES, "missing-triage"; "no tier")]
#[test_case("status: Queued\n", FILES, "missing-triage"; "no labels")]
#[test_case("status: Queued\nlabels: ['tier:minor', 'tier:medium', 'lane:local', 'path:direct']\n", FILES, "conflicting-triage"; "two tiers")]
#[test_case("status: Queued\nlabels: ['tier:huge', 'lane:local', 'path:direct']\n", FILES, "conflicting-triage"; "an unknown tier")]
#[test_case("status: Queued\nlabels: ['tier:huge', 'path:direct']\n", FILES, "missing-triage"; "missing comes before conflicting")]
#[test_case(READY, "Files to touch:\n- src/a.rs", "missing-test-command"; "no test command")]
#[test_case(READY, "Files to touch:\n- src/a.rs\n\nTest command: cargo test\nTest command: pytest", "invalid-test-command"; "two test commands")]
#[test_case(READY, "Files to touch:\n- src/a.rs\n\nTest command: cargo test; id", "invalid-test-command"; "a shell in the test command")]
#[test_case(READY, "Test command: cargo test", "missing-files"; "no files on the local lane")]
#[test_case(READY, "Files to touch:\n- ../a.rs\n\nTest command: cargo test", "invalid-files"; "a file outside")]
#[test_case(READY, "Files to touch:\n- /etc/passwd\n\nTest command: cargo test", "invalid-files"; "an absolute file")]
fn guard_1_blocks_an_incomplete_task(header: &str, description: &str, reason: &str) {
    assert_said(&snapshot_of(header, description, &[]), "1", reason);
}

#[test]
fn guard_1_needs_a_criterion_and_a_prompt_that_fits() {
    let mut bare = snapshot();
    bare.task.acceptance.clear();
    assert_said(&bare, "1", "missing-acceptance-criteria");
    let mut long = snapshot();
    long.review_bytes = MAX_PROMPT_BYTES - task_bytes(&long.task);
    assert_said(&long, "-", "launch");
    long.review_bytes += 1;
    assert_said(&long, "1", "prompt-too-large");
}

#[test]
fn guard_1_does_not_ask_the_frontier_lane_for_files() {
    let header = READY.replace("lane:local", "lane:frontier");
    assert_said(&snapshot_of(&header, "Test command: cargo test", &[]), "-", "launch");
}

/// D4.1.
#[test]
fn guard_1_asks_a_close_attempt_for_neither_files_nor_test_command() {
    let mut parent = snapshot_of(READY, "Nothing declared.", &[]);
    parent.role = Role::Close;
    assert_said(&parent, "-", "launch");
    let mut declared = snapshot_of(READY, "Test command: rm -rf x", &[]);
    declared.role = Role::Close;
    assert_said(&declared, "1", "invalid-test-command");
}

/// D4.1, B2.5: what a parent has to declare depends on its subtasks.
#[test]
fn guard_1_concludes_nothing_about_a_parent_on_an_incomplete_board() {
    let mut parent = snapshot_of(READY, "Branch: task/T-1", &[]);
    parent.task.children = vec![id("T-1.1")];
    assert_said(&parent, "1", "missing-test-command");
    parent.board.complete = false;
    assert_said(&parent, "1", "board-incomplete");
}

/// K3: everything that is wrong is told at once, each with its value and the next step.
#[test]
fn guard_1_tells_everything_at_once() {
    let wrong = snapshot_of(
        "status: Queued\nlabels: ['tier:huge', 'path:direct']\n",
        "Files to touch:\n- a\\b`c",
        &[],
    );
    insta::assert_snapshot!(comment(&wrong, Language::En), @r"
    The label `lane:` is missing: add one of local, frontier, then move the task to Queued.
    The labels tier:huge do not give one `tier`: keep one of minor, medium, complex, then move the task to Queued.
    The task names no test command: add a line `Test command: <command>` to its description, then move it to Queued.
    The declared file `a\b'c` is not a path inside the repository (it holds a backslash): correct it, then move the task to Queued.
    ");
}

#[test]
fn guard_1_names_the_word_and_the_shape_in_both_languages() {
    let wrong = snapshot_of(READY, "Files to touch:\n- src/a.rs\n\nTest command: mix tset", &[]);
    insta::assert_snapshot!(comment(&wrong, Language::En), @"The test command `mix tset` is not allowed: 'tset' is not allowed here; the nearest allowed shape is 'mix test [{path}...]'. Write one of the allowed shapes, or add a shape to `testCommands` of the configuration, then move the task to Queued.");
    assert!(comment(&wrong, Language::Es).starts_with("El comando de prueba `mix tset`"));
}

fn loads(snapshot: &mut GuardSnapshot, rules: &[&str]) {
    let allow = rules.iter().map(ToString::to_string).collect();
    let file = LoadedFile { source: RuleSource::User, file: "settings.json".to_owned(), allow };
    snapshot.surface.loaded = vec![file];
}

/// Guard 1b.
#[test_case(&["Bash(gh:*)"], "-", "launch"; "nothing in common is denied")]
#[test_case(&["Bash(cargo test -p a --lib)"], "-", "launch"; "part of a grant is kept")]
#[test_case(&["Bash(cargo:*)"], "1b", "permission-conflict"; "wider than the test command")]
#[test_case(&["Edit(//x/**)"], "1b", "permission-conflict"; "not decidable beside the lane")]
fn guard_1b_judges_loaded_rules(rules: &[&str], number: &str, reason: &str) {
    let mut snapshot = snapshot();
    loads(&mut snapshot, rules);
    assert_said(&snapshot, number, reason);
}

/// Guard 1b: the task is blocked for its own rule only; the lane's faults wait.
#[test]
fn guard_1b_blocks_for_the_task_and_waits_for_the_lane() {
    let mut task = snapshot();
    loads(&mut task, &["Bash(cargo:*)"]);
    assert!(matches!(
        task.evaluate().unwrap().verdict(),
        Verdict::Block(BlockReason::PermissionConflict, _)
    ));
    let mut lane = snapshot();
    loads(&mut lane, &["Bash(cargo:*)", "Edit(//x/**)"]);
    assert!(matches!(
        lane.evaluate().unwrap().verdict(),
        Verdict::Wait(WaitReason::PermissionConflict, _)
    ));
    let mut board_command = snapshot();
    loads(&mut board_command, &["Bash(/x/worker-edit:*)"]);
    assert!(matches!(
        board_command.evaluate().unwrap().verdict(),
        Verdict::Wait(WaitReason::PermissionConflict, _)
    ));
    let mut unreadable = snapshot();
    unreadable.surface.unreadable = Some("local.json: not JSON".to_owned());
    assert_said(&unreadable, "1b", "settings-unreadable");
}

/// Guard 2.
#[test_case("tier:complex", "lane:local", "2", "complex-on-local")]
#[test_case("tier:medium", "lane:local", "2", "tier-not-allowed-on-lane")]
#[test_case("tier:complex", "lane:frontier", "-", "launch")]
fn guard_2_holds_lanes_to_their_tiers(tier: &str, lane: &str, number: &str, reason: &str) {
    let header = format!("status: Queued\nlabels: ['{tier}', '{lane}', 'path:direct']\n");
    assert_said(&snapshot_of(&header, FILES, &[]), number, reason);
}

/// Guard 3.
#[test_case("lane:local", ".github/workflows/ci.yml", "3", "forbidden-path"; "ci on the local lane")]
#[test_case("lane:frontier", ".github/workflows/ci.yml", "-", "launch"; "that very ci file on the frontier lane")]
#[test_case("lane:frontier", ".github/workflows/", "3", "forbidden-path"; "the ci folder")]
#[test_case("lane:local", "Cargo.toml", "3", "forbidden-path"; "a manifest on the local lane")]
#[test_case("lane:frontier", "Cargo.toml", "-", "launch"; "a manifest on the frontier lane")]
#[test_case("lane:frontier", "backlog/tasks/x.md", "3", "forbidden-path"; "the board")]
fn guard_3_keeps_forbidden_paths(lane: &str, path: &str, number: &str, reason: &str) {
    let header = READY.replace("lane:local", lane);
    let description = format!("Files to touch:\n- {path}\n\nTest command: cargo test");
    let mut snapshot = snapshot_of(&header, &description, &[]);
    snapshot.policy.places.board_dir = Some("backlog".to_owned());
    assert_said(&snapshot, number, reason);
}

/// B1.3: declared files are relative to the project root.
#[test]
fn guard_3_sees_the_path_from_the_top_of_the_repository() {
    let mut snapshot = snapshot();
    snapshot.limits.project_root = "web/auth".to_owned();
    assert_said(&snapshot, "3", "forbidden-path");
    insta::assert_snapshot!(comment(&snapshot, Language::En), @"The declared file `web/auth/src/a.rs` falls under `**/auth`, which the local lane may not touch: take it out or set `lane:frontier`, then move the task to Queued.");
}

fn with_dependency(header: &str) -> GuardSnapshot {
    let own = format!("{READY}dependencies: [T-2]\n");
    snapshot_of(&own, FILES, &[file("T-2", header, "")])
}

/// Guard 4.
#[test]
fn guard_4_waits_for_dependencies_and_blocks_on_impossible_ones() {
    assert_said(&with_dependency("status: Done\n"), "-", "launch");
    assert_said(&with_dependency("status: In Progress\n"), "4", "dependency-not-done");
    let mut absent = with_dependency("status: Done\n");
    absent.board.tasks.remove(&id("T-2"));
    assert_said(&absent, "4", "unknown-dependency");
    absent.board.complete = false;
    assert_said(&absent, "4", "board-incomplete");
    assert_said(&with_dependency("status: Queued\ndependencies: [T-1]\n"), "4", "dependency-cycle");
}

fn subtask(parent_labels: &str) -> GuardSnapshot {
    let own = format!("{READY}parent_task_id: T-9\n");
    let parent = format!("status: To Do\nlabels: [{parent_labels}]\n");
    let mut snapshot = snapshot_of(&own, FILES, &[file("T-9", &parent, "")]);
    snapshot.remote.parent = Some(BranchOnRemote {
        name: BranchName::parse("task/T-9").unwrap(),
        seen: BranchPresence::Present,
    });
    snapshot
}

/// Guard 4b.
#[test]
fn guard_4b_waits_for_the_parents_branch() {
    let seen = |seen, policy| {
        let mut snapshot = subtask("'tier:complex'");
        snapshot.remote.parent.as_mut().unwrap().seen = seen;
        snapshot.limits.parent_branch = policy;
        said(&snapshot).1
    };
    assert_eq!(seen(BranchPresence::Present, ParentBranch::Require), "launch");
    assert_eq!(seen(BranchPresence::Absent, ParentBranch::Create), "launch");
    assert_eq!(seen(BranchPresence::Absent, ParentBranch::Require), "parent-branch-missing");
    assert_eq!(seen(BranchPresence::Unknown, ParentBranch::Create), "remote-unknown");
    let mut ordinary = subtask("'tier:minor'");
    ordinary.remote.parent.as_mut().unwrap().seen = BranchPresence::Unknown;
    assert_said(&ordinary, "-", "launch");
}

#[test]
fn guard_4b_concludes_nothing_from_an_incomplete_board_or_a_silent_remote() {
    let mut lost = subtask("'tier:complex'");
    lost.board.tasks.remove(&id("T-9"));
    lost.board.complete = false;
    assert_said(&lost, "4b", "board-incomplete");
    let carrier = "status: To Do\nlabels: ['tier:complex']\nonStatusChange: touch x\n";
    let mut set_aside = subtask("'tier:complex'");
    let own = format!("{READY}parent_task_id: T-9\n");
    set_aside.board = board(&[file("T-1", &own, FILES), file("T-9", carrier, "")]);
    assert!(set_aside.board.complete);
    assert_said(&set_aside, "4b", "board-incomplete");
    let mut unasked = subtask("'tier:complex'");
    unasked.remote.parent = None;
    assert_said(&unasked, "4b", "remote-unknown");
    assert!(comment(&unasked, Language::En).contains("T-9"), "the branch it would be is named");
    let mut before = snapshot();
    before.remote.own.seen = BranchPresence::Unknown;
    assert_said(&before, "-", "launch");
    before.remote.dispatched_before = true;
    assert_said(&before, "4b", "remote-unknown");
    before.remote.own.seen = BranchPresence::Absent;
    assert_said(&before, "-", "launch");
}

/// L8.7: what is done is landed, a group is what the topmost parent holds, and an incomplete board says nothing.
#[test]
fn claims_of_a_board_are_linted_among_the_tasks_that_are_not_done() {
    let declaring = |path: &str| format!("Files to touch:\n- {path}");
    let sub = |parent: &str| format!("status: To Do\nparent_task_id: {parent}\n");
    let mut board = board(&[
        file("T-1", "status: To Do\n", &declaring("src/a.rs")),
        file("T-2", "status: Done\n", &declaring("src/")),
        file("T-3", "status: To Do\ndependencies: [T-1]\n", &declaring("src/a.rs")),
        file("T-4", "status: In Progress\n", &declaring("src/a.test.rs")),
        file("T-5", "status: To Do\n", ""),
        file("T-6", &sub("T-5"), &declaring("lib/x (shared)")),
        file("T-7", &sub("T-6"), &declaring("docs/")),
        file("T-8", &sub("T-5"), &declaring("lib/\n- docs/a")),
    ]);
    let lint = |board: &Board, check| {
        let found = lint_board(board, ".", &TestSiblings::default(), check)?;
        let shown = found.iter().map(|f| format!("{} {} {}", f.rule.as_str(), f.task, f.other));
        Some(shown.collect::<Vec<_>>())
    };
    assert_eq!(
        lint(&board, ClaimCheck::Advice).unwrap(),
        ["claim-owns T-1 T-4", "claim-owns T-3 T-4", "claim-shared T-6 T-8", "claim-owns T-7 T-8"]
    );
    assert_eq!(
        lint(&board, ClaimCheck::Strict).unwrap(),
        [
            "claim-owns T-1 T-3",
            "claim-owns T-1 T-4",
            "claim-owns T-3 T-4",
            "claim-shared T-6 T-8",
            "claim-owns T-7 T-8"
        ]
    );
    board.complete = false;
    assert_eq!(lint(&board, ClaimCheck::Advice), None);
}

/// Guard 5.
#[test_case(2, 4, "-", "launch")]
#[test_case(3, 0, "5", "attempts-exhausted")]
#[test_case(0, 5, "5", "too-many-faults")]
fn guard_5_counts_attempts(counted: u32, uncounted: u32, number: &str, reason: &str) {
    let mut snapshot = snapshot();
    snapshot.attempts = AttemptCounts { counted, uncounted, excused: 0 };
    assert_said(&snapshot, number, reason);
}

/// Guard 6, D11.3.
#[test]
fn guard_6_needs_a_running_lane_with_room_and_a_slot() {
    let mut full = snapshot();
    full.limits.lanes.get_mut(&Lane::Local).unwrap().running = 1;
    assert_said(&full, "6", "lane-at-capacity");
    let mut off = snapshot();
    off.limits.lanes.get_mut(&Lane::Local).unwrap().max_parallel = 0;
    assert_said(&off, "6", "lane-at-capacity");
    assert!(comment(&off, Language::En).contains("`lanes.local.maxParallel` is 0"));
    let mut no_slot = snapshot();
    no_slot.slots.free = 0;
    assert_said(&no_slot, "6", "no-free-slot");
    let mut paused = full;
    paused.limits.lanes.get_mut(&Lane::Local).unwrap().pause =
        Some(LanePause { cause: PauseCause::UsageLimit, detail: "until 14:00.".to_owned() });
    assert_said(&paused, "6", "lane-paused");
    insta::assert_snapshot!(comment(&paused, Language::Es), @"El carril local está en pausa (`usage-limit`): until 14:00. La primera pasada posterior sigue con la tarea, o una tras `dispatch resume --lane local`.");
}

fn with_busy(header: &str, description: &str) -> GuardSnapshot {
    let mut snapshot = snapshot_of(READY, FILES, &[file("T-2", header, description)]);
    snapshot.claims = vec![id("T-2")];
    snapshot
}

/// Guard 7.
#[test]
fn guard_7_keeps_tasks_with_common_files_apart() {
    let busy = "status: In Progress\n";
    assert_said(&with_busy(busy, "Files to touch:\n- src/b.rs"), "-", "launch");
    let overlapping = with_busy(busy, "Files to touch:\n- src/ (shared)");
    assert_said(&overlapping, "7", "claims-overlap");
    insta::assert_snapshot!(comment(&overlapping, Language::En), @"Its `src/a.rs` (owns) overlaps `src/` (shared) of T-2, which is being worked on; a later pass looks at it again. Add a dependency or split the files to order the two.");
    let ordered =
        with_busy("status: In Progress\ndependencies: [T-1]\n", "Files to touch:\n- src/");
    assert_said(&ordered, "-", "launch");
    let mut closing = overlapping;
    closing.role = Role::Close;
    assert_said(&closing, "-", "launch");
}

#[test]
fn guard_7_concludes_nothing_from_an_incomplete_board() {
    let mut overlapping = with_busy("status: In Progress\n", "Files to touch:\n- src/");
    overlapping.board.complete = false;
    assert_said(&overlapping, "7", "board-incomplete");
    let mut unseen = snapshot();
    unseen.claims = vec![id("T-7")];
    assert_said(&unseen, "7", "board-incomplete");
}

/// D4: the guards by number and name, in the order they are asked.
#[test]
fn d4_guards_have_their_numbers_and_names() {
    let named: Vec<String> =
        Guard::ALL.map(|guard| format!("{} {}", guard.number(), guard.name())).to_vec();
    assert_eq!(
        named,
        [
            "1 readiness",
            "1b permissions",
            "2 tier",
            "3 paths",
            "4 dependencies",
            "4b parent-branch",
            "5 attempts",
            "6 capacity",
            "7 claims"
        ]
    );
}

/// D4: the first that does not launch decides, and all are kept.
#[test]
fn d4_the_first_guard_in_order_decides() {
    let mut many = with_dependency("status: In Progress\n");
    many.slots.free = 0;
    many.attempts.counted = 3;
    let evaluation = many.evaluate().unwrap();
    let stopping: Vec<&str> = evaluation
        .verdicts()
        .iter()
        .filter(|(_, verdict)| !verdict.launches())
        .map(|(guard, _)| guard.number())
        .collect();
    assert_eq!(stopping, ["4", "5", "6"]);
    assert_eq!(evaluation.stopped_by().unwrap().0, Guard::Dependencies);
    let printed = evaluation.printed_all(Language::En);
    assert_eq!(printed.iter().map(|one| one.guard).collect::<Vec<_>>(), Guard::ALL.map(Some));
    assert_eq!(printed[4], evaluation.printed(Language::En));
    assert_eq!(printed[0].verdict, VerdictKind::Launch);
}

/// K6: what `explain --json` prints evaluates to the same.
#[test]
fn k6_a_printed_input_evaluates_to_the_same() {
    for snapshot in [snapshot(), with_busy("status: In Progress\n", "Files to touch:\n- src/")] {
        let text = serde_json::to_string(&snapshot).unwrap();
        let read: GuardSnapshot = serde_json::from_str(&text).unwrap();
        assert_eq!(read, snapshot);
        assert_eq!(read.evaluate().unwrap(), snapshot.evaluate().unwrap());
    }
    let printed = snapshot().evaluate().unwrap().printed(Language::En);
    insta::assert_snapshot!(serde_json::to_string(&printed).unwrap(), @r#"{"verdict":"launch","guard":null,"reason":null,"comment":null,"grounds":{}}"#);
}

#[test]
fn every_sentence_has_both_languages_with_the_same_values() {
    assert_eq!(GuardMessage::faults(), []);
}
