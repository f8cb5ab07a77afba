//! Commands of git that need no rule (F5).

use super::Answer;

fn yes_if(yes: bool) -> Answer {
    if yes { Answer::Yes } else { Answer::No }
}

/// Judges the arguments of `git`.
pub(super) fn is_free(arguments: &[&str]) -> Answer {
    let Some((command, rest)) = arguments.split_first() else { return Answer::No };
    let writes =
        ["--output", "--ext-diff", "--textconv", "--help", "--no-index", "--open-files-in-pager"];
    if rest.iter().any(|argument| writes.iter().any(|flag| argument.starts_with(flag))) {
        return Answer::No;
    }
    let positional = rest.iter().filter(|argument| !argument.starts_with('-')).count();
    match *command {
        "blame" | "describe" | "diff" | "for-each-ref" | "log" | "ls-files" | "merge-base"
        | "rev-list" | "rev-parse" | "shortlog" | "show" | "status" => Answer::Yes,
        "grep" => yes_if(!rest.iter().any(|argument| argument.starts_with("-O"))),
        "cat-file" => match rest.first() {
            Some(&("-p" | "-t" | "-s" | "-e")) => Answer::Yes,
            Some(_) | None => Answer::Unsure("another form of `git cat-file`"),
        },
        "branch" => is_free_branch(rest, positional),
        "tag" => yes_if(
            rest.iter().all(|a| matches!(*a, "-l" | "--list" | "-n"))
                || matches!(rest.first(), Some(&("-l" | "--list"))),
        ),
        "remote" => yes_if(matches!(rest, [] | ["-v" | "--verbose"])),
        "ls-remote" => yes_if(rest.is_empty()),
        "config" => match rest.first() {
            Some(&"--get") => Answer::Yes,
            Some(&("--get-all" | "--get-regexp")) => {
                Answer::Unsure("another form of `git config --get`")
            }
            Some(_) | None => Answer::No,
        },
        "reflog" => {
            yes_if(!matches!(rest.first(), Some(&("expire" | "delete" | "drop" | "exists"))))
        }
        "stash" => yes_if(matches!(rest.first(), Some(&("list" | "show")))),
        "worktree" => yes_if(matches!(rest.first(), Some(&"list"))),
        _ => Answer::No,
    }
}

fn is_free_branch(rest: &[&str], positional: usize) -> Answer {
    let changing = [
        "-d",
        "-D",
        "-m",
        "-M",
        "-c",
        "-C",
        "-f",
        "-u",
        "--delete",
        "--move",
        "--copy",
        "--force",
        "--set-upstream-to",
        "--unset-upstream",
        "--edit-description",
        "-t",
        "--track",
    ];
    if rest.iter().any(|argument| changing.iter().any(|flag| argument == flag)) {
        return Answer::No;
    }
    let listing =
        ["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];
    let lists = rest.iter().any(|argument| listing.contains(argument));
    yes_if(positional == 0 || lists)
}
