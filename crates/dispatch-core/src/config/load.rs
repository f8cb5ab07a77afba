//! Reading `lanes.json`.

use std::collections::BTreeSet;
use std::fmt;

use camino::Utf8PathBuf;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use super::error::{ConfigError, ConfigWarning, Fault, Finding};
use super::keys::ROOT;
use super::model::Config;
use super::older::{self, OlderDefault};
use super::rules;
use super::shape::{self, Findings, Unknown};

/// Where a configuration file was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, as messages name it.
    pub file: Utf8PathBuf,
    /// By which rule it was found.
    pub found: Found,
    /// The board directory relative to the code root, when it lies inside it.
    pub board_dir: Option<Utf8PathBuf>,
}

/// By which rule a configuration file was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Named by `--config` or `DISPATCH_CONFIG`.
    Given,
    /// In the board directory.
    Board,
    /// At `scripts/backlog/lanes.json`, where the older dispatcher had it: unknown names are warnings, and
    /// that dispatcher's file locations are the defaults.
    Older,
}

/// A configuration that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// What a person should know about it.
    pub warnings: Vec<ConfigWarning>,
    /// Values taken from the older dispatcher's file locations; see [`Loaded::settle`].
    pub older: Vec<OlderDefault>,
    /// The paths of the values that the file itself gives; every other value is a default.
    pub given: BTreeSet<String>,
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// Everything that is wrong with it, never empty.
    pub errors: Vec<ConfigError>,
    /// The configuration with a default in the place of each faulty value, where that can be used: for looking into the
    /// other values, so that a person is told of their faults in the same run.
    pub remainder: Option<Box<Config>>,
}

/// Reads a configuration, or says everything that is wrong with it.
pub fn load(text: &str, location: &Location) -> Result<Loaded, Rejected> {
    let rejected = |findings: Vec<Finding>, remainder: Option<Config>| Rejected {
        errors: findings.into_iter().map(|finding| at(location, finding)).collect(),
        remainder: remainder.map(Box::new),
    };
    let mut findings = Findings::default();
    let strict = match parse(text) {
        Ok(strict) => strict,
        Err(fault) => return Err(rejected(vec![Finding { path: String::new(), fault }], None)),
    };
    findings.errors.extend(
        strict.twice.iter().map(|path| Finding { path: path.clone(), fault: Fault::Twice }),
    );
    let unknown = match location.found {
        Found::Given | Found::Board => Unknown::Error,
        Found::Older => Unknown::Warning,
    };
    let mut value = strict.value;
    shape::validate(&value, &ROOT, "", unknown, &mut findings);
    one_credential(&value, &mut findings);
    if !findings.errors.is_empty() {
        let remainder = without(value, &findings.errors)
            .and_then(|mut value| configuration(&mut value, location.found).ok())
            .map(|(config, _)| config);
        if let Some(config) = &remainder {
            rules::between(config, location.board_dir.as_deref(), &mut findings);
        }
        return Err(rejected(findings.errors, remainder));
    }
    let given = given_paths(&value);
    let (config, older) = match configuration(&mut value, location.found) {
        Ok(read) => read,
        Err(finding) => return Err(rejected(vec![finding], None)),
    };
    rules::between(&config, location.board_dir.as_deref(), &mut findings);
    if !findings.errors.is_empty() {
        return Err(rejected(findings.errors, Some(config)));
    }
    findings.warnings.extend(rules::not_acted_on(&given));
    let warnings = findings
        .warnings
        .into_iter()
        .map(|Finding { path, fault }| ConfigWarning { file: location.file.clone(), path, fault })
        .collect();
    Ok(Loaded { config, warnings, older, given })
}

/// The configuration of a value whose shape is right.
fn configuration(value: &mut Value, found: Found) -> Result<(Config, Vec<OlderDefault>), Finding> {
    let older = match found {
        Found::Older => older::apply(value),
        Found::Given | Found::Board => Vec::new(),
    };
    normalise(value);
    match serde_path_to_error::deserialize(&*value) {
        Ok(config) => Ok((config, older)),
        // The shapes admit nothing the types refuse; should they ever, the path still says where.
        Err(error) => {
            let fault = Fault::Wrong {
                found: error.inner().to_string(),
                expected: "a value of the right form".to_owned(),
            };
            Err(Finding { path: error.path().to_string(), fault })
        }
    }
}

/// `value` without what `errors` find fault with, if nothing that is required is among that.
fn without(mut value: Value, errors: &[Finding]) -> Option<Value> {
    for finding in errors.iter().filter(|finding| finding.fault != Fault::Twice) {
        // A faulty item takes its whole list along: the others would answer to wrong numbers.
        let names = finding.path.split('[').next().unwrap_or_default();
        let (parent, name) = names.rsplit_once('.').unwrap_or(("", names));
        let mut parent = parent.split('.').filter(|name| !name.is_empty());
        let holder = parent.try_fold(&mut value, |holder, name| holder.get_mut(name));
        holder.and_then(Value::as_object_mut).map(|members| members.remove(name));
    }
    let mut left = Findings::default();
    shape::validate(&value, &ROOT, "", Unknown::Error, &mut left);
    left.errors.is_empty().then_some(value)
}

/// The configuration of the smallest file that loads: all defaults, one slot, the local lane turned off.
pub fn smallest() -> Config {
    let place = Location { file: Utf8PathBuf::new(), found: Found::Given, board_dir: None };
    match load(MINIMAL, &place) {
        Ok(loaded) => loaded.config,
        Err(rejected) => unreachable!("the smallest file loads, as a test says: {rejected:?}"),
    }
}

/// The JSON Schema of `lanes.json`, with the defaults in it.
pub fn schema() -> Value {
    let defaults = serde_json::to_value(smallest()).ok();
    let mut schema = shape::schema(&ROOT, defaults.as_ref());
    if let Value::Object(schema) = &mut schema {
        schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        schema.insert("title".to_owned(), json!("dispatch: lanes.json"));
    }
    schema
}

/// The smallest file that loads; what it leaves out are the defaults.
pub(super) const MINIMAL: &str = r#"{
  "slotsRoot": ".claude/worktrees",
  "slots": ["dispatch-1"],
  "attempts": 3,
  "lanes": {
    "local": {
      "settings": "local.settings.json", "maxParallel": 0, "effort": "medium", "maxTurns": 60,
      "timeoutMinutes": 45, "healthCheckUrl": "http://127.0.0.1:1234", "reviewerModel": "sonnet"
    },
    "frontier": {
      "settings": "frontier.settings.json", "maxParallel": 1, "model": { "direct": "sonnet", "sdd": "opus" },
      "maxTurns": 200, "timeoutMinutes": 90
    }
  }
}"#;

fn at(location: &Location, finding: Finding) -> ConfigError {
    ConfigError { file: location.file.clone(), path: finding.path, fault: finding.fault }
}

fn one_credential(value: &Value, out: &mut Findings) {
    let Some(Value::Object(credential)) = value.pointer("/agent/credential") else { return };
    let forms = ["env", "helper"].iter().filter(|form| credential.contains_key(**form)).count();
    if forms != 1 {
        out.errors.push(Finding {
            path: "agent.credential".to_owned(),
            fault: Fault::Wrong {
                found: shape::show(&Value::Object(credential.clone())),
                expected: "either `env` or `helper`".to_owned(),
            },
        });
    }
}

/// Brings the short forms of values into their long form and drops what nobody reads.
fn normalise(value: &mut Value) {
    if let Some(mode @ Value::String(_)) = value.get_mut("confinement") {
        *mode = json!({ "mode": mode.take() });
    }
    if let Some(identity) = value.pointer_mut("/commit/identity")
        && let Some((name, email)) = identity.as_str().and_then(rules::split_identity)
    {
        *identity = json!({ "name": name, "email": email });
    }
}

fn given_paths(value: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let below =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    walk(value, &below, out);
                }
            }
            _ => {
                out.insert(path.to_owned());
            }
        }
    }
    let mut out = BTreeSet::new();
    walk(value, "", &mut out);
    out
}

/// A JSON text whose names are each given once, and the paths of those that are not.
pub(super) struct Strict {
    pub(super) value: Value,
    pub(super) twice: Vec<String>,
}

pub(super) fn parse(text: &str) -> Result<Strict, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(Fault::Syntax { line: 1, column: 1, cause: "the file is empty".to_owned() });
    }
    let once: Once = serde_json::from_str(text).map_err(|error| Fault::Syntax {
        line: error.line(),
        column: error.column(),
        cause: strip_place(&error.to_string()),
    })?;
    let mut twice = Vec::new();
    let value = once.flatten("", &mut twice);
    Ok(Strict { value, twice })
}

/// The parser's words without the place, which the message gives already.
fn strip_place(text: &str) -> String {
    text.rsplit_once(" at line ").map_or(text, |(words, _)| words).to_owned()
}

/// JSON in which a name may stand twice: `serde_json` would silently keep the last one.
enum Once {
    Leaf(Value),
    List(Vec<Once>),
    Object(Vec<(String, Once)>),
}

impl Once {
    fn flatten(self, path: &str, twice: &mut Vec<String>) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::List(items) => items
                .into_iter()
                .enumerate()
                .map(|(index, item)| item.flatten(&format!("{path}[{index}]"), twice))
                .collect(),
            Self::Object(members) => {
                let mut map = Map::new();
                for (name, member) in members {
                    let below =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let value = member.flatten(&below, twice);
                    if map.insert(name, value).is_some() {
                        twice.push(below);
                    }
                }
                Value::Object(map)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceVisitor)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once::Leaf(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Once, E> {
        Ok(Once::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Once, E> {
        Ok(Once::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Once, E> {
        Ok(Once::Leaf(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Once, E> {
        Ok(Once::Leaf(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Once, E> {
        Ok(Once::Leaf(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Once, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Once::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Once, A::Error> {
        let mut list = Vec::new();
        while let Some(member) = members.next_entry()? {
            list.push(member);
        }
        Ok(Once::Object(list))
    }
}
