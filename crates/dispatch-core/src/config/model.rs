//! The configuration as types (K2); `fixtures/config/example.json` holds every key.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::defaults;
use super::lanes::Lanes;
use super::notify::Notify;
use super::values::{
    BoardWriter, ConfinementMode, ForgeKind, HookKind, Language, LedgerReview, Minutes, Owner,
    ParentBranch, ReadPolicy, SocketPolicy, VerificationTree,
};
use crate::branch::BranchName;
use crate::slot::SlotName;

/// The whole of `lanes.json`, with every default filled in.
///
/// Paths are as written: relative to the code root unless a field says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The folder of the slots; may lie outside the repository.
    pub slots_root: Utf8PathBuf,
    /// The slots, in the order in which they are tried.
    pub slots: Vec<SlotName>,
    /// How many counted attempts a task gets.
    pub attempts: u32,
    /// Hours after which a task `In Progress` that nothing works on is an orphan; 0 turns that off.
    #[serde(default = "defaults::orphan_hours")]
    pub orphan_in_progress_threshold_hours: f64,
    /// The GitHub login or `org/team` asked to review pull requests with human-review files.
    #[serde(default)]
    pub harness_reviewer: Option<String>,
    /// The branch work is proposed for; none asks the remote for its default.
    #[serde(default)]
    pub base_branch: Option<BranchName>,
    /// What a task's branch begins with.
    #[serde(default = "defaults::branch_prefix")]
    pub branch_prefix: String,
    /// What to do when a parent's integration branch is not on the remote.
    #[serde(default = "defaults::parent_branch")]
    pub parent_branch: ParentBranch,
    /// What declared files, `checks.cwd` and test commands are relative to.
    #[serde(default = "defaults::project_root")]
    pub project_root: Utf8PathBuf,
    /// The two lanes.
    pub lanes: Lanes,
    /// The agent's account.
    #[serde(default)]
    pub agent: AgentConfig,
    /// The board.
    #[serde(default)]
    pub board: BoardConfig,
    /// Whether one dispatcher per remote is enforced by a lease.
    #[serde(default = "defaults::owner")]
    pub owner: Owner,
    /// The forge.
    #[serde(default)]
    pub forge: ForgeConfig,
    /// Version control.
    #[serde(default)]
    pub vcs: VcsConfig,
    /// Kernel confinement of everything that runs in a slot.
    #[serde(default)]
    pub confinement: ConfinementConfig,
    /// How a slot's dependencies are provided.
    #[serde(default)]
    pub provision: ProvisionConfig,
    /// Shapes of test commands allowed beside the built-in ones.
    #[serde(default)]
    pub test_commands: Vec<Vec<String>>,
    /// The test command of a close attempt whose task declares none.
    #[serde(default)]
    pub whole_test_command: Option<String>,
    /// Formatters, linters and how the checks run.
    #[serde(default)]
    pub checks: ChecksConfig,
    /// Generated files.
    #[serde(default)]
    pub generated: Vec<GeneratedConfig>,
    /// The path policy.
    #[serde(default)]
    pub paths: PathsConfig,
    /// Programs whose output becomes context of the local lane's prompt.
    #[serde(default)]
    pub prompt_hooks: Vec<PromptHook>,
    /// Files removed from the slot before each attempt.
    #[serde(default = "defaults::reset_before_attempt")]
    pub reset_before_attempt: Vec<Utf8PathBuf>,
    /// Skills.
    #[serde(default)]
    pub skills: SkillsConfig,
    /// Templates that replace the built-in ones.
    #[serde(default)]
    pub templates: TemplatesConfig,
    /// The commit of an attempt.
    #[serde(default)]
    pub commit: CommitConfig,
    /// Human-review files.
    #[serde(default)]
    pub human_review: HumanReviewConfig,
    /// The reviewing agent.
    #[serde(default)]
    pub reviewer: ReviewerConfig,
    /// Reviews by people.
    #[serde(default)]
    pub reviews: ReviewsConfig,
    /// Limits of the machine.
    #[serde(default)]
    pub limits: LimitsConfig,
    /// Port blocks of the slots.
    #[serde(default)]
    pub ports: PortsConfig,
    /// How long things are kept.
    #[serde(default)]
    pub gc: GcConfig,
    /// The delegation ledger.
    #[serde(default)]
    pub ledger: LedgerConfig,
    /// Notifications.
    #[serde(default)]
    pub notify: Notify,
    /// The language of texts on the board and in pull requests.
    #[serde(default = "defaults::language")]
    pub language: Language,
}

/// The agent's account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentConfig {
    /// Where its credential comes from.
    #[serde(default)]
    pub credential: Credential,
}

/// Where the agent's credential comes from (D7.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Credential {
    /// The environment variable of this name.
    Env(String),
    /// A program that prints it, with its arguments.
    Helper(Vec<String>),
}

impl Default for Credential {
    fn default() -> Self {
        Self::Env("CLAUDE_CODE_OAUTH_TOKEN".to_owned())
    }
}

/// The board.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardConfig {
    /// The branch on which the board is live; none is the base branch.
    #[serde(default)]
    pub branch: Option<BranchName>,
    /// Who writes it.
    #[serde(default)]
    pub writer: BoardWriter,
}

/// The forge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgeConfig {
    /// Its kind; none is found out from the remote.
    #[serde(default)]
    pub kind: Option<ForgeKind>,
    /// Whether `gh` may use a token from the environment.
    #[serde(default)]
    pub token_from_env: bool,
}

/// Version control.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VcsConfig {
    /// The ssh command of git.
    #[serde(default)]
    pub ssh_command: Option<String>,
    /// The names of the filters that may run, such as `lfs`.
    #[serde(default)]
    pub filters: Vec<String>,
    /// Whether slots initialise submodules.
    #[serde(default)]
    pub submodules: bool,
}

/// Kernel confinement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfinementConfig {
    /// How much of it must be in force.
    #[serde(default)]
    pub mode: ConfinementMode,
    /// What may be read.
    #[serde(default)]
    pub reads: ReadPolicy,
    /// Further readable folders.
    #[serde(default)]
    pub readable: Vec<Utf8PathBuf>,
    /// Names of the toolchain presets.
    #[serde(default)]
    pub presets: Vec<String>,
    /// Whether Unix sockets may be used.
    #[serde(default)]
    pub unix_sockets: SocketPolicy,
    /// The only ports that may be connected to; none is no restriction.
    #[serde(default)]
    pub tcp_ports: Option<Vec<u16>>,
}

/// How a slot's dependencies are provided (D6.7).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProvisionConfig {
    /// The slot's set-up program, with its arguments; empty for none.
    #[serde(default)]
    pub link: Vec<String>,
    /// The install command; empty for none.
    #[serde(default)]
    pub install: Vec<String>,
    /// The install command that runs no script of a dependency; empty for none.
    #[serde(default)]
    pub install_locked: Vec<String>,
    /// The lockfile; none is the first known one that exists.
    #[serde(default)]
    pub lockfile: Option<Utf8PathBuf>,
    /// Folders kept between attempts while they are as we provisioned them.
    #[serde(default)]
    pub keep: Vec<Utf8PathBuf>,
}

/// Formatters, linters and how the checks run (C5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChecksConfig {
    /// Where the test command runs.
    pub cwd: Utf8PathBuf,
    /// The formatters.
    pub format: Vec<FileCommand>,
    /// The linters.
    pub lint: Vec<FileCommand>,
    /// Where the checks run.
    pub tree: VerificationTree,
    /// Build folders kept between verifications.
    pub caches: Vec<Utf8PathBuf>,
    /// The time limit of each check.
    pub timeout_minutes: Minutes,
    /// Patterns of the definition-of-done items the dispatcher ticks.
    pub owned_dod: OwnedDod,
}

/// A formatter or linter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCommand {
    /// The globs of the files it is for.
    pub files: Vec<String>,
    /// Where it runs.
    #[serde(default = "defaults::project_root")]
    pub cwd: Utf8PathBuf,
    /// The program with its arguments; `{files}` stands for the files.
    pub command: Vec<String>,
}

/// Patterns of the definition-of-done items the dispatcher owns; none is the built-in pattern (C5.5).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnedDod {
    /// The scoped tests pass.
    pub tests: Option<String>,
    /// Formatting and linting.
    pub lint: Option<String>,
    /// Every acceptance criterion is ticked.
    pub acceptance: Option<String>,
    /// The pull request is open.
    pub pull_request: Option<String>,
}

/// A generator (C6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedConfig {
    /// Globs of the files whose change makes it run.
    pub watch: Vec<String>,
    /// The program with its arguments.
    pub command: Vec<String>,
    /// Globs of the files it may change.
    pub outputs: Vec<String>,
}

/// The path policy (C4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PathsConfig {
    /// Globs added to the hard list.
    pub hard: Vec<String>,
    /// Globs added to the local-forbidden list.
    pub local_forbidden: Vec<String>,
    /// Globs added to the human-review list.
    pub human_review: Vec<String>,
    /// Built-in globs taken out of the lists.
    #[serde(rename = "!")]
    pub narrowed: Vec<String>,
    /// The size above which a file is dangerous.
    pub max_file_bytes: u64,
    /// Further patterns of test siblings, such as `tests/{stem}{ext}`.
    pub test_siblings: Vec<String>,
}

/// A program whose output becomes context of the prompt (D8.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptHook {
    /// What it is asked.
    pub kind: HookKind,
    /// The program, its path from the code root, with its arguments.
    pub command: Vec<String>,
}

/// Skills.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillsConfig {
    /// The index file.
    #[serde(default)]
    pub index: Option<Utf8PathBuf>,
}

/// Templates that replace the built-in ones; none is the built-in one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TemplatesConfig {
    /// The system prompt of the local lane.
    pub local_system: Option<Utf8PathBuf>,
    /// The addendum to the system prompt of the frontier lane.
    pub frontier_addendum: Option<Utf8PathBuf>,
    /// The entry of the frontier lane's prompt.
    pub frontier_entry: Option<Utf8PathBuf>,
    /// The prompt of a close attempt.
    pub close_attempt: Option<Utf8PathBuf>,
    /// The delegation contract.
    pub contract: Option<Utf8PathBuf>,
}

/// The commit of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommitConfig {
    /// Its author and committer; none is the repository's own.
    pub identity: Option<Identity>,
    /// Its subject; `{type}`, `{id}` and `{title}` are filled in.
    pub subject: String,
    /// What `{type}` stands for.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Who a commit is by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// Human-review files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HumanReviewConfig {
    /// The label of a pull request that has such files.
    pub label: String,
}

/// The reviewing agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewerConfig {
    /// The largest diff it is given.
    pub max_diff_bytes: u64,
}

/// Reviews by people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewsConfig {
    /// Whether requested changes queue the task again without a person.
    pub auto_retry: bool,
}

/// Limits of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitsConfig {
    /// The free disk space below which nothing is launched, in MiB.
    #[serde(rename = "minFreeMiB")]
    pub min_free_mib: u64,
}

/// Port blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortsConfig {
    /// The first port of the first slot's block.
    pub base: u16,
}

/// How long things are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GcConfig {
    /// Days that attempt refs are kept after a task is done.
    pub keep_days: u32,
}

/// The delegation ledger.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LedgerConfig {
    /// The thresholds of the next wave, as the ledger reads them.
    pub thresholds: Option<Value>,
    /// The backend whose sessions are held.
    pub held_backend: Option<String>,
    /// How a fold is reviewed.
    pub review: LedgerReview,
}

impl Default for ChecksConfig {
    fn default() -> Self {
        Self {
            cwd: defaults::project_root(),
            format: Vec::new(),
            lint: Vec::new(),
            tree: VerificationTree::Fresh,
            caches: Vec::new(),
            timeout_minutes: Minutes::new(20.0),
            owned_dod: OwnedDod::default(),
        }
    }
}

/// Default of `paths.maxFileBytes`: 5 MiB.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 5 * 1024 * 1024;

impl Default for PathsConfig {
    fn default() -> Self {
        Self {
            hard: Vec::new(),
            local_forbidden: Vec::new(),
            human_review: Vec::new(),
            narrowed: Vec::new(),
            max_file_bytes: DEFAULT_MAX_FILE_BYTES,
            test_siblings: Vec::new(),
        }
    }
}

impl Default for CommitConfig {
    fn default() -> Self {
        Self {
            identity: None,
            subject: "{type}({id}): {title}".to_owned(),
            kind: "feat".to_owned(),
        }
    }
}

impl Default for HumanReviewConfig {
    fn default() -> Self {
        Self { label: "human-review".to_owned() }
    }
}

impl Default for ReviewerConfig {
    fn default() -> Self {
        Self { max_diff_bytes: 350 * 1024 }
    }
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self { min_free_mib: 1024 }
    }
}

impl Default for PortsConfig {
    fn default() -> Self {
        Self { base: 42000 }
    }
}

impl Default for GcConfig {
    fn default() -> Self {
        Self { keep_days: 30 }
    }
}
