//! The folders and files a case takes place in.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Early, text};
use crate::permission::decide::Place;

const SLOT: &str = "/w/slot";
const OUT: &str = "/w/out";
const HOME: &str = "/w/home";
const MAIN: &str = "/w/main";
const BIN: &str = "/w/bin";

/// Folders of the slot that a session may have moved to.
pub(super) const FOLDERS: &[&str] = &["src", "src/deep", "lib", "docs"];

/// Where the agent is started, and what lies around.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) place: Place,
    /// Files whose content matters, by path.
    pub(super) files: BTreeMap<String, String>,
    /// Whether the agent folder of the slot is tracked by git.
    pub(super) tracked: bool,
    /// Whether the slot is a worktree of another checkout.
    pub(super) worktree: bool,
}

impl Scene {
    /// Fills in the names of the folders.
    pub(super) fn fill(text: &str) -> String {
        [
            ("{{SLOT}}", SLOT),
            ("{{OUT}}", OUT),
            ("{{HOME}}", HOME),
            ("{{MAIN}}", MAIN),
            ("{{BIN}}", BIN),
        ]
        .iter()
        .fold(text.to_owned(), |text, (name, folder)| text.replace(name, folder))
    }

    pub(super) fn read(fields: &Map<String, Value>) -> Result<Self, Early> {
        let start = text(fields, "cwd").map_or_else(|| SLOT.to_owned(), Self::fill);
        let mut scene = Self {
            place: Place::new(start, HOME),
            files: BTreeMap::new(),
            tracked: false,
            worktree: fields.get("worktree").is_some_and(|value| !value.is_null()),
        };
        if let Some(setup) = text(fields, "setup") {
            scene.read_setup(&Self::fill(setup))?;
        }
        Ok(scene)
    }

    /// Whether the agent was started at the top of the slot.
    pub(super) fn at_top(&self) -> bool {
        self.place.start == SLOT
    }

    /// Whether the folder was trusted, by the record of the slot or of what it is a worktree of.
    pub(super) fn trusted(&self) -> bool {
        let folder = if self.worktree { MAIN } else { SLOT };
        let record = self.files.get(&format!("{HOME}/.claude.json"));
        let record = record.and_then(|text| serde_json::from_str::<Value>(text).ok());
        record
            .and_then(|record| {
                record.pointer("/projects")?.get(folder)?.get("hasTrustDialogAccepted")?.as_bool()
            })
            .unwrap_or(false)
    }

    /// Understands the few commands that set a scene up.
    fn read_setup(&mut self, setup: &str) -> Result<(), Early> {
        let words = shlex::split(&setup.replace("&&", ";").replace("||", ";").replace(';', " ; "))
            .unwrap_or_default();
        for command in words.split(|word| word == ";") {
            let command: Vec<&str> = command.iter().map(String::as_str).collect();
            match command.as_slice() {
                ["ln", "-s", target, link] => {
                    let link = format!("{SLOT}/{link}");
                    self.place.links.insert(link, (*target).to_owned());
                }
                ["echo" | "printf", content, ">", file] => {
                    let file = if file.starts_with('/') {
                        (*file).to_owned()
                    } else {
                        format!("{SLOT}/{file}")
                    };
                    self.files.insert(file, (*content).to_owned());
                }
                ["git", "add", ..] => self.tracked = true,
                [] | ["git" | "mkdir" | "cp" | "chmod" | "test" | "touch", ..] => {}
                [other, ..] => {
                    return Err(Early::NotModelled(format!("`{other}` in the field `setup`")));
                }
            }
        }
        Ok(())
    }
}
