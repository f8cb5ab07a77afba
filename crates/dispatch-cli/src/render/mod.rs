//! Results as text for a person at a terminal.

mod explain;
mod status;

use std::borrow::Cow;

pub use self::explain::explanation;
pub use self::status::status;

/// Text from the board or another program, with everything that could move a cursor shown escaped.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(
            text.chars()
                .flat_map(|c| if c.is_control() { c.escape_debug().collect() } else { vec![c] })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// A duration in the two largest units that matter.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A command line that a shell reads as these words, one option a line.
pub(crate) fn command_line(program: &str, argv: &[String]) -> String {
    let mut text = quoted(program);
    for word in argv {
        text.push_str(if word.starts_with("--") { " \\\n    " } else { " " });
        text.push_str(&quoted(word));
    }
    text
}

fn quoted(word: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(simple) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(plain("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
        assert_eq!(plain("ä b"), "ä b");
    }

    #[test]
    fn a_command_line_can_be_pasted() {
        let argv = ["-p", "--setting-sources", "", "--allowedTools", "Bash(it's a b:*)"]
            .map(str::to_owned);
        assert_eq!(
            command_line("claude", &argv),
            "claude -p \\\n    --setting-sources '' \\\n    --allowedTools 'Bash(it'\\''s a b:*)'"
        );
    }

    #[test]
    fn durations_keep_two_units() {
        assert_eq!([5, 65, 3700].map(duration), ["5 s", "1 min 5 s", "1 h 1 min"]);
    }
}
