//! What a value of a configuration file may be: one table from which validation and the JSON Schema both come.

use serde_json::{Map, Value, json};

use super::error::{Fault, Finding};
use crate::nearest::nearest;

/// A key of an object.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) required: bool,
    pub(super) shape: &'static Shape,
    pub(super) doc: &'static str,
}

/// A rule for a text, with the sentence that says what is expected.
#[derive(Debug)]
pub(super) struct TextRule {
    pub(super) expected: &'static str,
    pub(super) pattern: Option<&'static str>,
    pub(super) check: fn(&str) -> bool,
}

/// What a value may be.
#[derive(Debug)]
pub(super) enum Shape {
    /// A text that a rule accepts.
    Text(TextRule),
    /// One of a closed set of texts.
    Choice(fn() -> Vec<&'static str>),
    /// Yes or no.
    Flag,
    /// A whole number in a range.
    Whole { min: u64, max: u64 },
    /// A number, fractions allowed.
    Number { expected: &'static str, check: fn(f64) -> bool, exclusive_minimum: Option<f64> },
    /// A list of at least so many items.
    List { item: &'static Shape, min: usize, unique: bool },
    /// An object with exactly these keys.
    Object(&'static [Key]),
    /// An object that somebody else reads.
    Anything,
    /// The value may be `null`, which is the same as leaving the key out.
    OrNull(&'static Shape),
    /// One of several, told apart by their JSON type.
    Either(&'static [&'static Shape]),
}

/// How unknown keys of a file are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Error,
    Warning,
}

/// Where validation puts what it finds.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<Finding>,
    pub(super) warnings: Vec<Finding>,
}

/// Checks `value` against `shape`, collecting everything that is wrong with it.
pub(super) fn validate(
    value: &Value,
    shape: &Shape,
    path: &str,
    unknown: Unknown,
    out: &mut Findings,
) {
    let mut wrong = |expected: String| {
        out.errors.push(Finding {
            path: path.to_owned(),
            fault: Fault::Wrong { found: show(value), expected },
        });
    };
    match (shape, value) {
        (Shape::OrNull(_), Value::Null) | (Shape::Anything, _) | (Shape::Flag, Value::Bool(_)) => {}
        (Shape::OrNull(inner), _) => validate(value, inner, path, unknown, out),
        (Shape::Text(rule), Value::String(text)) if (rule.check)(text) => {}
        (Shape::Choice(members), Value::String(text)) if members().contains(&text.as_str()) => {}
        (Shape::Whole { min, max }, Value::Number(number))
            if number.as_u64().is_some_and(|number| (*min..=*max).contains(&number)) => {}
        (Shape::Number { check, .. }, Value::Number(number))
            if number.as_f64().is_some_and(check) => {}
        (Shape::List { item, min, unique }, Value::Array(items)) => {
            if items.len() < *min {
                wrong(describe(shape));
            }
            for (index, item_value) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                validate(item_value, item, &path, unknown, out);
                if *unique && items.iter().take(index).any(|earlier| earlier == item_value) {
                    out.errors.push(Finding {
                        path,
                        fault: Fault::Wrong {
                            found: show(item_value),
                            expected: "each entry once".to_owned(),
                        },
                    });
                }
            }
        }
        (Shape::Object(keys), Value::Object(map)) => object(map, keys, path, unknown, out),
        (Shape::Either(shapes), _) => match shapes.iter().find(|shape| same_type(shape, value)) {
            Some(shape) => validate(value, shape, path, unknown, out),
            None => wrong(describe(shape)),
        },
        _ => wrong(describe(shape)),
    }
}

fn object(
    map: &Map<String, Value>,
    keys: &[Key],
    path: &str,
    unknown: Unknown,
    out: &mut Findings,
) {
    let below = |name: &str| {
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    };
    for key in keys {
        match map.get(key.name) {
            Some(value) => validate(value, key.shape, &below(key.name), unknown, out),
            None if key.required => out.errors.push(Finding {
                path: below(key.name),
                fault: Fault::Missing { expected: describe(key.shape) },
            }),
            None => {}
        }
    }
    for name in map.keys().filter(|name| !keys.iter().any(|key| key.name == name.as_str())) {
        let finding = Finding {
            path: below(name),
            fault: Fault::Unknown {
                nearest: nearest(name, keys.iter().map(|key| key.name)).map(str::to_owned),
            },
        };
        let tolerated = ["_", "//", "$"].iter().any(|start| name.starts_with(start));
        match unknown {
            Unknown::Error if !tolerated => out.errors.push(finding),
            Unknown::Error | Unknown::Warning => out.warnings.push(finding),
        }
    }
}

fn same_type(shape: &Shape, value: &Value) -> bool {
    match shape {
        Shape::Text(_) | Shape::Choice(_) => value.is_string(),
        Shape::Flag => value.is_boolean(),
        Shape::Whole { .. } | Shape::Number { .. } => value.is_number(),
        Shape::List { .. } => value.is_array(),
        Shape::Object(_) => value.is_object(),
        Shape::Anything => true,
        Shape::OrNull(inner) => value.is_null() || same_type(inner, value),
        Shape::Either(shapes) => shapes.iter().any(|shape| same_type(shape, value)),
    }
}

/// What is expected, as a phrase.
pub(super) fn describe(shape: &Shape) -> String {
    match shape {
        Shape::Text(rule) => rule.expected.to_owned(),
        Shape::Choice(members) => {
            let members: Vec<String> =
                members().iter().map(|member| format!("`\"{member}\"`")).collect();
            members.join(" or ")
        }
        Shape::Flag => "`true` or `false`".to_owned(),
        Shape::Whole { min, max: u64::MAX } => format!("a whole number, {min} or more"),
        Shape::Whole { min, max } => format!("a whole number from {min} to {max}"),
        Shape::Number { expected, .. } => (*expected).to_owned(),
        Shape::List { item, min: 0, .. } => format!("a list, each entry {}", describe(item)),
        Shape::List { item, min, .. } => {
            format!("a list of at least {min}, each entry {}", describe(item))
        }
        Shape::Object(_) | Shape::Anything => "an object".to_owned(),
        Shape::OrNull(inner) => format!("{} or `null`", describe(inner)),
        Shape::Either(shapes) => {
            let shapes: Vec<String> = shapes.iter().map(|shape| describe(shape)).collect();
            shapes.join(", or ")
        }
    }
}

/// The value as found, short enough for a message.
pub(super) fn show(value: &Value) -> String {
    const LIMIT: usize = 80;
    let text = value.to_string();
    if text.chars().count() <= LIMIT {
        return text;
    }
    let mut cut: String = text.chars().take(LIMIT).collect();
    cut.push('…');
    cut
}

/// The JSON Schema of `shape`; optional keys carry their default from `defaults`.
pub(super) fn schema(shape: &Shape, defaults: Option<&Value>) -> Value {
    match shape {
        Shape::Text(rule) => match rule.pattern {
            Some(pattern) => {
                json!({ "type": "string", "pattern": pattern, "description": rule.expected })
            }
            None => json!({ "type": "string", "description": rule.expected }),
        },
        Shape::Choice(members) => json!({ "enum": members() }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Whole { min, max: u64::MAX } => json!({ "type": "integer", "minimum": min }),
        Shape::Whole { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        Shape::Number { expected, exclusive_minimum, .. } => match exclusive_minimum {
            Some(minimum) => {
                json!({ "type": "number", "exclusiveMinimum": minimum, "description": expected })
            }
            None => json!({ "type": "number", "minimum": 0, "description": expected }),
        },
        Shape::List { item, min, unique } => {
            json!({ "type": "array", "items": schema(item, None), "minItems": min, "uniqueItems": unique })
        }
        Shape::Object(keys) => object_schema(keys, defaults),
        Shape::Anything => json!({ "type": "object" }),
        Shape::OrNull(inner) => json!({ "anyOf": [schema(inner, defaults), { "type": "null" }] }),
        Shape::Either(shapes) => {
            let shapes: Vec<Value> = shapes.iter().map(|shape| schema(shape, defaults)).collect();
            json!({ "anyOf": shapes })
        }
    }
}

fn object_schema(keys: &[Key], defaults: Option<&Value>) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let default = defaults.and_then(|defaults| defaults.get(key.name));
        let mut property = schema(key.shape, default);
        if let Value::Object(property) = &mut property {
            property.insert("description".to_owned(), Value::from(key.doc));
            if let (false, Some(default)) = (key.required, default) {
                property.insert("default".to_owned(), default.clone());
            }
        }
        properties.insert(key.name.to_owned(), property);
    }
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "patternProperties": { "^(_|//|\\$)": {} },
        "additionalProperties": false,
    })
}

/// Every path to a key below `shape`, objects inside lists and alternatives included.
#[cfg(test)]
pub(super) fn key_paths(shape: &Shape, path: &str, out: &mut Vec<String>) {
    match shape {
        Shape::Object(keys) => {
            for key in *keys {
                let path = format!("{path}/{}", key.name);
                out.push(path.clone());
                key_paths(key.shape, &path, out);
            }
        }
        Shape::OrNull(inner) => key_paths(inner, path, out),
        Shape::Either(shapes) => shapes.iter().for_each(|shape| key_paths(shape, path, out)),
        Shape::List { item, .. } => key_paths(item, &format!("{path}/0"), out),
        Shape::Text(_)
        | Shape::Choice(_)
        | Shape::Flag
        | Shape::Whole { .. }
        | Shape::Number { .. }
        | Shape::Anything => {}
    }
}
