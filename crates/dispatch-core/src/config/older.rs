//! The older dispatcher's file locations, which are the defaults for a configuration found where it had it.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value, json};

use super::load::Loaded;

/// A value taken from the older dispatcher's file locations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OlderDefault {
    /// The path of the value in the configuration.
    pub path: &'static str,
    /// The file that must exist below the code root for the value to be used.
    pub file: Utf8PathBuf,
}

const PROMPT_HOOK: &str = ".claude/hooks/inject-prompt-context.ts";
const FILE_HOOK: &str = ".claude/hooks/business-rules-injector.ts";
const LOCKFILE: &str = "pnpm-lock.yaml";
const LINK: &str = "scripts/worktree-link.sh";

/// Fills in what the file leaves out; what it gives is never touched.
pub(super) fn apply(value: &mut Value) -> Vec<OlderDefault> {
    let mut taken = Vec::new();
    let hooks = json!([
        { "kind": "prompt", "command": ["npx", "--loglevel=error", "tsx", PROMPT_HOOK] },
        { "kind": "file", "command": ["npx", "--loglevel=error", "tsx", FILE_HOOK] },
    ]);
    let files = [
        ("templates.localSystem", ".claude/skills/catalyst-backlog/worker-system-prompt.md"),
        (
            "templates.frontierAddendum",
            ".claude/skills/catalyst-backlog/frontier-worker-addendum.md",
        ),
        ("templates.contract", ".claude/skills/catalyst-delegation/SKILL.md"),
        ("skills.index", ".claude/skills-triggers-index.json"),
        ("provision.lockfile", LOCKFILE),
    ];
    for (path, file) in files {
        if give(value, path, json!(file)) {
            taken.push(OlderDefault { path, file: file.into() });
        }
    }
    if give(value, "provision.link", json!([LINK])) {
        taken.push(OlderDefault { path: "provision.link", file: LINK.into() });
    }
    if give(value, "provision.install", json!(["pnpm", "install"])) {
        taken.push(OlderDefault { path: "provision.install", file: LOCKFILE.into() });
    }
    if give(value, "promptHooks", hooks) {
        for file in [PROMPT_HOOK, FILE_HOOK] {
            taken.push(OlderDefault { path: "promptHooks", file: file.into() });
        }
    }
    // A worker of that dispatcher loaded these; its lane lists were written with them in mind.
    give(value, "lanes.local.settingSources", json!(["user"]));
    give(value, "lanes.frontier.settingSources", json!(["user", "project"]));
    taken
}

/// Sets `path` unless something stands there, and says whether it did.
fn give(value: &mut Value, path: &str, default: Value) -> bool {
    let mut place = value;
    for name in path.split('.') {
        let Value::Object(map) = place else { return false };
        place = map.entry(name).or_insert_with(|| {
            if path.ends_with(name) { Value::Null } else { Value::Object(Map::new()) }
        });
    }
    if place.is_null() {
        *place = default;
        true
    } else {
        false
    }
}

impl Loaded {
    /// Drops the older locations that hold no file: those defaults are for repositories that have it.
    ///
    /// `exists` is asked with paths relative to the code root. What is left in `older` is in use.
    pub fn settle(&mut self, exists: impl Fn(&Utf8Path) -> bool) {
        let (kept, dropped): (Vec<_>, Vec<_>) =
            self.older.drain(..).partition(|default| exists(&default.file));
        self.older = kept;
        let config = &mut self.config;
        for default in dropped {
            match default.path {
                "templates.localSystem" => config.templates.local_system = None,
                "templates.frontierAddendum" => config.templates.frontier_addendum = None,
                "templates.contract" => config.templates.contract = None,
                "skills.index" => config.skills.index = None,
                "provision.lockfile" => config.provision.lockfile = None,
                "provision.link" => config.provision.link.clear(),
                "provision.install" => config.provision.install.clear(),
                _ => config
                    .prompt_hooks
                    .retain(|hook| !hook.command.iter().any(|word| word == default.file.as_str())),
            }
        }
    }
}
