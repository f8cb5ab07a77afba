#![forbid(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]
//! What an unattended agent may do, and whether a task may be given to one: pure decisions, meant to
//! be embedded.
//!
//! Everything arrives as a value; nothing here opens a file, starts a program, or reads a clock. The
//! crate holds
//!
//! - [`permission`]: the agent's permission rules. What a rule says ([`permission::Rule`]), what is
//!   wrong with it ([`permission::lint`]), how two rules lie to each other
//!   ([`permission::relation`]), what a launch may grant when settings files add rules of their own
//!   ([`permission::compose`]), and what the agent would decide about a tool call
//!   ([`permission::decide`]);
//! - [`test_command`]: the one program a task may name, and the shapes it may have;
//! - [`paths`], [`scope`]: which files may be changed, and what each changed file is to a task;
//! - [`claims`]: which paths a task says it will write, and when two tasks may not run at once;
//! - [`guards`]: the checks before a task is given to an agent, each with its grounds.
//!
//! # What is promised
//!
//! - Reading is total: every text is a rule, a test command or a refusal; nothing panics on input.
//! - [`permission::relation`] of two shell patterns is decided exactly, by inclusion and intersection
//!   of the sets of commands they admit. Of two file patterns it is exact below one anchor, bracket
//!   expressions aside. Where it cannot be decided the answer is [`Overlaps`], which leads to a refusal.
//! - A composed surface with no conflict grants nothing that its lists do not: whatever the loaded
//!   settings add is granted already or denied. No denial that is added for them takes away anything
//!   granted. A surface with a conflict gives no lists at all.
//! - [`permission::SettingsFile`] takes no file that the agent would drop whole, and none that widens a
//!   worker otherwise than by rules, which alone can be denied.
//! - [`permission::lint`] names every recorded way in which a rule of the measured agent grants
//!   nothing, denies nothing or grants everything.
//! - [`permission::decide`] agrees with every recorded decision of the measured version (2.1.197) but
//!   those it declares unknown; the test that says so prints the table.
//! - A guard blocks a task for its own text only; everything else makes it wait.
//!
//! # What is not promised
//!
//! **A deny is a guard rail for honest commands, not a boundary (P4.5).** Under a wide grant it is walked
//! around by a quoted argument, an option before the sub-command, a path to the program, `bash -c`, a
//! subshell, a substitution, or ten thousand characters. The boundary is narrow grants plus
//! confinement by the kernel, and neither of the two alone:
//!
//! ```
//! use dispatch_guards::permission::{
//!     Decision, Mode, Place, PlacedRule, Session, ToolCall, ToolSet, decide,
//! };
//!
//! let session = Session {
//!     allow: vec![PlacedRule::command_line("Bash")],
//!     deny: vec![PlacedRule::command_line("Bash(git push:*)")],
//!     ask: Vec::new(),
//!     mode: Mode::DontAsk,
//!     tools: ToolSet::Bare,
//! };
//! let around = ToolCall::Shell { command: "git -C . push".into() };
//! let decision = decide(&session, &around, &Place::new("/slot", "/home/worker"));
//! assert!(matches!(decision, Decision::Allowed(_)));
//! ```
//!
//! Nor is it promised that
//!
//! - another version of the agent decides as the measured one does;
//! - a program that a rule grants stays inside the slot: a test command runs whatever the tests say, and
//!   so does a script of the slot that a rule names, since the worker may write it;
//! - a star between two words stands for an argument: `pnpm --filter * test` takes in
//!   `pnpm --filter x exec touch /elsewhere test` as well. Where that matters, name the packages;
//! - a hook of the person's settings file leaves the agent's decisions alone: what it answers before a
//!   tool call is obeyed, except against a denial. The bare mode runs none;
//! - a loaded rule that is denied leaves a free command alone: a settings file that allows
//!   `Bash(ls:*)`, which would be free, makes a launch deny it, unless the lane grants it. A session
//!   that loads no settings has none of this, and is the safest surface.
//!
//! # Shapes of rules, and their traps
//!
//! | rule | admits | trap |
//! | --- | --- | --- |
//! | `Bash(cargo test:*)` | `cargo test`, `cargo test --lib` | not `cargo test:unit`; `:*` must be the last two characters |
//! | `Bash(npm run test*)` | also `npm run test:unit`, `npm run tests` | a star takes any text, blanks too |
//! | `Bash(pnpm * test)` | `pnpm -r test` | not `pnpm test`, not `pnpm -r test x`: both globs are needed |
//! | `Bash(pnpm * test:*)` | nothing a worker types | with `:*` the star is a literal star |
//! | `Bash(make check)` | that very text | an inner second blank or a quote is another text |
//! | `Bash(python3)` | that text, **and any program** | it reads one from its standard input, which no rule looks at |
//! | `Bash(git*)` | all of git | the star stands in the name: `git -c alias.x=!sh x`, too |
//! | `Bash(npx backlog.md:*)` | every task of the board | a program that fetches another reaches what that one does |
//! | `Bash (make:*)` | **everything** | the blank makes it `Bash` and a leftover |
//! | `Bash(make:*` | nothing | as a deny it denies nothing, silently |
//! | `Bash(git log:*)` | `git log --output=/x`, too | some readers have an option that writes |
//! | `Bash(tee:*)`, `Bash(python3:*)` | **anything** | the agent does not look at what they write or run |
//! | `Edit(**)` | the slot, and the shell's redirections into it | |
//! | `Edit`, `Edit(*)` | **any file of the machine** | |
//! | `Edit(/src/**)` | the folder at the top | in the person's settings file `/` is elsewhere |
//! | `Edit(src/**)` | every `src` at any depth | moves with the session's `cd` |
//! | `Edit(/home/x/**)` | a folder `home` of the slot | an absolute path has two slashes |
//! | `Write(src/**)` | nothing | a path belongs on `Edit` |
//! | `Read(src/**)` | nothing that is not free | reading the slot needs no rule |
//! | `mcp__server` | every tool of the server | a star in the server's name grants nothing |
//!
//! # Embedding it
//!
//! A program that starts agents of its own would judge its lists once, compose the surface of each
//! launch, and refuse where either says no:
//!
//! ```
//! use dispatch_core::triage::Lane;
//! use dispatch_guards::permission::{
//!     LaneRules, LaneSurface, RuleSource, SettingsFile, Severity, TaskRules, lint_lists,
//! };
//! use dispatch_guards::test_command::{TestShapes, resolve_test_command};
//!
//! let allow = vec!["Edit(**)".to_owned(), "Bash(git status:*)".to_owned()];
//! let deny = vec!["Bash(git push:*)".to_owned()];
//!
//! // Once: no rule of our own may be dead or mean everything.
//! let findings = lint_lists(Lane::Frontier, &allow, &deny);
//! assert!(findings.iter().all(|finding| finding.severity != Severity::Error), "{findings:?}");
//!
//! // Once: what a person's settings file adds, held against what we grant. One that the agent would
//! // drop without a word, or that brings an account of its own, is told instead of loaded.
//! let text = br#"{"permissions": {"allow": ["Bash(docker:*)"], "deny": ["Read(.env)"]}}"#;
//! let file = SettingsFile::parse(RuleSource::User, "settings.json", text)?;
//! assert!(file.overrides(Lane::Frontier).is_empty());
//! let lane = LaneSurface::new(&LaneRules { allow, deny, ..LaneRules::default() }, &[file.loaded()]);
//!
//! // For each task: its own test command, and the two lists, one rule an argument.
//! let command = resolve_test_command("cargo test -p parser", &TestShapes::builtin())?;
//! let task = TaskRules { test_command: Some(command.rule()), ..TaskRules::default() };
//! let (allow, deny) = lane.compose(&task).lists()?;
//! assert_eq!(allow, ["Edit(**)", "Bash(git status:*)", "Bash(cargo test -p parser:*)"]);
//! assert_eq!(deny, ["Bash(git push:*)", "Bash(docker:*)"]);
//!
//! // The agent loads the file it finds: give the worker a copy of this very text.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What may not go in here: anything that acts. A guard never edits a task, and nothing in this crate
//! knows what is done about a verdict.
//!
//! [`Overlaps`]: permission::Relation::Overlaps
//!
//! Ids such as D6.4 name rules; `docs/rules` in the repository explains them.

pub mod claims;
pub mod guards;
pub mod paths;
pub mod permission;
pub mod scope;
pub mod test_command;
pub mod verdict;
