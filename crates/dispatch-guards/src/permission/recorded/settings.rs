//! The settings files of a case: which load, and what they add (F9).

use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::scene::Scene;
use super::{Early, text, texts};
use crate::permission::files::RuleSource;
use crate::permission::relation::PlacedRule;
use crate::permission::rule::Rule;
use crate::permission::settings::dropped;

/// What the loaded files add.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) allow: Vec<PlacedRule>,
    pub(super) deny: Vec<PlacedRule>,
    pub(super) ask: Vec<PlacedRule>,
    pub(super) added: Vec<String>,
    pub(super) default_mode: Option<String>,
    pub(super) bypass_disabled: bool,
}

impl Loaded {
    pub(super) fn read(
        fields: &Map<String, Value>,
        scene: &Scene,
        arguments: &Arguments,
        bare: bool,
    ) -> Result<Self, Early> {
        let mut loaded = Self::default();
        let empty = Map::new();
        let files = fields.get("settings").and_then(Value::as_object).unwrap_or(&empty);
        let known = ["user", "project", "local", "main_project", "main_local", "flag"];
        if let Some(other) = files.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(Early::NotModelled(format!("the settings file `{other}`")));
        }
        let sources = read_sources(text(fields, "setting_sources"))?;
        let trusted = scene.trusted();
        // Of several default modes, the nearest file's counts; it is read last.
        for (name, source) in [
            ("user", RuleSource::User),
            ("project", RuleSource::Project),
            ("local", RuleSource::Local),
        ] {
            let here = source == RuleSource::User || scene.at_top();
            if !sources.contains(&name) || !here {
                continue;
            }
            let Some(file) = files.get(name).and_then(parse) else { continue };
            let held_back = match source {
                RuleSource::Project => !trusted,
                RuleSource::Local => !trusted && scene.tracked,
                RuleSource::User | RuleSource::CommandLine | RuleSource::Flag => false,
            };
            loaded.add(&file, source, held_back, bare);
        }
        if let Some(flag) = files.get("flag") {
            let file =
                parse(flag).ok_or_else(|| Early::Exits("`--settings` is not JSON".to_owned()));
            loaded.add(&file?, RuleSource::Flag, false, bare);
        }
        if let Some(given) = &arguments.settings {
            loaded.add_given(given, scene, bare)?;
        }
        Ok(loaded)
    }

    fn add_given(&mut self, given: &str, scene: &Scene, bare: bool) -> Result<(), Early> {
        if given.trim_start().starts_with('{')
            && let Ok(file) = serde_json::from_str(given)
        {
            self.add(&file, RuleSource::Flag, false, bare);
            return Ok(());
        }
        let Some(content) = scene.files.get(given) else {
            return Err(Early::Exits("the file of `--settings` is not there".to_owned()));
        };
        let Ok(mut file) = serde_json::from_str::<Value>(content) else {
            return Err(Early::Exits("the file of `--settings` is not JSON".to_owned()));
        };
        // `/x` begins in the folder of that file.
        let folder = given.rsplit_once('/').map_or("", |(folder, _)| folder);
        for list in ["allow", "deny", "ask"] {
            let rules =
                file.pointer_mut(&format!("/permissions/{list}")).and_then(Value::as_array_mut);
            for rule in rules.into_iter().flatten() {
                if let Some(text) = rule.as_str() {
                    let moved = text.replace("(//", "(\0").replace("(/", &format!("(/{folder}/"));
                    *rule = Value::String(moved.replace("(\0", "(//"));
                }
            }
        }
        self.add(&file, RuleSource::CommandLine, false, bare);
        Ok(())
    }

    /// Adds a file, unless the agent would drop it whole.
    fn add(&mut self, file: &Value, source: RuleSource, held_back: bool, bare: bool) {
        let permissions = file.get("permissions");
        let field = |name: &str| permissions.and_then(|permissions| permissions.get(name));
        if dropped(file).is_some() {
            return;
        }
        let rules = |name: &str| -> Vec<PlacedRule> {
            let entries = field(name).and_then(Value::as_array).into_iter().flatten();
            entries
                .filter_map(Value::as_str)
                .map(|text| PlacedRule { rule: Rule::parse(&Scene::fill(text)), source })
                .collect()
        };
        if !held_back {
            self.allow.extend(rules("allow"));
            let added = texts(field("additionalDirectories")).unwrap_or_default();
            self.added.extend(added.iter().map(|folder| Scene::fill(folder)));
        }
        self.deny.extend(rules("deny"));
        self.ask.extend(rules("ask"));
        if let Some(mode) = field("defaultMode").and_then(Value::as_str) {
            self.default_mode = Some(mode.to_owned());
        }
        self.bypass_disabled |=
            field("disableBypassPermissionsMode").and_then(Value::as_str) == Some("disable");
        if !bare && has_allowing_hook(file) {
            self.allow.push(PlacedRule { rule: Rule::parse("Bash"), source });
        }
    }
}

/// A hook that answers "allow" is obeyed, trust or not [hk_proj_False-01]; bare mode runs none.
fn has_allowing_hook(file: &Value) -> bool {
    file.get("hooks").and_then(|hooks| hooks.get("PreToolUse")).is_some_and(|hooks| {
        hooks.to_string().replace('\\', "").contains(r#""permissionDecision":"allow""#)
    })
}

fn parse(file: &Value) -> Option<Value> {
    match file {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    }
}

/// The sources that load: without the flag all do [s_b_none-03].
fn read_sources(given: Option<&str>) -> Result<Vec<&str>, Early> {
    let all = ["user", "project", "local"];
    let Some(given) = given else { return Ok(all.to_vec()) };
    let named: Vec<&str> =
        given.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    match named.iter().find(|name| !all.contains(name)) {
        Some(other) => Err(Early::Exits(format!("there is no settings source `{other}`"))),
        None => Ok(named),
    }
}
