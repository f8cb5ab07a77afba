//! A settings file that a worker loads, read more strictly than the agent reads it (P5.1, P5.2, P5.6,
//! P5.7): what the agent would drop, widen or take from elsewhere without a word is a refusal here.

use std::collections::BTreeMap;
use std::fmt;

use dispatch_core::launch::{is_credential_name, is_set_by_us};
use dispatch_core::triage::Lane;
use serde_json::{Map, Value};

use super::files::RuleSource;
use super::lint::Severity;
use super::surface::LoadedFile;

const LISTS: [&str; 4] = ["allow", "deny", "ask", "additionalDirectories"];

const MODES: &[&str] = &["default", "dontAsk", "acceptEdits", "plan", "bypassPermissions", "auto"];

/// Why a settings file may not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsFault {
    /// It is no JSON text.
    #[error(
        "`{file}` cannot be read ({why}): the agent would drop it whole, its denials too; repair it"
    )]
    NotJson {
        /// The file.
        file: String,
        /// What the reader says.
        why: String,
    },
    /// A part of it has the wrong form.
    #[error(
        "`{key}` of `{file}` is not {expected}: the agent would drop it without a word; correct it"
    )]
    Wrong {
        /// The file.
        file: String,
        /// The part.
        key: String,
        /// What it should be.
        expected: &'static str,
    },
    /// It gives a worker more than its rules say, and no denial takes that away again.
    #[error("`{key}` of `{file}` {why}, which no denial takes away: take it out")]
    Widens {
        /// The file.
        file: String,
        /// The part.
        key: &'static str,
        /// What it would give.
        why: &'static str,
    },
}

/// What makes the agent drop a settings file whole, its denials too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    /// The file is no object.
    NoObject,
    /// Its `permissions` are no object.
    NoPermissions,
    /// A list is none [sv_badtype2-02].
    NotAList(&'static str),
    /// The default mode is none of the agent's [sv_badmode-01].
    NoMode,
}

/// Whether the agent drops a settings file whole.
pub(super) fn dropped(file: &Value) -> Option<Dropped> {
    if !file.is_object() {
        return Some(Dropped::NoObject);
    }
    let permissions = file.get("permissions")?;
    if !permissions.is_object() {
        return Some(Dropped::NoPermissions);
    }
    let no_list = |name: &&&str| permissions.get(**name).is_some_and(|list| !list.is_array());
    if let Some(name) = LISTS.iter().find(no_list) {
        return Some(Dropped::NotAList(name));
    }
    let mode = permissions.get("defaultMode")?;
    let known = mode.as_str().is_some_and(|mode| MODES.contains(&mode));
    (!known).then_some(Dropped::NoMode)
}

/// A settings file of one of the agent's sources.
///
/// ```
/// use dispatch_core::triage::Lane;
/// use dispatch_guards::permission::{RuleSource, SettingsFile};
///
/// let text = br#"{"permissions": {"allow": ["Bash(docker:*)"]}, "env": {"OPENAI_API_KEY": "x"}}"#;
/// let file = SettingsFile::parse(RuleSource::User, "settings.json", text)?;
/// assert_eq!(file.loaded().allow, ["Bash(docker:*)"]);
/// assert_eq!(file.overrides(Lane::Local)[0].key, "env.OPENAI_API_KEY");
///
/// // The agent would start without this file and say nothing; its denials would be gone.
/// let text = br#"{"permissions": {"allow": "Bash", "deny": ["Read(.env)"]}}"#;
/// assert!(SettingsFile::parse(RuleSource::User, "settings.json", text).is_err());
/// # Ok::<(), dispatch_guards::permission::SettingsFault>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsFile {
    source: RuleSource,
    file: String,
    allow: Vec<String>,
    env: Map<String, Value>,
    hooks: BTreeMap<String, Vec<Value>>,
    mode: Option<String>,
    key_helper: bool,
}

/// Something in a settings file that a worker must not take from there: it beats its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsOverride {
    /// The file.
    pub file: String,
    /// Where it stands there.
    pub key: String,
    /// What it would override.
    pub overrides: Overrides,
    /// Whether it refuses the launch.
    pub severity: Severity,
}

/// What a settings file would override.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overrides {
    /// A variable that the dispatcher sets.
    Ours,
    /// The account, or the server that its credential is sent to.
    Account,
}

impl fmt::Display for SettingsOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.overrides {
            Overrides::Ours => "a variable that the dispatcher sets",
            Overrides::Account => "the account that a worker uses, or the server it talks to",
        };
        write!(f, "`{}` of `{}` would override {what}: take it out", self.key, self.file)
    }
}

/// The program that the agent asks for a key.
const KEY_HELPER: &str = "apiKeyHelper";

/// Something of the project's file that the checkout's own file does not have (P5.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drift {
    /// A hook of this event: a program that runs in the worker.
    Hook(String),
    /// A variable, or another value of it.
    Variable(String),
    /// The default mode.
    Mode(String),
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook(event) => write!(f, "a hook for `{event}`"),
            Self::Variable(name) => write!(f, "`env.{name}`"),
            Self::Mode(mode) => write!(f, "the default mode `{mode}`"),
        }
    }
}

impl SettingsFile {
    /// Reads a file as the agent would find it.
    pub fn parse(source: RuleSource, file: &str, text: &[u8]) -> Result<Self, SettingsFault> {
        let value: Value = serde_json::from_slice(text).map_err(|error| {
            SettingsFault::NotJson { file: file.to_owned(), why: error.to_string() }
        })?;
        let reader = Reader { file, value: &value };
        reader.sound()?;
        reader.narrow()?;
        Ok(Self {
            source,
            file: file.to_owned(),
            allow: reader.texts("allow"),
            env: reader.object("env")?,
            hooks: reader.hooks()?,
            mode: reader.permission("defaultMode").and_then(Value::as_str).map(str::to_owned),
            key_helper: value.get(KEY_HELPER).is_some_and(|helper| !helper.is_null()),
        })
    }

    /// The source it was read for.
    pub fn source(&self) -> RuleSource {
        self.source
    }

    /// The allow rules, as a surface takes them.
    pub fn loaded(&self) -> LoadedFile {
        LoadedFile { source: self.source, file: self.file.clone(), allow: self.allow.clone() }
    }

    /// What a worker of `lane` must not take from this file (P5.1).
    pub fn overrides(&self, lane: Lane) -> Vec<SettingsOverride> {
        let found = |key: String, overrides: Overrides| {
            let severity = match (overrides, lane) {
                (Overrides::Ours, Lane::Local | Lane::Frontier)
                | (Overrides::Account, Lane::Local) => Severity::Error,
                (Overrides::Account, Lane::Frontier) => Severity::Warning,
            };
            SettingsOverride { file: self.file.clone(), key, overrides, severity }
        };
        let variables = self.env.keys().filter_map(|name| {
            let overrides = match name {
                _ if is_set_by_us(name) => Overrides::Ours,
                _ if is_credential_name(name) => Overrides::Account,
                _ => return None,
            };
            Some(found(format!("env.{name}"), overrides))
        });
        let helper = self.key_helper.then(|| found(KEY_HELPER.to_owned(), Overrides::Account));
        variables.chain(helper).collect()
    }

    /// The events for which this file has a hook; the bare mode runs none.
    ///
    /// What a hook before a tool call answers is obeyed: it can allow what no rule grants.
    pub fn hook_events(&self) -> impl Iterator<Item = &str> {
        self.hooks.keys().map(String::as_str)
    }

    /// The hooks, variables and mode that this file has and `trusted` does not (P5.7).
    pub fn drift(&self, trusted: Option<&Self>) -> Vec<Drift> {
        let hooks = self.hooks.iter().filter(|(event, entries)| {
            let known = trusted.and_then(|trusted| trusted.hooks.get(*event));
            entries.iter().any(|entry| !known.is_some_and(|known| known.contains(entry)))
        });
        let variables = self.env.iter().filter(|(name, value)| {
            trusted.and_then(|trusted| trusted.env.get(*name)) != Some(*value)
        });
        let known_mode = trusted.and_then(|trusted| trusted.mode.as_ref());
        let mode = self.mode.iter().filter(|mode| known_mode != Some(*mode));
        hooks
            .map(|(event, _)| Drift::Hook(event.clone()))
            .chain(variables.map(|(name, _)| Drift::Variable(name.clone())))
            .chain(mode.map(|mode| Drift::Mode(mode.clone())))
            .collect()
    }
}

struct Reader<'a> {
    file: &'a str,
    value: &'a Value,
}

impl Reader<'_> {
    fn permission(&self, name: &str) -> Option<&Value> {
        self.value.get("permissions").and_then(|permissions| permissions.get(name))
    }

    fn wrong(&self, key: String, expected: &'static str) -> SettingsFault {
        SettingsFault::Wrong { file: self.file.to_owned(), key, expected }
    }

    /// Refuses what the agent drops: the file, or an entry of a list (P5.2, P5.6).
    fn sound(&self) -> Result<(), SettingsFault> {
        match dropped(self.value) {
            None => {}
            Some(Dropped::NoObject) => {
                return Err(self.wrong("the whole".to_owned(), "an object"));
            }
            Some(Dropped::NoPermissions) => {
                return Err(self.wrong("permissions".to_owned(), "an object"));
            }
            Some(Dropped::NotAList(list)) => {
                return Err(self.wrong(format!("permissions.{list}"), "a list of texts"));
            }
            Some(Dropped::NoMode) => {
                let key = "permissions.defaultMode".to_owned();
                return Err(self.wrong(key, "a mode that the agent knows"));
            }
        }
        for list in LISTS {
            let entries = self.permission(list).and_then(Value::as_array).into_iter().flatten();
            for (index, entry) in entries.enumerate() {
                if !entry.is_string() {
                    return Err(self.wrong(format!("permissions.{list}[{index}]"), "a text"));
                }
            }
        }
        Ok(())
    }

    /// Refuses what widens a worker in another way than by a rule: only rules can be denied (P5.5).
    fn narrow(&self) -> Result<(), SettingsFault> {
        let widens = |key, why| Err(SettingsFault::Widens { file: self.file.to_owned(), key, why });
        let folders = self.permission("additionalDirectories").and_then(Value::as_array);
        if folders.is_some_and(|folders| !folders.is_empty()) {
            let why = "lets a worker read, and its commands write, outside its slot";
            return widens("permissions.additionalDirectories", why);
        }
        let sandbox = self.value.get("sandbox");
        let off = |sandbox: &Value| sandbox.get("enabled").and_then(Value::as_bool) == Some(false);
        if sandbox.is_some_and(|sandbox| !off(sandbox)) {
            return widens("sandbox", "lets the agent allow commands that no rule grants");
        }
        Ok(())
    }

    fn texts(&self, list: &str) -> Vec<String> {
        let entries = self.permission(list).and_then(Value::as_array).into_iter().flatten();
        entries.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn object(&self, key: &str) -> Result<Map<String, Value>, SettingsFault> {
        match self.value.get(key) {
            None => Ok(Map::new()),
            Some(Value::Object(map)) => Ok(map.clone()),
            Some(_) => Err(self.wrong(key.to_owned(), "an object")),
        }
    }

    fn hooks(&self) -> Result<BTreeMap<String, Vec<Value>>, SettingsFault> {
        let events = self.object("hooks")?.into_iter();
        let lists = events.map(|(event, entries)| match entries {
            Value::Array(entries) => Ok((event, entries)),
            _ => Err(self.wrong(format!("hooks.{event}"), "a list")),
        });
        let mut hooks = lists.collect::<Result<BTreeMap<_, _>, _>>()?;
        hooks.retain(|_, entries| !entries.is_empty());
        Ok(hooks)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_case::test_case;

    use super::*;

    fn read(value: &Value) -> Result<SettingsFile, SettingsFault> {
        SettingsFile::parse(RuleSource::Project, "settings.json", value.to_string().as_bytes())
    }

    /// P5.2: a file without rules has none; what has rules gives them in order.
    #[test]
    fn p5_2_the_allow_rules_are_taken_in_order() {
        assert!(read(&json!({})).unwrap().loaded().allow.is_empty());
        assert!(read(&json!({"permissions": {}})).unwrap().loaded().allow.is_empty());
        let file = read(&json!({"permissions": {"allow": ["Bash(b:*)", "Bash(a:*)"]}})).unwrap();
        assert_eq!(file.loaded().allow, ["Bash(b:*)", "Bash(a:*)"]);
        assert_eq!(file.loaded().source, RuleSource::Project);
    }

    /// P5.6: whatever would make the agent start without the file, or without one of its rules.
    #[test_case(b"{\"permissions\": {" ; "no JSON")]
    #[test_case(b"" ; "nothing at all")]
    #[test_case(b"\xef\xbb\xbf{}" ; "a mark before the text")]
    #[test_case(b"[]" ; "a list")]
    #[test_case(b"{\"permissions\": []}" ; "permissions that are a list")]
    #[test_case(b"{\"permissions\": {\"allow\": \"Bash\"}}" ; "allow as a text")]
    #[test_case(b"{\"permissions\": {\"allow\": null}}" ; "allow as nothing")]
    #[test_case(b"{\"permissions\": {\"deny\": {}}}" ; "deny as an object")]
    #[test_case(b"{\"permissions\": {\"deny\": [\"Bash\", 1]}}" ; "a denial that is a number")]
    #[test_case(b"{\"permissions\": {\"defaultMode\": \"dontask\"}}" ; "a mode it does not know")]
    #[test_case(b"{\"env\": []}" ; "variables as a list")]
    #[test_case(b"{\"hooks\": {\"PreToolUse\": {}}}" ; "hooks that are no list")]
    fn p5_6_a_file_that_the_agent_would_drop_is_refused(text: &[u8]) {
        let fault = SettingsFile::parse(RuleSource::User, "the file", text).unwrap_err();
        assert!(fault.to_string().contains("`the file`"), "{fault}");
    }

    /// P5.5: rules can be denied again; other widenings cannot.
    #[test_case(&json!({"permissions": {"additionalDirectories": ["/home"]}}) ; "other folders")]
    #[test_case(&json!({"sandbox": {"enabled": true}}) ; "a sandbox that is on")]
    #[test_case(&json!({"sandbox": {"autoAllowBashIfSandboxed": true}}) ; "a sandbox that may be on")]
    fn p5_5_what_widens_a_worker_without_a_rule_is_refused(value: &Value) {
        assert!(matches!(read(value), Err(SettingsFault::Widens { .. })));
    }

    #[test]
    fn p5_5_what_widens_nothing_is_taken() {
        read(&json!({"permissions": {"additionalDirectories": []}})).unwrap();
        read(&json!({"sandbox": {"enabled": false}})).unwrap();
    }

    /// P5.1: the account's address and credentials, and what the dispatcher sets itself.
    #[test]
    fn p5_1_what_chooses_the_account_warns_on_the_frontier_lane_and_refuses_on_the_local_one() {
        let file = read(&json!({
            "env": {
                "ANTHROPIC_BASE_URL": "http://elsewhere", "MY_TOKEN": "x", "TOKEN_BUDGET": "1", "HOME": "/home/person",
            },
            "apiKeyHelper": "print-key",
        }))
        .unwrap();
        let shown = |lane| {
            let found = file.overrides(lane).into_iter();
            found
                .map(|found| format!("{:?}: {found}", found.severity))
                .collect::<Vec<_>>()
                .join("\n")
        };
        insta::assert_snapshot!(shown(Lane::Frontier), @"
        Warning: `env.ANTHROPIC_BASE_URL` of `settings.json` would override the account that a worker uses, or the server it talks to: take it out
        Error: `env.HOME` of `settings.json` would override a variable that the dispatcher sets: take it out
        Warning: `env.MY_TOKEN` of `settings.json` would override the account that a worker uses, or the server it talks to: take it out
        Warning: `apiKeyHelper` of `settings.json` would override the account that a worker uses, or the server it talks to: take it out
        ");
        let local = shown(Lane::Local);
        assert!(local.lines().all(|line| line.starts_with("Error")), "{local}");
        assert_eq!(local.lines().count(), 4);
    }

    /// P5.7: what runs in a worker, or bounds it, is what the checkout's own file has.
    #[test]
    fn p5_7_hooks_variables_and_modes_that_the_checkout_does_not_have_are_drift() {
        let hook = |command: &str| json!({"hooks": [{"type": "command", "command": command}]});
        let trusted = read(&json!({
            "hooks": {"Stop": [hook("a"), hook("b")]}, "env": {"CI": "1"},
            "permissions": {"defaultMode": "plan"},
        }))
        .unwrap();
        let same = read(&json!({
            "hooks": {"Stop": [hook("b")], "PreToolUse": []}, "env": {"CI": "1"},
            "permissions": {"defaultMode": "plan", "allow": ["Bash(new:*)"]},
        }))
        .unwrap();
        assert_eq!(same.drift(Some(&trusted)), []);
        assert_eq!(same.hook_events().collect::<Vec<_>>(), ["Stop"]);
        let other = read(&json!({
            "hooks": {"Stop": [hook("b"), hook("c")], "PreToolUse": [hook("a")]},
            "env": {"CI": "2", "X": "1"}, "permissions": {"defaultMode": "acceptEdits"},
        }))
        .unwrap();
        let shown: Vec<String> =
            other.drift(Some(&trusted)).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "a hook for `PreToolUse`",
                "a hook for `Stop`",
                "`env.CI`",
                "`env.X`",
                "the default mode `acceptEdits`"
            ]
        );
        assert_eq!(same.drift(None).len(), 3);
        assert_eq!(read(&json!({})).unwrap().drift(None), []);
    }
}
