//! `dispatch config`.

mod check;

use std::collections::BTreeMap;

use dispatch_core::config;
use serde_json::{Value, json};

use crate::args::{ConfigCommand, GlobalArgs};
use crate::exit::Exit;
use crate::output;
use crate::wire::Ground;

/// Checks or prints the configuration.
pub(super) fn run(command: ConfigCommand, global: &GlobalArgs) -> anyhow::Result<Exit> {
    match command {
        ConfigCommand::Schema => {
            output::json(&config::schema())?;
            Ok(Exit::Done)
        }
        ConfigCommand::Check => check::run(&Ground::find(global)?),
        ConfigCommand::Show => show(&Ground::find(global)?),
    }
}

/// Prints every value with its origin: the file, the older location, or the default.
fn show(ground: &Ground) -> anyhow::Result<Exit> {
    let setup = ground.setup()?;
    let mut origins = BTreeMap::new();
    leaves(&serde_json::to_value(setup.config())?, "", &mut origins);
    let values: Vec<Value> = origins
        .into_iter()
        .map(|(path, value)| {
            let given = setup
                .loaded
                .given
                .iter()
                .any(|given| path == *given || path.starts_with(&format!("{given}.")));
            let older = setup.loaded.older.iter().any(|older| path.starts_with(older.path));
            let origin = if given {
                setup.file.as_str()
            } else if older {
                "older location"
            } else {
                "default"
            };
            json!({ "path": path, "value": value, "origin": origin })
        })
        .collect();
    output::json(&values)?;
    Ok(Exit::Done)
}

fn leaves(value: &Value, path: &str, into: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, value) in map {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                leaves(value, &path, into);
            }
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => {
            into.insert(path.to_owned(), value.clone());
        }
    }
}
