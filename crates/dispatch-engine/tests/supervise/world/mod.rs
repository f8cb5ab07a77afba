//! A small world in memory: a board of one task, a repository, a slot, a scripted worker, and a clock that only moves
//! when somebody waits. It can die before any call, as a killed process does: from then on nothing has an effect.

mod agent;
mod git;
mod rest;
mod store;

use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::rc::Rc;

use camino::Utf8PathBuf;
use dispatch_core::attempt::{AttemptCounts, AttemptNumber};
use dispatch_core::branch::BranchName;
use dispatch_core::config::{Config, ConfinementMode, Found, LaneSettings, Location, load};
use dispatch_core::id::TaskId;
use dispatch_core::object::CommitId;
use dispatch_core::record::{Phase, Record, Request, SlotEntry, Waiting};
use dispatch_core::slot::SlotName;
use dispatch_core::status::Status;
use dispatch_core::task::{ChecklistItem, DeclaredFile, OneLine, Task};
use dispatch_core::triage::{Answer, ExecutionPath, Lane, Tier};
use dispatch_engine::hand_over::{HandOver, SeenBranch};
use dispatch_engine::ports::{
    AttemptFile, ExitMark, ForgeKind, LaneState, Ports, PullRequest, RemoteBranch, Review,
    TaskLock, Verdict,
};
use dispatch_engine::setup::{AgentSettings, Roots};
use dispatch_engine::supervise::{Context, End, Mode, supervise};

pub(crate) use git::Repository;

/// What a scripted worker does, in order; each takes a second of the clock.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Writes a file in the slot.
    Write(&'static str, &'static str),
    /// Writes so many files into this folder of the slot.
    WriteMany(&'static str, u32),
    /// Removes a file in the slot.
    Remove(&'static str),
    /// Says something on its stream, one line.
    Say(String),
    /// Puts a request into its mailbox.
    Mail(Vec<&'static str>),
    /// Takes this many seconds.
    Idle(u64),
    /// Ends with this status.
    Exit(i32),
    /// Is gone, nobody knows how.
    Vanish,
    /// A person edits the board.
    Person(fn(&mut Task)),
    /// A person takes the task from the board.
    Leave,
    /// The task's file becomes one that the board program would run.
    Plant(&'static str),
    /// A person switches the board's checkout to another branch.
    Switch(&'static str),
    /// Somebody asks the supervisor for something.
    Ask(Request),
}

/// Something that happens in the middle.
pub(crate) type Happening = fn(&mut State);

/// What git says the diff of the work is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DiffOf {
    /// What the tree holds.
    Tree,
    /// Nothing, although files changed.
    Nothing,
    /// No answer.
    Failing,
}

/// What everybody sees.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch a test turns")]
pub(crate) struct State {
    pub(crate) task: Option<Task>,
    pub(crate) board_broken: bool,
    /// What the board program would run of the task's file.
    pub(crate) hostile: Option<&'static str>,
    pub(crate) comments: Vec<String>,
    pub(crate) board_branch: BranchName,
    /// The person's environment.
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) repository: Repository,
    pub(crate) slot: BTreeMap<String, String>,
    pub(crate) verification: BTreeMap<String, String>,
    pub(crate) record: Option<Record>,
    pub(crate) private: BTreeMap<String, serde_json::Value>,
    pub(crate) files: BTreeMap<AttemptFile, Vec<u8>>,
    pub(crate) entry: SlotEntry,
    pub(crate) request: Option<Request>,
    pub(crate) lane: LaneState,
    pub(crate) backups: BTreeMap<String, u32>,
    pub(crate) awake_ms: u64,
    /// When the board's checkout is on its branch again.
    pub(crate) back_at: Option<u64>,
    /// When a pass is wished for.
    pub(crate) wish_at: Option<u64>,
    /// What the record said that the close waits for, in order.
    pub(crate) waited: Vec<Waiting>,
    /// When another claim takes the record over.
    pub(crate) steal_at: Option<u64>,
    pub(crate) acts: Vec<Act>,
    pub(crate) exited: Option<ExitMark>,
    pub(crate) worker_alive: bool,
    pub(crate) mail: Vec<Vec<String>>,
    pub(crate) answers: Vec<(i32, String, String)>,
    pub(crate) asked_to_end: bool,
    /// git cannot tell whether the base can be merged.
    pub(crate) merge_unknown: bool,
    /// Programs that fail, by a word of their command line, and what they write into their folder.
    pub(crate) failing: Vec<&'static str>,
    pub(crate) writing: Vec<(&'static str, &'static str, &'static str)>,
    pub(crate) ran: Vec<String>,
    pub(crate) reviews: Vec<Review>,
    pub(crate) review_prompts: Vec<String>,
    pub(crate) forge_kind: ForgeKind,
    pub(crate) forge_faults: u32,
    /// What somebody asks for while the forge does not answer.
    pub(crate) asked_at_fault: Option<Request>,
    pub(crate) push_moves: bool,
    pub(crate) diff: DiffOf,
    pub(crate) freeze_broken: bool,
    pub(crate) keep_broken: bool,
    /// Our own list of backups cannot be written.
    pub(crate) backups_broken: bool,
    /// What happens at the first call of this name: `create`, `backup` or `notify`.
    pub(crate) meanwhile: Vec<(&'static str, Happening)>,
    pub(crate) backup_broken: bool,
    pub(crate) hard_link: bool,
    /// The settings a worker was given, and where.
    pub(crate) given_settings: Option<(Utf8PathBuf, String)>,
    pub(crate) free_mib: u64,
    pub(crate) pull_requests: Vec<(PullRequest, String)>,
    pub(crate) labels: Vec<String>,
    pub(crate) notified: Vec<String>,
    /// What happened, in order.
    pub(crate) log: Vec<String>,
}

impl State {
    /// Lets happen what was to happen at this call.
    fn at(&mut self, call: &str) {
        if let Some(at) = self.meanwhile.iter().position(|(name, _)| *name == call) {
            let (_, happens) = self.meanwhile.remove(at);
            happens(self);
        }
    }

    /// The board's checkout is on another branch for ten minutes.
    pub(crate) fn board_leaves(&mut self) {
        self.board_branch = branch("feature");
        self.back_at = Some(self.awake_ms + 600_000);
    }

    /// C1.4b: nothing is written into another branch's files.
    fn writes_the_board(&self) {
        assert_eq!(self.board_branch, branch("main"), "the board is elsewhere");
    }
}

/// The world; a copy is the same world.
#[derive(Clone)]
pub(crate) struct World(Rc<Shared>);

struct Shared {
    state: RefCell<State>,
    /// Calls that changed something.
    calls: Cell<usize>,
    /// The call before which this process dies.
    dies_before: Cell<Option<usize>>,
}

fn branch(name: &str) -> BranchName {
    BranchName::parse(name).unwrap()
}

pub(crate) fn id() -> TaskId {
    TaskId::parse("T-5").unwrap()
}

pub(crate) fn config() -> Config {
    let place = Location { file: "lanes.json".into(), found: Found::Given, board_dir: None };
    let mut config =
        load(include_str!("../../../../../fixtures/config/example.json"), &place).unwrap().config;
    config.checks.format.clear();
    config.generated.clear();
    config.prompt_hooks.clear();
    config.confinement.presets.clear();
    config.confinement.mode = ConfinementMode::Off;
    config.harness_reviewer = None;
    config
}

pub(crate) fn task() -> Task {
    let item = |index, text: &str| ChecklistItem { index, checked: false, text: text.to_owned() };
    Task {
        id: id(),
        title: "Say hello".to_owned(),
        status: Status::InProgress,
        labels: vec!["lane:local".to_owned()],
        tier: Answer::Given(Tier::Minor),
        lane: Answer::Given(Lane::Local),
        path: Answer::Given(ExecutionPath::Direct),
        priority: 2,
        created: None,
        updated: None,
        parent: None,
        children: Vec::new(),
        dependencies: Vec::new(),
        foreign_dependencies: Vec::new(),
        declared_files: vec![DeclaredFile { text: "src/hello.rs".to_owned(), shared: false }],
        test_command: OneLine::Given("cargo test -p hello".to_owned()),
        branch: OneLine::Missing,
        acceptance: vec![item(1, "It says hello"), item(2, "It is tested")],
        definition_of_done: vec![
            item(1, "Scoped tests pass"),
            item(2, "Every acceptance criterion is checked"),
            item(3, "PR opened to main"),
        ],
        comments: Vec::new(),
        description: "Greet the user.".to_owned(),
        plan: String::new(),
        notes: String::new(),
        final_summary: String::new(),
        unknown_keys: BTreeMap::new(),
    }
}

/// The event with which the agent ends.
pub(crate) fn result(text: &str) -> Act {
    let event = serde_json::json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 3, "result": text,
    });
    Act::Say(event.to_string())
}

/// An event by which a run failed.
pub(crate) fn failed(fields: &serde_json::Value) -> Act {
    let mut event = serde_json::json!({"type": "result", "subtype": "success", "is_error": true, "num_turns": 1});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Act::Say(event.to_string())
}

/// A worker that does what it should.
pub(crate) fn diligent() -> Vec<Act> {
    vec![
        Act::Write("src/hello.rs", "fn hello() {}"),
        Act::Mail(vec!["T-5", "--check-ac", "1", "--check-ac", "2"]),
        result("Done."),
        Act::Exit(0),
    ]
}

impl World {
    pub(crate) fn new(acts: Vec<Act>) -> Self {
        Self::with(config(), acts)
    }

    /// A world in which a pass has just claimed the task.
    pub(crate) fn with(config: Config, acts: Vec<Act>) -> Self {
        let mut repository = Repository::default();
        let start = repository.first_commit(&[
            ("README.md", "hello"),
            ("src/lib.rs", "mod hello;"),
            ("Cargo.lock", "v1"),
        ]);
        repository.remote.insert(branch("main"), start.clone());
        let slot = SlotName::parse("dispatch-1").unwrap();
        let approve = Review::Verdict {
            verdict: Verdict::Approve,
            findings: Vec::new(),
            answer: "approve".to_owned(),
        };
        let state = State {
            task: Some(task()),
            board_broken: false,
            hostile: None,
            comments: Vec::new(),
            board_branch: branch("main"),
            environment: BTreeMap::from([
                ("PATH".to_owned(), "/bin".to_owned()),
                ("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), "sk-secret-token".to_owned()),
            ]),
            slot: BTreeMap::new(),
            verification: BTreeMap::new(),
            record: Some(record(&slot)),
            private: BTreeMap::new(),
            files: BTreeMap::new(),
            entry: SlotEntry {
                name: slot,
                path: "/code/slots/dispatch-1".into(),
                lane: Some(Lane::Local),
                task_id: Some(id()),
                attempt: Some(AttemptNumber::FIRST),
                lockfile_hash: None,
                held: None,
                rest: BTreeMap::new(),
            },
            request: None,
            lane: LaneState::default(),
            backups: BTreeMap::new(),
            awake_ms: 1_000_000,
            back_at: None,
            wish_at: None,
            waited: Vec::new(),
            steal_at: None,
            acts,
            exited: None,
            worker_alive: false,
            mail: Vec::new(),
            answers: Vec::new(),
            asked_to_end: false,
            merge_unknown: false,
            failing: Vec::new(),
            writing: Vec::new(),
            ran: Vec::new(),
            reviews: vec![approve],
            review_prompts: Vec::new(),
            forge_kind: ForgeKind::GitHub,
            forge_faults: 0,
            asked_at_fault: None,
            push_moves: false,
            diff: DiffOf::Tree,
            freeze_broken: false,
            keep_broken: false,
            backups_broken: false,
            meanwhile: Vec::new(),
            backup_broken: false,
            hard_link: false,
            given_settings: None,
            free_mib: 100_000,
            pull_requests: Vec::new(),
            labels: Vec::new(),
            notified: Vec::new(),
            log: Vec::new(),
            repository,
        };
        let world = Self(Rc::new(Shared {
            state: RefCell::new(state),
            calls: Cell::new(0),
            dies_before: Cell::new(None),
        }));
        hand_over(config, start).write(&world).unwrap();
        world.0.calls.set(0);
        world
    }

    pub(crate) fn state(&self) -> RefMut<'_, State> {
        self.0.state.borrow_mut()
    }

    /// Changes what was handed over.
    pub(crate) fn hand_over(&self, change: impl FnOnce(&mut HandOver)) {
        let mut hand = HandOver::read(self, &id()).unwrap().unwrap();
        change(&mut hand);
        hand.write(self).unwrap();
        self.0.calls.set(0);
    }

    /// One call of a port that changes nothing: the process may be dead.
    fn call(&self) -> RefMut<'_, State> {
        let calls = self.0.calls.get();
        assert!(self.0.dies_before.get().is_none_or(|dies| calls <= dies), "killed");
        self.0.state.borrow_mut()
    }

    /// One call that changes something: dying before it is all the difference.
    fn effect(&self) -> RefMut<'_, State> {
        let calls = self.0.calls.get();
        self.0.calls.set(calls + 1);
        self.call()
    }

    pub(crate) fn calls(&self) -> usize {
        self.0.calls.get()
    }

    /// From now on the process dies before this call; none lets it live.
    pub(crate) fn die_before(&self, call: Option<usize>) {
        self.0.calls.set(0);
        self.0.dies_before.set(call);
    }

    pub(crate) fn ports(&self) -> Ports<'_> {
        Ports {
            board: self,
            vcs: self,
            forge: self,
            agent: self,
            commands: self,
            store: self,
            clock: self,
            notifier: self,
        }
    }

    /// Supervises to the end.
    pub(crate) fn supervise(&self, mode: Mode) -> End {
        self.supervise_confined(mode, false)
    }

    pub(crate) fn supervise_confined(&self, mode: Mode, confined: bool) -> End {
        let context = Context {
            environment: self.state().environment.clone(),
            worker_edit: "/opt/dispatch/worker-edit".into(),
            confined,
        };
        supervise(self.ports(), &context, &id(), Box::new(Lock(id())), mode)
    }

    pub(crate) fn status(&self) -> Status {
        self.state().task.as_ref().unwrap().status.clone()
    }

    pub(crate) fn read(&self) -> Record {
        self.state().record.clone().unwrap()
    }

    pub(crate) fn outcome(&self) -> serde_json::Value {
        let state = self.state();
        serde_json::from_slice(&state.files[&AttemptFile::Outcome]).unwrap()
    }

    pub(crate) fn steps(&self) -> String {
        let outcome = self.outcome();
        let shown = |step: &serde_json::Value| {
            let mark = if step["passed"] == true { "" } else { "!" };
            format!("{mark}{}", step["step"].as_str().unwrap())
        };
        outcome["steps"].as_array().unwrap().iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn position(&self, entry: &str) -> usize {
        let state = self.state();
        let at = state.log.iter().position(|line| line.starts_with(entry));
        at.unwrap_or_else(|| panic!("no {entry:?} in {:#?}", state.log))
    }
}

struct Lock(TaskId);

impl TaskLock for Lock {
    fn id(&self) -> &TaskId {
        &self.0
    }

    fn descriptor(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        None
    }
}

fn record(slot: &SlotName) -> Record {
    Record {
        task_id: id(),
        attempt: AttemptNumber::FIRST,
        token: "token-1".to_owned(),
        slot: slot.clone(),
        lane: Lane::Local,
        phase: Phase::Claimed,
        supervisor: None,
        worker: None,
        beat: None,
        heartbeat_at: None,
        started_at: "2026-01-01T00:00:00.000Z".to_owned(),
        base_branch: None,
        base: None,
        start: None,
        branch: branch("task/T-5"),
        saved: None,
        pr: None,
        last_attempt: AttemptNumber::FIRST,
        counts: AttemptCounts::default(),
        lost_in_a_row: 0,
        merged_before: 0,
        covered_children: None,
        owed: None,
        waiting: None,
        rest: BTreeMap::new(),
    }
}

fn hand_over(config: Config, base: CommitId) -> HandOver {
    let root = |text: &str| Utf8PathBuf::from(text);
    let allow = ["Read(**)", "Edit(**)"];
    HandOver {
        task_id: id(),
        attempt: AttemptNumber::FIRST,
        token: "token-1".to_owned(),
        lane: Lane::Local,
        config,
        settings: LaneSettings {
            model: Some("qwen".to_owned()),
            env: BTreeMap::new(),
            allow: allow.map(str::to_owned).to_vec(),
            deny: Vec::new(),
        },
        agent_settings: AgentSettings::default(),
        texts: BTreeMap::new(),
        roots: Roots {
            code_root: root("/code"),
            board_root: root("/code"),
            board_dir: root("/code/backlog"),
            slots_root: root("/code/slots"),
            own_files: vec![root("backlog/dispatch/lanes.json")],
        },
        test_command: Some("cargo test -p hello".to_owned()),
        base: SeenBranch { name: branch("main"), seen: RemoteBranch::At(base) },
        base_made_from: None,
        branch: SeenBranch { name: branch("task/T-5"), seen: RemoteBranch::Absent },
        counted_before: 0,
    }
}
