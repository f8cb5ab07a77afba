//! Programs whose grant amounts to more than it says (P4.3).

use super::{Lint, Reach};
use crate::permission::relation::split_operators;
use crate::permission::shell::ShellPattern;
use crate::permission::wrappers::{Peeled, peel, wrapper, wrapper_names};

/// Programs that run what they are given, beside the [wrappers](crate::permission::wrappers).
const RUNNERS: &[&str] = &[
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "csh",
    "tcsh",
    "busybox",
    "toybox",
    "su",
    "chroot",
    "gdb",
    "parallel",
    "ssh",
    "python",
    "python2",
    "python3",
    "pypy3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "perl",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "tclsh",
    "R",
    "Rscript",
    "osascript",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "npm",
    "pnpm",
    "yarn",
    "uv",
    "poetry",
    "bundle",
    "mise",
    "direnv",
    "docker",
    "podman",
    "kubectl",
    "vim",
    "vi",
    "nano",
    "emacs",
    "ed",
    "ex",
    "gh",
    "make",
    "just",
    "go",
    "cargo",
    "ts-node",
    "tsx",
    "jshell",
    "groovy",
    "scala",
    "ghci",
    "runghc",
    "swift",
    "elixir",
    "erl",
    "julia",
    "octave",
    "pwsh",
    "powershell",
    "expect",
    "m4",
    "pip",
    "pipenv",
    "gem",
    "composer",
    "rake",
    "ant",
    "cmake",
    "ninja",
    "bazel",
    "nix",
    "nix-shell",
    "brew",
    "apt",
    "apt-get",
    "systemctl",
    "systemd-run",
    "crontab",
    "at",
    "batch",
    "screen",
    "tmux",
    "socat",
    "nc",
    "ncat",
    "sqlite",
    "psql",
    "mysql",
    "mount",
    "helm",
    "terraform",
    "ansible",
    "vagrant",
    "hyperfine",
    "entr",
    "fakeroot",
    "proxychains",
    "perf",
    "valgrind",
    "rlwrap",
    "unbuffer",
    "chronic",
    "eatmydata",
    "xvfb-run",
    "dbus-run-session",
    "setarch",
    "linux64",
    "linux32",
    "tini",
    "dumb-init",
    "gosu",
    "bwrap",
    "firejail",
    "chpst",
    "softlimit",
    "setuidgid",
    "catchsegv",
    "cpulimit",
    "caffeinate",
    "ts",
    "nq",
    "tsp",
    "claude",
];

/// Runners whose options narrow what they run: `pnpm --filter` is no `python -u`.
const BUILD_TOOLS: &[&str] = &[
    "npm", "pnpm", "yarn", "bun", "uv", "poetry", "bundle", "make", "just", "go", "cargo", "gh",
    "docker", "podman", "kubectl", "rake", "ant", "cmake", "ninja", "bazel",
];

/// Programs that run what they read from their standard input, whatever their arguments are. A rule does not look at
/// that: a document may stand there, or any file [redir-24].
const READING_RUNNERS: &[&str] = &[
    "at", "batch", "psql", "mysql", "sqlite", "ssh", "ed", "ex", "nc", "ncat", "socat", "m4",
    "parallel", "xargs", "crontab", "expect", "gdb", "ghci", "jshell",
];

/// Programs that change the board or the dispatcher's own state.
const BOARD_PROGRAMS: &[&str] = &["backlog", "backlog.md", "dispatch", "worker-edit"];

/// Words of them that only show something.
const BOARD_VIEWS: &[&str] = &["list", "view", "search", "overview", "status", "explain", "logs"];

/// Programs that write where the agent does not look [a_tee-02, cmdnoed-15].
const WRITERS: &[&str] = &[
    "tee", "dd", "ln", "chmod", "chown", "install", "truncate", "patch", "tar", "unzip", "zip",
    "cpio", "rsync", "scp", "curl", "wget", "split", "shred", "mkfifo", "mktemp", "openssl", "gpg",
    "gcc", "cc", "clang", "rustc", "javac", "ld", "sftp", "ftp", "rclone", "aws", "az", "gcloud",
    "gsutil",
];

/// Readers with an option that writes or runs.
const READERS: &[(&str, &str)] = &[
    ("sed", "`sed` runs programs (`e`) and writes files (`w`)"),
    ("sort", "`sort -o` writes a file"),
    ("tree", "`tree -o` writes a file"),
    ("rg", "`rg --pre` runs a program"),
    ("fd", "`fd -x` runs a program"),
    ("xxd", "`xxd` writes its second argument"),
    ("shuf", "`shuf -o` writes a file"),
    ("iconv", "`iconv -o` writes a file"),
    ("csplit", "`csplit -f` writes files anywhere"),
    ("yq", "`yq -i` writes a file"),
    ("less", "`less` runs programs and writes files"),
    ("more", "`more` runs programs"),
    ("man", "`man -P` runs a program"),
];

/// Commands of git that read, or that write nothing but the files and the index of the worktree they run in.
const GIT_KEPT: &[&str] = &[
    "add",
    "annotate",
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "cherry",
    "clean",
    "commit",
    "count-objects",
    "describe",
    "for-each-ref",
    "ls-files",
    "ls-tree",
    "merge-base",
    "mv",
    "name-rev",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "rm",
    "shortlog",
    "show-branch",
    "show-ref",
    "status",
    "switch",
    "var",
    "version",
];

/// Commands of git that write outside the slot or run a program.
const GIT_DOORS: &[(&str, &str)] = &[
    ("config", "`git config` sets hooks and aliases"),
    ("submodule", "`git submodule foreach` runs a program"),
    ("rebase", "`git rebase -x` runs a program"),
    ("bisect", "`git bisect run` runs a program"),
    ("worktree", "`git worktree add` writes anywhere"),
    ("clone", "`git clone` writes anywhere"),
    ("archive", "`git archive -o` writes anywhere"),
    ("bundle", "`git bundle create` writes anywhere"),
    ("filter-branch", "`git filter-branch` runs a program"),
    ("difftool", "`git difftool` runs a program"),
    ("mergetool", "`git mergetool` runs a program"),
    ("grep", "`git grep -O` runs a program"),
    ("remote", "`git remote add` names any address, `ext::` ones included"),
    ("log", "`git log --output` writes a file"),
    ("diff", "`git diff --output` writes a file"),
    ("show", "`git show --output` writes a file"),
    ("format-patch", "`git format-patch -o` writes anywhere"),
    ("checkout-index", "`git checkout-index --prefix` writes anywhere"),
    ("fetch", "`git fetch --upload-pack` runs a program"),
    ("pull", "`git pull --upload-pack` runs a program"),
    ("ls-remote", "`git ls-remote --upload-pack` runs a program"),
    ("push", "`git push --receive-pack` runs a program"),
];

/// Words after which a runner takes anything.
const RUNNER_OPTIONS: &[&str] = &[
    "-c", "-lc", "-ic", "-e", "-E", "-m", "-p", "-S", "--eval", "--print", "-", "--", "exec",
    "dlx", "run", "x", "tool",
];

/// Judges how far the command a pattern grants can reach; none when it stays what it says.
pub(super) fn lint_reach(pattern: &ShellPattern) -> Option<Lint> {
    if let ShellPattern::Text(text) = pattern {
        return split_operators(text).into_iter().find_map(lint_text);
    }
    match peel(pattern) {
        Peeled::Inner(inner) => return inner.iter().find_map(lint_reach),
        // `FOO=* x *` takes in `FOO=1 any program x`.
        Peeled::Anything if matches!(pattern, ShellPattern::Glob(_)) => {
            return Some(Lint::reaches(
                Reach::Acts,
                "the star stands before the program: it grants any program",
            ));
        }
        Peeled::Nothing | Peeled::Anything => {}
    }
    let words = fixed_words(pattern);
    let Some((program, rest)) = words.split_first() else {
        return lint_open_name(pattern.head());
    };
    let program = plain_name(program);
    if program == "git" {
        return lint_git(rest);
    }
    if program == "find" {
        let acts = rest.iter().any(|word| word.starts_with("-exec") || *word == "-delete");
        return acts.then(|| Lint::reaches(Reach::Acts, "`find` with actions runs programs"));
    }
    if let Some(board) = board_program(&words) {
        return Some(lint_board(board));
    }
    let open = |word: &&str| {
        RUNNER_OPTIONS.contains(word) || (word.starts_with('-') && !BUILD_TOOLS.contains(&program))
    };
    let runs = runs_others(program) && rest.iter().all(open);
    if runs || READING_RUNNERS.contains(&program) {
        return Some(Lint::reaches(
            Reach::Acts,
            format!("`{program}` runs what it is given: it grants any program"),
        ));
    }
    if WRITERS.contains(&program) {
        return Some(Lint::reaches(
            Reach::Acts,
            format!("`{program}` writes outside the slot: the agent does not look at its paths"),
        ));
    }
    let reader = READERS.iter().find(|(name, _)| *name == program);
    if let Some((_, why)) = reader {
        return Some(Lint::reaches(Reach::Acts, *why));
    }
    lint_output_option(rest)
}

/// Judges a command that is granted as it is written. It says all it does, unless it does what it reads.
fn lint_text(text: &str) -> Option<Lint> {
    let pattern = ShellPattern::Text(text.trim().to_owned());
    if let Peeled::Inner(inner) = peel(&pattern) {
        return inner.iter().find_map(|inner| lint_text(inner.head()));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let (program, rest) = words.split_first()?;
    if let Some(board) = board_program(&words) {
        let shows = rest.iter().any(|word| BOARD_VIEWS.contains(word));
        return (!shows).then(|| lint_board(board));
    }
    let program = plain_name(program);
    let told = |word: &&str| ["--version", "--help"].contains(word);
    let waits = runs_others(program)
        && !BUILD_TOOLS.contains(&program)
        && rest.iter().all(|word| word.starts_with('-'))
        && !rest.iter().any(told);
    (waits || READING_RUNNERS.contains(&program)).then(|| {
        Lint::reaches(
            Reach::Acts,
            format!(
                "`{program}` runs what it reads from its standard input, which no rule looks at"
            ),
        )
    })
}

/// The program among the words that reaches the board: also behind a program that fetches and runs others.
fn board_program<'a>(words: &[&'a str]) -> Option<&'a str> {
    let (first, rest) = words.split_first()?;
    let fetched = runs_others(plain_name(first));
    let mut named = std::iter::once(first).chain(rest.iter().filter(|_| fetched));
    named.find_map(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        BOARD_PROGRAMS.contains(&name).then_some(name)
    })
}

fn lint_board(program: &str) -> Lint {
    let why = format!(
        "`{program}` reaches other tasks; a worker's own board command is granted by itself"
    );
    Lint::reaches(Reach::Acts, why)
}

fn runs_others(program: &str) -> bool {
    RUNNERS.contains(&program) || wrapper(program).is_some()
}

/// The name of a program without its folder and version: `/usr/bin/python3.12` is `python`.
fn plain_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    let known = |name: &str| {
        runs_others(name) || WRITERS.contains(&name) || READING_RUNNERS.contains(&name)
    };
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if !known(name) && known(bare) { bare } else { name }
}

/// A pattern whose star stands in or before the program's name.
fn lint_open_name(start: &str) -> Option<Lint> {
    if start.contains('/') {
        return Some(Lint::reaches(
            Reach::Acts,
            "`..` in a path is not resolved: the star takes in any program",
        ));
    }
    if start.is_empty() {
        return Some(Lint::reaches(Reach::Acts, "it begins with a star: it grants any program"));
    }
    let readers = READERS.iter().map(|(name, _)| name);
    let reaching = [RUNNERS, WRITERS, READING_RUNNERS, BOARD_PROGRAMS, &["git"]];
    let mut names = reaching.into_iter().flatten().chain(readers).copied().chain(wrapper_names());
    names.find(|name| name.starts_with(start)).map(|name| {
        Lint::reaches(Reach::Acts, format!("the star in the program's name takes in `{name}`"))
    })
}

fn lint_output_option(rest: &[&str]) -> Option<Lint> {
    let output = rest.iter().any(|word| *word == "-o" || word.starts_with("--output"));
    output.then(|| Lint::reaches(Reach::Acts, "its output option writes outside the slot"))
}

fn lint_git(rest: &[&str]) -> Option<Lint> {
    let Some(command) = rest.first() else {
        return Some(Lint::reaches(
            Reach::Acts,
            "`git` without a fixed command runs programs (`-c alias.x=!…`) and writes anywhere",
        ));
    };
    if command.starts_with('-') {
        return Some(Lint::reaches(Reach::Acts, "an option before the command opens all of git"));
    }
    let door = GIT_DOORS.iter().find(|(name, _)| name == command);
    if let Some((_, why)) = door {
        return Some(Lint::reaches(Reach::Acts, *why));
    }
    if !GIT_KEPT.contains(command) {
        let why = format!(
            "`git {command}` changes what other worktrees share, or runs or writes what the agent does not look at"
        );
        return Some(Lint::reaches(Reach::Acts, why));
    }
    lint_output_option(rest)
}

/// The words that every admitted command begins with, complete ones only.
fn fixed_words(pattern: &ShellPattern) -> Vec<&str> {
    let head = pattern.head();
    let mut words: Vec<&str> = head.split(' ').filter(|word| !word.is_empty()).collect();
    let complete = match pattern {
        ShellPattern::Glob(_) => head.ends_with(' '),
        ShellPattern::Everything
        | ShellPattern::Nothing
        | ShellPattern::Text(_)
        | ShellPattern::Stem(_) => true,
    };
    if !complete {
        words.pop();
    }
    words
}
