//! Commands that need no rule (F5).

use super::Answer;
use super::syntax::Word;

/// Judges whether a command only reads; its paths are judged elsewhere.
pub(super) fn is_free(words: &[Word]) -> Answer {
    let Some(name) = words.first().and_then(|word| word.value.as_deref()) else {
        return Answer::No;
    };
    let arguments: Vec<&str> =
        words[1..].iter().map(|word| word.value.as_deref().unwrap_or(&word.text)).collect();
    match name {
        "git" => super::free_git::is_free(&arguments),
        "sed" => is_free_sed(&arguments),
        "find" => no_option(
            &arguments,
            &[
                "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0",
                "-fprintf",
            ],
        ),
        "xargs" => is_free_xargs(&arguments),
        "jq" => is_free_jq(&arguments),
        "sort" => {
            no_prefix(&arguments, &["-o", "--output", "--compress-program", "-T", "--files0-from"])
        }
        "rg" => no_prefix(&arguments, &["--pre", "--hostname-bin", "-z", "--search-zip"]),
        "tree" => no_prefix(&arguments, &["-o", "--output"]),
        "fd" => no_prefix(&arguments, &["-x", "-X", "--exec", "-l", "--list-details"]),
        "date" => no_prefix(&arguments, &["-s", "--set", "-f", "--file"]),
        "uniq" => is_free_uniq(&arguments),
        "hostname" => no_arguments(&arguments),
        "pyright" | "history" | "ifconfig" => short_arguments(&arguments),
        "node" => only(&arguments, &["-v", "--version"]),
        "python" | "python3" => only(&arguments, &["--version"]),
        "docker" => match arguments.first() {
            Some(&("ps" | "images" | "logs" | "inspect")) => Answer::Yes,
            Some(_) | None => Answer::No,
        },
        _ if ALWAYS.contains(&name) => Answer::Yes,
        _ => Answer::No,
    }
}

const ALWAYS: &[&str] = &[
    "arch",
    "base64",
    "basename",
    "cal",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "free",
    "grep",
    "groups",
    "head",
    "help",
    "hexdump",
    "id",
    "locale",
    "ls",
    "lsof",
    "man",
    "md5sum",
    "netstat",
    "nl",
    "nproc",
    "numfmt",
    "od",
    "paste",
    "pgrep",
    "pr",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha256sum",
    "sleep",
    "ss",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "[",
    "tr",
    "true",
    "tsort",
    "type",
    "uname",
    "unexpand",
    "uptime",
    "wc",
    "which",
    "whoami",
];

fn yes_if(yes: bool) -> Answer {
    if yes { Answer::Yes } else { Answer::No }
}

fn no_option(arguments: &[&str], forbidden: &[&str]) -> Answer {
    yes_if(!arguments.iter().any(|argument| forbidden.contains(argument)))
}

fn no_prefix(arguments: &[&str], forbidden: &[&str]) -> Answer {
    yes_if(
        !arguments.iter().any(|argument| forbidden.iter().any(|flag| argument.starts_with(flag))),
    )
}

fn no_arguments(arguments: &[&str]) -> Answer {
    if arguments.is_empty() {
        Answer::Yes
    } else {
        Answer::Unsure("an argument of a command that shows")
    }
}

fn short_arguments(arguments: &[&str]) -> Answer {
    match arguments {
        [] => Answer::Yes,
        [one] if one.chars().all(|c| c.is_ascii_digit()) => Answer::Yes,
        _ => Answer::Unsure("an argument of a command that shows"),
    }
}

fn only(arguments: &[&str], allowed: &[&str]) -> Answer {
    yes_if(arguments.len() == 1 && allowed.contains(&arguments[0]))
}

fn is_free_uniq(arguments: &[&str]) -> Answer {
    yes_if(arguments.iter().all(|argument| argument.starts_with('-')))
}

fn is_free_xargs(arguments: &[&str]) -> Answer {
    match arguments.first() {
        None | Some(&("echo" | "grep" | "wc" | "printf" | "head" | "tail")) => Answer::Yes,
        Some(_) => Answer::No,
    }
}

fn is_free_jq(arguments: &[&str]) -> Answer {
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    if filter.is_some_and(|filter| filter.contains("env") || filter.contains("input")) {
        return Answer::No;
    }
    no_prefix(arguments, &["-f", "--from-file", "--rawfile", "--slurpfile", "--run-tests", "-L"])
}

/// `sed -n` with scripts that only print lines.
fn is_free_sed(arguments: &[&str]) -> Answer {
    let quiet = arguments.iter().any(|a| *a == "-n" || *a == "--quiet" || *a == "--silent");
    let script = arguments.iter().find(|argument| !argument.starts_with('-'));
    let prints = script.is_some_and(|script| {
        script.split(';').all(|command| {
            command.trim().strip_suffix('p').is_some_and(|lines| {
                lines.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '$')
            })
        })
    });
    let other = arguments.iter().any(|a| {
        a.starts_with('-') && !matches!(*a, "-n" | "--quiet" | "--silent" | "-E" | "-r" | "-z")
    });
    yes_if(quiet && prints && !other)
}
