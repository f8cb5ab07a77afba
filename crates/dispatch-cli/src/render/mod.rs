//! Results as text for a person at a terminal.

mod explain;
mod layout;
mod status;

/// Text that others wrote, harmless on a terminal.
pub(crate) use dispatch_core::printable::{json, shown as plain, shown_lines as lines};
use dispatch_core::record::Waiting;
use dispatch_engine::standstill::Standstill;

pub use self::explain::explanation;
pub(crate) use self::layout::{width_of, wrap};
pub use self::status::status;

/// What keeps every pass from taking tasks, as the first thing a person reads.
fn standstill(found: &Standstill) -> String {
    format!("No pass takes a task here: {}", lines(&found.text))
}

/// What the close of an attempt waits for, as the end of a sentence.
pub(crate) fn waits(waiting: &Waiting) -> String {
    match &waiting.until {
        Some(until) => format!(
            "is tried again at {until} at the latest, and by the next pass: {}",
            waiting.why
        ),
        None => format!("waits: {}", waiting.why),
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
