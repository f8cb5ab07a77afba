//! The arguments of a session.

use serde_json::{Map, Value};

use super::scene::Scene;
use super::{Early, texts};
use crate::permission::rule::split_list;

/// What the arguments give.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) allow: Vec<String>,
    pub(super) deny: Vec<String>,
    pub(super) added: Vec<String>,
    pub(super) tools: Option<Vec<String>>,
    /// `--settings`: of several, the last counts [sf_twice-01].
    pub(super) settings: Option<String>,
    pub(super) skips_permissions: bool,
}

#[derive(Clone, Copy)]
enum Flag {
    Allow,
    Deny,
    Add,
    Tools,
}

impl Arguments {
    pub(super) fn read(fields: &Map<String, Value>) -> Result<Self, Early> {
        let mut read = Self::default();
        let list = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            value => {
                texts(value).ok_or_else(|| Early::NotModelled(format!("`{name}` of this form")))
            }
        };
        for (plain, raw, flag) in
            [("allow", "allow_args", Flag::Allow), ("deny", "deny_args", Flag::Deny)]
        {
            let mut arguments = list(plain)?;
            arguments.extend(list(raw)?);
            read.take(flag, &arguments)?;
        }
        let extra = list("extra_args")?;
        let given_empty =
            |name: &str| fields.get(name).and_then(Value::as_array).is_some_and(Vec::is_empty);
        // A flag without a value takes what follows, a flag included (F8) [p_eq-01].
        let open = match (given_empty("deny_args"), given_empty("allow_args")) {
            (true, _) => Some(Flag::Deny),
            (false, true) => Some(Flag::Allow),
            (false, false) => None,
        };
        match (open, extra.split_first()) {
            (Some(flag), Some((swallowed, rest))) => {
                read.value(flag, swallowed);
                let end = rest.iter().position(|next| next.starts_with('-')).unwrap_or(rest.len());
                for value in &rest[..end] {
                    read.value(flag, value);
                }
                read.take_extra(&rest[end..])?;
            }
            _ => read.take_extra(&extra)?,
        }
        Ok(read)
    }

    /// The values of a flag, in which the flag itself may come again [p_repeat-01].
    fn take(&mut self, flag: Flag, arguments: &[String]) -> Result<(), Early> {
        for argument in arguments {
            match argument.as_str() {
                "--allowedTools" | "--disallowedTools" => {}
                text if text.starts_with("--") => {
                    return Err(Early::NotModelled(format!("the argument `{text}`")));
                }
                text => self.value(flag, text),
            }
        }
        Ok(())
    }

    fn value(&mut self, flag: Flag, text: &str) {
        let text = Scene::fill(text);
        match flag {
            Flag::Allow => self.allow.extend(split_list(&text)),
            Flag::Deny => self.deny.extend(split_list(&text)),
            Flag::Add => self.added.push(text),
            Flag::Tools => {
                let named =
                    text.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned);
                self.tools.get_or_insert_default().extend(named);
            }
        }
    }

    fn take_extra(&mut self, arguments: &[String]) -> Result<(), Early> {
        let mut flag = None;
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let (name, glued) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (argument.as_str(), None),
            };
            match name {
                "--allowedTools" | "--allowed-tools" => flag = Some(Flag::Allow),
                "--disallowedTools" | "--disallowed-tools" => flag = Some(Flag::Deny),
                "--add-dir" => flag = Some(Flag::Add),
                "--tools" => {
                    self.tools.get_or_insert_default();
                    flag = Some(Flag::Tools);
                }
                "--settings" => {
                    let value = glued.map(str::to_owned).or_else(|| arguments.next().cloned());
                    self.settings = value.map(|value| Scene::fill(&value));
                    flag = None;
                    continue;
                }
                "--dangerously-skip-permissions" => {
                    self.skips_permissions = true;
                    flag = None;
                    continue;
                }
                text if text.starts_with("--") => {
                    return Err(Early::NotModelled(format!("the argument `{text}`")));
                }
                text => match flag {
                    Some(flag) => {
                        self.value(flag, text);
                        continue;
                    }
                    None => return Err(Early::NotModelled(format!("the argument `{text}`"))),
                },
            }
            if let (Some(flag), Some(value)) = (flag, glued) {
                self.value(flag, value);
            }
        }
        Ok(())
    }
}
