//! Everything the whole job needs, set up around the real programs: a repository with a board, a remote, a forge, a model,
//! and a `PATH` on which `backlog`, `claude`, `gh` and `git` are the pinned ones.
//!
//! ```no_run
//! use dispatch_testkit::board::TaskText;
//! use dispatch_testkit::model_server::{Lane, Turn};
//! use dispatch_testkit::scene::{Forge, Scene};
//!
//! let Some(scene) = Scene::new(Forge::GitHub) else { return };
//! scene.model().add(Lane::worker("task").when_said("T-1").turns([
//!     Turn::new_file("src/parser.rs", "//! A parser.\n"),
//!     Turn::text("Done."),
//! ]));
//! scene.board().add(&TaskText::ready("T-1", "Add a parser").files(["src/parser.rs"]).test_command("sh check.sh"));
//! scene.publish();
//! # let dispatch = "dispatch";
//! let output = scene.run(dispatch, &["pass", "--wait"]);
//! assert!(output.status.success());
//! ```

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Output};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::board::Board;
use crate::forge_server::ForgeServer;
use crate::model_server::{ModelRequest, ModelServer, Turn};
use crate::programs::{self, Peer};
use crate::repo::Repo;

/// Where a scene's branches are proposed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Forge {
    /// Only pushed.
    Git,
    /// Pull requests on a forge that `gh` talks to.
    GitHub,
}

/// The name of the repository on the forge.
pub const SLUG: &str = "acme/widgets";

/// The model every lane of a scene asks for.
pub const MODEL: &str = "sonnet";

/// The scene's own test of the code: every file of `src` says something. Task files may name it as `sh check.sh`.
const CHECK: &str = "for file in src/*; do\n    if [ ! -s \"$file\" ]; then\n        echo \"$file is empty\" >&2\n        \
                     exit 1\n    fi\ndone\necho every file says something\n";

/// A set-up world.
pub struct Scene {
    model: ModelServer,
    forge: Option<ForgeServer>,
    board: Board,
    repo: Repo,
}

impl Scene {
    /// Sets up a world with the first git of the machine and the newest of each program, or nothing when one is missing.
    ///
    /// The checkout holds `src/lib.rs`, `check.sh`, a board in `.backlog`, and there `dispatch/lanes.json` with a
    /// settings file for each lane; all of it is committed and pushed. The model has no lane yet.
    ///
    /// # Panics
    ///
    /// When a program is missing and `CI` is set.
    pub fn new(forge: Forge) -> Option<Self> {
        let git = programs::gits().into_iter().next()?;
        Self::with(forge, &git, Peer::Backlog, Peer::Gh)
    }

    /// As [`new`](Self::new), with the checkout in a folder of this name.
    pub fn named(forge: Forge, name: &str) -> Option<Self> {
        let git = programs::gits().into_iter().next()?;
        Self::around(Repo::named(&git, name), forge, Peer::Backlog, Peer::Gh)
    }

    /// As [`new`](Self::new), with programs of the test's choice.
    pub fn with(forge: Forge, git: &Utf8Path, backlog: Peer, gh: Peer) -> Option<Self> {
        Self::around(Repo::new(git), forge, backlog, gh)
    }

    fn around(repo: Repo, forge: Forge, backlog: Peer, gh: Peer) -> Option<Self> {
        let (backlog, gh) = (programs::find(backlog)?, programs::find(gh)?);
        let claude = programs::find(Peer::Claude)?;
        let git = repo.git_program().to_owned();
        let board = Board::new(&repo.code());
        let model = ModelServer::start([]);
        model.load_local(MODEL, "loaded");
        let forge_server = match forge {
            Forge::Git => None,
            Forge::GitHub => {
                repo.pose_as_github(SLUG);
                Some(ForgeServer::start(&repo, SLUG))
            }
        };
        let scene = Self { model, forge: forge_server, board, repo };
        fs::create_dir_all(scene.bin()).unwrap();
        for (name, program) in [("git", &git), ("backlog", &backlog), ("gh", &gh)] {
            symlink(program, scene.bin().join(name)).unwrap();
        }
        // Only the model's address is added, and only where the test gave none: a stand-in would hide what is passed.
        scene.add_program(
            "claude",
            &format!(
                "#!/bin/sh\nexport ANTHROPIC_BASE_URL=\"${{ANTHROPIC_BASE_URL:-{}}}\"\nexec '{claude}' \"$@\"\n",
                scene.model.base_url()
            ),
        );
        scene.repo.write("src/lib.rs", "//! Widgets.\n");
        scene.repo.write("check.sh", CHECK);
        scene.write_config(&scene.default_config(forge));
        let settings = json!({"permissions": {"allow": ["Read(./**)", "Edit(./**)"], "deny": []}});
        scene.write_settings("frontier", &settings);
        let mut local = settings;
        local["model"] = Value::from(MODEL);
        scene.write_settings("local", &local);
        scene.publish();
        Some(scene)
    }

    fn default_config(&self, forge: Forge) -> Value {
        let kind = match forge {
            Forge::Git => "git",
            Forge::GitHub => "github",
        };
        json!({
            "slotsRoot": "../slots",
            "slots": ["slot-1", "slot-2"],
            "attempts": 3,
            "lanes": {
                "local": {
                    "settings": ".backlog/dispatch/local.settings.json",
                    "maxParallel": 1,
                    "effort": "medium",
                    "maxTurns": 20,
                    "timeoutMinutes": 5,
                    "healthCheckUrl": self.model.base_url(),
                    "reviewerModel": MODEL,
                },
                "frontier": {
                    "settings": ".backlog/dispatch/frontier.settings.json",
                    "maxParallel": 2,
                    "model": {"direct": MODEL, "sdd": MODEL},
                    "maxTurns": 20,
                    "timeoutMinutes": 5,
                },
            },
            "agent": {"credential": {"env": "ANTHROPIC_API_KEY"}},
            "confinement": {"mode": "off"},
            "forge": {"kind": kind},
            "owner": "off",
            "notify": "off",
            "limits": {"minFreeMiB": 16},
            "testCommands": [["sh", "check.sh"]],
        })
    }

    /// The repository and its remote.
    pub fn repo(&self) -> &Repo {
        &self.repo
    }

    /// The board, in the checkout.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The model behind every `claude`.
    pub fn model(&self) -> &ModelServer {
        &self.model
    }

    /// The forge.
    ///
    /// # Panics
    ///
    /// When the scene has none.
    #[track_caller]
    pub fn forge(&self) -> &ForgeServer {
        self.forge.as_ref().expect("the scene was made with `Forge::GitHub`")
    }

    /// The folder that comes first on the `PATH`.
    pub fn bin(&self) -> Utf8PathBuf {
        self.repo.root().join("bin")
    }

    /// Puts a script first on the `PATH`, in place of a program of that name.
    pub fn add_program(&self, name: &str, script: &str) {
        let path = self.bin().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Where the dispatcher's configuration lies.
    pub fn config_file(&self) -> Utf8PathBuf {
        self.board.folder().join("dispatch/lanes.json")
    }

    /// Changes the configuration. It is neither committed nor approved by that.
    pub fn configure(&self, change: impl FnOnce(&mut Value)) {
        let text = fs::read_to_string(self.config_file()).unwrap();
        let mut config = serde_json::from_str(&text).unwrap();
        change(&mut config);
        self.write_config(&config);
    }

    fn write_config(&self, config: &Value) {
        fs::create_dir_all(self.board.folder().join("dispatch")).unwrap();
        fs::write(self.config_file(), format!("{config:#}\n")).unwrap();
    }

    /// Replaces the settings of a lane. They are neither committed nor approved by that.
    pub fn write_settings(&self, lane: &str, settings: &Value) {
        let file = self.board.folder().join(format!("dispatch/{lane}.settings.json"));
        fs::write(file, format!("{settings:#}\n")).unwrap();
    }

    /// A person commits everything in the checkout and pushes it.
    #[track_caller]
    pub fn publish(&self) -> String {
        let commit = self.repo.commit("chore: set the scene");
        self.repo.push();
        commit
    }

    /// A person brings the checkout up to date with the remote.
    #[track_caller]
    pub fn pull(&self) {
        let remote = self.repo.remote();
        self.repo.git(&["pull", "--quiet", "--no-rebase", "--no-edit", remote.as_str(), "main"]);
    }

    /// The whole environment of a person at work in this scene.
    pub fn environment(&self) -> Vec<(String, String)> {
        let path = env::var("PATH").expect("the tests are run with a PATH");
        let mut environment = programs::environment(&self.repo.home());
        environment.retain(|(name, _)| name != "PATH");
        environment.push(("PATH".to_owned(), format!("{}:{path}", self.bin())));
        environment
            .push(("XDG_STATE_HOME".to_owned(), self.repo.home().join("state").into_string()));
        environment.push(("ANTHROPIC_API_KEY".to_owned(), "sk-test-made-up".to_owned()));
        environment.push(("NO_COLOR".to_owned(), "1".to_owned()));
        environment.extend(self.forge.iter().flat_map(ForgeServer::environment));
        environment
    }

    /// A command a person runs in the checkout.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = programs::command(program, &self.repo.home());
        command.env_clear().envs(self.environment()).args(args).current_dir(self.repo.code());
        command
    }

    /// Runs a program in the checkout to its end.
    #[track_caller]
    pub fn run(&self, program: &str, args: &[&str]) -> Output {
        programs::output(&mut self.command(program, args))
    }
}

/// The token that a reviewer has to repeat, from what it was asked.
///
/// # Panics
///
/// When the request asks for no review.
pub fn review_token(request: &ModelRequest) -> String {
    let prompt = request.prompt();
    let (_, after) = prompt.rsplit_once("`token` is exactly `").expect("the reviewer gets a token");
    after.split('`').next().unwrap_or_default().to_owned()
}

/// A reviewer's valid verdict.
pub fn verdict(verdict: &'static str, findings: &'static [&'static str]) -> Turn {
    Turn::made(move |request| {
        let token = review_token(request);
        Turn::verdict(&json!({"token": token, "verdict": verdict, "findings": findings}))
    })
}
