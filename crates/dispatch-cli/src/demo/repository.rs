//! The throw-away repository of the demo: a bare remote, a checkout, a board and a configuration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_proc::Call;
use serde_json::json;

use super::script::{DemoTask, TASKS};

/// The board's directory in the checkout.
pub(super) const BOARD: &str = "backlog";

/// How often a merge is tried.
const MERGE_TRIES: u32 = 5;
/// How long to wait before it is tried again.
const MERGE_PAUSE: Duration = Duration::from_millis(300);

/// The folders of one demo.
#[derive(Debug)]
pub(super) struct Place {
    /// Everything lies in here.
    pub(super) root: Utf8PathBuf,
    /// The checkout.
    pub(super) code: Utf8PathBuf,
    /// The bare remote.
    pub(super) remote: Utf8PathBuf,
    /// The home, the state home and the folder of stand-in programs.
    pub(super) home: Utf8PathBuf,
    /// Stand-in programs.
    pub(super) bin: Utf8PathBuf,
}

impl Place {
    /// The folders below `root`.
    pub(super) fn below(root: &Utf8Path) -> Self {
        Self {
            root: root.to_owned(),
            code: root.join("widgets"),
            remote: root.join("remote.git"),
            home: root.join("home"),
            bin: root.join("bin"),
        }
    }

    /// The environment everything in the demo runs with: nothing of the person's but `PATH` and the language.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut env = vec![
            ("PATH".to_owned(), format!("{}:{path}", self.bin)),
            ("HOME".to_owned(), self.home.to_string()),
            ("XDG_STATE_HOME".to_owned(), self.home.join("state").into_string()),
            ("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
            // The scripted agent needs no account, but no agent is started without one.
            ("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), "no-account-but-the-demo's".to_owned()),
        ];
        env.extend(
            ["LANG", "LC_ALL", "TERM", "TMPDIR"].iter().filter_map(|name| {
                std::env::var(name).ok().map(|value| ((*name).to_owned(), value))
            }),
        );
        env
    }

    /// Runs git as the person whose repository this is.
    pub(super) fn git(&self, dir: &Utf8Path, args: &[&str]) -> anyhow::Result<String> {
        let identity = [
            "-c",
            "user.name=Demo Person",
            "-c",
            "user.email=person@example.org",
            "-c",
            "init.defaultBranch=main",
        ];
        let call = Call::new("git", dir, Duration::from_mins(1))
            .args(identity)
            .args(args)
            .envs(self.environment());
        let finished = dispatch_proc::run(&call).context("the demo needs git")?;
        if !finished.is_success() {
            bail!("{}", finished.failure(&call.shown()));
        }
        Ok(String::from_utf8_lossy(&finished.stdout).trim_end().to_owned())
    }
}

/// Makes the repository, its remote, the board and the configuration, and commits and pushes them.
///
/// The agent on the `PATH` of the demo is `program`, this very program, as its scripted stand-in.
pub(super) fn make(place: &Place, program: &Utf8Path) -> anyhow::Result<()> {
    for folder in [&place.code, &place.home, &place.bin] {
        fs::create_dir_all(folder).with_context(|| format!("could not make `{folder}`"))?;
    }
    let quoted = format!("'{}'", program.as_str().replace('\'', "'\\''"));
    write_program(
        &place.bin.join("claude"),
        &format!("#!/bin/sh\nexec {quoted} demo-agent \"$@\"\n"),
    )?;
    place.git(&place.root, &["init", "--quiet", "--bare", place.remote.as_str()])?;
    place.git(&place.root, &["init", "--quiet", place.code.as_str()])?;
    place.git(&place.code, &["config", "user.name", "Demo Person"])?;
    place.git(&place.code, &["config", "user.email", "person@example.org"])?;
    place.git(&place.code, &["remote", "add", "origin", place.remote.as_str()])?;
    write(&place.code.join("README.md"), "# Widgets\n\nGreets people.\n")?;
    write(&place.code.join("greetings/.keep"), "")?;
    write(&place.code.join("check.sh"), CHECK)?;
    write(&place.code.join(BOARD).join("config.yml"), BOARD_CONFIG)?;
    write(
        &place.code.join(BOARD).join("dispatch/lanes.json"),
        &format!("{:#}\n", configuration()),
    )?;
    let settings = json!({ "permissions": { "allow": ["Read(./**)", "Edit(./**)"], "deny": [] } });
    for lane in ["local", "frontier"] {
        let file = format!("dispatch/{lane}.settings.json");
        let settings = if lane == "local" { with_model(&settings) } else { settings.clone() };
        write(&place.code.join(BOARD).join(file), &format!("{settings:#}\n"))?;
    }
    for task in &TASKS {
        let name =
            format!("tasks/{} - {}.md", task.id.to_lowercase(), task.title.replace(' ', "-"));
        write(&place.code.join(BOARD).join(name), &task_file(task))?;
    }
    place.git(&place.code, &["add", "--all"])?;
    place.git(&place.code, &["commit", "--quiet", "-m", "chore: begin"])?;
    place.git(&place.code, &["push", "--quiet", "origin", "HEAD:refs/heads/main"])?;
    place.git(&place.remote, &["symbolic-ref", "HEAD", "refs/heads/main"])?;
    Ok(())
}

/// What a person does with a proposal they like: merges the branch and brings the checkout up to date.
pub(super) fn merge(place: &Place, branch: &str) -> anyhow::Result<()> {
    place.git(&place.code, &["fetch", "--quiet", "origin", &format!("refs/heads/{branch}")])?;
    let message = format!("Merge {branch}");
    let merge = ["merge", "--quiet", "--no-ff", "-m", &message, "FETCH_HEAD"];
    // A pass that commits the board holds git's lock for a moment; a person would try again as well.
    let mut tries_left = MERGE_TRIES;
    while let Err(error) = place.git(&place.code, &merge) {
        tries_left -= 1;
        if tries_left == 0 {
            return Err(error);
        }
        thread::sleep(MERGE_PAUSE);
    }
    place.git(&place.code, &["push", "--quiet", "origin", "HEAD:refs/heads/main"])?;
    Ok(())
}

fn with_model(settings: &serde_json::Value) -> serde_json::Value {
    let mut settings = settings.clone();
    settings["model"] = json!("scripted");
    settings
}

fn configuration() -> serde_json::Value {
    let folder = format!("{BOARD}/dispatch");
    json!({
        "slotsRoot": "../slots",
        "slots": ["slot-1", "slot-2"],
        "attempts": 3,
        "lanes": {
            "local": {
                "settings": format!("{folder}/local.settings.json"), "maxParallel": 0, "effort": "medium", "maxTurns": 20,
                "timeoutMinutes": 5, "healthCheckUrl": "http://127.0.0.1:1234", "reviewerModel": "scripted",
            },
            "frontier": {
                "settings": format!("{folder}/frontier.settings.json"), "maxParallel": 2,
                "model": { "direct": "scripted", "sdd": "scripted" }, "maxTurns": 20, "timeoutMinutes": 5,
            },
        },
        "confinement": { "mode": "off" },
        "forge": { "kind": "git" },
        "owner": "off",
        "notify": "off",
        "limits": { "minFreeMiB": 16 },
        "testCommands": [["sh", "check.sh"]],
    })
}

fn task_file(task: &DemoTask) -> String {
    let dependencies = match task.depends_on {
        None => "dependencies: []".to_owned(),
        Some(id) => format!("dependencies:\n  - {id}"),
    };
    format!(
        "---\nid: {id}\ntitle: {title}\nstatus: Queued\nassignee: []\ncreated_date: '2026-01-01 09:0{minute}'\nlabels:\n  \
         - 'tier:minor'\n  - 'lane:frontier'\n  - 'path:direct'\n{dependencies}\n---\n\n## Description\n\n\
         <!-- SECTION:DESCRIPTION:BEGIN -->\n{description}\n\nFiles to touch:\n- {file}\n\nTest command: sh check.sh\n\
         <!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 The greeting is there\n\
         <!-- AC:END -->\n",
        id = task.id,
        title = task.title,
        minute = task.id.trim_start_matches("T-"),
        description = task.description,
        file = task.file,
    )
}

/// The project's test: every greeting says something.
const CHECK: &str = "for file in greetings/*; do\n  if [ ! -s \"$file\" ]; then\n    echo \"$file is empty\" >&2\n    exit 1\n  fi\ndone\necho all greetings say something\n";

const BOARD_CONFIG: &str = "project_name: \"Widgets\"\ndefault_status: \"To Do\"\nstatuses: [\"To Do\", \"Queued\", \"In Progress\", \"Blocked\", \"Done\"]\nlabels: []\ndate_format: yyyy-mm-dd\nremote_operations: false\nauto_commit: false\ncheck_active_branches: false\ntask_prefix: \"T\"\n";

fn write(file: &Utf8Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("could not make `{folder}`"))?;
    }
    fs::write(file, text).with_context(|| format!("could not write `{file}`"))
}

fn write_program(file: &Utf8Path, text: &str) -> anyhow::Result<()> {
    write(file, text)?;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("could not make `{file}` executable"))
}
