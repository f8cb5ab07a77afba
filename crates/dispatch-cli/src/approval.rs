//! What a person approves, in short: the programs that will run, and what each lane's workers may do.

use dispatch_core::config::{Config, ConfinementMode, Credential, Notify, SettingSource};
use dispatch_core::triage::Lane;
use dispatch_guards::permission::{Severity, lint_lists};

use crate::setup::Setup;

/// The programs, the lanes and what is missing, a line each.
pub fn summary(setup: &Setup, callback: Option<&str>) -> Vec<String> {
    let config = setup.config();
    let mut lines = vec!["These programs may run with your user's rights:".to_owned()];
    lines
        .extend(programs(config, callback).map(|(place, program)| format!("  {place}: {program}")));
    for lane in Lane::ALL.iter().copied() {
        lines.extend(of_lane(setup, lane));
    }
    lines.extend(missing(setup).map(|what| format!("missing: {what}")));
    lines
}

fn programs<'a>(
    config: &'a Config,
    callback: Option<&'a str>,
) -> impl Iterator<Item = (&'static str, String)> + 'a {
    let agent = match &config.agent.credential {
        Credential::Env(name) => format!("`claude`, with the login in `{name}`"),
        Credential::Helper(argv) => format!("`claude`, with the login that {} prints", shown(argv)),
    };
    let test = |words: &Vec<String>| ("test command beside the built-in ones", shown(words));
    let mut all = vec![("agent", agent)];
    all.extend(callback.map(|line| ("board's callback, in a shell", format!("`{line}`"))));
    all.extend(config.prompt_hooks.iter().map(|hook| ("prompt hook", shown(&hook.command))));
    let provision = &config.provision;
    for argv in [&provision.link, &provision.install, &provision.install_locked] {
        all.push(("provisioning of a slot", shown(argv)));
    }
    let checks = &config.checks;
    all.extend(checks.format.iter().map(|each| ("formatter", shown(&each.command))));
    all.extend(checks.lint.iter().map(|each| ("linter", shown(&each.command))));
    all.extend(config.generated.iter().map(|each| ("generator", shown(&each.command))));
    all.extend(config.test_commands.iter().map(test));
    let whole = config.whole_test_command.iter();
    all.extend(whole.map(|line| ("test command of a task without one", format!("`{line}`"))));
    all.extend(config.vcs.ssh_command.iter().map(|line| ("ssh for git", format!("`{line}`"))));
    all.extend(config.vcs.filters.iter().map(|name| ("git filter", format!("`{name}`"))));
    if let Notify::Command(argv) = &config.notify {
        all.push(("notifier", shown(argv)));
    }
    all.into_iter().filter(|(_, program)| !program.is_empty())
}

/// The words of a command line; nothing when there are none.
fn shown(argv: &[String]) -> String {
    if argv.is_empty() { String::new() } else { format!("`{}`", argv.join(" ")) }
}

fn of_lane(setup: &Setup, lane: Lane) -> Vec<String> {
    let config = setup.config();
    let most = config.max_parallel(lane);
    if most == 0 {
        return vec![format!("The {lane} lane is off (`maxParallel` is 0).")];
    }
    let mut lines = vec![format!("A worker of the {lane} lane, at most {most} at once:")];
    if let Some(Ok(settings)) = setup.lanes.get(&lane) {
        lines.push(format!("  may: {}", list(&settings.allow)));
        lines.push(format!("  may not: {}", list(&settings.deny)));
        let lint = lint_lists(lane, &settings.allow, &settings.deny);
        let refused = lint.iter().filter(|finding| finding.severity == Severity::Error);
        lines.extend(
            refused.map(|finding| format!("  is never started while this stands: {finding}")),
        );
        let names: Vec<String> = settings.env.keys().cloned().collect();
        if !names.is_empty() {
            lines.push(format!("  is given the variables: {}", list(&names)));
        }
    }
    let passed = config.env_passthrough(lane);
    if !passed.is_empty() {
        lines.push(format!("  is given of your environment: {}", list(passed)));
    }
    for source in config.setting_sources(lane) {
        lines.push(match source {
            SettingSource::User => "  loads your own settings of the agent".to_owned(),
            SettingSource::Project => {
                "  loads the repository's `.claude/settings.json`, with its hooks".to_owned()
            }
        });
    }
    lines.push(match config.confinement_mode(lane) {
        ConfinementMode::Off => {
            "  is not confined by the kernel: its tools and its test command have your user's rights"
                .to_owned()
        }
        mode @ (ConfinementMode::Required | ConfinementMode::Partial) => {
            format!("  is confined by the kernel ({mode}), or not started")
        }
    });
    lines
}

fn list(rules: &[String]) -> String {
    if rules.is_empty() { "nothing more".to_owned() } else { rules.join(", ") }
}

/// The files that the configuration names and that are not there or cannot be used.
fn missing(setup: &Setup) -> impl Iterator<Item = String> + '_ {
    let config = setup.config();
    let settings = setup.lanes.values().filter_map(|read| read.as_ref().err().cloned());
    let templates = &config.templates;
    let texts = [
        &templates.local_system,
        &templates.frontier_addendum,
        &templates.frontier_entry,
        &templates.close_attempt,
        &templates.contract,
        &config.skills.index,
    ];
    let texts = texts.into_iter().flatten().filter(|path| !setup.texts.contains_key(*path));
    let hooks = config.prompt_hooks.iter().filter_map(|hook| hook.command.first());
    let hooks = hooks.filter(|word| word.contains('/') && !word.starts_with('/'));
    let hooks = hooks.filter(|word| !setup.subject.contains_key(*word));
    settings
        .chain(texts.map(|path| format!("`{path}`, which the configuration names")))
        .chain(hooks.map(|word| format!("the prompt hook `{word}`")))
}
