//! Programs that run another program, and variables set before one: what an allow looks through and
//! what a deny looks through (F1, F7).

use super::shell::{Piece, ShellPattern};

/// Variables an allow looks through, when their value is plain [envn-10].
const ALLOW_VARIABLES: &[&str] = &[
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

/// A program that runs another one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrapper {
    names: &'static [&'static str],
    /// What an allow skips before the command inside; none when it looks no further.
    pub(crate) allow: Option<AllowSkips>,
    /// What a deny skips where the allow's reading does not fit.
    pub(crate) deny: DenySkips,
}

/// What an allow skips between the wrapper and the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowSkips {
    /// Nothing.
    Nothing,
    /// Nothing, and only prefixes and globs see what is inside [envexact-04].
    NothingForPatterns,
    /// Listed options and a duration [wrap-31, wrap-33].
    TimeoutOptions,
    /// A number [wrap-37].
    Priority,
    /// Options with their value in the same word, at least one [wrap-42, wrapd-18].
    GluedOptions,
    /// `-p` [wrapd-29].
    PathOption,
}

/// What a deny skips between the wrapper and the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DenySkips {
    /// What an allow does, or it looks no further.
    AsAllow,
    /// Options, of which these take a value, and then so many words.
    Options { with_value: &'static [&'static str], words: usize },
    /// Options and variables; `-S` gives the command as a text [wrap-51].
    Environment,
    /// `-c` gives the command as a text; else options and a file [dwrap2-12, d_bashallow-120].
    LockedCommand,
    /// `-c` gives the command as a text [d_bashallow-104, dwrap-39].
    CommandOption,
    /// Options; one word alone is the command as a text [dwrap2-11].
    Watched,
}

const PLAIN: DenySkips = DenySkips::Options { with_value: &[], words: 0 };

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["timeout"],
        allow: Some(AllowSkips::TimeoutOptions),
        deny: DenySkips::AsAllow,
    },
    // [wrap-40, d_bashallow-26]
    Wrapper { names: &["time"], allow: Some(AllowSkips::Nothing), deny: DenySkips::AsAllow },
    // [d_bashallow-42, dwrap2-23]
    Wrapper {
        names: &["xargs"],
        allow: Some(AllowSkips::NothingForPatterns),
        deny: DenySkips::AsAllow,
    },
    Wrapper { names: &["stdbuf"], allow: Some(AllowSkips::GluedOptions), deny: DenySkips::AsAllow },
    Wrapper { names: &["nice"], allow: Some(AllowSkips::Priority), deny: PLAIN },
    Wrapper { names: &["command"], allow: Some(AllowSkips::PathOption), deny: PLAIN },
    // [wrap-38, wrap-46, wrap-69]
    Wrapper {
        names: &["nohup", "builtin", "noglob"],
        allow: Some(AllowSkips::Nothing),
        deny: PLAIN,
    },
    Wrapper { names: &["env"], allow: None, deny: DenySkips::Environment },
    // [d_bashallow-40, dwrap-48]
    Wrapper {
        names: &["sudo", "doas"],
        allow: None,
        deny: DenySkips::Options {
            with_value: &["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-U", "-D", "-a"],
            words: 0,
        },
    },
    // [dwrap2-28]
    Wrapper {
        names: &["exec"],
        allow: None,
        deny: DenySkips::Options { with_value: &["-a"], words: 0 },
    },
    Wrapper { names: &["flock"], allow: None, deny: DenySkips::LockedCommand },
    Wrapper { names: &["script"], allow: None, deny: DenySkips::CommandOption },
    Wrapper { names: &["watch"], allow: None, deny: DenySkips::Watched },
    // [dwrap-46]
    Wrapper {
        names: &["chrt", "taskset"],
        allow: None,
        deny: DenySkips::Options { with_value: &["-p"], words: 1 },
    },
    // [dwrap-44]
    Wrapper {
        names: &["ionice"],
        allow: None,
        deny: DenySkips::Options { with_value: &["-c", "-n"], words: 0 },
    },
    // [dwrap-43, dwrap-03]
    Wrapper {
        names: &["strace", "ltrace"],
        allow: None,
        deny: DenySkips::Options { with_value: &["-e", "-o", "-p", "-s", "-u"], words: 0 },
    },
    // [dwrap-08]
    Wrapper {
        names: &["nsenter"],
        allow: None,
        deny: DenySkips::Options { with_value: &["-t", "-S", "-G"], words: 0 },
    },
    // [dwrap-62, dwrap2-15, dwrap-42, dwrap-98]
    Wrapper { names: &["pkexec", "setsid", "unshare", "nocorrect"], allow: None, deny: PLAIN },
];

/// The wrapper of this name.
pub(crate) fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))
}

/// The names of all wrappers.
pub(crate) fn wrapper_names() -> impl Iterator<Item = &'static str> {
    WRAPPERS.iter().flat_map(|wrapper| wrapper.names.iter().copied())
}

impl Wrapper {
    /// Whether the next word is the value of this option.
    fn takes_value(&self, option: &str) -> bool {
        let by_allow = match self.allow {
            Some(AllowSkips::TimeoutOptions) => TIMEOUT_VALUES.contains(&option),
            Some(AllowSkips::Priority) => option == "-n",
            Some(
                AllowSkips::Nothing
                | AllowSkips::NothingForPatterns
                | AllowSkips::GluedOptions
                | AllowSkips::PathOption,
            )
            | None => false,
        };
        let by_deny = match self.deny {
            DenySkips::Options { with_value, .. } => with_value.contains(&option),
            DenySkips::Environment => ENVIRONMENT_VALUES.contains(&option),
            DenySkips::LockedCommand => LOCK_VALUES.contains(&option),
            DenySkips::Watched => WATCH_VALUES.contains(&option),
            DenySkips::AsAllow | DenySkips::CommandOption => false,
        };
        by_allow || by_deny
    }

    /// How many words, beside options, a deny skips.
    fn words(&self) -> usize {
        match self.deny {
            DenySkips::Options { words, .. } => words,
            DenySkips::LockedCommand => 1,
            DenySkips::AsAllow
            | DenySkips::Environment
            | DenySkips::CommandOption
            | DenySkips::Watched => 0,
        }
    }
}

/// Options of `timeout` whose value is the next word.
pub(crate) const TIMEOUT_VALUES: &[&str] = &["-k", "-s", "--kill-after", "--signal"];
/// Options of `env` whose value is the next word.
pub(crate) const ENVIRONMENT_VALUES: &[&str] = &["-u", "--unset", "-C", "--chdir"];
/// Options of `flock` whose value is the next word.
pub(crate) const LOCK_VALUES: &[&str] = &["-w", "-E"];
/// Options of `watch` whose value is the next word.
pub(crate) const WATCH_VALUES: &[&str] = &["-n", "-q"];

/// What a pattern runs once variables and wrappers at its start are taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Peeled {
    /// It begins with neither.
    Nothing,
    /// Any command: a wrapper that an allow looks through, with nothing fixed behind it.
    Anything,
    /// The command inside, in each way the words can be read.
    Inner(Vec<ShellPattern>),
}

/// Whether a star in the program's name takes in a wrapper, or a variable that an allow looks through.
pub(crate) fn takes_in_wrapper(pattern: &ShellPattern) -> bool {
    let head = pattern.head();
    matches!(pattern, ShellPattern::Glob(_))
        && !head.contains([' ', '\t'])
        && wrapper_names().chain(ALLOW_VARIABLES.iter().copied()).any(|name| name.starts_with(head))
}

/// Whether a pattern admits any command behind a variable or a wrapper, so that a denial of whatever
/// command takes part of it away [d_bashallow-40, d_env-01].
pub(crate) fn is_open_to_denials(pattern: &ShellPattern) -> bool {
    peel_seen_by(pattern, Side::Deny) == Peeled::Anything
}

/// Takes variables and wrappers off the start of a pattern, generously: words that could be options
/// or values of the wrapper are skipped.
pub(crate) fn peel(pattern: &ShellPattern) -> Peeled {
    peel_seen_by(pattern, Side::Allow)
}

/// Who looks at the command behind a wrapper or a variable where nothing of it is fixed.
#[derive(Debug, Clone, Copy)]
enum Side {
    Allow,
    Deny,
}

fn peel_seen_by(pattern: &ShellPattern, side: Side) -> Peeled {
    let head = pattern.head();
    let words: Vec<(usize, &str)> = word_offsets(head);
    let mut inner = Vec::new();
    let mut waiting = vec![Place { at: 0, behind: Behind::Start }];
    while let Some(place) = waiting.pop() {
        let Some((offset, word)) = words.get(place.at) else {
            if is_open(pattern, &place.behind, side) {
                return Peeled::Anything;
            }
            continue;
        };
        match place.after(word) {
            Some(next) => waiting.push(next),
            None if place.at == 0 => return Peeled::Nothing,
            None => {
                inner.extend(cut(pattern, *offset));
                waiting.extend(place.after_skipped());
            }
        }
    }
    if inner.is_empty() { Peeled::Nothing } else { Peeled::Inner(inner) }
}

/// A place among the words of a pattern, and what they stand behind.
struct Place {
    at: usize,
    behind: Behind,
}

enum Behind {
    Start,
    /// A variable, and whether an allow looks through it.
    Variable(bool),
    /// A wrapper that may still take so many words.
    Wrapper(&'static Wrapper, usize),
}

impl Place {
    /// The place behind a word that is a variable, a wrapper, or taken by the wrapper before it.
    fn after(&self, word: &str) -> Option<Self> {
        if is_assignment(word) {
            let behind = Behind::Variable(is_plain_listed(word));
            return Some(Self { at: self.at + 1, behind });
        }
        if let Some(wrapper) = wrapper(word) {
            return Some(Self {
                at: self.at + 1,
                behind: Behind::Wrapper(wrapper, wrapper.words()),
            });
        }
        match self.behind {
            // The variables may be those of `env`, which takes options behind them.
            Behind::Variable(_) => is_wrapper_argument(word)
                .then(|| Self { at: self.at + 1, behind: Behind::Variable(false) }),
            Behind::Wrapper(wrapper, words) if word.starts_with('-') => {
                let skipped = if wrapper.takes_value(word) { 2 } else { 1 };
                Some(Self { at: self.at + skipped, behind: Behind::Wrapper(wrapper, words) })
            }
            Behind::Wrapper(wrapper, words) if is_wrapper_argument(word) => Some(Self {
                at: self.at + 1,
                behind: Behind::Wrapper(wrapper, words.saturating_sub(1)),
            }),
            Behind::Start | Behind::Wrapper(..) => None,
        }
    }

    /// The place behind a word that the wrapper may take, though it may be the command as well.
    fn after_skipped(&self) -> Option<Self> {
        match self.behind {
            Behind::Wrapper(wrapper, words) if words > 0 => {
                Some(Self { at: self.at + 1, behind: Behind::Wrapper(wrapper, words - 1) })
            }
            Behind::Start | Behind::Variable(_) | Behind::Wrapper(..) => None,
        }
    }
}

/// Whether a pattern whose fixed words are all taken by wrappers admits any command behind them.
fn is_open(pattern: &ShellPattern, behind: &Behind, side: Side) -> bool {
    match pattern {
        ShellPattern::Everything | ShellPattern::Glob(_) => !matches!(behind, Behind::Start),
        // What follows `sudo` or `FOO=1` is no command of another rule: only a deny sees it.
        ShellPattern::Stem(_) => match (behind, side) {
            (Behind::Start, _) => false,
            (Behind::Variable(_) | Behind::Wrapper(..), Side::Deny) => true,
            (Behind::Variable(by_allow), Side::Allow) => *by_allow,
            (Behind::Wrapper(wrapper, _), Side::Allow) => wrapper.allow.is_some(),
        },
        ShellPattern::Text(_) | ShellPattern::Nothing => false,
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

/// Whether a word assigns a variable.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// A variable an allow looks through, with a value it reads as plain [envv-01].
pub(crate) fn is_plain_listed(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        ALLOW_VARIABLES.contains(&name)
            && !value.is_empty()
            && value.chars().all(|c| c.is_ascii_alphanumeric() || "_./:-".contains(c))
    })
}

fn is_wrapper_argument(word: &str) -> bool {
    word.starts_with('-') || word.starts_with(|first: char| first.is_ascii_digit())
}

/// The pattern from a word on; of a word in quotes also what they hold, which may be the command as
/// a text [dwrap2-11].
fn cut(pattern: &ShellPattern, offset: usize) -> impl Iterator<Item = ShellPattern> {
    let whole = cut_head(pattern, |text| text[offset..].to_owned());
    let marks = ['"', '\''];
    let quoted = whole.head().starts_with(marks);
    let inside = quoted.then(|| cut_head(&whole, |text| text.replace(marks, "")));
    std::iter::once(whole).chain(inside)
}

fn cut_head(pattern: &ShellPattern, cut: impl Fn(&str) -> String) -> ShellPattern {
    match pattern {
        ShellPattern::Text(text) => ShellPattern::Text(cut(text)),
        ShellPattern::Stem(stem) => ShellPattern::Stem(cut(stem)),
        ShellPattern::Glob(pieces) => {
            let mut pieces = pieces.clone();
            if let Some(Piece::Text(text)) = pieces.first_mut() {
                *text = cut(text);
            }
            ShellPattern::Glob(pieces)
        }
        ShellPattern::Everything | ShellPattern::Nothing => pattern.clone(),
    }
}
