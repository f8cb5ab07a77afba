//! A world in memory: a board, a repository with a remote, slots, scripted workers, processes that hold locks and can be
//! killed before any call that changes something, and a clock that only moves when somebody waits.

mod agent;
mod board;
mod commands;
mod git;
mod store;

use std::cell::{Cell, RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_core::attempt::AttemptNumber;
use dispatch_core::branch::BranchName;
use dispatch_core::config::{Config, ConfinementMode, Found, LaneSettings, Location, Owner, load};
use dispatch_core::id::TaskId;
use dispatch_core::object::CommitId;
use dispatch_core::record::{Beat, Phase, Record, Request, SlotEntry};
use dispatch_core::slot::SlotName;
use dispatch_core::status::Status;
use dispatch_core::task::{ChecklistItem, DeclaredFile, OneLine, Task};
use dispatch_core::triage::{Answer, ExecutionPath, Lane, Tier};
use dispatch_engine::pass::{self, Options, PassError, PassReport};
use dispatch_engine::ports::{
    Answer as VcsAnswer, BoardPlace, ForgeKind, LaneState, Lease, OwnerRecord, PortError, Ports,
    ProposalState, PullRequest, Review, Verdict,
};
use dispatch_engine::setup::{AgentSettings, Policies, Roots, Setup, Trust};
use dispatch_engine::supervise::{Context, Mode, supervise};
use serde_json::Value;

pub(crate) use self::agent::{Act, diligent, result};
pub(crate) use self::git::{Files, Repository};

/// A process of the world; the first one is a person.
pub(crate) type Pid = u32;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// By itself.
    Ended,
    /// It was killed.
    Killed,
}

/// A supervisor that was started and has not run yet.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) pid: Pid,
    pub(crate) id: TaskId,
    pub(crate) recover: bool,
}

/// A worker.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) id: TaskId,
    pub(crate) slot: SlotName,
    pub(crate) marker: String,
    pub(crate) stream: Utf8PathBuf,
    pub(crate) mailbox: Utf8PathBuf,
    pub(crate) acts: Vec<Act>,
    pub(crate) exit: Option<dispatch_engine::ports::ExitMark>,
    pub(crate) alive: bool,
}

/// What everybody sees.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch a test turns")]
pub(crate) struct State {
    pub(crate) tasks: BTreeMap<TaskId, Task>,
    pub(crate) completed: BTreeMap<TaskId, Task>,
    pub(crate) complete: bool,
    pub(crate) problems: Vec<dispatch_core::board::Problem>,
    pub(crate) comments: Vec<(TaskId, String)>,
    pub(crate) board_writes: u32,
    pub(crate) place: BoardPlace,
    pub(crate) board_dirty: bool,
    pub(crate) repository: Repository,
    pub(crate) slots: BTreeMap<SlotName, Files>,
    pub(crate) verification: BTreeMap<SlotName, Files>,
    pub(crate) remote_answers: bool,
    pub(crate) default_branch: BranchName,
    /// How many seconds a call on the network takes.
    pub(crate) slow: BTreeMap<&'static str, u64>,
    /// The machine starts anew while the next fetch goes on, as far as the clock can tell.
    pub(crate) reboots_in_fetch: bool,
    /// Every call on the network since a test last looked, with its limit in seconds.
    pub(crate) asked: Vec<(&'static str, u64)>,
    pub(crate) fetched: Vec<BTreeSet<BranchName>>,
    pub(crate) lease: Lease,
    pub(crate) merged: VcsAnswer,
    pub(crate) free_mib: u64,
    pub(crate) push_fails: bool,
    pub(crate) forge: ForgeKind,
    /// What keeps work from being proposed from here.
    pub(crate) forge_missing: Option<String>,
    pub(crate) listings: u32,
    pub(crate) proposals: BTreeMap<u64, ProposalState>,
    /// Commits of the remote that were not fetched.
    pub(crate) not_here: BTreeSet<CommitId>,
    /// Branches that move on the remote right before the forge is asked next.
    pub(crate) lands: BTreeMap<BranchName, CommitId>,
    pub(crate) opened: u64,
    pub(crate) open: BTreeMap<BranchName, PullRequest>,
    pub(crate) deleted: Vec<BranchName>,
    pub(crate) wishes: u64,
    /// Wishes that come while a round is under way.
    pub(crate) wishes_to_come: u32,
    /// What a person queues while the next fetch goes on.
    pub(crate) queued_meanwhile: Vec<Task>,
    pub(crate) locks: BTreeMap<String, Pid>,
    pub(crate) records: BTreeMap<TaskId, Record>,
    pub(crate) unreadable: Vec<TaskId>,
    pub(crate) registry: Vec<SlotEntry>,
    pub(crate) configured: Vec<SlotName>,
    pub(crate) private: BTreeMap<(TaskId, String), Value>,
    pub(crate) files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    pub(crate) attempts: BTreeMap<TaskId, AttemptNumber>,
    pub(crate) requests: BTreeMap<TaskId, Request>,
    pub(crate) lanes: BTreeMap<Lane, LaneState>,
    pub(crate) owner: OwnerRecord,
    pub(crate) observed: BTreeMap<TaskId, (Beat, Beat)>,
    pub(crate) backups: BTreeMap<String, u32>,
    pub(crate) tokens: u32,
    pub(crate) awake_ms: u64,
    pub(crate) boot: String,
    /// How far the wall clock is from what machine-awake time makes it.
    pub(crate) wall_jump_s: i64,
    /// A person's doing, right before the next status is written.
    pub(crate) meanwhile: Option<fn(&mut State)>,
    pub(crate) scripts: BTreeMap<TaskId, Vec<Act>>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) reviews: Vec<Review>,
    pub(crate) ready: Result<(), String>,
    /// Whether passes run without the variable that holds the account's credential.
    pub(crate) account_unset: bool,
    pub(crate) pending: Vec<Pending>,
    pub(crate) starting_fails: bool,
    pub(crate) next_pid: Pid,
    pub(crate) killed: Vec<u32>,
    pub(crate) failing: Vec<&'static str>,
    pub(crate) notified: Vec<String>,
    pub(crate) capacity: BTreeMap<Lane, u32>,
}

struct Shared {
    state: RefCell<State>,
    calls: Cell<usize>,
    dies_before: Cell<Option<usize>>,
    fails_at: Cell<Option<usize>>,
    full_from: Cell<Option<usize>>,
}

/// A process's view of the world; a copy is the same process.
#[derive(Clone)]
pub(crate) struct World {
    shared: Rc<Shared>,
    pid: Pid,
}

/// Said by a process that is killed, so that a failed assertion is not taken for one.
struct Killed;

pub(crate) fn id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

pub(crate) fn branch(text: &str) -> BranchName {
    BranchName::parse(text).unwrap()
}

pub(crate) fn slot(text: &str) -> SlotName {
    SlotName::parse(text).unwrap()
}

pub(crate) fn config() -> Config {
    let place = Location { file: "lanes.json".into(), found: Found::Given, board_dir: None };
    let text = include_str!("../../../../../fixtures/config/example.json");
    let mut config = load(text, &place).unwrap().config;
    config.slots = vec![slot("dispatch-1"), slot("dispatch-2")];
    config.owner = Owner::Off;
    config.checks.format.clear();
    config.generated.clear();
    config.prompt_hooks.clear();
    config.confinement.presets.clear();
    config.confinement.mode = ConfinementMode::Off;
    config.harness_reviewer = None;
    config
}

/// A queued task with everything the guards want, on the local lane.
pub(crate) fn task(text: &str) -> Task {
    let item = |index, text: &str| ChecklistItem { index, checked: false, text: text.to_owned() };
    let file = format!("src/{}.rs", text.to_lowercase());
    Task {
        id: id(text),
        title: format!("Title of {text}"),
        status: Status::Queued,
        labels: vec!["lane:local".to_owned()],
        tier: Answer::Given(Tier::Minor),
        lane: Answer::Given(Lane::Local),
        path: Answer::Given(ExecutionPath::Direct),
        priority: 2,
        created: Some("2026-01-01 10:00".to_owned()),
        updated: Some("2026-01-01 11:59".to_owned()),
        parent: None,
        children: Vec::new(),
        dependencies: Vec::new(),
        foreign_dependencies: Vec::new(),
        declared_files: vec![DeclaredFile { text: file, shared: false }],
        test_command: OneLine::Given("cargo test -p hello".to_owned()),
        branch: OneLine::Missing,
        acceptance: vec![item(1, "It says hello")],
        definition_of_done: Vec::new(),
        comments: Vec::new(),
        description: "Greet the user.".to_owned(),
        plan: String::new(),
        notes: String::new(),
        final_summary: String::new(),
        unknown_keys: BTreeMap::new(),
    }
}

/// The same on the frontier lane.
pub(crate) fn frontier(text: &str) -> Task {
    Task {
        labels: vec!["lane:frontier".to_owned()],
        lane: Answer::Given(Lane::Frontier),
        ..task(text)
    }
}

pub(crate) fn roots() -> Roots {
    Roots {
        code_root: "/code".into(),
        board_root: "/code".into(),
        board_dir: "/code/backlog".into(),
        slots_root: "/code/slots".into(),
        own_files: vec!["backlog/dispatch/lanes.json".into()],
    }
}

pub(crate) fn setup_of(config: Config) -> Setup {
    let roots = roots();
    let settings = LaneSettings {
        model: Some("qwen".to_owned()),
        env: BTreeMap::new(),
        allow: vec!["Read(**)".to_owned(), "Edit(**)".to_owned()],
        deny: Vec::new(),
    };
    Setup {
        policies: Policies::of(&config, &roots).unwrap(),
        config,
        lanes: Lane::ALL.iter().map(|lane| (*lane, Ok(settings.clone()))).collect(),
        texts: BTreeMap::new(),
        agent_settings: AgentSettings::default(),
        worker_edit: Some(context().worker_edit),
        roots,
        trust: Trust::Approved,
        confined: false,
    }
}

pub(crate) fn setup() -> Setup {
    // Its path policy takes a while to build without optimisation.
    static SETUP: LazyLock<Setup> = LazyLock::new(|| setup_of(config()));
    SETUP.clone()
}

pub(crate) fn context() -> Context {
    Context {
        environment: BTreeMap::from([
            ("PATH".to_owned(), "/bin".to_owned()),
            ("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), "sk-secret-token".to_owned()),
        ]),
        worker_edit: "/opt/dispatch/worker-edit".into(),
        confined: false,
    }
}

impl World {
    /// A board with these tasks; each has a worker that does what it should.
    pub(crate) fn new(tasks: Vec<Task>) -> Self {
        let mut repository = Repository::default();
        let start = repository.first_commit(&[("README.md", "hello"), ("Cargo.lock", "v1")]);
        repository.remote.insert(branch("main"), start.clone());
        let entry = |name: &str| SlotEntry {
            name: slot(name),
            path: format!("/code/slots/{name}").into(),
            lane: None,
            task_id: None,
            attempt: None,
            lockfile_hash: None,
            held: None,
            rest: BTreeMap::new(),
        };
        let approve = Review::Verdict {
            verdict: Verdict::Approve,
            findings: Vec::new(),
            answer: "approve".to_owned(),
        };
        let scripts = tasks.iter().map(|task| (task.id.clone(), diligent(task))).collect();
        let state = State {
            tasks: tasks.into_iter().map(|task| (task.id.clone(), task)).collect(),
            completed: BTreeMap::new(),
            complete: true,
            problems: Vec::new(),
            comments: Vec::new(),
            board_writes: 0,
            place: BoardPlace { branch: Some(branch("main")), head: Some(start), repository: true },
            board_dirty: false,
            repository,
            slots: BTreeMap::new(),
            verification: BTreeMap::new(),
            remote_answers: true,
            default_branch: branch("main"),
            slow: BTreeMap::new(),
            reboots_in_fetch: false,
            asked: Vec::new(),
            fetched: Vec::new(),
            lease: Lease::Ours,
            merged: VcsAnswer::No,
            free_mib: 100_000,
            push_fails: false,
            forge: ForgeKind::GitHub,
            forge_missing: None,
            listings: 0,
            proposals: BTreeMap::new(),
            not_here: BTreeSet::new(),
            lands: BTreeMap::new(),
            opened: 0,
            open: BTreeMap::new(),
            deleted: Vec::new(),
            wishes: 0,
            wishes_to_come: 0,
            queued_meanwhile: Vec::new(),
            locks: BTreeMap::new(),
            records: BTreeMap::new(),
            unreadable: Vec::new(),
            registry: vec![entry("dispatch-1"), entry("dispatch-2")],
            configured: vec![slot("dispatch-1"), slot("dispatch-2")],
            private: BTreeMap::new(),
            files: BTreeMap::new(),
            attempts: BTreeMap::new(),
            requests: BTreeMap::new(),
            lanes: BTreeMap::new(),
            owner: OwnerRecord::default(),
            observed: BTreeMap::new(),
            backups: BTreeMap::new(),
            tokens: 0,
            awake_ms: 1_000_000,
            boot: "boot".to_owned(),
            wall_jump_s: 0,
            meanwhile: None,
            scripts,
            workers: Vec::new(),
            reviews: vec![approve],
            ready: Ok(()),
            account_unset: false,
            pending: Vec::new(),
            starting_fails: false,
            next_pid: 100,
            killed: Vec::new(),
            failing: Vec::new(),
            notified: Vec::new(),
            capacity: BTreeMap::from([(Lane::Local, 1), (Lane::Frontier, 2)]),
        };
        Self {
            shared: Rc::new(Shared {
                state: RefCell::new(state),
                calls: Cell::new(0),
                dies_before: Cell::new(None),
                fails_at: Cell::new(None),
                full_from: Cell::new(None),
            }),
            pid: 1,
        }
    }

    pub(crate) fn state(&self) -> RefMut<'_, State> {
        self.shared.state.borrow_mut()
    }

    fn is_dead(&self) -> bool {
        let calls = self.shared.calls.get();
        self.shared.dies_before.get().is_some_and(|dies| calls > dies)
    }

    /// One call of a port that changes nothing.
    fn call(&self) -> RefMut<'_, State> {
        if self.is_dead() {
            std::panic::panic_any(Killed);
        }
        self.state()
    }

    /// One call that changes something: dying before it is all the difference.
    fn effect(&self) -> RefMut<'_, State> {
        self.shared.calls.set(self.shared.calls.get() + 1);
        self.call()
    }

    /// One call that changes something and may fail; the one that is to fail changes nothing.
    fn try_effect(&self) -> Result<RefMut<'_, State>, PortError> {
        let state = self.effect();
        if self.shared.fails_at.get() == Some(self.shared.calls.get()) {
            return Err(PortError::new("do what was asked", "the machine hiccups"));
        }
        if self.shared.full_from.get().is_some_and(|from| self.shared.calls.get() >= from) {
            let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(PortError::new("write what was asked", full));
        }
        Ok(state)
    }

    /// A call on the network: whether it was answered within its limit.
    fn network(&self, what: &'static str, limit: Duration) -> bool {
        let mut state = self.call();
        state.asked.push((what, limit.as_secs()));
        let takes = Duration::from_secs(state.slow.get(what).copied().unwrap_or(0));
        let spent = u64::try_from(takes.min(limit).as_millis()).unwrap();
        state.awake_ms += spent;
        takes <= limit
    }

    /// From now on this call fails, counted from 1; none lets all work.
    pub(crate) fn fail_at(&self, call: Option<usize>) {
        self.shared.calls.set(0);
        self.shared.fails_at.set(call);
    }

    /// From this call on, counted from 1, nothing can be written; none lets all work.
    pub(crate) fn full_from(&self, call: Option<usize>) {
        self.shared.calls.set(0);
        self.shared.full_from.set(call);
    }

    pub(crate) fn calls(&self) -> usize {
        self.shared.calls.get()
    }

    /// From now on whichever process runs dies before this call.
    pub(crate) fn die_before(&self, call: Option<usize>) {
        self.shared.calls.set(0);
        self.shared.dies_before.set(call);
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

    /// The same world as seen by a new process.
    pub(crate) fn new_process(&self) -> Self {
        let mut state = self.state();
        state.next_pid += 1;
        Self { shared: Rc::clone(&self.shared), pid: state.next_pid }
    }

    /// Does something as a process; none when it was killed, which ends all its locks.
    fn lives<T>(process: &Self, work: impl FnOnce(&Self) -> T) -> Option<T> {
        let end = catch_unwind(AssertUnwindSafe(|| work(process)));
        let end = match end {
            // The close turns a panic of a step into a failed step; this process is dead all the same.
            Ok(_) if process.is_dead() => {
                process.shared.dies_before.set(None);
                None
            }
            Ok(done) => Some(done),
            Err(panic) if panic.is::<Killed>() => {
                process.shared.dies_before.set(None);
                None
            }
            Err(panic) => std::panic::resume_unwind(panic),
        };
        process.state().locks.retain(|_, holder| *holder != process.pid);
        end
    }

    /// A pass of its own process; none when it was killed.
    pub(crate) fn try_pass(
        &self,
        setup: &Setup,
        options: &Options,
    ) -> Option<Result<PassReport, PassError>> {
        let process = self.new_process();
        Self::lives(&process, |process| pass::run(&process.ports(), setup, options))
    }

    /// A pass that has to succeed.
    pub(crate) fn pass(&self, setup: &Setup) -> PassReport {
        self.try_pass(setup, &Options::default()).expect("killed").unwrap()
    }

    /// The lines of a pass that has to succeed.
    pub(crate) fn lines(&self, setup: &Setup) -> Vec<String> {
        self.pass(setup).lines()
    }

    /// Runs the next supervisor that was started, whose lock is already its own; none when there was none.
    pub(crate) fn supervise_next(&self) -> Option<Life> {
        let next = {
            let mut state = self.state();
            if state.pending.is_empty() { None } else { Some(state.pending.remove(0)) }
        }?;
        let process = Self { shared: Rc::clone(&self.shared), pid: next.pid };
        let mode = if next.recover { Mode::Recover } else { Mode::Begin };
        let end = Self::lives(&process, |process| {
            let lock = store::lock(process, &next.id);
            supervise(process.ports(), &context(), &next.id, lock, mode)
        });
        Some(if end.is_some() { Life::Ended } else { Life::Killed })
    }

    /// Passes and supervisors until nothing happens any more, as a drain chain does (D9.8).
    pub(crate) fn settle(&self, setup: &Setup) {
        for _ in 0..40 {
            let pass = self.try_pass(setup, &Options::default());
            let failed = pass.is_some_and(|pass| pass.is_err());
            let mut ran = false;
            while self.supervise_next().is_some() {
                ran = true;
            }
            if !ran && !failed {
                return;
            }
        }
        panic!("it does not come to an end");
    }

    pub(crate) fn wait(&self, seconds: u64) {
        self.state().awake_ms += seconds * 1000;
    }

    pub(crate) fn status(&self, text: &str) -> Status {
        self.state().tasks[&id(text)].status.clone()
    }

    pub(crate) fn record(&self, text: &str) -> Record {
        self.state().records[&id(text)].clone()
    }

    pub(crate) fn phase(&self, text: &str) -> Phase {
        self.record(text).phase
    }

    /// Changes a task as a person does.
    pub(crate) fn edit(&self, text: &str, change: impl FnOnce(&mut Task)) {
        change(self.state().tasks.get_mut(&id(text)).unwrap());
    }

    /// The task that each slot is bound to.
    pub(crate) fn bound(&self) -> Vec<Option<String>> {
        let state = self.state();
        state.registry.iter().map(|entry| entry.task_id.as_ref().map(ToString::to_string)).collect()
    }

    pub(crate) fn comments(&self, text: &str) -> Vec<String> {
        let state = self.state();
        let of_task = state.comments.iter().filter(|(of, _)| *of == id(text));
        of_task.map(|(_, comment)| comment.clone()).collect()
    }
}
