//! Where we are: the code root and the board.

use std::ffi::OsString;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_board::{BoardLocation, locate};
use dispatch_core::config::Config;
use dispatch_core::error_chain::chain;
use dispatch_core::id::TaskId;
use dispatch_core::path::normal;
use dispatch_core::status::Status;
use dispatch_engine::setup::{Policies, Roots};
use dispatch_git::CodeRoot;

use super::git;
use crate::args::{GlobalArgs, TaskArg};
use crate::exit::Refused;
use crate::setup::{self, Places};
use crate::trust;

/// Names the board root where it is not found from the current directory.
const BOARD_VARIABLE: &str = "BACKLOG_CWD";

/// The statuses that a task is given on its way.
const WRITTEN: [Status; 4] = [Status::Queued, Status::InProgress, Status::Blocked, Status::Done];

/// Where we are: the code root and the board, before any configuration is read.
#[derive(Debug)]
pub struct Ground {
    /// The code root.
    pub root: CodeRoot,
    /// The board.
    pub board: BoardLocation,
    given: Option<Utf8PathBuf>,
}

impl Ground {
    /// Finds the code root and the board of the current directory.
    pub fn find(global: &GlobalArgs) -> anyhow::Result<Self> {
        let here = std::env::current_dir().context("could not find the current directory")?;
        let here = Utf8PathBuf::try_from(here)
            .context("the current directory has a name that is not UTF-8")?;
        let root = CodeRoot::find(&git(), &here)?;
        let backlog_cwd = std::env::var(BOARD_VARIABLE).ok().filter(|value| !value.is_empty());
        let board = locate(&here, backlog_cwd.as_deref())?;
        let given = global.config.as_ref().map(|file| here.join(file));
        Ok(Self { root, board, given })
    }

    /// The variable that leads a process of ours, which runs in the code root, to a board that is not found from there.
    pub fn board_variable(&self) -> Option<(OsString, OsString)> {
        let named = std::env::var_os(BOARD_VARIABLE).is_some_and(|value| !value.is_empty());
        // Blanks at the end of the value would be cut off, as the board program does.
        let value = self.board.root.join(".").into_string();
        (named || self.board.root != self.root.path).then(|| (BOARD_VARIABLE.into(), value.into()))
    }

    /// The state directory (S5).
    pub fn state_dir(&self) -> Utf8PathBuf {
        self.root.common_dir.join("dispatch")
    }

    /// Where the configuration is looked for.
    pub fn places(&self) -> Places {
        Places {
            code_root: self.root.path.clone(),
            board_dir: self.board.dir.strip_prefix(&self.root.path).ok().map(Utf8Path::to_owned),
            given: self.given.clone(),
            agent_home: setup::agent_home(|name| std::env::var(name).ok()),
        }
    }

    /// What is wrong with the statuses of the board, if one is missing that a task passes through.
    pub fn missing_statuses(&self) -> Option<String> {
        let statuses = &self.board.config.statuses;
        let missing: Vec<String> = WRITTEN
            .iter()
            .filter(|status| status.spelled_in(statuses).is_none())
            .map(|status| format!("`{status}`"))
            .collect();
        (!missing.is_empty()).then(|| {
            format!(
                "the board has no status {}, which a task passes through: add it to `statuses` in `{}`",
                missing.join(", "),
                self.board.config_file
            )
        })
    }

    /// The task that a person means: a number alone has the board's own prefix.
    pub fn task_id(&self, named: &TaskArg) -> anyhow::Result<TaskId> {
        named.with_prefix(&self.board.config.task_prefix).map_err(|error| {
            Refused::because(format!(
                "{error}; the board's own prefix cannot be put before a number"
            ))
        })
    }

    /// Reads the configuration and everything it names, for passes to use.
    pub fn setup(&self) -> anyhow::Result<setup::Setup> {
        if let Some(missing) = self.missing_statuses() {
            bail!(missing);
        }
        self.configuration()
    }

    /// Reads the configuration and everything it names.
    pub fn configuration(&self) -> anyhow::Result<setup::Setup> {
        let mut setup = setup::read(&self.places(), |config| self.faults(config))?;
        // The files that a configuration names are known only now.
        self.roots(setup.config(), Some(&setup))
            .check_slots_root(&self.root.common_dir)
            .with_context(|| format!("`slotsRoot` in `{}` cannot be used", setup.file))?;
        if let Some((name, command)) = self.callback() {
            setup.subject.insert(name, command.as_bytes().to_vec());
        }
        Ok(setup)
    }

    /// What keeps a configuration from being used here, beyond what the file alone tells.
    fn faults(&self, config: &Config) -> Vec<String> {
        let roots = self.roots(config, None);
        let place = roots.check_slots_root(&self.root.common_dir).err();
        let place =
            place.map(|error| format!("the configured `slotsRoot` cannot be used: {error}"));
        let policies = Policies::faults(config, &roots);
        place.into_iter().chain(policies.iter().map(|fault| chain(fault))).collect()
    }

    /// The text of the configuration that would be used, if there is one.
    pub fn configuration_text(&self) -> anyhow::Result<Option<String>> {
        setup::text(&self.places())
    }

    /// The board's own callback, under the name it is approved by.
    fn callback(&self) -> Option<(String, &str)> {
        let command = self.board.config.on_status_change.as_deref()?;
        let file =
            self.board.config_file.strip_prefix(&self.root.path).unwrap_or(&self.board.config_file);
        Some((format!("{file} (onStatusChange)"), command))
    }

    /// Whether the board's callback is the approved one, or there is none.
    pub(super) fn callback_is_approved(&self) -> anyhow::Result<bool> {
        let Some((name, command)) = self.callback() else { return Ok(true) };
        let approved = trust::read(&self.trust_file()?)?;
        let approved = approved.and_then(|mut approved| approved.items.remove(&name));
        Ok(approved.is_some_and(|item| item.sha256 == trust::sha256(command.as_bytes())))
    }

    /// The file that keeps what was approved here.
    pub fn trust_file(&self) -> anyhow::Result<Utf8PathBuf> {
        let variable = |name: &str| std::env::var(name).ok();
        trust::file_for(
            &self.root.path,
            variable("XDG_STATE_HOME").as_deref(),
            variable("HOME").as_deref(),
        )
    }

    /// What changed since a person approved the configuration; nothing when it is the approved one.
    pub fn changes(&self, setup: &setup::Setup) -> anyhow::Result<Option<String>> {
        Ok(match trust::read(&self.trust_file()?)? {
            None => Some("nothing was approved here yet\n".to_owned()),
            Some(approved) => {
                let differences = approved.differences(&setup.subject);
                (!differences.is_empty()).then(|| trust::render(&differences))
            }
        })
    }

    /// Where everything is, under this configuration.
    pub fn roots(&self, config: &Config, setup: Option<&setup::Setup>) -> Roots {
        let own_files = setup
            .map(|setup| setup.subject.keys().map(Utf8PathBuf::from).collect())
            .unwrap_or_default();
        Roots {
            code_root: self.root.path.clone(),
            board_root: self.board.root.clone(),
            board_dir: self.board.dir.clone(),
            slots_root: normal(&self.root.path.join(&config.slots_root)),
            own_files,
        }
    }
}
