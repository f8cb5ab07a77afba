//! Shell commands (F1 to F5, F7).

use super::files::{covers, touching};
use super::held::{Held, Use, held};
use super::place::{is_guarded, normalise};
use super::rules::Rules;
use super::syntax::{Part, Redirect, Script, read};
use super::texts::{Candidate, Followed, allow_candidates, deny_candidates};
use super::{Answer, Decision, Mode, View, allowed, denied, free, unknown};
use crate::permission::commands::UNGRANTABLE;
use crate::permission::shell::{Piece, ShellPattern};
use crate::permission::wrappers::is_plain_listed;

/// Characters from which on no narrow rule and no reading of parts applies [len_allow-04].
const LONGEST: usize = 10_000;

pub(super) fn decide(view: &View<'_>, command: &str) -> Decision {
    if command.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
        return denied("a control character in the command");
    }
    let long = command.chars().count() > LONGEST;
    let script = if long { Script::default() } else { read(command, &view.place.home) };
    let whole = long.then(|| Candidate::new(command.trim()));
    let against = find_denial(view, view.deny, &script, whole.as_ref());
    if let Answer::Yes = against {
        return denied("a deny rule");
    }
    if let Answer::Yes = find_denial(view, view.ask, &script, whole.as_ref()) {
        return denied("an ask rule, and nobody is asked");
    }
    let decision = if view.session.mode == Mode::BypassPermissions {
        allowed("nothing is asked in this mode")
    } else if view.allow.names("Bash")
        || view.allow.shell.iter().any(|(p, _)| *p == ShellPattern::Everything)
    {
        decide_bare(view, &script, long)
    } else if long {
        denied("a command this long needs `Bash` itself")
    } else {
        decide_narrow(view, command, &script)
    };
    match (against, decision) {
        (Answer::Unsure(why), Decision::Allowed(_)) => unknown(why),
        (_, decision) => decision,
    }
}

/// Whether a rule of a deny or ask list bears on the command.
fn find_denial(
    view: &View<'_>,
    rules: &Rules,
    script: &Script,
    whole: Option<&Candidate>,
) -> Answer {
    let mut answer = Answer::No;
    if let Some(whole) = whole {
        if rules.shell.iter().any(|(pattern, _)| whole.fits(pattern)) {
            return Answer::Yes;
        }
        return answer;
    }
    let moves = script.parts.iter().any(|part| part.name() == Some("cd"));
    for part in &script.parts {
        let (candidates, followed) = deny_candidates(part);
        if rules.shell.iter().any(|(pattern, _)| candidates.iter().any(|text| text.fits(pattern))) {
            return Answer::Yes;
        }
        if followed == Followed::Unsure && !rules.shell.is_empty() {
            answer = Answer::Unsure("a wrapper that is not followed");
        }
        if denies_files(view, rules, part, moves) {
            return Answer::Yes;
        }
    }
    for group in &script.groups {
        let text = Candidate::new(&group.text);
        let fits = |(pattern, _): &(ShellPattern, String)| {
            matches!(pattern, ShellPattern::Glob(pieces) if pieces.first() == Some(&Piece::Star))
                && text.fits(pattern)
        };
        if rules.shell.iter().any(fits) {
            if group.function {
                return Answer::Yes;
            }
            if !group.text.starts_with('(') {
                answer = Answer::Unsure("a group that the agent may or may not look into");
            }
        }
    }
    answer
}

fn denies_files(view: &View<'_>, rules: &Rules, part: &Part, moves: bool) -> bool {
    for redirect in &part.redirects {
        if let Redirect::Output(Some(target)) = redirect
            && !moves
            && touching(view, &rules.edit, &view.place.resolve(target)).is_some()
        {
            return true;
        }
    }
    let Some(held) = held(part) else { return false };
    let list = match held.does {
        Use::Reads => &rules.read,
        Use::Writes => &rules.edit,
    };
    held.paths
        .iter()
        .filter(|held| held.fixed)
        .any(|held| touching(view, list, &view.place.resolve(&held.path)).is_some())
}

/// What bare `Bash` still refuses (F4).
fn decide_bare(view: &View<'_>, script: &Script, long: bool) -> Decision {
    let moves = script.parts.iter().any(|part| part.name() == Some("cd"));
    if long || script.complex.is_some() || moves {
        return allowed("`Bash`");
    }
    for part in &script.parts {
        for redirect in &part.redirects {
            let Redirect::Output(Some(target)) = redirect else { continue };
            let resolved = view.place.resolve(target);
            if resolved.both().iter().any(|path| is_guarded(path)) {
                return if target.split('/').any(|segment| segment == "..") {
                    unknown("a guarded file named by way of `..`")
                } else {
                    denied("the agent guards this file")
                };
            }
        }
        if let Some(held) = held(part)
            && held.does == Use::Writes
            && let Some(why) = refused_write(view, &held)
        {
            return denied(why);
        }
    }
    allowed("`Bash`")
}

fn refused_write(view: &View<'_>, held: &Held) -> Option<&'static str> {
    let removes = matches!(held.name.as_str(), "rm" | "rmdir");
    let targets = match held.name.as_str() {
        "cp" | "mv" => &held.paths[held.paths.len().saturating_sub(1)..],
        _ => held.paths.as_slice(),
    };
    for target in targets {
        let resolved = view.place.resolve(&target.path);
        if resolved.both().iter().any(|path| is_guarded(path)) {
            return Some("the agent guards this file");
        }
        let vital = |path: &str| {
            path == "/"
                || path == view.place.home
                || path == view.place.start
                || path.matches('/').count() == 1
        };
        if removes && resolved.both().iter().any(|path| vital(path)) {
            return Some("the agent does not remove this");
        }
    }
    None
}

fn decide_narrow(view: &View<'_>, command: &str, script: &Script) -> Decision {
    let outputs = script.parts.iter().flat_map(|part| &part.redirects);
    for redirect in outputs.clone() {
        if let Redirect::Output(target) = redirect {
            match may_write(view, target.as_deref()) {
                Answer::Yes => {}
                Answer::No => return denied("no rule for the file that is written"),
                Answer::Unsure(why) => return unknown(why),
            }
        }
    }
    if is_exactly_granted(view, command) {
        return allowed("a rule with this very text");
    }
    if let Some(why) = script.complex {
        return denied(format!("{why}: only `Bash` or a rule with this very text grants it"));
    }
    let moves: Vec<&Part> = script
        .parts
        .iter()
        .filter(|part| part.name() == Some("cd") && !stays(view, part))
        .collect();
    if moves.len() > 1 {
        return denied("more than one `cd`");
    }
    let writes = outputs.clone().any(|redirect| matches!(redirect, Redirect::Output(_)));
    if !moves.is_empty() && writes {
        return denied("`cd` beside a file that is written");
    }
    let mut unsure = None;
    let mut place = view.place.clone();
    for part in &script.parts {
        let view = View { place: &place, ..*view };
        match may_run(&view, part, !moves.is_empty()) {
            Answer::Yes => {}
            Answer::No => return denied("no rule for one of its commands"),
            Answer::Unsure(why) => unsure = unsure.or(Some(why)),
        }
        if part.name() == Some("cd")
            && let Some(target) = part.command().get(1).and_then(|word| word.value.clone())
        {
            place.here = place.resolve(&target).named;
        }
    }
    match unsure {
        Some(why) => unknown(why),
        None => allowed("each of its commands is granted or free"),
    }
}

/// `cd` to the place the session is in.
fn stays(view: &View<'_>, part: &Part) -> bool {
    let target = part.command().get(1).and_then(|word| word.value.as_deref());
    target.is_some_and(|target| view.place.resolve(target).named == view.place.here)
}

/// A text rule with the whole command, whatever is in it [a_compound-04, a_subsh-01].
fn is_exactly_granted(view: &View<'_>, command: &str) -> bool {
    let joined = |text: &str| text.split("&&").map(str::trim).collect::<Vec<_>>().join(" && ");
    let command = command.trim();
    view.allow.shell.iter().any(|(pattern, _)| match pattern {
        ShellPattern::Text(text) | ShellPattern::Stem(text) => {
            let piped = super::super::relation::split_operators(
                &text.replace("&&", " ").replace('\n', " "),
            )
            .len()
                > 1
                && !text.contains(['(', '`']);
            !piped && (text == command || joined(text) == joined(command))
        }
        ShellPattern::Everything | ShellPattern::Nothing | ShellPattern::Glob(_) => false,
    })
}

/// Whether output may go into a file [rediredits-06, rd_bare-01].
fn may_write(view: &View<'_>, target: Option<&str>) -> Answer {
    let Some(target) = target else { return Answer::No };
    let resolved = view.place.resolve(target);
    if resolved.both().iter().any(|path| is_guarded(path)) {
        return Answer::No;
    }
    if covers(view, &view.allow.edit, &[], &resolved) {
        return Answer::Yes;
    }
    if view.session.mode == Mode::AcceptEdits && view.place.is_inside(&resolved) {
        return Answer::Yes;
    }
    Answer::No
}

/// Whether one simple command may run.
fn may_run(view: &View<'_>, part: &Part, moved: bool) -> Answer {
    if part.hidden {
        return Answer::No;
    }
    let command = part.command();
    if command.is_empty() {
        // Plain assignments are free.
        return Answer::Yes;
    }
    if part.name() == Some("cd") && part.assignments == 0 {
        return may_move(view, part);
    }
    let held = held(part);
    if let Some(held) = &held {
        match may_touch(view, held) {
            Answer::Yes => {}
            other => return other,
        }
    }
    if UNGRANTABLE.contains(&part.name().unwrap_or_default()) {
        return Answer::No;
    }
    let candidates = allow_candidates(part);
    let granted = view
        .allow
        .shell
        .iter()
        .any(|(pattern, _)| candidates.iter().any(|candidate| candidate.fits(pattern)));
    if granted {
        return may_be_granted(part, moved);
    }
    let accepted =
        held.is_some_and(|held| held.does == Use::Writes) && view.session.mode == Mode::AcceptEdits;
    if accepted { Answer::Yes } else { is_free(part, moved) }
}

fn may_be_granted(part: &Part, moved: bool) -> Answer {
    let texts: Vec<&str> = part.command().iter().map(|word| word.text.as_str()).collect();
    match part.name() {
        // [a_find-01]
        Some("find")
            if texts
                .iter()
                .any(|t| t.starts_with("-exec") || t.starts_with("-ok") || *t == "-delete") =>
        {
            Answer::No
        }
        // [gitx-07]
        Some("git") if texts.contains(&"--no-index") => Answer::No,
        Some("git") if moved => Answer::Unsure("`cd` beside a granted `git`"),
        Some(_) | None => Answer::Yes,
    }
}

fn is_free(part: &Part, moved: bool) -> Answer {
    let assigned = &part.words[..part.assignments];
    if !assigned.iter().all(|word| is_plain_listed(&word.text)) {
        return Answer::No;
    }
    let mut words = part.command();
    while words.len() > 1 && matches!(words[0].value.as_deref(), Some("command" | "builtin")) {
        words = &words[1..];
        if words[0].text.starts_with('-') {
            return Answer::No;
        }
    }
    if words.first().and_then(|word| word.value.as_deref()) == Some("git") && moved {
        return Answer::No;
    }
    free::is_free(words)
}

fn may_move(view: &View<'_>, part: &Part) -> Answer {
    let words = part.command();
    let Some(target) = words.get(1) else { return Answer::No };
    if words.len() > 2 {
        return Answer::Unsure("`cd` with options");
    }
    if target.text == "-" {
        return Answer::Yes;
    }
    let Some(path) = &target.value else { return Answer::No };
    may_read(view, path)
}

fn may_read(view: &View<'_>, path: &str) -> Answer {
    let resolved = view.place.resolve(path);
    if view.place.is_inside(&resolved) || covers(view, &view.allow.read, &[], &resolved) {
        return Answer::Yes;
    }
    if covers(view, &view.allow.edit, &[], &resolved) {
        return Answer::Unsure("reading outside the slot under an edit rule");
    }
    Answer::No
}

/// Whether the command may touch the files it names.
fn may_touch(view: &View<'_>, held: &Held) -> Answer {
    for target in &held.paths {
        let answer = match held.does {
            Use::Reads => may_read(view, &target.path),
            Use::Writes => may_change(view, held, &target.path),
        };
        if answer != Answer::Yes {
            return answer;
        }
    }
    Answer::Yes
}

fn may_change(view: &View<'_>, held: &Held, path: &str) -> Answer {
    let resolved = view.place.resolve(path);
    if resolved.both().iter().any(|path| is_guarded(path)) {
        return Answer::No;
    }
    let removes = matches!(held.name.as_str(), "rm" | "rmdir");
    if removes && resolved.both().iter().any(|path| *path == normalise(&view.place.start)) {
        return Answer::No;
    }
    if !view.place.is_inside(&resolved) {
        return if covers(view, &view.allow.edit, &[], &resolved) {
            Answer::Unsure("writing outside the slot under an edit rule")
        } else {
            Answer::No
        };
    }
    Answer::Yes
}
