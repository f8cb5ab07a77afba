//! Wiring: the adapters behind the engine's ports, made from what the command line, the environment and the
//! configuration say.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use dispatch_agent::{
    ClaudeAgent, ClaudeSettings, Reach, SupervisorProgram, SystemClock, SystemCommands,
    SystemNotifier,
};
use dispatch_board::{BoardLocation, DiskBoard, locate};
use dispatch_core::config::{self, Config, ForgeKind, Owner};
use dispatch_core::error_chain::chain;
use dispatch_core::id::TaskId;
use dispatch_core::path::normal;
use dispatch_core::status::Status;
use dispatch_engine::hand_over::{HandOver, HandOverError};
use dispatch_engine::ports::{Forge, Ports, Store};
use dispatch_engine::setup::{AgentSettings, Policies, Roots, Setup, Trust};
use dispatch_engine::standstill::{Standstill, StandstillCause};
use dispatch_engine::supervise;
use dispatch_git::{
    CodeRoot, GhForge, GhSettings, Git, GitForge, GitHubRepository, Identity, Ownership,
    Repository, VcsSettings, Who,
};
use dispatch_store::{DiskStore, OlderDispatcher, Places as StorePlaces};

use crate::args::{GlobalArgs, TaskArg};
use crate::exit::Refused;
use crate::setup::{self, Places};
use crate::trust;

/// Whether workers are confined by the kernel. They are not, so a configuration has to say `off` (W3.3).
pub const CONFINED: bool = false;

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
    fn callback_is_approved(&self) -> anyhow::Result<bool> {
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

    /// What is wrong where there is no remote, which no pass can do without.
    pub fn missing_remote(&self) -> Option<Standstill> {
        let error = self.repository.remote().err()?;
        let text = format!(
            "{error}: add one that has the branch work is proposed for (`git remote add origin <address>`)"
        );
        Some(Standstill::new(StandstillCause::NoRemote, text))
    }

    /// From now on the first signal to end is a request, the second ends this process (D9.9).
    pub fn watch_signals(&self) -> anyhow::Result<()> {
        Ok(self.commands.watch_signals()?)
    }
}

/// Our own files; refused while an older dispatcher is at work on them.
pub fn store(ground: &Ground, roots: &Roots, config: &Config) -> anyhow::Result<DiskStore> {
    let slots = config.slots.iter().map(|name| roots.slot(name)).collect();
    let store = DiskStore::open(StorePlaces {
        state_dir: ground.state_dir(),
        board_dir: ground.board.dir.clone(),
        board_root: ground.board.root.clone(),
        slots_root: roots.slots_root.clone(),
        slots,
    })?;
    match store
        .older_dispatcher(&|pid| dispatch_proc::ProcessIdentity::of(pid.cast_signed()).is_some())?
    {
        OlderDispatcher::Nothing | OlderDispatcher::Imported { .. } => Ok(store),
        OlderDispatcher::Running { pid, file } => {
            bail!(
                "an older dispatcher is at work here (process {pid}, named in `{file}`); wait until it has ended"
            )
        }
    }
}

/// The forge the configuration names, or the one that the remote's address and an installed `gh` say (C9.5).
fn forge(repository: &Repository, config: &Config) -> anyhow::Result<Box<dyn Forge>> {
    let url = repository.remote().ok().map(|remote| remote.fetch_url.clone());
    let named = url.as_deref().and_then(GitHubRepository::of_url);
    let on_github = match (config.forge.kind, named) {
        (Some(ForgeKind::Git), _) | (None, None) => None,
        (Some(ForgeKind::Github), Some(named)) => Some(named),
        (None, Some(named)) => {
            Some(named).filter(|named| named.is_on_github() && which::which("gh").is_ok())
        }
        (Some(ForgeKind::Github), None) => {
            bail!(
                "`forge.kind` is \"github\", but the remote `origin` does not name a repository on a GitHub host"
            )
        }
    };
    Ok(match on_github {
        None => Box::new(GitForge),
        Some(named) => {
            let mut settings = GhSettings::new("gh", std::env::vars_os());
            settings.token_from_env = config.forge.token_from_env;
            Box::new(GhForge::new(named, settings))
        }
    })
}

fn vcs_settings(config: &Config, roots: &Roots) -> VcsSettings {
    VcsSettings {
        remote: "origin".to_owned(),
        identity: config.commit.identity.as_ref().map(|identity| Identity {
            name: identity.name.clone(),
            email: identity.email.clone(),
        }),
        ssh_command: config.vcs.ssh_command.clone(),
        filters: config.vcs.filters.clone(),
        slots_root: roots.slots_root.clone(),
        board_dir: roots.board_dir.clone(),
        ownership: match config.owner {
            Owner::Lease => Ownership::Lease,
            Owner::Off => Ownership::Off,
        },
        who: who(),
    }
}

fn who() -> Who {
    let user = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .unwrap_or_else(|| "unknown".to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Who { host, user }
}

fn git() -> Git {
    Git::new("git", std::env::vars_os())
}

/// What a supervisor knows of the process it runs in.
pub fn context(ground: &Ground) -> anyhow::Result<supervise::Context> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Ok(supervise::Context { environment, worker_edit: worker_edit(ground)?, confined: CONFINED })
}

/// The worker's board command: the program of that name beside this one, or this one under that name.
///
/// The name lies in the state directory, which is outside every slot.
fn worker_edit(ground: &Ground) -> anyhow::Result<Utf8PathBuf> {
    let program = own_program()?;
    let beside = program.with_file_name("worker-edit");
    if beside.is_file() {
        return Ok(beside);
    }
    let folder = ground.state_dir().join("bin");
    std::fs::create_dir_all(&folder).with_context(|| format!("could not make `{folder}`"))?;
    let name = folder.join("worker-edit");
    if std::fs::read_link(&name).ok().as_deref() == Some(program.as_std_path()) {
        return Ok(name);
    }
    let fresh = folder.join(format!("worker-edit.{}", std::process::id()));
    std::os::unix::fs::symlink(&program, &fresh)
        .with_context(|| format!("could not make `{fresh}`"))?;
    std::fs::rename(&fresh, &name).with_context(|| format!("could not make `{name}`"))?;
    Ok(name)
}

/// The file of the `dispatch` program: this very one, or the one beside `backlog-watch`.
pub fn own_program() -> anyhow::Result<Utf8PathBuf> {
    let program = std::env::current_exe().context("could not find this program's own file")?;
    let program = Utf8PathBuf::try_from(program).context("this program's path is not UTF-8")?;
    if program.file_name() != Some("backlog-watch") {
        return Ok(program);
    }
    let beside = program.with_file_name("dispatch");
    if beside.is_file() {
        return Ok(beside);
    }
    bail!("`backlog-watch` runs the `dispatch` that lies beside it, and there is no `{beside}`")
}
