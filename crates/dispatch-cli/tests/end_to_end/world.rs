//! A scene with the `dispatch` program in it, and what the scenarios look at.

use std::fs;
use std::ops::Deref;
use std::process::Output;

use camino::Utf8PathBuf;
use dispatch_testkit::board::TaskText;
use dispatch_testkit::model_server::{Lane, ModelRequest, Turn};
use dispatch_testkit::processes;
use dispatch_testkit::programs::{self, Peer};
use dispatch_testkit::scene::{Forge, Scene};
use serde_json::{Value, json};

/// The test command every task states: it succeeds when every file in `src` says something.
pub(crate) const TEST_COMMAND: &str = "sh check.sh";

/// Everything a scenario needs. The whole world lies in one scratch folder and ends with it.
pub(crate) struct World(Scene);

impl Deref for World {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.0
    }
}

impl World {
    /// A world whose branches are only pushed; none where a real program is missing (never in CI).
    pub(crate) fn with_git() -> Option<Self> {
        Scene::new(Forge::Git).map(Self)
    }

    /// A world with a forge for pull requests.
    pub(crate) fn with_forge() -> Option<Self> {
        Scene::new(Forge::GitHub).map(Self)
    }

    /// A world with a forge on the oldest programs that are supported.
    pub(crate) fn with_forge_and_oldest_programs() -> Option<Self> {
        let git = programs::gits().into_iter().next()?;
        Scene::with(Forge::GitHub, &git, Peer::OldBacklog, Peer::OldGh).map(Self)
    }

    /// Adds tasks; the person commits and pushes everything there is and approves the configuration.
    #[track_caller]
    pub(crate) fn begin<const N: usize>(&self, tasks: &[TaskText; N]) {
        for task in tasks {
            self.board().add(task);
        }
        self.publish();
        self.ok(&["trust"]);
    }

    /// What the worker of a task answers, from now on.
    pub(crate) fn worker(&self, id: &str, turns: impl IntoIterator<Item = Turn>) {
        self.model().add(Lane::worker(id).when_said(format!("/worker-edit {id}")).turns(turns));
    }

    /// What the reviewer of a task answers, from now on.
    pub(crate) fn reviewer(&self, id: &str, turns: impl IntoIterator<Item = Turn>) {
        let lane = Lane::reviewer(format!("review of {id}")).when_said(format!("task {id},"));
        self.model().add(lane.turns(turns));
    }

    /// What the workers of a task were asked, request by request.
    pub(crate) fn asked(&self, id: &str) -> Vec<ModelRequest> {
        self.model().requests_of(id)
    }

    /// Calls `dispatch` in the checkout.
    pub(crate) fn dispatch(&self, args: &[&str]) -> Output {
        self.run(env!("CARGO_BIN_EXE_dispatch"), args)
    }

    /// Calls `dispatch`, which must succeed, and gives its standard output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.dispatch(args);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "dispatch {args:?}: {}\n{stdout}{stderr}", output.status);
        stdout
    }

    /// Runs a pass, waits for what it started, and gives its report. The pass that a supervisor runs at its end may be
    /// in the way; it is waited for, with what it started.
    #[track_caller]
    pub(crate) fn pass(&self) -> Value {
        Self::parse(&self.ok(&["--wait", "--json"]))
    }

    fn parse(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in the report\n{text}"))
    }

    /// Runs a pass, and gives the verdict on a task and its reason, such as `waiting lane-paused`.
    #[track_caller]
    pub(crate) fn verdict(&self, id: &str) -> String {
        let report = self.pass();
        let rounds = report["rounds"].as_array().cloned().unwrap_or_default();
        let mut considered =
            rounds.iter().flat_map(|round| round["considered"].as_array().unwrap());
        let task = considered.rfind(|task| task["id"] == id);
        let task = task.unwrap_or_else(|| panic!("the pass did not consider {id}: {report:#}"));
        let word = |key: &str| task[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}", word("verdict"), word("reason")).trim().to_owned()
    }

    /// Runs a pass in which `id` must be blocked, and gives the last comment.
    #[track_caller]
    pub(crate) fn blocked(&self, id: &str, reason: &str) -> String {
        let report = self.pass();
        let comment = self.last_comment(id);
        assert_eq!(self.board().status(id), "Blocked", "{report:#}\n{}", self.story(id));
        assert!(comment.starts_with(&format!("**Blocked: `{reason}`**")), "{}", self.story(id));
        comment
    }

    /// Runs a pass in which `id` must be proposed.
    #[track_caller]
    pub(crate) fn proposed(&self, id: &str) {
        let report = self.pass();
        assert_eq!(self.board().status(id), "In Progress", "{report:#}\n{}", self.story(id));
        let branch = format!("task/{id}");
        let branches = self.repo().remote_branches();
        assert!(branches.contains_key(&branch), "{branches:?}\n{report:#}\n{}", self.story(id));
        self.settle();
    }

    /// Waits until also the pass that follows an attempt has ended.
    #[track_caller]
    pub(crate) fn settle(&self) {
        processes::settle(self.repo().root());
    }

    /// A person brings the checkout up to date once nothing is at work on it.
    #[track_caller]
    pub(crate) fn pull_when_settled(&self) {
        self.settle();
        self.pull();
    }

    /// A person answers in a comment and queues the task again.
    #[track_caller]
    pub(crate) fn answer(&self, id: &str, text: &str) {
        let edit = ["task", "edit", id, "--comment", text, "--comment-author", "alice"];
        let output = self.run("backlog", &edit);
        assert!(output.status.success(), "{output:?}");
        self.board().set_status(id, "Queued");
    }

    /// The text of the newest comment.
    #[track_caller]
    pub(crate) fn last_comment(&self, id: &str) -> String {
        self.board().comments(id).pop().map(|comment| comment.body).unwrap_or_default()
    }

    /// What there is to say about a task when an expectation fails.
    pub(crate) fn story(&self, id: &str) -> String {
        let comments = self.board().comments(id).into_iter().map(|comment| comment.body);
        let mut story: Vec<String> = comments.collect();
        let attempts = self.board().folder().join(format!(".dispatch/{id}"));
        let mut folders: Vec<Utf8PathBuf> = attempts
            .read_dir_utf8()
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path().to_owned())
            .collect();
        folders.sort();
        for folder in folders {
            for name in [
                "run.log",
                "prepare.log",
                "test.log",
                "supervisor.log",
                "review.md",
                "outcome.json",
            ] {
                if let Ok(text) = fs::read_to_string(folder.join(name)) {
                    story.push(format!("--- {}/{name}\n{text}", folder.file_name().unwrap()));
                }
            }
        }
        story.join("\n")
    }

    /// A file of an attempt.
    #[track_caller]
    pub(crate) fn attempt_file(&self, id: &str, number: u32, name: &str) -> String {
        let file = self.board().folder().join(format!(".dispatch/{id}/attempt-{number}/{name}"));
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("could not read `{file}`: {error}"))
    }

    /// The `outcome.json` of an attempt.
    #[track_caller]
    pub(crate) fn outcome(&self, id: &str, number: u32) -> Value {
        serde_json::from_str(&self.attempt_file(id, number, "outcome.json")).unwrap()
    }

    /// The commit that keeps the work of an attempt, in the checkout's repository.
    #[track_caller]
    pub(crate) fn kept(&self, id: &str, number: u32) -> String {
        self.repo().git(&[
            "rev-parse",
            "--verify",
            &format!("refs/dispatch/attempts/{id}/{number}"),
        ])
    }

    /// The same on the remote.
    #[track_caller]
    pub(crate) fn backed_up(&self, id: &str, number: u32) -> String {
        let name = format!("refs/dispatch/attempts/{id}/{number}");
        self.repo().git_in(&self.repo().remote(), &["rev-parse", "--verify", &name])
    }

    /// The names of the slots that are bound to a task.
    pub(crate) fn bound_slots(&self) -> Vec<String> {
        let file = self.repo().code().join(".git/dispatch/registry.json");
        let registry: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let slots = registry["slots"].as_array().cloned().unwrap_or_default();
        let bound = slots.iter().filter(|slot| !slot["taskId"].is_null());
        bound.map(|slot| slot["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// A queued task of the frontier lane that declares `file`.
pub(crate) fn task(id: &str, title: &str, file: &str) -> TaskText {
    TaskText::ready(id, title).files([file]).test_command(TEST_COMMAND)
}

/// One turn that makes new files and ticks the first criterion.
pub(crate) fn make_and_tick<const N: usize>(files: [(&'static str, &'static str); N]) -> Turn {
    Turn::made(move |request| {
        let command = request.board_command().expect("the worker is told the board command");
        files.iter().fold(Turn::bash(format!("{command} --check-ac 1")), |turn, (path, text)| {
            turn.and_tool("Edit", new_file(request, path, text))
        })
    })
}

/// One turn that makes new files and ticks nothing.
pub(crate) fn make<const N: usize>(files: [(&'static str, &'static str); N]) -> Turn {
    Turn::made(move |request| {
        files.iter().fold(Turn::text("I write."), |turn, (path, text)| {
            turn.and_tool("Edit", new_file(request, path, text))
        })
    })
}

fn new_file(request: &ModelRequest, path: &str, text: &str) -> Value {
    let path = format!("{}/{path}", request.cwd().unwrap_or_default());
    json!({"file_path": path, "old_string": "", "new_string": text})
}

/// What a worker does that does its whole work: the files, the tick, a last word.
pub(crate) fn work<const N: usize>(files: [(&'static str, &'static str); N]) -> [Turn; 2] {
    [make_and_tick(files), Turn::text("Done.")]
}
