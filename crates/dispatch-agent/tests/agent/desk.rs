//! What the tests are set up with.

use std::ffi::OsString;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_agent::{ClaudeAgent, ClaudeSettings};
use dispatch_engine::ports::{AgentLaunch, ExitMark, Running};
use dispatch_proc::{ProcessIdentity, StopLimits};
use dispatch_testkit::wait;

/// Short for what must be killed in the end, ample for what ends when asked to.
pub(crate) const QUICK: StopLimits = StopLimits {
    interrupt: Duration::from_millis(200),
    terminate: Duration::from_millis(200),
    kill: Duration::from_secs(30),
};

/// A folder with a slot in it.
pub(crate) struct Desk {
    _keep: tempfile::TempDir,
    pub(crate) root: Utf8PathBuf,
    pub(crate) slot: Utf8PathBuf,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(keep.path()).unwrap().canonicalize_utf8().unwrap();
        let slot = root.join("slot");
        fs::create_dir(&slot).unwrap();
        fs::create_dir(root.join("bin")).unwrap();
        Self { _keep: keep, root, slot }
    }

    /// Makes an agent that runs `script` and stops it by `stop`.
    pub(crate) fn agent(&self, script: &str, stop: StopLimits) -> ClaudeAgent {
        self.script("claude", script);
        ClaudeAgent::new(ClaudeSettings { stop, ..self.settings() })
    }

    /// Makes a program of this name, found on the path before any other.
    pub(crate) fn script(&self, name: &str, script: &str) -> Utf8PathBuf {
        Self::program(self.root.join("bin").join(name), script)
    }

    /// Makes a program of this name in the slot.
    pub(crate) fn tool(&self, name: &str, script: &str) -> Utf8PathBuf {
        Self::program(self.slot.join(name), script)
    }

    fn program(program: Utf8PathBuf, script: &str) -> Utf8PathBuf {
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    pub(crate) fn settings(&self) -> ClaudeSettings {
        // The tests' stand-in for the launcher that the product brings along.
        ClaudeSettings::new(vec![OsString::from("setsid")], self.root.as_str(), None)
    }

    pub(crate) fn path(&self) -> String {
        format!("{}:{}", self.root.join("bin"), std::env::var("PATH").unwrap())
    }

    pub(crate) fn launch(&self, argv: &[&str], marker: &str) -> AgentLaunch {
        fs::write(self.root.join("prompt.md"), "The prompt.\n").unwrap();
        AgentLaunch {
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            env: vec![("PATH".into(), self.path()), ("DISPATCH_ATTEMPT".into(), marker.into())],
            dir: self.slot.clone(),
            stdin: self.root.join("prompt.md"),
            stdout: self.root.join("stream.jsonl"),
            stderr: self.root.join("worker.stderr.log"),
        }
    }

    /// The process whose number a script wrote into a file of the slot.
    pub(crate) fn noted(&self, name: &str) -> ProcessIdentity {
        let path = self.slot.join(name);
        wait::until_some(&format!("a number in `{path}`"), || {
            let text = fs::read_to_string(&path).ok()?;
            ProcessIdentity::of(text.strip_suffix('\n')?.parse().ok()?)
        })
    }
}

pub(crate) fn ended(worker: &mut dyn Running) -> ExitMark {
    wait::until_some("the worker's end", || worker.poll().unwrap())
}

/// A text that no other test's processes carry.
/// The word of a supervisor that nobody asked for anything.
pub(crate) fn goes_on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(crate) fn marker(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}
