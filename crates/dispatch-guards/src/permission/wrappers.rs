//! Programs that run another program, and variables set before one: what an allow looks through and
//! what a deny looks through (F1, F7).

use super::shell::{Piece, ShellPattern};

/// Variables an allow looks through, when their value is plain [envn-10].
pub(crate) const ALLOW_VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "BLOCKSIZE",
    "BLOCK_SIZE",
    "CGO_ENABLED",
    "CHARSET",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "GCC_COLORS",
    "GIT_TERMINAL_PROMPT",
    "GOARCH",
    "GOEXPERIMENT",
    "GOOS",
    "GREP_COLOR",
    "GREP_COLORS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_TIME",
    "LINES",
    "LS_COLORS",
    "NODE_ENV",
    "NO_COLOR",
    "PYTEST_DEBUG",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TIME_STYLE",
    "TZ",
];

/// Programs an allow looks through [wrap-31].
pub(crate) const ALLOW_WRAPPERS: &[&str] =
    &["timeout", "nice", "nohup", "time", "stdbuf", "command", "builtin", "noglob", "xargs"];

/// Programs that only a deny looks through [dwrap-46, dwrap2-11, d_bashallow-120].
pub(crate) const DENY_WRAPPERS: &[&str] = &[
    "env",
    "sudo",
    "doas",
    "pkexec",
    "exec",
    "setsid",
    "ionice",
    "chrt",
    "taskset",
    "nsenter",
    "unshare",
    "strace",
    "ltrace",
    "watch",
    "flock",
    "script",
    "nocorrect",
];

/// What a pattern runs once variables and wrappers at its start are taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Peeled {
    /// It begins with neither.
    Nothing,
    /// Any command: a wrapper that an allow looks through, with nothing fixed behind it.
    Anything,
    /// The command inside.
    Inner(ShellPattern),
}

/// Takes variables and wrappers off the start of a pattern, generously: words that could be options
/// or values of the wrapper are skipped.
pub(crate) fn peel(pattern: &ShellPattern) -> Peeled {
    let head = pattern.head();
    let words: Vec<(usize, &str)> = word_offsets(head);
    let mut at = 0;
    let mut last_wrapper = None;
    while let Some((_, word)) = words.get(at) {
        if is_assignment(word) {
            last_wrapper = Some(false);
        } else if ALLOW_WRAPPERS.contains(word) {
            last_wrapper = Some(true);
        } else if DENY_WRAPPERS.contains(word) {
            last_wrapper = Some(false);
        } else if last_wrapper.is_some() && is_wrapper_argument(word) {
        } else {
            break;
        }
        at += 1;
    }
    let Some(allow_wrapper) = last_wrapper else { return Peeled::Nothing };
    match words.get(at) {
        Some((offset, _)) => Peeled::Inner(cut(pattern, *offset)),
        None => match pattern {
            ShellPattern::Everything | ShellPattern::Glob(_) => Peeled::Anything,
            ShellPattern::Stem(_) if allow_wrapper => Peeled::Anything,
            // What follows `sudo` or `FOO=1` is no command of another rule: only a deny sees it.
            ShellPattern::Stem(_) | ShellPattern::Text(_) | ShellPattern::Nothing => {
                Peeled::Nothing
            }
        },
    }
}

fn word_offsets(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices() {
        match (character == ' ' || character == '\t', start) {
            (true, Some(from)) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            (false, None) => start = Some(at),
            (true, None) | (false, Some(_)) => {}
        }
    }
    if let Some(from) = start {
        words.push((from, &text[from..]));
    }
    words
}

pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn is_wrapper_argument(word: &str) -> bool {
    word.starts_with('-') || word.starts_with(|first: char| first.is_ascii_digit())
}

fn cut(pattern: &ShellPattern, offset: usize) -> ShellPattern {
    match pattern {
        ShellPattern::Text(text) => ShellPattern::Text(text[offset..].to_owned()),
        ShellPattern::Stem(stem) => ShellPattern::Stem(stem[offset..].to_owned()),
        ShellPattern::Glob(pieces) => {
            let mut pieces = pieces.clone();
            if let Some(Piece::Text(text)) = pieces.first_mut() {
                text.drain(..offset);
            }
            ShellPattern::Glob(pieces)
        }
        ShellPattern::Everything | ShellPattern::Nothing => pattern.clone(),
    }
}
