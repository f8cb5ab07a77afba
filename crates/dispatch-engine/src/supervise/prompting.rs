//! The prompt and the system prompt of an attempt (D8): everything they depend on is gathered here.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dispatch_close::checks::join;
use dispatch_close::plan::{Detail, Disposition, Failure};
use dispatch_core::board::Board;
use dispatch_core::config::{HookKind, PromptHook};
use dispatch_core::names::{BlockReason, PauseCause, RequeueReason};
use dispatch_core::parent::closes_parent;
use dispatch_core::path::RepoPath;
use dispatch_core::prompt::{
    Earlier, HookText, PromptError, PromptInput, Prompts, RepositoryRules, SkillIndex, Templates,
    build_prompts, file_hook_answer, file_hook_request, prompt_hook_answer, prompt_hook_request,
};
use dispatch_core::task::Task;
use dispatch_core::triage::{ExecutionPath, Lane};
use dispatch_guards::paths::PathList;

use super::{Attempt, Ran, command_environment};
use crate::earlier_review::earlier_review;
use crate::ports::{CommandEnd, CommandPlace, CommandSpec, PortError};
use crate::surface::loads_project;

/// How long one prompt hook may take (D8.4).
const HOOK_LIMIT: Duration = Duration::from_secs(10);

/// Files in which a repository keeps its rules for agents.
const RULE_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The most bytes taken of one of them.
const RULES_MAX_BYTES: usize = 100_000;

/// Puts the two texts of a launch together, or says what follows when that cannot be.
pub(crate) fn texts(attempt: &mut Attempt<'_>, task: &Task) -> Result<Prompts, Failure> {
    let board = attempt.ports.board.read();
    let children = close_of(&board, task);
    attempt.state.close_attempt = children.is_some();
    if let Some(children) = &children {
        remember_children(attempt, children)?;
    }
    let lane = attempt.record.lane;
    let local_work = lane == Lane::Local && children.is_none();
    let contract = match &attempt.hand.config.templates.contract {
        Some(path) if local_work => Some(configured(attempt, path, PauseCause::ContractMissing)?),
        Some(_) | None => None,
    };
    let hooks = if local_work { hooks(attempt, task)? } else { Vec::new() };
    let skills = if local_work { skills(attempt, task) } else { Vec::new() };
    let rules = repository_rules(attempt);
    let review = match earlier_review(&attempt.ports, attempt.id(), attempt.number()) {
        Ok(review) => review,
        Err(error) => {
            attempt.note(&error.chain());
            None
        }
    };
    let input = Gathered {
        contract: contract.as_deref(),
        hooks: &hooks,
        skills: &skills,
        rules: &rules,
        review: review.as_deref(),
        children: children.as_deref(),
    };
    let prompts = build(attempt, task, &input)?;
    if prompts.hooks_left_out > 0 {
        attempt.note(&format!(
            "{} texts of prompt hooks were left out: the prompt would be too large",
            prompts.hooks_left_out
        ));
    }
    Ok(prompts)
}

/// What was read for a prompt.
struct Gathered<'a> {
    contract: Option<&'a str>,
    hooks: &'a [HookText],
    skills: &'a [Utf8PathBuf],
    rules: &'a [RepositoryRules],
    review: Option<&'a str>,
    children: Option<&'a [&'a Task]>,
}

fn build(attempt: &Attempt<'_>, task: &Task, with: &Gathered<'_>) -> Result<Prompts, Failure> {
    let config = &attempt.hand.config;
    let lane = attempt.record.lane;
    let slot = attempt.slot().path;
    let board_command = format!("{} {}", attempt.context.worker_edit, attempt.id());
    let test_directory = join(config.project_root.as_str(), config.checks.cwd.as_str());
    let base_branch = attempt.record.base_branch.as_ref().map_or("", |branch| branch.as_str());
    let aside = attempt.state.set_aside.as_ref().map(ToString::to_string);
    let continues = attempt.record.start != attempt.record.base;
    let owned_dod: BTreeSet<u32> = task
        .definition_of_done
        .iter()
        .filter(|item| attempt.policies.owned.owner_of(&item.text).is_some())
        .map(|item| item.index)
        .collect();
    let forbidden: Vec<String> = attempt
        .policies
        .paths
        .entries()
        .filter(|entry| match entry.list {
            PathList::Hard => true,
            PathList::LocalForbidden => lane == Lane::Local,
            PathList::HumanReview => false,
        })
        .map(|entry| entry.glob)
        .collect();
    let template = |path: &Option<Utf8PathBuf>| match path {
        Some(path) => configured(attempt, path, PauseCause::LaunchRefused).map(Some),
        None => Ok(None),
    };
    let local_system = template(&config.templates.local_system)?;
    let frontier_addendum = template(&config.templates.frontier_addendum)?;
    let frontier_entry = template(&config.templates.frontier_entry)?;
    let close_attempt = template(&config.templates.close_attempt)?;
    let input = PromptInput {
        task,
        lane,
        path: task.path.given().unwrap_or(ExecutionPath::Direct),
        attempt: attempt.ordinal(),
        slot: &slot,
        board_root: &attempt.hand.roots.board_root,
        board_command: &board_command,
        test_command: attempt.hand.test_command.as_deref(),
        test_directory: (!test_directory.is_empty()).then_some(test_directory.as_str()),
        base_branch,
        forbidden: &forbidden,
        owned_dod: &owned_dod,
        hooks: with.hooks,
        skills: with.skills,
        contract: with.contract,
        earlier: Earlier {
            review: with.review,
            continues,
            aside: aside.as_deref(),
            conflicting_base: (!attempt.state.conflicts.is_empty()).then_some(base_branch),
            base_left_out: attempt.state.base_left_out.is_some().then_some(base_branch),
        },
        close_of: with.children,
        templates: Templates {
            local_system: local_system.as_deref(),
            frontier_addendum: frontier_addendum.as_deref(),
            frontier_entry: frontier_entry.as_deref(),
            close_attempt: close_attempt.as_deref(),
        },
        repository_rules: with.rules,
    };
    build_prompts(&input).map_err(|error| match error {
        PromptError::TooLarge { .. } => Failure {
            step: None,
            disposition: Disposition::Block(BlockReason::PromptTooLarge),
            detail: Detail::Error(error.to_string()),
        },
        PromptError::Template { name, source } => {
            paused(PauseCause::LaunchRefused, format!("`{name}` cannot be used: {source}"))
        }
    })
}

fn paused(cause: PauseCause, why: String) -> Failure {
    Failure::requeue(None, RequeueReason::Paused(cause), why)
}

/// The text of a configured file; it was read with the configuration, from the code root and never from the slot.
fn configured(
    attempt: &Attempt<'_>,
    path: &Utf8Path,
    missing: PauseCause,
) -> Result<String, Failure> {
    attempt.hand.texts.get(path).cloned().ok_or_else(|| {
        paused(missing, format!("the configured file `{path}` is not there, or is no text"))
    })
}

/// The subtasks that this attempt closes, when it closes any (B5.3): told from the board as it is now.
fn close_of<'b>(board: &'b Board, task: &Task) -> Option<Vec<&'b Task>> {
    closes_parent(board, task)
        .then(|| task.children.iter().filter_map(|child| board.find(child)).collect())
}

/// Keeps which commits of its subtasks this attempt sees, so that it is not asked for again.
fn remember_children(attempt: &mut Attempt<'_>, children: &[&Task]) -> Result<(), Failure> {
    let mut commits = Vec::new();
    for child in children {
        let record = attempt.ports.store.record(&child.id).map_err(|error| {
            Failure::requeue(None, RequeueReason::BoardUnreadable, error.chain())
        })?;
        commits.extend(record.and_then(|record| record.pr).map(|proposal| proposal.commit));
    }
    attempt.record.covered_children = Some(commits);
    Ok(())
}

/// The skills about the declared files; an index that cannot be read is none.
fn skills(attempt: &Attempt<'_>, task: &Task) -> Vec<Utf8PathBuf> {
    let config = &attempt.hand.config;
    let Some(text) = config.skills.index.as_ref().and_then(|path| attempt.hand.texts.get(path))
    else {
        return Vec::new();
    };
    match SkillIndex::parse(text) {
        Ok(index) => index.matching(&task.declared_files),
        Err(error) => {
            attempt.note(&format!("{error}: no skill is named in the prompt"));
            Vec::new()
        }
    }
}

/// The repository's own rules for agents at the base commit, when the agent does not load them itself (D7.3).
fn repository_rules(attempt: &Attempt<'_>) -> Vec<RepositoryRules> {
    let lane = attempt.record.lane;
    if lane == Lane::Local || loads_project(attempt.hand.config.setting_sources(lane)) {
        return Vec::new();
    }
    let mut found: Vec<RepositoryRules> = Vec::new();
    for name in RULE_FILES {
        match file_at_base(attempt, name) {
            Ok(Some(text)) if found.iter().all(|rules| rules.text != text) => {
                found.push(RepositoryRules { path: name.to_owned(), text });
            }
            Ok(_) => {}
            Err(error) => attempt.note(&error.chain()),
        }
    }
    found
}

fn file_at_base(attempt: &Attempt<'_>, name: &str) -> Result<Option<String>, PortError> {
    let (base, _) = attempt.base_and_start()?;
    let path = RepoPath::parse(name)
        .map_err(|source| PortError::new("read the repository's rules", source))?;
    let vcs = attempt.ports.vcs;
    let Some(bytes) = vcs.file_at(&vcs.tree_of(&base)?, &path)? else { return Ok(None) };
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if text.len() > RULES_MAX_BYTES {
        text.truncate(text.floor_char_boundary(RULES_MAX_BYTES));
        text.push_str("\n\n[The rest of the file was left out.]\n");
    }
    Ok(Some(text))
}

/// Asks the prompt hooks; one that fails contributes nothing and is logged.
fn hooks(attempt: &mut Attempt<'_>, task: &Task) -> Result<Vec<HookText>, Failure> {
    let configured = attempt.hand.config.prompt_hooks.clone();
    let slot = attempt.slot().path;
    let mut texts = Vec::new();
    for hook in &configured {
        match hook.kind {
            HookKind::Prompt => {
                let answer = ask(attempt, hook, prompt_hook_request(task, &slot))?;
                let text = answer.and_then(|stdout| prompt_hook_answer(&stdout));
                texts.extend(text.map(|text| HookText { file: None, text }));
            }
            HookKind::File => {
                for file in &task.declared_files {
                    let answer = ask(attempt, hook, file_hook_request(&file.text, &slot))?;
                    let text = answer.and_then(|stdout| file_hook_answer(&stdout));
                    let file = Some(file.text.clone());
                    texts.extend(text.map(|text| HookText { file, text }));
                }
            }
        }
    }
    Ok(texts)
}

/// Runs a hook in the code root, where it may only read; its standard output when it succeeded.
fn ask(
    attempt: &mut Attempt<'_>,
    hook: &PromptHook,
    request: String,
) -> Result<Option<String>, Failure> {
    let roots = &attempt.hand.roots;
    let mut argv = hook.command.clone();
    if let Some(program) = argv.first_mut()
        && program.contains('/')
    {
        *program = roots.code_root.join(&program).into_string();
    }
    let mut env = command_environment(attempt);
    env.push(("BACKLOG_CWD".to_owned(), roots.board_root.to_string()));
    let spec = CommandSpec {
        argv,
        dir: roots.code_root.clone(),
        env,
        stdin: request.into_bytes(),
        limit: HOOK_LIMIT,
        log: None,
        place: CommandPlace::ReadOnly,
        marker: attempt.record.token.clone(),
    };
    let program = hook.command.join(" ");
    let why = match attempt.run(&spec) {
        Ok(Ran::Asked(asked)) => return Err(asked.failure(None)),
        Ok(Ran::Ended(CommandEnd::Ended { stdout, exit, .. })) => {
            if matches!(exit, crate::ports::ExitMark::Code(0)) {
                return Ok(Some(stdout));
            }
            exit.to_string()
        }
        Ok(Ran::Ended(CommandEnd::TimedOut { .. })) => {
            format!("did not answer within {} s", HOOK_LIMIT.as_secs())
        }
        Ok(Ran::Ended(CommandEnd::Stopped)) => "was ended before its time".to_owned(),
        Ok(Ran::Ended(CommandEnd::NotStarted(why))) => format!("could not be started: {why}"),
        Err(error) => error.chain(),
    };
    attempt.note(&format!("the prompt hook `{program}` {why}; it contributes nothing"));
    Ok(None)
}
