//! Every key of `lanes.json`: the one table that validation, the schema and the list of known names come from.

use super::rules::{
    ARGV_WORD, BRANCH, BRANCH_PREFIX, CONTAINED, CONTAINED_OR_TOP, ENV_NAME, ENV_PATTERN,
    FREE_PATH, GLOB, HTTP_ADDRESS, IDENTITY, LABEL, LINE, MODEL, REVIEWER_HANDLE, SIBLING,
    SLOT_NAME, SUBJECT,
};
use super::shape::{Key, Shape};
use super::values::{
    BoardWriter, ConfinementMode, Effort, ForgeKind, HookKind, Language, LedgerReview, Owner,
    ParentBranch, ReadPolicy, SettingSource, SocketPolicy, VerificationTree,
};
use crate::launch::Preset;
use crate::triage::Tier;

macro_rules! choice {
    ($name:ident, $set:ty) => {
        static $name: Shape =
            Shape::Choice(|| <$set>::ALL.iter().map(|member| member.as_str()).collect());
    };
}

choice!(BOARD_WRITER, BoardWriter);
choice!(CONFINEMENT_MODE, ConfinementMode);
choice!(EFFORT, Effort);
choice!(FORGE_KIND, ForgeKind);
choice!(HOOK_KIND, HookKind);
choice!(LANGUAGE, Language);
choice!(LEDGER_REVIEW, LedgerReview);
choice!(OWNER, Owner);
choice!(PARENT_BRANCH, ParentBranch);
choice!(READ_POLICY, ReadPolicy);
choice!(SETTING_SOURCE, SettingSource);
choice!(SOCKET_POLICY, SocketPolicy);
choice!(PRESET, Preset);
choice!(TREE, VerificationTree);
choice!(TIER, Tier);

const fn list(item: &'static Shape) -> Shape {
    Shape::List { item, min: 0, unique: false }
}

const fn some(item: &'static Shape) -> Shape {
    Shape::List { item, min: 1, unique: false }
}

const fn key(name: &'static str, shape: &'static Shape, doc: &'static str) -> Key {
    Key { name, required: false, shape, doc }
}

const fn required(name: &'static str, shape: &'static Shape, doc: &'static str) -> Key {
    Key { name, required: true, shape, doc }
}

static MINUTES: Shape = Shape::Number {
    expected: "a number of minutes above 0, at most 525600",
    check: |number| number > 0.0 && number <= 525_600.0,
    exclusive_minimum: Some(0.0),
};
static HOURS: Shape = Shape::Number {
    expected: "a number of hours, 0 or more (0 turns it off)",
    check: |number| (0.0..=1_000_000.0).contains(&number),
    exclusive_minimum: None,
};
static BUDGET: Shape = Shape::Number {
    expected: "an amount above 0, in US dollars",
    check: |number| number > 0.0 && number <= 1_000_000.0,
    exclusive_minimum: Some(0.0),
};
static POSITIVE: Shape = Shape::Whole { min: 1, max: 1_000_000 };
static COUNT: Shape = Shape::Whole { min: 0, max: 1000 };
static BYTES: Shape = Shape::Whole { min: 1, max: 1 << 50 };
static MEBIBYTES: Shape = Shape::Whole { min: 0, max: 1 << 40 };
static DAYS: Shape = Shape::Whole { min: 0, max: 36_500 };
static PORT: Shape = Shape::Whole { min: 1, max: 65_535 };
static PORT_BASE: Shape = Shape::Whole { min: 1024, max: 65_515 };
static FLAG: Shape = Shape::Flag;

static OR_BUDGET: Shape = Shape::OrNull(&BUDGET);
static OR_BRANCH: Shape = Shape::OrNull(&BRANCH);
static OR_MINUTES: Shape = Shape::OrNull(&MINUTES);
static OR_MODE: Shape = Shape::OrNull(&CONFINEMENT_MODE);
static OR_FORGE: Shape = Shape::OrNull(&FORGE_KIND);
static OR_PATH: Shape = Shape::OrNull(&CONTAINED);
static OR_LINE: Shape = Shape::OrNull(&LINE);
static OR_REVIEWER: Shape = Shape::OrNull(&REVIEWER_HANDLE);
static ANYTHING: Shape = Shape::Anything;
static OR_ANYTHING: Shape = Shape::OrNull(&ANYTHING);

static SLOTS: Shape = Shape::List { item: &SLOT_NAME, min: 1, unique: true };
static TIERS: Shape = Shape::List { item: &TIER, min: 0, unique: true };
static SOURCES: Shape = Shape::List { item: &SETTING_SOURCE, min: 0, unique: true };
static ENV_PATTERNS: Shape = Shape::List { item: &ENV_PATTERN, min: 0, unique: true };
static ARGV: Shape = some(&ARGV_WORD);
static OR_ARGV: Shape = list(&ARGV_WORD);
static ARGVS: Shape = list(&ARGV);
static GLOBS: Shape = list(&GLOB);
static SOME_GLOBS: Shape = some(&GLOB);
static PATHS: Shape = list(&CONTAINED);
static FREE_PATHS: Shape = list(&FREE_PATH);
static PRESETS: Shape = Shape::List { item: &PRESET, min: 0, unique: true };
static LINES: Shape = list(&LINE);
static SIBLINGS: Shape = list(&SIBLING);
static PORTS_LIST: Shape = list(&PORT);
static OR_PORTS: Shape = Shape::OrNull(&PORTS_LIST);

static LOCAL: Shape = Shape::Object(&[
    required("settings", &CONTAINED, "The agent's settings file of the lane, below the code root."),
    required("maxParallel", &COUNT, "How many of its tasks may run at once; 0 turns the lane off."),
    required("effort", &EFFORT, "The agent's effort."),
    required("maxTurns", &POSITIVE, "The most turns of one attempt."),
    required("timeoutMinutes", &MINUTES, "The time limit of one attempt."),
    required("healthCheckUrl", &HTTP_ADDRESS, "The address of the local model server."),
    required("reviewerModel", &MODEL, "The reviewer's model, on the account's own provider."),
    key("reviewerTimeoutMinutes", &MINUTES, "The time limit of the reviewer."),
    key("tiers", &TIERS, "The tiers the lane takes."),
    key("settingSources", &SOURCES, "The settings files its worker loads."),
    key("envPassthrough", &ENV_PATTERNS, "Variables of yours that are handed on to the worker."),
    key("stallTimeoutMinutes", &OR_MINUTES, "The limit of time without output."),
    key("confinement", &OR_MODE, "The confinement this lane demands."),
    key("reviewer", &FLAG, "Whether a reviewing agent judges the work."),
]);

static PATH_MODELS: Shape = Shape::Object(&[
    required("direct", &MODEL, "The model of `path:direct`."),
    required("sdd", &MODEL, "The model of `path:sdd`."),
]);

static FRONTIER: Shape = Shape::Object(&[
    required("settings", &CONTAINED, "The agent's settings file of the lane, below the code root."),
    required("maxParallel", &COUNT, "How many of its tasks may run at once; 0 turns the lane off."),
    required("model", &PATH_MODELS, "The model of each path, as given to the agent."),
    required("maxTurns", &POSITIVE, "The most turns of one attempt."),
    key("maxBudgetUsd", &OR_BUDGET, "The most an attempt may cost."),
    required("timeoutMinutes", &MINUTES, "The time limit of one attempt."),
    key("tiers", &TIERS, "The tiers the lane takes."),
    key("settingSources", &SOURCES, "The settings files its worker loads."),
    key("envPassthrough", &ENV_PATTERNS, "Variables of yours that are handed on to the worker."),
    key("stallTimeoutMinutes", &OR_MINUTES, "The limit of time without output."),
    key("confinement", &OR_MODE, "The confinement this lane demands."),
    key("reviewer", &FLAG, "Whether a reviewing agent judges the work."),
    key("reviewerModel", &MODEL, "The reviewer's model."),
    key("reviewerTimeoutMinutes", &MINUTES, "The time limit of the reviewer."),
]);

static LANES: Shape = Shape::Object(&[
    required("local", &LOCAL, "A small model on this machine."),
    required("frontier", &FRONTIER, "The full harness with a frontier model."),
]);

static CREDENTIAL: Shape = Shape::Object(&[
    key("env", &ENV_NAME, "The environment variable that holds the agent's credential."),
    key("helper", &ARGV, "A program that prints the agent's credential."),
]);
static AGENT: Shape =
    Shape::Object(&[key("credential", &CREDENTIAL, "Where the agent's credential comes from.")]);
static BOARD: Shape = Shape::Object(&[
    key("branch", &OR_BRANCH, "The branch on which the board is live; none is the base branch."),
    key("writer", &BOARD_WRITER, "Who writes the board."),
]);
static FORGE: Shape = Shape::Object(&[
    key("kind", &OR_FORGE, "The forge; none is found out from the remote."),
    key("tokenFromEnv", &FLAG, "Whether `gh` may use a token from the environment."),
]);
static VCS: Shape = Shape::Object(&[
    key("sshCommand", &OR_LINE, "The ssh command of git, for a deploy key."),
    key("filters", &LINES, "The git filters that may run, such as `lfs`."),
    key("submodules", &FLAG, "Whether slots initialise submodules."),
]);
static CONFINEMENT_OBJECT: Shape = Shape::Object(&[
    key("mode", &CONFINEMENT_MODE, "How much of the confinement must be in force."),
    key("reads", &READ_POLICY, "What a confined process may read."),
    key("readable", &FREE_PATHS, "Further readable files and folders."),
    key("presets", &PRESETS, "The toolchains whose folders are readable."),
    key("unixSockets", &SOCKET_POLICY, "Whether Unix sockets may be used."),
    key("tcpPorts", &OR_PORTS, "The only ports that may be connected to; none is no restriction."),
]);
static CONFINEMENT: Shape = Shape::Either(&[&CONFINEMENT_MODE, &CONFINEMENT_OBJECT]);
static PROVISION: Shape = Shape::Object(&[
    key("link", &OR_ARGV, "The slot's set-up program, with its arguments."),
    key("install", &OR_ARGV, "The install command."),
    key("installLocked", &OR_ARGV, "The install command that runs no script of a dependency."),
    key("lockfile", &OR_PATH, "The lockfile; none is the first known one that exists."),
    key("keep", &PATHS, "Folders kept between attempts while they are as provisioned."),
]);
static FILE_COMMAND: Shape = Shape::Object(&[
    required("files", &SOME_GLOBS, "The globs of the files it is for."),
    key("cwd", &CONTAINED_OR_TOP, "Where it runs."),
    required("command", &ARGV, "The program with its arguments; `{files}` stands for the files."),
]);
static FILE_COMMANDS: Shape = list(&FILE_COMMAND);
static OWNED_DOD: Shape = Shape::Object(&[
    key("tests", &OR_LINE, "The pattern of the item about scoped tests."),
    key("lint", &OR_LINE, "The pattern of the item about formatting and linting."),
    key("acceptance", &OR_LINE, "The pattern of the item about the acceptance criteria."),
    key("pullRequest", &OR_LINE, "The pattern of the item about the pull request."),
]);
static CHECKS: Shape = Shape::Object(&[
    key("cwd", &CONTAINED_OR_TOP, "Where the test command runs, below the project root."),
    key("format", &FILE_COMMANDS, "The formatters, run in the slot."),
    key("lint", &FILE_COMMANDS, "The linters, run in the verification tree."),
    key("tree", &TREE, "Where linters and tests run."),
    key("caches", &PATHS, "Build folders kept between verifications."),
    key("timeoutMinutes", &MINUTES, "The time limit of each check."),
    key("ownedDod", &OWNED_DOD, "The definition-of-done items the dispatcher ticks."),
]);
static GENERATED_ENTRY: Shape = Shape::Object(&[
    required("watch", &SOME_GLOBS, "Globs of the files whose change makes it run."),
    required("command", &ARGV, "The program with its arguments."),
    required("outputs", &SOME_GLOBS, "Globs of the files it may change."),
]);
static GENERATED: Shape = list(&GENERATED_ENTRY);
static PATHS_OBJECT: Shape = Shape::Object(&[
    key("hard", &GLOBS, "Globs added to the files no lane may touch."),
    key("localForbidden", &GLOBS, "Globs added to the files the local lane may not touch."),
    key("humanReview", &GLOBS, "Globs added to the files that ask for a person."),
    key("!", &GLOBS, "Built-in globs taken out of the lists."),
    key("maxFileBytes", &BYTES, "The size above which a file is dangerous."),
    key("testSiblings", &SIBLINGS, "Further patterns of a file's test siblings."),
]);
static PROMPT_HOOK: Shape = Shape::Object(&[
    required("kind", &HOOK_KIND, "Asked once with the task text, or once per declared file."),
    required("command", &ARGV, "The program, from the code root, with its arguments."),
]);
static PROMPT_HOOKS: Shape = list(&PROMPT_HOOK);
static SKILLS: Shape = Shape::Object(&[key("index", &OR_PATH, "The skill index, a JSON file.")]);
static TEMPLATES: Shape = Shape::Object(&[
    key("localSystem", &OR_PATH, "Replaces the system prompt of the local lane."),
    key("frontierAddendum", &OR_PATH, "Replaces the frontier lane's addendum."),
    key("frontierEntry", &OR_PATH, "Replaces the entry of the frontier lane's prompt."),
    key("closeAttempt", &OR_PATH, "Replaces the prompt of a close attempt."),
    key("contract", &OR_PATH, "Replaces the delegation contract."),
]);
static IDENTITY_OBJECT: Shape = Shape::Object(&[
    required("name", &LINE, "The name."),
    required("email", &LINE, "The address."),
]);
static IDENTITY_FORMS: Shape = Shape::Either(&[&IDENTITY, &IDENTITY_OBJECT]);
static OR_IDENTITY: Shape = Shape::OrNull(&IDENTITY_FORMS);
static COMMIT: Shape = Shape::Object(&[
    key("identity", &OR_IDENTITY, "Author and committer; none is the repository's own."),
    key("subject", &SUBJECT, "The subject; `{type}`, `{id}`, `{title}` are filled in."),
    key("type", &LINE, "What `{type}` stands for."),
]);
static HUMAN_REVIEW: Shape =
    Shape::Object(&[key("label", &LABEL, "The label of a pull request that needs a person.")]);
static REVIEWER: Shape =
    Shape::Object(&[key("maxDiffBytes", &BYTES, "The largest diff a reviewer is given.")]);
static REVIEWS: Shape = Shape::Object(&[key(
    "autoRetry",
    &FLAG,
    "Whether requested changes queue the task again without a person.",
)]);
static LIMITS: Shape =
    Shape::Object(&[key("minFreeMiB", &MEBIBYTES, "Free disk space that a launch needs.")]);
static PORTS: Shape =
    Shape::Object(&[key("base", &PORT_BASE, "The first port of the first slot's block of 20.")]);
static GC: Shape =
    Shape::Object(&[key("keepDays", &DAYS, "Days that attempt refs are kept after `Done`.")]);
static LEDGER: Shape = Shape::Object(&[
    key("thresholds", &OR_ANYTHING, "The thresholds of the next wave."),
    key("heldBackend", &OR_LINE, "The backend whose sessions are held."),
    key("review", &LEDGER_REVIEW, "How a fold is reviewed."),
]);
static SAVE: Shape = Shape::Object(&[]);
static NOTIFY_WORD: Shape = Shape::Choice(|| vec!["auto", "off"]);
static NOTIFY: Shape = Shape::Either(&[&NOTIFY_WORD, &ARGV]);

/// The whole file.
pub(super) static ROOT: Shape = Shape::Object(&[
    key("$schema", &LINE, "Where an editor finds this schema."),
    required("slotsRoot", &FREE_PATH, "The folder of the slots; may lie outside the repository."),
    required("slots", &SLOTS, "The slots, in the order in which they are tried."),
    required("attempts", &POSITIVE, "How many counted attempts a task gets."),
    key("orphanInProgressThresholdHours", &HOURS, "Hours until an idle `In Progress` is blocked."),
    key("harnessReviewer", &OR_REVIEWER, "Who is asked to review human-review files."),
    key("baseBranch", &OR_BRANCH, "The branch work is proposed for; none asks the remote."),
    key("branchPrefix", &BRANCH_PREFIX, "What a task's branch begins with."),
    key("parentBranch", &PARENT_BRANCH, "What to do when a parent's branch is missing."),
    key("projectRoot", &CONTAINED_OR_TOP, "What declared files and test commands are relative to."),
    required("lanes", &LANES, "The two lanes."),
    key("agent", &AGENT, "The agent's account."),
    key("board", &BOARD, "The board."),
    key("owner", &OWNER, "Whether one dispatcher per remote is enforced."),
    key("forge", &FORGE, "The forge."),
    key("vcs", &VCS, "Version control."),
    key("confinement", &CONFINEMENT, "Kernel confinement of what runs in a slot."),
    key("provision", &PROVISION, "How a slot's dependencies are provided."),
    key("testCommands", &ARGVS, "Shapes of test commands allowed beside the built-in ones."),
    key("wholeTestCommand", &OR_LINE, "The test command of a close attempt that declares none."),
    key("checks", &CHECKS, "Formatters, linters and how checks run."),
    key("generated", &GENERATED, "Generated files."),
    key("paths", &PATHS_OBJECT, "The path policy."),
    key("promptHooks", &PROMPT_HOOKS, "Programs that add context to the local lane's prompt."),
    key("resetBeforeAttempt", &PATHS, "Files removed from the slot before each attempt."),
    key("skills", &SKILLS, "Skills."),
    key("templates", &TEMPLATES, "Files that replace built-in templates."),
    key("commit", &COMMIT, "The commit of an attempt."),
    key("humanReview", &HUMAN_REVIEW, "Human-review files."),
    key("reviewer", &REVIEWER, "The reviewing agent."),
    key("reviews", &REVIEWS, "Reviews by people."),
    key("limits", &LIMITS, "Limits of the machine."),
    key("ports", &PORTS, "Port blocks of the slots."),
    key("gc", &GC, "How long things are kept."),
    key("ledger", &LEDGER, "The delegation ledger."),
    key("save", &SAVE, "How work is saved; it has no options."),
    key("notify", &NOTIFY, "Notifications: `auto`, `off`, or a program."),
    key("language", &LANGUAGE, "The language of texts on the board and in pull requests."),
]);
