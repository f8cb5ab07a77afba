//! The adapters, together.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;

use anyhow::{Context, bail};
use dispatch_agent::{
    ClaudeAgent, ClaudeSettings, Reach, SupervisorProgram, SystemClock, SystemCommands,
    SystemNotifier,
};
use dispatch_board::DiskBoard;
use dispatch_core::config;
use dispatch_core::id::TaskId;
use dispatch_engine::hand_over::{HandOver, HandOverError};
use dispatch_engine::ports::{Forge, Ports, Store};
use dispatch_engine::setup::{AgentSettings, Policies, Setup, Trust};
use dispatch_git::Repository;
use dispatch_store::DiskStore;

use super::programs::{own_program, worker_edit};
use super::{CONFINED, Ground, forge, git, store, vcs_settings};
use crate::setup;

/// The process's role, which decides what it may end and what it listens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A pass or a command by hand: it starts supervisors, which live on.
    Pass,
    /// A supervisor: whatever is below it is its own.
    Supervisor,
}

/// The adapters.
pub struct World {
    /// Everything that bounds what the engine does.
    pub setup: Setup,
    /// Our own files.
    pub store: DiskStore,
    repository: Repository,
    forge: Box<dyn Forge>,
    board: DiskBoard,
    agent: ClaudeAgent,
    commands: SystemCommands,
    clock: SystemClock,
    notifier: SystemNotifier,
}

impl World {
    /// Makes the adapters for a configuration.
    pub fn new(ground: &Ground, read: setup::Setup, role: Role) -> anyhow::Result<Self> {
        let trust = match ground.changes(&read)? {
            None => Trust::Approved,
            Some(changes) => Trust::Changed(changes),
        };
        let roots = ground.roots(read.config(), Some(&read));
        let policies = Policies::of(read.config(), &roots)?;
        let texts = read
            .texts
            .into_iter()
            .map(|(path, bytes)| {
                let text = String::from_utf8(bytes)
                    .with_context(|| format!("`{path}` is not UTF-8 text"))?;
                Ok((path, text))
            })
            .collect::<anyhow::Result<BTreeMap<_, _>>>()?;
        let setup = Setup {
            config: read.loaded.config,
            lanes: read.lanes,
            texts,
            agent_settings: read.agent_settings,
            worker_edit: Some(worker_edit(ground)?),
            roots,
            policies,
            trust,
            confined: CONFINED,
        };
        Self::with(ground, setup, role)
    }

    /// Makes the adapters for values that were read before, as a supervisor is handed them.
    pub fn with(ground: &Ground, setup: Setup, role: Role) -> anyhow::Result<Self> {
        let config = &setup.config;
        let store = store(ground, &setup.roots, config)?;
        let repository =
            Repository::at(git(), vcs_settings(config, &setup.roots), ground.root.clone())?;
        let forge = forge(&repository, config)?;
        let board = DiskBoard::new(
            ground.board.clone(),
            config.board.writer,
            std::env::vars_os().collect(),
        );
        let board = if ground.callback_is_approved()? { board } else { board.without_callback() };
        let program = own_program()?;
        let session: Vec<OsString> = vec![program.as_os_str().to_owned(), "session".into()];
        let temporary = std::env::var("TMPDIR").ok().filter(|value| !value.is_empty());
        let agent = ClaudeAgent::new(ClaudeSettings::new(
            session.clone(),
            store.state_dir().as_str(),
            temporary,
        ));
        let log_folder = store.state_dir().join("tasks");
        let supervisor = SupervisorProgram {
            program,
            args: Vec::new(),
            dir: ground.root.path.clone(),
            // It runs in the code root, from where a board in a sub-directory is not found.
            env: std::env::vars_os().chain(ground.board_variable()).collect(),
            session,
            log: Box::new(move |id| log_folder.join(format!("{}.log", id.canonical()))),
            scopes: OnceCell::new(),
        };
        let reach = match role {
            Role::Pass => Reach::Marked,
            Role::Supervisor => Reach::Descendants,
        };
        let commands = SystemCommands::new(reach, supervisor)?;
        let notifier = SystemNotifier::new(config.notify.clone(), std::env::vars_os());
        Ok(Self {
            setup,
            store,
            repository,
            forge,
            board,
            agent,
            commands,
            clock: SystemClock::new(),
            notifier,
        })
    }

    /// The adapters as the engine takes them.
    pub fn ports(&self) -> Ports<'_> {
        Ports {
            board: &self.board,
            vcs: &self.repository,
            forge: &*self.forge,
            agent: &self.agent,
            commands: &self.commands,
            store: &self.store,
            clock: &self.clock,
            notifier: &self.notifier,
        }
    }

    /// The adapters for a supervisor, with the very values the guards judged by (D3.3). Where these cannot be used
    /// the attempt can only be given up, which needs a board and a store alone.
    pub fn for_attempt(ground: &Ground, id: &TaskId) -> anyhow::Result<Self> {
        let smallest = config::smallest();
        let store = store(ground, &ground.roots(&smallest, None), &smallest)?;
        let Some(record) = store.record(id)? else {
            bail!("nothing is recorded of {id}: a supervisor is started by a pass alone");
        };
        let (hand, policies) = match HandOver::of_claim(&store, &record) {
            Ok(handed_over) => handed_over,
            Err(HandOverError::Unusable(error)) => {
                tracing::warn!(task = %id, error = error.chain(), "the attempt is given up");
                return Self::by_hand(ground, Role::Supervisor);
            }
            Err(HandOverError::Port(error)) => return Err(error.into()),
        };
        let lanes = BTreeMap::from([(hand.lane, Ok(hand.settings))]);
        let setup = Setup {
            config: hand.config,
            lanes,
            texts: hand.texts,
            agent_settings: hand.agent_settings,
            worker_edit: Some(worker_edit(ground)?),
            roots: hand.roots,
            policies,
            trust: Trust::Approved,
            confined: CONFINED,
        };
        Self::with(ground, setup, Role::Supervisor)
    }

    /// The adapters for a command by hand, which works without a configuration that can be used (M4).
    pub fn by_hand(ground: &Ground, role: Role) -> anyhow::Result<Self> {
        match ground.setup() {
            Ok(setup) => Self::new(ground, setup, role),
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "going on without the configuration");
                Self::without_configuration(ground, &error, role)
            }
        }
    }

    /// The adapters where the configuration cannot be used, as the error says.
    pub fn without_configuration(
        ground: &Ground,
        error: &anyhow::Error,
        role: Role,
    ) -> anyhow::Result<Self> {
        let config = config::smallest();
        let roots = ground.roots(&config, None);
        let policies = Policies::of(&config, &roots)?;
        let setup = Setup {
            config,
            lanes: BTreeMap::new(),
            texts: BTreeMap::new(),
            agent_settings: AgentSettings::default(),
            worker_edit: None,
            roots,
            policies,
            trust: Trust::Changed(format!("{error:#}")),
            confined: CONFINED,
        };
        Self::with(ground, setup, role)
    }

    /// From now on the first signal to end is a request, the second ends this process (D9.9).
    pub fn watch_signals(&self) -> anyhow::Result<()> {
        Ok(self.commands.watch_signals()?)
    }
}
