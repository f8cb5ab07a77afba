//! Rules of settings files as denials of the command line.

use crate::permission::files::{Anchor, FilePattern};
use crate::permission::relation::PlacedRule;
use crate::permission::rule::split_list;

/// The denials that take a rule of a settings file away, as they have to be given on the command
/// line; none when it grants nothing there and its text would not survive the list.
pub(super) fn as_command_line(placed: &PlacedRule, agent_home: Option<&str>) -> Vec<String> {
    let text = placed.rule.to_string();
    let survives = split_list(&text).len() == 1 && !text.contains(['\n', '\r', '\0']);
    if !survives {
        return Vec::new();
    }
    let (Some(tool @ ("Edit" | "Read")), Some(spec)) = (placed.rule.tool(), placed.rule.spec())
    else {
        return vec![text];
    };
    let (text, spec) = match FilePattern::parse(spec, placed.source).anchor {
        // `/x` of the person's file begins in the agent's own directory, which has another name here.
        Anchor::AgentHome => {
            let home = agent_home.map_or_else(|| "~/.claude".to_owned(), absolute_pattern);
            let spec = format!("{home}{spec}");
            (format!("{tool}({spec})"), spec)
        }
        Anchor::Nowhere => return Vec::new(),
        Anchor::Here | Anchor::Start => return vec![text],
        Anchor::Home | Anchor::Root => (text, spec.to_owned()),
    };
    // An edit rule lets its paths be read as well [r_editout-03], which its denial leaves.
    match tool {
        "Edit" => vec![text, format!("Read({spec})")],
        _ => vec![text],
    }
}

/// A folder as the beginning of a file pattern. What could mean something else in a rule is matched as
/// any one character.
fn absolute_pattern(folder: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let path: String = folder.chars().map(|c| if plain(c) { c } else { '?' }).collect();
    format!("/{}", path.trim_end_matches('/'))
}
