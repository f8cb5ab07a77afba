//! GraphQL queries: the document is parsed, then projected from plain JSON objects.

mod parse;
mod schema;

use serde_json::{Map, Value, json};

use self::parse::{Document, Field, Selection};
use self::schema::Resolved;
use super::state::State;

/// Answers a GraphQL request.
pub(super) fn answer(state: &State, body: &Value) -> Value {
    let text = body["query"].as_str().unwrap_or_default();
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => return json!({"errors": [{"message": error}]}),
    };
    let variables = document.variables(&body["variables"]);
    let mut run = Run { state, document: &document, variables, errors: Vec::new(), invalid: None };
    let data = run.object(&json!({"__typename": "Query"}), &document.selections, &[]);
    if let Some(message) = run.invalid {
        return json!({"errors": [{"message": message}]});
    }
    if run.errors.is_empty() {
        json!({"data": data})
    } else {
        json!({"data": data, "errors": run.errors})
    }
}

struct Run<'a> {
    state: &'a State,
    document: &'a Document,
    variables: Map<String, Value>,
    errors: Vec<Value>,
    /// A fault of the query itself: then there is no data at all.
    invalid: Option<String>,
}

impl Run<'_> {
    fn object(&mut self, object: &Value, selections: &[Selection], path: &[Value]) -> Value {
        let mut shown = Map::new();
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    let mut path = path.to_vec();
                    path.push(Value::from(field.alias.clone()));
                    let value = self.field(object, field, &path);
                    shown.insert(field.alias.clone(), value);
                }
                Selection::Inline { on, selections } => {
                    if on.as_deref().is_none_or(|on| object["__typename"] == on) {
                        self.add(&mut shown, object, selections, path);
                    }
                }
                Selection::Spread(name) => match self.document.fragments.get(name) {
                    Some(selections) => self.add(&mut shown, object, selections, path),
                    None => self.refuse(format!("Fragment {name} was used, but not defined")),
                },
            }
        }
        Value::Object(shown)
    }

    fn add(
        &mut self,
        shown: &mut Map<String, Value>,
        object: &Value,
        selections: &[Selection],
        path: &[Value],
    ) {
        if let Value::Object(more) = self.object(object, selections, path) {
            shown.extend(more);
        }
    }

    fn field(&mut self, object: &Value, field: &Field, path: &[Value]) -> Value {
        let arguments = field.arguments(&self.variables);
        match schema::resolve(self.state, object, &field.name, &arguments) {
            Resolved::Value(value) => self.project(&value, field, path),
            Resolved::Missing { message } => {
                self.errors.push(json!({"type": "NOT_FOUND", "path": path, "message": message}));
                Value::Null
            }
            Resolved::Unknown => {
                let kind = object["__typename"].as_str().unwrap_or("?");
                self.refuse(format!("Field '{}' doesn't exist on type '{kind}'", field.name));
                Value::Null
            }
        }
    }

    fn project(&mut self, value: &Value, field: &Field, path: &[Value]) -> Value {
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(index, item)| {
                    let mut path = path.to_vec();
                    path.push(Value::from(index));
                    self.project(item, field, &path)
                });
                Value::Array(items.collect())
            }
            Value::Object(_) if field.selections.is_empty() => {
                self.refuse(format!("Field '{}' must have selections", field.name));
                Value::Null
            }
            Value::Object(_) => self.object(value, &field.selections, path),
            plain => plain.clone(),
        }
    }

    fn refuse(&mut self, message: String) {
        self.invalid.get_or_insert(message);
    }
}
