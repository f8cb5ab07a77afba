//! Tools on one file (F6).

use super::place::{Resolved, is_guarded};
use super::{Decision, Mode, View, allowed, denied};
use crate::permission::files::FilePattern;

pub(super) fn decide(view: &View<'_>, tool: &str, path: &str) -> Decision {
    let resolved = view.place.resolve(path);
    if tool == "Read" { read(view, &resolved) } else { write(view, tool, &resolved) }
}

fn read(view: &View<'_>, path: &Resolved) -> Decision {
    for rules in [&view.deny.read, &view.ask.read] {
        if let Some(rule) = touching(view, rules, path) {
            return denied(format!("`{rule}`"));
        }
    }
    if view.session.mode == Mode::BypassPermissions {
        return allowed("nothing is asked in this mode");
    }
    if view.place.is_inside(path) {
        return allowed("reading the slot is free");
    }
    if view.allow.names("Read") {
        return allowed("`Read`");
    }
    // An edit rule lets its paths be read [r_editout-03].
    if covers(view, &view.allow.read, &view.allow.edit, path) {
        allowed("a rule for the path")
    } else {
        denied("no rule for the path")
    }
}

fn write(view: &View<'_>, tool: &str, path: &Resolved) -> Decision {
    for rules in [&view.deny.edit, &view.ask.edit] {
        if let Some(rule) = touching(view, rules, path) {
            return denied(format!("`{rule}`"));
        }
    }
    if view.session.mode == Mode::BypassPermissions {
        return allowed("nothing is asked in this mode");
    }
    if path.both().iter().any(|path| is_guarded(path)) {
        return denied("the agent guards this file");
    }
    if view.allow.names(tool) {
        return allowed(format!("`{tool}`"));
    }
    if covers(view, &view.allow.edit, &[], path) {
        return allowed("a rule for the path");
    }
    if view.session.mode == Mode::AcceptEdits && view.place.is_inside(path) {
        return allowed("edits in the slot are free in this mode");
    }
    denied("no rule for the path")
}

/// The first rule that matches the path in either form.
pub(super) fn touching<'a>(
    view: &View<'_>,
    rules: &'a [(FilePattern, String)],
    path: &Resolved,
) -> Option<&'a str> {
    rules
        .iter()
        .find(|(pattern, _)| path.both().iter().any(|path| view.place.matches(pattern, path)))
        .map(|(_, text)| text.as_str())
}

/// Whether the path is covered in both its forms [e_absout-06, r_absout-07].
pub(super) fn covers(
    view: &View<'_>,
    rules: &[(FilePattern, String)],
    more: &[(FilePattern, String)],
    path: &Resolved,
) -> bool {
    let matched =
        |path: &str| rules.iter().chain(more).any(|(pattern, _)| view.place.matches(pattern, path));
    path.both().into_iter().all(matched)
}
