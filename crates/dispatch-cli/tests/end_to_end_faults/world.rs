//! A scene with the `dispatch` program in it, and what a test looks at afterwards: files of the board and of the
//! state, refs, and the processes that are alive.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use camino::Utf8PathBuf;
use dispatch_testkit::board::TaskText;
use dispatch_testkit::model_server::{Lane, Turn};
use dispatch_testkit::processes::{self, Process};
use dispatch_testkit::scene::{Forge, Scene};
use dispatch_testkit::{programs, wait};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The test program of every task. The agent's shell (which says so in `CLAUDECODE`) runs the test's own script with it,
/// so that a worker can do anything; without the agent it waits while `hold-check` is there.
const CHECK: &str = "if [ -n \"$CLAUDECODE\" ] && [ -e '{root}/worker.sh' ]; then exec sh '{root}/worker.sh'; fi\n\
                     while [ -z \"$CLAUDECODE\" ] && [ -e '{root}/hold-check' ]; do sleep 0.1; done\n\
                     for file in src/*; do [ -s \"$file\" ] || { echo \"$file is empty\" >&2; exit 1; }; done\n\
                     echo every file says something\n";

/// How long everything a test started may take to end.
const PATIENCE: Duration = Duration::from_mins(2);

/// A scene, and the `dispatch` program in it.
pub(crate) struct World {
    scene: Scene,
    more: Vec<(String, String)>,
}

impl std::ops::Deref for World {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

impl World {
    /// A world without tasks; none where a real program is missing (never in CI).
    pub(crate) fn new(forge: Forge) -> Option<Self> {
        Some(Self::of(Scene::new(forge)?, forge))
    }

    /// A world whose checkout is in a folder of this name.
    pub(crate) fn named(forge: Forge, name: &str) -> Option<Self> {
        Some(Self::of(Scene::named(forge, name)?, forge))
    }

    fn of(scene: Scene, forge: Forge) -> Self {
        if forge == Forge::GitHub {
            scene.configure(|config| config["forge"]["tokenFromEnv"] = true.into());
        }
        let world = Self { scene, more: Vec::new() };
        world.repo().write("check.sh", &CHECK.replace("{root}", world.repo().root().as_str()));
        world
    }

    /// A world in which T-1 is queued and the worker writes its file and says that it is done.
    pub(crate) fn with_a_task(forge: Forge) -> Option<Self> {
        let world = Self::new(forge)?;
        world.add_task("T-1", writes_and_ends("src/one.rs"));
        Some(world)
    }

    /// Queues a task that declares `src/one.rs`, and lets the model answer its worker.
    pub(crate) fn add_task(&self, id: &str, turns: impl IntoIterator<Item = Turn>) {
        self.board().add(&task(id, "src/one.rs"));
        self.add_worker(id, turns);
    }

    /// Lets the model answer the worker of a task.
    pub(crate) fn add_worker(&self, id: &str, turns: impl IntoIterator<Item = Turn>) {
        self.model().add(Lane::worker(id).when_said(id).turns(turns));
    }

    /// What the worker's shell does when it runs the task's test command.
    pub(crate) fn worker_runs(&self, script: &str) {
        fs::write(self.path("worker.sh"), script).unwrap();
    }

    /// A path in the scratch folder, outside the checkout.
    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        self.repo().root().join(name)
    }

    /// Commits and pushes everything, and approves the configuration.
    #[track_caller]
    pub(crate) fn begin(&self) {
        self.publish();
        self.ok(&["trust"]);
    }

    /// Calls `dispatch` in the checkout and waits for its end.
    #[track_caller]
    pub(crate) fn dispatch(&self, args: &[&str]) -> Output {
        programs::output(&mut self.dispatch_command(args))
    }

    /// Calls `dispatch` in the checkout and goes on.
    #[track_caller]
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.dispatch_command(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// `dispatch`, not yet called.
    pub(crate) fn dispatch_command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_dispatch"), args);
        command.envs(self.more.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Calls `dispatch`, which must succeed, and gives its standard output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.ended(args, 0).0
    }

    /// Calls `dispatch`, which must end with `code`, and gives its standard output and standard error.
    #[track_caller]
    pub(crate) fn ended(&self, args: &[&str], code: i32) -> (String, String) {
        let output = self.dispatch(args);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let status = output.status;
        assert_eq!(
            status.code(),
            Some(code),
            "dispatch {args:?} ended with {status}\n{stdout}{stderr}"
        );
        (stdout, stderr)
    }

    /// Runs a pass, then waits until everything has ended that it started; gives what the pass said.
    #[track_caller]
    pub(crate) fn pass(&self) -> String {
        let said = self.ok(&["pass"]);
        self.settle();
        said
    }

    /// Waits until no process of this world is left.
    #[track_caller]
    pub(crate) fn settle(&self) {
        processes::settle(self.repo().root());
    }

    /// Every live process whose environment, command line or working folder names this world.
    pub(crate) fn processes(&self) -> Vec<Process> {
        processes::in_folder(self.repo().root())
    }

    /// A file of the state directory, as JSON; nothing when it is not there.
    pub(crate) fn state(&self, name: &str) -> Value {
        json_of(&self.state_path(name))
    }

    /// The path of a file of the state directory.
    pub(crate) fn state_path(&self, name: &str) -> Utf8PathBuf {
        self.repo().code().join(".git/dispatch").join(name)
    }

    /// The record of a task.
    pub(crate) fn record(&self, id: &str) -> Value {
        self.state(&format!("tasks/{id}.json"))
    }

    /// Waits until the record of a task shows a phase, and gives its supervisor.
    #[track_caller]
    pub(crate) fn wait_for_phase(&self, id: &str, phase: &str) -> i32 {
        wait::until_some_within(&format!("{id} to be {phase}"), PATIENCE, || {
            let record = self.record(id);
            let there = record["phase"] == phase;
            there.then(|| pid_of(&record["supervisor"])).flatten()
        })
    }

    /// The slots as the registry has them: name and task.
    pub(crate) fn bound_slots(&self) -> BTreeMap<String, String> {
        let registry = self.state("registry.json");
        let slots = registry["slots"].as_array().cloned().unwrap_or_default();
        let bound = |slot: &Value| {
            Some((slot["name"].as_str()?.to_owned(), slot["taskId"].as_str()?.to_owned()))
        };
        slots.iter().filter_map(bound).collect()
    }

    /// The directory of an attempt.
    pub(crate) fn attempt(&self, id: &str, number: u32) -> Utf8PathBuf {
        self.board().folder().join(format!(".dispatch/{id}/attempt-{number}"))
    }

    /// The `outcome.json` of an attempt.
    #[track_caller]
    pub(crate) fn outcome(&self, id: &str, number: u32) -> Value {
        let file = self.attempt(id, number).join("outcome.json");
        let outcome = json_of(&file);
        assert!(!outcome.is_null(), "there is no `{file}`");
        outcome
    }

    /// The text of all comments on a task.
    pub(crate) fn comments(&self, id: &str) -> String {
        let comments = self.board().comments(id);
        comments.iter().map(|comment| comment.body.clone()).collect::<Vec<_>>().join("\n")
    }

    /// The refs below a prefix in the checkout's repository, and their commits.
    pub(crate) fn refs(&self, prefix: &str) -> BTreeMap<String, String> {
        let listed =
            self.repo().git(&["for-each-ref", "--format=%(refname) %(objectname)", prefix]);
        let pairs = listed.lines().filter_map(|line| line.split_once(' '));
        pairs.map(|(name, commit)| (name.to_owned(), commit.to_owned())).collect()
    }

    /// The text of a file in the saved work of an attempt.
    #[track_caller]
    pub(crate) fn saved(&self, id: &str, number: u32, path: &str) -> String {
        self.repo().git(&["show", &format!("refs/dispatch/attempts/{id}/{number}:{path}")])
    }

    /// What must hold whenever everything has ended (S6).
    #[track_caller]
    pub(crate) fn assert_invariants(&self) {
        let registry = self.state("registry.json");
        for slot in registry["slots"].as_array().into_iter().flatten() {
            let held = slot["held"].is_string();
            assert!(slot["taskId"].is_null() || held, "I5: a slot is bound: {registry:#}");
        }
        let branches: Vec<String> = self.refs("refs/heads").into_keys().collect();
        assert_eq!(branches, ["refs/heads/main"], "I6: no local branch is made");
        let folder = self.board().folder();
        let board = folder.strip_prefix(self.repo().code()).unwrap();
        let outside = format!(":(exclude){board}");
        let changed = self.repo().git(&["status", "--porcelain", "--", ".", &outside]);
        assert_eq!(changed, "", "I6: the main checkout is as the person left it");
        let logs = format!("{board}/.dispatch");
        assert_eq!(self.repo().git(&["ls-files", "--", &logs]), "", "no log is ever committed");
        assert_eq!(self.repo().git(&["stash", "list"]), "", "I6: nothing is stashed");
    }

    /// The work on T-1 is on its branch, once, and the task waits for its merge.
    #[track_caller]
    pub(crate) fn assert_proposed(&self, path: &str) {
        let comments = self.comments("T-1");
        assert_eq!(self.board().status("T-1"), "In Progress", "{comments}");
        assert_eq!(self.repo().remote_changes("main", "task/T-1"), [path], "{comments}");
        assert_eq!(self.record("T-1")["phase"], "ended");
        self.assert_invariants();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell();
        }
        for process in self.processes() {
            kill(process.pid, Signal::KILL);
        }
    }
}

impl World {
    /// What is worth reading after a failure.
    #[expect(clippy::print_stderr, reason = "a test that failed says what it saw")]
    fn tell(&self) {
        let logs = self.repo().root().join("code/.backlog/.dispatch");
        for task in logs.read_dir_utf8().into_iter().flatten().flatten() {
            for attempt in task.path().read_dir_utf8().into_iter().flatten().flatten() {
                for name in ["run.log", "worker.stderr.log", "prepare.log", "stream.jsonl"] {
                    let file = attempt.path().join(name);
                    if let Ok(text) = fs::read_to_string(&file) {
                        let lines = text.lines().map(|line| line.chars().take(600).collect());
                        eprintln!("--- {file}\n{}", lines.collect::<Vec<String>>().join("\n"));
                    }
                }
            }
        }
        for name in ["pass.log", "registry.json", "tasks/T-1.json", "lanes-state.json"] {
            let text = fs::read_to_string(self.state_path(name)).unwrap_or_default();
            eprintln!("--- {name}\n{text}");
        }
    }
}

/// A queued task that declares a file; its criterion is met already, so that a worker needs few turns.
pub(crate) fn task(id: &str, file: &str) -> TaskText {
    TaskText::new(id, &format!("Write {file}"))
        .status("Queued")
        .labels(["tier:minor", "lane:frontier", "path:direct"])
        .description("What to do is said in the title.")
        .met_criterion("It is done")
        .files([file])
        .test_command("sh check.sh")
}

/// The turns of a worker that writes a file and ends.
pub(crate) fn writes_and_ends(file: &str) -> Vec<Turn> {
    vec![Turn::new_file(file, "//! Written.\n"), Turn::text("Done.")]
}

/// Sends a signal to a process; one that is gone is no failure.
pub(crate) fn kill(pid: i32, signal: Signal) {
    // It may have ended by itself meanwhile.
    kill_process(Pid::from_raw(pid).unwrap(), signal).ok();
}

/// Sends a signal and waits until it was delivered: one more of its kind that came before would be the same one.
#[track_caller]
pub(crate) fn kill_and_take(pid: i32, signal: Signal) {
    kill(pid, signal);
    let bit = 1_u64 << (signal.as_raw() - 1);
    wait::until("the signal to be delivered", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
        pending.is_none_or(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & bit == 0)
    });
}

/// The process id in a process mark.
pub(crate) fn pid_of(mark: &Value) -> Option<i32> {
    i32::try_from(mark["pid"].as_i64()?).ok()
}

fn json_of(file: &Utf8PathBuf) -> Value {
    match fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("`{file}` is not JSON: {error}\n{text}")),
        Err(error) if error.kind() == ErrorKind::NotFound => Value::Null,
        Err(error) => panic!("could not read `{file}`: {error}"),
    }
}
