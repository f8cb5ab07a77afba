//! Which formatters and linters run on which files, and how (C5.1).

use dispatch_core::config::FileCommand;
use dispatch_core::path::TreePath;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

/// The argument that is replaced by the files.
pub const FILES: &str = "{files}";

/// How many bytes of file names go into one command: well below what any supported system takes.
pub const BATCH_BYTES: usize = 96 * 1024;

/// A program to run on files, or once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCommand {
    /// How a person is told about it.
    pub name: String,
    /// The folder, relative to the tree; empty for its top.
    pub dir: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

/// The commands of one kind, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPlan {
    /// What runs.
    pub commands: Vec<PlannedCommand>,
    /// Changed files that no rule covers, or that cannot be named in an argument.
    pub uncovered: Vec<TreePath>,
}

/// A configured glob that cannot be read.
#[derive(Debug, Error)]
#[error("`{glob}` is not a file pattern")]
pub struct GlobError {
    /// The glob.
    pub glob: String,
    /// What is wrong with it.
    #[source]
    pub source: globset::Error,
}

/// Compiles globs the way every list of files in the configuration reads them: `*` stays within a folder.
pub fn globs(patterns: &[String]) -> Result<GlobSet, GlobError> {
    let wrong = |glob: &str| {
        let glob = glob.to_owned();
        move |source| GlobError { glob, source }
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        set.add(glob.map_err(wrong(pattern))?);
    }
    set.build().map_err(wrong(&patterns.join(" ")))
}

/// Plans the commands of `rules` over the changed regular files that still exist.
///
/// `project_root` is where the rules' own folders start, relative to the tree (`.` for its top). Files are named
/// relative to the folder a command runs in.
pub fn plan_commands(
    rules: &[FileCommand],
    files: &[TreePath],
    project_root: &str,
) -> Result<CommandPlan, GlobError> {
    let mut plan = CommandPlan::default();
    let mut covered = vec![false; files.len()];
    for rule in rules {
        let set = globs(&rule.files)?;
        let dir = join(project_root, rule.cwd.as_str());
        let mut matching = Vec::new();
        for (at, file) in files.iter().enumerate() {
            let Some(path) = file.as_utf8() else { continue };
            let in_project = relative(path, &join(project_root, "."));
            if set.is_match(path) || set.is_match(&in_project) {
                covered[at] = true;
                matching.push(argument(&relative(path, &dir)));
            }
        }
        if !matching.is_empty() {
            plan.commands.extend(batches(rule, &dir, matching));
        }
    }
    let left = files.iter().zip(covered).filter(|(_, covered)| !covered);
    plan.uncovered = left.map(|(file, _)| file.clone()).collect();
    Ok(plan)
}

fn batches(rule: &FileCommand, dir: &str, files: Vec<String>) -> Vec<PlannedCommand> {
    let name = rule.command.join(" ");
    let command = |argv| PlannedCommand { name: name.clone(), dir: dir.to_owned(), argv };
    if !rule.command.iter().any(|word| word == FILES) {
        return vec![command(rule.command.clone())];
    }
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut used = 0;
    for file in files {
        let size = file.len() + 1;
        match groups.last_mut() {
            Some(group) if used + size <= BATCH_BYTES => group.push(file),
            _ => {
                groups.push(vec![file]);
                used = 0;
            }
        }
        used += size;
    }
    let fill = |group: Vec<String>| {
        let words = rule
            .command
            .iter()
            .flat_map(|word| if word == FILES { group.clone() } else { vec![word.clone()] });
        words.collect()
    };
    groups.into_iter().map(|group| command(fill(group))).collect()
}

/// A file name that no program takes for an option (C5.3).
fn argument(path: &str) -> String {
    if path.starts_with('-') { format!("./{path}") } else { path.to_owned() }
}

/// Joins two folders of the tree; `.` is no segment.
pub fn join(base: &str, below: &str) -> String {
    let segments = base.split('/').chain(below.split('/'));
    segments.filter(|segment| !matches!(*segment, "" | ".")).collect::<Vec<_>>().join("/")
}

/// `path` as seen from the folder `dir`, both relative to the tree.
fn relative(path: &str, dir: &str) -> String {
    let mut path_rest: Vec<&str> = path.split('/').collect();
    let mut dir_rest: Vec<&str> = dir.split('/').filter(|segment| !segment.is_empty()).collect();
    while path_rest.len() > 1 && !dir_rest.is_empty() && path_rest[0] == dir_rest[0] {
        path_rest.remove(0);
        dir_rest.remove(0);
    }
    let up = std::iter::repeat_n("..", dir_rest.len());
    up.chain(path_rest).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;
    use proptest::prelude::*;

    use super::*;

    fn rule(files: &[&str], cwd: &str, command: &[&str]) -> FileCommand {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        FileCommand { files: owned(files), cwd: Utf8PathBuf::from(cwd), command: owned(command) }
    }

    fn paths(files: &[&str]) -> Vec<TreePath> {
        files.iter().map(|file| TreePath::new(*file)).collect()
    }

    #[test]
    fn c5_1_files_are_named_from_where_the_command_runs_and_never_as_options() {
        let files = paths(&["web/-x.ts", "web/a.ts", "b.rs", "lib/c.ts"]);
        let rules = [rule(&["**/*.ts"], "web", &["fmt", "--", "{files}", "end"])];
        let plan = plan_commands(&rules, &files, ".").unwrap();
        let [command] = plan.commands.as_slice() else { panic!("{plan:?}") };
        assert_eq!(command.dir, "web");
        assert_eq!(command.argv, ["fmt", "--", "./-x.ts", "a.ts", "../lib/c.ts", "end"]);
        assert_eq!(plan.uncovered, paths(&["b.rs"]));
    }

    #[test]
    fn c5_1_a_command_without_files_runs_once_and_one_with_nothing_to_do_not_at_all() {
        let rules =
            [rule(&["*.rs"], ".", &["lint", "all"]), rule(&["*.md"], ".", &["md", "{files}"])];
        let plan = plan_commands(&rules, &paths(&["a.rs", "b.rs"]), ".").unwrap();
        assert_eq!(plan.commands.len(), 1);
        assert_eq!(plan.commands[0].argv, ["lint", "all"]);
    }

    #[test]
    fn c5_1_globs_are_read_from_the_tree_and_from_the_project() {
        let rules = [rule(&["src/*.rs"], ".", &["fmt", "{files}"])];
        let plan = plan_commands(&rules, &paths(&["app/src/a.rs"]), "app").unwrap();
        assert_eq!(plan.commands[0].dir, "app");
        assert_eq!(plan.commands[0].argv, ["fmt", "src/a.rs"]);
    }

    #[test]
    fn c3_2_a_path_that_is_no_text_is_reported_not_passed_on() {
        let files = [TreePath::new(*b"a\xff.rs")];
        let plan = plan_commands(&[rule(&["**"], ".", &["fmt", "{files}"])], &files, ".").unwrap();
        assert_eq!(plan, CommandPlan { commands: Vec::new(), uncovered: files.to_vec() });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn c5_3_every_file_is_passed_once_in_batches_below_the_limit(count in 0usize..700, long in 1usize..500) {
            let names: Vec<String> = (0..count).map(|n| format!("{}{n}.rs", "d/".repeat(long / 2))).collect();
            let files: Vec<TreePath> = names.iter().map(|name| TreePath::new(name.as_bytes())).collect();
            let plan = plan_commands(&[rule(&["**/*.rs"], ".", &["fmt", "{files}"])], &files, ".").unwrap();
            let passed: Vec<String> = plan.commands.iter().flat_map(|c| c.argv[1..].to_vec()).collect();
            prop_assert_eq!(passed, names);
            for command in &plan.commands {
                prop_assert!(command.argv.iter().map(|word| word.len() + 1).sum::<usize>() <= BATCH_BYTES + 100);
            }
        }
    }
}
