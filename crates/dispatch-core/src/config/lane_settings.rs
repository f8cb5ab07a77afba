//! The settings file of a lane, in the agent's own format.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{ConfigError, ConfigWarning, Fault};
use super::load::parse;
use super::rules::usable_model;
use super::shape::show;
use crate::nearest::nearest;
use crate::triage::Lane;

/// What the dispatcher uses of a lane's settings file; other keys are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSettings {
    /// The model; given on the local lane, ignored on the frontier lane.
    pub model: Option<String>,
    /// Variables for the worker.
    pub env: BTreeMap<String, String>,
    /// `permissions.allow`.
    pub allow: Vec<String>,
    /// `permissions.deny`.
    pub deny: Vec<String>,
}

/// Reads the settings file of `lane`, or says everything that is wrong with it.
///
/// A list that is not a list of texts is an error, never an empty list: the worker's bounds would be lost.
pub fn load_lane_settings(
    text: &str,
    file: &Utf8Path,
    lane: Lane,
) -> Result<LaneSettings, Vec<ConfigError>> {
    let mut reader = Reader { file, errors: Vec::new() };
    let value = match parse(text) {
        Ok(strict) => {
            for path in strict.twice {
                reader.fault(&path, Fault::Twice);
            }
            strict.value
        }
        Err(fault) => {
            reader.fault("", fault);
            return Err(reader.errors);
        }
    };
    if !value.is_object() {
        reader.wrong("", &value, "an object");
        return Err(reader.errors);
    }
    let settings = LaneSettings {
        model: reader.model(value.get("model"), lane),
        env: reader.env(value.get("env")),
        allow: reader.rules(&value, "allow", lane == Lane::Local),
        deny: reader.rules(&value, "deny", false),
    };
    if reader.errors.is_empty() { Ok(settings) } else { Err(reader.errors) }
}

/// Names in a settings file that are nearly those of the parts we use: a mistyped deny list denies nothing. Names that
/// are near to none are the agent's own business.
pub fn mistyped_names(text: &str, file: &Utf8Path) -> Vec<ConfigWarning> {
    let Ok(strict) = parse(text) else { return Vec::new() };
    let tops = ["model", "env", "permissions"];
    let lists = ["allow", "deny", "ask", "defaultMode", "additionalDirectories"];
    let mut warnings = Vec::new();
    for (pointer, lead, known) in [("", "", &tops[..]), ("/permissions", "permissions.", &lists)] {
        let object = strict.value.pointer(pointer).and_then(Value::as_object);
        let names = object.into_iter().flatten().map(|(name, _)| name);
        for name in names.filter(|name| !known.contains(&name.as_str())) {
            let near = nearest(name, known.iter().copied());
            warnings.extend(near.map(|near| ConfigWarning {
                file: file.to_owned(),
                path: format!("{lead}{name}"),
                fault: Fault::Unknown { nearest: Some(near.to_owned()) },
            }));
        }
    }
    warnings
}

struct Reader<'a> {
    file: &'a Utf8Path,
    errors: Vec<ConfigError>,
}

impl Reader<'_> {
    fn fault(&mut self, path: &str, fault: Fault) {
        self.errors.push(ConfigError { file: self.file.to_owned(), path: path.to_owned(), fault });
    }

    fn wrong(&mut self, path: &str, found: &Value, expected: &str) {
        self.fault(path, Fault::Wrong { found: show(found), expected: expected.to_owned() });
    }

    fn model(&mut self, value: Option<&Value>, lane: Lane) -> Option<String> {
        let expected = "a model name (not beginning with `-`, no blanks)";
        match (value, lane) {
            (None, Lane::Local) => {
                self.fault("model", Fault::Missing { expected: expected.to_owned() });
                None
            }
            (Some(Value::String(model)), Lane::Local) if usable_model(model) => Some(model.clone()),
            (Some(other), Lane::Local) => {
                self.wrong("model", other, expected);
                None
            }
            (_, Lane::Frontier) => None,
        }
    }

    fn env(&mut self, value: Option<&Value>) -> BTreeMap<String, String> {
        let mut env = BTreeMap::new();
        match value {
            None | Some(Value::Null) => {}
            Some(Value::Object(map)) => {
                for (name, value) in map {
                    let path = format!("env.{name}");
                    // The value may be a credential: it is never shown.
                    if name.is_empty() || name.contains(['=', '\0']) {
                        self.fault(
                            &path,
                            Fault::Wrong {
                                found: name.clone(),
                                expected: "a name without `=`".to_owned(),
                            },
                        );
                        continue;
                    }
                    match value {
                        Value::String(text) if !text.contains('\0') => {
                            env.insert(name.clone(), text.clone());
                        }
                        _ => self.fault(
                            &path,
                            Fault::Wrong {
                                found: "a value that is no text".to_owned(),
                                expected: "a text without a NUL".to_owned(),
                            },
                        ),
                    }
                }
            }
            Some(other) => self.wrong("env", other, "an object of texts"),
        }
        env
    }

    fn rules(&mut self, value: &Value, list: &str, required: bool) -> Vec<String> {
        let path = format!("permissions.{list}");
        match value.get("permissions") {
            None | Some(Value::Object(_)) => {}
            Some(other) => {
                self.wrong("permissions", other, "an object");
                return Vec::new();
            }
        }
        match value.pointer(&format!("/permissions/{list}")) {
            None if required => {
                self.fault(
                    &path,
                    Fault::Missing { expected: "a list of permission rules".to_owned() },
                );
                Vec::new()
            }
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let mut rules = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    match item.as_str() {
                        Some(rule) if !rule.trim().is_empty() => rules.push(rule.to_owned()),
                        _ => {
                            self.wrong(&format!("{path}[{index}]"), item, "a permission rule");
                        }
                    }
                }
                rules
            }
            Some(other) => {
                self.wrong(&path, other, "a list of permission rules");
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_part_of_a_settings_file_is_told_and_the_agents_own_are_not() {
        let text = r#"{ "permisions": {}, "permissions": { "allow": [], "denny": [], "defaultMode": "x" },
                        "hooks": {}, "outputStyle": "x", "apiKeyHelper": "x" }"#;
        let told: Vec<String> =
            mistyped_names(text, "s.json".into()).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "s.json: permisions: unknown name; did you mean `permissions`?",
                "s.json: permissions.denny: unknown name; did you mean `deny`?",
            ]
        );
    }
}
